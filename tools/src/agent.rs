//! Agent: work is handed to another agent (L7.4).

use crate::delegation::{Finished, Order, Started, Who};
use crate::input::Input;
use crate::{Access, Refusal, Tool, ToolCall, ToolContext, ToolOutput, ToolSpec};
use everfold_kernel::limits::AgentLimits;
use everfold_kernel::ports::{AgentName, BoxFuture};
use everfold_kernel::provenance::{Carrier, Provenance, Source};
use everfold_mail::definition::FORK;
use everfold_mail::{Isolation, Roster, Running};
use serde_json::{Value, json};

/// Its name.
pub const NAME: &str = "Agent";

/// Starts agents. The kinds stand in its description, which is made once: it
/// is part of the cached prefix.
pub struct AgentTool {
    description: String,
}

impl AgentTool {
    /// A tool that offers these kinds.
    #[must_use]
    pub fn new(roster: &Roster, limits: &AgentLimits) -> Self {
        let description = format!(
            "Hands a task to another agent and gives back its last message. Use it for work that \
             would fill this conversation with detail that it does not need, or for parts that can \
             be done side by side: several calls in one message run at the same time. With \
             run_in_background it returns an id at once, and you are told when it ends; do not wait \
             or ask for it. With isolation \"worktree\" it works in a git worktree of its own, and \
             you are told where its changes are. A name lets others write to it with SendMessage. \
             Kinds:\n{}",
            roster.listing(limits)
        );
        Self { description }
    }
}

impl Tool for AgentTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: NAME.into(),
            description: self.description.clone().into(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "description": {
                        "type": "string",
                        "description": "What it is for, in three to five words"
                    },
                    "prompt": {
                        "type": "string",
                        "description": "The task, with all that the agent has to know"
                    },
                    "subagent_type": {
                        "type": "string",
                        "description": "Which kind; the general one if none is given"
                    },
                    "run_in_background": {
                        "type": "boolean",
                        "description": "Do not wait for its end"
                    },
                    "isolation": {
                        "type": "string",
                        "enum": ["worktree"],
                        "description": "Let it work in a git worktree of its own"
                    },
                    "name": {
                        "type": "string",
                        "description": "By what others write to it"
                    }
                },
                "required": ["description", "prompt"],
                "additionalProperties": false
            }),
        }
    }

    fn access(&self, _input: &Value, _context: &ToolContext) -> Access {
        // What the agent does is decided call by call.
        Access::Nothing
    }

    fn run<'a>(
        &'a self,
        call: &'a ToolCall,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move { run(call, context).await.unwrap_or_else(ToolOutput::from) })
    }
}

/// Whether a call asks for a fork.
#[must_use]
pub fn asks_for_fork(input: &Value) -> bool {
    input.get("subagent_type").and_then(Value::as_str).is_some_and(|kind| kind.trim() == FORK)
}

fn parse(input: &Value) -> Result<Order, Refusal> {
    let input = Input::of(NAME, input)?;
    let name = input.optional_text("name")?.map(str::trim).filter(|name| !name.is_empty());
    let name =
        name.map(AgentName::parse).transpose().map_err(|error| Refusal::new(error.to_string()))?;
    let isolation = match input.optional_text("isolation")?.map(str::trim) {
        None | Some("" | "none") => None,
        Some("worktree") => Some(Isolation::Worktree),
        Some(_) => return Err(input.needs("isolation", "\"worktree\"", input.field("isolation"))),
    };
    let running = match input.field("run_in_background") {
        None => None,
        Some(_) if input.flag("run_in_background")? => Some(Running::Background),
        Some(_) => Some(Running::Foreground),
    };
    Ok(Order {
        description: input.filled_text("description")?.to_owned(),
        prompt: input.filled_text("prompt")?.to_owned(),
        provenance: Provenance::MODEL,
        kind: input.optional_text("subagent_type")?.map(str::to_owned),
        running,
        isolation,
        name,
    })
}

async fn run(call: &ToolCall, context: &ToolContext) -> Result<ToolOutput, Refusal> {
    let order = parse(&call.input)?;
    let Some(agents) = &context.agents else {
        return Err(Refusal::new("Agent cannot be used here: agents do not start agents"));
    };
    if let Who::Agent { .. } = agents.who() {
        return Err(Refusal::new(
            "Agent was refused: agents and forks do not start agents; do the task yourself",
        ));
    }
    let (description, prompt) = (order.description.clone(), order.prompt.clone());
    let started = agents.start(order, &call.id).await?;
    Ok(match started {
        Started::Background { id, log } => ToolOutput::text(
            Source::Command,
            format!(
                "Agent {id}{IN_BACKGROUND} You are told when it ends; its log is {}. Write to \
             it with SendMessage to {id:?}.",
                log.display()
            ),
        )
        .with_structured(json!({
            "agentId": id, "description": description, "prompt": prompt,
            "status": "async_launched", "outputFile": log,
        })),
        Started::Ended(finished) => answer(&finished, &description, &prompt),
    })
}

/// The words after the name of something that was started in the background.
const IN_BACKGROUND: &str = " runs in the background.";

/// The agent or command that a result says was started in the background.
#[must_use]
pub fn started_in_background(result: &str) -> Option<String> {
    let agent = result.strip_prefix("Agent ").and_then(|rest| rest.split_once(IN_BACKGROUND));
    let id = agent.map(|(id, _)| id).or_else(|| crate::bash::started(result))?;
    (!id.contains(char::is_whitespace)).then(|| id.to_owned())
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
    ToolOutput { is_error: !success, ..output }
}
