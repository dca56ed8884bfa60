//! Why a team's memories could not be kept in step.

use everfold_kernel::ports::TeamError;
use everfold_kernel::{Class, Classify};
use std::path::PathBuf;

/// What stood in the way.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Remote(#[from] TeamError),
    #[error(transparent)]
    Store(#[from] everfold_memory_store::Error),
    #[error(transparent)]
    Disk(#[from] everfold_disk::Error),
    /// A file of ours that nobody can read.
    #[error("{path} is damaged: {message}; remove it, and the next sync creates it again")]
    Damaged {
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// Others were faster each time.
    #[error("other members pushed first {tries} times in a row; sync again")]
    Overtaken { tries: u32 },
    /// The shared place was made by a later version.
    #[error(
        "the team uses format {format}, which this version can only read; update everfold to push"
    )]
    Newer { format: u64 },
    /// Another process syncs.
    #[error("another process is syncing this team")]
    Busy,
    /// It cannot be a name.
    #[error("{name:?} cannot name a team; use letters, digits, '-', '_' and '.'")]
    BadName { name: String },
    /// There is one already.
    #[error("a team {name} already exists at {address}; choose another --name")]
    Exists { name: String, address: String },
    /// The project has a team already.
    #[error("this project is in team {name}; run `everfold team leave` first")]
    Bound { name: String },
    /// The project has none.
    #[error("this project has no team")]
    Unbound,
}

impl Classify for Error {
    fn class(&self) -> Class {
        match self {
            Self::Remote(error) => error.class(),
            Self::Store(error) => error.class(),
            Self::Disk(error) => error.class(),
            Self::Damaged { .. } => Class::Degrade,
            Self::Overtaken { .. } | Self::Busy => Class::Retry,
            _ => Class::Refuse,
        }
    }
}
