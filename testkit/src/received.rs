//! A request as it arrived.

use bytes::Bytes;
use everfold_kernel::{Usage, Usd};
use jiff::Timestamp;
use serde_json::Value;
use std::sync::Arc;

/// The header by which a client says for whom it asks (T6), such as `main`.
pub use everfold_kernel::ports::SOURCE_HEADER;

/// One request that the server received, refused ones included.
#[derive(Clone, Debug)]
pub struct Received {
    /// Its place in the order of arrival, from 0.
    pub index: usize,
    pub method: String,
    /// The path, without the query.
    pub path: String,
    /// The headers in their order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The bytes of the body.
    pub raw: Bytes,
    /// The body as JSON; `Null` where it is none.
    pub body: Arc<Value>,
    /// The server's time on arrival.
    pub at: Timestamp,
    /// What was billed; none where the server answered with an error.
    pub usage: Option<Usage>,
    /// What that cost, where the model has a price.
    pub cost: Option<Usd>,
    /// The status and message of the error that was answered.
    pub refused: Option<(u16, String)>,
}

impl Received {
    /// The first header of this name (in lower case).
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut all = self.headers.iter();
        all.find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// For whom the request was made; empty where the client did not say.
    #[must_use]
    pub fn source(&self) -> &str {
        self.header(SOURCE_HEADER).unwrap_or("")
    }

    /// The model that was asked for.
    #[must_use]
    pub fn model(&self) -> &str {
        self.body.get("model").and_then(Value::as_str).unwrap_or("")
    }

    /// Every message of the body.
    #[must_use]
    pub fn messages(&self) -> &[Value] {
        let messages = self.body.get("messages").and_then(Value::as_array);
        messages.map_or(&[], Vec::as_slice)
    }

    /// The text that the last messages of the person hold, tool results apart.
    #[must_use]
    pub fn last_user_text(&self) -> String {
        let mut texts: Vec<String> = Vec::new();
        for message in self.tail() {
            if role(message) == "user" {
                texts.extend(texts_of(message.get("content")));
            }
        }
        texts.join("\n")
    }

    /// The text of the tool results at the end of the conversation; none where
    /// it does not end with one.
    #[must_use]
    pub fn last_tool_results(&self) -> Option<String> {
        let mut results: Vec<String> = Vec::new();
        for message in self.tail() {
            let content = message.get("content");
            if role(message) == "tool" {
                results.push(texts_of(content).join("\n"));
            }
            for block in content.and_then(Value::as_array).into_iter().flatten() {
                if kind(block) == "tool_result" {
                    results.push(texts_of(block.get("content")).join("\n"));
                }
            }
        }
        (!results.is_empty()).then(|| results.join("\n"))
    }

    /// The system prompt's text, whichever API it came by.
    #[must_use]
    pub fn system_text(&self) -> String {
        let mut texts = texts_of(self.body.get("system"));
        for message in self.messages() {
            if matches!(role(message), "system" | "developer") {
                texts.extend(texts_of(message.get("content")));
            }
        }
        texts.join("\n")
    }

    /// The messages after the model's last one.
    fn tail(&self) -> &[Value] {
        let messages = self.messages();
        let last = messages.iter().rposition(|message| role(message) == "assistant");
        messages.get(last.map_or(0, |at| at + 1)..).unwrap_or(&[])
    }
}

pub(crate) fn role(message: &Value) -> &str {
    message.get("role").and_then(Value::as_str).unwrap_or("")
}

pub(crate) fn kind(block: &Value) -> &str {
    block.get("type").and_then(Value::as_str).unwrap_or("")
}

/// The texts of a content: a string, or the text blocks of a list.
fn texts_of(content: Option<&Value>) -> Vec<String> {
    match content {
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(blocks)) => blocks
            .iter()
            .filter(|block| kind(block) == "text")
            .filter_map(|block| block.get("text")?.as_str().map(str::to_owned))
            .collect(),
        _ => Vec::new(),
    }
}
