//! Each thing that the API refuses, refused.

use crate::http::{Response, ask, body, open, post, post_with, user};
use everfold_testkit::{Content, Reply, Scenario, ServerRules, TestServer};
use serde_json::{Value, json};

fn server() -> TestServer {
    TestServer::start(Scenario::new()).unwrap()
}

#[track_caller]
fn refused(response: &Response, status: u16, words: &str) {
    let error = response.json();
    assert_eq!(response.status, status, "{error}");
    let message = error["error"]["message"].as_str().unwrap();
    assert!(message.contains(words), "{message:?} has no {words:?}");
}

#[track_caller]
fn invalid(messages: Value, words: &str) {
    refused(&ask(&server(), messages), 400, words);
}

#[track_caller]
fn valid(messages: Value) {
    let response = ask(&server(), messages);
    assert_eq!(response.status, 200, "{}", response.text());
}

/// A body with one field set.
fn with(field: &str, value: Value) -> Value {
    let mut body = body(user("hi"));
    body[field] = value;
    body
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "Read", "input": {}})
}

fn result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "ok"})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn loop_of(calls: Value, results: Value) -> Value {
    json!([{"role": "user", "content": "go"}, {"role": "assistant", "content": calls},
        {"role": "user", "content": results}])
}

#[test]
fn q8_a_request_without_a_key_or_version_is_refused() {
    let server = server();
    let bytes = body(user("hi")).to_string();
    let send = |headers: &[(&str, &str)]| {
        open(&server, "POST", "/v1/messages", headers, bytes.as_bytes()).unwrap().rest()
    };
    let version = ("anthropic-version", "2023-06-01");
    refused(&send(&[version]), 401, "x-api-key header is required");
    assert_eq!(send(&[version]).json()["error"]["type"], "authentication_error");
    refused(&send(&[("x-api-key", "k")]), 400, "anthropic-version");
    assert_eq!(send(&[version, ("authorization", "Bearer t")]).status, 200);
}

#[test]
fn s6_a_body_that_is_no_json_is_refused() {
    let server = server();
    let headers = [("x-api-key", "k"), ("anthropic-version", "2023-06-01")];
    let response = open(&server, "POST", "/v1/messages", &headers, b"{\"a\":").unwrap();
    refused(&response.rest(), 400, "not valid JSON");
}

#[test]
fn q8_every_call_needs_a_result_in_the_next_turn() {
    let words = "`tool_use` ids were found without `tool_result` blocks immediately after: t2.";
    invalid(loop_of(json!([call("t1"), call("t2")]), json!([result("t1")])), words);
    invalid(loop_of(json!([call("t2")]), json!("never mind")), words);
    let unfinished = json!([{"role": "user", "content": "go"},
        {"role": "assistant", "content": [call("t2")]}]);
    invalid(unfinished, words);
    valid(loop_of(
        json!([call("t1"), call("t2")]),
        json!([result("t2"), result("t1"), text("and go on")]),
    ));
}

#[test]
fn q8_a_result_needs_its_call_and_only_once() {
    let words = "unexpected `tool_use_id` found in `tool_result` blocks: t9";
    invalid(json!([{"role": "user", "content": [result("t9")]}]), words);
    invalid(loop_of(json!([call("t1")]), json!([result("t1"), result("t9")])), words);
    let twice = loop_of(json!([call("t1")]), json!([result("t1"), result("t1")]));
    invalid(twice, "a single result");
    let reused = json!([{"role": "user", "content": "go"},
        {"role": "assistant", "content": [call("t1")]}, {"role": "user", "content": [result("t1")]},
        {"role": "assistant", "content": [call("t1")]}, {"role": "user", "content": [result("t1")]}]);
    invalid(reused, "must be unique");
}

#[test]
fn q8_results_come_first_also_across_messages_of_one_turn() {
    let late = loop_of(json!([call("t1")]), json!([text("first"), result("t1")]));
    invalid(late, "must come first");
    let split = |one: Value, two: Value| {
        json!([{"role": "user", "content": "go"}, {"role": "assistant", "content": [call("t1")]},
            {"role": "user", "content": one}, {"role": "user", "content": two}])
    };
    invalid(split(json!("first"), json!([result("t1")])), "must come first");
    valid(split(json!([result("t1")]), json!("then")));
}

#[test]
fn q8_text_is_never_empty() {
    invalid(json!([{"role": "user", "content": [text("")]}]), "must be non-empty");
    invalid(json!([{"role": "user", "content": [text(" \n")]}]), "non-whitespace");
    invalid(json!([{"role": "user", "content": ""}]), "non-empty content");
    invalid(json!([{"role": "user", "content": []}]), "non-empty content");
    let nested = json!({"type": "tool_result", "tool_use_id": "t1", "content": [text("")]});
    invalid(loop_of(json!([call("t1")]), json!([nested])), "must be non-empty");
}

