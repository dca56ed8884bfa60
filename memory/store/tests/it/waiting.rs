//! An inbox that people open: short, fresh, and without copies (L5.46).

use super::*;
use everfold_kernel::provenance::{Provenance, Source};
use everfold_memory_store::Error;
use everfold_memory_store::store::OnConflict;
use everfold_memory_store::store::inbox::{
    Handed, ProposalGrounds, ProposalId, ProposalVerdict, ProposedChange,
};

const DAY: i64 = 24 * 60 * 60;

fn dream(seconds: i64) -> By {
    By::agent("dream", "said in passing", at(seconds))
}

fn text(about: &str, body: &str) -> String {
    format!("---\nname: x\ndescription: {about}\ntype: project\n---\n{body}\n")
}

fn add(store: &Store, body: &str, seconds: i64) -> Handed {
    store.propose(&[ProposedChange::add("note", text("", body))], &dream(seconds)).unwrap()
}

fn ids(store: &Store) -> Vec<u64> {
    store.inbox().unwrap().iter().map(|proposal| proposal.id.0).collect()
}

fn body(store: &Store, id: u64) -> String {
    store.proposal(ProposalId(id)).unwrap().changes[0].text().unwrap()
}

#[test]
fn l5_46_at_most_fifty_wait_and_the_oldest_make_room() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    for number in 0..53 {
        let body = format!("subject{number} belongs to owner{number} alone{number}");
        assert!(matches!(add(&store, &body, number), Handed::New(_)), "{number}");
    }
    assert_eq!(ids(&store), (4..=53).collect::<Vec<_>>());
    let gone: Vec<_> = store.decided().unwrap().iter().map(|d| (d.id.0, d.verdict)).collect();
    assert_eq!(
        gone,
        [
            (1, ProposalVerdict::Expired),
            (2, ProposalVerdict::Expired),
            (3, ProposalVerdict::Expired)
        ]
    );
    // That was no answer: it may be proposed again.
    let again = add(&store, "subject0 belongs to owner0 alone0", 60);
    assert_eq!(again, Handed::New(ProposalId(54)));
}

#[test]
fn l5_46_after_thirty_days_a_proposal_goes_and_a_clock_that_goes_back_takes_none() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    add(&store, "Deploys are on Thursdays.", 0);
    add(&store, "The staging database is called heron.", 10 * DAY);
    let later = |seconds| drop(Store::open_with(dir.path(), StoreOptions::default(), at(seconds)));
    later(-400 * DAY);
    later(30 * DAY);
    assert_eq!(ids(&store), [1, 2]);
    later(30 * DAY + 1);
    assert_eq!(ids(&store), [2], "when the store is opened");
    add(&store, "Lunch is at noon.", 41 * DAY);
    assert_eq!(ids(&store), [3], "when another comes");
    let expired = store.decided().unwrap();
    assert!(expired.iter().all(|decided| decided.verdict == ProposalVerdict::Expired));
    assert_eq!(expired.len(), 2);
}

#[test]
fn l5_46_a_near_copy_joins_and_the_text_that_says_more_stays() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    add(&store, "We deploy on Thursdays.", 0);
    assert_eq!(add(&store, "Deploys are on Thursday!", 1), Handed::Waiting(ProposalId(1)));
    assert!(body(&store, 1).contains("We deploy on Thursdays."), "nothing new in it");
    let more = "We deploy on Thursdays. Ask Ada.";
    assert_eq!(add(&store, more, 2), Handed::Waiting(ProposalId(1)));
    assert!(body(&store, 1).contains("Ask Ada"));
    assert_eq!(store.inbox().unwrap()[0].at, at(2));
    assert_eq!(add(&store, "We deploy on Thursdays.", 3), Handed::Waiting(ProposalId(1)));
    assert!(body(&store, 1).contains("Ask Ada"), "the shorter one takes nothing away");
    for other in ["We never deploy on Thursdays. Ask Ada.", "We deploy on Mondays."] {
        assert!(matches!(add(&store, other, 4), Handed::New(_)), "{other}");
    }
    // What a person wrote there is not overwritten.
    store.amend(ProposalId(1), &path("note.md"), &text("", more), &By::person("", at(5))).unwrap();
    add(&store, "We deploy on Thursdays. Ask Ada first.", 6);
    assert!(!body(&store, 1).contains("first"));
}

#[test]
fn l5_46_what_a_person_says_again_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let wish = ProposedChange::add(
        "deploys",
        text("when we deploy to production", "Deploys go out on Thursdays."),
    );
    store.propose(&[wish], &dream(0)).unwrap();
    add(&store, "Never push to main.", 1);
    add(&store, "我们每周四部署", 2);
    let like = |text: &str| store.waiting_like(text).unwrap().map(|id| id.0);
    assert_eq!(like("deploys go out on Thursday"), Some(1));
    assert_eq!(like("never push to main"), Some(2));
    assert_eq!(like("我们每周四部署。"), Some(3));
    for other in
        ["push to main", "deploys go out on Tuesdays", "never push", "", "Thursdays", "the"]
    {
        assert_eq!(like(other), None, "{other}");
    }
    store.accept(ProposalId(1), OnConflict::Refuse, &By::person("said again", at(3))).unwrap();
    assert!(dir.path().join("deploys.md").exists());
}

#[test]
fn l5_33_a_proposal_shows_whose_words_it_rests_on() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let grounds = ProposalGrounds {
        provenance: Some(Source::Pasted.into()),
        evidence: Some("always deploy on Thursdays".into()),
    };
    let wish = || [ProposedChange::add("deploys", text("", "Deploys go out on Thursdays."))];
    store.propose_on(&grounds, &wish(), &dream(0)).unwrap();
    let preview = &store.preview(ProposalId(1)).unwrap()[0];
    assert_eq!(preview.provenance, grounds.provenance);
    assert_eq!(preview.evidence, grounds.evidence);
    let said = ProposalGrounds { provenance: Some(Provenance::PERSON), evidence: None };
    let more = [ProposedChange::add("deploys", text("", "Deploys go out on Thursdays at noon."))];
    assert_eq!(store.propose_on(&said, &more, &dream(1)).unwrap(), Handed::Waiting(ProposalId(1)));
    assert_eq!(store.proposal(ProposalId(1)).unwrap().provenance, grounds.provenance);
    // One of an earlier version says nothing about it.
    let file = dir.path().join("inbox/1.json");
    let old =
        std::fs::read_to_string(&file).unwrap().replace("provenance", "x").replace("evidence", "y");
    std::fs::write(&file, old).unwrap();
    assert_eq!(store.proposal(ProposalId(1)).unwrap().provenance, None);
}

#[test]
fn s6_an_inbox_with_links_or_nonsense_keeps_nobody_from_opening() {
    let dir = tempfile::tempdir().unwrap();
    drop(open(dir.path()));
    std::fs::create_dir(dir.path().join("inbox")).unwrap();
    std::fs::write(dir.path().join("inbox/1.json"), "{").unwrap();
    std::fs::write(dir.path().join("inbox/decided.jsonl"), "nonsense\n").unwrap();
    assert!(open(dir.path()).inbox().unwrap().is_empty());
    #[cfg(unix)]
    {
        let outside = tempfile::tempdir().unwrap();
        std::fs::remove_dir_all(dir.path().join("inbox")).unwrap();
        std::os::unix::fs::symlink(outside.path(), dir.path().join("inbox")).unwrap();
        let store = open(dir.path());
        let refused = store.propose(&[ProposedChange::add("x", text("", "x"))], &dream(0));
        assert!(matches!(refused, Err(Error::Disk(_))), "{refused:?}");
        assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
    }
}
