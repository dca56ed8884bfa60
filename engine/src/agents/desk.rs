//! What tools see of the agents of a session, and of its hooks.

use super::{Crew, Me};
use crate::hooking::{request_beside, respondent};
use crate::tools::{AgentDesk, Order, StartError, Started, ToolCall, ToolContext, ToolHooks, Who};
use everfold_hooks::Permission;
use everfold_kernel::ToolUseId;
use everfold_kernel::ports::{Answer, BoxFuture, Draft, Respondent};
use std::sync::Arc;

impl AgentDesk for Crew {
    fn who(&self) -> Who {
        match &self.me {
            Me::Main => Who::Main,
            Me::Agent { label, .. } => Who::Agent { label: label.clone() },
        }
    }

    fn start<'a>(
        &'a self,
        order: Order,
        call: &'a ToolUseId,
    ) -> BoxFuture<'a, Result<Started, StartError>> {
        Box::pin(async move { self.agents.start(order, call).await.map_err(StartError::Refused) })
    }

    fn post(&self, to: &str, draft: &Draft) -> Option<String> {
        self.agents.post(&draft.from, to, draft)
    }

    fn post_all(&self, draft: &Draft) -> Vec<String> {
        self.agents.post_all(&self.me, draft)
    }

    fn leave(&self) {
        self.agents.leaves(&self.me);
    }

    fn known(&self) -> Vec<String> {
        self.agents.known()
    }
}

impl ToolHooks for Crew {
    fn permission<'a>(
        &'a self,
        call: &'a ToolCall,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Option<Answer>> {
        Box::pin(async move {
            let (permission, reason) = request_beside(&self.agents, context, call).await?;
            Some(match permission {
                Permission::Deny => Answer::Deny { reason },
                _ => Answer::Allow,
            })
        })
    }

    fn respondent(&self, person: Option<Arc<dyn Respondent>>) -> Option<Arc<dyn Respondent>> {
        respondent(&self.agents, person)
    }
}

impl Crew {
    /// Lets the tools of a context reach the agents and the hooks.
    pub(crate) fn seat_at(&self, context: &mut ToolContext) {
        let own = Arc::new(self.clone());
        context.agents = Some(own.clone());
        context.hooks = Some(own);
    }
}
