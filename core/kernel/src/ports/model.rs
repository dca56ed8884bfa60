//! Asking a model.

use super::{BoxFuture, RequestBody};
use crate::block::Block;
use crate::error::{Class, Classify};
use crate::ids::{MessageId, ModelId, RequestId};
use crate::record::{CacheTtl, Dialect};
use crate::usage::{QuerySource, Usage};
use futures_core::Stream;
use jiff::Timestamp;
use serde_json::Value;
use std::pin::Pin;
use std::time::Duration;

/// A provider of models.
pub trait Model: Send + Sync {
    /// Sends a request and streams the answer. Failures that may pass are
    /// tried again inside; what comes out as an error is final.
    fn call(&self, call: ModelCall) -> BoxFuture<'_, Result<ModelStream, ModelError>>;

    /// The form in which it takes requests.
    fn dialect(&self) -> Dialect;

    fn kind(&self) -> ModelKind {
        ModelKind::Language
    }

    /// What the server last said is left of its rate limit, if it did.
    fn headroom(&self) -> Option<Headroom> {
        None
    }
}

/// What is left of a provider's rate limit, by the one that is nearest its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headroom {
    /// The percentage that is left.
    pub percent: u64,
    /// When it is whole again, where the server said so.
    pub resets: Option<Timestamp>,
}

/// What is behind a [`Model`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelKind {
    Language,
    /// Rules: it can be asked for files, not for a summary.
    Rules,
}

/// The events of one answer.
pub type ModelStream = Pin<Box<dyn Stream<Item = Result<ModelEvent, ModelError>> + Send>>;

/// A request, ready to be sent: its bytes are made in one place (PC1).
#[derive(Clone, Debug)]
pub struct ModelCall {
    pub body: RequestBody,
    /// Beta names for the header.
    pub betas: Vec<String>,
    /// Who asks; sent along as the header [`SOURCE_HEADER`].
    pub source: QuerySource,
    /// How long its breakpoints live, where it has any.
    pub cache: Option<CacheTtl>,
}

/// The header by which a server or a gateway can tell who asks.
pub const SOURCE_HEADER: &str = "x-everfold-source";

/// What happens while a model answers.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelEvent {
    /// The answer began.
    Started {
        message_id: MessageId,
        /// The request, as the server named it.
        request_id: Option<RequestId>,
        /// The model that answers.
        model: ModelId,
        usage: Usage,
    },
    /// More text of the block at this position, to be shown.
    Text { index: u32, text: String },
    /// More thinking of the block at this position, to be shown.
    Thinking { index: u32, text: String },
    /// A block is complete.
    Block { index: u32, block: Block },
    /// Why the server did not read the prompt from its cache, where it was
    /// asked and had a reason (PC6). It comes after [`Self::Started`].
    CacheMissed {
        /// The server's word for it.
        reason: String,
    },
    /// The server cleared something of the prompt by itself (L2.4): the list
    /// `applied_edits`, as it sent it. It comes before [`Self::Finished`].
    ContextEdited { edits: Value },
    /// The answer is complete.
    Finished {
        /// Why it ended, such as `end_turn` or `tool_use`.
        stop_reason: String,
        usage: Usage,
    },
    /// Nothing has come from the server for a while (S16).
    Waiting {
        waited: Duration,
        /// What is waited for, and which try it is.
        reason: String,
    },
    /// The provider waits before it tries again.
    Retrying {
        /// Which try failed, from 1.
        attempt: u32,
        /// How many there are at most.
        most: u32,
        /// How long it waits.
        wait: Duration,
        reason: String,
    },
    /// The answer so far is void: the stream broke and the request is made again.
    Restarted { reason: String },
}

/// A whole answer.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelReply {
    pub message_id: MessageId,
    /// The request, as the server named it.
    pub request_id: Option<RequestId>,
    /// The model that wrote it.
    pub model: ModelId,
    pub blocks: Vec<Block>,
    pub stop_reason: String,
    pub usage: Usage,
    /// What the server cleared of the prompt by itself (`applied_edits`).
    pub context_edits: Option<Value>,
}

/// Why a model did not answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// The conversation does not fit the window.
    #[error("the prompt is too long for the model ({message})")]
    PromptTooLong {
        /// Tokens of the prompt, where the server said it.
        actual: Option<u64>,
        /// Tokens that are allowed, where the server said it.
        maximum: Option<u64>,
        message: String,
    },
    /// The request's body is over the server's size limit.
    #[error("the request is too large for the server ({message}); remove pictures or documents")]
    RequestTooLarge { message: String },
    /// The server is overloaded, after all retries.
    #[error("the model is overloaded ({message}); try again later or set a fallback model")]
    Overloaded { message: String },
    /// A rate or spend limit is used up.
    #[error("rate limit reached ({message})")]
    RateLimited {
        /// When the server says it can be tried again.
        retry_after: Option<Duration>,
        message: String,
    },
    /// The key is missing, wrong or not allowed to do this.
    #[error("the server refused the key ({message}); check {hint}")]
    Authentication {
        message: String,
        /// Which setting or variable holds the key.
        hint: String,
    },
    /// The server refused the request.
    #[error("the server refused the request with status {status}: {message}")]
    Refused { status: u16, message: String },
    /// The server has no model of this name (Q20).
    #[error(
        "the server does not have this model ({message}); `everfold doctor` lists what it has, \
         and --model chooses one"
    )]
    NoModel { message: String },
    /// The model, or the way it is served, knows no tools (Q18).
    #[error("the server takes no tools ({message})")]
    NoTools { message: String },
    /// The server is still loading its model, after all retries.
    #[error("the server is still loading its model ({message}); try again in a moment")]
    Loading { message: String },
    /// The server could not be reached.
    #[error("{url} could not be reached: {message}")]
    Unreachable { url: String, message: String },
    /// The stream broke, every time it was tried.
    #[error("the answer broke off: {message}")]
    Broken { message: String },
    /// The server failed, after all retries.
    #[error("the server failed with status {status}: {message}")]
    Server { status: u16, message: String },
}

impl Classify for ModelError {
    fn class(&self) -> Class {
        match self {
            Self::PromptTooLong { .. } => Class::Degrade,
            Self::Overloaded { .. }
            | Self::RateLimited { .. }
            | Self::Unreachable { .. }
            | Self::Broken { .. }
            | Self::Loading { .. }
            | Self::Server { .. } => Class::Retry,
            Self::RequestTooLarge { .. }
            | Self::NoModel { .. }
            | Self::NoTools { .. }
            | Self::Refused { .. }
            | Self::Authentication { .. } => Class::Stop,
        }
    }
}
