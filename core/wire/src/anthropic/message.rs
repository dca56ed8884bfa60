//! An answer that came in one piece.

use super::usage::UsageTally;
use crate::errors::{classify_event, is_error};
use crate::input;
use everfold_kernel::ports::{ModelError, ModelReply};
use everfold_kernel::record::CacheTtl;
use everfold_kernel::{Block, MessageId, ModelId, RequestId};
use serde_json::Value;

/// Reads a whole message, as a server gives it that does not stream. Cache
/// writes that it does not split are counted at `ttl`.
///
/// # Errors
/// [`ModelError::Broken`] when the bytes are not a message, and whatever an
/// error object says when they are one.
pub fn parse_message(
    bytes: &[u8],
    ttl: CacheTtl,
    request_id: Option<RequestId>,
) -> Result<ModelReply, ModelError> {
    let value: Value = serde_json::from_slice(bytes).map_err(|error| ModelError::Broken {
        message: format!("the answer is not JSON ({error})"),
    })?;
    if is_error(&value) {
        return Err(classify_event(&value));
    }
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let (Some(id), Some(content)) = (text("id"), value.get("content").and_then(Value::as_array))
    else {
        return Err(ModelError::Broken {
            message: "the answer is not a message: it has no id or no content".into(),
        });
    };
    let blocks: Vec<Block> = content.iter().filter_map(whole_block).collect();
    let mut tally = UsageTally::new(ttl);
    if let Some(usage) = value.get("usage") {
        tally.merge(usage);
    }
    Ok(ModelReply {
        message_id: MessageId::new(id),
        request_id,
        model: ModelId::new(text("model").unwrap_or_default()),
        stop_reason: text("stop_reason").map_or_else(
            || implied_stop(blocks.iter().any(|block| block.kind() == "tool_use")),
            str::to_owned,
        ),
        blocks,
        usage: tally.usage(),
        context_edits: applied_edits(&value),
    })
}

/// What the server says that it cleared of the prompt, if anything.
pub(super) fn applied_edits(value: &Value) -> Option<Value> {
    let edits = value.get("context_management")?.get("applied_edits")?;
    edits.as_array().is_some_and(|edits| !edits.is_empty()).then(|| edits.clone())
}

/// Why an answer ended whose server did not say it.
pub(super) fn implied_stop(calls_tools: bool) -> String {
    if calls_tools { "tool_use" } else { "end_turn" }.to_owned()
}

fn whole_block(value: &Value) -> Option<Block> {
    let mut block = Block::from_value(value.clone())?;
    if block.kind() == "tool_use" {
        let raw = block.as_map_mut().remove("input").unwrap_or(Value::Null);
        block.as_map_mut().insert("input".into(), input::from_value(raw));
    }
    Some(block)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn q8_a_whole_message_is_read() {
        let body = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "m",
            "content": [{"type": "text", "text": "hi", "extra": 1},
                {"type": "tool_use", "id": "t", "name": "Read", "input": {"a": 1}}],
            "stop_reason": "tool_use", "usage": {"input_tokens": 4, "output_tokens": 2},
            "context_management": {"applied_edits": []}});
        let reply =
            parse_message(body.to_string().as_bytes(), CacheTtl::FiveMinutes, None).unwrap();
        assert_eq!(reply.blocks.len(), 2);
        assert_eq!(reply.blocks[0].as_map()["extra"], 1);
        assert_eq!(reply.usage.input, 4);
        assert_eq!(reply.stop_reason, "tool_use");
        assert_eq!(reply.context_edits, None);
    }

    #[test]
    fn s6_what_is_not_a_message_is_broken() {
        for body in ["", "<html>", "{}", "[]", r#"{"id":"x","content":"text"}"#] {
            let error = parse_message(body.as_bytes(), CacheTtl::FiveMinutes, None).unwrap_err();
            assert!(matches!(error, ModelError::Broken { .. }), "{body}");
        }
        let body = br#"{"type":"error","error":{"type":"overloaded_error","message":"busy"}}"#;
        let error = parse_message(body, CacheTtl::FiveMinutes, None).unwrap_err();
        assert!(matches!(error, ModelError::Overloaded { .. }));
    }
}
