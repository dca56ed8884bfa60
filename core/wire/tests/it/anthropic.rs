//! Anthropic's stream, whole and cut.

use crate::events;
use everfold_kernel::ports::{ModelError, ModelEvent};
use everfold_kernel::record::CacheTtl;
use everfold_kernel::{Block, Usage};
use everfold_wire::INVALID_JSON;
use everfold_wire::anthropic::Assembler;
use everfold_wire::sse::{Decoder, SseEvent};
use serde_json::{Value, json};

/// A stream with every kind of delta, and kinds that nobody knows.
fn sample() -> String {
    let list = [
        json!({"type": "message_start", "message": {"id": "msg_1", "type": "message",
            "role": "assistant", "model": "claude-x", "content": [], "usage": {"input_tokens": 10,
            "cache_creation_input_tokens": 30, "cache_read_input_tokens": 5, "output_tokens": 1,
            "cache_creation": {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 20}}}}),
        json!({"type": "ping"}),
        json!({"type": "content_block_start", "index": 0, "content_block":
            {"type": "thinking", "thinking": "", "signature": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta":
            {"type": "thinking_delta", "thinking": "hm", "estimated_tokens": 3}}),
        json!({"type": "content_block_delta", "index": 0, "delta":
            {"type": "signature_delta", "signature": "sig"}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "content_block_start", "index": 1, "content_block":
            {"type": "text", "text": "", "new_field": {"a": 1}}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "Grüße "}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "sparkle_delta", "x": 1}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "😀"}}),
        json!({"type": "content_block_delta", "index": 1, "delta":
            {"type": "citations_delta", "citation": {"type": "page", "n": 4}}}),
        json!({"type": "content_block_stop", "index": 1}),
        json!({"type": "content_block_start", "index": 2, "content_block":
            {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {}}}),
        json!({"type": "content_block_delta", "index": 2, "delta":
            {"type": "input_json_delta", "partial_json": "{\"z\":1,"}}),
        json!({"type": "content_block_delta", "index": 2, "delta":
            {"type": "input_json_delta", "partial_json": "\"a\":[2]}"}}),
        json!({"type": "content_block_stop", "index": 2}),
        json!({"type": "content_block_start", "index": 3, "content_block":
            {"type": "compaction", "content": null}}),
        json!({"type": "content_block_delta", "index": 3, "delta":
            {"type": "compaction_delta", "content": "sum", "encrypted_content": "e"}}),
        json!({"type": "content_block_stop", "index": 3}),
        json!({"type": "holiday", "wish": "merry"}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": null},
            "usage": {"output_tokens": 42, "input_tokens": 10, "cache_creation_input_tokens": 30}}),
        json!({"type": "message_stop"}),
    ];
    list.iter().map(frame).collect()
}

fn frame(value: &Value) -> String {
    format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap())
}

/// Runs bytes through decoder and assembler, to the end or the first error.
fn run(bytes: &[u8]) -> (Vec<ModelEvent>, Result<(), ModelError>) {
    let mut assembler = Assembler::new(CacheTtl::FiveMinutes, None);
    let mut out = Vec::new();
    for event in Decoder::new(1 << 20).push(bytes).unwrap() {
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

#[test]
fn q8_a_stream_becomes_whole_blocks() {
    let (events, end) = run(sample().as_bytes());
    end.unwrap();
    let texts: Vec<String> =
        blocks(&events).iter().map(|block| serde_json::to_string(block).unwrap()).collect();
    assert_eq!(
        texts,
        [
            r#"{"type":"thinking","thinking":"hm","signature":"sig"}"#,
            r#"{"type":"text","text":"Grüße 😀","new_field":{"a":1},"citations":[{"type":"page","n":4}]}"#,
            r#"{"type":"tool_use","id":"toolu_1","name":"Read","input":{"z":1,"a":[2]}}"#,
            r#"{"type":"compaction","content":"sum","encrypted_content":"e"}"#,
        ]
    );
    let shown = events.iter().filter(|event| {
        matches!(event, ModelEvent::Text { index: 1, .. } | ModelEvent::Thinking { index: 0, .. })
    });
    assert_eq!(shown.count(), 3);
}

#[test]
fn t6_usage_is_cumulative_and_keeps_the_split() {
    let (events, _) = run(sample().as_bytes());
    let expected = Usage {
        input: 10,
        cache_read: 5,
        cache_write_5m: 10,
        cache_write_1h: 20,
        output: 42,
        ..Usage::default()
    };
    assert_eq!(
        events.last(),
        Some(&ModelEvent::Finished { stop_reason: "tool_use".into(), usage: expected })
    );
    let Some(ModelEvent::Started { usage, .. }) = events.first() else {
        panic!("no start");
    };
    assert_eq!(usage.output, 1);
}

#[test]
fn l2_4_what_the_server_cleared_comes_before_the_end() {
    let edits = json!([{"type": "clear_tool_uses_20250919", "cleared_tool_uses": 3,
        "cleared_input_tokens": 500}]);
    let with = |management: &Value| {
        let delta = json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"},
            "usage": {"output_tokens": 1}, "context_management": management});
        let start = json!({"type": "message_start", "message": {"id": "msg_1", "model": "m"}});
        let list = [start, delta, json!({"type": "message_stop"})];
        run(list.iter().map(frame).collect::<String>().as_bytes()).0
    };
    let events = with(&json!({"applied_edits": edits}));
    let [.., ModelEvent::ContextEdited { edits: found }, ModelEvent::Finished { .. }] = &events[..]
    else {
        panic!("{events:?}");
    };
    assert_eq!(found, &edits);
    for none in [json!({"applied_edits": []}), json!(null), json!({"applied_edits": "x"})] {
        assert_eq!(with(&none).len(), 2, "{none}");
    }
}

