//! Everything that can go wrong on the way.

use crate::http::{Part, ask, body, open, post, user};
use everfold_testkit::{Gate, Reply, Scenario, ServerFault, TestServer};
use serde_json::json;
use std::collections::BTreeMap;

fn serve(reply: Reply) -> TestServer {
    TestServer::start(Scenario::new().reply(reply)).unwrap()
}

const AUTH: &[(&str, &str)] = &[("x-api-key", "k"), ("anthropic-version", "2023-06-01")];

#[test]
fn q8_an_error_has_its_status_type_and_headers() {
    let server = serve(Reply::default().fault(ServerFault::Error {
        status: 429,
        error_type: None,
        message: "slow down".into(),
        headers: BTreeMap::from([("retry-after".into(), "7".into())]),
    }));
    let response = ask(&server, user("hi"));
    assert_eq!((response.status, response.header("retry-after")), (429, Some("7")));
    assert_eq!(response.header("request-id"), Some("req_test_0001"));
    assert_eq!(
        response.json(),
        json!({"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"},
            "request_id": "req_test_0001"})
    );
    assert_eq!(ask(&server, user("hi")).status, 200);
}

#[test]
fn q8_a_prompt_can_be_too_long_on_demand() {
    for (with_numbers, words) in [
        (true, "prompt is too long: 200001 tokens > 200000 maximum"),
        (false, "Prompt is too long"),
    ] {
        let server = serve(Reply::default().fault(ServerFault::PromptTooLong { with_numbers }));
        let response = ask(&server, user("hi"));
        assert_eq!(response.status, 400);
        assert_eq!(response.json()["error"]["message"], words);
    }
}

#[test]
fn s6_the_connection_closes_before_headers() {
    let server = serve(Reply::text("never").fault(ServerFault::CloseBeforeHeaders));
    let bytes = body(user("hi")).to_string();
    assert!(open(&server, "POST", "/v1/messages", AUTH, bytes.as_bytes()).is_none());
    assert_eq!(ask(&server, user("hi")).status, 200);
}

#[test]
fn s6_a_stream_breaks_after_bytes_or_events() {
    let whole = ask(&serve(Reply::text("some text")), user("hi"));
    for bytes in [1, 10, 500] {
        let reply = Reply::text("some text").fault(ServerFault::CutAfterBytes(bytes));
        let cut = ask(&serve(reply), user("hi"));
        assert!(cut.broken);
        assert_eq!(cut.bytes(), whole.bytes()[..bytes]);
    }
    for events in [1, 4] {
        let cut = ask(
            &serve(Reply::text("some text").fault(ServerFault::CutAfterEvents(events))),
            user("hi"),
        );
        assert!(cut.broken);
        assert_eq!(cut.events(), whole.events()[..events]);
        let end = ask(
            &serve(Reply::text("some text").fault(ServerFault::EndAfterEvents(events))),
            user("hi"),
        );
        assert!(!end.broken);
        assert_eq!(end.events(), whole.events()[..events]);
    }
}

#[test]
fn s6_garbage_marks_and_error_events_are_sent_as_asked() {
    let garbage = ServerFault::Garbage { after_events: 1, text: "\u{0}not an event\n".into() };
    let response = ask(&serve(Reply::text("hi").fault(garbage)), user("hi"));
    assert!(response.text().contains("\n\n\u{0}not an event\nevent: ping"));
    let response = ask(&serve(Reply::text("hi").fault(ServerFault::Bom)), user("hi"));
    assert!(response.bytes().starts_with(b"\xef\xbb\xbfevent: message_start"));
    let late = ServerFault::ErrorEvent {
        after_events: 3,
        error_type: "overloaded_error".into(),
        message: "busy".into(),
    };
    let events = ask(&serve(Reply::text("hi").fault(late)), user("hi")).events();
    assert_eq!(events.len(), 4);
    assert_eq!(events[3]["error"]["type"], "overloaded_error");
}

#[test]
fn s6_chunks_of_a_size_and_inside_characters() {
    let small = ask(&serve(Reply::text("größer").chunk_bytes(7)), user("hi"));
    assert!(small.chunks.iter().rev().skip(1).all(|chunk| chunk.len() == 7));
    assert_eq!(small.blocks()[0]["text"], "größer");
    let split = ask(&serve(Reply::text("größer €").fault(ServerFault::SplitUtf8)), user("hi"));
    assert!(split.chunks.iter().any(|chunk| std::str::from_utf8(chunk).is_err()));
    assert_eq!(split.blocks()[0]["text"], "größer €");
}

#[test]
fn s6_the_arguments_of_a_call_can_be_no_json() {
    let reply = Reply::tool("Read", json!({"a": 1}))
        .fault(ServerFault::InvalidToolJson("{\"a\": tru".into()));
    let response = ask(&serve(reply), user("hi"));
    let sent: String = response
        .events()
        .iter()
        .filter_map(|event| event["delta"]["partial_json"].as_str())
        .collect();
    assert_eq!(sent, "{\"a\": tru");
}

#[test]
fn q8_a_gate_holds_the_rest_back_until_it_is_released() {
    let mut reply = Reply::text("now");
    reply.gate = Some(Gate { name: "go".into(), after_events: 2 });
    let server = serve(reply);
    let bytes = body(user("hi")).to_string();
    let mut connection = open(&server, "POST", "/v1/messages", AUTH, bytes.as_bytes()).unwrap();
    for name in ["message_start", "ping"] {
        let Part::Data(event) = connection.part() else {
            panic!("no event");
        };
        assert!(String::from_utf8(event).unwrap().starts_with(&format!("event: {name}")));
    }
    // Another request is answered meanwhile.
    assert_eq!(ask(&server, user("and me")).blocks()[0]["text"], "You said: and me");
    server.release("go");
    assert_eq!(connection.rest().blocks()[0]["text"], "now");
}

#[test]
fn s6_a_stalled_stream_goes_on_when_released_and_ends_with_the_server() {
    let stalled = || {
        let server = serve(Reply::text("slow").fault(ServerFault::Stall { after_events: 1 }));
        let bytes = body(user("hi")).to_string();
        let mut connection = open(&server, "POST", "/v1/messages", AUTH, bytes.as_bytes()).unwrap();
        assert!(matches!(connection.part(), Part::Data(_)));
        (server, connection)
    };
    let (server, connection) = stalled();
    server.release("stall");
    assert!(!connection.rest().broken);
    let (server, connection) = stalled();
    drop(server);
    assert!(connection.rest().broken);
}

#[test]
fn s6_faults_apply_to_chat_completions_and_whole_answers_too() {
    let chat = json!({"model": "m", "stream": true, "messages": user("hi")});
    let server = serve(Reply::text("some text").fault(ServerFault::CutAfterEvents(2)));
    let cut = post(&server, "/v1/chat/completions", &chat);
    assert!(cut.broken && cut.events().len() == 2);
    let server = serve(Reply::text("some text").fault(ServerFault::CutAfterBytes(5)));
    let mut whole = body(user("hi"));
    whole["stream"] = json!(false);
    let cut = post(&server, "/v1/messages", &whole);
    assert!(cut.broken && cut.bytes().len() == 5);
}
