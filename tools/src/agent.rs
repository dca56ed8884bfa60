//! Agent: work is handed to another agent (L7.4).

use crate::built_in::BuiltIn;
use crate::delegation::{AgentIdentity, Finished, Order, StartError, Started};
use crate::failure::Failure;
use crate::input::{self, Filled, InputError};
use crate::outcome::{BackgroundWork, ToolOutcome};
use crate::{ToolCall, ToolContext, ToolOutput};
use everfold_kernel::limits::AgentLimits;
use everfold_kernel::ports::{AgentName, PostError};
use everfold_kernel::provenance::{Carrier, Provenance, Source};
use everfold_kernel::{Class, Classify};
use everfold_mail::definition::FORK;
use everfold_mail::{Isolation, Roster, Running};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;

const NAME: &str = "Agent";

/// Starts agents. The kinds stand in its description, which is made once: it
/// is part of the cached prefix.
pub struct AgentTool {
    description: String,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Input<'a> {
    /// What it is for, in three to five words
    #[serde(borrow)]
    description: Filled<'a>,
    /// The task, with all that the agent has to know
    #[serde(borrow)]
    prompt: Filled<'a>,
    /// Which kind; the general one if none is given
    subagent_type: Option<&'a str>,
    /// Do not wait for its end
    run_in_background: Option<bool>,
    /// Let it work in a git worktree of its own
    isolation: Option<Place>,
    /// By what others write to it
    name: Option<&'a str>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Place {
    Worktree,
    #[schemars(skip)]
    None,
}

/// Why no agent was started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AgentError {
    #[error(transparent)]
    Input(#[from] InputError),
    #[error(transparent)]
    Name(#[from] PostError),
    #[error("{NAME} cannot be used here: agents do not start agents")]
    NotHere,
    #[error("{NAME} was refused: agents and forks do not start agents; do the task yourself")]
    NotByAgents,
    #[error(transparent)]
    Start(#[from] StartError),
}

impl Classify for AgentError {
    fn class(&self) -> Class {
        match self {
            Self::Name(error) => error.class(),
            Self::Start(error) => error.class(),
            _ => Class::Refuse,
        }
    }
}

impl Failure for AgentError {}

impl AgentTool {
    /// A tool that offers these kinds.
    #[must_use]
    pub fn new(roster: &Roster, limits: &AgentLimits) -> Self {
        let description = format!(
            "Hands a task to another agent and gives back its last message: work that would fill \
             this conversation with detail, or parts that can be done side by side (several calls \
             in one message). With run_in_background it returns an id at once, and you are told \
             when it ends; do not wait for it. With isolation \"worktree\" it works in a git \
             worktree of its own. A name lets others write to it with SendMessage. \
             Kinds:\n{}",
            roster.listing(limits)
        );
        Self { description }
    }
}

impl BuiltIn for AgentTool {
    const NAME: &'static str = NAME;
    // What the agent does is decided call by call: the call itself touches nothing.
    type Input = Input<'static>;
    type Error = AgentError;

    fn about(&self) -> Cow<'static, str> {
        self.description.clone().into()
    }

    async fn run(call: &ToolCall, context: &ToolContext) -> Result<ToolOutput, AgentError> {
        let order = parse(&call.input)?;
        let Some(agents) = &context.agents else {
            return Err(AgentError::NotHere);
        };
        if let AgentIdentity::Agent { .. } = agents.who() {
            return Err(AgentError::NotByAgents);
        }
        let (description, prompt) = (order.description.clone(), order.prompt.clone());
        let started = agents.start(order, &call.id).await?;
        let (id, log) = match started {
            Started::Ended(finished) => return Ok(answer(&finished, &description, &prompt)),
            Started::Background { id, log } => (id, log),
        };
        let text = format!(
            "Agent {id} runs in the background. You are told when it ends; its log is {}. Write to it \
         with SendMessage to {id:?}.",
            log.display()
        );
        let structured = json!({"description": description, "prompt": prompt, "outputFile": log});
        Ok(ToolOutput::text(Source::Command, text)
            .with_structured(structured)
            .in_background(BackgroundWork::Agent { id }))
    }
}

/// What a call asks this tool for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentWish {
    /// An agent that goes on from the conversation as it is.
    Fork,
    /// An agent of some kind, with a conversation of its own.
    Kind,
}

impl AgentWish {
    /// What a call asks for; none where it is no call of this tool, or one that
    /// is refused.
    #[must_use]
    pub fn of(call: &ToolCall) -> Option<Self> {
        let input: Input<'_> =
            (call.name == NAME).then(|| input::read(NAME, &call.input).ok()).flatten()?;
        let forks = input.subagent_type.is_some_and(|kind| kind.trim() == FORK);
        Some(if forks { Self::Fork } else { Self::Kind })
    }
}

fn parse(input: &Value) -> Result<Order, AgentError> {
    let input: Input<'_> = input::read(NAME, input)?;
    let name = input.name.map(str::trim).filter(|name| !name.is_empty());
    let running = input
        .run_in_background
        .map(|background| if background { Running::Background } else { Running::Foreground });
    Ok(Order {
        description: input.description.get().to_owned(),
        prompt: input.prompt.get().to_owned(),
        provenance: Provenance::MODEL,
        kind: input.subagent_type.map(str::to_owned),
        running,
        isolation: match input.isolation {
            Some(Place::Worktree) => Some(Isolation::Worktree),
            Some(Place::None) | None => None,
        },
        name: name.map(AgentName::parse).transpose()?,
    })
}

fn answer(finished: &Finished, description: &str, prompt: &str) -> ToolOutput {
    let Finished { id, how, success, text, more, requests, tool_calls, usage, source } = finished;
    let mut parts = Vec::new();
    if !success {
        parts.push(format!("The agent {id} was not done: {how}."));
    }
    if !text.trim().is_empty() {
        parts.push(text.trim().to_owned());
    }
    if !more.is_empty() {
        parts.push(more.clone());
    }
    if parts.is_empty() {
        parts.push("The agent ended and said nothing.".to_owned());
    }
    let provenance = Provenance::through(Carrier::Agent, *source);
    let output = ToolOutput::text(provenance, parts.join("\n\n")).with_structured(json!({
        "agentId": id, "description": description, "prompt": prompt, "status": how,
        "content": [{"type": "text", "text": text}],
        "totalToolUseCount": tool_calls, "totalRequests": requests,
        "totalTokens": usage.total(), "usage": usage,
    }));
    if *success { output } else { ToolOutput { outcome: ToolOutcome::Failed, ..output } }
}
