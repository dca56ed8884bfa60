//! What was decided about how the conversation is shown, or what it cost.
//!
//! A decision holds from its place in the log on, for ever and the same way,
//! unless a later one voids it. Bytes that the model sees are frozen in it.

use super::Prelude;
use super::sum::{ActSum, ClearingSum};
use crate::ids::{MessageId, RecordId, ToolUseId};
use crate::models::Usd;
use crate::tokens::Tokens;
use crate::usage::{Booking, QuerySource};
use serde::{Deserialize, Serialize};

/// The tool by which a model brings back, by its id, what a decision hides.
pub const RECALL_TOOL: &str = "ResultRead";

/// A decision. In the transcript it is a `system` line with the subtype
/// `everfold_<kind>`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Decision {
    /// What stands before the messages of every request from here on.
    Prelude(Box<Prelude>),
    /// A request was made and paid for.
    Booked(Booking),
    /// A response that was cut off is taken back; the request was made again.
    Retracted {
        message_id: MessageId,
        /// What happened to it.
        reason: String,
    },
    /// A tool result is shown by a preview (L1).
    Spilled(Spilled),
    /// Old tool results are shown by a marker (L2).
    Cleared(Cleared),
    /// The server is asked to drop these results from its cache (L2.3): an
    /// edit at the end of the user message that the request ended with.
    CacheEdited { tool_use_ids: Vec<ToolUseId> },
    /// The server said that it cleared something of the prompt by itself
    /// (L2.4). What is sent stays the same.
    ServerCleared { edits: Vec<AppliedEdit> },
    /// A range of messages is out of the model's view (L4.14).
    Snipped {
        /// The first record of the range.
        from: RecordId,
        /// The last record of the range.
        to: RecordId,
        /// What stands in its place.
        marker: String,
    },
    /// Finished rounds are shown by a short summary (L4.13).
    Collapsed {
        /// The first record of the span.
        from: RecordId,
        /// The last record of the span.
        to: RecordId,
        /// What stands in its place.
        summary: String,
    },
    /// An earlier decision holds no more: what it hid is shown again.
    Voided {
        /// The record of that decision.
        decision: RecordId,
    },
    /// A record is kept word for word through every compaction (L4.16).
    Pinned { record: RecordId },
    /// A pin is taken out.
    Unpinned { record: RecordId },
    /// A compaction was tried and failed; three in a row that a model failed
    /// open the breaker (L4.2).
    CompactionFailed {
        reason: String,
        /// Whose summary it was.
        #[serde(default)]
        by: FailedSummary,
    },
    /// The running notes cover the conversation up to a record (L3.6).
    Noted {
        /// The last record that they cover.
        through: RecordId,
        /// Tokens of the notes.
        tokens: u64,
    },
    /// The cache broke where nothing had announced it (PC6).
    BreakSeen(BreakSeen),
    /// A handler of a hook failed and had no say (Q7).
    HookFailed {
        event: String,
        /// Its command or address.
        handler: String,
        reason: String,
    },
    /// The newest part of the conversation was reviewed for memories (L5.10).
    Extracted(Extracted),
    /// An act was priced before it was done, or left (E1).
    Weighed(ActSum),
    /// Notes were tried and came to nothing (E3): nobody tries again before
    /// there is more to tell.
    NotesTried {
        /// The last record that they were to cover.
        through: RecordId,
        /// What came of it.
        reason: String,
    },
    /// The person went back to an earlier point (Q12). Where the conversation
    /// went back, this record follows the one before that point, and what came
    /// after it is a branch that was left.
    Rewound(Rewound),
}

/// Whose summary could not be had or used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailedSummary {
    /// A model's: it was asked and paid for.
    #[default]
    Model,
    /// Our own, which is the last resort (L4.11).
    Local,
}

/// A step back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rewound {
    /// The message, or the earlier step back, that it went back to.
    pub point: RecordId,
    pub what: RewindWhat,
    /// The last record before, by which the step can be taken back.
    pub left: RecordId,
}

/// What goes back to an earlier point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RewindWhat {
    /// Files that tools changed.
    Files,
    Conversation,
    Both,
}

impl RewindWhat {
    /// Whether files go back.
    #[must_use]
    pub fn files(self) -> bool {
        self != Self::Conversation
    }

    /// Whether the conversation goes back.
    #[must_use]
    pub fn conversation(self) -> bool {
        self != Self::Files
    }
}

/// What came of a review.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extracted {
    /// The last message that was considered.
    pub through: RecordId,
    /// Memories that were saved or proposed, by their file names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub saved: Vec<String>,
    /// Why others were refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<String>,
    /// Why it was put off, where it was: nothing was considered (L5.42).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub put_off: Option<String>,
}

/// A tool result that went to disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spilled {
    /// The call whose result it is.
    pub tool_use_id: ToolUseId,
    /// Exactly what the model sees instead.
    pub replacement: String,
    /// The file's name in the session's `tool-results`; none where the disk
    /// refused and the result was cut in place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Characters of the whole result.
    pub chars: u64,
}

/// Tool results that were cleared together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cleared {
    /// Which, and what is shown instead.
    pub results: Vec<ClearedResult>,
    /// What called for it.
    pub trigger: ClearTrigger,
    /// What it costs and saves.
    pub sum: ClearingSum,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClearedResult {
    /// The call whose result it was.
    pub tool_use_id: ToolUseId,
    /// Exactly what the model sees instead.
    pub marker: String,
}

/// What called for a clearing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClearTrigger {
    /// The last answer is long ago (L2.2).
    Time,
    /// It pays for itself (L2.7).
    Economy,
}

/// One edit that the server made of a prompt, by its own account (L2.4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppliedEdit {
    /// Its type, as the server names it.
    #[serde(rename = "type")]
    pub kind: String,
    /// Tokens that it took out of the prompt.
    #[serde(default)]
    pub cleared_input_tokens: Tokens,
    /// Results that it took out, where it clears results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cleared_tool_uses: Option<u64>,
    /// Turns whose thinking it took out, where it clears thinking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cleared_thinking_turns: Option<u64>,
}

/// A cache break that nothing had announced.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BreakSeen {
    pub source: QuerySource,
    /// The part that changed, or that none of ours did.
    pub part: String,
    /// Tokens that were expected to be read and were not.
    pub tokens: u64,
    pub cost: Option<Usd>,
    /// What the server said of it, if it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_reason: Option<String>,
}
