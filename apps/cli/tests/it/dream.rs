//! `everfold dream`: exit codes, the report, the diff, and being stopped (L6.6).

use crate::desk::{Desk, Running};
use everfold_testkit::{Reply, Scenario, TestServer, When};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

const LOCK: &str = ".consolidate-lock";

fn memory(name: &str, body: &str) -> String {
    format!(
        "---\nname: {name}\ndescription: about {name}\nmetadata:\n  type: project\n---\n\n{body}\n"
    )
}

const TESTS: &str =
    "Integration tests must hit a real database, never mocks, because mocks hid a bug.";

/// A directory that many conversations left; where it is.
fn messy(desk: &Desk) -> PathBuf {
    let told = desk.run(&["memory", "path", "--scope", "project"]).ok();
    let dir = PathBuf::from(told.out.trim());
    fs::create_dir_all(&dir).unwrap();
    let put = |name: &str, text: &str| fs::write(dir.join(name), text).unwrap();
    put("tests.md", &memory("tests", TESTS));
    put(
        "tests-copy.md",
        &memory("tests", &format!("**{TESTS}**\n\nThe seed comes from fixtures.")),
    );
    put("orphan.md", &memory("orphan", "The release captain is Dana until the end of the year."));
    put("retry.md", &memory("retry", "Retries are in `src/gone/retry.rs` since the rewrite."));
    put("MEMORY.md", "# Memory\n\n- [Tests](tests.md) — real\n- [Gone](gone.md) — nowhere\n");
    dir
}

fn files(dir: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(dir).unwrap().map(Result::unwrap);
    entries
        .filter(|entry| entry.path().is_file())
        .map(|entry| (entry.file_name().into_string().unwrap(), entry.path()))
        .map(|(name, path)| (name, fs::read_to_string(path).unwrap()))
        .collect()
}

#[test]
fn l6_6_l6_9_offline_it_tidies_and_says_what_it_did() {
    let desk = Desk::offline();
    let dir = messy(&desk);
    let before = files(&dir);
    let shown = desk.run(&["dream", "--dry-run"]).ok();
    assert!(shown.out.contains("--- a/MEMORY.md\n+++ b/MEMORY.md\n"), "{}", shown.out);
    assert!(shown.out.contains("-- [Gone](gone.md) — nowhere\n"), "{}", shown.out);
    assert!(shown.out.contains("would be: 1 merged, "), "{}", shown.out);
    assert_eq!(files(&dir), before, "a dry run changes nothing");

    let done = desk.run(&["dream"]).ok();
    for line in [
        "merged     tests-copy.md into tests.md — it said the same as tests.md\n",
        "look at    retry.md names src/gone/retry.rs, which does not exist\n",
        "(by rule, without a model)\n",
    ] {
        assert!(done.out.contains(line), "{line}: {}", done.out);
    }
    assert!(done.err.contains("Ctrl-C stops it"), "{}", done.err);
    let undo = done.err.split('`').nth(1).unwrap().to_owned();
    assert!(!dir.join("tests-copy.md").exists());
    assert!(fs::read_to_string(dir.join("tests.md")).unwrap().contains("seed comes from fixtures"));
    assert_eq!(fs::read_to_string(dir.join(LOCK)).unwrap(), "");

    let again = desk.run(&["dream"]).failed(3);
    assert!(again.out.starts_with("nothing to do: the last dream was 0 h"), "{}", again.out);
    desk.run(&["dream", "--force"]).ok();
    let words: Vec<&str> = undo.split_whitespace().skip(1).collect();
    desk.run(&words).ok();
    let mut after = files(&dir);
    after.remove(LOCK);
    assert_eq!(after, before, "the night before");
}

#[test]
fn l6_6_programs_get_one_object_or_a_line_for_each_event() {
    let desk = Desk::offline();
    let dir = messy(&desk);
    let object = desk.run(&["dream", "--dry-run", "--json"]).ok().json();
    assert_eq!((&object["status"], &object["dry_run"]), (&json!("done"), &json!(true)));
    assert_eq!(object["report"]["merged"][0]["into"], "tests.md");
    assert!(object["changes"][0]["diff"].as_str().unwrap().starts_with("--- a/MEMORY.md"));
    assert!(dir.join("tests-copy.md").exists());
    let lines = desk.run(&["dream", "--output-format", "stream-json"]).ok().lines();
    assert!(
        lines.iter().any(|line| line["subtype"] == "everfold_task" && line["phase"] == "starting")
    );
    let last = lines.last().unwrap();
    assert_eq!((&last["status"], &last["dreamer"]), (&json!("done"), &json!("rules")));
    assert!(last["undo"].as_str().unwrap().starts_with("everfold memory undo "));
    let object = desk.run(&["dream", "--json"]).failed(3).json();
    assert_eq!(object["status"], "nothing");
    desk.run(&["dream", "--json", "--output-format", "json"]).failed(2);
}

