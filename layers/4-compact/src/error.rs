//! Why something that was asked of this layer cannot be done.

use everfold_kernel::{Class, Classify, RecordId};

/// What this layer refuses.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The record is not in view.
    #[error("{record} is not in view; choose a message that is shown")]
    UnknownRecord { record: RecordId },
    #[error("nothing to summarise there; choose another message")]
    NothingToSummarise,
    /// The pins would be over their limit.
    #[error("the pins would hold {tokens} tokens, more than {max}; remove a pin first")]
    PinsFull {
        /// Tokens with the new pin.
        tokens: u64,
        max: u64,
    },
    /// The record is kept already.
    #[error("{record} is already pinned")]
    AlreadyPinned { record: RecordId },
    /// The range ends before it starts.
    #[error("{to} comes before {from}; name the earlier message first")]
    Backwards { from: RecordId, to: RecordId },
    /// A pin is in the way.
    #[error("{record} is pinned and lies in the range; remove the pin first")]
    HoldsPin { record: RecordId },
    /// A call in the range has no result yet.
    #[error("a tool call in the range is not answered yet; wait for its result")]
    OpenCall,
    /// A template of ours could not be filled: a defect of this version.
    #[error("the prompt {name} could not be written: {source}")]
    Prompt {
        name: &'static str,
        /// What its engine said.
        source: minijinja::Error,
    },
}

impl Classify for Error {
    fn class(&self) -> Class {
        match self {
            Self::Prompt { .. } => Class::Bug,
            _ => Class::Refuse,
        }
    }
}