#[test]
fn q8_roles_start_and_end_with_the_person() {
    invalid(json!([]), "at least one message");
    let assistant = json!({"role": "assistant", "content": "hello"});
    invalid(json!([assistant]), "first message must use the \"user\" role");
    let prefill = json!([{"role": "user", "content": "go"}, assistant]);
    invalid(prefill, "does not support assistant message prefill");
    invalid(json!([{"role": "robot", "content": "go"}]), "role");
    valid(json!([{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]));
}

#[test]
fn q8_a_system_message_stands_after_a_user_turn() {
    let system = json!({"role": "system", "content": "operator"});
    let said = json!({"role": "user", "content": "go"});
    invalid(json!([system, said]), "first message");
    invalid(json!([said, system, said]), "a system message must follow");
    valid(json!([said, system]));
}

#[test]
fn q8_unknown_fields_are_named() {
    let server = server();
    let extra = "Extra inputs are not permitted";
    let send = |body: &Value| post(&server, "/v1/messages", body);
    refused(&send(&with("querySource", json!(1))), 400, &format!("querySource: {extra}"));
    let message = json!([{"role": "user", "content": "a", "uuid": "x"}]);
    refused(&send(&body(message)), 400, &format!("messages.0.uuid: {extra}"));
    let block = json!([{"role": "user", "content": [{"type": "text", "text": "a", "note": 1}]}]);
    refused(&send(&body(block)), 400, &format!("messages.0.content.0.text.note: {extra}"));
    let tools = json!([{"name": "a", "input_schema": {"type": "object"}, "paths": []}]);
    refused(&send(&with("tools", tools)), 400, &format!("tools.0.custom.paths: {extra}"));
    let kind = json!([{"role": "user", "content": [{"type": "hologram"}]}]);
    refused(&send(&body(kind)), 400, "Input tag 'hologram'");
}

#[test]
fn q8_a_beta_field_needs_its_header_and_the_header_has_to_exist() {
    let server = server();
    let body = with("context_management", json!({"edits": []}));
    let words = "context_management: Extra inputs are not permitted";
    refused(&post(&server, "/v1/messages", &body), 400, words);
    let beta = |name| post_with(&server, "/v1/messages", &body, &[("anthropic-beta", name)]);
    assert_eq!(beta("oauth-2025-04-20, context-management-2025-06-27").status, 200);
    refused(&beta("time-travel-2026-01-01"), 400, "Unexpected value(s) `time-travel-2026-01-01`");
}

#[test]
fn q8_sampling_parameters_are_gone_in_the_newer_version() {
    let server = server();
    let newer = [("anthropic-version", "2026-10-21")];
    for field in ["temperature", "top_p", "top_k"] {
        let body = with(field, json!(1));
        assert_eq!(post(&server, "/v1/messages", &body).status, 200);
        refused(&post_with(&server, "/v1/messages", &body, &newer), 400, field);
    }
    let cited = json!([{"role": "user", "content": [
        {"type": "text", "text": "a", "citations": [{"type": "char_location"}]}]}]);
    refused(&post_with(&server, "/v1/messages", &body(cited), &newer), 400, "citations");
}

#[test]
fn q8_required_parameters_and_their_limits() {
    let server = server();
    let without = |field: &str| {
        let mut body = body(user("hi"));
        body.as_object_mut().unwrap().remove(field);
        post(&server, "/v1/messages", &body)
    };
    for field in ["max_tokens", "model", "messages"] {
        refused(&without(field), 400, &format!("{field}: Field required"));
    }
    let send = |body: &Value| post(&server, "/v1/messages", body);
    refused(&send(&with("max_tokens", json!(128_001))), 400, "128001 > 128000");
    let thinking =
        |budget: u64| with("thinking", json!({"type": "enabled", "budget_tokens": budget}));
    refused(&send(&thinking(1_000)), 400, "`max_tokens` must be greater");
    refused(&send(&thinking(999)), 400, "greater than or equal to 1024");
}

#[test]
fn q8_tools_have_names_and_schemas() {
    let server = server();
    let send = |tools: Value| post(&server, "/v1/messages", &with("tools", tools));
    let tool = |name: &str| json!({"name": name, "input_schema": {"type": "object"}});
    refused(&send(json!([tool("a"), tool("a")])), 400, "must be unique");
    refused(&send(json!([tool("a b")])), 400, "pattern");
    refused(&send(json!([{"name": "a", "input_schema": {}}])), 400, "input_schema");
    let any_of = json!([{"name": "a", "input_schema": {"type": "object", "anyOf": []}}]);
    refused(&send(any_of), 400, "anyOf at the top level");
}

fn marked(ttl: &str) -> Value {
    json!({"type": "text", "text": "x", "cache_control": {"type": "ephemeral", "ttl": ttl}})
}

#[test]
fn pc5_more_than_four_markers_or_a_wrong_order_are_refused() {
    let content = |ttls: &[&str]| {
        let blocks: Vec<Value> = ttls.iter().map(|ttl| marked(ttl)).collect();
        json!([{"role": "user", "content": blocks}])
    };
    valid(content(&["1h", "1h", "5m", "5m"]));
    invalid(content(&["5m"; 5]), "A maximum of 4 blocks with cache_control");
    invalid(content(&["5m", "1h"]), "must not come after a ttl='5m'");
    let server = server();
    let mut automatic = body(content(&["1h"]));
    automatic["cache_control"] = json!({"type": "ephemeral"});
    refused(&post(&server, "/v1/messages", &automatic), 400, "another ttl");
    automatic["messages"] = json!([{"role": "user", "content": [marked("5m"), marked("5m"),
        marked("5m"), marked("5m"), text("last")]}]);
    refused(&post(&server, "/v1/messages", &automatic), 400, "Found 5");
}

#[test]
fn pc5_a_marker_may_not_stand_on_thinking_or_empty_text() {
    let marker = json!({"type": "ephemeral"});
    let thought =
        json!({"type": "thinking", "thinking": "t", "signature": "s", "cache_control": marker});
    let messages = json!([{"role": "user", "content": "go"},
        {"role": "assistant", "content": [thought]}, {"role": "user", "content": "on"}]);
    invalid(messages, "thinking.cache_control");
    let empty = json!({"type": "text", "text": "", "cache_control": marker});
    invalid(json!([{"role": "user", "content": [empty]}]), "cannot be set for empty text");
    let scoped = json!({"type": "text", "text": "x",
        "cache_control": {"type": "ephemeral", "scope": "global"}});
    invalid(json!([{"role": "user", "content": [scoped]}]), "cache_control.scope");
    invalid(json!([{"role": "user", "content": [marked("2h")]}]), "cache_control");
}

#[test]
fn q8_thinking_of_an_open_loop_comes_back_unchanged() {
    let reply = Reply::default()
        .and(Content::Thinking("I should read it.".into()))
        .and_tool("Read", json!({"file_path": "/a"}));
    let server = TestServer::start(Scenario::new().reply(reply)).unwrap();
    let blocks = ask(&server, user("go")).blocks();
    let id = blocks[1]["id"].as_str().unwrap();
    let again = |blocks: Value| ask(&server, loop_of(blocks, json!([result(id)])));
    assert_eq!(again(json!(blocks)).status, 200);
    refused(&again(json!([blocks[1]])), 400, "Expected `thinking`");
    let mut changed = blocks.clone();
    changed[0]["thinking"] = json!("I should not.");
    refused(&again(json!(changed)), 400, "Invalid `signature`");
    // In messages of their own it is still the same turn.
    let split = json!([{"role": "user", "content": "go"},
        {"role": "assistant", "content": [blocks[0]]}, {"role": "assistant", "content": [blocks[1]]},
        {"role": "user", "content": [result(id)]}]);
    assert_eq!(ask(&server, split).status, 200);
    // Once the person speaks again the loop is closed, and thinking may go.
    let closed = json!([{"role": "user", "content": "go"}, {"role": "assistant", "content": [blocks[1]]},
        {"role": "user", "content": [result(id)]}, {"role": "assistant", "content": "done"},
        {"role": "user", "content": "next"}]);
    assert_eq!(ask(&server, closed).status, 200);
}

#[test]
fn q8_a_prompt_over_the_window_is_refused_with_both_numbers() {
    let rules = ServerRules { window: 100, ..ServerRules::default() };
    let server = TestServer::with_handler(rules, |_| Reply::text("ok")).unwrap();
    assert_eq!(ask(&server, user(&"x".repeat(350))).status, 200);
    let response = ask(&server, user(&"x".repeat(351)));
    refused(&response, 400, "prompt is too long: 101 tokens > 100 maximum");
    assert_eq!(server.requests()[1].refused.as_ref().unwrap().0, 400);
    let large = user(&"x".repeat(33 * 1024 * 1024));
    assert_eq!(ask(&server, large).json()["error"]["type"], "request_too_large");
}

#[test]
fn q8_a_chat_server_wants_its_tool_calls_answered() {
    let server = server();
    let send = |messages: Value| {
        post(&server, "/v1/chat/completions", &json!({"model": "m", "messages": messages}))
    };
    let calls = json!({"role": "assistant", "content": null, "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "Read", "arguments": "{}"}}]});
    let said = json!({"role": "user", "content": "go"});
    let answer = json!({"role": "tool", "tool_call_id": "c1", "content": "ok"});
    refused(&send(json!([said, calls])), 400, "did not have response messages: c1");
    refused(&send(json!([said, calls, said])), 400, "did not have response messages: c1");
    refused(&send(json!([said, answer])), 400, "preceding message with 'tool_calls'");
    refused(&send(json!([])), 400, "at least one message");
    assert_eq!(send(json!([said, calls, answer])).status, 200);
}
