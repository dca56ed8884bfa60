//! Proposals: made, looked at, accepted, rejected, changed (L5.24).

use everfold_memory_store::store::inbox::{Handed, ProposalId, ProposalVerdict, ProposedChange};
use everfold_memory_store::store::{ExpectedContent, Keep, MemoryTarget, OnConflict, Save};
use everfold_memory_store::{Action, Author, By, Error, Store, TopicPath};
use jiff::Timestamp;
use tempfile::TempDir;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

fn person() -> By {
    By::person("accepted", at(100))
}

fn dream() -> By {
    By::agent("dream", "nothing refers to it", at(50))
}

fn path(name: &str) -> TopicPath {
    TopicPath::new(name).unwrap()
}

fn text(body: &str) -> String {
    format!("---\nname: Deploys\ndescription: when we deploy\ntype: project\n---\n{body}\n")
}

fn store() -> (TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&dir.path().join("memory")).unwrap();
    (dir, store)
}

fn save(store: &Store, name: &str, body: &str, by: &By) {
    let text = text(body);
    let place = MemoryTarget::At(path(name));
    store
        .save(
            &Save { place, text: &text, expect: ExpectedContent::Anything, line: None, ended: &[] },
            by,
        )
        .unwrap();
}

fn new(handed: Handed) -> ProposalId {
    match handed {
        Handed::New(id) => id,
        other => panic!("{other:?}"),
    }
}

fn read(store: &Store, name: &str) -> String {
    std::fs::read_to_string(store.dir().join(name)).unwrap_or_default()
}

#[test]
fn l5_24_a_proposal_changes_nothing_until_it_is_accepted() {
    let (_dir, store) = store();
    let id = new(store
        .propose(&[ProposedChange::add("Deploy day", text("Fridays."))], &dream())
        .unwrap());
    assert!(store.scan(10).unwrap().is_empty(), "no topic");
    assert_eq!(read(&store, "MEMORY.md"), "");
    assert!(store.log(None, 10).unwrap().is_empty(), "no entry");
    let waiting = store.inbox().unwrap();
    assert_eq!(waiting.len(), 1);
    assert_eq!(waiting[0].author, Author::Agent { source: "dream".into() });
    let preview = store.preview(id).unwrap();
    assert!(preview[0].diff.unified().contains("+Fridays."), "{}", preview[0].diff.unified());
    let file = read(&store, "inbox/1.json");
    assert!(file.contains("\"Fridays.\""), "a person can read it: {file}");

    let entry = store.accept(id, OnConflict::Refuse, &person()).unwrap().unwrap();
    assert_eq!(read(&store, "deploy-day.md"), text("Fridays."));
    assert_eq!(read(&store, "MEMORY.md"), "- [Deploys](deploy-day.md) — when we deploy\n");
    assert!(store.inbox().unwrap().is_empty());
    let log = store.log(None, 10).unwrap();
    assert_eq!((log[0].id, log[0].action), (entry, Action::Add));
    assert_eq!(log[0].author, Author::Agent { source: "dream".into() });
    assert_eq!(log[0].reason, "nothing refers to it (accepted)");
    store.undo(entry, OnConflict::Refuse, &person()).unwrap();
    assert!(store.scan(10).unwrap().is_empty(), "an accepted one can be taken back");
    assert!(matches!(
        store.accept(id, OnConflict::Refuse, &person()),
        Err(Error::NoProposal { .. })
    ));
}

#[test]
fn l5_24_several_files_are_one_proposal_and_one_entry() {
    let (_dir, store) = store();
    save(&store, "a.md", "one", &person());
    save(&store, "b.md", "two", &person());
    let wishes = [
        ProposedChange::write(path("a.md"), text("one and two")),
        ProposedChange::forget(path("b.md")),
    ];
    let id = new(store.propose(&wishes, &dream()).unwrap());
    assert_eq!(read(&store, "b.md"), text("two"));
    let entry = store.accept(id, OnConflict::Refuse, &person()).unwrap().unwrap();
    assert_eq!(read(&store, "a.md"), text("one and two"));
    assert!(!store.dir().join("b.md").exists());
    assert!(!read(&store, "MEMORY.md").contains("b.md"));
    assert_eq!(store.diff(entry).unwrap().len(), 3, "both files and the index");
}

#[test]
fn l5_24_a_file_that_was_changed_since_is_a_conflict_and_the_proposal_stays() {
    let (_dir, store) = store();
    save(&store, "a.md", "one", &person());
    let id = new(store.propose(&[ProposedChange::forget(path("a.md"))], &dream()).unwrap());
    std::fs::write(store.dir().join("a.md"), "by hand\n").unwrap();
    let error = store.accept(id, OnConflict::Refuse, &person()).unwrap_err();
    assert!(matches!(error, Error::Stale { .. }), "{error}");
    assert_eq!(read(&store, "a.md"), "by hand\n");
    let preview = store.preview(id).unwrap();
    assert!(preview[0].is_stale);
    assert!(preview[0].diff.unified().contains("-one"), "what it was made against");
    store.accept(id, OnConflict::Force, &person()).unwrap();
    assert!(!store.dir().join("a.md").exists());
    let log = store.log(Some("a.md"), 10).unwrap();
    assert_eq!(log[1].author, Author::Foreign, "what was there is in the history");
}

