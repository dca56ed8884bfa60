//! What every line says besides its record: where and by whom it was written.

use everfold_kernel::{RecordId, SessionId, ToolUseId};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Facts of a session that are repeated on each of its lines.
///
/// The last three belong to single lines: a writer sets them on a copy, with
/// [`Envelope::answering`], [`Envelope::forked_from`] and [`Envelope::showing`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The session; in a sub-agent's file the session that started it.
    pub session: SessionId,
    pub cwd: String,
    /// Version of the program that writes.
    pub version: String,
    /// The branch that is checked out; none outside git.
    pub git_branch: Option<String>,
    /// How the program was started, such as `cli`.
    pub entrypoint: String,
    /// Whose conversation it is.
    pub side: Side,
    /// For a tool's result: the record of the call.
    pub source_tool_assistant: Option<RecordId>,
    /// For a copy in a fork: the original.
    pub forked_from: Option<ForkedFrom>,
    /// For results that go to disk: what the model sees of each. They are
    /// written in short, with a compressed copy (L1).
    pub previews: BTreeMap<ToolUseId, String>,
}

/// Whose conversation a line belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Side {
    /// The conversation with the person.
    #[default]
    Main,
    /// A sub-agent's or a teammate's, with its id where it has one.
    Agent(Option<String>),
}

/// Where a copied record came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForkedFrom {
    pub session: SessionId,
    pub record: RecordId,
}

impl Envelope {
    /// An envelope of the main conversation, outside git.
    pub fn new(session: SessionId, cwd: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            session,
            cwd: cwd.into(),
            version: version.into(),
            git_branch: None,
            entrypoint: "cli".into(),
            side: Side::Main,
            source_tool_assistant: None,
            forked_from: None,
            previews: BTreeMap::new(),
        }
    }

    /// The same for a tool's result, with the record of the call.
    #[must_use]
    pub fn answering(mut self, call: RecordId) -> Self {
        self.source_tool_assistant = Some(call);
        self
    }

    /// The same for a result that goes to disk, with what the model sees of it.
    #[must_use]
    pub fn showing(mut self, call: ToolUseId, preview: String) -> Self {
        self.previews.insert(call, preview);
        self
    }

    /// The same for a copy, with its original.
    #[must_use]
    pub fn forked_from(mut self, original: ForkedFrom) -> Self {
        self.forked_from = Some(original);
        self
    }
}

impl ForkedFrom {
    /// Its form in a line.
    pub(crate) fn to_value(&self) -> Value {
        json!({"sessionId": self.session, "messageUuid": self.record})
    }
}
