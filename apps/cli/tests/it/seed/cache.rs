//! The prompt cache (PC).

use super::{Stage, put, text, worker};
use crate::desk::Running;
use everfold_testkit::{Received, Reply, ServerRules, TempHome, oracle};
use serde_json::{Value, json};
use std::io::Write as _;
use std::time::Duration;

fn system(request: &Received) -> Vec<Value> {
    request.body["system"].as_array().unwrap().clone()
}

/// Where cache markers stand, as pointers.
fn marks(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            if map.contains_key("cache_control") {
                found.push(path.to_owned());
            }
            map.iter().for_each(|(key, item)| marks(item, &format!("{path}/{key}"), found));
        }
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(at, item)| marks(item, &format!("{path}/{at}"), found));
        }
        _ => {}
    }
}

#[test]
fn pc1_what_was_sent_as_prefix_is_sent_the_same_again_in_any_process() {
    let stage = Stage::new(worker);
    stage.write("a.txt", "one\ntwo\n");
    stage.write("CLAUDE.md", "Speak plainly.");
    stage.ask("read a.txt and b.txt");
    stage.write("CLAUDE.md", "Speak softly.");
    stage.more("run echo hello and false");
    put(&stage.memories(), "MEMORY.md", "- [New](new.md) — a new line\n");
    stage.more("read a.txt");
    let stage = stage.args(&["-c"]);
    stage.talk(&["hello", "/context", "/cost", "run date"]);
    oracle::assert_prefix_stable(&stage.of("main"));
    assert!(stage.marked("everfold_break_seen").is_empty());
}

#[test]
fn pc2_what_stands_before_the_boundary_is_the_same_for_everybody() {
    let sent = |style: &str| {
        let stage = Stage::new(worker)
            .set(&json!({"language": "German", "outputStyle": style}))
            .args(&["--append-system-prompt", "Always say please."]);
        stage.write("CLAUDE.md", "Speak plainly.");
        put(&stage.memories(), "MEMORY.md", "- [A](a.md) — a line\n");
        stage.ask("hello");
        stage.last()
    };
    let (one, plain) = (sent("terse"), {
        let stage = Stage::new(worker);
        stage.ask("hello");
        stage.last()
    });
    let all = system(&one);
    assert_eq!(all[..2], system(&plain)[..2], "another home, project, style, language");
    assert!(all[0]["text"].as_str().unwrap().starts_with("everfold/"), "attribution first");
    let dynamic = all[2]["text"].as_str().unwrap();
    let order = ["# Memory", "# Environment", "# Output style", "# Language", "Always say please."];
    let places = order.map(|part| dynamic.find(part));
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}: {dynamic}");
    let first = one.messages()[0]["content"][0]["text"].as_str().unwrap();
    assert!(first.starts_with("<system-reminder>") && first.contains("Speak plainly."));
    assert!(!text(&one)[..text(&one).find("\"messages\"").unwrap()].contains("Speak plainly."));
}

#[test]
fn pc3_sections_are_computed_once_a_session_and_dropped_on_clear_and_compact() {
    let stage = Stage::new(worker);
    stage.ask(&format!("hello there {}", "and more words of mine ".repeat(600)));
    let before = system(&stage.last());
    // What sections are made from changes: the day, and the style.
    let stage = stage.set(&json!({"language": "German"}));
    stage.more("and again");
    assert_eq!(system(&stage.last()), before, "kept");
    let stage = stage.args(&["-c"]);
    stage.talk(&["hello", "/compact", "after"]);
    let main = stage.of("main");
    assert_eq!(system(&main[main.len() - 2]), before);
    assert_ne!(system(&main[main.len() - 1])[2], before[2], "dropped by a compaction");
    assert_eq!(system(&main[main.len() - 1])[..2], before[..2]);
    assert_eq!(system(&stage.of("compact")[0]), before, "a fork has the parent's bytes");
}

#[test]
fn pc4_forks_have_the_tool_list_of_their_parent() {
    let stage = Stage::new(|request| match (request.source(), request.last_tool_results()) {
        ("main", None) if request.last_user_text().contains("part") => Reply::tool(
            "Agent",
            json!({"description": "x", "prompt": "x", "subagent_type": "fork"}),
        ),
        ("extract", _) => Reply::text("nothing"),
        _ => worker(request),
    })
    .flag("extract", "1");
    stage.talk(&["Always use tabs, never spaces.", "do a part", "/compact"]);
    let tools = stage.of("main")[0].body["tools"].clone();
    for source in ["main", "extract", "agent:fork", "compact"] {
        let all = stage.of(source);
        assert!(!all.is_empty(), "{source}");
        assert!(all.iter().all(|one| one.body["tools"] == tools), "{source}");
    }
}

