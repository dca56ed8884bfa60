//! The memories that earlier conversations left.

mod keep;
mod recall;

pub use keep::{
    Haste, Kept, MemoryAuthor, MemoryBefore, MemoryPlacement, MemoryProposal, MemoryRef,
    MemoryWriter,
};
pub use recall::{
    QueryKind, RankCertainty, RecallHit, RecallQuery, RecallReason, RecallTier, Recalled, Urgency,
    WaitingMemory,
};

/// The folder of what kinds of agents keep on this machine (L5.20). In remote
/// mode it is in the memory directory, and holds none of its memories.
pub const AGENT_MEMORY_LOCAL: &str = "agent-memory-local";

use super::BoxFuture;
use crate::error::{Class, Classify};
use jiff::Timestamp;
use std::path::PathBuf;

/// Reading memories, and writing them with their line in the index and their
/// entry in the history.
pub trait Memories: Send + Sync {
    /// The directories that memories are kept in, links resolved, in the order
    /// in which their indexes are shown. Nothing need be there yet.
    fn places(&self) -> &[MemoryPlace];

    /// What each index says, in the order of the places and within caps that
    /// they share, with a warning where one was cut (L5.3, L5.25). Those that
    /// say nothing are left out. Makes the directories as needed.
    fn indexes(&self) -> BoxFuture<'_, Result<Vec<MemoryIndex>, MemoryError>>;

    /// The memories of all places, newest first, at most `most` (R2).
    fn scan(
        &self,
        most: usize,
        bodies: Bodies,
    ) -> BoxFuture<'_, Result<Vec<MemoryHead>, MemoryError>>;

    /// The text of a memory that a scan found; of a long one, its start.
    fn read<'a>(&'a self, memory: &'a MemoryHead)
    -> BoxFuture<'a, Result<MemoryText, MemoryError>>;

    /// Keeps a memory, through the one gate (L5.32): whole with its line in the
    /// index and its entry in the history, or not at all. Where nothing can be
    /// written, that is refused.
    fn keep(&self, proposal: MemoryProposal) -> BoxFuture<'_, Result<Kept, MemoryError>> {
        let _ = proposal;
        Box::pin(async { Ok(Kept::Refused { reason: "memories are only read here".to_owned() }) })
    }

    /// The memories that a text calls for, by the local ranker (R8, R11).
    fn recall(&self, query: RecallQuery) -> BoxFuture<'_, Result<Recalled, MemoryError>> {
        let _ = query;
        Box::pin(async { Ok(Recalled::default()) })
    }

    /// The memory that waits for the person's word and would have helped with a
    /// text; each at most once a day (L5.46).
    fn waiting_for(
        &self,
        query: RecallQuery,
    ) -> BoxFuture<'_, Result<Option<WaitingMemory>, MemoryError>> {
        let _ = query;
        Box::pin(async { Ok(None) })
    }

    /// Counts what became of memories, by their absolute paths (L5.29).
    fn count(&self, uses: Vec<(PathBuf, MemoryUse)>) -> BoxFuture<'_, Result<(), MemoryError>> {
        let _ = uses;
        Box::pin(async { Ok(()) })
    }
}

/// What became of a memory that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryUse {
    /// It was shown to a model.
    Recalled,
    /// A model went on to use it.
    Used,
}

/// A directory of memories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryPlace {
    /// For whom its memories hold.
    pub scope: MemoryScope,
    pub dir: PathBuf,
}

/// For whom memories hold (L5.21, L5.25).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MemoryScope {
    /// The person, in every project.
    Global,
    /// The person, in this project.
    Project,
    /// Everybody who works on this project.
    Team,
}

impl MemoryScope {
    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Project => "project",
            Self::Team => "team",
        }
    }
}

/// An index as a model is shown it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryIndex {
    /// For whom it holds.
    pub scope: MemoryScope,
    pub path: PathBuf,
    /// What it says, within its caps.
    pub text: String,
    /// Which cap cut it, in words, if one did.
    pub cut: Option<String>,
}

/// Whether a scan reads what memories say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bodies {
    /// Only what they say about themselves.
    Left,
    /// All of it, for a search in it.
    Read,
}

/// A memory in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryHead {
    /// The place that it is in.
    pub scope: MemoryScope,
    /// Its path within that place, with `/` between the parts.
    pub file: String,
    /// Its absolute path.
    pub path: PathBuf,
    /// Its `name`; empty where it has none.
    pub name: String,
    /// Its `description`; empty where it has none.
    pub description: String,
    /// Its `type`, if it is a known one.
    pub kind: Option<String>,
    /// How sure it is, in its own word (L5.23).
    pub basis: Option<String>,
    /// How often it was of use (L5.29).
    pub used: u32,
    /// When it was last written.
    pub modified: Timestamp,
    /// What it says, where that was asked for.
    pub body: String,
}

/// What a memory says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryText {
    /// All of the file, or its start.
    pub text: String,
    /// When it was last written.
    pub modified: Timestamp,
}

/// Why memories could not be read or written. Nothing but memory suffers from it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    /// A directory cannot be made, opened or listed.
    #[error("the memories in {dir} cannot be read: {message}")]
    Unreadable { dir: PathBuf, message: String },
    /// A memory is gone, or cannot be read.
    #[error("the memory {path} cannot be read: {message}")]
    Memory { path: PathBuf, message: String },
    /// A memory may not be written so.
    #[error("{reason}")]
    Refused {
        path: PathBuf,
        /// Why not, and what to do.
        reason: String,
    },
}

impl Classify for MemoryError {
    fn class(&self) -> Class {
        match self {
            Self::Unreadable { .. } | Self::Memory { .. } => Class::Degrade,
            Self::Refused { .. } => Class::Refuse,
        }
    }
}
