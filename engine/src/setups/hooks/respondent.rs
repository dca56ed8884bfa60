//! Who answers what a server wants to know: hooks, then the person, then hooks
//! once more.

use crate::session::agent_context::Agents;
use everfold_hooks::{ElicitationReply, Elicited, HookEvent, HookVerdict, Occasion};
use everfold_kernel::ports::question::{self, Wants};
use everfold_kernel::ports::{BoxFuture, Respondent, ServerAnswer, ServerQuestion};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Who answers servers while a tool runs; nobody where neither a person nor a
/// hook could.
pub(crate) fn respondent(
    agents: &Agents,
    person: Option<Arc<dyn Respondent>>,
) -> Option<Arc<dyn Respondent>> {
    let agents = agents.clone();
    let hears = agents.seat().config.setups.hooks.listens_to(HookEvent::Elicitation);
    (person.is_some() || hears).then(|| Arc::new(Responding { agents, person }) as _)
}

struct Responding {
    agents: Agents,
    person: Option<Arc<dyn Respondent>>,
}

impl Respondent for Responding {
    fn respond(&self, question: ServerQuestion) -> BoxFuture<'_, ServerAnswer> {
        Box::pin(async move {
            let (schema, url) = match &question.wants {
                Wants::Form { schema, .. } => (Some(schema), None),
                Wants::Visit(url) => (None, Some(url.as_str())),
            };
            let asked = Elicited {
                server: &question.server,
                message: &question.message,
                schema,
                url,
                id: question.id.as_deref(),
            };
            let said = self.fire(&Occasion::Elicitation(asked)).await;
            let answer = match said_of(said, &question) {
                Some(answer) => answer,
                None => self.ask(&question).await,
            };
            let content = match &answer {
                ServerAnswer::Accept(content) => Some(Value::Object(content.clone())),
                ServerAnswer::Decline | ServerAnswer::Cancel => None,
            };
            let action = answer.action();
            let result = Occasion::ElicitationResult { asked, action, content: content.as_ref() };
            said_of(self.fire(&result).await, &question).unwrap_or(answer)
        })
    }
}

impl Responding {
    async fn fire(&self, occasion: &Occasion<'_>) -> HookVerdict {
        let mode = self.agents.seat().config.permissions.mode.as_str();
        Box::pin(self.agents.fire_beside(mode, occasion)).await
    }

    async fn ask(&self, question: &ServerQuestion) -> ServerAnswer {
        let Some(person) = &self.person else { return ServerAnswer::Decline };
        let message = format!("The server {} needs your input", question.server);
        let kind = "elicitation_dialog";
        self.fire(&Occasion::Notification { message: &message, kind }).await;
        person.respond(question.clone()).await
    }
}

/// What hooks answer in the person's place. What does not fit the form is
/// declined.
fn said_of(verdict: HookVerdict, question: &ServerQuestion) -> Option<ServerAnswer> {
    if verdict.blocked.or(verdict.stop).is_some() {
        return Some(ServerAnswer::Decline);
    }
    let ElicitationReply { action, content } = verdict.wanted.reply?;
    Some(match action.as_str() {
        "accept" => {
            let content = match content {
                Some(Value::Object(content)) => content,
                _ => Map::new(),
            };
            let fits = match &question.wants {
                Wants::Form { fields, .. } => question::check(fields, &content),
                Wants::Visit(_) => Ok(()),
            };
            match fits {
                Ok(()) => ServerAnswer::Accept(content),
                Err(why) => {
                    tracing::warn!(%why, "the answer of a hook does not fit the form");
                    ServerAnswer::Decline
                }
            }
        }
        "cancel" => ServerAnswer::Cancel,
        _ => ServerAnswer::Decline,
    })
}
