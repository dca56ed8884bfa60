//! Going on with sessions, in new processes (Q4).

use crate::desk::{Desk, Running};
use everfold_testkit::{Reply, Scenario, oracle};
use serde_json::{Value, json};

const ID: &str = "0192f0c1-1111-7000-8000-000000000001";

fn session_of(desk: &Desk, args: &[&str]) -> String {
    let mut all = vec!["-p", "--output-format", "json"];
    all.extend(args);
    let result = desk.run(&all).ok().json();
    result["session_id"].as_str().unwrap().to_owned()
}

#[test]
fn q4_a_resumed_session_sends_the_old_prefix() {
    let desk = Desk::with(
        Scenario::new()
            .reply(Reply::tool("Read", json!({"file_path": "a.txt"})))
            .reply(Reply::text("It says alpha.")),
    );
    desk.files.write("a.txt", "alpha\n").unwrap();
    let first = session_of(&desk, &["read a.txt"]);
    desk.files.write("a.txt", "changed since\n").unwrap();
    let second = session_of(&desk, &["--resume", &first, "and now?"]);
    let third = session_of(&desk, &["go on", "-c"]);
    assert_eq!((&second, &third), (&first, &first));
    let requests = desk.server().requests();
    assert_eq!(requests.len(), 4);
    oracle::assert_prefix_stable(&requests);
    assert!(requests[3].usage.unwrap().cache_read > 0, "the cache is found again");
}

#[test]
fn q4_a_fork_leaves_the_old_session_alone() {
    let desk = Desk::with(Scenario::new());
    let first = session_of(&desk, &["one"]);
    let before = std::fs::read(&desk.transcripts()[0]).unwrap();
    let fork = session_of(&desk, &["-c", "--fork-session", "--session-id", ID, "two"]);
    assert_eq!(fork, ID);
    let after = std::fs::read(desk.project_dir().join(format!("{first}.jsonl"))).unwrap();
    assert_eq!(before, after);
    oracle::assert_prefix_stable(&desk.server().requests());
}

#[test]
fn q4_a_session_id_is_used_once() {
    let desk = Desk::with(Scenario::new());
    assert_eq!(session_of(&desk, &["--session-id", ID, "one"]), ID);
    let ran = desk.run(&["-p", "--session-id", ID, "two"]).failed(2);
    assert!(ran.err.contains("--resume"), "{}", ran.err);
    let ran = desk.run(&["-p", "--session-id", "not-a-uuid", "x"]).failed(2);
    assert!(ran.err.contains("UUID"), "{}", ran.err);
    assert_eq!(desk.server().requests().len(), 1);
}

#[test]
fn q4_a_session_that_is_not_there_is_bad_usage() {
    let desk = Desk::with(Scenario::new());
    let ran = desk.run(&["-p", "-c", "x"]).failed(2);
    assert!(ran.err.contains("no sessions in this directory"), "{}", ran.err);
    let ran = desk.run(&["-p", "--resume", ID, "x"]).failed(2);
    assert!(ran.err.contains(ID) && ran.err.contains("sessions list"), "{}", ran.err);
    let ran = desk.run(&["-p", "--fork-session", "x"]).failed(2);
    assert!(ran.err.contains("--continue"), "{}", ran.err);
}

#[test]
fn q4_resume_without_an_id_lists_what_there_is() {
    let desk = Desk::with(Scenario::new());
    let first = session_of(&desk, &["paint the shed"]);
    let second = session_of(&desk, &["mow the lawn"]);
    let ran = desk.run(&["-p", "go on", "--resume"]).failed(2);
    assert!(ran.err.contains(&first) && ran.err.contains("mow the lawn"), "{}", ran.err);
    // Words and the start of an id will do where they mean one session.
    assert_eq!(session_of(&desk, &["x", "--resume", "lawn"]), second);
    assert_eq!(session_of(&desk, &["x", "--resume", &first[..30]]), first);
    desk.run(&["-p", "x", "--resume", "the"]).failed(2);
    desk.run(&["-p", "x", "--resume", "no such words"]).failed(2);
}

