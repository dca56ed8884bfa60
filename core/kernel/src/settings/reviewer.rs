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
