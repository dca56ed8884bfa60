//! The memories that earlier conversations left.

use super::BoxFuture;
use crate::error::{Class, Classify};
use crate::ids::{RecordId, SessionId};
use crate::settings::Review;
use crate::usage::QuerySource;
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

    /// Writes a memory or an index for an agent: whole with its line in the
    /// index and its entry in the history, or not at all (L5.17). Where nothing
    /// can be written, that is refused.
    fn write(&self, write: MemoryWrite) -> BoxFuture<'_, Result<MemoryWritten, MemoryError>> {
        let path = write.path;
        Box::pin(async move {
            let reason = "memories are only read here".to_owned();
            Err(MemoryError::Refused { path, reason })
        })
    }

    /// Gives their lines in the index to memories that have none, by their
    /// absolute paths (L5.28).
    fn point_to(
        &self,
        paths: Vec<PathBuf>,
        by: MemoryAuthor,
    ) -> BoxFuture<'_, Result<(), MemoryError>> {
        let _ = (paths, by);
        Box::pin(async { Ok(()) })
    }

    /// Counts what became of memories, by their absolute paths (L5.29).
    fn count(&self, uses: Vec<(PathBuf, MemoryUse)>) -> BoxFuture<'_, Result<(), MemoryError>> {
        let _ = uses;
        Box::pin(async { Ok(()) })
    }
}

/// A memory or an index that an agent writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryWrite {
    /// Its absolute path, in one of the places.
    pub path: PathBuf,
    /// What it is to hold.
    pub text: String,
    /// What it has to hold before.
    pub before: MemoryBefore,
    /// Who writes it, and why.
    pub by: MemoryAuthor,
    /// Whether a person is asked first (L5.24).
    pub review: Review,
    /// Whether its line in the index is written with it.
    pub line: MemoryLine,
}

/// Who writes the line in the index for a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryLine {
    /// The store, with the memory.
    Written,
    /// The agent, in a step of its own; [`Memories::point_to`] sees to it.
    Left,
}

/// What a memory has to hold before it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryBefore {
    /// Whatever.
    Anything,
    /// Nothing: it is not there.
    Absent,
    /// Exactly this.
    Text(String),
}

/// Who writes a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryAuthor {
    /// For whom models are asked.
    pub source: QuerySource,
    /// Why, in words.
    pub reason: String,
    /// In which session.
    pub session: SessionId,
    /// By which messages.
    pub messages: Vec<RecordId>,
}

/// What became of a memory that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryWritten {
    /// It is new.
    Added,
    /// It was there, and holds something else now.
    Updated,
    /// It held that already.
    Unchanged,
    /// It waits for a person's word (L5.24).
    Proposed,
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
    /// Where it is.
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
    /// Where it is.
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
    Unreadable {
        /// The directory.
        dir: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// A memory is gone, or cannot be read.
    #[error("the memory {path} cannot be read: {message}")]
    Memory {
        /// The memory.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// A memory may not be written so.
    #[error("{reason}")]
    Refused {
        /// The memory.
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
