//! What servers say, as blocks for a model and tools for a list.

use mnemon_kernel::limits::McpLimits;
use mnemon_kernel::ports::{Asks, Load, Reads, ServerResult, ServerTool};
use rmcp::model::{CallToolResult, Tool};
use serde_json::{Value, json};

/// A tool, bounded.
pub(crate) fn tool(tool: &Tool, always_load: bool, limits: &McpLimits) -> ServerTool {
    let meta = |key: &str| {
        let value = serde_json::to_value(&tool.meta).ok()?;
        value.get(key).and_then(Value::as_bool)
    };
    let reads = tool.annotations.as_ref().and_then(|hints| hints.read_only_hint);
    let described = tool.description.as_deref().or(tool.title.as_deref()).unwrap_or_default();
    let load = always_load || meta("anthropic/alwaysLoad") == Some(true);
    let asks = meta("anthropic/requiresUserInteraction") == Some(true);
    ServerTool {
        name: tool.name.to_string(),
        description: cut(described, limits.text_chars),
        input_schema: Value::Object((*tool.input_schema).clone()),
        reads: if reads == Some(true) { Reads::Only } else { Reads::Perhaps },
        load: if load { Load::Always } else { Load::WhenAsked },
        asks: if asks { Asks::Always } else { Asks::ByRule },
    }
}

/// Text in at most so many characters.
pub(crate) fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// An answer as blocks.
pub(crate) fn result(answer: &CallToolResult) -> ServerResult {
    let blocks = answer.content.iter().filter_map(|block| serde_json::to_value(block).ok());
    let mut content: Vec<Value> = blocks.map(|block| shown(&block)).collect();
    let structured = answer.structured_content.clone();
    if let (true, Some(value)) = (content.is_empty(), &structured) {
        content.push(text(&value.to_string()));
    }
    ServerResult { content, is_error: answer.is_error == Some(true), structured }
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn shown(block: &Value) -> Value {
    let field = |key: &str| block.get(key).and_then(Value::as_str).unwrap_or_default();
    match field("type") {
        "text" => text(field("text")),
        "image" => json!({
            "type": "image",
            "source": { "type": "base64", "media_type": field("mimeType"), "data": field("data") },
        }),
        "resource" => {
            let resource = block.get("resource").unwrap_or(&Value::Null);
            let of = |key: &str| resource.get(key).and_then(Value::as_str);
            let uri = of("uri").unwrap_or_default();
            match of("text") {
                Some(body) => text(&format!("[resource {uri}]\n{body}")),
                None => text(&format!("[resource {uri}: not text]")),
            }
        }
        "resource_link" => text(&format!("[resource {}: {}]", field("uri"), field("name"))),
        other => text(&format!("[{other}: cannot be shown]")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q5_results_become_blocks() {
        let answer: CallToolResult = serde_json::from_value(json!({
            "content": [
                {"type": "text", "text": "a"},
                {"type": "image", "data": "AAAA", "mimeType": "image/png"},
                {"type": "resource", "resource": {"uri": "m://x", "text": "body"}},
                {"type": "resource_link", "uri": "m://y", "name": "why"},
                {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
            ],
            "isError": true,
        }))
        .unwrap();
        let result = result(&answer);
        assert!(result.is_error);
        let kinds: Vec<&str> = result.content.iter().map(|b| b["type"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["text", "image", "text", "text", "text"]);
        assert_eq!(result.content[1]["source"]["media_type"], "image/png");
        assert_eq!(result.content[2]["text"], "[resource m://x]\nbody");
        let structured: CallToolResult =
            serde_json::from_value(json!({"content": [], "structuredContent": {"n": 1}})).unwrap();
        assert_eq!(super::result(&structured).content[0]["text"], "{\"n\":1}");
    }
}
