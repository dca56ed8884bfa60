//! Why the window was not changed as asked.

use crate::session::Error;
use everfold_compact::Rejection;
use everfold_kernel::{Class, Classify, Flag};

/// Why a compaction, a pin or a snip was not made.
#[derive(Debug, thiserror::Error)]
pub enum CompactionError {
    /// There is nothing to do it to.
    #[error(transparent)]
    Layer(#[from] everfold_compact::Error),
    /// What came of it is not worth having (L4.15).
    #[error(transparent)]
    Rejected(#[from] Rejection),
    /// A hook said no.
    #[error("a PreCompact hook blocked it: {0}")]
    Hook(String),
    /// The person stopped it.
    #[error("it was stopped")]
    Stopped,
    #[error("this is off (flag {})", .0.name())]
    SwitchedOff(Flag),
    #[error(transparent)]
    Session(#[from] Error),
}

impl Classify for CompactionError {
    fn class(&self) -> Class {
        match self {
            Self::Layer(error) => error.class(),
            Self::Rejected(error) => error.class(),
            Self::Hook(_) | Self::Stopped | Self::SwitchedOff(_) => Class::Refuse,
            Self::Session(error) => error.class(),
        }
    }
}

impl CompactionError {
    /// The same with the session's own errors apart, for whoever goes on
    /// without the compaction.
    pub(crate) fn unless_broken(self) -> Result<Self, Error> {
        match self {
            Self::Session(error) => Err(error),
            other => Ok(other),
        }
    }
}
