//! Blocks that edit the server's cache (L2.3).
//!
//! No public API documents them, so they are unknown unless the rules say
//! otherwise. Each reference names a tool result that stands before it. Edits
//! that were sent once have to be sent again at the same place by every
//! request that begins the same way.

use super::Refusal;
use crate::oracle;
use crate::received::{kind, role};
use serde_json::Value;
use std::collections::BTreeSet;

/// The kind of such a block.
pub(crate) const KIND: &str = "cache_edits";

/// Edits that were sent, with all that stood before them.
#[derive(Debug, Default)]
pub(crate) struct Sent {
    edits: Vec<(Vec<String>, String)>,
}

impl Sent {
    /// Whether a request repeats the edits of those that it continues.
    pub(crate) fn check(&self, body: &Value) -> Result<(), Refusal> {
        let pieces = texts(body);
        let forgotten = self.edits.iter().any(|(before, edit)| {
            pieces.starts_with(before)
                && pieces.get(before.len()).is_some_and(|piece| piece != edit)
        });
        if forgotten {
            return Err(Refusal::invalid(
                "cache_edits: edits that were sent before have to be sent again at the same place",
            ));
        }
        Ok(())
    }

    /// Takes note of the edits of a request that was answered.
    pub(crate) fn remember(&mut self, body: &Value) {
        let pieces = texts(body);
        for (at, piece) in pieces.iter().enumerate() {
            let before = pieces.get(..at).unwrap_or(&[]);
            let known = || self.edits.iter().any(|(known, _)| known == before);
            if piece.starts_with("user: {\"type\":\"cache_edits\"") && !known() {
                self.edits.push((before.to_vec(), piece.clone()));
            }
        }
    }
}

fn texts(body: &Value) -> Vec<String> {
    oracle::pieces(body).into_iter().map(|(_, piece)| piece).collect()
}

/// Every edit deletes a result that stands before it.
pub(super) fn check(messages: &[Value]) -> Result<(), Refusal> {
    let mut results = BTreeSet::new();
    for (at, message) in messages.iter().enumerate() {
        let blocks = message.get("content").and_then(Value::as_array);
        for (index, block) in blocks.into_iter().flatten().enumerate() {
            match kind(block) {
                "tool_result" => {
                    results.extend(block.get("tool_use_id").and_then(Value::as_str));
                }
                KIND => {
                    let path = format!("messages.{at}.content.{index}.{KIND}");
                    one(block, role(message), &results, &path)?;
                }
                _ => {}
            }
        }
    }
    Ok(())
}

fn one(block: &Value, role: &str, results: &BTreeSet<&str>, path: &str) -> Result<(), Refusal> {
    let edits = block.get("edits").and_then(Value::as_array);
    let edits = edits.filter(|edits| !edits.is_empty() && role == "user");
    let Some(edits) = edits else {
        return Err(Refusal::invalid(format!(
            "{path}.edits: a user message takes a list of edits"
        )));
    };
    for (at, edit) in edits.iter().enumerate() {
        let reference = edit.get("cache_reference").and_then(Value::as_str).unwrap_or("");
        if kind(edit) != "delete" || !results.contains(reference) {
            return Err(Refusal::invalid(format!(
                "{path}.edits.{at}: {reference:?} is no tool result before this block"
            )));
        }
    }
    Ok(())
}

/// The results that a request's edits delete.
pub(crate) fn deleted(messages: &[Value]) -> BTreeSet<&str> {
    let contents = messages.iter().filter_map(|message| message.get("content")?.as_array());
    let edits = contents.flatten().filter(|block| kind(block) == KIND);
    let edits = edits.filter_map(|block| block.get("edits")?.as_array()).flatten();
    edits.filter_map(|edit| edit.get("cache_reference")?.as_str()).collect()
}
