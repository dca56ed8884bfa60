//! Chat completions, as several servers stream them.

use crate::events;
use everfold_kernel::ports::{ModelError, ModelEvent};
use everfold_kernel::{Block, Usage};
use everfold_wire::INVALID_JSON;
use everfold_wire::openai::{AnswerIds, Assembler, parse_message};
use serde_json::{Value, json};

const LONG_ID: &str = "chatcmpl-0123456789abcdef";

fn answer() -> AnswerIds {
    AnswerIds { request_id: None, unique: "u1".into() }
}

fn chunk(id: &str, delta: &Value, finish: Option<&str>) -> String {
    let value = json!({"id": id, "model": "qwen", "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
    format!("data: {value}\n\n")
}

fn run(text: &str) -> (Vec<ModelEvent>, Result<(), ModelError>) {
    let mut assembler = Assembler::new(answer());
    let mut out = Vec::new();
    for event in events(text.as_bytes()) {
        match assembler.push(&event) {
            Ok(events) => out.extend(events),
            Err(error) => return (out, Err(error)),
        }
    }
    let end = assembler.finish().map(|events| out.extend(events));
    (out, end)
}

fn blocks(events: &[ModelEvent]) -> Vec<Block> {
    let block = |event: &ModelEvent| match event {
        ModelEvent::Block { block, .. } => Some(block.clone()),
        _ => None,
    };
    events.iter().filter_map(block).collect()
}

fn finished(events: &[ModelEvent]) -> (String, Usage) {
    match events.last() {
        Some(ModelEvent::Finished { stop_reason, usage }) => (stop_reason.clone(), *usage),
        other => panic!("{other:?}"),
    }
}

#[test]
fn q8_pieces_of_text_and_calls_become_blocks() {
    let call = |index: u64, id: &str, name: &str, arguments: &str| {
        json!({"tool_calls": [{"index": index, "id": id, "type": "function",
            "function": {"name": name, "arguments": arguments}}]})
    };
    let text = [
        chunk(LONG_ID, &json!({"role": "assistant", "content": ""}), None),
        chunk(LONG_ID, &json!({"reasoning_content": "hm"}), None),
        chunk(LONG_ID, &json!({"content": "Let me "}), None),
        chunk(LONG_ID, &json!({"content": "look."}), None),
        chunk(LONG_ID, &call(0, "call_a", "Read", ""), None),
        chunk(LONG_ID, &json!({"tool_calls": [{"index": 0, "function": {"arguments": "{\"p\":"}}]}), None),
        chunk(LONG_ID, &json!({"tool_calls": [{"index": 0, "function": {"arguments": "1}"}}]}), None),
        chunk(LONG_ID, &call(1, "call_b", "Grep", "{\"q\""), None),
        chunk(LONG_ID, &json!({}), Some("tool_calls")),
        format!("data: {}\n\n", json!({"id": LONG_ID, "choices": [], "usage":
            {"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 60}}})),
        "data: [DONE]\n\n".into(),
    ]
    .concat();
    let (events, end) = run(&text);
    end.unwrap();
    let found = blocks(&events);
    assert_eq!(found[0], Block::text("Let me look."));
    assert_eq!(found[1].as_map()["input"], json!({"p": 1}));
    assert_eq!(found[2].as_map()["input"], json!({INVALID_JSON: "{\"q\""}));
    assert_eq!(found.len(), 3);
    let (reason, usage) = finished(&events);
    assert_eq!(reason, "tool_use");
    assert_eq!((usage.input, usage.cache_read, usage.output), (40, 60, 7));
    let thinking = ModelEvent::Thinking { index: 0, text: "hm".into() };
    assert!(events.contains(&thinking));
}

#[test]
fn q8_servers_that_leave_things_out_are_understood() {
    // A whole call in one chunk, an object for arguments, no ids, no usage, no [DONE].
    let calls = json!({"content": null, "tool_calls": [
        {"function": {"name": "Read", "arguments": {"a": 1}}},
        {"function": {"name": "Glob", "arguments": "{}"}}]});
    let text = chunk("chatcmpl-7", &calls, None) + &chunk("chatcmpl-7", &json!({}), Some("stop"));
    let (events, end) = run(&text);
    end.unwrap();
    let found = blocks(&events);
    assert_eq!(found[0].as_map()["id"], "call_chatcmpl-7-u1_0");
    assert_eq!(found[1].as_map()["id"], "call_chatcmpl-7-u1_1");
    assert_eq!(found[0].as_map()["input"], json!({"a": 1}));
    assert_eq!(finished(&events), ("tool_use".into(), Usage::default()));
}

#[test]
fn q8_stop_reasons_are_anthropics() {
    for (theirs, ours) in
        [("stop", "end_turn"), ("length", "max_tokens"), ("content_filter", "refusal")]
    {
        let (events, _) = run(&chunk(LONG_ID, &json!({"content": "x"}), Some(theirs)));
        assert_eq!(finished(&events).0, ours);
    }
}

#[test]
fn s6_a_cut_completion_is_broken_and_an_error_is_told() {
    let start = chunk(LONG_ID, &json!({"content": "hi"}), None);
    assert!(matches!(run(&start).1, Err(ModelError::Broken { .. })));
    let done = format!("{start}data: [DONE]\n\n");
    assert!(matches!(run(&done).1, Err(ModelError::Broken { .. })));
    let garbage = format!("{start}data: <html>\n\n");
    assert!(matches!(run(&garbage).1, Err(ModelError::Broken { .. })));
    let error =
        format!("{start}data: {}\n\n", json!({"error": {"code": 503, "message": "loading"}}));
    assert!(matches!(run(&error).1, Err(ModelError::Server { status: 503, .. })));
}

#[test]
fn q8_a_whole_completion_is_read() {
    let body = json!({"id": LONG_ID, "model": "qwen", "choices": [{"finish_reason": "tool_calls",
        "message": {"role": "assistant", "content": "ok", "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "Read", "arguments": "{\"a\":1}"}}]}}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 2}});
    let reply = parse_message(body.to_string().as_bytes(), &answer()).unwrap();
    assert_eq!(reply.blocks.len(), 2);
    assert_eq!(reply.stop_reason, "tool_use");
    assert_eq!(reply.usage.input, 5);
    assert!(parse_message(b"{}", &answer()).is_err());
}
