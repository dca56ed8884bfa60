//! How memories are kept.

use super::{Deed, HostReviewer, ReviewMode, Reviewer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How memories are kept (L5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MemorySettings {
    /// What becomes of changes that background agents make: `auto` makes them,
    /// with undo at hand, `inbox` lets them wait for a person's word. Unset, only
    /// deletions of what a person wrote wait. A repository's is not taken over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review: Option<ReviewMode>,
    /// Whether sessions without a person in front of them keep memories after a
    /// turn; unset, they do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extract_headless: Option<bool>,
    /// Who reviews what was said: `auto` is the cheapest way that serves,
    /// `fork` the conversation's own model on all of it, `small` the small
    /// model on what is new.
    pub reviewer: Reviewer,
    /// Who reviews what was said to another agent where there is no key of our
    /// own: `auto` is that agent's own program, run once without a person, else
    /// its model, which is asked to save; `headless` and `ask` are either of them
    /// alone, `rules` asks nobody.
    pub host_review: HostReviewer,
    /// Whether MEMORY.md is loaded into each conversation: `off` leaves it to
    /// recall to bring in what helps, and saving is one step. Where recall is
    /// switched off, the index is loaded all the same.
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
