//! What a layer or a tool wants of the outside world, and what came of it.
//!
//! Layers do no I/O. They answer with records, or with an [`Effect`]; the
//! engine performs it and hands back the [`EffectOutcome`].

use crate::block::{Block, Role};
use crate::error::Class;
use crate::ids::ModelId;
use crate::usage::{QuerySource, Usage};
use serde_json::Value;
use std::path::PathBuf;

/// Something to be done outside.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    Ask(Ask),
    /// Write a tool result beside the transcript, once and for ever.
    Spill {
        /// The file's name in the session's `tool-results`.
        file: String,
        content: String,
    },
    /// Read files as they are now.
    ReadFiles {
        /// Which, in order.
        paths: Vec<PathBuf>,
        /// Most bytes of each.
        max_bytes: u64,
    },
}

/// A question to a model outside the conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    /// For whom it is booked.
    pub source: QuerySource,
    pub shape: AskShape,
    /// Most tokens of the answer.
    pub max_tokens: u64,
}

/// What a question carries.
#[derive(Clone, Debug, PartialEq)]
pub enum AskShape {
    /// The parent's exact bytes and a directive after them: the prompt cache
    /// of the conversation is read.
    Fork {
        /// The last message.
        directive: String,
    },
    /// What the parent's last request held, and a directive after it: all of
    /// it is in the prompt cache, and nothing that came since is sent (E9).
    Cached {
        /// The last message.
        directive: String,
    },
    /// The parent's system prompt and tools with other messages: for when its
    /// bytes are too long, or cached nowhere and dearer than they need be.
    Conversation {
        /// The messages, valid as they are; the first is the user's.
        messages: Vec<(Role, Vec<Block>)>,
        /// What the user says last.
        directive: String,
    },
    /// The parent's first messages and a directive after them, answered in a
    /// form: a server of one's own has read all but the directive (Q18).
    Form {
        /// How many of its messages.
        messages: usize,
        /// The last message.
        directive: String,
        /// The JSON schema of the answer.
        schema: Value,
    },
    /// A small request of its own.
    Side {
        /// The model; none is the small model.
        model: Option<ModelId>,
        system: String,
        prompt: String,
        /// The JSON schema of the answer, if it has to follow one.
        schema: Option<Value>,
    },
}

/// What came of an effect.
#[derive(Clone, Debug, PartialEq)]
pub enum EffectOutcome {
    Answered {
        text: String,
        usage: Usage,
    },
    /// The file is there, under this path.
    Spilled {
        path: PathBuf,
    },
    /// What could be read, in the order in which it was asked for.
    Files(Vec<(PathBuf, String)>),
    /// The conversation that was asked about does not fit the window.
    TooLong {
        /// Tokens of the request, where the server said so.
        actual: Option<u64>,
        /// Tokens that are allowed, where the server said so.
        maximum: Option<u64>,
    },
    /// It could not be done.
    Failed {
        /// What can be done about it.
        class: Class,
        /// Why, for the log and for people.
        reason: String,
    },
}
