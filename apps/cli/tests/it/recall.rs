//! `everfold recall`: what a message would bring in, and why.

use crate::desk::{Desk, Running};
use serde_json::Value;
use std::path::{Path, PathBuf};

const MEMORIES: [(&str, &str, &str); 4] = [
    ("deploy", "deploys go out on Thursday mornings", "After the standup, never on Fridays."),
    ("database", "integration tests use a real database", "Mocks hid a broken migration."),
    ("dashboard", "latency dashboard of the API in Grafana", "On-call watches it."),
    ("role", "the person is a data scientist", "Looks into logging and observability."),
];

fn fill(dir: &Path) {
    std::fs::create_dir_all(dir).unwrap();
    for (name, description, body) in MEMORIES {
        let text =
            format!("---\nname: {name}\ndescription: {description}\ntype: project\n---\n{body}\n");
        std::fs::write(dir.join(format!("{name}.md")), text).unwrap();
    }
}

fn memory_dir(desk: &Desk) -> PathBuf {
    PathBuf::from(desk.run(&["memory", "path"]).ok().out.trim())
}

fn paths(rows: &Value) -> Vec<&str> {
    rows.as_array().unwrap().iter().map(|row| row["path"].as_str().unwrap()).collect()
}

#[test]
fn r9_recall_finds_the_right_file_and_says_why() {
    let desk = Desk::offline();
    fill(&memory_dir(&desk));
    let rows = desk.run(&["recall", "--json", "when do deploys go out?"]).ok().json();
    assert_eq!(paths(&rows), ["deploy.md"]);
    let hit = &rows[0];
    assert!(hit["score"].as_f64().unwrap() > 0.0);
    assert_eq!((&hit["injected"], &hit["scope"]), (&true.into(), &"project".into()));
    assert!(hit["matched"].as_array().unwrap().iter().any(|word| word == "deploys"), "{hit}");
    let told = desk.run(&["recall", "when do deploys go out?"]).ok();
    for part in ["deploy.md", "score", "deploys", "<system-reminder>", "never on Fridays"] {
        assert!(told.out.contains(part), "{part}: {}", told.out);
    }
    assert!(told.err.contains("of 4 memories, 1 would be added in full"), "{}", told.err);
}

#[test]
fn r9_why_says_which_words_which_meaning_and_what_is_missing() {
    let desk = Desk::offline();
    fill(&memory_dir(&desk));
    let told = desk
        .run(&["recall", "--why", "--limit", "4", "when do deploys of the billing app go out?"])
        .ok();
    for part in ["by deploys", "meaning", "sure that it helps", "missing: billing"] {
        assert!(told.out.contains(part), "{part}: {}", told.out);
    }
    assert!(told.err.contains("calls for a memory"), "{}", told.err);
    assert!(!told.out.contains("-0.00"), "{}", told.out);
    let rows = desk.run(&["recall", "--json", "--limit", "4", "when do deploys go out?"]).ok();
    let rows = rows.json();
    assert_eq!(rows[0]["shown"], "body");
    assert!(rows[0]["parts"]["meaning"].as_f64().unwrap() > 0.0, "{rows}");
}

#[test]
fn r13_a_paste_of_another_project_brings_nothing() {
    let desk = Desk::offline();
    fill(&memory_dir(&desk));
    let log = "ok   github.com/acme/shop/integration 9.421s\n--- FAIL: TestCart (0.02s)\n    \
               cart_test.go:77: got 3 rows of the database, want 4\nFAIL\nexit status 1\n";
    let rows = desk.run(&["recall", "--json", &log.repeat(3)]).ok().json();
    assert!(rows.as_array().unwrap().iter().all(|row| row["shown"] != "body"), "{rows}");
}

#[test]
fn r9_an_unrelated_query_brings_nothing() {
    let desk = Desk::offline();
    fill(&memory_dir(&desk));
    let query = "how do I bake sourdough bread";
    assert_eq!(desk.run(&["recall", query, "--json"]).ok().json(), serde_json::json!([]));
    let told = desk.run(&["recall", query]).ok();
    assert!(told.out.is_empty() && told.err.contains("no memory would be added"), "{told:?}");
    desk.run(&["recall", " "]).failed(2);
}

