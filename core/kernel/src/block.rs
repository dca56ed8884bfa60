//! The pieces of a message.
//!
//! A [`Block`] keeps the JSON object that the API or a transcript gave us,
//! fields in their order, unknown ones included: blocks that a server issued
//! must go back unmodified. [`BlockView`] is the typed way to look at one.

use crate::ids::ToolUseId;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Who speaks in a message of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The person, tool results and everything injected.
    User,
    Assistant,
}

impl Role {
    /// The name on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// One content block, kept as it came. A clone shares its object: forks,
/// views and replays hold the same texts once.
///
/// ```
/// use everfold_kernel::{Block, BlockView};
///
/// let block = Block::text("hello");
/// assert!(matches!(block.view(), BlockView::Text("hello")));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Block(Arc<Map<String, Value>>);

/// Up to so many fields are looked through one by one.
const FEW_FIELDS: usize = 8;

impl Serialize for Block {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Block {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Map::deserialize(deserializer).map(|map| Self(Arc::new(map)))
    }
}

/// What a block is, borrowed from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BlockView<'a> {
    /// Text of either side.
    Text(&'a str),
    /// The model's thinking; the signature makes it valid when sent back.
    Thinking(&'a str),
    /// Thinking that only the server can read.
    RedactedThinking,
    /// A call of a tool.
    ToolUse {
        id: &'a str,
        name: &'a str,
        input: &'a Value,
    },
    /// The answer to a call.
    ToolResult {
        /// The call that this answers.
        id: &'a str,
        /// A string or a list of blocks; `Null` where absent.
        content: &'a Value,
        /// Whether the tool failed.
        is_error: bool,
    },
    Image,
    /// A document, such as a PDF.
    Document,
    /// A kind that this version does not know, by its `type`.
    Other(&'a str),
}

impl Block {
    pub fn text(text: impl Into<String>) -> Self {
        Self::of(json!({"type": "text", "text": text.into()}))
    }

    /// A call of a tool.
    #[must_use]
    pub fn tool_use(id: &ToolUseId, name: &str, input: Value) -> Self {
        let mut block = Self::of(json!({"type": "tool_use", "id": id.as_str(), "name": name}));
        block.as_map_mut().insert("input".into(), input);
        block
    }

    /// The successful answer to a call; `content` is a string or blocks.
    #[must_use]
    pub fn tool_result(id: &ToolUseId, content: Value) -> Self {
        let mut block = Self::of(json!({"type": "tool_result", "tool_use_id": id.as_str()}));
        block.as_map_mut().insert("content".into(), content);
        block
    }

    /// The answer to a call that failed.
    #[must_use]
    pub fn tool_error(id: &ToolUseId, message: &str) -> Self {
        let mut block = Self::tool_result(id, Value::String(message.into()));
        block.as_map_mut().insert("is_error".into(), Value::Bool(true));
        block
    }

    /// A picture with its bytes in base64.
    #[must_use]
    pub fn image(media_type: &str, base64: &str) -> Self {
        Self::of(json!({"type": "image",
            "source": {"type": "base64", "media_type": media_type, "data": base64}}))
    }

    /// Takes a JSON object as a block; anything else becomes none.
    #[must_use]
    pub fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Object(map) => Some(Self(Arc::new(tight(map)))),
            _ => None,
        }
    }

    /// The object as it is kept.
    #[must_use]
    pub fn as_map(&self) -> &Map<String, Value> {
        &self.0
    }

    /// The object, for a caller that changes a block before it enters the log.
    /// One that is shared is copied first.
    pub fn as_map_mut(&mut self) -> &mut Map<String, Value> {
        Arc::make_mut(&mut self.0)
    }

    /// The `type` of the block, empty where it has none.
    #[must_use]
    pub fn kind(&self) -> &str {
        self.str("type")
    }

    /// The typed look at the block.
    #[must_use]
    pub fn view(&self) -> BlockView<'_> {
        match self.kind() {
            "text" => BlockView::Text(self.str("text")),
            "thinking" => BlockView::Thinking(self.str("thinking")),
            "redacted_thinking" => BlockView::RedactedThinking,
            "tool_use" => BlockView::ToolUse {
                id: self.str("id"),
                name: self.str("name"),
                input: self.field("input"),
            },
            "tool_result" => BlockView::ToolResult {
                id: self.str("tool_use_id"),
                content: self.field("content"),
                is_error: self.field("is_error").as_bool().unwrap_or(false),
            },
            "image" => BlockView::Image,
            "document" => BlockView::Document,
            other => BlockView::Other(other),
        }
    }

    /// The same tool result with other content; other blocks come back unchanged.
    #[must_use]
    pub fn with_result_content(&self, content: Value) -> Self {
        let mut block = self.clone();
        if block.kind() == "tool_result" {
            block.as_map_mut().insert("content".into(), content);
        }
        block
    }

    /// The text that a person would read in this block: the text itself, or
    /// a tool result's text parts joined by newlines.
    #[must_use]
    pub fn plain_text(&self) -> String {
        match self.view() {
            BlockView::Text(text) | BlockView::Thinking(text) => text.to_owned(),
            BlockView::ToolResult { content, .. } => match content {
                Value::String(text) => text.clone(),
                Value::Array(parts) => {
                    let texts: Vec<&str> =
                        parts.iter().filter_map(|part| part.get("text")?.as_str()).collect();
                    texts.join("\n")
                }
                _ => String::new(),
            },
            _ => String::new(),
        }
    }

    fn of(value: Value) -> Self {
        Self::from_value(value).unwrap_or_else(|| Self(Arc::default()))
    }

    fn str(&self, key: &str) -> &str {
        self.field(key).as_str().unwrap_or("")
    }

    /// Blocks have few fields, and are looked at all the time: comparing names
    /// takes less than hashing one.
    fn field(&self, key: &str) -> &Value {
        let found = if self.0.len() <= FEW_FIELDS {
            self.0.iter().find(|(name, _)| *name == key).map(|(_, value)| value)
        } else {
            self.0.get(key)
        };
        found.unwrap_or(&Value::Null)
    }
}

/// The same object without room to grow. A parsed one has room for four
/// fields at least, and a conversation has thousands of blocks of two.
fn tight(map: Map<String, Value>) -> Map<String, Value> {
    let mut tight = Map::with_capacity(map.len());
    tight.extend(map);
    tight
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_fields_and_blocks_come_back_as_they_came() {
        let text = r#"{"type":"hologram","z":1,"a":{"y":2.50,"b":[null]}}"#;
        let block: Block = serde_json::from_str(text).unwrap();
        assert_eq!(block.view(), BlockView::Other("hologram"));
        assert_eq!(
            serde_json::to_string(&block).unwrap(),
            r#"{"type":"hologram","z":1,"a":{"y":2.5,"b":[null]}}"#
        );
    }

    #[test]
    fn plain_text_joins_the_parts_of_a_result() {
        let id = ToolUseId::new("t1");
        let block = Block::tool_result(
            &id,
            json!([{"type":"text","text":"a"},{"type":"image"},
            {"type":"text","text":"b"}]),
        );
        assert_eq!(block.plain_text(), "a\nb");
    }
}
