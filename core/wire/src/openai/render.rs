//! A conversation, rendered for chat completions.
//!
//! One message of the log can become several: each tool result is a message of
//! its own, and pictures in it follow in a user message, because a `tool`
//! message holds only text. Thinking is dropped: no server takes it back.

use super::text_calls;
use everfold_kernel::models::LONG_WINDOW_SUFFIX;
use everfold_kernel::record::{CallForm, Params, Sampling};
use everfold_kernel::{Block, BlockView, Role, SystemBlock};
use serde_json::{Value, json};

/// The parts of a request around its messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// Everything up to the opening bracket of the messages.
    pub before_messages: String,
    /// The system message; empty where there is none.
    pub system_message: String,
    /// The closing bracket and what follows it.
    pub after_messages: String,
}

/// Renders what stands around the messages. `tools` have Anthropic's shape;
/// those that run on Anthropic's servers are left out.
#[must_use]
pub fn head_json(system: &[SystemBlock], tools: &[Value], params: &Params) -> Head {
    let model = params.model.as_str();
    let mut head = json!({
        "model": model.strip_suffix(LONG_WINDOW_SUFFIX).unwrap_or(model),
        "max_tokens": params.max_tokens,
        "stream": params.delivery.is_streamed(),
    });
    if let (true, Value::Object(map)) = (params.delivery.is_streamed(), &mut head) {
        map.insert("stream_options".into(), json!({"include_usage": true}));
    }
    if let (Some(effort), Value::Object(map)) = (&params.effort, &mut head) {
        map.insert("reasoning_effort".into(), effort.as_str().into());
    }
    if let (Some(schema), Value::Object(map)) = (&params.schema, &mut head) {
        let schema = json!({"name": "answer", "strict": true, "schema": schema});
        map.insert("response_format".into(), json!({"type": "json_schema", "json_schema": schema}));
    }
    if let (Sampling::Greedy, Value::Object(map)) = (params.sampling, &mut head) {
        map.insert("temperature".into(), 0.into());
    }
    let functions: Vec<Value> = tools.iter().filter_map(function).collect();
    let mut texts: Vec<&str> = system.iter().map(|block| block.text.as_str()).collect();
    let told;
    match (params.calls, &mut head) {
        (_, _) if functions.is_empty() => {}
        (CallForm::Text, _) => {
            told = text_calls::describe(tools);
            texts.push(&told);
        }
        (CallForm::Declared, Value::Object(map)) => {
            map.insert("tools".into(), Value::Array(functions));
            // What is answered in a form calls nothing; tools are a part of what
            // the server has read (Q18).
            if params.schema.is_some() {
                map.insert("tool_choice".into(), "none".into());
            }
        }
        (CallForm::Declared, _) => {}
    }
    let text = head.to_string();
    Head {
        before_messages: format!("{},\"messages\":[", text.strip_suffix('}').unwrap_or(&text)),
        system_message: if texts.is_empty() {
            String::new()
        } else {
            json!({"role": "system", "content": texts.join("\n\n")}).to_string()
        },
        after_messages: "]}".into(),
    }
}

/// Renders one message of the log as chat messages, joined by commas; empty
/// where nothing of it can be sent.
///
/// ```
/// use everfold_kernel::{Block, Role};
///
/// let json = everfold_wire::openai::message_json(Role::User, &[Block::text("hi")]);
/// assert_eq!(json, r#"{"role":"user","content":"hi"}"#);
/// ```
#[must_use]
pub fn message_json(role: Role, blocks: &[Block]) -> String {
    let messages = match role {
        Role::User => user(blocks),
        Role::Assistant => assistant(blocks).into_iter().collect(),
    };
    let texts: Vec<String> = messages.iter().map(Value::to_string).collect();
    texts.join(",")
}

/// Puts a request together from its head and its rendered messages, in order.
#[must_use]
pub fn body<'a>(head: &'a Head, messages: impl IntoIterator<Item = &'a str>) -> String {
    let mut out = head.before_messages.clone();
    let mut separator = "";
    let all = std::iter::once(head.system_message.as_str()).chain(messages);
    for message in all.filter(|message| !message.is_empty()) {
        out.push_str(separator);
        out.push_str(message);
        separator = ",";
    }
    out.push_str(&head.after_messages);
    out
}

fn function(tool: &Value) -> Option<Value> {
    let runs_here = matches!(tool.get("type").and_then(Value::as_str), None | Some("custom"));
    let name = tool.get("name").and_then(Value::as_str)?;
    let mut function = json!({"name": name});
    let map = function.as_object_mut()?;
    if let Some(description) = tool.get("description") {
        map.insert("description".into(), description.clone());
    }
    let schema = tool.get("input_schema").cloned();
    map.insert(
        "parameters".into(),
        schema.unwrap_or_else(|| json!({"type": "object", "properties": {}})),
    );
    runs_here.then(|| json!({"type": "function", "function": function}))
}

