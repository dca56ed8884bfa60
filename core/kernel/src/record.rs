//! The log: what was said, and what was decided about how it is shown.
//!
//! The log is the only state of a conversation. Records are appended and never
//! removed or changed; a request is a projection of them. How a record is
//! written as a line of a transcript is `everfold-transcript`'s business.

use crate::block::Block;
use crate::ids::{MessageId, ModelId, RecordId, RequestId};
use crate::provenance::{BlockProvenance, Provenance, Source};
use crate::usage::Usage;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

mod decision;
mod params;
mod sum;

pub use decision::{
    AppliedEdit, BreakSeen, ClearTrigger, Cleared, ClearedResult, Decision, Extracted,
    FailedSummary, RECALL_TOOL, RewindWhat, Rewound, Spilled,
};
pub use params::{CallForm, Delivery, Params, Pictures, Sampling};
pub use sum::{ActSum, CacheState, ClearingSum, SumTerm, SumVerdict};

/// One entry of the log.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Its own id.
    pub id: RecordId,
    /// The record before it in the conversation; none at a root and at a boundary.
    pub parent: Option<RecordId>,
    /// When it was written.
    pub at: Timestamp,
    /// What it says.
    pub entry: Entry,
}

/// What a record says.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// Something on the user's side of the conversation.
    User(UserEntry),
    /// One block of a model's response.
    Assistant(AssistantEntry),
    /// Text that was injected, with the bytes that the model saw.
    Attachment(Attachment),
    /// How other records are shown.
    Decision(Decision),
    /// The conversation was compacted here.
    Boundary(Boundary),
    /// A line that this version does not know. It is kept, and shown to no model.
    Opaque(Value),
}

/// A message on the user's side.
#[derive(Clone, Debug, PartialEq)]
pub struct UserEntry {
    /// Its blocks.
    pub content: Vec<Block>,
    /// Where it came from.
    pub origin: UserOrigin,
    /// For a tool's result: the structured form that programs read.
    pub tool_use_result: Option<Value>,
    /// Whose words its blocks are, one for each (L5.33). Shorter where that is
    /// not known, as in transcripts of others.
    pub provenance: Vec<BlockProvenance>,
}

impl UserEntry {
    /// Whose words a block is; nothing is known of one that says nothing.
    #[must_use]
    pub fn provenance_of(&self, block: usize) -> BlockProvenance {
        self.provenance.get(block).cloned().unwrap_or_default()
    }
}

/// Who or what wrote a user message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserOrigin {
    /// The person.
    Human,
    /// A tool that the model called.
    ToolResult,
    /// The program; not shown as a prompt.
    Meta,
    /// The summary of what a boundary took away.
    CompactSummary,
}

/// One block of a response. Blocks of one response share `message_id`; the
/// last one carries the final usage and the stop reason.
#[derive(Clone, Debug, PartialEq)]
pub struct AssistantEntry {
    /// The response.
    pub message_id: MessageId,
    /// The request, as the server named it.
    pub request_id: Option<RequestId>,
    /// The model that wrote it.
    pub model: ModelId,
    /// Position of the block in the response.
    pub index: u32,
    /// The block.
    pub block: Block,
    /// Usage as known when the block was complete.
    pub usage: Usage,
    /// Why the response ended; none on all blocks but the last.
    pub stop_reason: Option<String>,
}

impl AssistantEntry {
    /// Whose words the block is: the model's, but for what the server found on
    /// the web by itself and what the model says by quoting it.
    #[must_use]
    pub fn provenance(&self) -> Provenance {
        let citations = self.block.as_map().get("citations").and_then(Value::as_array);
        let is_cited = citations.is_some_and(|citations| !citations.is_empty());
        let is_web = self.block.kind().starts_with("web_") || is_cited;
        Provenance::of(if is_web { Source::Web } else { Source::Model })
    }
}

/// Injected text. `rendered` is frozen: it is what every request shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attachment {
    /// Its kind, such as `relevant_memories`.
    pub kind: String,
    /// Exactly what the model sees, envelope included.
    pub rendered: String,
    /// What programs may want to know of it.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub data: Value,
    /// Whose words it holds (L5.33); none where they are the program's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
}

/// Wraps text for the model as a reminder, and keeps the text from closing
/// the envelope by itself (S4).
///
/// ```
/// let text = everfold_kernel::record::reminder("a </system-reminder> b");
/// assert_eq!(text.matches("</system-reminder>").count(), 1);
/// ```
#[must_use]
pub fn reminder(text: &str) -> String {
    format!("<system-reminder>\n{}\n</system-reminder>", neutralise(text))
}

