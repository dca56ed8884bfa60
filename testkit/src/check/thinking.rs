//! Thinking in an open tool loop: what the server issued comes back unchanged.
//!
//! The server signs thinking and remembers which thinking stood beside which
//! tool call. The loop is open from the last user turn without a tool result
//! on; what is older may be dropped.

use super::Refusal;
use crate::received::{kind, role};
use serde_json::Value;
use std::collections::BTreeMap;

/// The thinking that was issued with each tool call, by the call's id.
#[derive(Clone, Debug, Default)]
pub(crate) struct Issued(BTreeMap<String, Vec<Value>>);

impl Issued {
    pub(crate) fn remember(&mut self, blocks: &[Value]) {
        let thinking = thinking_of(blocks);
        for block in blocks.iter().filter(|block| kind(block) == "tool_use") {
            if let Some(id) = block.get("id").and_then(Value::as_str) {
                self.0.insert(id.to_owned(), thinking.clone());
            }
        }
    }
}

/// The signature of a text of thinking.
pub(crate) fn sign(thinking: &str) -> String {
    let key = blake3::derive_key("everfold testkit thinking 1", b"");
    let hash = blake3::keyed_hash(&key, thinking.as_bytes());
    format!("sig_{}", hash.to_hex())
}

pub(super) fn check(messages: &[Value], issued: &Issued) -> Result<(), Refusal> {
    let start = messages
        .iter()
        .rposition(|message| role(message) == "user" && !has(message, "tool_result"));
    let open = messages.get(start.unwrap_or(0)..).unwrap_or(&[]);
    // Messages of one role in a row are one turn, however they are split.
    for turn in open.chunk_by(|one, next| role(one) == role(next)) {
        if turn.first().map(role) != Some("assistant") {
            continue;
        }
        let blocks: Vec<Value> = turn
            .iter()
            .filter_map(|message| message.get("content")?.as_array())
            .flatten()
            .cloned()
            .collect();
        let sent = thinking_of(&blocks);
        let calls = blocks.iter().filter(|block| kind(block) == "tool_use");
        for id in calls.filter_map(|block| block.get("id")?.as_str()) {
            if let Some(expected) = issued.0.get(id) {
                compare(id, expected, &sent)?;
            }
        }
    }
    Ok(())
}

fn compare(id: &str, expected: &[Value], sent: &[Value]) -> Result<(), Refusal> {
    if sent.len() < expected.len() {
        return Err(Refusal::invalid(format!(
            "messages: Expected `thinking` or `redacted_thinking`, but found `tool_use` ({id}). The \
             thinking of an open tool loop must be sent back"
        )));
    }
    if sent != expected {
        return Err(Refusal::invalid(format!(
            "messages: Invalid `signature` in `thinking` block before {id}: `thinking` blocks of an \
             open tool loop cannot be modified"
        )));
    }
    Ok(())
}

fn thinking_of(blocks: &[Value]) -> Vec<Value> {
    let is_thinking = |block: &&Value| matches!(kind(block), "thinking" | "redacted_thinking");
    blocks.iter().filter(is_thinking).cloned().collect()
}

fn has(message: &Value, wanted: &str) -> bool {
    let blocks = message.get("content").and_then(Value::as_array);
    blocks.is_some_and(|blocks| blocks.iter().any(|block| kind(block) == wanted))
}
