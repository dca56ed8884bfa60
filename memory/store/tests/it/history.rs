//! Log, diff, undo, blame, prune, and changes from outside (L5.16, L5.17).

use super::*;
use everfold_memory_store::store::{Keep, OnConflict};
use everfold_memory_store::{Action, Author, EntryId, Error};
use std::fs;

#[test]
fn l5_17_every_change_is_an_entry() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let who = By::agent("dream", "merged two", at(7))
        .from("s-1".into(), vec!["m-1".into(), "m-2".into()]);
    let text = memory("a", "one");
    let save = Save {
        place: MemoryTarget::At(path("a.md")),
        text: &text,
        expect: ExpectedContent::Nothing,
        line: None,
        ended: &[],
    };
    store.save(&save, &who).unwrap();
    store.forget(&path("a.md"), &by()).unwrap();
    let log = store.log(None, 10).unwrap();
    let actions: Vec<_> = log.iter().map(|entry| (entry.id, entry.action)).collect();
    assert_eq!(actions, [(EntryId(2), Action::Forget), (EntryId(1), Action::Add)]);
    assert_eq!(
        (log[1].author.clone(), log[1].reason.as_str()),
        (Author::Agent { source: "dream".into() }, "merged two")
    );
    let diff = store.diff(EntryId(1)).unwrap();
    assert_eq!(
        (diff[0].path.as_str(), &diff[0].before, diff[0].after.as_deref()),
        ("a.md", &None, Some(text.as_str()))
    );
    assert!(diff[1].unified().contains("+- [a](a.md) — about a"), "{}", diff[1].unified());
    assert!(diff[1].unified().starts_with("--- /dev/null\n+++ b/MEMORY.md\n"));
    assert!(matches!(store.diff(EntryId(9)), Err(Error::NoEntry { .. })));
    assert_eq!(store.log(Some("a.md"), 1).unwrap().len(), 1);
}

#[test]
fn l5_17_an_entry_can_be_taken_back() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let added = save_at(&store, "a", "one").entry.unwrap();
    save_at(&store, "b", "kept");
    let changed = save_at(&store, "a", "two").entry.unwrap();
    let error = store.undo(added, OnConflict::Refuse, &by()).unwrap_err();
    assert!(matches!(error, Error::Conflict { .. }), "{error}");
    store.undo(changed, OnConflict::Refuse, &by()).unwrap();
    assert_eq!(store.read(&path("a.md")).unwrap().text, memory("a", "one"));
    let undone = store.undo(added, OnConflict::Refuse, &by()).unwrap().unwrap();
    assert_eq!(index(dir.path()), "- [b](b.md) — about b\n");
    assert!(store.read(&path("a.md")).is_err());
    store.undo(undone, OnConflict::Refuse, &by()).unwrap();
    assert_eq!(store.read(&path("a.md")).unwrap().text, memory("a", "one"));
    assert!(index(dir.path()).contains("- [a](a.md) — about a\n"));
    let forgot = store.forget(&path("b.md"), &by()).unwrap().unwrap();
    save_at(&store, "b", "again");
    store.undo(forgot, OnConflict::Force, &by()).unwrap();
    assert_eq!(store.read(&path("b.md")).unwrap().text, memory("b", "kept"));
}

#[test]
fn l5_17_the_store_goes_back_to_a_date() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("old.md"), "older than the history").unwrap();
    let store = open(dir.path());
    let save = |name: &str, body: &str, time: i64| {
        let text = memory(name, body);
        let place = MemoryTarget::At(path(&format!("{name}.md")));
        let save =
            Save { place, text: &text, expect: ExpectedContent::Anything, line: None, ended: &[] };
        store.save(&save, &By::agent("extract", "", at(time))).unwrap();
    };
    save("a", "one", 10);
    let then = (index(dir.path()), fs::read(dir.path().join("a.md")).unwrap());
    save("a", "two", 20);
    save("b", "three", 30);
    store.forget(&path("old.md"), &By::person("", at(40))).unwrap();
    let undo = store.undo_to(at(15), &By::person("", at(50))).unwrap().unwrap();
    assert_eq!((index(dir.path()), fs::read(dir.path().join("a.md")).unwrap()), then);
    assert!(!dir.path().join("b.md").exists() && dir.path().join("old.md").exists());
    assert_eq!(store.undo_to(at(50), &by()).unwrap(), None);
    store.undo(undo, OnConflict::Refuse, &by()).unwrap();
    assert!(dir.path().join("b.md").exists() && !dir.path().join("old.md").exists());
}

