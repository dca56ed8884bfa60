//! Why a call was not carried out, in words that a model can act on.

use everfold_kernel::ports::{MemoryError, SearchError};
use everfold_kernel::{Class, Classify};
use everfold_memory_store::Error as StoreError;

/// Why a call or a resource came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum CallRefusal {
    #[error("`{0}` is missing; give it as text")]
    Missing(&'static str),
    #[error("`{0}` must be text")]
    NotText(&'static str),
    #[error("`{0}` must be a whole number that is not negative")]
    NoNumber(&'static str),
    #[error("{0:?} is not a memory's id; memory_search gives ids such as project/deploys.md")]
    NoId(String),
    #[error("unknown tool {0}")]
    NoTool(String),
    #[error("no memory {0}; memory_search finds those that exist")]
    NoMemory(String),
    #[error("`type` is one of user, feedback, project and reference, not {0:?}")]
    NoType(String),
    #[error("`scope` is project or global, not {0:?}")]
    NoScope(String),
    #[error("the reason has {bytes} bytes, and at most {most} are kept")]
    LongReason { bytes: usize, most: usize },
    #[error("searching past conversations is off (past_search)")]
    PastSearchOff,
    #[error("no message or result {0:?} in this project; session_search gives ids")]
    NoRecord(String),
    /// The one gate says no.
    #[error("it was not saved: {0}")]
    Gate(String),
    #[error("memory is off here (autoMemoryEnabled)")]
    MemoryOff,
    #[error("the call failed: {0}")]
    Broken(#[from] tokio::task::JoinError),
    #[error(transparent)]
    Library(#[from] everfold_agent::Error),
    #[error(transparent)]
    Memory(#[from] MemoryError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Past(#[from] SearchError),
}

impl Classify for CallRefusal {
    fn class(&self) -> Class {
        match self {
            Self::Broken(_) => Class::Bug,
            Self::Library(error) => error.class(),
            Self::Memory(error) => error.class(),
            Self::Store(error) => error.class(),
            Self::Past(error) => error.class(),
            _ => Class::Refuse,
        }
    }
}
