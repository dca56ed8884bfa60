//! `Snip`: the model takes a range of the conversation out of its own view
//! (L4.14). The tool only asks; the engine does it once all results of the
//! answer are in the log.

use everfold_kernel::provenance::Source;
use everfold_kernel::{Class, Classify};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::built_in::BuiltIn;
use crate::failure::Failure;
use crate::input::{self, Filled, InputError};
use crate::{ToolCall, ToolContext, ToolOutput};

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
pub(crate) struct Input<'a> {
    /// The first record's uuid, or a tool call's id
    #[serde(borrow)]
    from: Filled<'a>,
    /// The last record's uuid, or a tool call's id
    #[serde(borrow)]
    to: Filled<'a>,
}

/// Why nothing is taken out.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SnipError {
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

impl BuiltIn for Snip {
    const NAME: &'static str = NAME;
    const ABOUT: &'static str = "\
         Takes a range of this conversation out of your view, to make room: a detour that led \
         nowhere, results that are used up. Both ends are ids of records or of tool calls; the \
         range grows to whole exchanges. Nothing is lost: ResultRead reads it again, and the \
         person can undo it.";
    type Input = Input<'static>;
    type Error = SnipError;

    async fn run(call: &ToolCall, context: &ToolContext) -> Result<ToolOutput, SnipError> {
        if context.snipping == Snipping::Off {
            return Err(SnipError::Off);
        }
        let Input { from, to } = input::read(NAME, &call.input)?;
        let (from, to) = (from.trim().to_owned(), to.trim().to_owned());
        let text = format!(
            "The range from {from} to {to} is taken out of view with the next request. \
         If it cannot be, a note says why."
        );
        let structured = json!({"from": from, "to": to});
        context.request_snip(SnipRequest { from, to });
        Ok(ToolOutput::text(Source::Command, text).with_structured(structured))
    }
}
