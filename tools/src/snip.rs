//! `Snip`: the model takes a range of the conversation out of its own view
//! (L4.14). The tool only asks; the engine does it once all results of the
//! answer are in the log.

use everfold_kernel::ports::BoxFuture;
use everfold_kernel::provenance::Source;
use everfold_kernel::{Class, Classify};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;

use crate::failure::Failure;
use crate::input::{self, Filled, InputError};
use crate::{Access, Tool, ToolCall, ToolContext, ToolOutput, ToolSpec, schema};

const NAME: &str = "Snip";

/// Whether ranges may be taken out of view by a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Snipping {
    /// They may.
    #[default]
    On,
    /// They may not: the tool is refused.
    Off,
}

/// A range that the model wants out of view, in the words that it used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnipRequest {
    /// The first record, or the id of a tool call.
    pub from: String,
    /// The last record, or the id of a tool call.
    pub to: String,
}

/// Takes a range out of view.
pub(crate) struct Snip;

#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Input<'a> {
    /// The first record's uuid, or a tool call's id
    #[serde(borrow)]
    from: Filled<'a>,
    /// The last record's uuid, or a tool call's id
    #[serde(borrow)]
    to: Filled<'a>,
}

/// Why nothing is taken out.
#[derive(Debug, thiserror::Error)]
enum SnipError {
    #[error(transparent)]
    Input(#[from] InputError),
    #[error("snipping is off (flag snip); nothing was removed")]
    Off,
}

impl Classify for SnipError {
    fn class(&self) -> Class {
        Class::Refuse
    }
}

impl Failure for SnipError {}

impl Tool for Snip {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: NAME.into(),
            description:
                "Takes a range of this conversation out of your view, to make room: a detour that \
                led nowhere, results that are used up. Both ends are ids of records or of tool \
                calls; the range grows to whole exchanges. Nothing is lost: ResultRead reads it \
                again, and the person can undo it."
                    .into(),
            input_schema: schema::of::<Input<'_>>(),
        }
    }

    fn name(&self) -> Cow<'static, str> {
        NAME.into()
    }

    fn access(&self, _input: &Value, _context: &ToolContext) -> Access {
        Access::Nothing
    }

    fn run<'a>(
        &'a self,
        call: &'a ToolCall,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move { run(&call.input, context).unwrap_or_else(ToolOutput::from) })
    }
}

fn run(input: &Value, context: &ToolContext) -> Result<ToolOutput, SnipError> {
    if context.snipping == Snipping::Off {
        return Err(SnipError::Off);
    }
    let Input { from, to } = input::read(NAME, input)?;
    let (from, to) = (from.trim().to_owned(), to.trim().to_owned());
    let text = format!(
        "The range from {from} to {to} is taken out of view with the next request. \
         If it cannot be, a note says why."
    );
    let structured = json!({"from": from, "to": to});
    context.request_snip(SnipRequest { from, to });
    Ok(ToolOutput::text(Source::Command, text).with_structured(structured))
}