#[test]
fn l5_24_what_was_rejected_is_not_proposed_again() {
    let (_dir, store) = store();
    save(&store, "a.md", "one", &person());
    let wish = [ProposedChange::forget(path("a.md"))];
    let id = new(store.propose(&wish, &dream()).unwrap());
    assert_eq!(store.propose(&wish, &dream()).unwrap(), Handed::Waiting(id));
    store.reject(id, &person()).unwrap();
    assert!(store.inbox().unwrap().is_empty());
    assert_eq!(store.propose(&wish, &dream()).unwrap(), Handed::RejectedBefore(id));
    assert_eq!(store.decided().unwrap()[0].verdict, ProposalVerdict::Rejected);
    save(&store, "a.md", "something else", &person());
    assert_eq!(new(store.propose(&wish, &dream()).unwrap()), ProposalId(2), "another question");
    assert_eq!(
        store
            .propose(&[ProposedChange::write(path("a.md"), text("something else"))], &dream())
            .unwrap(),
        Handed::Nothing
    );
}

#[test]
fn l5_24_an_edited_proposal_is_the_persons() {
    let (_dir, store) = store();
    let id = new(store
        .propose(&[ProposedChange::add("Deploy day", text("Fridays."))], &dream())
        .unwrap());
    store.amend(id, &path("deploy-day.md"), &text("Thursdays."), &person()).unwrap();
    assert!(store.amend(id, &path("other.md"), "x", &person()).is_err());
    store.accept(id, OnConflict::Refuse, &person()).unwrap();
    assert_eq!(read(&store, "deploy-day.md"), text("Thursdays."));
    assert_eq!(store.log(None, 1).unwrap()[0].author, Author::Person);
}

#[test]
fn l5_24_what_an_agent_wrote_already_can_be_set_aside() {
    let (_dir, store) = store();
    save(&store, "a.md", "one", &person());
    std::fs::write(store.dir().join("a.md"), text("changed")).unwrap();
    std::fs::write(store.dir().join("b.md"), text("new")).unwrap();
    let by = By::agent("extract", "said in passing", at(60));
    let entry = store.notice(&by).unwrap().unwrap();
    let id = new(store.set_aside(entry, &by).unwrap());
    assert_eq!(read(&store, "a.md"), text("one"));
    assert!(!store.dir().join("b.md").exists());
    store.accept(id, OnConflict::Refuse, &person()).unwrap();
    assert_eq!(read(&store, "a.md"), text("changed"));
    assert_eq!(read(&store, "b.md"), text("new"));
    assert!(read(&store, "MEMORY.md").contains("(b.md)"));
}

#[test]
fn l5_18_l5_21_a_proposal_is_screened_like_a_memory() {
    let (dir, store) = store();
    let key = ["AKIA", "Z7QW3ERTY5UIOP2L"].concat();
    let secret = store.propose(&[ProposedChange::add("x", text(&key))], &dream()).unwrap_err();
    assert!(matches!(secret, Error::Secret { .. }), "{secret}");
    assert!(!store.dir().join("inbox").exists(), "not even on disk");
    // A proposal that was changed by hand cannot write elsewhere.
    let id = new(store.propose(&[ProposedChange::add("x", text("fine"))], &dream()).unwrap());
    let file = store.dir().join("inbox/1.json");
    let forged = std::fs::read_to_string(&file).unwrap().replace("x.md", "../../out.md");
    std::fs::write(&file, forged).unwrap();
    let refused = store.accept(id, OnConflict::Refuse, &person()).unwrap_err();
    assert!(matches!(refused, Error::BadPath { .. }), "{refused}");
    assert!(!dir.path().join("out.md").exists());
    std::fs::write(&file, "not JSON").unwrap();
    assert!(store.inbox().unwrap().is_empty(), "passed over");
    #[cfg(unix)]
    {
        let outside = dir.path().join("outside");
        std::fs::create_dir(&outside).unwrap();
        std::fs::remove_dir_all(store.dir().join("inbox")).unwrap();
        std::os::unix::fs::symlink(&outside, store.dir().join("inbox")).unwrap();
        assert!(store.propose(&[ProposedChange::add("y", text("fine"))], &dream()).is_err());
        assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0, "nothing left the store");
    }
}

#[test]
fn l5_24_who_wrote_a_memory_is_known() {
    let (_dir, store) = store();
    save(&store, "mine.md", "one", &person());
    save(&store, "its.md", "two", &dream());
    std::fs::write(store.dir().join("editor.md"), "three\n").unwrap();
    assert!(store.is_persons(&path("mine.md")).unwrap());
    assert!(!store.is_persons(&path("its.md")).unwrap());
    assert!(store.is_persons(&path("editor.md")).unwrap());
    std::fs::write(store.dir().join("its.md"), "changed in an editor\n").unwrap();
    store.notice(&By { author: Author::Foreign, ..person() }).unwrap();
    assert!(store.is_persons(&path("its.md")).unwrap());
}

#[test]
fn l5_24_pruning_keeps_what_proposals_stand_against() {
    let (_dir, store) = store();
    save(&store, "a.md", "one", &person());
    let id = new(store.propose(&[ProposedChange::forget(path("a.md"))], &dream()).unwrap());
    save(&store, "a.md", "two", &person());
    save(&store, "a.md", "three", &person());
    store.prune(Keep { entries: 1, since: None }).unwrap();
    assert!(store.preview(id).unwrap()[0].diff.unified().contains("-one"));
}
