//! Why an agent could not be made, or what it keeps could not be used.

use everfold_kernel::{Class, Classify};
use std::path::PathBuf;

/// What stood in the way.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The working directory.
    #[error("the directory {path} cannot be used: {message}")]
    Directory {
        /// Which.
        path: PathBuf,
        /// Why.
        message: String,
    },
    /// Settings.
    #[error(transparent)]
    Settings(#[from] everfold_settings::Error),
    /// The provider.
    #[error(transparent)]
    Provider(#[from] everfold_provider::Error),
    /// The key.
    #[error(transparent)]
    Key(#[from] everfold_provider::key::KeyError),
    /// The session.
    #[error(transparent)]
    Session(#[from] everfold_engine::Error),
    /// The memory directory.
    #[error(transparent)]
    Memory(#[from] everfold_memory_store::Error),
    /// What is in it.
    #[error(transparent)]
    Memories(#[from] everfold_kernel::ports::MemoryError),
    /// A team's memories.
    #[error(transparent)]
    Team(#[from] everfold_memory_team::Error),
    /// Sessions of opencode.
    #[error(transparent)]
    Opencode(#[from] everfold_opencode::Error),
    /// Letters.
    #[error(transparent)]
    Post(#[from] everfold_kernel::ports::PostError),
    /// The disk.
    #[error(transparent)]
    Disk(#[from] everfold_disk::Error),
    /// The list of sessions.
    #[error(transparent)]
    Transcript(#[from] everfold_kernel::ports::TranscriptError),
}

impl Classify for Error {
    fn class(&self) -> Class {
        match self {
            Self::Directory { .. } => Class::Refuse,
            Self::Settings(error) => error.class(),
            Self::Provider(error) => error.class(),
            Self::Key(error) => error.class(),
            Self::Session(error) => error.class(),
            Self::Memory(error) => error.class(),
            Self::Memories(error) => error.class(),
            Self::Team(error) => error.class(),
            Self::Opencode(error) => error.class(),
            Self::Post(error) => error.class(),
            Self::Disk(error) => error.class(),
            Self::Transcript(error) => error.class(),
        }
    }
}