#[test]
fn l5_17_changes_from_outside_are_noticed() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.md"), "first").unwrap();
    let store = open(dir.path());
    assert_eq!(store.opening().noticed, Some(EntryId(1)));
    assert_eq!(open(dir.path()).opening().noticed, None);
    fs::write(dir.path().join("a.md"), "second").unwrap();
    fs::write(dir.path().join("b.md"), "new").unwrap();
    let store = open(dir.path());
    let log = store.log(None, 10).unwrap();
    assert_eq!((log.len(), log[0].action, &log[0].author), (2, Action::Foreign, &Author::Foreign));
    let diff = store.diff(log[0].id).unwrap();
    assert_eq!(
        (diff[0].before.as_deref(), diff[0].after.as_deref()),
        (Some("first"), Some("second"))
    );
    fs::remove_file(dir.path().join("b.md")).unwrap();
    let entry = open(dir.path()).opening().noticed.unwrap();
    store.undo(entry, OnConflict::Refuse, &by()).unwrap();
    assert_eq!(fs::read(dir.path().join("b.md")).unwrap(), b"new");
    // The same size, at once: told by its content, not by its time.
    fs::write(dir.path().join("a.md"), "SECOND").unwrap();
    assert!(open(dir.path()).opening().noticed.is_some());
    // While it is open: what is about to be changed is looked at first.
    fs::write(dir.path().join("a.md"), "third").unwrap();
    save_at(&store, "a", "fourth");
    let log = store.log(Some("a.md"), 2).unwrap();
    assert_eq!([log[0].action, log[1].action], [Action::Update, Action::Foreign]);
    // An agent's own tools wrote it.
    fs::write(dir.path().join("a.md"), "fifth").unwrap();
    let entry = store.notice(&By::agent("extract", "", at(9))).unwrap().unwrap();
    assert_eq!(store.log(None, 1).unwrap()[0].id, entry);
    assert!(matches!(store.log(None, 1).unwrap()[0].author, Author::Agent { .. }));
}

#[test]
fn l5_17_contents_of_a_large_adoption_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    for n in 0..40 {
        fs::write(dir.path().join(format!("t{n}.md")), format!("body {n}\n")).unwrap();
    }
    drop(open(dir.path()));
    fs::write(dir.path().join("t7.md"), "changed\n").unwrap();
    let store = open(dir.path());
    let diff = store.diff(store.opening().noticed.unwrap()).unwrap();
    assert_eq!(diff[0].before.as_deref(), Some("body 7\n"));
}

#[test]
fn l5_16_blame_says_where_a_memory_came_from() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("old.md"), "---\nname: old\noriginSessionId: s-0\n---\nb").unwrap();
    let store = open(dir.path());
    let text = "---\nname: a\nmetadata:\n  originSessionId: s-1\n  messages: [m-1]\n  date: 2026-11-01\n---\nb";
    let save = Save {
        place: MemoryTarget::At(path("a.md")),
        text,
        expect: ExpectedContent::Nothing,
        line: None,
        ended: &[],
    };
    let who = By::agent("extract", "said so", at(3)).from("s-1".into(), vec!["m-1".into()]);
    store.save(&save, &who).unwrap();
    let blame = store.blame(&path("a.md")).unwrap();
    assert_eq!((blame.entries.len(), blame.entries[0].reason.as_str()), (1, "said so"));
    assert_eq!(blame.front.messages, blame.entries[0].messages);
    assert_eq!(blame.front.session, blame.entries[0].session);
    let old = store.blame(&path("old.md")).unwrap();
    assert_eq!(old.entries[0].action, Action::Adopt);
    assert_eq!(old.front.session, Some("s-0".into()));
}

#[test]
fn l5_17_a_pruned_history_keeps_what_files_hold() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    for n in 0..20 {
        save_at(&store, "a", &format!("version {n}"));
    }
    let pruned = store.prune(Keep { entries: 3, since: None }).unwrap();
    assert_eq!(pruned.entries, 17);
    assert!(pruned.contents >= 16, "{pruned:?}");
    let log = store.log(None, 100).unwrap();
    assert_eq!(log.iter().map(|entry| entry.id.0).collect::<Vec<_>>(), [20, 19, 18]);
    store.undo(EntryId(20), OnConflict::Refuse, &by()).unwrap();
    assert!(store.read(&path("a.md")).unwrap().text.contains("version 18"));
    store.prune(Keep { entries: 100, since: Some(at(1_000)) }).unwrap();
    assert_eq!(store.log(None, 100).unwrap()[0].id, EntryId(21));
    fs::write(dir.path().join("a.md"), "edited").unwrap();
    let store = open(dir.path());
    let diff = store.diff(store.opening().noticed.unwrap()).unwrap();
    assert!(diff[0].before.as_deref().unwrap().contains("version 18"), "still there after pruning");
}

#[test]
fn l5_17_git_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join(".git")).unwrap();
    fs::write(dir.path().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let store = open(dir.path());
    save_at(&store, "a", "one");
    assert_eq!(fs::read_dir(dir.path().join(".git")).unwrap().count(), 1);
    assert_eq!(fs::read(dir.path().join(".everfold/.gitignore")).unwrap(), b"*\n");
    assert!(!dir.path().join(".gitignore").exists());
}

#[test]
fn s6_a_damaged_history_is_read_as_far_as_it_goes() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    save_at(&store, "a", "one");
    save_at(&store, "b", "two");
    let journal = dir.path().join(".everfold/journal.jsonl");
    let mut bytes = fs::read(&journal).unwrap();
    bytes.extend_from_slice(b"{\"id\": 3, \"at\": \"20");
    fs::write(&journal, &bytes).unwrap();
    fs::write(dir.path().join(".everfold/intent.json"), "{ nonsense").unwrap();
    let store = open(dir.path());
    save_at(&store, "c", "three");
    let ids: Vec<u64> = store.log(None, 10).unwrap().iter().map(|entry| entry.id.0).collect();
    assert_eq!(ids, [3, 2, 1]);
    assert!(dir.path().join(".everfold/intent.broken.json").exists());
}
