//! Asking the person.

use super::BoxFuture;
use serde_json::Value;

/// Somebody who can say yes or no to a tool call (Q6).
pub trait Approver: Send + Sync {
    /// Asks whether a call may go through.
    fn ask(&self, ask: PermissionAsk) -> BoxFuture<'_, PermissionAnswer>;
}

#[derive(Clone, Debug, PartialEq)]
pub struct PermissionAsk {
    pub tool: String,
    pub input: Value,
    /// What it would do, in a few words: a command, a path, a diff.
    pub summary: String,
    /// The rule that "always" would add, such as `Bash(cargo test:*)`.
    pub rule: String,
}

/// What the person says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PermissionAnswer {
    /// Yes, this once.
    Allow,
    /// Yes, and whatever the rule covers for the rest of the session.
    AllowAlways,
    Deny {
        /// Why, for the model.
        reason: String,
    },
}
