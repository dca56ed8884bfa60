//! Which step answers, what it answers, and what is written down.

use crate::http::{ask, body, open, post, post_with, user};
use everfold_kernel::ports::Clock;
use everfold_testkit::{
    Content, Error, Reply, SOURCE_HEADER, Scenario, ServerFault, ServerRules, TempHome, TestServer,
    When,
};
use serde_json::{Value, json};

const DEMO: &str = include_str!("../../scenarios/demo.json");
const FAULTS: &str = include_str!("../../scenarios/faults.json");

fn said(response: &crate::http::Response) -> String {
    response.blocks()[0]["text"].as_str().unwrap().to_owned()
}

#[test]
fn q8_the_first_unused_step_that_fits_answers() {
    let scenario = Scenario::new()
        .on(When::user("red"), Reply::text("1"))
        .reply(Reply::text("2"))
        .on(When::user("red"), Reply::text("3"))
        .always(When::user("blue"), Reply::text("4"));
    let server = TestServer::start(scenario).unwrap();
    let answers: Vec<String> = ["blue", "red", "red", "blue", "blue", "green"]
        .iter()
        .map(|text| said(&ask(&server, user(text))))
        .collect();
    assert_eq!(answers, ["2", "1", "3", "4", "4", "You said: green"]);
    assert_eq!(server.unused_steps(), 0);
}

#[test]
fn q8_steps_look_at_source_model_system_number_and_results() {
    let scenario: Scenario = serde_json::from_value(json!({"steps": [
        {"when": {"source": "recall"}, "reply": {"content": [{"text": "source"}]}},
        {"when": {"model": "claude-haiku-4-5"}, "reply": {"content": [{"text": "model"}]}},
        {"when": {"system_contains": "pirate"}, "reply": {"content": [{"text": "system"}]}},
        {"when": {"nth": 5}, "reply": {"content": [{"text": "fifth"}]}},
        {"when": {"tool_result": true}, "reply": {"content": [{"text": "result"}]}},
        {"when": {"tool_result_contains": "42"}, "reply": {"content": [{"text": "42"}]}},
    ], "default": {"content": [{"text": "default"}]}}))
    .unwrap();
    let server = TestServer::start(scenario).unwrap();
    let with = |field: &str, value: Value| {
        let mut body = body(user("hi"));
        body[field] = value;
        body
    };
    let send = |body: &Value| said(&post(&server, "/v1/messages", body));
    assert_eq!(send(&with("system", json!("You are a pirate."))), "system");
    assert_eq!(send(&with("model", json!("claude-haiku-4-5"))), "model");
    assert_eq!(send(&body(user("hi"))), "default");
    let source = [(SOURCE_HEADER, "recall")];
    assert_eq!(said(&post_with(&server, "/v1/messages", &body(user("hi")), &source)), "source");
    assert_eq!(send(&body(user("hi"))), "fifth");
    let results = json!([{"role": "user", "content": "go"}, {"role": "assistant", "content": [
        {"type": "tool_use", "id": "t", "name": "Read", "input": {}}]}, {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "it is 42"}]}]}]);
    assert_eq!(said(&ask(&server, results.clone())), "result");
    assert_eq!(said(&ask(&server, results)), "42");
    assert_eq!(server.requests_of("recall").len(), 1);
}

#[test]
fn q8_ids_are_the_same_every_time() {
    let reply = Reply::default()
        .and(Content::Text("two calls".into()))
        .and_tool("Read", json!({"file_path": "/ä"}))
        .and_tool("Bash", json!({}));
    let server = TestServer::start(Scenario::new().reply(reply)).unwrap();
    let response = ask(&server, user("go"));
    let blocks = response.blocks();
    assert_eq!(blocks[1]["id"], "toolu_0001_0");
    assert_eq!(blocks[1]["input"], json!({"file_path": "/ä"}));
    assert_eq!(blocks[2]["id"], "toolu_0001_1");
    let events = response.events();
    assert_eq!(events[0]["message"]["id"], "msg_test_0001");
    assert_eq!(events[events.len() - 2]["delta"]["stop_reason"], "tool_use");
    assert_eq!(events.last().unwrap()["type"], "message_stop");
}

#[test]
fn q8_requests_are_kept_as_they_arrived() {
    let server = TestServer::start(Scenario::new()).unwrap();
    let raw = br#"{"model":"claude-opus-5" , "max_tokens":5,"messages":[{"role":"user","content":"hi"}]}"#;
    let headers = [("x-api-key", "k"), ("anthropic-version", "2023-06-01"), ("X-Own", "yes")];
    let path = "/v1/messages?beta=true";
    let response = open(&server, "POST", path, &headers, raw).unwrap().rest();
    assert_eq!(response.json()["content"][0]["text"], "You said: hi");
    let request = server.requests().remove(0);
    assert_eq!(request.raw.as_ref(), raw);
    assert_eq!((request.path.as_str(), request.index), ("/v1/messages", 0));
    assert_eq!((request.header("x-own"), request.model()), (Some("yes"), "claude-opus-5"));
}

