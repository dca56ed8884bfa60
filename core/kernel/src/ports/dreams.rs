//! Consolidating memories (L6): one at a time, on a copy, swapped in whole.

use super::{BoxFuture, MemoryScope};
use crate::error::{Class, Classify};
use crate::ids::SessionId;
use jiff::Timestamp;
use jiff::civil::Date;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A memory directory that can be consolidated.
pub trait Dreams: Send + Sync {
    /// Whose memories they are.
    fn scope(&self) -> MemoryScope;

    /// The directory, links resolved.
    fn dir(&self) -> &Path;

    /// The file whose time is that of the last consolidation (L6.2). Looking at
    /// it costs one `stat`.
    fn lock_file(&self) -> PathBuf;

    /// Takes the lock. Among any number of processes one gets it (L6.3), and
    /// among the members of a team one (F2).
    fn begin(&self, wish: NightWish) -> BoxFuture<'_, Result<Begun, DreamError>>;

    /// What the store holds now, without the lock: for a look.
    fn look(&self) -> BoxFuture<'_, Result<Stored, DreamError>>;
}

/// What a night is wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NightWish {
    pub at: Timestamp,
    /// Not where memories were consolidated after this time: who waited for the
    /// lock may come too late.
    pub unless_after: Option<Timestamp>,
    pub purpose: NightPurpose,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NightPurpose {
    /// Memories are changed.
    Change,
    /// Somebody wants to see what would change; nobody else has to know.
    Look,
}

/// What came of taking the lock.
pub enum Begun {
    /// It is ours until the night ends.
    Night(Box<dyn Night>),
    /// Somebody else dreams.
    Locked(Holder),
    /// Somebody did so at this time.
    Recent(Timestamp),
    /// Those who share the memories cannot be asked now, and why.
    Waits(String),
}

/// Who holds the lock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holder {
    /// The process, where the lock names one.
    pub pid: Option<u32>,
    /// The member of the team, where it is known which.
    pub member: Option<String>,
    /// Since when, where that is known.
    pub since: Option<Timestamp>,
}

/// A dream under way: the lock is held. Dropping it rewinds the time of the
/// last consolidation, as a failure does.
pub trait Night: Send + Sync {
    /// The folder of the working copy. It stands for the memory directory.
    fn copy(&self) -> &Path;

    /// What the store holds now.
    fn look(&self) -> BoxFuture<'_, Result<Stored, DreamError>>;

    /// Makes the working copy hold just these files.
    fn lay_out(&self, files: BTreeMap<String, String>) -> BoxFuture<'_, Result<(), DreamError>>;

    /// What the working copy holds.
    fn gather(&self) -> BoxFuture<'_, Result<Gathered, DreamError>>;

    /// Makes a change of the store, whole or not at all, as one entry of its
    /// history.
    fn swap(&self, swap: Swap) -> BoxFuture<'_, Result<Swapped, DreamError>>;

    /// Lays a change before the person instead of making it (L5.24). False
    /// where there is nothing to decide: they said no to the same before.
    fn propose(&self, proposal: DreamProposal) -> BoxFuture<'_, Result<bool, DreamError>>;

    /// Ends the night and lets go of the lock.
    fn end(self: Box<Self>, ending: Ending) -> BoxFuture<'static, Result<(), DreamError>>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Memories are consolidated, as of this time.
    Done {
        at: Timestamp,
        /// Whether the daily logs were read, too (L5.22).
        logs: LogsRead,
    },
    /// Nothing came of it: the time of the last consolidation is what it was.
    Undone,
}

/// Whether somebody read the daily logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogsRead {
    Yes,
    /// They wait for the next night.
    No,
}

/// What a store holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stored {
    /// Memories and indexes, by path from the top of the directory.
    pub files: BTreeMap<String, StoredFile>,
    /// Daily logs that no dream has read yet (L5.22).
    pub logs: BTreeMap<String, String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFile {
    /// What it says; none where it is not text or too large, so that nobody
    /// touches it.
    pub text: Option<String>,
    /// Names this content: two files with the same one hold the same.
    pub version: String,
    /// The day it was last written, where that is known for sure.
    pub day: Option<Date>,
    pub writer: MemoryHand,
    /// How often it was shown to a model.
    pub recalled: u64,
    /// How often a model went on to use it.
    pub used: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryHand {
    /// The person wrote it, or said it.
    Person,
    /// An agent came to it.
    Agent,
}

/// What is in a working copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gathered {
    /// Files that can be read as text.
    pub files: BTreeMap<String, String>,
    /// What else is there: with what is wrong with it.
    pub strange: BTreeMap<String, String>,
}

/// A change of many files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Swap {
    pub edits: Vec<SwapEdit>,
    pub reason: String,
    pub session: Option<SessionId>,
    pub at: Timestamp,
}

/// One file of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwapEdit {
    pub path: String,
    /// The version that has to be there; none: nothing.
    pub expect: Option<String>,
    /// What it is to hold; none: it goes.
    pub text: Option<String>,
}

/// What came of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Swapped {
    /// It is made; with the number of its entry, unless nothing was to change.
    Done(Option<u64>),
    /// The store is not what was expected; nothing was changed.
    Changed,
}

/// A change that a person is asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DreamProposal {
    pub path: String,
    /// What it would hold; none: it would go.
    pub text: Option<String>,
    pub why: String,
    pub session: Option<SessionId>,
    /// When it was thought of.
    pub at: Timestamp,
}

/// Why memories could not be consolidated. Nothing but the dream suffers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the memories in {dir} cannot be consolidated: {message}")]
pub struct DreamError {
    pub dir: PathBuf,
    pub message: String,
}

impl Classify for DreamError {
    fn class(&self) -> Class {
        Class::Degrade
    }
}
