//! Private sessions, and memory off and on (L5.31).

use crate::desk::{Desk, Ran, Running};
use everfold_testkit::{Reply, Scenario, oracle};
use serde_json::json;
use std::path::{Path, PathBuf};

const WORDS: &str = "the-hidden-words";

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

/// Runs with a directory for temporary files of its own.
fn run(desk: &Desk, args: &[&str], input: &str) -> (Ran, PathBuf) {
    let temporary = desk.files.root().join("tmp");
    std::fs::create_dir_all(&temporary).unwrap();
    let mut command = desk.command(args);
    command.env("TMPDIR", &temporary);
    (Running::start(&mut command, Some(input.as_bytes().to_vec())).end(), temporary)
}

fn with_memory(desk: &Desk) {
    let args = [
        "memory",
        "add",
        "--name",
        "tea",
        "--description",
        "tea, black",
        "--type",
        "user",
        "--scope",
        "project",
    ];
    desk.run_with(&args, "Likes tea.").ok();
}

/// That no file of the home has the words, and nothing temporary is left.
#[track_caller]
fn nothing_is_left(desk: &Desk, temporary: &Path) {
    for file in files(&desk.files.home()) {
        let bytes = std::fs::read(&file).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains(WORDS), "{}", file.display());
    }
    assert_eq!(files(temporary), Vec::<PathBuf>::new());
}

#[test]
fn l5_31_a_private_run_reads_no_memory_and_leaves_nothing() {
    let long = format!("yes {WORDS} | head -c 60000");
    let desk = Desk::with(
        Scenario::new()
            .reply(Reply::tool("Bash", json!({"command": long})))
            .otherwise(Reply::text("ok")),
    );
    with_memory(&desk);
    let before = files(&desk.files.home());
    let args = ["-p", "--private", "--permission-mode", "bypassPermissions", WORDS];
    let (ran, temporary) = run(&desk, &args, "");
    ran.ok();
    let requests = desk.server().requests();
    let body = requests[0].body.to_string();
    assert!(!body.contains("# Memory") && !body.contains("tea, black"), "{body}");
    let told = requests[1].last_tool_results().unwrap();
    assert!(told.contains("<persisted-output>") && told.contains("everfold-private-"), "{told}");
    nothing_is_left(&desk, &temporary);
    assert_eq!(files(&desk.files.home()), before, "not a file more");
    desk.run(&["-p", "--continue", "x"]).failed(2);
}

#[test]
fn l5_31_a_private_session_starts_and_ends_within_the_prompt() {
    let desk = Desk::with(Scenario::new().otherwise(Reply::text("ok")));
    with_memory(&desk);
    let lines = format!("/private\n{WORDS}\n/new\nin the open\n");
    let (ran, temporary) = run(&desk, &[], &lines);
    let ran = ran.ok();
    assert!(ran.out.contains("private: nothing is recalled"), "{}", ran.out);
    nothing_is_left(&desk, &temporary);
    let requests = desk.server().requests_of("main");
    assert!(!requests[0].body.to_string().contains("tea, black"));
    assert!(requests[1].body.to_string().contains("tea, black"));
    assert_eq!(desk.transcripts().len(), 1, "only the open one is kept");
}

#[test]
fn l5_31_a_private_session_is_a_new_one() {
    let desk = Desk::offline();
    desk.run(&["-p", "--private", "--continue", "x"]).failed(2);
    desk.run(&["-p", "--private", "--resume", "x", "y"]).failed(2);
}

#[test]
fn l5_31_memory_is_switched_off_and_on_and_a_resume_holds_to_it() {
    let desk = Desk::with(Scenario::new().otherwise(Reply::text("ok")));
    with_memory(&desk);
    let recalls = || desk.server().requests_of("recall").len();
    run(&desk, &[], "/memory off\nwhich tea do I like?\n").0.ok();
    assert_eq!(recalls(), 0, "nothing is looked for");
    let first = desk.server().requests_of("main")[0].body["messages"].to_string();
    assert!(first.contains("switched memory off"), "{first}");
    assert!(!first.contains("tea, black"), "no index: {first}");

    run(&desk, &["--continue"], "and which coffee do I like?\n").0.ok();
    assert_eq!(recalls(), 0, "a resumed session holds to it");
    run(&desk, &["--continue"], "/memory on\nand which cake do I like?\n").0.ok();
    let requests = desk.server().requests_of("main");
    let last = requests.last().unwrap().body["messages"].to_string();
    assert!(last.contains("switched memory on again"), "{last}");
    oracle::assert_prefix_stable(&requests);
}

#[test]
fn l5_31_while_memory_is_off_tools_do_not_reach_it() {
    let desk = Desk::with(
        Scenario::new()
            .reply(Reply::tool("MemorySearch", json!({"query": "tea"})))
            .otherwise(Reply::text("ok")),
    );
    with_memory(&desk);
    run(&desk, &[], "/memory off\nlook for it\n").0.ok();
    let told = desk.server().requests_of("main")[1].last_tool_results().unwrap();
    assert!(told.contains("switched memory off"), "{told}");
}

#[test]
fn c2_the_memory_command_is_the_same_in_the_prompt() {
    let desk = Desk::with(Scenario::new().otherwise(Reply::text("ok")));
    with_memory(&desk);
    let lines = "/memory\n/memory show tea\n/memory forget tea\n/memory undo\n/memory inbox\n\
                 /memory log --diff\n/memory edit tea\n/memory nonsense\n/memory show nothing\n";
    let ran = run(&desk, &[], lines).0.ok();
    for part in ["tea.md", "Likes tea.", "forgot tea.md", "undid entry 2", "nothing is waiting"] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    for part in ["opens an editor", "unrecognized subcommand", "no memory"] {
        assert!(ran.err.contains(part), "{part}: {}", ran.err);
    }
}
