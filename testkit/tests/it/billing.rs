//! `usage` is what the cache would have done with what arrived.

use crate::http::{body, post, post_with, user};
use everfold_kernel::Usage;
use everfold_testkit::{Reply, Scenario, ServerRules, TestServer};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::time::Duration;

/// A system prompt of 1,000 tokens with a marker, and a conversation.
fn prompt(ttl: &str, messages: Value) -> Value {
    let mut body = body(messages);
    body["system"] = json!([{"type": "text", "text": "s".repeat(3_500),
        "cache_control": {"type": "ephemeral", "ttl": ttl}}]);
    body
}

fn billed(server: &TestServer, body: &Value) -> Usage {
    let response = post(server, "/v1/messages", body);
    assert_eq!(response.status, 200, "{}", response.text());
    server.requests().last().unwrap().usage.unwrap()
}

#[test]
fn t6_usage_comes_from_the_cache_and_the_clock() {
    let server = TestServer::start(Scenario::new()).unwrap();
    let body = prompt("5m", user(&"x".repeat(35)));
    let first = billed(&server, &body);
    assert_eq!((first.cache_write_5m, first.input), (1_000, 10));
    let second = billed(&server, &body);
    assert_eq!((second.cache_read, second.cache_write(), second.input), (1_000, 0, 10));
    server.advance(Duration::from_mins(5));
    let cold = billed(&server, &body);
    assert_eq!((cold.cache_read, cold.cache_write_5m), (0, 1_000));
    server.advance(Duration::from_secs(299));
    assert_eq!(billed(&server, &body).cache_read, 1_000);
}

#[test]
fn t6_the_wire_and_the_book_agree() {
    let server = TestServer::start(Scenario::new().reply(Reply::text("x".repeat(70)))).unwrap();
    let mut body = prompt("1h", user("hi"));
    let streamed = post(&server, "/v1/messages", &body);
    let events = streamed.events();
    let start = &events[0]["message"]["usage"];
    assert_eq!(start["cache_creation"]["ephemeral_1h_input_tokens"], 1_000);
    assert_eq!(start["cache_creation_input_tokens"], 1_000);
    let last = &events[events.len() - 2]["usage"];
    assert_eq!((&last["output_tokens"], &last["input_tokens"]), (&json!(20), &json!(1)));
    body["stream"] = json!(false);
    let usage = post(&server, "/v1/messages", &body).json()["usage"].clone();
    assert_eq!(usage["cache_read_input_tokens"], 1_000);
    let cost = server.requests()[1].cost.unwrap().0;
    assert!(cost > 0.0 && cost < server.requests()[0].cost.unwrap().0);
}

#[test]
fn pc7_minimums_are_those_of_the_model() {
    let server = TestServer::start(Scenario::new()).unwrap();
    let mut body = prompt("5m", user("hi"));
    assert_eq!(billed(&server, &body).cache_write(), 1_000);
    body["model"] = json!("claude-haiku-4-5");
    assert_eq!(billed(&server, &body).cache_write(), 0);
    let rules = ServerRules { cache_minimum: Some(1), ..ServerRules::default() };
    let server = TestServer::with_handler(rules, |_| Reply::text("ok")).unwrap();
    assert_eq!(billed(&server, &body).cache_write(), 1_000);
}

#[test]
fn pc7_errors_and_refusals_write_nothing_to_the_cache() {
    let scenario = Scenario::new().reply(Reply::error(529, "busy"));
    let server = TestServer::start(scenario).unwrap();
    let body = prompt("5m", user("hi"));
    assert_eq!(post(&server, "/v1/messages", &body).status, 529);
    assert_eq!(billed(&server, &body).cache_read, 0);
}

#[test]
fn q8_counting_tokens_counts_the_whole_prompt_and_warming_only_writes() {
    let server = TestServer::start(Scenario::new().reply(Reply::text("later"))).unwrap();
    let mut body = prompt("5m", user(&"x".repeat(35)));
    let mut counted = body.clone();
    for field in ["max_tokens", "stream"] {
        counted.as_object_mut().unwrap().remove(field);
    }
    let response = post(&server, "/v1/messages/count_tokens", &counted);
    assert_eq!(response.json(), json!({"input_tokens": 1_010}));
    assert_eq!(post(&server, "/v1/messages/count_tokens", &body).status, 400);
    body["max_tokens"] = json!(0);
    body["stream"] = json!(false);
    let warmed = billed(&server, &body);
    assert_eq!((warmed.cache_write(), warmed.output), (1_000, 0));
    assert_eq!(server.unused_steps(), 1);
    body["max_tokens"] = json!(5);
    assert_eq!(billed(&server, &body).cache_read, 1_000);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn pc5_with_a_marker_at_its_end_each_turn_reads_the_turn_before(
        sizes in prop::collection::vec(1_usize..4_000, 2..8),
    ) {
        let server = TestServer::with_handler(ServerRules::default(), |_| Reply::text("ok")).unwrap();
        let mut messages: Vec<Value> = Vec::new();
        let mut held = 0;
        for size in sizes {
            messages.push(json!({"role": "user", "content": [
                {"type": "text", "text": "x".repeat(size)}]}));
            let mut body = prompt("5m", json!(messages));
            let last = body["messages"].as_array_mut().unwrap().last_mut().unwrap();
            last["content"][0]["cache_control"] = json!({"type": "ephemeral"});
            let usage = billed(&server, &body);
            prop_assert_eq!(usage.cache_read, held);
            prop_assert_eq!(usage.input, 0);
            held = usage.prompt().0;
            messages.push(json!({"role": "assistant", "content": "ok"}));
        }
        everfold_testkit::oracle::assert_prefix_stable(&server.requests());
    }
}

