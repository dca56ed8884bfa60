//! `everfold memory inbox`: what background agents propose, and a person's word.

use crate::desk::{Desk, Running};
use everfold_memory_store::store::inbox::ProposedChange;
use everfold_memory_store::{By, Store, TopicPath};
use jiff::Timestamp;
use std::path::PathBuf;

fn dir(desk: &Desk) -> PathBuf {
    PathBuf::from(desk.run(&["memory", "path"]).ok().out.trim())
}

fn text(body: &str) -> String {
    format!("---\nname: Deploys\ndescription: when we deploy\ntype: project\n---\n{body}\n")
}

/// A desk with two proposals: a new memory, and the end of one.
fn desk() -> Desk {
    let desk = Desk::offline();
    let args = [
        "memory",
        "add",
        "--name",
        "old",
        "--description",
        "the old way",
        "--type",
        "user",
        "--scope",
        "project",
    ];
    desk.run_with(&args, "Likes tea.").ok();
    let store = Store::open(&dir(&desk)).unwrap();
    let by = By::agent("dream", "nobody asked for it", Timestamp::now());
    store.propose(&[ProposedChange::add("Deploy day", text("Fridays."))], &by).unwrap();
    store.propose(&[ProposedChange::forget(TopicPath::new("old.md").unwrap())], &by).unwrap();
    desk
}

#[test]
fn l5_24_the_inbox_is_listed_shown_accepted_and_rejected() {
    let desk = desk();
    let list = desk.run(&["memory", "inbox"]).ok().out;
    assert!(list.contains("add deploy-day.md") && list.contains("forget old.md"), "{list}");
    let rows = desk.run(&["memory", "inbox", "--json"]).ok().json();
    assert_eq!(rows[1]["paths"], serde_json::json!(["old.md"]));
    assert_eq!(rows[1]["author"]["source"], "dream");
    assert_eq!(desk.run(&["memory", "inbox", "list", "--json"]).ok().json(), rows);

    let shown = desk.run(&["memory", "inbox", "show", "2"]).ok().out;
    assert!(shown.contains("nobody asked for it") && shown.contains("-Likes tea."), "{shown}");
    let shown = desk.run(&["memory", "inbox", "show", "1", "--json"]).ok().json();
    assert!(shown["diff"][0]["unified"].as_str().unwrap().contains("+Fridays."));
    assert_eq!(shown["diff"][0]["stale"], false);

    let accepted = desk.run(&["memory", "inbox", "accept", "1"]).ok();
    assert!(accepted.err.contains("everfold memory undo 2"), "{}", accepted.err);
    assert_eq!(
        std::fs::read_to_string(dir(&desk).join("deploy-day.md")).unwrap(),
        text("Fridays.")
    );
    let rejected = desk.run(&["memory", "inbox", "reject", "2", "--json"]).ok().json();
    assert_eq!(rejected[0]["done"], "rejected");
    assert!(dir(&desk).join("old.md").exists());
    assert!(desk.run(&["memory", "inbox"]).ok().out.contains("nothing is waiting"));
    desk.run(&["memory", "undo", "2"]).ok();
    assert!(!dir(&desk).join("deploy-day.md").exists());
}

#[test]
fn l5_24_what_cannot_be_accepted_is_told_and_stays() {
    let desk = desk();
    std::fs::write(dir(&desk).join("old.md"), "by hand\n").unwrap();
    let all = desk.run(&["memory", "inbox", "accept", "--all"]).failed(1);
    assert!(all.out.contains("accepted 1"), "{}", all.out);
    assert!(all.err.contains("old.md has changed since") && all.err.contains("--force"), "{all:?}");
    let rows = desk.run(&["memory", "inbox", "--json"]).ok().json();
    assert_eq!(rows.as_array().unwrap().len(), 1);
    assert!(desk.run(&["memory", "inbox", "show", "2"]).ok().err.contains("changed since"));
    desk.run(&["memory", "inbox", "accept", "2", "--force"]).ok();
    assert!(!dir(&desk).join("old.md").exists());
    desk.run(&["memory", "inbox", "accept"]).failed(2);
    desk.run(&["memory", "inbox", "accept", "9"]).failed(1);
    desk.run(&["memory", "inbox", "reject", "--all"]).ok();
}

#[cfg(unix)]
#[test]
fn l5_24_a_proposal_is_edited_before_it_is_taken_over() {
    let desk = desk();
    let edit = |id: &str| {
        let mut command = desk.command(&["memory", "inbox", "edit", id]);
        Running::start(command.env("EDITOR", "sed -i s/Fridays/Thursdays/"), None).end()
    };
    edit("1").ok();
    edit("2").failed(1);
    desk.run(&["memory", "inbox", "accept", "1"]).ok();
    let saved = std::fs::read_to_string(dir(&desk).join("deploy-day.md")).unwrap();
    assert_eq!(saved, text("Thursdays."));
    let log = desk.run(&["memory", "log", "deploy-day", "--json"]).ok().json();
    assert_eq!(log[0]["author"]["by"], "person");
}
