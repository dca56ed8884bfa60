//! When a conversation is summed up without being full, and when notes are kept.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What makes room for less money (E3, E4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CompactSettings {
    /// When a conversation is summarised before it is full, because that is
    /// cheaper: `auto` before a pause lets the cache expire and, on large
    /// windows, at the end of a turn; `cold-only` only at pauses; `off` never.
    pub economy: CompactEconomy,
    /// When the running notes are made: `auto` when they make the next
    /// compaction cheaper, `always` from 10,000 tokens on.
    pub notes: NotesUse,
}

/// `compact.economy`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CompactEconomy {
    /// At pauses, and at the end of turns.
    #[default]
    Auto,
    /// At pauses alone.
    ColdOnly,
    /// Never.
    Off,
}

/// `compact.notes`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NotesUse {
    /// Where the sum says that they pay.
    #[default]
    Auto,
    /// From their first size on.
    Always,
}
