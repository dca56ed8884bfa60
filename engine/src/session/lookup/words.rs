//! Records as text that a person or a model reads.

use everfold_kernel::{Block, BlockView, Entry, Record, Role};
use serde_json::Value;

/// Characters of a record in a span.
const SHORT_CHARS: usize = 200;

/// All that a record says, block by block; none for one that shows nothing.
pub(super) fn record(record: &Record) -> Option<String> {
    let text = match &record.entry {
        Entry::User(user) => user.content.iter().map(block).collect::<Vec<_>>().join("\n\n"),
        Entry::Assistant(assistant) => block(&assistant.block),
        Entry::Attachment(attachment) => attachment.rendered.clone(),
        Entry::Boundary(_) => "[The conversation was compacted here.]".to_owned(),
        Entry::Decision(_) | Entry::Opaque(_) => return None,
    };
    Some(text)
}

/// A record in one line: its id, who speaks, how it begins.
pub(super) fn short(one: &Record) -> Option<String> {
    let role = match &one.entry {
        Entry::Assistant(_) => Role::Assistant.as_str(),
        Entry::Attachment(_) => "attachment",
        Entry::Boundary(_) => "boundary",
        _ => Role::User.as_str(),
    };
    let text = record(one)?;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let start: String = line.chars().take(SHORT_CHARS).collect();
    let more = if start.len() < line.len() { "…" } else { "" };
    Some(format!("{} {role}: {start}{more}", one.id))
}

fn block(one: &Block) -> String {
    match one.view() {
        BlockView::ToolUse { id, name, input } => format!("[call {id}: {name} {input}]"),
        BlockView::ToolResult { id, content: value, .. } => {
            format!("[result of {id}]\n{}", content(value))
        }
        BlockView::Text(text) | BlockView::Thinking(text) => text.to_owned(),
        BlockView::RedactedThinking => "[thinking that only the server can read]".to_owned(),
        BlockView::Image => "[picture]".to_owned(),
        BlockView::Document => "[document]".to_owned(),
        BlockView::Other(_) => Value::Object(one.as_map().clone()).to_string(),
    }
}

/// The content of a tool's result: its texts, and anything else as JSON.
pub(super) fn content(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(part).collect::<Vec<_>>().join("\n"),
        other => other.to_string(),
    }
}

fn part(value: &Value) -> String {
    Block::from_value(value.clone()).map_or_else(|| value.to_string(), |one| block(&one))
}
