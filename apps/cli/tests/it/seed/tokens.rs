//! Tokens and the window (T).

use super::{Stage, worker};
use everfold_testkit::{Received, Reply, ServerRules};
use serde_json::json;

/// What `/context` says: tokens in use, and the window.
fn context(out: &str) -> (u64, u64) {
    let line = out.lines().rev().find(|line| line.contains(" of ") && line.contains(" tokens"));
    let line = line.unwrap_or_else(|| panic!("no picture: {out}"));
    let number = |text: &str| -> u64 { text.replace(',', "").parse().unwrap() };
    let (used, window) = line.split_once(" of ").unwrap();
    let used = number(used.rsplit(' ').next().unwrap());
    (used, number(window.split(' ').next().unwrap()))
}

/// What a request and its answer took, by the server's book.
fn took(request: &Received) -> u64 {
    let usage = request.usage.unwrap();
    usage.prompt().0 + usage.output
}

#[test]
fn t1_the_count_is_the_last_usage_and_an_estimate_of_what_came_since() {
    let rules = ServerRules { bytes_per_token: 4.0, ..ServerRules::default() };
    let stage = Stage::with_rules(rules, |request| match request.last_user_text() {
        said if said.contains("refuse") => Reply::error(400, "not now"),
        _ => Reply::text("Hello."),
    });
    let ran = stage.talk(&["hello", "hello again", "/context"]);
    assert_eq!(context(&ran.out).0, took(&stage.last()), "{}", ran.out);
    let known = took(&stage.last());
    let words = format!("refuse {}", "word ".repeat(8_000));
    let input = [words.as_str(), "/context"];
    let ran = stage.args(&["-c"]).talk(&input);
    let grown = context(&ran.out).0 - known;
    // What the server said of the first requests corrects it (T7).
    assert!((8_000..10_300).contains(&grown), "40,000 bytes are some 10,000 tokens: {grown}");
}

#[test]
fn t2_text_has_four_bytes_a_token_json_two_and_a_picture_two_thousand() {
    // Before the first answer there is nothing but the estimate.
    let used = |lines: &[&str]| {
        let stage = Stage::new(|_| Reply::error(400, "not now"));
        let png = [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0];
        std::fs::write(stage.desk.files.project().join("pic.png"), png).unwrap();
        context(&stage.talk(lines).out).0
    };
    let nothing = used(&["say nothing", "/context"]);
    let words = format!("say {}", "word".repeat(5_000));
    let grown = used(&[&words, "/context"]) - nothing;
    assert!((4_990..5_010).contains(&grown), "20,000 bytes of text: {grown}");
    let grown = used(&["say @pic.png", "/context"]) - nothing;
    assert!((2_000..2_200).contains(&grown), "a picture: {grown}");
    // Tools are JSON, with texts in it that describe them.
    let stage = Stage::new(|_| Reply::error(400, "not now"));
    let ran = stage.talk(&["say nothing", "/context"]);
    let row = ran.out.lines().find_map(|line| line.strip_prefix("T  tools")).unwrap();
    let told: u64 = row.split_whitespace().next().unwrap().replace(',', "").parse().unwrap();
    let bytes = stage.requests()[0].body["tools"].to_string().len() as u64;
    assert!((bytes / 4 + 500..bytes / 2).contains(&told), "{told} tokens of {bytes} bytes");
}

#[test]
fn t3_the_window_is_the_first_that_applies_and_the_server_is_asked_for_it() {
    let window = |model: &str, vars: &[(&str, &str)], betas: &[&str]| {
        let stage = Stage::new(|_| Reply::text("Hello.")).plain().args(&["--model", model]);
        let stage = stage.set(&json!({"everfold": {"provider": {"betas": betas}}}));
        let stage = vars.iter().fold(stage, |stage, (name, value)| stage.var(name, value));
        let ran = stage.talk(&["hello", "/context"]);
        let request = stage.requests().remove(0);
        assert!(!request.model().contains('['), "the suffix is ours: {}", request.model());
        let long = request.header("anthropic-beta").unwrap_or("").contains("context-1m-");
        (context(&ran.out).1, long)
    };
    let small = [("EVERFOLD_CONTEXT_WINDOW", "150000")];
    assert_eq!(window("claude-sonnet-4-5[1m]", &small, &[]), (1_000_000, true), "the suffix");
    assert_eq!(window("claude-haiku-4-5", &small, &[]), (200_000, false), "the table");
    let beta = ["context-1m-2025-08-07"];
    assert_eq!(window("unheard-of-1", &small, &beta), (1_000_000, true), "a beta");
    assert_eq!(window("unheard-of-1", &small, &[]), (150_000, false), "the environment");
    assert_eq!(window("unheard-of-1", &[], &[]), (200_000, false), "else");
}

#[test]
fn t4_at_the_threshold_it_is_compacted_and_with_that_off_requests_are_refused() {
    // Each turn says how much the prompt has; the threshold of 200,000 is 167,000.
    for auto in [true, false] {
        let stage = Stage::new(worker).set(&json!({
            "autoCompactEnabled": auto, "everfold": {"flags": {"prune_time": false}}}));
        stage.write("a.txt", &"a line of a file with some words in it\n".repeat(1_500));
        let mut sizes = Vec::new();
        let mut ran = None;
        for _ in 0..20 {
            let one = stage.run(if sizes.is_empty() {
                &["-p", "read a.txt"]
            } else {
                &["-c", "-p", "read a.txt"]
            });
            sizes.push(took(&stage.last()));
            let over = one.code != Some(0) || !stage.of("compact").is_empty();
            ran = Some(one);
            if over {
                break;
            }
        }
        let ran = ran.unwrap();
        let most = stage.of("main").iter().map(took).max().unwrap();
        if auto {
            assert_eq!(stage.of("compact").len(), 1, "{sizes:?}");
            assert!((140_000..=167_500).contains(&most), "{most}");
        } else {
            assert_ne!(ran.code, Some(0), "{ran:?}");
            assert!(ran.err.contains("compact"), "it says what to do: {}", ran.err);
            assert!(stage.of("compact").is_empty());
            assert!((155_000..=177_500).contains(&most), "3,000 below 180,000: {most}");
        }
        assert!(stage.requests().iter().all(|request| request.refused.is_none()));
    }
}

#[test]
fn t5_the_threshold_is_moved_by_settings_and_environment_and_never_above_the_window() {
    let told = |settings: serde_json::Value, vars: &[(&str, &str)]| {
        let stage = Stage::new(worker).set(&settings);
        let stage = vars.iter().fold(stage, |stage, (name, value)| stage.var(name, value));
        let out = stage.talk(&["/context"]).out;
        let at = out.split_once("auto-compact at ").unwrap().1;
        at.split(|c: char| !c.is_ascii_digit() && c != ',').next().unwrap().replace(',', "")
    };
    let nothing = || json!({});
    assert_eq!(told(nothing(), &[]), "167000");
    assert_eq!(told(json!({"autoCompactWindow": 100_000}), &[]), "67000");
    assert_eq!(told(nothing(), &[("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "100000")]), "67000");
    assert_eq!(told(nothing(), &[("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "50")]), "90000");
    assert_eq!(told(json!({"everfold": {"auto_compact_percent": 50}}), &[]), "90000");
    assert_eq!(told(json!({"autoCompactWindow": 900_000}), &[]), "167000", "not above the window");
}
