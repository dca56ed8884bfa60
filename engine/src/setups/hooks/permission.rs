//! Hooks that are called where no session is at hand: by whoever starts an
//! agent, and by a tool while it runs.

use super::handlers::Handlers;
use super::respondent::respondent;
use super::tool_events::{Said, told};
use crate::session::agent_context::{Agents, Crew};
use crate::tools::{ToolCall, ToolContext, ToolHooks};
use everfold_hooks::{
    CommonFields, Handler, HandlerAnswer, HookVerdict, Noted, Occasion, Permission, Waits,
};
use everfold_kernel::ports::{self, BoxFuture, Respondent};
use everfold_kernel::settings::PermissionMode;
use futures_util::future::join_all;
use serde_json::Value;
use std::sync::Arc;

/// Asks hooks in the person's place about a call that asks by itself, while
/// it runs.
pub(crate) async fn request_beside(
    agents: &Agents,
    context: &ToolContext,
    call: &ToolCall,
) -> Said {
    let mode = agents.seat().config.permissions.mode;
    let mode = if context.plan_file().is_some() { PermissionMode::Plan } else { mode };
    let call = told(call);
    let request = Occasion::PermissionRequest { call, suggestions: &Value::Array(Vec::new()) };
    Box::pin(agents.fire_beside(mode.as_str(), &request)).await.permission
}

impl Agents {
    /// Calls the handlers of an occasion, and waits for those that are heard.
    pub(crate) async fn fire_beside(&self, mode: &str, occasion: &Occasion<'_>) -> HookVerdict {
        let (seat, event) = (self.seat(), occasion.event());
        let registry = Arc::clone(&seat.config.setups.hooks);
        let mut verdict = HookVerdict::default();
        if !registry.listens_to(event) {
            return verdict;
        }
        let cwd = seat.config.workplace.roots.first().cloned().unwrap_or_default();
        let base = CommonFields {
            session_id: seat.session.as_str(),
            transcript_path: &seat.world.transcripts.path(&seat.session),
            cwd: &cwd,
            permission_mode: mode,
            effort: seat.config.models.effort.as_deref(),
            agent: None,
        };
        let handlers = Handlers {
            world: seat.world.clone(),
            config: Arc::clone(&seat.config),
            books: seat.books.clone(),
            agents: self.clone(),
            parent: None,
            event,
            input: occasion.input(&base).to_string(),
            cwd: cwd.clone(),
            env_file: None,
        };
        let (unheard, heard): (Vec<&Handler>, Vec<&Handler>) = registry
            .called(occasion)
            .into_iter()
            .partition(|handler| event.is_unheard() || handler.waits != Waits::Yes);
        for handler in unheard {
            handlers.clone().start(handler);
        }
        let ran = join_all(heard.iter().map(|handler| handlers.run(handler))).await;
        for (handler, run) in heard.into_iter().zip(ran) {
            verdict.add(event, handler.name(), HandlerAnswer::read(event, &run));
        }
        for note in std::mem::take(&mut verdict.notes) {
            match note {
                Noted::Said(text) => tracing::info!(text, "a hook said something"),
                Noted::Failed { handler, reason } => {
                    tracing::warn!(handler, reason, "a hook failed");
                }
            }
        }
        verdict
    }
}

impl ToolHooks for Crew {
    fn permission<'a>(
        &'a self,
        call: &'a ToolCall,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Option<ports::PermissionAnswer>> {
        Box::pin(async move {
            let (permission, reason) = request_beside(&self.agents, context, call).await?;
            Some(match permission {
                Permission::Deny => ports::PermissionAnswer::Deny { reason },
                _ => ports::PermissionAnswer::Allow,
            })
        })
    }

    fn respondent(&self, person: Option<Arc<dyn Respondent>>) -> Option<Arc<dyn Respondent>> {
        respondent(&self.agents, person)
    }
}
