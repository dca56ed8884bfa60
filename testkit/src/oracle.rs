//! The prefix oracle (PC1): each request continues the one before it.
//!
//! Cache markers are left out, as moving them changes nothing. Model, tools,
//! system prompt and the parameters that the server renders into the prompt
//! have to be equal, byte for byte as JSON; the blocks of the earlier
//! conversation have to be the first blocks of the later one. A string of
//! content is the same as one text block, and messages of one role in a row
//! the same as one.

use crate::received::{Received, kind, role};
use serde_json::{Map, Value, json};
use std::fmt;

/// Where a request does not continue the one before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Break {
    /// Where, such as `/tools` or `/messages/3/content/0` of the earlier request.
    pub path: String,
    /// What stood there, as JSON; none where there was nothing.
    pub before: Option<String>,
    /// What stands there now.
    pub after: Option<String>,
}

/// Characters shown around a difference.
const SHOWN_CHARS: usize = 160;

impl fmt::Display for Break {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let before = self.before.as_deref().unwrap_or("(nothing)");
        let after = self.after.as_deref().unwrap_or("(nothing)");
        let same =
            before.chars().zip(after.chars()).take_while(|(one, other)| one == other).count();
        let from = same.saturating_sub(SHOWN_CHARS / 4);
        let shown = |text: &str| -> String { text.chars().skip(from).take(SHOWN_CHARS).collect() };
        write!(
            f,
            "the prefix breaks at {}, character {same}\n  before: {}\n  after:  {}",
            self.path,
            shown(before),
            shown(after)
        )
    }
}

/// What is rendered before or beside the messages.
const FIXED: &[&str] =
    &["model", "tools", "system", "tool_choice", "thinking", "output_config", "speed"];

/// Where the later request does not continue the earlier one.
#[must_use]
pub fn first_break(earlier: &Received, later: &Received) -> Option<Break> {
    first_break_of(&earlier.body, &later.body)
}

/// The same for two bodies.
///
/// ```
/// use everfold_testkit::oracle::first_break_of;
/// use serde_json::json;
///
/// let one = json!({"messages": [{"role": "user", "content": "a"}]});
/// let two = json!({"messages": [{"role": "user", "content": "b"}]});
/// assert_eq!(first_break_of(&one, &one), None);
/// assert_eq!(first_break_of(&one, &two).unwrap().path, "/messages/0/content/0");
/// ```
#[must_use]
pub fn first_break_of(earlier: &Value, later: &Value) -> Option<Break> {
    for field in FIXED {
        let [before, after] = [earlier, later].map(|body| body.get(field).map(plain));
        if before != after {
            return Some(Break { path: format!("/{field}"), before, after });
        }
    }
    let mut later = pieces(later).into_iter();
    for (path, before) in pieces(earlier) {
        let after = later.next().map(|(_, piece)| piece);
        if after.as_ref() != Some(&before) {
            return Some(Break { path, before: Some(before), after });
        }
    }
    None
}

/// The first pair of neighbours that breaks, by the place of the later one.
#[must_use]
pub fn first_unstable(requests: &[Received]) -> Option<(usize, Break)> {
    let mut pairs = requests.iter().zip(requests.iter().skip(1)).enumerate();
    pairs.find_map(|(at, (earlier, later))| Some((at + 1, first_break(earlier, later)?)))
}

/// Asserts that each request continues the one before it.
///
/// # Panics
///
/// One does not; the message says which and where.
#[track_caller]
#[expect(clippy::panic, reason = "an assertion for tests")]
pub fn assert_prefix_stable(requests: &[Received]) {
    if let Some((at, found)) = first_unstable(requests) {
        panic!("request {at} of {}: {found}", requests.len());
    }
}

/// A tool list, system prompt or parameter as JSON without markers.
fn plain(value: &Value) -> String {
    match value {
        Value::Array(items) => json!(items.iter().map(without_marker).collect::<Vec<_>>()),
        Value::String(text) => json!([{"type": "text", "text": text}]),
        other => other.clone(),
    }
    .to_string()
}

/// The blocks of all messages with their role, as JSON without markers.
pub(crate) fn pieces(body: &Value) -> Vec<(String, String)> {
    let mut pieces = Vec::new();
    let messages = body.get("messages").and_then(Value::as_array);
    for (at, message) in messages.into_iter().flatten().enumerate() {
        let path = format!("/messages/{at}");
        let only_content = message
            .as_object()
            .is_some_and(|map| map.keys().all(|key| key == "role" || key == "content"));
        let piece = |block: &Value| format!("{}: {}", role(message), without_marker(block));
        match message.get("content") {
            Some(Value::String(text)) if only_content => {
                let block = json!({"type": "text", "text": text});
                pieces.push((format!("{path}/content/0"), piece(&block)));
            }
            Some(Value::Array(blocks)) if only_content => {
                for (index, block) in blocks.iter().enumerate() {
                    pieces.push((format!("{path}/content/{index}"), piece(block)));
                }
            }
            // A message with more to it, such as a chat completion's tool calls.
            _ => pieces.push((path, piece(message))),
        }
    }
    pieces
}

fn without_marker(block: &Value) -> Value {
    let mut block = block.clone();
    let is_result = kind(&block) == "tool_result";
    if let Some(map) = block.as_object_mut() {
        remove(map);
        if is_result && let Some(Value::Array(parts)) = map.get_mut("content") {
            parts.iter_mut().filter_map(Value::as_object_mut).for_each(remove);
        }
    }
    block
}

fn remove(map: &mut Map<String, Value>) {
    map.shift_remove("cache_control");
}