#[test]
fn r9_any_directory_does_and_nothing_is_written_to_it() {
    let desk = Desk::offline();
    let dir = desk.files.root().join("notes");
    fill(&dir);
    let named = dir.to_str().unwrap();
    let rows =
        desk.run(&["recall", "--dir", named, "--json", "real database in tests"]).ok().json();
    assert_eq!(paths(&rows), ["database.md"]);
    assert_eq!(rows[0]["scope"], Value::Null);
    assert_eq!(std::fs::read_dir(&dir).unwrap().count(), MEMORIES.len());
    let home = std::fs::read_dir(desk.files.home().join(".everfold")).unwrap();
    let kept: Vec<_> = home.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(kept, ["cache"], "R16: what was learned of it is in the cache, and nothing else");
    let missing = desk.run(&["recall", "--dir", "/nowhere/at/all", "x"]).failed(2);
    assert!(missing.err.contains("/nowhere/at/all"), "{}", missing.err);
}

#[test]
fn r9_a_limit_shows_the_best_also_where_they_would_not_be_injected() {
    let desk = Desk::offline();
    fill(&memory_dir(&desk));
    let query = "the logging of a deploy during the standup of the broken dashboard";
    let all = desk.run(&["recall", query, "--limit", "10", "--json"]).ok().json();
    let rows = all.as_array().unwrap();
    assert!(rows.len() > 1, "{all}");
    let scores: Vec<f64> = rows.iter().map(|row| row["score"].as_f64().unwrap()).collect();
    assert!(scores.is_sorted_by(|one, next| one >= next), "{scores:?}");
    let one = desk.run(&["recall", query, "--limit", "1", "--json"]).ok().json();
    assert_eq!(one.as_array().unwrap().len(), 1);
    assert_eq!(one[0]["path"], rows[0]["path"]);
}

#[test]
fn l5_25_what_holds_on_another_branch_is_not_recalled_and_what_holds_everywhere_is() {
    let desk = Desk::offline();
    let global = desk.files.home().join(".everfold").join("memory");
    std::fs::create_dir_all(&global).unwrap();
    std::fs::write(
        global.join("tea.md"),
        "---\nname: tea\ndescription: drinks green tea\n---\nx\n",
    )
    .unwrap();
    let project = memory_dir(&desk);
    std::fs::create_dir_all(&project).unwrap();
    let text = "---\nname: t\ndescription: green tea here\nmetadata:\n  branch: other\n---\nx\n";
    std::fs::write(project.join("t.md"), text).unwrap();
    let rows = desk.run(&["recall", "green tea", "--json"]).ok().json();
    assert_eq!((paths(&rows), &rows[0]["scope"]), (vec!["tea.md"], &"global".into()));
}

#[test]
fn r9_s6_broken_files_are_no_reason_to_fail() {
    let desk = Desk::offline();
    let dir = memory_dir(&desk);
    fill(&dir);
    std::fs::write(dir.join("open.md"), "---\nname: deploys\nnever closed").unwrap();
    std::fs::write(dir.join("bytes.md"), b"\xff\xfe\x00 deploys").unwrap();
    let mut command = desk.command(&["recall", "when do deploys go out", "--json"]);
    let rows = Running::start(&mut command, None).end().ok().json();
    assert!(paths(&rows).contains(&"deploy.md"), "{rows}");
}

#[test]
fn r10_words_are_found_in_memories_and_sessions_without_a_key() {
    let desk = Desk::offline();
    fill(&memory_dir(&desk));
    desk.run(&["-p", "tell me about deploys on Thursday"]).ok();
    let found = desk.run(&["search", "thursday", "deploys", "--json"]).ok().json();
    assert_eq!(found["memories"][0]["name"], "deploy");
    assert_eq!(found["sessions"][0]["who"], "person");
    let told = desk.run(&["search", "Thursday deploys", "--in", "sessions"]).ok();
    assert!(told.out.contains("show-result") && !told.out.contains("deploy.md"), "{}", told.out);
    let id = found["sessions"][0]["record_id"].as_str().unwrap();
    assert!(desk.run(&["show-result", id]).ok().out.contains("tell me about"), "{id}");
    assert!(desk.run(&["search", "nobody said this"]).ok().out.contains("no matches for all"));
    assert_eq!(desk.run(&["search", "--all", "deploys", "--json"]).ok().json()["more"], 0);
    desk.run(&["search", " "]).failed(2);
}