#[test]
fn s6_a_cut_at_every_byte_gives_whole_blocks_and_says_so() {
    let text = sample();
    let bytes = text.as_bytes();
    let whole = blocks(&run(bytes).0);
    for cut in 0..bytes.len() {
        let (events, end) = run(&bytes[..cut]);
        let found = blocks(&events);
        assert_eq!(found[..], whole[..found.len()], "cut at {cut}");
        assert!(matches!(end, Err(ModelError::Broken { .. })), "cut at {cut}");
        let finished = events.iter().any(|event| matches!(event, ModelEvent::Finished { .. }));
        assert!(!finished, "cut at {cut}");
    }
}

#[test]
fn s6_arguments_that_are_not_json_are_kept_for_the_engine() {
    let text = [
        json!({"type": "message_start", "message": {"id": "m", "model": "x"}}),
        json!({"type": "content_block_start", "index": 0, "content_block":
            {"type": "tool_use", "id": "t1", "name": "Read", "input": {}}}),
        json!({"type": "content_block_delta", "index": 0, "delta":
            {"type": "input_json_delta", "partial_json": "{\"path\": \"/a"}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "content_block_start", "index": 1, "content_block":
            {"type": "tool_use", "id": "t2", "name": "List"}}),
        json!({"type": "content_block_delta", "index": 1, "delta":
            {"type": "input_json_delta", "partial_json": ""}}),
        json!({"type": "message_stop"}),
    ]
    .iter()
    .map(frame)
    .collect::<String>();
    let (events, end) = run(text.as_bytes());
    end.unwrap();
    let found = blocks(&events);
    assert_eq!(found[0].as_map()["input"], json!({INVALID_JSON: "{\"path\": \"/a"}));
    assert_eq!(found[1].as_map()["input"], json!({}));
    let Some(ModelEvent::Finished { stop_reason, .. }) = events.last() else {
        panic!("not finished");
    };
    assert_eq!(stop_reason, "tool_use");
}

#[test]
fn q8_an_error_within_the_stream_is_that_error() {
    let start = frame(&json!({"type": "message_start", "message": {"id": "m", "model": "x"}}));
    let error = frame(&json!({"type": "error",
        "error": {"type": "overloaded_error", "message": "busy"}}));
    let (_, end) = run(format!("{start}{error}").as_bytes());
    assert!(matches!(end, Err(ModelError::Overloaded { .. })));
    let error = frame(&json!({"type": "error", "error": {"type": "invalid_request_error",
        "message": "prompt is too long: 9 tokens > 8 maximum"}}));
    let (_, end) = run(error.as_bytes());
    assert!(matches!(end, Err(ModelError::PromptTooLong { actual: Some(9), .. })));
}

#[test]
fn s6_a_malformed_stream_is_broken_and_never_panics() {
    let start = frame(&json!({"type": "message_start", "message": {"id": "m", "model": "x"}}));
    for bad in [
        "data: garbage\n\n",
        "event: content_block_delta\ndata: {\"index\":0,\"delta\":{}}\n\n",
        "event: content_block_stop\ndata: {\"index\":7}\n\n",
        "event: content_block_start\ndata: {\"index\":-1}\n\n",
        "event: content_block_start\ndata: {\"index\":99999999999}\n\n",
        "event: message_start\ndata: {}\n\n",
    ] {
        let (_, end) = run(format!("{start}{bad}").as_bytes());
        assert!(matches!(end, Err(ModelError::Broken { .. })), "{bad}");
        assert!(run(bad.as_bytes()).1.is_err());
    }
    let unknown = "event: weather\ndata: not json\n\n";
    let text = sample().replace("event: ping", &format!("{unknown}event: ping"));
    run(text.as_bytes()).1.unwrap();
    assert_eq!(events(b"").len(), 0);
}

#[test]
fn pc6_the_servers_reason_for_a_miss_follows_the_start() {
    let mut assembler = Assembler::new(CacheTtl::FiveMinutes, None);
    let data = json!({"type": "message_start", "message": {"id": "m", "model": "x", "usage": {},
        "diagnostics": {"cache_miss_reason": {"type": "tools_changed"}}}});
    let event = SseEvent { name: "message_start".into(), data: data.to_string() };
    let events = assembler.push(&event).unwrap();
    let [ModelEvent::Started { .. }, ModelEvent::CacheMissed { reason }] = &events[..] else {
        panic!("{events:?}");
    };
    assert_eq!(reason, "tools_changed");
}
