//! One record as one line, and back.
//!
//! [`encode`] and [`decode`] are inverse: a record that was written comes back
//! equal (times to the millisecond). Reading is tolerant: what is not known is
//! kept as [`Entry::Opaque`](everfold_kernel::Entry::Opaque) and shown to no
//! model, and an unknown field is never an error. This module sees one line at
//! a time; what lines mean together is [`chain`](crate::chain)'s business.

mod decode;
pub(crate) mod encode;
mod packed;
mod repair;
mod text_form;

pub use decode::{decode, decode_said, decode_shown};
pub use encode::encode;
pub use packed::{Packed, Restored};

use crate::envelope::{ForkedFrom, Side};
use everfold_kernel::{Class, Classify, Record, RecordId, SessionId};
use serde_json::{Map, Value};

/// Key of a boundary's metadata that names the record which the preserved
/// ones follow: the summary. A prefix that was kept follows the boundary
/// itself and needs none.
pub const ANCHOR: &str = "anchorUuid";

/// Subtypes of our own lines start with this.
pub(crate) const DECISION_PREFIX: &str = "everfold_";
/// Says who wrote a user message, where its form does not.
const ORIGIN: &str = "everfoldOrigin";
/// Holds an attachment's data where it cannot stand beside the kind.
const DATA: &str = "everfoldData";
/// Under `everfold`: whose words the blocks of a message are.
const PROVENANCE: &str = "provenance";
/// The model that lines name which no model wrote.
const SYNTHETIC: &str = "<synthetic>";

/// One line as JSON, with the same repairs as [`decode`]: for lines of other
/// forms than this crate's.
///
/// # Errors
///
/// When it is not a JSON object.
pub fn object(line: &[u8]) -> Result<Map<String, Value>, LineError> {
    match repair::parse(line)?.0 {
        Value::Object(fields) => Ok(fields),
        _ => Err(LineError::NotAnObject),
    }
}

/// What a line is.
#[derive(Clone, Debug, PartialEq)]
pub enum Decoded {
    /// A record of a conversation.
    Record(Box<Line>),
    /// A link of the chain that says nothing: progress of a tool.
    Link(Box<Link>),
    /// A line beside the conversation, whole.
    Bookkeeping(Value),
}

/// A record and what its line said besides.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub record: Record,
    /// Further blocks of the same response, where another tool wrote several
    /// into one line. Their ids are made from the line's.
    pub rest: Vec<Record>,
    /// What stood around it.
    pub facts: Facts,
    /// The compressed copy of its content, where the record has what the model
    /// saw ([`decode_shown`]).
    pub packed: Option<Packed>,
}

/// A line that only links others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub id: RecordId,
    /// The line before it.
    pub parent: Option<RecordId>,
    /// What stood around it.
    pub facts: Facts,
}

/// What a line says besides its record. All of it may be missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    pub session: Option<SessionId>,
    pub cwd: Option<String>,
    pub git_branch: Option<String>,
    /// Version of the program that wrote it.
    pub version: Option<String>,
    /// Whose conversation it is.
    pub side: Side,
    /// The record of the call that a result answers.
    pub source_tool_assistant: Option<RecordId>,
    /// Its original, for a line of a fork.
    pub forked_from: Option<ForkedFrom>,
    /// What the line did not say, or said in a broken way.
    pub gaps: Vec<Gap>,
}

/// Something about a line that was filled in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gap {
    /// It had no time that can be read; the record has the Unix epoch.
    Time,
    /// A response's block did not say its position; the record has 0.
    BlockIndex,
    /// Its text was broken, and the broken characters were replaced.
    Text,
    /// The compressed copy of its content was damaged; the record has what the
    /// model saw.
    Packed,
}

/// Why a line was not read.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// It is not JSON: torn, or never one.
    #[error("the line is not JSON and was skipped: {0}")]
    Json(#[from] serde_json::Error),
    /// It is JSON, but no object.
    #[error("the line is not a JSON object and was skipped")]
    NotAnObject,
    /// It has the type of a message but no id, so it has no place.
    #[error("the line is a message without a uuid and was skipped")]
    NoUuid,
}

impl Classify for LineError {
    fn class(&self) -> Class {
        Class::Degrade
    }
}