/// A conversation of so many calls, each with a result of 100 tokens.
fn called(count: usize) -> Vec<Value> {
    let mut messages = vec![json!({"role": "user", "content": "go"})];
    for number in 0..count {
        let id = format!("t{number}");
        messages.push(json!({"role": "assistant", "content": [
            {"type": "tool_use", "id": id, "name": "Read", "input": {}}]}));
        messages.push(json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": "x".repeat(350)}]}));
    }
    messages
}

#[test]
fn l2_4_the_server_clears_the_oldest_results_by_portions() {
    let server = TestServer::start(Scenario::new()).unwrap();
    let cleared = |count: usize| {
        let mut body = body(json!(called(count)));
        body["context_management"] = json!({"edits": [{"type": "clear_tool_uses_20250919",
            "trigger": {"type": "input_tokens", "value": 1_000},
            "clear_at_least": {"type": "input_tokens", "value": 250}}]});
        body["stream"] = json!(false);
        let beta = [("anthropic-beta", "context-management-2025-06-27")];
        let response = post_with(&server, "/v1/messages", &body, &beta);
        assert_eq!(response.status, 200, "{}", response.text());
        let edits = response.json()["context_management"]["applied_edits"].clone();
        edits[0]["cleared_tool_uses"].as_u64().unwrap_or(0)
    };
    assert_eq!([5, 10, 11, 12, 13].map(cleared), [0, 3, 3, 3, 6]);
    assert_eq!(cleared(5), 0);
    let largest = server.requests().iter().map(|r| r.usage.unwrap().prompt().0).max().unwrap();
    assert!(largest < 1_100, "{largest}");
}

#[test]
fn l2_3_deleted_results_are_not_billed_and_edits_have_to_be_sent_again() {
    let rules = ServerRules { cache_edits: true, ..ServerRules::default() };
    let scenario = || Scenario::new().otherwise(Reply::text("ok"));
    let server = TestServer::start(Scenario { server: rules, ..scenario() }).unwrap();
    let edit = |ids: &[&str]| {
        let edits: Vec<Value> =
            ids.iter().map(|id| json!({"type": "delete", "cache_reference": id})).collect();
        json!({"type": "cache_edits", "edits": edits})
    };
    let with = |at: usize, block: Value| {
        let mut messages = called(3);
        messages[at]["content"].as_array_mut().unwrap().push(block);
        messages
    };
    let plain = billed(&server, &body(json!(called(3)))).prompt().0;
    let mut messages = with(6, edit(&["t0", "t1"]));
    assert_eq!(billed(&server, &body(json!(messages))).prompt().0, plain - 200);
    messages.push(json!({"role": "assistant", "content": "ok"}));
    messages.push(json!({"role": "user", "content": "more"}));
    assert!(billed(&server, &body(json!(messages))).prompt().0 < plain);
    messages[6]["content"].as_array_mut().unwrap().pop();
    let forgotten = post(&server, "/v1/messages", &body(json!(messages)));
    assert_eq!(forgotten.status, 400);
    assert!(forgotten.text().contains("sent again at the same place"));
    let later = post(&server, "/v1/messages", &body(json!(with(2, edit(&["t1"])))));
    assert!(later.text().contains("is no tool result before"), "{}", later.text());
    let public = TestServer::start(scenario()).unwrap();
    let refused = post(&public, "/v1/messages", &body(json!(with(6, edit(&["t0"])))));
    assert!(refused.text().contains("Input tag 'cache_edits'"), "{}", refused.text());
}

#[test]
fn pc5_what_is_for_everybody_is_shared_between_keys_and_nothing_behind_it() {
    let rules = ServerRules { cache_scopes: true, ..ServerRules::default() };
    let scenario = || Scenario::new().otherwise(Reply::text("ok"));
    let server = TestServer::start(Scenario { server: rules, ..scenario() }).unwrap();
    let beta = ("anthropic-beta", "prompt-caching-scope-2026-01-05");
    let asked = |key: &str, body: &Value| {
        let response = post_with(&server, "/v1/messages", body, &[("x-api-key", key), beta]);
        assert_eq!(response.status, 200, "{}", response.text());
        server.requests().last().unwrap().usage.unwrap().cache_read
    };
    let marked = |text: &str, scope: Option<&str>| {
        let mut marker = json!({"type": "ephemeral"});
        if let Some(scope) = scope {
            marker["scope"] = scope.into();
        }
        json!({"type": "text", "text": text.repeat(3_500), "cache_control": marker})
    };
    let mut shared = body(user("hi"));
    shared["system"] = json!([marked("s", Some("global")), marked("d", None)]);
    assert_eq!(
        [asked("one", &shared), asked("one", &shared), asked("two", &shared)],
        [0, 2_000, 1_000]
    );
    let mut own = body(user("hi"));
    own["system"] = json!([marked("x", None)]);
    assert_eq!([asked("one", &own), asked("two", &own), asked("two", &own)], [0, 0, 1_000]);
    for system in [
        json!([marked("s", Some("mine"))]),
        json!([marked("s", None), marked("d", Some("global"))]),
    ] {
        let mut wrong = body(user("hi"));
        wrong["system"] = system;
        let refused = post_with(&server, "/v1/messages", &wrong, &[beta]);
        assert_eq!(refused.status, 400, "{}", refused.text());
    }
    let refused = post(&server, "/v1/messages", &shared);
    assert!(refused.text().contains("scope"), "without the beta: {}", refused.text());
}