#[test]
fn q8_waiting_for_requests_is_bounded_and_says_what_came() {
    let server = TestServer::start(Scenario::new()).unwrap();
    ask(&server, user("one"));
    let requests = server.wait_for_requests_blocking(1).unwrap();
    assert_eq!(requests.len(), 1);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        // Paused time passes at once when nothing else can happen.
        .start_paused(true)
        .build()
        .unwrap();
    let outcome = runtime.block_on(server.wait_for_requests(2));
    assert!(matches!(outcome, Err(Error::TooFew { wanted: 2, arrived: 1, .. })));
    assert_eq!(runtime.block_on(server.wait_for_requests(1)).unwrap().len(), 1);
}

#[test]
fn q8_probes_and_models_are_served() {
    let rules = ServerRules { rate_limit_headers: true, ..ServerRules::default() };
    let server = TestServer::with_handler(rules, |_| Reply::text("ok")).unwrap();
    assert_eq!(open(&server, "HEAD", "/api/hello", &[], b"").unwrap().status, 200);
    let models = open(&server, "GET", "/v1/models", &[], b"").unwrap().rest().json();
    let ids: Vec<_> = models["data"].as_array().unwrap().iter().map(|model| &model["id"]).collect();
    assert!(ids.contains(&&json!("claude-opus-5")));
    let response = ask(&server, user("hi"));
    assert_eq!(response.header("anthropic-ratelimit-requests-limit"), Some("1000"));
}

#[test]
fn q8_chat_completions_stream_text_thinking_and_calls() {
    let reply = || {
        Reply::default()
            .and(Content::Thinking("hmm".into()))
            .and(Content::Text("I will read the file now.".into()))
            .and_tool("Read", json!({"file_path": "/a"}))
    };
    let server = TestServer::start(Scenario::new().reply(reply()).reply(reply())).unwrap();
    let mut chat = json!({"model": "llama", "stream": true, "messages": user("hi"),
        "stream_options": {"include_usage": true}});
    let response = post(&server, "/v1/chat/completions", &chat);
    assert!(response.text().ends_with("data: [DONE]\n\n"));
    let events = response.events();
    let joined = |path: &str| -> String {
        let parts = events.iter().filter_map(|event| event.pointer(path)?.as_str());
        parts.collect()
    };
    assert_eq!(joined("/choices/0/delta/reasoning_content"), "hmm");
    assert_eq!(joined("/choices/0/delta/content"), "I will read the file now.");
    assert_eq!(joined("/choices/0/delta/tool_calls/0/function/arguments"), r#"{"file_path":"/a"}"#);
    assert_eq!(joined("/choices/0/finish_reason"), "tool_calls");
    assert_eq!(events.last().unwrap()["usage"]["prompt_tokens"], 1);
    chat["stream"] = json!(false);
    let message =
        post(&server, "/v1/chat/completions", &chat).json()["choices"][0]["message"].clone();
    assert_eq!(message["tool_calls"][0]["function"]["name"], "Read");
    assert_eq!(message["content"], "I will read the file now.");
}

#[test]
fn q8_the_demo_plays_three_rounds_of_tools_and_an_answer() {
    let server = TestServer::start(Scenario::from_json(DEMO).unwrap()).unwrap();
    let mut messages = json!([{"role": "user", "content": "demo: what is in here?"}]);
    let mut tools = Vec::new();
    let answer = loop {
        let response = ask(&server, messages.clone());
        assert_eq!(response.status, 200, "{}", response.text());
        let blocks = response.blocks();
        let list = messages.as_array_mut().unwrap();
        list.push(json!({"role": "assistant", "content": blocks}));
        let calls: Vec<&Value> =
            blocks.iter().filter(|block| block["type"] == "tool_use").collect();
        if calls.is_empty() {
            break blocks.last().unwrap()["text"].as_str().unwrap().to_owned();
        }
        tools.extend(calls.iter().map(|call| call["name"].as_str().unwrap().to_owned()));
        let results: Vec<Value> = calls
            .iter()
            .map(|call| json!({"type": "tool_result", "tool_use_id": call["id"], "content": "README.md"}))
            .collect();
        list.push(json!({"role": "user", "content": results}));
    };
    assert_eq!(tools, ["Glob", "Read", "Bash"]);
    assert!(!answer.is_empty());
    everfold_testkit::oracle::assert_prefix_stable(&server.requests());
    assert_eq!(said(&ask(&server, user("hello"))), "You said: hello");
}

#[test]
fn q8_scenarios_say_what_they_do_not_know_and_read_back_as_written() {
    let scenario = Scenario::from_json(FAULTS).unwrap();
    assert_eq!(scenario.steps[0].reply.faults.len(), 1);
    assert!(matches!(scenario.steps[0].reply.faults[0], ServerFault::Error { status: 529, .. }));
    let text = serde_json::to_string(&scenario).unwrap();
    assert_eq!(Scenario::from_json(&text).unwrap(), scenario);
    for (text, word) in [
        (r#"{"stepz": []}"#, "stepz"),
        (r#"{"steps": [{"reply": {"fault": {"explode": 1}}}]}"#, "explode"),
        (r#"{"steps": [{"when": {"usr_contains": "x"}}]}"#, "usr_contains"),
    ] {
        let error = Scenario::from_json(text).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
}

#[test]
fn q8_a_home_and_a_clock_for_tests() {
    let home = TempHome::new().unwrap();
    assert!(home.project().is_dir());
    let server = TestServer::start(Scenario::new()).unwrap();
    server.advance(std::time::Duration::from_mins(1));
    ask(&server, user("hi"));
    assert_eq!(server.requests()[0].at, server.clock().now());
}
