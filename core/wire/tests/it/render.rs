//! Conversations rendered for chat completions.

use everfold_kernel::record::{Breakpoint, Params};
use everfold_kernel::{Block, Role, SystemBlock, ToolUseId};
use everfold_wire::openai::{body, head_json, message_json};
use serde_json::{Value, json};

fn block(value: Value) -> Block {
    Block::from_value(value).unwrap()
}

fn parse(text: &str) -> Value {
    serde_json::from_str(&format!("[{text}]")).unwrap()
}

#[test]
fn pc1_a_request_is_rendered_to_the_byte() {
    let mut params = Params::new("qwen[1m]", 100);
    params.effort = Some("low".into());
    let system =
        ["a", "b"].map(|text| SystemBlock { text: text.into(), breakpoint: Breakpoint::None });
    let tools = [
        json!({"name": "Read", "description": "reads", "input_schema": {"type": "object", "properties": {"z": {}, "a": {}}}}),
        json!({"type": "web_search_20250305", "name": "web_search"}),
    ];
    let head = head_json(&system, &tools, &params);
    let first = message_json(Role::User, &[Block::text("hi")]);
    let nothing =
        message_json(Role::Assistant, &[block(json!({"type": "thinking", "thinking": "hm"}))]);
    assert_eq!(nothing, "");
    let text = body(&head, [first.as_str(), &nothing]);
    assert_eq!(
        text,
        concat!(
            r#"{"model":"qwen","max_tokens":100,"stream":true,"stream_options":{"include_usage":true},"#,
            r#""reasoning_effort":"low","tools":[{"type":"function","function":{"name":"Read","description":"reads","#,
            r#""parameters":{"type":"object","properties":{"z":{},"a":{}}}}}],"messages":["#,
            r#"{"role":"system","content":"a\n\nb"},{"role":"user","content":"hi"}]}"#
        )
    );
    let longer = body(&head, [first.as_str(), &first]);
    assert!(longer.starts_with(text.strip_suffix("]}").unwrap()));
    let bare = head_json(&[], &[], &Params::new("m", 1));
    let value: Value = serde_json::from_str(&body(&bare, [])).unwrap();
    assert_eq!(value["messages"], json!([]));
    assert!(value.get("tools").is_none());
}

#[test]
fn q8_calls_and_results_become_chat_messages() {
    let id = ToolUseId::new("t1");
    let call = message_json(
        Role::Assistant,
        &[
            block(json!({"type": "thinking", "thinking": "hm", "signature": "s"})),
            Block::text("Look: "),
            Block::tool_use(&id, "Read", json!({"z": 1, "a": "é"})),
        ],
    );
    assert_eq!(
        call,
        r#"{"role":"assistant","content":"Look: ","tool_calls":[{"id":"t1","type":"function","function":{"name":"Read","arguments":"{\"z\":1,\"a\":\"é\"}"}}]}"#
    );
    let only_call = message_json(Role::Assistant, &[Block::tool_use(&id, "Read", json!({}))]);
    assert_eq!(parse(&only_call)[0]["content"], Value::Null);
    let results = message_json(
        Role::User,
        &[
            Block::tool_result(&id, json!("content")),
            Block::tool_error(&ToolUseId::new("t2"), "no such file"),
            Block::text("and now?"),
            Block::text("well?"),
        ],
    );
    assert_eq!(
        parse(&results),
        json!([
            {"role": "tool", "tool_call_id": "t1", "content": "content"},
            {"role": "tool", "tool_call_id": "t2", "content": "Error: no such file"},
            {"role": "user", "content": "and now?\n\nwell?"}])
    );
}

#[test]
fn q8_pictures_in_results_follow_in_a_user_message() {
    let content = json!([{"type": "text", "text": "two:"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}]);
    let text = message_json(
        Role::User,
        &[
            Block::tool_result(&ToolUseId::new("t1"), content),
            Block::image("image/jpeg", "BBBB"),
            block(
                json!({"type": "document", "title": "T", "source": {"type": "text", "data": "body"}}),
            ),
            block(json!({"type": "document", "source": {"type": "base64", "data": "x"}})),
        ],
    );
    assert_eq!(
        parse(&text),
        json!([
            {"role": "tool", "tool_call_id": "t1",
                "content": "two:\n[a picture, shown in the next user message]"},
            {"role": "user", "content": [
                {"type": "text", "text": "Picture from t1:"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
                {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,BBBB"}},
                {"type": "text", "text": "T\nbody"},
                {"type": "text", "text": "[a document that this server cannot be given]"}]}])
    );
}