fn assistant(blocks: &[Block]) -> Option<Value> {
    let mut texts = Vec::new();
    let mut calls = Vec::new();
    for block in blocks {
        match block.view() {
            BlockView::Text(text) if !text.is_empty() => texts.push(text),
            BlockView::ToolUse { id, name, input } => calls.push(json!({
                "id": id,
                "type": "function",
                "function": {"name": name, "arguments": input.to_string()},
            })),
            _ => {}
        }
    }
    let content = match (texts.is_empty(), calls.is_empty()) {
        (true, true) => return None,
        (true, false) => Value::Null,
        (false, _) => Value::String(texts.concat()),
    };
    let mut message = json!({"role": "assistant", "content": content});
    if let (false, Value::Object(map)) = (calls.is_empty(), &mut message) {
        map.insert("tool_calls".into(), Value::Array(calls));
    }
    Some(message)
}

fn user(blocks: &[Block]) -> Vec<Value> {
    let mut messages = Vec::new();
    let mut parts = Vec::new();
    for block in blocks {
        if let BlockView::ToolResult { id, content, is_error } = block.view() {
            let (text, pictures) = result(id, content);
            parts.extend(pictures);
            let content =
                if is_error && !starts_with_error(&text) { format!("Error: {text}") } else { text };
            messages.push(json!({"role": "tool", "tool_call_id": id, "content": content}));
        } else {
            parts.extend(part(&Value::Object(block.as_map().clone())));
        }
    }
    if !parts.is_empty() {
        messages.push(json!({"role": "user", "content": joined(parts)}));
    }
    messages
}

fn starts_with_error(text: &str) -> bool {
    text.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("error"))
}

/// A result's text, and its pictures for the message after it.
fn result(id: &str, content: &Value) -> (String, Vec<Value>) {
    let list = match content {
        Value::String(text) => return (text.clone(), Vec::new()),
        Value::Array(list) => list,
        _ => return (String::new(), Vec::new()),
    };
    let mut texts = Vec::new();
    let mut pictures = Vec::new();
    for part in list.iter().filter_map(part) {
        if let Some(text) = part.get("text").and_then(Value::as_str) {
            texts.push(text.to_owned());
        } else {
            texts.push("[a picture, shown in the next user message]".to_owned());
            pictures.push(json!({"type": "text", "text": format!("Picture from {id}:")}));
            pictures.push(part);
        }
    }
    (texts.join("\n"), pictures)
}

/// A block as a part of a user message: text, or a picture.
fn part(block: &Value) -> Option<Value> {
    let text = |key: &str| block.get(key).and_then(Value::as_str).unwrap_or_default();
    let shown = match text("type") {
        "text" if text("text").is_empty() => return None,
        "text" => text("text").to_owned(),
        "image" => match picture(block.get("source")?) {
            Some(url) => return Some(json!({"type": "image_url", "image_url": {"url": url}})),
            None => "[a picture that this server cannot be given]".to_owned(),
        },
        "document" => document(block),
        "search_result" => {
            let inner = texts_of(block.get("content"));
            format!("{} ({})\n{inner}", text("title"), text("source"))
        }
        "thinking" | "redacted_thinking" => return None,
        other => format!("[content of type {other} that this server cannot be given]"),
    };
    Some(json!({"type": "text", "text": shown}))
}

fn picture(source: &Value) -> Option<String> {
    let text = |key: &str| source.get(key).and_then(Value::as_str);
    match text("type")? {
        "base64" => Some(format!("data:{};base64,{}", text("media_type")?, text("data")?)),
        "url" => text("url").map(str::to_owned),
        _ => None,
    }
}

fn document(block: &Value) -> String {
    let title = block.get("title").and_then(Value::as_str).unwrap_or("");
    let source = block.get("source").unwrap_or(&Value::Null);
    let body = match source.get("type").and_then(Value::as_str) {
        Some("text") => source.get("data").and_then(Value::as_str).unwrap_or_default().to_owned(),
        Some("content") => texts_of(source.get("content")),
        _ => "[a document that this server cannot be given]".to_owned(),
    };
    if title.is_empty() { body } else { format!("{title}\n{body}") }
}

pub(super) fn texts_of(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(list)) => {
            let texts: Vec<&str> =
                list.iter().filter_map(|part| part.get("text")?.as_str()).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

/// Text alone as one string, which every server takes; else the list of parts.
fn joined(parts: Vec<Value>) -> Value {
    let texts: Option<Vec<&str>> =
        parts.iter().map(|part| part.get("text").and_then(Value::as_str)).collect();
    match texts {
        Some(texts) => Value::String(texts.join("\n\n")),
        None => Value::Array(parts),
    }
}
