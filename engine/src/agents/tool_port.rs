//! What tools see of the agents of a session.

use super::{Crew, Me};
use crate::tools::{AgentDesk, AgentIdentity, Order, StartError, Started};
use everfold_kernel::ToolUseId;
use everfold_kernel::ports::{BoxFuture, LetterDraft};

impl AgentDesk for Crew {
    fn who(&self) -> AgentIdentity {
        match &self.me {
            Me::Main => AgentIdentity::Main,
            Me::Agent { label, .. } => AgentIdentity::Agent { label: label.clone() },
        }
    }

    fn start<'a>(
        &'a self,
        order: Order,
        call: &'a ToolUseId,
    ) -> BoxFuture<'a, Result<Started, StartError>> {
        Box::pin(self.agents.start(order, call))
    }

    fn post(&self, to: &str, draft: &LetterDraft) -> Option<String> {
        self.agents.post(&draft.from, to, draft)
    }

    fn post_all(&self, draft: &LetterDraft) -> Vec<String> {
        self.agents.post_all(&self.me, draft)
    }

    fn leave(&self) {
        self.agents.leaves(&self.me);
    }

    fn known(&self) -> Vec<String> {
        self.agents.known()
    }
}