#[test]
fn l6_6_without_memories_there_is_nothing_to_do() {
    let desk = Desk::offline();
    desk.run(&["dream", "--force"]).failed(3);
    let off = desk.run(&["dream", "--settings", r#"{"autoMemoryEnabled": false}"#]).failed(3);
    assert!(off.out.contains("memory is off"), "{}", off.out);
}

#[cfg(unix)]
#[test]
fn l6_2_l6_6_locked_by_another_is_told_with_process_and_age() {
    let desk = Desk::offline();
    let dir = messy(&desk);
    let mut other =
        std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
    fs::write(dir.join(LOCK), other.id().to_string()).unwrap();
    let ago = SystemTime::now() - std::time::Duration::from_secs(125);
    File::options().write(true).open(dir.join(LOCK)).unwrap().set_modified(ago).unwrap();
    let before = files(&dir);
    let locked = desk.run(&["dream", "--force"]).failed(4);
    let told = format!("process {}, for 2 min ", other.id());
    assert!(locked.err.contains(&told), "{}", locked.err);
    let object = desk.run(&["dream", "--force", "--json"]).failed(4).json();
    assert_eq!((&object["status"], &object["pid"]), (&json!("locked"), &json!(other.id())));
    assert_eq!(files(&dir), before);
    other.kill().unwrap();
    other.wait().unwrap();
    desk.run(&["dream", "--force"]).ok();
}

/// A server whose agent has written and then waits for ever.
#[cfg(unix)]
fn waiting(dir: &Path) -> TestServer {
    let path = dir.join("orphan.md");
    let text = memory("orphan", "The release captain is Dana.");
    let scenario = Scenario::new()
        .on(When::source("dream"), Reply::tool("Read", json!({"file_path": path})))
        .on(
            When::source("dream"),
            Reply::tool("Write", json!({"file_path": path, "content": text})),
        )
        .on(When::source("dream"), Reply::text("almost").gate("never"));
    TestServer::start(scenario).unwrap()
}

#[cfg(unix)]
#[test]
fn l6_6_ctrl_c_stops_it_and_kill_is_rewound() {
    let mut desk = Desk::offline();
    let dir = messy(&desk);
    // Tidied once, so that the next dream has a time to go back to.
    desk.run(&["dream"]).ok();
    let (before, dreamt) = (files(&dir), fs::metadata(dir.join(LOCK)).unwrap().modified().unwrap());
    for way in ["-INT", "-KILL"] {
        desk.server = Some(waiting(&dir));
        let running = Running::start(&mut desk.command(&["dream", "--force"]), None);
        desk.server().wait_for_requests_blocking(3).unwrap();
        assert_ne!(fs::read_to_string(dir.join(LOCK)).unwrap(), "", "it is held");
        running.signal(way);
        let ran = running.end();
        if way == "-INT" {
            assert_eq!(ran.code, Some(1), "{ran:?}");
            assert!(ran.err.contains("stopped; memories are unchanged"), "{}", ran.err);
        } else {
            // Whoever looks next ends what a killed one left, and knows when the last
            // dream was: nothing is due.
            desk.server = None;
            desk.run(&["dream"]).failed(3);
        }
        assert_eq!(files(&dir), before, "{way}");
        assert_eq!(fs::metadata(dir.join(LOCK)).unwrap().modified().unwrap(), dreamt, "{way}");
        assert!(!dir.join(".everfold/dream").exists());
    }
    desk.server = None;
    desk.run(&["dream", "--force"]).ok();
}

#[test]
fn l6_6_a_dream_that_fails_is_rolled_back_and_told() {
    let desk = Desk::with(Scenario::new().otherwise(Reply::error(400, "no such thing")));
    let dir = messy(&desk);
    let before = files(&dir);
    let failed = desk.run(&["dream", "--force"]).failed(1);
    assert!(failed.err.contains("memories are unchanged"), "{}", failed.err);
    assert_eq!(files(&dir), before);
}

#[test]
fn l6_6_a_dream_in_the_terminal_is_shown_and_booked() {
    let desk = Desk::with(
        Scenario::new()
            .always(When::source("dream"), Reply::text("All is well, nothing to change."))
            .otherwise(Reply::text("ok")),
    );
    let dir = messy(&desk);
    let ran = desk.run_with(&[], "hello there\n/dream --sideways\n/dream\n/cost\n/quit\n").ok();
    assert!(ran.out.contains("done: 1 merged, "), "{}", ran.out);
    assert!(ran.err.contains("usage: /dream [team] [--dry-run] [--force]"), "{}", ran.err);
    assert!(ran.out.contains("\ndream   claude-sonnet-5-5"), "{}", ran.out);
    assert!(!dir.join("tests-copy.md").exists());
    assert_eq!(desk.server().requests_of("dream").len(), 1);
}

#[test]
fn l6_8_the_doctor_tells_what_memories_name_in_vain() {
    let desk = Desk::offline();
    let dir = messy(&desk);
    let before = files(&dir);
    let told = desk.run(&["doctor"]);
    assert!(
        told.out.contains("memory: retry.md names src/gone/retry.rs, which does not exist"),
        "{}",
        told.out
    );
    assert_eq!(files(&dir), before);
}

#[test]
fn l5_45_thirty_dreams_change_nothing_after_the_first_and_recall_finds_as_much() {
    let desk = Desk::offline();
    let dir = messy(&desk);
    let finds = || {
        let queries = ["which database do integration tests hit?", "who is the release captain?"];
        queries.map(|query| {
            let hits = desk.run(&["recall", query, "--limit", "5", "--json"]).ok().json();
            hits.as_array().unwrap().iter().any(|hit| hit["injected"] == true)
        })
    };
    let before = finds();
    desk.run(&["dream", "--force"]).ok();
    let first = files(&dir);
    for night in 2..=30 {
        let dreamt = desk.run(&["dream", "--force"]);
        assert!(matches!(dreamt.code, Some(0 | 3)), "night {night}: {dreamt:?}");
        assert_eq!(files(&dir), first, "night {night}");
    }
    let after = finds();
    assert!(after.iter().zip(before).all(|(after, before)| *after >= before), "{after:?}");
}
