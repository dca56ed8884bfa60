//! Hooks, as a tool meets them while it runs.

use crate::{ToolCall, ToolContext};
use everfold_kernel::ports::{BoxFuture, PermissionAnswer, Respondent};
use std::sync::Arc;

/// The file in a session's directory with the variables that hooks leave for
/// commands.
pub const ENV_FILE: &str = "hook-env.sh";

/// Hooks that speak in the person's place.
pub trait ToolHooks: Send + Sync {
    /// What hooks say about a call that asks by itself; none where they leave
    /// it to the person.
    fn permission<'a>(
        &'a self,
        call: &'a ToolCall,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Option<PermissionAnswer>>;

    /// Who answers what a server wants to know: hooks, then this person. None
    /// where neither could.
    fn respondent(&self, person: Option<Arc<dyn Respondent>>) -> Option<Arc<dyn Respondent>>;
}
