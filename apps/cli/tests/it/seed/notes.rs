//! Layer 3: session memory (L3).

use super::{Stage, put, text, until, worker};
use everfold_testkit::{Received, Reply, oracle};
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::PathBuf;

const STATE: &str = "_What is being worked on right now, what is pending, and what comes next._";
const HEADINGS: [&str; 10] = [
    "Session Title",
    "Current State",
    "Task specification",
    "Files and Functions",
    "Workflow",
    "Errors & Corrections",
    "Codebase and System Documentation",
    "Learnings",
    "Key results",
    "Worklog",
];

/// What is between two texts.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    text.split_once(from).unwrap().1.split_once(to).unwrap().0
}

/// The notes that a fork was shown, and where they are.
fn shown(request: &Received) -> (String, String) {
    let said = request.last_user_text();
    let notes = between(&said, "<current-notes>\n", "\n</current-notes>").to_owned();
    (notes, between(&said, "They are in ", ", and you have read").to_owned())
}

fn edit(path: &str, old: &str, new: &str) -> Reply {
    Reply::tool("Edit", json!({"file_path": path, "old_string": old, "new_string": new}))
}

/// Counts up in Current State.
fn take_notes(request: &Received) -> Reply {
    let (notes, path) = shown(request);
    match notes.split_once("Update ") {
        Some((_, rest)) => {
            let number: u32 = rest.split('.').next().unwrap().parse().unwrap();
            edit(&path, &format!("Update {number}."), &format!("Update {}.", number + 1))
        }
        None => edit(&path, STATE, &format!("{STATE}\n\nUpdate 1.")),
    }
}

/// A model that reads what it is told to and keeps notes; the file has some
/// 6,000 tokens.
fn noting(notes: impl Fn(&Received) -> Reply + Send + Sync + 'static) -> Stage {
    let stage = Stage::new(move |request| match request.source() {
        "session_memory" => notes(request),
        _ => worker(request),
    })
    .flag("session_memory", "1");
    stage.write("a.txt", &"a line of a file with some words in it\n".repeat(540));
    stage
}

fn notes_path(stage: &Stage) -> PathBuf {
    stage.transcript().with_extension("").join("session-memory/summary.md")
}

fn notes(stage: &Stage) -> String {
    std::fs::read_to_string(notes_path(stage)).unwrap()
}

fn updates(stage: &Stage) -> usize {
    stage.of("session_memory").len()
}

fn ways(stage: &Stage) -> Vec<Value> {
    let all = stage.marked("compact_boundary").into_iter();
    all.map(|line| line["compactMetadata"]["way"].clone()).collect()
}

#[test]
fn l3_1_ten_fixed_sections_in_one_file_and_a_change_of_one_is_taken_back() {
    let stage = noting(|request| match shown(request).0.contains("Update 1.") {
        true => edit(&shown(request).1, "# Workflow", "# How we work"),
        false => take_notes(request),
    });
    stage.ask("read a.txt");
    let first = notes(&stage);
    let headings: Vec<&str> = first.lines().filter_map(|line| line.strip_prefix("# ")).collect();
    assert_eq!(headings, HEADINGS);
    for section in first.split("# ").skip(1) {
        let line = section.lines().nth(1).unwrap();
        assert!(line.starts_with('_') && line.ends_with('_'), "{line}");
    }
    assert!(first.contains("Update 1."));
    stage.more("read a.txt");
    assert_eq!(updates(&stage), 2);
    assert_eq!(notes(&stage), first, "a heading was changed: the file is restored");
}

#[test]
fn l3_2_made_at_ten_thousand_tokens_and_updated_after_five_thousand_more() {
    let stage = noting(take_notes);
    stage.ask("hello");
    assert!(stage.last().usage.unwrap().prompt().0 < 10_000);
    assert!(updates(&stage) == 0 && !notes_path(&stage).exists());
    stage.more("read a.txt");
    assert_eq!(updates(&stage), 1);
    for _ in 0..2 {
        stage.more("hello");
    }
    assert_eq!(updates(&stage), 1, "it has not grown by 5,000");
    stage.more("read a.txt");
    assert_eq!(updates(&stage), 2);
    assert!(notes(&stage).contains("Update 2."));
}

#[test]
fn l3_3_sections_over_their_cap_are_named_in_the_next_update() {
    let stage = noting(take_notes);
    stage.ask("read a.txt");
    let long = notes(&stage) + &"worked on. ".repeat(1_000);
    std::fs::write(notes_path(&stage), long).unwrap();
    stage.more("read a.txt");
    let forks = stage.of("session_memory");
    assert!(!forks[0].last_user_text().contains("Worklog has"));
    let said = forks[1].last_user_text();
    assert!(said.contains("- Worklog has 2750 tokens"), "{said}");
    assert!(!said.contains("- Workflow has"), "{said}");
}

#[test]
fn l3_4_the_update_is_a_fork_that_may_edit_that_one_file() {
    let stage = noting(|request| {
        if request.last_tool_results().is_some_and(|said| said.contains("refused")) {
            let all = text(request);
            let path = between(&all, "They are in ", ", and you have read");
            return edit(path, STATE, &format!("{STATE}\n\nNoted."));
        }
        Reply::tool("Write", json!({"file_path": "stray.md", "content": "no"}))
            .and_tool("Read", json!({"file_path": "a.txt"}))
            .and_tool("Bash", json!({"command": "touch stray.txt"}))
    });
    stage.ask("read a.txt");
    let forks = stage.of("session_memory");
    assert!(oracle::first_break(&stage.of("main")[1], &forks[0]).is_none(), "the parent's bytes");
    let answered = super::results(&forks[1]);
    let own = &answered[answered.len() - 3..];
    assert!(own.iter().all(|result| result.contains("refused")), "{own:?}");
    assert!(notes(&stage).contains("Noted."), "its content counts as read");
    assert!(!stage.desk.files.project().join("stray.md").exists());
    assert!(!stage.desk.files.project().join("stray.txt").exists());
}

