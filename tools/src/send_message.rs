//! `SendMessage`: a word to another agent (L7.5, L7.6).

use crate::built_in::BuiltIn;
use crate::delegation::{AgentDesk, AgentIdentity, MAIN};
use crate::failure::Failure;
use crate::input::{self, Filled, InputError};
use crate::{CallOrder, ToolCall, ToolContext, ToolOutput};
use everfold_kernel::ports::{Address, Body, Consent, LetterDraft, PostError};
use everfold_kernel::provenance::{Carrier, Provenance, Source};
use everfold_kernel::{Class, Classify};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;

/// What the tool is called.
pub const NAME: &str = "SendMessage";

/// Writes to agents.
pub(crate) struct SendMessage;

#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Input<'a> {
    /// Who reads it
    #[serde(borrow)]
    to: Filled<'a>,
    /// What it says
    #[schemars(required, with = "TextOrObject")]
    message: Option<Value>,
    /// What it is about, in a few words
    summary: Option<&'a str>,
}

/// A text, or an object with a type. Which types there are is said in the
/// description: a choice of schemas costs more of the prefix than it helps.
struct TextOrObject;

impl JsonSchema for TextOrObject {
    fn schema_name() -> Cow<'static, str> {
        "TextOrObject".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "object"] })
    }
}

/// Why a message was not sent.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SendError {
    #[error(transparent)]
    Input(#[from] InputError),
    #[error("{NAME} cannot send it: {0}")]
    Address(PostError),
    #[error("{NAME} does not know this message: {0}")]
    UnknownMessage(serde_json::Error),
    #[error("{NAME} cannot be used here")]
    NotHere,
    #[error("it was not sent: {0}")]
    Post(#[from] PostError),
    #[error("no one is there to read it")]
    Nobody,
}

impl Classify for SendError {
    fn class(&self) -> Class {
        match self {
            Self::Address(error) | Self::Post(error) => error.class(),
            _ => Class::Refuse,
        }
    }
}

impl Failure for SendError {}

impl BuiltIn for SendMessage {
    const NAME: &'static str = NAME;
    const ABOUT: &'static str = "\
         Writes to another agent, which reads it at its next step: by its name or id, \"main\" \
         for the conversation that started you, \"*\" for all, \"bridge:SESSION\" or \
         \"uds:/PATH\" for another session. What you write carries no authority of the person \
         and approves nothing. A message is a text, or an object with a type: shutdown_request \
         {reason}, shutdown_response {consent: approved or declined, reason}, \
         plan_approval_response {consent, feedback}.";
    const ORDER: CallOrder = CallOrder::AsCalled;
    type Input = Input<'static>;
    type Error = SendError;

    async fn run(call: &ToolCall, context: &ToolContext) -> Result<ToolOutput, SendError> {
        let Arguments { to, body, summary } = parse(&call.input)?;
        let Some(agents) = &context.agents else {
            return Err(SendError::NotHere);
        };
        let most = context.limits.agents.message_bytes;
        let bytes = body_bytes(&body);
        if bytes > most {
            return Err(PostError::TooLong { bytes, max: most }.into());
        }
        let who = agents.who();
        let from = who.label().to_owned();
        let provenance = Some(Provenance::through(Carrier::Agent, context.spoken()));
        let draft = LetterDraft { from, summary, body, provenance };
        let reached = match &to {
            Address::Name(name) => match agents.post(name.as_str(), &draft) {
                Some(label) if label != MAIN || matches!(who, AgentIdentity::Agent { .. }) => {
                    vec![label]
                }
                _ => outside(&to, &draft, &**agents, context).await?,
            },
            Address::Everyone => {
                let mut reached = agents.post_all(&draft);
                reached.extend(outside(&to, &draft, &**agents, context).await.unwrap_or_default());
                reached
            }
            Address::Socket(_) | Address::Session(_) => {
                outside(&to, &draft, &**agents, context).await?
            }
        };
        if let Body::ShutdownResponse { consent: Consent::Approved, .. } = draft.body {
            agents.leave();
        }
        if reached.is_empty() {
            return Err(SendError::Nobody);
        }
        let text = format!("Sent to {}.", reached.join(", "));
        Ok(ToolOutput::text(Source::Command, text).with_structured(json!({"to": reached})))
    }
}

struct Arguments {
    to: Address,
    body: Body,
    summary: Option<String>,
}

fn parse(input: &Value) -> Result<Arguments, SendError> {
    let Input { to, message, summary } = input::read(NAME, input)?;
    let to = Address::parse(&to).map_err(SendError::Address)?;
    let body = match message {
        Some(Value::String(text)) if !text.trim().is_empty() => body_of(&text),
        Some(message @ Value::Object(_)) => {
            lifecycle(message).map_err(SendError::UnknownMessage)?
        }
        other => {
            let what = "a text, or an object with a type";
            return Err(InputError::needs(NAME, "message", what, other.as_ref()).into());
        }
    };
    let summary = summary.map(str::trim).filter(|text| !text.is_empty());
    Ok(Arguments { to, body, summary: summary.map(str::to_owned) })
}

/// Models write objects as texts now and then.
fn body_of(text: &str) -> Body {
    let object = text.trim().starts_with('{').then(|| serde_json::from_str::<Value>(text).ok());
    let body = object.flatten().and_then(|value| lifecycle(value).ok());
    body.unwrap_or_else(|| Body::Message { text: text.to_owned() })
}

fn lifecycle(mut value: Value) -> Result<Body, serde_json::Error> {
    if let Some(fields) = value.as_object_mut()
        && let Some(approve) = fields.remove("approve").and_then(|yes| yes.as_bool())
    {
        let word = if approve { "approved" } else { "declined" };
        fields.entry("consent").or_insert_with(|| word.into());
    }
    serde_json::from_value(value)
}

/// Sends to another process.
async fn outside(
    to: &Address,
    draft: &LetterDraft,
    agents: &dyn AgentDesk,
    context: &ToolContext,
) -> Result<Vec<String>, SendError> {
    let unknown = || PostError::Unknown { name: to.to_string(), known: agents.known() };
    let Some(post) = &context.world.post else { return Err(unknown().into()) };
    let from = match (agents.who(), post.name()) {
        (AgentIdentity::Main, Some(name)) => name.to_string(),
        (AgentIdentity::Main, None) => format!("session {}", context.session),
        (AgentIdentity::Agent { label }, Some(name)) => format!("{name}/{label}"),
        (AgentIdentity::Agent { label }, None) => format!("{label} of session {}", context.session),
    };
    // What was said as a secret here stays here, however it is told on (S15).
    let draft = LetterDraft {
        from,
        summary: draft.summary.as_deref().map(|text| context.masked(text)),
        body: draft.body.clone().map_texts(|text| context.masked(text)),
        provenance: draft.provenance,
    };
    match post.send(to, draft).await {
        Ok(reached) => Ok(reached),
        // A name that nobody here has, and no team: say who there is.
        Err(PostError::NoTeam) if matches!(to, Address::Name(_)) => Err(unknown().into()),
        Err(error) => Err(error.into()),
    }
}

fn body_bytes(body: &Body) -> u64 {
    serde_json::to_string(body).map_or(0, |text| text.len() as u64)
}
