//! Approvers for when nobody sits in front of the conversation.

use everfold_kernel::ports::{Approver, BoxFuture, PermissionAnswer, PermissionAsk};

/// Refuses whatever would have to be asked, and says how to allow it (Q6).
#[derive(Clone, Copy, Debug, Default)]
pub struct RefuseAll;

impl Approver for RefuseAll {
    fn ask(&self, ask: PermissionAsk) -> BoxFuture<'_, PermissionAnswer> {
        let reason = format!(
            "there is no one to ask about {}. It can be allowed with \
             --allowed-tools '{}' or another --permission-mode",
            ask.tool, ask.rule
        );
        Box::pin(async move { PermissionAnswer::Deny { reason } })
    }
}

/// Allows whatever no rule denies. For sandboxes.
#[derive(Clone, Copy, Debug, Default)]
pub struct AllowAll;

impl Approver for AllowAll {
    fn ask(&self, _: PermissionAsk) -> BoxFuture<'_, PermissionAnswer> {
        Box::pin(async { PermissionAnswer::Allow })
    }
}
