//! Why a review came to nothing, and whether another try could help.

use crate::background::budget::Denied;
use crate::event::EndReason;
use everfold_kernel::ports::{MemoryError, ModelError};
use everfold_kernel::{Class, Classify as _};

/// Why a review came to nothing.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReviewError {
    #[error(transparent)]
    Budget(#[from] Denied),
    #[error(transparent)]
    Memory(#[from] MemoryError),
    #[error(transparent)]
    Directive(#[from] everfold_extract::Error),
    #[error("there is no directory for memories of this project")]
    NoDirectory,
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error("the small model answered with something other than a list")]
    NoList,
    #[error("the review ended early: {0:?}")]
    Early(EndReason),
}

impl ReviewError {
    /// Whether the same review would come to the same end.
    pub(super) fn is_refusal(&self) -> bool {
        match self {
            Self::Model(error) => error.class() != Class::Retry,
            Self::NoList | Self::Directive(_) => true,
            Self::Early(reason) => *reason == EndReason::Refused,
            Self::Budget(_) | Self::Memory(_) | Self::NoDirectory => false,
        }
    }
}
