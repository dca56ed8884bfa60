//! The order of roles, and the pairing of tool calls and results.
//!
//! Consecutive messages of one role are one turn, so the rules look at turns.

use super::Refusal;
use crate::received::{kind, role};
use serde_json::Value;
use std::collections::BTreeSet;

/// A turn: messages of one role in a row.
struct Turn<'a> {
    role: &'a str,
    /// The index of its first message.
    first: usize,
    parts: Vec<Part<'a>>,
}

/// A block, or a message whose content is a string.
struct Part<'a> {
    path: String,
    kind: &'a str,
    value: &'a Value,
}

pub(super) fn check(messages: &[Value]) -> Result<(), Refusal> {
    let turns = turns(messages);
    match turns.first().map(|turn| turn.role) {
        None => {
            return Err(Refusal::invalid("messages: at least one message is required"));
        }
        Some("user") => {}
        Some(_) => {
            return Err(Refusal::invalid("messages: first message must use the \"user\" role"));
        }
    }
    let mut seen = BTreeSet::new();
    for (at, turn) in turns.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| turns.get(at));
        let after = turns.get(at + 1);
        match turn.role {
            "assistant" => {
                answered(turn, after, &mut seen)?;
                searched(turn, after)?;
            }
            "user" => results(turn, before)?,
            _ => placed(turn, before, after)?,
        }
    }
    if turns.last().is_some_and(|turn| turn.role == "assistant" && !paused(turn)) {
        return Err(Refusal::invalid(
            "This model does not support assistant message prefill. The conversation must end \
             with a user message.",
        ));
    }
    Ok(())
}

fn turns(messages: &[Value]) -> Vec<Turn<'_>> {
    let mut turns: Vec<Turn<'_>> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let parts = parts(at, message);
        match turns.last_mut() {
            Some(turn) if turn.role == role(message) => turn.parts.extend(parts),
            _ => turns.push(Turn { role: role(message), first: at, parts }),
        }
    }
    turns
}

fn parts(at: usize, message: &Value) -> Vec<Part<'_>> {
    match message.get("content") {
        Some(Value::Array(blocks)) => blocks
            .iter()
            .enumerate()
            .map(|(index, block)| Part {
                path: format!("messages.{at}.content.{index}"),
                kind: kind(block),
                value: block,
            })
            .collect(),
        Some(content) => {
            vec![Part { path: format!("messages.{at}.content"), kind: "text", value: content }]
        }
        None => Vec::new(),
    }
}

fn ids<'a>(turn: &'a Turn<'_>, wanted: &str, key: &str) -> Vec<&'a str> {
    turn.parts
        .iter()
        .filter(|part| part.kind == wanted)
        .map(|part| part.value.get(key).and_then(Value::as_str).unwrap_or(""))
        .collect()
}

/// Every call has a result in the next turn.
fn answered<'a>(
    turn: &'a Turn<'_>,
    after: Option<&Turn<'_>>,
    seen: &mut BTreeSet<&'a str>,
) -> Result<(), Refusal> {
    let results = after.map_or(Vec::new(), |after| ids(after, "tool_result", "tool_use_id"));
    let mut missing = Vec::new();
    for id in ids(turn, "tool_use", "id") {
        if !seen.insert(id) {
            return Err(Refusal::invalid(format!(
                "messages.{}: `tool_use` ids must be unique ({id})",
                turn.first
            )));
        }
        if !results.contains(&id) {
            missing.push(id);
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    Err(Refusal::invalid(format!(
        "messages.{}: `tool_use` ids were found without `tool_result` blocks immediately after: \
         {}. Each `tool_use` block must have a corresponding `tool_result` block in the next \
         message.",
        turn.first,
        missing.join(", ")
    )))
}

/// Whether the server stopped in the middle of its own work, and is to go on.
fn paused(turn: &Turn<'_>) -> bool {
    let last = turn.parts.last().map_or("", |part| part.kind);
    last == "server_tool_use" || (last.ends_with("_tool_result") && last != "tool_result")
}

/// Every call of the server's own has its result in the same turn, unless the
/// server is to go on with it.
fn searched(turn: &Turn<'_>, after: Option<&Turn<'_>>) -> Result<(), Refusal> {
    let answers = |id: &str| {
        turn.parts.iter().any(|part| part.value.get("tool_use_id").is_some_and(|of| of == id))
    };
    let open = ids(turn, "server_tool_use", "id").into_iter().find(|id| !answers(id));
    match open {
        Some(id) if after.is_some() => Err(Refusal::invalid(format!(
            "messages.{}: `{id}` is a server tool use without its result block",
            turn.first
        ))),
        _ => Ok(()),
    }
}

/// Every result answers a call of the turn before, once, and results come first.
fn results(turn: &Turn<'_>, before: Option<&Turn<'_>>) -> Result<(), Refusal> {
    let calls = before.map_or(Vec::new(), |before| ids(before, "tool_use", "id"));
    let mut answered = BTreeSet::new();
    let mut other_seen = false;
    for part in &turn.parts {
        if part.kind != "tool_result" {
            other_seen = true;
            continue;
        }
        let id = part.value.get("tool_use_id").and_then(Value::as_str).unwrap_or("");
        if !calls.contains(&id) {
            return Err(Refusal::invalid(format!(
                "{}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each \
                 `tool_result` block must have a corresponding `tool_use` block in the previous \
                 message.",
                part.path
            )));
        }
        if !answered.insert(id) {
            return Err(Refusal::invalid(format!(
                "{}: each tool_use must have a single result. Found multiple `tool_result` \
                 blocks with id: {id}",
                part.path
            )));
        }
        if other_seen {
            return Err(Refusal::invalid(format!(
                "{}: `tool_result` blocks must come first in the content of a user message",
                part.path
            )));
        }
    }
    Ok(())
}

/// A system message follows a user turn and is last or before the model's.
fn placed(
    turn: &Turn<'_>,
    before: Option<&Turn<'_>>,
    after: Option<&Turn<'_>>,
) -> Result<(), Refusal> {
    let follows = before.is_some_and(|before| before.role == "user");
    let precedes = after.is_none_or(|after| after.role == "assistant");
    if follows && precedes {
        return Ok(());
    }
    Err(Refusal::invalid(format!(
        "messages.{}: a system message must follow a user turn and be last or followed by an \
         assistant turn",
        turn.first
    )))
}
