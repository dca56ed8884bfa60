//! Why a context cannot go on as it was asked to.

use everfold_kernel::{Class, Classify};
use everfold_window::Refusal;

/// Why a message was not taken, or no request can be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContextError {
    /// It has no role that a conversation knows, or no content.
    #[error("this is not a message: {reason}")]
    NoMessage {
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The system prompt is part of the setup.
    #[error("a system message cannot be pushed; give its text to ContextSetup::system")]
    SystemMessage,
    /// The conversation is over its window, and compaction is switched off.
    #[error(transparent)]
    Full(#[from] Refusal),
}

impl Classify for ContextError {
    fn class(&self) -> Class {
        match self {
            Self::NoMessage { .. } | Self::SystemMessage => Class::Refuse,
            Self::Full(_) => Class::Stop,
        }
    }
}
