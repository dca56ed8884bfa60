//! What servers say, as blocks for a model and tools for a list.

use everfold_kernel::limits::McpLimits;
use everfold_kernel::ports::{
    Asks, Load, Reads, ServerPrompt, ServerResource, ServerResult, ServerTool,
};
use rmcp::model::{Prompt, Tool};
use serde_json::{Value, json};

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

pub(crate) fn prompt(prompt: &Prompt, limits: &McpLimits) -> ServerPrompt {
    let described = prompt.description.as_deref().or(prompt.title.as_deref()).unwrap_or_default();
    let arguments = prompt.arguments.iter().flatten();
    ServerPrompt {
        name: prompt.name.clone(),
        description: cut(described, limits.text_chars),
        arguments: arguments.map(|argument| argument.name.clone()).collect(),
    }
}

/// The texts of a prompt's messages; what is not text is named.
pub(crate) fn prompt_texts(answer: &Value) -> Vec<String> {
    let messages = answer.get("messages").and_then(Value::as_array).into_iter().flatten();
    let blocks = messages.filter_map(|message| message.get("content"));
    let texts = blocks.map(|block| match shown(block).get("text").and_then(Value::as_str) {
        Some(text) => text.to_owned(),
        None => "[a picture: cannot be shown]".to_owned(),
    });
    texts.collect()
}

/// What there is to read, bounded.
pub(crate) fn resources(answer: &Value, limits: &McpLimits) -> Vec<ServerResource> {
    let listed = answer.as_array().into_iter().flatten();
    let field = |resource: &Value, key: &str| {
        resource.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let each = listed.map(|resource| ServerResource {
        uri: field(resource, "uri"),
        name: field(resource, "name"),
        description: cut(&field(resource, "description"), limits.text_chars),
    });
    each.filter(|resource| !resource.uri.is_empty()).take(limits.resources).collect()
}

/// What a resource says, as blocks.
pub(crate) fn read(answer: &Value) -> ServerResult {
    let parts = answer.get("contents").and_then(Value::as_array).into_iter().flatten();
    let content = parts.map(|part| shown(&json!({"type": "resource", "resource": part}))).collect();
    ServerResult { content, is_error: false, structured: None }
}

/// The answer of a tool as blocks.
pub(crate) fn result(answer: &Value) -> ServerResult {
    let blocks = answer.get("content").and_then(Value::as_array).into_iter().flatten();
    let mut content: Vec<Value> = blocks.map(shown).collect();
    let structured = answer.get("structuredContent").filter(|value| !value.is_null()).cloned();
    if let (true, Some(value)) = (content.is_empty(), &structured) {
        content.push(text(&value.to_string()));
    }
    let is_error = answer.get("isError").and_then(Value::as_bool) == Some(true);
    ServerResult { content, is_error, structured }
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
            let media = of("mimeType").unwrap_or_default();
            match (of("text"), of("blob")) {
                (Some(body), _) => text(&format!("[resource {uri}]\n{body}")),
                (None, Some(data)) if media.starts_with("image/") => json!({
                    "type": "image",
                    "source": { "type": "base64", "media_type": media, "data": data },
                }),
                _ => text(&format!("[resource {uri}: not text]")),
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
        let answer = json!({
            "content": [
                {"type": "text", "text": "a"},
                {"type": "image", "data": "AAAA", "mimeType": "image/png"},
                {"type": "resource", "resource": {"uri": "m://x", "text": "body"}},
                {"type": "resource_link", "uri": "m://y", "name": "why"},
                {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
            ],
            "isError": true,
        });
        let result = result(&answer);
        assert!(result.is_error);
        let kinds: Vec<&str> = result.content.iter().map(|b| b["type"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["text", "image", "text", "text", "text"]);
        assert_eq!(result.content[1]["source"]["media_type"], "image/png");
        assert_eq!(result.content[2]["text"], "[resource m://x]\nbody");
        let structured = json!({"content": [], "structuredContent": {"n": 1}});
        assert_eq!(super::result(&structured).content[0]["text"], "{\"n\":1}");
    }
}
