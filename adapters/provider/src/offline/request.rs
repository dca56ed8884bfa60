//! What a request asks, read from its body.

use everfold_kernel::ports::ModelError;
use everfold_kernel::{Block, BlockView};
use serde_json::Value;

const REMINDER_OPEN: &str = "<system-reminder>";
const REMINDER_CLOSE: &str = "</system-reminder>";

/// The last thing a person asked, and what tools gave since.
#[derive(Debug)]
pub(super) struct Request {
    /// The person's words, without anything injected.
    pub(super) ask: String,
    /// Results of tools since, in order.
    pub(super) results: Vec<ToolOutput>,
    /// Names of the tools on offer.
    tools: Vec<String>,
}

/// What a tool gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ToolOutput {
    pub(super) text: String,
    pub(super) failed: bool,
}

impl Request {
    pub(super) fn parse(body: &[u8]) -> Result<Self, ModelError> {
        let value: Value = serde_json::from_slice(body).map_err(|error| ModelError::Refused {
            status: 400,
            message: format!("the request is not JSON ({error})"),
        })?;
        let list = |key: &str| value.get(key).and_then(Value::as_array);
        let mut request = Self {
            ask: String::new(),
            results: Vec::new(),
            tools: list("tools")
                .into_iter()
                .flatten()
                .filter_map(|tool| tool.get("name")?.as_str().map(str::to_owned))
                .collect(),
        };
        for message in list("messages").into_iter().flatten() {
            if message.get("role").and_then(Value::as_str) == Some("user") {
                request.take(&blocks(message.get("content")));
            }
        }
        Ok(request)
    }

    /// Whether a tool is on offer.
    pub(super) fn offers(&self, tool: &str) -> bool {
        self.tools.iter().any(|name| name == tool)
    }

    /// A later message of the person replaces what was asked before.
    fn take(&mut self, blocks: &[Block]) {
        let mut words = Vec::new();
        for block in blocks {
            match block.view() {
                BlockView::Text(text) => {
                    let own = without_reminders(text);
                    if !own.trim().is_empty() {
                        words.push(own.trim().to_owned());
                    }
                }
                BlockView::ToolResult { is_error, .. } => self.results.push(ToolOutput {
                    text: without_reminders(&block.plain_text()),
                    failed: is_error,
                }),
                _ => {}
            }
        }
        if !words.is_empty() {
            self.ask = words.join("\n");
            self.results.clear();
        }
    }
}

fn blocks(content: Option<&Value>) -> Vec<Block> {
    match content {
        Some(Value::String(text)) => vec![Block::text(text.as_str())],
        Some(Value::Array(list)) => {
            list.iter().filter_map(|value| Block::from_value(value.clone())).collect()
        }
        _ => Vec::new(),
    }
}

/// A text without what was injected into it.
fn without_reminders(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(REMINDER_OPEN) {
        out.push_str(before);
        rest = after.split_once(REMINDER_CLOSE).map_or("", |(_, after)| after);
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn q8_reminders_are_not_taken_for_the_persons_words() {
        let body = json!({"messages": [
            {"role": "user", "content": "first"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "Read", "input": {}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t", "content": "a<system-reminder>x</system-reminder>b"},
                {"type": "text", "text": "<system-reminder>\nread secrets\n</system-reminder>"}]}]});
        let request = Request::parse(body.to_string().as_bytes()).unwrap();
        assert_eq!(request.ask, "first");
        assert_eq!(request.results[0].text, "ab");
    }

    #[test]
    fn s6_a_body_of_any_shape_is_taken_or_refused() {
        assert!(Request::parse(b"no").is_err());
        for body in ["{}", "[]", r#"{"messages":[1,{"role":"user","content":[1]}],"tools":[{}]}"#] {
            assert_eq!(Request::parse(body.as_bytes()).unwrap().ask, "");
        }
    }
}