#[test]
fn q4_a_torn_line_is_skipped_and_told() {
    let desk = Desk::with(Scenario::new());
    session_of(&desk, &["one"]);
    let path = &desk.transcripts()[0];
    let mut text = std::fs::read(path).unwrap();
    text.extend(b"{\"type\":\"user\",\"mess");
    std::fs::write(path, &text).unwrap();
    let ran = desk.run(&["-p", "-c", "two"]).ok();
    assert_eq!(ran.out, "You said: two\n");
    assert!(ran.err.contains("an incomplete line"), "{}", ran.err);
    oracle::assert_prefix_stable(&desk.server().requests());
    // The half line does not swallow what is written after it.
    let ran = desk.run(&["-p", "-c", "three"]).ok();
    assert_eq!(ran.out, "You said: three\n");
    oracle::assert_prefix_stable(&desk.server().requests());
}

#[test]
fn q4_sessions_are_listed_searched_and_shown() {
    let desk = Desk::with(
        Scenario::new()
            .reply(Reply::tool("Read", json!({"file_path": "absent.txt"})))
            .reply(Reply::text("No.")),
    );
    let first = session_of(&desk, &["paint the shed"]);
    let second = session_of(&desk, &["mow the lawn"]);
    let listed = desk.run(&["sessions", "list", "--json"]).ok().json();
    let ids: Vec<&Value> = listed.as_array().unwrap().iter().map(|s| &s["session_id"]).collect();
    assert_eq!(ids, [&json!(second), &json!(first)]);
    assert_eq!(listed[0]["title"], "mow the lawn");
    let found = desk.run(&["sessions", "list", "--search", "SHED"]).ok().out;
    assert!(found.contains(&first) && !found.contains(&second), "{found}");
    let shown = desk.run(&["sessions", "show", &first, "--json"]).ok().json();
    assert_eq!(shown["prompts"], 1);
    assert_eq!(shown["answers"], 2);
    assert_eq!(shown["tool_calls"], 1);
    assert_eq!(shown["failed_tool_calls"], 1);
    assert_eq!(shown["models"], json!(["claude-sonnet-5-5"]));
    assert!(shown["cost_usd"].as_f64().unwrap() > 0.0);
    let text = desk.run(&["sessions", "show"]).ok().out;
    assert!(text.contains(&second) && text.contains("mow the lawn"), "{text}");
}

#[test]
fn t6_costs_of_a_session_a_project_and_a_day() {
    let desk = Desk::with(Scenario::new());
    let first = session_of(&desk, &["one"]);
    session_of(&desk, &["two", "--model", "claude-opus-5-5"]);
    // A fork copies what was said, not what was paid.
    session_of(&desk, &["three", "--resume", &first, "--fork-session"]);
    let requests = desk.server().requests();
    let cost = |of: &[usize]| of.iter().map(|at| requests[*at].cost.unwrap().0).sum::<f64>();
    let shown = |args: &[&str]| {
        let mut all = vec!["cost", "--json"];
        all.extend(args);
        desk.run(&all).ok().json()
    };
    let total = |value: &Value| value["total"]["cost_usd"].as_f64().unwrap();
    let one = shown(&["--session", &first]);
    assert!((total(&one) - cost(&[0])).abs() < 1e-9);
    assert_eq!(one["lines"][0]["source"], "main");
    assert!((total(&shown(&[])) - cost(&[2])).abs() < 1e-9, "the newest session");
    let all = shown(&["--project"]);
    assert_eq!(all["sessions"], 3);
    assert!((total(&all) - cost(&[0, 1, 2])).abs() < 1e-9);
    assert_eq!(all["lines"].as_array().unwrap().len(), 2);
    assert!((total(&shown(&["--day"])) - cost(&[0, 1, 2])).abs() < 1e-9);
    assert_eq!(shown(&["--day", "2001-01-01"])["total"]["requests"], 0);
    desk.run(&["cost", "--day", "someday"]).failed(2);
    let text = desk.run(&["cost", "--project"]).ok().out;
    assert!(text.contains("claude-opus-5-5") && text.contains("total"), "{text}");
}

