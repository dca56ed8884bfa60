//! Why a call was not carried out, in words that a model can act on.

use everfold_kernel::ports::{MemoryError, SearchError};
use everfold_kernel::{Class, Classify};
use everfold_memory_store::Error as StoreError;

/// Why a call or a resource came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum CallRefusal {
    #[error("`{0}` is missing; give it as text")]
    Missing(&'static str),
    #[error("`{0}` has to be text")]
    NotText(&'static str),
    #[error("`{0}` has to be a whole number that is not negative")]
    NoNumber(&'static str),
    #[error("{0:?} is no id of a memory; memory_search gives ids such as project/deploys.md")]
    NoId(String),
    #[error("there is no tool {0}")]
    NoTool(String),
    #[error("there is no memory {0}; memory_search finds those that are")]
    NoMemory(String),
    #[error("`type` is one of user, feedback, project and reference, not {0:?}")]
    NoType(String),
    #[error("`scope` is project or global, not {0:?}")]
    NoScope(String),
    #[error("the reason has {bytes} bytes, and at most {most} are kept")]
    LongReason { bytes: usize, most: usize },
    #[error("searching past conversations is switched off (past_search)")]
    PastSearchOff,
    #[error("there is no message or result {0:?} in this project; session_search gives ids")]
    NoRecord(String),
    /// The one gate says no.
    #[error("it was not saved: {0}")]
    Gate(String),
    #[error("memories are switched off here (autoMemoryEnabled)")]
    MemoryOff,
    #[error("the work was not done: {0}")]
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
