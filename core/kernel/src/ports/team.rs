//! What a team shares, where all of its members can reach it (F1, F2).
//!
//! A tree of small files with one newest state. Who publishes says which state
//! the change was made on, and is told when somebody else was faster: nothing
//! is ever overwritten unseen. Everything here blocks, and nothing in it knows
//! what a memory is.

use crate::error::{Class, Classify};
use std::collections::BTreeMap;

/// Where the members of a team meet.
pub trait TeamRemote: Send + Sync {
    /// The newest state. Asks the others; what it names can be read afterwards
    /// without them.
    ///
    /// # Errors
    /// If they cannot be reached, or what is there cannot be taken in.
    fn newest(&self) -> Result<TeamHead, TeamError>;

    /// What files of a state hold, in the order of their versions.
    ///
    /// # Errors
    /// If one of them is not known here.
    fn contents(&self, versions: &[String]) -> Result<Vec<Vec<u8>>, TeamError>;

    /// Publishes changes that were made on a state.
    ///
    /// # Errors
    /// If the others cannot be reached, or do not take it.
    fn publish(
        &self,
        on: &TeamHead,
        changes: &[TeamChange],
        note: &str,
    ) -> Result<TeamPublished, TeamError>;

    /// Who made the states between two, newest first, at most so many.
    ///
    /// # Errors
    /// If the history cannot be read.
    fn makers(&self, from: &str, to: &TeamHead, most: usize) -> Result<Vec<TeamMaker>, TeamError>;
}

/// One state of what a team shares.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TeamHead {
    /// Its name; empty where nothing was ever published.
    pub revision: String,
    /// The files, by their paths.
    pub files: BTreeMap<String, TeamFile>,
}

/// One file of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeamFile {
    /// The name of what it holds.
    pub version: String,
    pub bytes: u64,
    pub kind: TeamFileKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TeamFileKind {
    Plain,
    /// A link, or something else that is never taken in.
    Other,
}

/// What becomes of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeamChange {
    pub path: String,
    /// What it is to hold; none: it goes.
    pub content: Option<Vec<u8>>,
}

/// What became of a publication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TeamPublished {
    /// It is the newest state.
    Done(TeamHead),
    /// Somebody was faster: look at theirs first.
    Behind,
}

/// Who made a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeamMaker {
    /// The state, in short.
    pub revision: String,
    /// The person or agent.
    pub name: String,
}

/// Why nothing could be shared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TeamError {
    /// The others cannot be reached now.
    #[error("{place} cannot be reached: {message}")]
    Unreachable { place: String, message: String },
    /// It took too long.
    #[error("{place} gave no answer within {seconds} s")]
    Late {
        place: String,
        /// How long was waited.
        seconds: u64,
    },
    /// It was not taken.
    #[error("{place} refused: {message}")]
    Denied { place: String, message: String },
    /// The servers do not allow it to this user.
    #[error(
        "{place} does not allow this user to {what}; whoever runs the servers has to add it to \
         the user's permissions"
    )]
    Forbidden {
        place: String,
        /// Such as `publish to "a.subject"`.
        what: String,
    },
    /// What we are to show of ourselves is not there or not right.
    #[error("{path} cannot be used ({setting}): {message}")]
    Login {
        path: String,
        /// The setting that names it.
        setting: &'static str,
        message: String,
    },
    /// There is more than may come in.
    #[error("{what} exceeds the limit ({most}); nothing was taken")]
    TooMuch {
        /// What is too much.
        what: String,
        most: u64,
    },
    /// The program that carries it is missing or does not work.
    #[error("{program} cannot be used: {message}")]
    Program { program: &'static str, message: String },
    /// What was said before is not there any more, or is damaged.
    #[error("the local copy of the team is damaged: {message}")]
    Damaged { message: String },
    /// It cannot be an address.
    #[error("{why}")]
    Address {
        /// Why not.
        why: &'static str,
    },
}

impl Classify for TeamError {
    fn class(&self) -> Class {
        match self {
            Self::Unreachable { .. } | Self::Late { .. } => Class::Retry,
            Self::Program { .. } | Self::Damaged { .. } => Class::Degrade,
            Self::Denied { .. }
            | Self::Forbidden { .. }
            | Self::Login { .. }
            | Self::TooMuch { .. }
            | Self::Address { .. } => Class::Refuse,
        }
    }
}
