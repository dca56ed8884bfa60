//! How many tokens the test server sees. The rate differs from Everfold's own
//! estimate on purpose, so that nothing passes by agreeing with itself.

use crate::scenario::ServerRules;
use everfold_kernel::Tokens;
use serde_json::Value;

/// Counts one tool or block: text by its bytes, arguments and unknown blocks
/// as JSON, pictures and documents flat.
pub(crate) fn count(value: &Value, rules: &ServerRules) -> Tokens {
    let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or("");
    match text("type") {
        "text" => bytes(text("text").len(), rules),
        "thinking" => bytes(text("thinking").len(), rules),
        "tool_use" => {
            let input = value.get("input").map_or(0, |input| input.to_string().len());
            bytes(text("name").len() + input, rules)
        }
        "tool_result" => match value.get("content") {
            Some(Value::String(text)) => bytes(text.len(), rules),
            Some(Value::Array(parts)) => parts.iter().map(|part| count(part, rules)).sum(),
            _ => Tokens(0),
        },
        "image" | "document" | "image_url" => Tokens(rules.image_tokens),
        _ => bytes(value.to_string().len(), rules),
    }
}

/// Counts the messages and tools of a chat completion.
pub(crate) fn count_chat(body: &Value, rules: &ServerRules) -> Tokens {
    let list = |key: &str| body.get(key).and_then(Value::as_array);
    let tools: Tokens =
        list("tools").into_iter().flatten().map(|tool| bytes(tool.to_string().len(), rules)).sum();
    let messages: Tokens = list("messages")
        .into_iter()
        .flatten()
        .map(|message| {
            let calls = message.get("tool_calls").map_or(0, |calls| calls.to_string().len());
            bytes(calls, rules)
                + match message.get("content") {
                    Some(Value::String(text)) => bytes(text.len(), rules),
                    Some(Value::Array(parts)) => parts.iter().map(|part| count(part, rules)).sum(),
                    _ => Tokens(0),
                }
        })
        .sum();
    tools + messages
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "sizes of requests are far below 2^52, and a negative rate counts as 0"
)]
fn bytes(length: usize, rules: &ServerRules) -> Tokens {
    Tokens((length as f64 / rules.bytes_per_token).ceil() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn t2_text_by_its_bytes_and_pictures_flat() {
        let rules = ServerRules::default();
        let counted = |value: &Value| count(value, &rules).0;
        assert_eq!(counted(&json!({"type": "text", "text": "x".repeat(35)})), 10);
        let result = json!({"type": "tool_result", "tool_use_id": "t", "content": [
            {"type": "text", "text": "x".repeat(7)}, {"type": "image"}]});
        assert_eq!(counted(&result), 2 + rules.image_tokens);
        let chat = json!({"messages": [{"role": "user", "content": "x".repeat(35)}]});
        assert_eq!(count_chat(&chat, &rules), Tokens(10));
    }
}