#[test]
fn q4_a_killed_process_leaves_a_session_that_goes_on() {
    let desk = Desk::with(
        Scenario::new()
            .reply(Reply::tool("Read", json!({"file_path": "a.txt"})))
            .reply(Reply::text("never seen").gate("never")),
    );
    desk.files.write("a.txt", "alpha\n").unwrap();
    let running = Running::start(&mut desk.command(&["-p", "read a.txt"]), None);
    desk.server().wait_for_requests_blocking(2).unwrap();
    running.kill();
    desk.run(&["-p", "-c", "go on"]).ok();
    let requests = desk.server().requests();
    assert_eq!(requests.len(), 3);
    oracle::assert_prefix_stable(&requests);
}

fn age(path: &std::path::Path, days: u64) {
    let then = std::time::SystemTime::now() - std::time::Duration::from_hours(24 * days);
    std::fs::File::open(path).unwrap().set_modified(then).unwrap();
}

#[test]
fn q11_at_the_start_of_a_conversation_old_sessions_go_once_a_day() {
    let desk = Desk::offline();
    session_of(&desk, &["one"]);
    let old = desk.transcripts()[0].clone();
    let text = std::fs::read(&old).unwrap();
    let stamp = desk.files.home().join(".everfold/.tidied");
    // It is done beside the conversation, and left to the next one where that ends first.
    let tidy = || {
        age(&old, 40);
        let gone = (0..50).any(|_| {
            desk.run(&["-p", "hello"]).ok();
            !old.exists() && stamp.exists()
        });
        assert!(gone, "it is still there");
    };
    tidy();
    std::fs::write(&old, &text).unwrap();
    age(&old, 40);
    desk.run(&["-p", "hello"]).ok();
    assert!(old.exists(), "nobody looked again today");
    age(&stamp, 2);
    tidy();
}

#[test]
fn q11_old_sessions_go_at_the_start_of_a_conversation_and_by_hand() {
    let desk = Desk::offline();
    let first = session_of(&desk, &["one"]);
    let old = desk.transcripts()[0].clone();
    age(&old, 20);
    let listed =
        desk.run(&["sessions", "prune", "--dry-run", "--days", "10", "--json"]).ok().json();
    assert_eq!(listed["sessions"][0]["session_id"], first.as_str());
    assert_eq!(listed["sessions"][0]["removed"], false);
    assert!(desk.run(&["sessions", "prune"]).ok().out.contains("older than 30 days"));
    assert!(old.exists());
    desk.run(&["sessions", "prune", "--days", "10"]).ok();
    assert!(!old.exists());
}

#[test]
fn c2_a_session_is_exported_as_a_text_and_as_its_lines() {
    let desk = Desk::with(
        Scenario::new()
            .reply(Reply::tool("Read", json!({"file_path": "a.txt"})))
            .reply(Reply::text("It says alpha.")),
    );
    desk.files.write("a.txt", "alpha\n").unwrap();
    let id = session_of(&desk, &["read a.txt"]);
    let text = desk.run(&["sessions", "export", &id]).ok().out;
    for part in ["## You", "read a.txt", "**Read**", "alpha", "## Assistant", "It says alpha."] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let file = desk.files.root().join("out.jsonl");
    let to = file.display().to_string();
    desk.run(&["sessions", "export", "--format", "jsonl", "-o", &to]).ok();
    assert_eq!(std::fs::read(&file).unwrap(), std::fs::read(&desk.transcripts()[0]).unwrap());
    desk.run(&["sessions", "export", "-o", &to]).failed(1);
}
