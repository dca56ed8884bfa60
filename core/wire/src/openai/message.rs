//! A chat completion that came in one piece, and what both forms share.

use super::assemble::{AnswerIds, call_block};
use crate::count::count;
use crate::errors::{classify_event, is_error};
use crate::input;
use everfold_kernel::ports::{ModelError, ModelReply};
use everfold_kernel::{Block, ModelId, Usage};
use serde_json::Value;

/// Reads a whole completion, as a server gives it that does not stream.
///
/// # Errors
/// [`ModelError::Broken`] when the bytes are not a completion, and whatever an
/// error object says when they are one.
pub fn parse_message(bytes: &[u8], answer: &AnswerIds) -> Result<ModelReply, ModelError> {
    let value: Value = serde_json::from_slice(bytes).map_err(|error| ModelError::Broken {
        message: format!("the answer is not JSON ({error})"),
    })?;
    if is_error(&value) {
        return Err(classify_event(&value));
    }
    let choice = value.get("choices").and_then(|choices| choices.get(0));
    let Some((choice, message)) = choice.and_then(|choice| Some((choice, choice.get("message")?)))
    else {
        return Err(ModelError::Broken {
            message: "the answer is not a completion: it has no message".into(),
        });
    };
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or("").to_owned();
    let message_id = answer.message_id(value.get("id").and_then(Value::as_str));
    let content = text(message.get("content"));
    let mut blocks = Vec::new();
    if !content.is_empty() {
        blocks.push(Block::text(content));
    }
    let calls = message.get("tool_calls").and_then(Value::as_array);
    for (number, call) in (0..).zip(calls.into_iter().flatten()) {
        let function = call.get("function").unwrap_or(&Value::Null);
        let arguments = function.get("arguments").cloned().unwrap_or(Value::Null);
        blocks.push(call_block(
            &message_id,
            number,
            text(call.get("id")),
            &text(function.get("name")),
            input::from_value(arguments),
        ));
    }
    let calls_tools = blocks.iter().any(|block| block.kind() == "tool_use");
    Ok(ModelReply {
        message_id,
        request_id: answer.request_id.clone(),
        model: ModelId::new(text(value.get("model"))),
        blocks,
        stop_reason: stop_reason(&text(choice.get("finish_reason")), calls_tools),
        usage: value.get("usage").map(usage_of).unwrap_or_default(),
        context_edits: None,
    })
}

/// The stop reason in Anthropic's words. Some servers say `stop` where the
/// model called tools.
pub(super) fn stop_reason(reason: &str, calls_tools: bool) -> String {
    match reason {
        "" | "stop" | "tool_calls" | "function_call" if calls_tools => "tool_use",
        "" | "stop" | "tool_calls" | "function_call" => "end_turn",
        "length" => "max_tokens",
        "content_filter" => "refusal",
        other => other,
    }
    .to_owned()
}

/// Counts of a completion. Cached tokens are a part of the prompt's there, and
/// a kind of their own here.
pub(super) fn usage_of(usage: &Value) -> Usage {
    let prompt = count(usage, "prompt_tokens").unwrap_or(0);
    let cached = usage
        .get("prompt_tokens_details")
        .and_then(|details| count(details, "cached_tokens"))
        .or_else(|| count(usage, "prompt_cache_hit_tokens"))
        .unwrap_or(0)
        .min(prompt);
    Usage {
        input: prompt - cached,
        cache_read: cached,
        output: count(usage, "completion_tokens").unwrap_or(0),
        ..Usage::default()
    }
}