#[test]
fn pc5_breakpoints_let_each_turn_read_what_the_turn_before_wrote() {
    let stage = Stage::new(worker);
    stage.write("a.txt", &"a line of a file with some words in it\n".repeat(200));
    stage.ask("read a.txt");
    for _ in 0..4 {
        stage.more("read a.txt");
    }
    let main = stage.of("main");
    for pair in main.windows(2) {
        let (known, usage) = (pair[0].usage.unwrap(), pair[1].usage.unwrap());
        assert!(
            usage.cache_read * 100 >= known.prompt().0 * 99,
            "{} of {}",
            usage.cache_read,
            known.prompt().0
        );
    }
    for request in &main {
        let mut found = Vec::new();
        marks(&request.body, "", &mut found);
        assert!(
            found.len() <= 4 && found.contains(&"/system/1".to_owned()),
            "the boundary: {found:?}"
        );
        let ttl = &system(request)[1]["cache_control"]["ttl"];
        assert!(ttl.is_null() || ttl == "5m", "headless: {ttl}");
    }
    let open = Stage::new(worker);
    open.talk(&["hello"]);
    assert_eq!(system(&open.last())[1]["cache_control"]["ttl"], "1h", "somebody sits there");
    let set = Stage::new(worker).set(&json!({"everfold": {"cache": {"ttl": "5m"}}}));
    set.talk(&["hello"]);
    assert_ne!(system(&set.last())[1]["cache_control"]["ttl"], "1h");
}

#[test]
fn pc5_where_the_provider_knows_scopes_what_everybody_has_is_shared_and_nothing_else() {
    let scoped = json!({"everfold": {"provider": {"cache_scopes": true}}});
    let rules =
        ServerRules { cache_scopes: true, cache_minimum: Some(1_024), ..ServerRules::default() };
    // Another person, with another home, project and key, on the same server.
    let other = |stage: &Stage, more: &[(&str, &str)]| {
        let files = TempHome::new().unwrap();
        for (name, text) in more {
            put(&files.home().join(".everfold"), name, text);
        }
        let mut command = stage.command(&["-p", "good day to you"]);
        command.env("HOME", files.home()).env("ANTHROPIC_API_KEY", "sk-of-somebody-else");
        Running::start(command.current_dir(files.project()), None).end().ok();
        stage.last()
    };
    let stage = Stage::with_rules(rules.clone(), worker).set(&scoped);
    stage.ask("hello there");
    let first = stage.last();
    let blocks = system(&first);
    assert_eq!(blocks[1]["cache_control"]["scope"], "global");
    assert!(first.header("anthropic-beta").unwrap().contains("prompt-caching-scope-"));
    assert_eq!(text(&first).matches("\"scope\":").count(), 1, "and nowhere else");
    let theirs = other(&stage, &[]).usage.unwrap();
    let shared = theirs.cache_read;
    assert!(shared > 3_000 && shared < first.usage.unwrap().prompt().0, "{theirs:?}");
    // A kind of agent of one's own stands among the tools: that is nobody else's.
    let kind = "---\nname: mine\ndescription: a secret project\n---\nx\n";
    let own = other(&stage, &[("agents/mine.md", kind)]);
    assert!(!text(&own).contains("\"scope\":"), "{}", text(&own));
    assert_eq!(own.usage.unwrap().cache_read, 0);
    // Where the provider does not say so, nothing of it is sent.
    let plain = Stage::with_rules(rules, worker);
    plain.ask("hello there");
    assert!(!text(&plain.last()).contains("\"scope\":"));
    assert_eq!(other(&plain, &[]).usage.unwrap().cache_read, 0, "each has a cache of their own");
    assert!(stage.requests().iter().chain(&plain.requests()).all(|one| one.refused.is_none()));
}

#[test]
fn pc6_a_break_is_told_with_the_part_that_changed_and_a_known_one_is_not() {
    let long = "a word to keep in mind. ".repeat(400);
    let stage = Stage::new(|_| Reply::text("Understood. ".repeat(400)));
    let (running, mut input) = stage.open();
    for turn in 1..=4 {
        writeln!(input, "{long}").unwrap();
        super::until("the turn", || {
            stage.of("main").iter().filter(|one| one.usage.is_some()).count() >= turn
        });
    }
    // The server's cache is gone before its time: nothing of ours changed.
    stage.server().advance(Duration::from_hours(3));
    writeln!(input, "{long}").unwrap();
    drop(input);
    let ran = running.end().ok();
    assert_eq!(stage.marked("everfold_break_seen").len(), 1, "{} {}", ran.out, ran.err);
    assert!(
        format!("{}{}", ran.out, ran.err).contains("nothing changed here"),
        "{} {}",
        ran.out,
        ran.err
    );
    // Compaction, clearing the screen, another model: announced, so not told.
    let stage = Stage::new(|request| match super::asks_for_summary(request) {
        true => Reply::text(super::SUMMARY),
        false => Reply::text("Understood. ".repeat(400)),
    });
    let ran = stage.talk(&[&long, &long, "/compact", &long, "/model claude-opus-5", &long, &long]);
    assert!(stage.marked("everfold_break_seen").is_empty(), "{} {}", ran.out, ran.err);
}
