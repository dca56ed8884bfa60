//! What is left of a prompt after the server's own edits, and what they were.
//!
//! Two kinds are simulated, both in a simple way.
//!
//! `clear_tool_uses_20250919` (L2.4): while the prompt has more tokens than
//! the trigger, another portion of `clear_at_least` tokens (one result at the
//! least) is taken from the oldest tool results, so that what is cleared stays
//! the same from request to request until the next portion is due. The newest
//! three results and those of excluded tools stay; a portion that cannot be
//! filled is not taken. `clear_thinking_20251015` is accepted and does nothing.
//!
//! `cache_edits` (L2.3): a deleted result is not billed any more; the cache
//! key is that of the bytes as they were sent.

use crate::check::edits;
use crate::count::count;
use crate::received::{Received, kind};
use crate::scenario::ServerRules;
use everfold_kernel::Tokens;
use everfold_prefix::sim::{SimError, SimPiece, pieces_of};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What the model is given.
pub(super) struct Prompt {
    pub(super) pieces: Vec<SimPiece>,
    /// The answer's `applied_edits`; none where no edits were asked for.
    pub(super) applied: Option<Vec<Value>>,
}

/// Results that are never cleared.
const KEPT_RESULTS: usize = 3;

/// What stands in place of a cleared result.
const CLEARED: &str = "[cleared by the server]";

impl Prompt {
    pub(super) fn of(request: &Received, rules: &ServerRules) -> Result<Self, SimError> {
        let deleted = edits::deleted(request.messages());
        let billed = |block: &Value| {
            let is_deleted = text(block, "tool_use_id").is_some_and(|id| deleted.contains(id));
            let free = kind(block) == edits::KIND || kind(block) == "tool_result" && is_deleted;
            if free { Tokens(0) } else { count(block, rules) }
        };
        let pieces = pieces_of(&request.body, &billed)?;
        let Some(asked) = request.body.pointer("/context_management/edits") else {
            return Ok(Self { pieces, applied: None });
        };
        let total = pieces.iter().map(|piece| piece.tokens.0).sum();
        let mut asked = asked.as_array().into_iter().flatten();
        let clearing = asked.rfind(|edit| kind(edit) == "clear_tool_uses_20250919");
        let cleared = clearing.map(|edit| clear(request, edit, total, &billed));
        let Some(Cleared { body, applied: Some(applied) }) = cleared else {
            return Ok(Self { pieces, applied: Some(Vec::new()) });
        };
        Ok(Self { pieces: pieces_of(&body, &billed)?, applied: Some(vec![applied]) })
    }

    pub(super) fn tokens(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.tokens.0).sum()
    }
}

struct Cleared<'a> {
    body: Cow<'a, Value>,
    applied: Option<Value>,
}

/// Where a result stands, and how many tokens clearing it frees.
struct Place {
    message: usize,
    block: usize,
    gain: u64,
}

fn clear<'a>(
    request: &'a Received,
    edit: &Value,
    total: u64,
    billed: &dyn Fn(&Value) -> Tokens,
) -> Cleared<'a> {
    let value = |key: &str| edit.pointer(&format!("/{key}/value")).and_then(Value::as_u64);
    let trigger = value("trigger").unwrap_or(100_000);
    let portion = value("clear_at_least").unwrap_or(0).max(1);
    let places = clearable(request, edit, billed);
    let (mut taken, mut gained) = (0, 0);
    while total.saturating_sub(gained) > trigger {
        let (mut more, mut gain) = (0, 0);
        for place in places.iter().skip(taken) {
            if gain >= portion {
                break;
            }
            more += 1;
            gain += place.gain;
        }
        if gain < portion {
            break;
        }
        taken += more;
        gained += gain;
    }
    if taken == 0 {
        return Cleared { body: Cow::Borrowed(&request.body), applied: None };
    }
    let mut body = Value::clone(&request.body);
    for place in places.iter().take(taken) {
        let pointer = format!("/messages/{}/content/{}/content", place.message, place.block);
        if let Some(content) = body.pointer_mut(&pointer) {
            *content = json!(CLEARED);
        }
    }
    let applied = json!({"type": "clear_tool_uses_20250919", "cleared_tool_uses": taken,
        "cleared_input_tokens": gained});
    Cleared { body: Cow::Owned(body), applied: Some(applied) }
}

/// The results that may be cleared, oldest first.
fn clearable(request: &Received, edit: &Value, billed: &dyn Fn(&Value) -> Tokens) -> Vec<Place> {
    let excluded = edit.get("exclude_tools").and_then(Value::as_array);
    let is_excluded = |tool: &str| excluded.is_some_and(|list| list.contains(&json!(tool)));
    let mut tools: BTreeMap<&str, &str> = BTreeMap::new();
    let mut places = Vec::new();
    for (message, value) in request.messages().iter().enumerate() {
        let blocks = value.get("content").and_then(Value::as_array);
        for (block, value) in blocks.into_iter().flatten().enumerate() {
            match (kind(value), text(value, "id"), text(value, "tool_use_id")) {
                ("tool_use", Some(id), _) => {
                    tools.insert(id, text(value, "name").unwrap_or(""));
                }
                ("tool_result", _, Some(id)) if !is_excluded(tools.get(id).unwrap_or(&"")) => {
                    let marker = json!({"type": "text", "text": CLEARED});
                    let gain = (billed(value) - billed(&marker)).0;
                    places.push(Place { message, block, gain });
                }
                _ => {}
            }
        }
    }
    places.truncate(places.len().saturating_sub(KEPT_RESULTS));
    places
}

fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}
