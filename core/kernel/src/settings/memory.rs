//! How memories are kept.

use super::{Deed, HostReviewer, ReviewMode, Reviewer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How memories are kept (L5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MemorySettings {
    /// What becomes of changes that background agents make: `auto` makes them,
    /// and you can undo them, `inbox` lets them wait for review. Unset, only deletions of what a
    /// person wrote wait. Ignored in a repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review: Option<ReviewMode>,
    /// Whether headless sessions save memories after a turn; unset, they do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extract_headless: Option<bool>,
    /// Who reviews what was said: `auto` is the cheapest way that works, `fork` the conversation's
    /// own model on all of it, `small` the small model on what is new.
    pub reviewer: Reviewer,
    /// Who reviews what was said to another agent without a key of your own: `auto` is that agent's
    /// own program, run once in the background, else its model, which is asked to save; `headless`
    /// and `ask` are only one of them, `rules` asks no model.
    pub host_review: HostReviewer,
    /// Whether MEMORY.md is loaded into each conversation: with `off`, only recall adds memories,
    /// and saving is one step. If recall is off, the index is loaded anyway.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<IndexUse>,
}

/// Whether the memory index is part of each conversation (L5.44).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum IndexUse {
    /// It is.
    On,
    /// It is not.
    Off,
}

impl MemorySettings {
    /// What becomes of a change that a background agent makes (L5.24).
    #[must_use]
    pub fn review_of(&self, deed: Deed) -> ReviewMode {
        self.review.unwrap_or(match deed {
            Deed::Usual => ReviewMode::Auto,
            Deed::DeletesPersons => ReviewMode::Inbox,
        })
    }
}
