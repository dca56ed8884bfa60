//! Why something about a memory directory did not work.

use crate::journal::EntryId;
use crate::store::inbox::ProposalId;
use everfold_kernel::error::{Class, Classify};
use std::path::PathBuf;
use std::time::Duration;

/// What failed, where, and what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The disk said no.
    #[error(transparent)]
    Disk(#[from] everfold_disk::Error),
    /// A memory directory may not be there.
    #[error("{path:?} cannot be the memory directory: {why}")]
    BadLocation {
        /// What was asked for.
        path: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A memory may not have this path.
    #[error("{path:?} cannot name a memory: {why}")]
    BadPath {
        /// What was asked for.
        path: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Something stands where the history is kept.
    #[error("{path} is in the way of the history; move it away")]
    HistoryPlace { path: PathBuf },
    /// Something stands where the dream lock is kept.
    #[error("{path} is in the way of the dream lock; move it away")]
    LockPlace { path: PathBuf },
    /// A secret would be written.
    #[error("{path} holds {finding}; take it out and say where it is kept instead")]
    Secret {
        path: String,
        /// What was found, and where.
        finding: String,
    },
    /// A memory is longer than a memory should be.
    #[error("{path} has {bytes} bytes; a memory may have at most {max}; keep to what matters")]
    TooLong { path: String, bytes: u64, max: u64 },
    /// There is a memory of that name.
    #[error("the memory {path} already exists; update it or choose another name")]
    Exists { path: String },
    /// There is no memory of that name.
    #[error("no memory {path}; `everfold memory list` lists them")]
    NotFound { path: String },
    /// The memory is not what it was when it was read.
    #[error("{path} has changed since; read it again")]
    Changed { path: String },
    /// A memory about the person cannot be shared.
    #[error("{path} is about the person and stays private; a team memory is about the project")]
    Private { path: String },
    /// The index would outgrow its caps.
    #[error("{reason}")]
    IndexOver {
        /// How far, and what to do.
        reason: String,
    },
    /// A file that has to be changed is not text.
    #[error("{path} is not UTF-8; convert it first")]
    NotText { path: String },
    /// The text cannot be changed as asked.
    #[error("{path}: {source}")]
    Format {
        path: String,
        /// What is in the way.
        source: everfold_memory_file::Error,
    },
    /// Somebody else kept writing for too long.
    #[error("{path} was in use by another process for {waited:?}; try again")]
    Busy {
        path: PathBuf,
        /// How long was waited.
        waited: Duration,
    },
    /// The history has no such entry.
    #[error("the history has no entry {id}; it may have been pruned")]
    NoEntry { id: EntryId },
    /// What an entry changed was changed again since.
    #[error("{path} was changed again since entry {id}; undo the later change first, or force it")]
    Conflict { path: String, id: EntryId },
    /// No such proposal waits.
    #[error("no proposal {id} in the inbox; it may have been decided already")]
    NoProposal { id: ProposalId },
    /// What a proposal would change was changed since it was made.
    #[error("{path} has changed since proposal {id} was made; the proposal is kept")]
    Stale { path: String, id: ProposalId },
    /// A content is no longer in the history.
    #[error("the history did not keep what {path} held; it was too large, or was pruned")]
    NotKept { path: String },
    /// An entry could not be written as JSON.
    #[error("an entry of the history could not be written: {source}")]
    Encode { source: serde_json::Error },
    /// Whoever watches the steps of a change stopped it.
    #[error("the change was interrupted; it is completed the next time the store is opened")]
    Interrupted,
}

impl Classify for Error {
    fn class(&self) -> Class {
        match self {
            Self::Disk(error) => error.class(),
            Self::Busy { .. } => Class::Retry,
            Self::Encode { .. } => Class::Bug,
            Self::Interrupted => Class::Degrade,
            _ => Class::Refuse,
        }
    }
}
