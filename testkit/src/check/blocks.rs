//! The form of messages and blocks: known kinds and fields, no empty text,
//! cache markers only where they may stand.

use super::fields::extra;
use super::{Refusal, VERSION_2026, edits};
use crate::received::{kind, role};
use crate::scenario::ServerRules;
use serde_json::{Map, Value};

/// The system prompt: a string or text blocks.
pub(super) fn system(body: &Map<String, Value>) -> Result<(), Refusal> {
    match body.get("system") {
        None | Some(Value::String(_)) => Ok(()),
        Some(Value::Array(blocks)) => {
            for (at, block) in blocks.iter().enumerate() {
                let path = format!("system.{at}");
                if kind(block) != "text" {
                    return Err(Refusal::invalid(format!("{path}.type: Input should be 'text'")));
                }
                shape(block, &path)?;
            }
            Ok(())
        }
        Some(_) => Err(Refusal::invalid("system: Input should be a string or a list")),
    }
}

/// Every message and block of the conversation.
pub(super) fn messages(
    body: &Map<String, Value>,
    version: &str,
    rules: &ServerRules,
) -> Result<(), Refusal> {
    let messages = body.get("messages").and_then(Value::as_array);
    for (at, message) in messages.into_iter().flatten().enumerate() {
        let path = format!("messages.{at}");
        let allowed: &[&str] = match role(message) {
            "system" => &["role", "content", "clear_at", "output_config"],
            "user" | "assistant" => &["role", "content"],
            _ => {
                return Err(Refusal::invalid(format!(
                    "{path}.role: Input should be 'user', 'assistant' or 'system'"
                )));
            }
        };
        known_fields(message, allowed, &path)?;
        match message.get("content") {
            Some(Value::String(text)) if !text.trim().is_empty() => {}
            Some(Value::Array(blocks)) if !blocks.is_empty() => {
                for (index, block) in blocks.iter().enumerate() {
                    let path = format!("{path}.content.{index}");
                    if rules.cache_edits && kind(block) == edits::KIND {
                        known_fields(block, &["type", "edits"], &path)?;
                        continue;
                    }
                    shape(block, &path)?;
                    if version == VERSION_2026 {
                        newer(block, role(message), &path)?;
                    }
                }
            }
            _ => {
                return Err(Refusal::invalid(format!(
                    "{path}: messages must have non-empty content"
                )));
            }
        }
    }
    Ok(())
}

/// The fields of the kinds of blocks that clients write. Blocks that only a
/// server makes are known by their kind, with any fields.
fn fields_of(kind: &str) -> Option<&'static [&'static str]> {
    Some(match kind {
        "text" => &["type", "text", "cache_control", "citations"],
        "image" => &["type", "source", "cache_control"],
        "document" => &["type", "source", "title", "context", "citations", "cache_control"],
        "search_result" => &["type", "source", "title", "content", "citations", "cache_control"],
        "thinking" => &["type", "thinking", "signature"],
        "redacted_thinking" => &["type", "data"],
        "tool_use" => &["type", "id", "name", "input", "caller", "toolset_name", "cache_control"],
        "tool_result" => {
            &["type", "tool_use_id", "content", "is_error", "toolset_name", "cache_control"]
        }
        "tool_reference" => &["type", "tool_name", "cache_control"],
        "container_upload" => &["type", "file_id", "cache_control"],
        "compaction" | "tool_addition" | "tool_removal" | "fallback" | "server_tool_use"
        | "mcp_tool_use" | "mcp_tool_result" | "mcp_tool_listing" => &[],
        other if other.ends_with("_tool_result") => &[],
        _ => return None,
    })
}