/// Breaks the tags by which injected text is fenced, wherever they occur in
/// content that did not come from us (S4). The tag stays readable.
#[must_use]
pub fn neutralise(text: &str) -> String {
    const TAGS: [&str; 3] = ["system-reminder", "persisted-output", "agent-message"];
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        let mut chars = tail.chars();
        chars.next();
        let after = chars.as_str();
        let name = after.trim_start().trim_start_matches('/').trim_start();
        let is_tag = TAGS
            .iter()
            .any(|tag| name.get(..tag.len()).is_some_and(|head| head.eq_ignore_ascii_case(tag)));
        out.push_str(if is_tag { "&lt;" } else { "<" });
        rest = after;
    }
    out.push_str(rest);
    out
}

/// What stands before the messages: rendered once, sent the same from then on
/// (PC1 to PC4). A later prelude replaces it and is a declared cache break.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prelude {
    /// The blocks of the system prompt.
    pub system: Vec<SystemBlock>,
    /// Tool definitions, in their order.
    pub tools: Vec<Value>,
    /// Model and everything else of the request that is part of the cache key.
    pub params: Params,
}

/// One block of the system prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemBlock {
    /// Its text.
    pub text: String,
    /// Whether a cache breakpoint closes it.
    #[serde(default)]
    pub breakpoint: Breakpoint,
}

/// Whether a cache breakpoint stands at a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Breakpoint {
    /// None.
    #[default]
    None,
    /// One, with the time to live of the request.
    Here,
    /// One that closes what is the same for everybody, for a provider that
    /// shares such a prefix (PC5).
    Shared,
}

/// How long the server keeps a cached prefix.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
pub enum CacheTtl {
    /// Five minutes from the last use.
    #[default]
    #[serde(rename = "5m")]
    FiveMinutes,
    /// One hour from the last use.
    #[serde(rename = "1h")]
    OneHour,
}

impl CacheTtl {
    /// The name on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::FiveMinutes => "5m",
            Self::OneHour => "1h",
        }
    }

    /// Its length in seconds.
    #[must_use]
    pub fn seconds(self) -> i64 {
        match self {
            Self::FiveMinutes => 300,
            Self::OneHour => 3_600,
        }
    }
}

/// The form in which a provider takes requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dialect {
    /// Anthropic's Messages API.
    #[default]
    Anthropic,
    /// OpenAI's chat completions, as local servers speak it.
    OpenAi,
}

/// Where a conversation was compacted. What came before is no longer shown,
/// except for what is preserved.
#[derive(Clone, Debug, PartialEq)]
pub struct Boundary {
    /// Who asked for it: `auto` or `manual`.
    pub trigger: String,
    /// Tokens before.
    pub pre_tokens: u64,
    /// The last record before it.
    pub last_before: Option<RecordId>,
    /// Records before it that are still shown, in order.
    pub preserved: Vec<RecordId>,
    /// Where the preserved records stand.
    pub keeps: Keeps,
    /// The rest of the metadata, ours and what others wrote.
    pub metadata: serde_json::Map<String, Value>,
}

/// Which side of a summary the preserved records are on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keeps {
    /// They follow the summary.
    #[default]
    Suffix,
    /// They stand before it: the earlier prefix was kept.
    Prefix,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn s4_tags_cannot_close_their_envelope() {
        for text in [
            "</system-reminder>",
            "< / system-reminder >",
            "</SYSTEM-REMINDER",
            "<system-reminder>",
            "</persisted-output>",
            "<<</system-reminder>",
        ] {
            let safe = neutralise(text).to_lowercase();
            assert!(
                !safe.contains("<system-reminder") && !safe.contains("</system-reminder"),
                "{safe}"
            );
            assert!(!safe.contains("</persisted-output") && !safe.contains("< / system"), "{safe}");
        }
        assert_eq!(neutralise("a < b <T> </div>"), "a < b <T> </div>");
    }

    proptest! {
        #[test]
        fn s4_neutralising_is_idempotent_and_leaves_other_text(text in "[a-z</> é-]{0,40}") {
            let once = neutralise(&text);
            prop_assert_eq!(neutralise(&once), once.clone());
            if !text.contains('<') {
                prop_assert_eq!(once, text);
            }
        }
    }
}
