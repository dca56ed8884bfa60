//! What sessions cost, and what they would have cost (PC7, T6).

use crate::desk::Desk;
use everfold_testkit::Scenario;
use serde_json::Value;
use std::path::PathBuf;

const PI: &str = include_str!("../../../../core/foreign/tests/fixtures/pi-v1.jsonl");
const CODEX: &str = include_str!("../../../../core/foreign/tests/fixtures/codex-events.jsonl");

fn file(desk: &Desk, name: &str, text: &str) -> PathBuf {
    let path = desk.files.root().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

fn policies(session: &Value) -> Vec<&str> {
    let own = session["policies"].as_array().unwrap();
    own.iter().map(|lane| lane["policy"].as_str().unwrap()).collect()
}

#[test]
fn pc7_our_own_session_is_replayed_and_compared_with_its_usage() {
    let desk = Desk::with(Scenario::new());
    desk.run(&["-p", "one"]).ok();
    for prompt in ["two", "three", "four", "five"] {
        desk.run(&["-c", "-p", prompt]).ok();
    }
    let path = desk.transcripts()[0].display().to_string();
    let usual = desk.run(&["replay", &path, "--json"]).ok().json();
    assert_eq!(policies(&usual["sessions"][0]), ["recorded", "none", "everfold"]);
    let args = ["replay", &path, "--policy", "all", "--json", "--rounds", "--why"];
    let found = desk.run(&args).ok().json();
    let session = &found["sessions"][0];
    assert_eq!(session["format"], "everfold");
    assert_eq!(session["reported"]["requests"], 5);
    assert_eq!(policies(session).len(), 7);
    for lane in session["policies"].as_array().unwrap() {
        assert_eq!(lane["requests"], 5);
        assert_eq!(lane["rounds"].as_array().unwrap().len(), 5);
        assert_eq!(lane["regrets"], 0);
    }
    // As it went, it costs what was reported (PC8).
    let truth = &session["truth"];
    assert_eq!(truth["requests"], 5);
    for part in ["prompt", "cache_read", "cache_write", "input_usd"] {
        let off = truth[format!("{part}_error_percent")].as_f64().unwrap();
        assert!(off.abs() < 1.0, "{part}: {truth}");
    }
    // A model that is asked for prices it otherwise, and nothing is compared then.
    let args =
        ["replay", &path, "--json", "--model", "claude-haiku-4-5", "--policy", "none,mask-3"];
    let other = desk.run(&args).ok().json();
    assert_eq!(policies(&other["sessions"][0]), ["none", "mask-3"]);
    assert_eq!(other["sessions"][0]["truth"], Value::Null);
    let usd =
        |found: &Value, at: usize| found["sessions"][0]["policies"][at]["usd"].as_f64().unwrap();
    assert!(usd(&other, 0) > 0.0 && usd(&other, 0) < usd(&found, 1));
}

#[test]
fn pc7_c3_transcripts_of_others_are_shown_as_a_table_and_a_picture() {
    let desk = Desk::offline();
    let (pi, codex) = (file(&desk, "pi.jsonl", PI), file(&desk, "codex.jsonl", CODEX));
    let drawing = desk.files.root().join("out.svg");
    let (pi, codex, svg) =
        (pi.display().to_string(), codex.display().to_string(), drawing.display().to_string());
    let shown =
        desk.run(&["replay", &pi, &codex, "--policy", "all", "--why", "--svg", &svg]).ok().out;
    for part in [
        "pi.jsonl",
        "policy           requests",
        "1 × a response without content (aborted) (first on line 9)",
        "1 × a part of type input_hologram (first on line 15)",
        "summarize-at-80",
        "tokens of each request",
        "dearest under recorded",
        "no price",
        "all 2 sessions",
    ] {
        assert!(shown.contains(part), "no {part:?} in {shown}");
    }
    let drawn = std::fs::read_to_string(drawing).unwrap();
    assert!(drawn.starts_with("<svg ") && drawn.ends_with("</svg>\n"));
    assert_eq!(drawn.matches("font-weight=\"bold\"").count(), 2 + 2 * 7);
    // A directory stands for the transcripts in it.
    let all = desk.run(&["replay", &desk.files.root().display().to_string(), "--json"]).ok().json();
    assert_eq!(all["total"]["sessions"], 2);
    assert!(!desk.files.home().join(".everfold").exists());
}

#[test]
fn pc7_files_of_sub_agents_beside_a_session_belong_to_it() {
    let desk = Desk::offline();
    let claude = include_str!("../../../../core/foreign/tests/fixtures/claude-1.0.jsonl");
    let path = file(&desk, "s1.jsonl", claude).display().to_string();
    let alone = desk.run(&["replay", &path, "--json", "--policy", "none"]).ok().json();
    let beside = desk.files.root().join("s1/subagents");
    std::fs::create_dir_all(&beside).unwrap();
    std::fs::write(beside.join("agent-1.jsonl"), claude.replace("msg", "other")).unwrap();
    let both = desk.run(&["replay", &path, "--json", "--policy", "none"]).ok().json();
    let count = |found: &Value, key: &str| found["sessions"][0][key].as_u64();
    assert_eq!(count(&alone, "conversations"), Some(3));
    assert_eq!(count(&both, "conversations"), Some(6));
    assert_eq!(both["sessions"][0]["agent_files"].as_array().unwrap().len(), 1);
}

#[test]
fn pc7_hostile_transcripts_are_counted_and_never_fatal() {
    let desk = Desk::offline();
    let torn = PI.get(..PI.len() - 40).unwrap();
    let cases = [
        ("torn.jsonl", torn.to_owned(), "not JSON"),
        ("noise.jsonl", "\u{0}\u{1b}[2J\n[]\n{\"type\":\"opera\"}\n".to_owned(), "of no known"),
        ("empty.jsonl", String::new(), "no transcript that is known"),
        ("twice.jsonl", format!("{CODEX}{CODEX}"), "policy"),
    ];
    for (name, text, told) in cases {
        let path = file(&desk, name, &text).display().to_string();
        let shown = desk.run(&["replay", &path]).ok().out;
        assert!(shown.contains(told), "{name}: {shown}");
        desk.run(&["replay", &path, "--json", "--rounds"]).ok().json();
    }
}

#[test]
fn pc7_c1_what_cannot_be_replayed_is_said() {
    let desk = Desk::offline();
    let path = file(&desk, "pi.jsonl", PI).display().to_string();
    for args in [
        &["replay"][..],
        &["replay", &path, "--policy", "mask"],
        &["replay", &path, "--ttl", "2h"],
        &["replay", &path, "--model", "no-such-model"],
        &["replay", &path, "--rounds"],
    ] {
        let ran = desk.run(args).failed(2);
        assert!(!ran.err.is_empty());
    }
    let gone = desk.run(&["replay", "nowhere.jsonl"]).failed(1);
    assert!(gone.err.contains("nowhere.jsonl"), "{}", gone.err);
}

#[test]
fn t6_costs_by_session_project_day_source_and_model() {
    let desk = Desk::with(Scenario::new());
    desk.run(&["-p", "one"]).ok();
    desk.run(&["-p", "two", "--model", "claude-haiku-5-5"]).ok();
    let by = |by: &str| desk.run(&["cost", "--by", by, "--project", "--json"]).ok().json();
    let keys = |found: &Value| {
        let groups = found["groups"].as_array().unwrap().iter();
        groups.map(|group| group["key"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(keys(&by("session")).len(), 2);
    assert_eq!(keys(&by("source")), ["main"]);
    assert_eq!(keys(&by("model")), ["claude-haiku-5-5", "claude-sonnet-5-5"]);
    assert_eq!(keys(&by("day")).len(), 1);
    let project = desk.run(&["cost", "--by", "project", "--json"]).ok().json();
    assert_eq!(project["scope"], "all");
    let cwd = desk.files.project().canonicalize().unwrap().display().to_string();
    assert_eq!(keys(&project), [cwd]);
    assert_eq!(project["groups"][0]["requests"], 2);
    let csv = desk.run(&["cost", "--by", "model", "--all", "--csv"]).ok().out;
    let lines: Vec<&str> = csv.lines().collect();
    assert!(lines[0].starts_with("model,requests,input_tokens,") && lines.len() == 3, "{csv}");
    assert!(lines[1].starts_with("claude-haiku-5-5,1,"), "{csv}");
    let csv = desk.run(&["cost", "--project", "--csv"]).ok().out;
    assert!(csv.starts_with("source,model,requests,"), "{csv}");
    let table = desk.run(&["cost", "--by", "session"]).ok().out;
    assert!(table.contains("this directory, 2 sessions") && table.contains("total"), "{table}");
}