fn shape(block: &Value, path: &str) -> Result<(), Refusal> {
    let kind = kind(block);
    let Some(fields) = fields_of(kind) else {
        return Err(Refusal::invalid(format!(
            "{path}: Input tag '{kind}' found using 'type' does not match any of the expected tags"
        )));
    };
    if matches!(kind, "thinking" | "redacted_thinking") && block.get("cache_control").is_some() {
        return Err(Refusal::invalid(format!(
            "{path}.{kind}.cache_control: Extra inputs are not permitted"
        )));
    }
    if !fields.is_empty() {
        known_fields(block, fields, &format!("{path}.{kind}"))?;
    }
    marker(block, path)?;
    let text = |key: &str| block.get(key).and_then(Value::as_str);
    match kind {
        "text" => text_block(block, path),
        "tool_use" => {
            let valid = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            if !text("id").is_some_and(|id| !id.is_empty() && id.chars().all(valid)) {
                return Err(Refusal::invalid(format!(
                    "{path}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
                )));
            }
            if text("name").is_none() || !block.get("input").is_some_and(Value::is_object) {
                return Err(Refusal::invalid(format!(
                    "{path}.tool_use.input: Input should be a valid dictionary"
                )));
            }
            Ok(())
        }
        "tool_result" => result_parts(block, path),
        "thinking" if text("signature").is_none() || text("thinking").is_none() => {
            Err(Refusal::invalid(format!("{path}.thinking.signature: Field required")))
        }
        _ => Ok(()),
    }
}

fn text_block(block: &Value, path: &str) -> Result<(), Refusal> {
    let Some(text) = block.get("text").and_then(Value::as_str) else {
        return Err(Refusal::invalid(format!("{path}.text.text: Field required")));
    };
    if text.is_empty() && block.get("cache_control").is_some() {
        return Err(Refusal::invalid(format!(
            "{path}.text: cache_control cannot be set for empty text blocks"
        )));
    }
    if text.is_empty() {
        return Err(Refusal::invalid(format!("{path}: text content blocks must be non-empty")));
    }
    if text.trim().is_empty() {
        return Err(Refusal::invalid(format!(
            "{path}: text content blocks must contain non-whitespace text"
        )));
    }
    Ok(())
}

fn result_parts(block: &Value, path: &str) -> Result<(), Refusal> {
    match block.get("content") {
        None | Some(Value::String(_)) => Ok(()),
        Some(Value::Array(parts)) => {
            for (at, part) in parts.iter().enumerate() {
                let path = format!("{path}.tool_result.content.{at}");
                let allowed = matches!(
                    kind(part),
                    "text" | "image" | "document" | "search_result" | "tool_reference"
                );
                if !allowed {
                    return Err(Refusal::invalid(format!(
                        "{path}: Input tag '{}' found using 'type' does not match any of the \
                         expected tags",
                        kind(part)
                    )));
                }
                shape(part, &path)?;
            }
            Ok(())
        }
        Some(_) => Err(Refusal::invalid(format!(
            "{path}.tool_result.content: Input should be a string or a list"
        ))),
    }
}

/// What version 2026-10-21 refuses in blocks.
fn newer(block: &Value, role: &str, path: &str) -> Result<(), Refusal> {
    let cited = block
        .get("citations")
        .and_then(Value::as_array)
        .is_some_and(|citations| !citations.is_empty());
    if role == "assistant" && kind(block) == "document" {
        return Err(Refusal::invalid(format!(
            "{path}: document blocks are not permitted in assistant messages"
        )));
    }
    if role == "user" && kind(block) == "text" && cited {
        return Err(extra(&format!("{path}.text.citations")));
    }
    Ok(())
}

/// The form of a cache marker, where there is one.
pub(super) fn marker(block: &Value, path: &str) -> Result<(), Refusal> {
    let Some(marker) = block.get("cache_control").filter(|marker| !marker.is_null()) else {
        return Ok(());
    };
    let path = format!("{path}.cache_control");
    known_fields(marker, &["type", "ttl", "scope"], &path)?;
    let ttl = marker.get("ttl").map_or(Some("5m"), Value::as_str);
    if kind(marker) != "ephemeral" || !matches!(ttl, Some("5m" | "1h")) {
        return Err(Refusal::invalid(format!(
            "{path}: Input should be {{\"type\": \"ephemeral\", \"ttl\": \"5m\" or \"1h\"}}"
        )));
    }
    Ok(())
}

fn known_fields(value: &Value, known: &[&str], path: &str) -> Result<(), Refusal> {
    let fields = value.as_object().into_iter().flat_map(Map::keys);
    for field in fields {
        if !known.contains(&field.as_str()) {
            return Err(extra(&format!("{path}.{field}")));
        }
    }
    Ok(())
}
