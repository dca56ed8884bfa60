//! Who looks for memories.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who looks for memories after a turn (E2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Reviewer {
    /// The cheapest that serves.
    #[default]
    Auto,
    /// The conversation's own model, which reads the cached prefix.
    Fork,
    /// The small model, on the new messages alone.
    Small,
}

/// Who reviews what was said to another agent, without a key of our own (X7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HostReviewer {
    /// That agent's own program where there is one, else its model.
    #[default]
    Auto,
    /// Its program, run once without a person.
    Headless,
    /// Its model, asked to save when it has answered.
    Ask,
    /// Nobody.
    Rules,
}
