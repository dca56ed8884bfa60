//! What is out of the model's view, brought back by its id (L1.8, L2.5, L4.16).

use crate::ToolContext;
use everfold_kernel::ports::{BoxFuture, TranscriptError};
use everfold_kernel::provenance::Provenance;
use everfold_kernel::{Class, Classify, SessionId, Timestamp};

/// Finds what an id stands for.
pub trait Lookup: Send + Sync {
    /// What a tool call's id, a record's uuid or `uuid..uuid` stands for in the
    /// context's session.
    fn find<'a>(
        &'a self,
        context: &'a ToolContext,
        id: &'a str,
    ) -> BoxFuture<'a, Result<Recalled, RecallError>>;
}

/// Something that was brought back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recalled {
    pub kind: RecalledKind,
    /// The tool whose result it is, where the log was asked.
    pub tool: Option<String>,
    pub text: String,
    /// When it was written, where the log was asked.
    pub at: Option<Timestamp>,
    /// Whose words it holds, where the log was asked and says so (L5.33).
    pub provenance: Option<Provenance>,
}

/// What an id stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecalledKind {
    /// The result of a tool call.
    Result,
    /// One record of the conversation.
    Message,
    /// Records from one to another, in short form.
    Span,
}

impl RecalledKind {
    /// Its name, for people and programs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Result => "result",
            Self::Message => "message",
            Self::Span => "span",
        }
    }
}

/// Why nothing could be brought back.
#[derive(Debug, thiserror::Error)]
pub enum RecallError {
    /// The id is empty or far too long.
    #[error("an id is a tool call's id, a record's uuid or two uuids as first..last; this is none")]
    NoId,
    /// The id is a path.
    #[error("{id:?} is a path, and ids are names; read a file with Read")]
    Path { id: String },
    /// Nothing has this id.
    #[error(
        "nothing in session {session} has the id {id:?}; use an id that a marker or a summary names"
    )]
    Unknown {
        id: String,
        /// Where it was looked for.
        session: SessionId,
    },
    /// The call is there, its result is not.
    #[error("the call {id:?} has no result")]
    NoResult { id: String },
    /// A span ends before it begins, or nowhere.
    #[error("no record {last:?} comes after {first:?}; give the earlier one first")]
    Backwards {
        /// The first record.
        first: String,
        /// The last record.
        last: String,
    },
    /// The log cannot be read.
    #[error(transparent)]
    Transcript(#[from] TranscriptError),
}

impl Classify for RecallError {
    fn class(&self) -> Class {
        match self {
            Self::Transcript(error) => error.class(),
            _ => Class::Refuse,
        }
    }
}
