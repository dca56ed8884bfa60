//! Layer 2: clearing of results (L2).

use super::{Stage, blocks, results, text, worker};
use everfold_testkit::{Received, Reply, ServerRules, oracle};
use serde_json::{Value, json};
use std::time::Duration;

const CLEARED: &str = "[Old tool result content cleared]";

fn cleared(request: &Received) -> Vec<String> {
    results(request).into_iter().filter(|shown| shown.starts_with(CLEARED)).collect()
}

/// A session with eight results of reading and one of another tool.
fn read_eight_times() -> Stage {
    let stage = Stage::new(|request| match request.last_user_text() {
        said if said.contains("plan") && request.last_tool_results().is_none() => {
            let todos =
                json!([{"content": "x".repeat(1_200), "status": "pending", "activeForm": "x"}]);
            Reply::tool("TodoWrite", json!({ "todos": todos }))
        }
        _ => worker(request),
    })
    // With five minutes the prefix is cold sooner, and a sum decides (L2.7).
    .set(&json!({"everfold": {"cache": {"ttl": "1h"}}}));
    stage.write("a.txt", &"some words on a line of this file\n".repeat(60));
    stage.ask("make a plan");
    for _ in 0..8 {
        stage.more("read a.txt");
    }
    stage
}

#[test]
fn l2_1_l2_2_l2_6_after_an_hour_all_but_the_five_newest_are_cleared() {
    for (minutes, gone) in [(59, 0), (61, 3)] {
        let stage = read_eight_times();
        let before = stage.of("main").len();
        stage.let_pass(Duration::from_mins(minutes));
        // The server's cache lives as long as it does.
        stage.server().advance(Duration::from_mins(minutes));
        stage.more("and now?");
        let request = stage.last();
        let shown = results(&request);
        assert_eq!(cleared(&request).len(), gone, "after {minutes} minutes");
        assert_eq!(shown.len(), 9);
        if gone == 0 {
            continue;
        }
        assert!(shown[1..4].iter().all(|one| one.starts_with(CLEARED)), "the oldest: {shown:?}");
        assert!(
            shown[1].starts_with(&format!("{CLEARED} (id: ")),
            "what brings it back: {}",
            shown[1]
        );
        assert!(!shown[0].starts_with(CLEARED), "no result of a tool that is not on the list");
        assert!(text(&request).contains("make a plan") && text(&request).contains("Done."));
        // It was announced: nobody is told of a break (L2.6), and it stays so.
        stage.more("once more");
        oracle::assert_prefix_stable(&stage.of("main")[before..]);
        assert!(stage.marked("everfold_break_seen").is_empty());
    }
}

#[test]
fn e10_clearing_is_one_quiet_line_with_tokens_and_money() {
    let stage = read_eight_times();
    stage.let_pass(Duration::from_mins(61));
    stage.server().advance(Duration::from_mins(61));
    let ran = stage.run(&["-p", "-c", "--output-format", "stream-json", "and now?"]).ok();
    assert_eq!(cleared(&stage.last()).len(), 3);
    let lines = ran.lines();
    let told = lines.iter().filter(|line| line["subtype"] == "everfold_housekeeping");
    let told: Vec<&str> = told.map(|line| line["text"].as_str().unwrap()).collect();
    let [line] = told[..] else { panic!("one line: {told:?}") };
    assert!(line.starts_with("cleared 3 old results: "), "{line}");
    assert!(line.contains(" tokens less, about $") && line.contains(" requests for $"), "{line}");
}

#[test]
fn l2_3_by_cache_edits_the_server_drops_them_and_our_messages_stay() {
    let rules = ServerRules { cache_edits: true, ..ServerRules::default() };
    let stage = Stage::with_rules(rules, worker).flag("prune_cache_edit", "1").set(&json!({
        "everfold": {"provider": {"cache_edits": true}, "limits": {"prune": {"expected_rounds": 200}}}}));
    stage.write("a.txt", &"some words on a line of this file\n".repeat(60));
    stage.talk(&["read a.txt"; 23]);
    let requests = stage.of("main");
    assert!(requests.iter().all(|request| request.refused.is_none()));
    let edits = |request: &Received| -> Vec<Value> {
        blocks(request).into_iter().filter(|block| block["type"] == "cache_edits").collect()
    };
    let first = requests.iter().position(|request| !edits(request).is_empty()).unwrap();
    let sent = edits(&requests[first]).remove(0);
    assert_eq!(results(&requests[first]).len(), 21, "more than 20 live");
    assert_eq!(sent["edits"].as_array().unwrap().len(), 16, "all but the newest five");
    assert_eq!(sent["edits"][0]["type"], "delete");
    let calls: Vec<Value> =
        blocks(&requests[first]).into_iter().filter(|block| block["type"] == "tool_use").collect();
    assert_eq!(sent["edits"][0]["cache_reference"], calls[0]["id"]);
    assert_eq!(*blocks(&requests[first]).last().unwrap(), sent, "at the end of the last message");
    assert!(cleared(&requests[first]).is_empty(), "local messages are not touched");
    oracle::assert_prefix_stable(&requests);
    // Without the provider's word nothing of it is sent.
    let plain = Stage::new(worker).flag("prune_cache_edit", "1");
    plain.write("a.txt", &"some words on a line of this file\n".repeat(60));
    plain.talk(&["read a.txt"; 23]);
    assert!(plain.of("main").iter().all(|request| edits(request).is_empty()));
}

#[test]
fn l2_4_by_the_api_the_server_is_asked_to_clear() {
    let stage = Stage::new(worker)
        .flag("prune_api", "1")
        .set(&json!({"everfold": {"provider": {"context_management": true}}}));
    stage.ask("hello");
    let request = stage.last();
    assert!(request.header("anthropic-beta").unwrap().contains("context-management-2025-06-27"));
    let edits = request.body["context_management"]["edits"].as_array().unwrap().clone();
    let clearing = edits.last().unwrap();
    assert_eq!(clearing["type"], "clear_tool_uses_20250919");
    // On a window of 200,000: 20,000 below the threshold of 167,000, and half of that.
    assert_eq!(clearing["trigger"], json!({"type": "input_tokens", "value": 147_000}));
    // A sum may ask for more (L2.7).
    let least = clearing["clear_at_least"]["value"].as_u64().unwrap();
    assert!((73_500..147_000).contains(&least), "{least}");
    let plain = Stage::new(worker).flag("prune_api", "1");
    plain.ask("hello");
    assert!(plain.last().body.get("context_management").is_none());
}
