//! What a chat-completions server refuses.

use super::Refusal;
use crate::received::{Received, role};
use serde_json::Value;
use std::collections::BTreeSet;

/// Checks a request for a chat completion.
pub(crate) fn check(request: &Received) -> Result<(), Refusal> {
    if !request.body.is_object() {
        return Err(Refusal::invalid("The request body is not valid JSON"));
    }
    if request.model().is_empty() {
        return Err(Refusal::invalid("you must provide a model parameter"));
    }
    if request.messages().is_empty() {
        return Err(Refusal::invalid(
            "[] is too short - 'messages': at least one message is required",
        ));
    }
    let mut open: BTreeSet<&str> = BTreeSet::new();
    for (at, message) in request.messages().iter().enumerate() {
        let text = |key: &str| message.get(key).and_then(Value::as_str).unwrap_or("");
        if role(message) == "tool" {
            if !open.remove(text("tool_call_id")) {
                return Err(Refusal::invalid(format!(
                    "messages with role 'tool' must be a response to a preceding message with \
                     'tool_calls' (messages[{at}])"
                )));
            }
            continue;
        }
        unanswered(&open)?;
        match role(message) {
            "assistant" => open.extend(call_ids(message)),
            "system" | "developer" | "user" => {}
            other => {
                return Err(Refusal::invalid(format!(
                    "'{other}' is not one of the roles of a message (messages[{at}].role)"
                )));
            }
        }
    }
    unanswered(&open)
}

fn call_ids(message: &Value) -> impl Iterator<Item = &str> {
    let calls = message.get("tool_calls").and_then(Value::as_array);
    calls.into_iter().flatten().filter_map(|call| call.get("id")?.as_str())
}

fn unanswered(open: &BTreeSet<&str>) -> Result<(), Refusal> {
    if open.is_empty() {
        return Ok(());
    }
    let ids: Vec<&str> = open.iter().copied().collect();
    Err(Refusal::invalid(format!(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to \
         each 'tool_call_id'. The following tool_call_ids did not have response messages: {}",
        ids.join(", ")
    )))
}

/// The refusal of a prompt that does not fit.
pub(crate) fn too_long(tokens: u64, window: u64) -> Refusal {
    Refusal::invalid(format!(
        "This model's maximum context length is {window} tokens. However, your messages resulted \
         in {tokens} tokens. Please reduce the length of the messages."
    ))
}