#[test]
fn l3_4_updates_run_one_after_another() {
    let stage = noting(|request| take_notes(request).gate("notes"));
    let (running, mut input) = stage.open();
    for turn in 1..=4 {
        writeln!(input, "read a.txt").unwrap();
        until("the turn", || stage.of("main").len() >= 2 * turn);
    }
    until("the update", || updates(&stage) > 0);
    assert_eq!(updates(&stage), 1, "due again and again, and one at a time");
    stage.server().release("notes");
    drop(input);
    running.end().ok();
}

#[test]
fn l3_5_a_person_s_own_template_and_instructions_are_filled_once() {
    let stage = noting(|request| {
        let said = request.last_user_text();
        let path = between(&said, "Edit ", " now.").to_owned();
        edit(&path, "_for me_", "_for me_\n\n{{cwd}} $1 noted.")
    });
    let config = stage.home().join("session-memory/config");
    put(&config, "template.md", "# Mine\n_for me_\n");
    put(&config, "prompt.md", "Edit {{notesPath}} now.\n{{currentNotes}}");
    stage.ask("read a.txt");
    assert_eq!(notes(&stage), "# Mine\n_for me_\n\n{{cwd}} $1 noted.\n");
    stage.more("read a.txt");
    let said = stage.of("session_memory")[1].last_user_text();
    assert!(said.ends_with("{{cwd}} $1 noted."), "not expanded again: {said}");
}

/// A window in which some six readings of the file fit.
fn small(stage: Stage) -> Stage {
    stage.set(&json!({"autoCompactWindow": 80_000}))
}

fn until_compacted(stage: &Stage) {
    stage.ask("turn 0\nread a.txt");
    for turn in 1..20 {
        stage.more(&format!("turn {turn}\nread a.txt"));
        if !ways(stage).is_empty() {
            return;
        }
    }
    panic!("it was never compacted");
}

#[test]
fn l3_6_the_notes_are_the_summary_and_no_model_is_called() {
    let stage = small(noting(take_notes));
    until_compacted(&stage);
    assert_eq!(ways(&stage), ["notes"]);
    assert!(stage.of("compact").is_empty(), "no model was called");
    let after = stage.of("main").into_iter().find(|one| text(one).contains("running notes"));
    let after = after.unwrap();
    assert!(after.refused.is_none(), "no result without its call");
    assert!(text(&after).contains("# Current State") && text(&after).contains("Update "));
    // At least 10,000 tokens of the newest messages stay, and at most 40,000.
    let kept = super::results(&after).len();
    assert!((2..=6).contains(&kept), "{kept} readings of 6,000 tokens");
}

#[test]
fn l3_7_without_notes_layer_four_runs_and_an_update_in_flight_is_waited_for() {
    let stage = small(noting(|_| Reply::text("I take none.")));
    until_compacted(&stage);
    assert_eq!(ways(&stage), ["model"]);
    assert_eq!(stage.of("compact").len(), 1);
    // An update that hangs is waited for before the model is asked.
    let stage = small(noting(|request| {
        let reply = take_notes(request);
        if shown(request).0.contains("Update 1.") { reply.gate("late") } else { reply }
    }));
    let (running, mut input) = stage.open();
    writeln!(input, "read a.txt").unwrap();
    until("the first turn", || stage.of("main").len() >= 2);
    until("the first notes", || {
        std::fs::read_to_string(notes_path(&stage)).is_ok_and(|now| now.contains("Update 1."))
    });
    let mut turns = 1;
    while stage.last().usage.is_none_or(|usage| usage.prompt().0 < 40_000) {
        writeln!(input, "read a.txt").unwrap();
        turns += 1;
        until("the turn", || {
            let main = stage.of("main");
            main.len() >= 2 * turns && main.last().unwrap().usage.is_some()
        });
        assert!(turns < 20);
    }
    let before = stage.of("main").len();
    writeln!(input, "hello {}", "and some more words. ".repeat(1_200)).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert_eq!(stage.of("main").len(), before, "it waits");
    stage.server().release("late");
    drop(input);
    running.end().ok();
    assert_eq!(ways(&stage), ["notes"]);
    assert!(stage.of("compact").is_empty());
}

#[test]
fn l3_8_a_long_turn_gets_its_notes_too_and_without_auto_compact_there_are_none() {
    let reading_on = |request: &Received| {
        let rounds = request.messages().len() / 2;
        match request.source() {
            "session_memory" => take_notes(request),
            _ if rounds >= 8 => Reply::text("Enough."),
            _ => Reply::tool("Read", json!({"file_path": "a.txt", "offset": rounds + 1})),
        }
    };
    for auto in [true, false] {
        let stage = Stage::new(reading_on)
            .flag("session_memory", "1")
            .set(&json!({"autoCompactEnabled": auto}));
        stage.write("a.txt", &"a line of a file with some words in it\n".repeat(540));
        stage.ask("read on");
        let all = stage.requests();
        let first = all.iter().position(|request| request.source() == "session_memory");
        assert_eq!(first.is_some(), auto);
        let rest =
            first.map_or(0, |at| all[at..].iter().filter(|one| one.source() == "main").count());
        assert!(!auto || rest > 2, "while the turn ran: {rest}");
    }
}
