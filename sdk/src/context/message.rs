//! Messages as APIs have them, read into entries of the log.

use super::ContextError;
use everfold_kernel::{AssistantEntry, Block, Entry, ToolUseId, Usage, UserEntry, UserOrigin};
use serde_json::{Map, Value};

/// The entries of a message; `unique` names an answer that has no id.
pub(super) fn entries(message: &Value, unique: &str) -> Result<Vec<Entry>, ContextError> {
    let role = message.get("role").and_then(Value::as_str);
    match role {
        Some("user") => user(message),
        Some("tool") => {
            result(message).map(|block| vec![said(vec![block], UserOrigin::ToolResult)])
        }
        Some("assistant") => Ok(assistant(message, unique)),
        Some("system" | "developer") => Err(ContextError::SystemMessage),
        Some(_) | None => Err(ContextError::NoMessage { reason: "its role is not known" }),
    }
}

fn user(message: &Value) -> Result<Vec<Entry>, ContextError> {
    let blocks = blocks(message.get("content"));
    if blocks.is_empty() {
        return Err(ContextError::NoMessage { reason: "it has no content" });
    }
    let (results, words): (Vec<Block>, Vec<Block>) =
        blocks.into_iter().partition(|block| block.kind() == "tool_result");
    let parts = [(results, UserOrigin::ToolResult), (words, UserOrigin::Human)];
    let parts = parts.into_iter().filter(|(blocks, _)| !blocks.is_empty());
    Ok(parts.map(|(blocks, origin)| said(blocks, origin)).collect())
}

/// A message of the role `tool`.
fn result(message: &Value) -> Result<Block, ContextError> {
    let id = message.get("tool_call_id").and_then(Value::as_str);
    let id = id.ok_or(ContextError::NoMessage { reason: "it answers no call" })?;
    let content = message.get("content").cloned().unwrap_or_default();
    Ok(Block::tool_result(&ToolUseId::new(id), content))
}

fn assistant(message: &Value, unique: &str) -> Vec<Entry> {
    let mut blocks = blocks(message.get("content"));
    let calls = message.get("tool_calls").and_then(Value::as_array);
    blocks.extend(calls.into_iter().flatten().filter_map(call));
    let entry = |(index, block)| {
        Entry::Assistant(AssistantEntry {
            message_id: unique.into(),
            request_id: None,
            model: "".into(),
            index,
            block,
            usage: Usage::default(),
            stop_reason: None,
        })
    };
    (0..).zip(blocks).map(entry).collect()
}

/// A call in the form of chat completions.
fn call(call: &Value) -> Option<Block> {
    let id = call.get("id")?.as_str()?;
    let function = call.get("function")?;
    let arguments = function.get("arguments").and_then(Value::as_str).unwrap_or_default();
    let input = serde_json::from_str(arguments).unwrap_or_else(|_| Value::Object(Map::new()));
    Some(Block::tool_use(&ToolUseId::new(id), function.get("name")?.as_str()?, input))
}

fn blocks(content: Option<&Value>) -> Vec<Block> {
    match content {
        Some(Value::String(text)) if !text.is_empty() => vec![Block::text(text)],
        Some(Value::Array(parts)) => parts.iter().cloned().filter_map(Block::from_value).collect(),
        _ => Vec::new(),
    }
}

fn said(content: Vec<Block>, origin: UserOrigin) -> Entry {
    Entry::User(UserEntry { content, origin, tool_use_result: None, provenance: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn k1_both_forms_of_a_call_and_its_result_are_taken() {
        let call = json!({"role": "assistant", "content": null, "tool_calls": [{"id": "c1",
            "type": "function", "function": {"name": "read", "arguments": "{\"path\":\"a\"}"}}]});
        let own = json!({"role": "assistant",
            "content": [{"type": "tool_use", "id": "c1", "name": "read", "input": {"path": "a"}}]});
        assert_eq!(entries(&call, "1"), entries(&own, "1"));
        let result = json!({"role": "tool", "tool_call_id": "c1", "content": "text"});
        let own = json!({"role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "text"}]});
        assert_eq!(entries(&result, "1"), entries(&own, "1"));
    }

    #[test]
    fn k1_what_is_no_message_is_refused() {
        for message in [json!({}), json!("hi"), json!({"role": "user"}), json!({"role": "tool"})] {
            assert!(matches!(entries(&message, "1"), Err(ContextError::NoMessage { .. })));
        }
        let system = json!({"role": "system", "content": "Be brief."});
        assert_eq!(entries(&system, "1"), Err(ContextError::SystemMessage));
    }
}
