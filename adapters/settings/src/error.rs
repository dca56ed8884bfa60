//! Why settings could not be read.

use everfold_kernel::{Class, Classify};
use std::path::PathBuf;

/// What failed. A person has to act on each of these before a session starts.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no place for the home directory.
    #[error("find a home directory: set EVERFOLD_HOME to a full path")]
    NoHome,
    /// A path that has to be whole is not.
    #[error("use {what} {}: give a full path", path.display())]
    RelativePath {
        /// Which variable or setting named it.
        what: String,
        path: PathBuf,
    },
    /// A directory could not be made.
    #[error("create the directory {}", path.display())]
    MakeDirectory { path: PathBuf, source: std::io::Error },
    /// A settings file is there but cannot be read.
    #[error("read the settings file {}: {source}", path.display())]
    Unreadable { path: PathBuf, source: std::io::Error },
    /// A settings file is a directory, a pipe or a device.
    #[error("read the settings file {}: it is not a regular file", path.display())]
    NotAFile { path: PathBuf },
    /// A settings file is larger than any real one.
    #[error("read the settings file {}: it is larger than {limit_bytes} bytes", path.display())]
    TooLarge {
        path: PathBuf,
        /// The most that is read.
        limit_bytes: u64,
    },
    /// A settings file is not JSON.
    #[error("read {place}, line {line}, column {column}: {reason}")]
    Syntax {
        /// The file, or the flag that held the text.
        place: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        reason: String,
    },
    /// A settings file is JSON, but no object.
    #[error(
        "read {place}, line {line}, column {column}: settings must be an object: write {{ … }} \
         around them"
    )]
    NotAnObject {
        /// The file, or the flag that held the text.
        place: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
    },
    /// A key has a value that it cannot take.
    #[error("read {place}, line {line}, column {column}: `{key}`: {reason}")]
    WrongValue {
        /// The file, or the flag that held the text.
        place: String,
        /// The key, with dots.
        key: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        reason: String,
    },
    /// An environment variable has a value that it cannot take.
    #[error("use the variable {name}: it takes {takes}")]
    Variable {
        /// The variable as it was set.
        name: String,
        takes: String,
    },
    /// A command-line flag has a value that its key cannot take.
    #[error("use {flag}: {reason}")]
    Flag { flag: String, reason: String },
    /// The address of a provider or of the flag source is no web address.
    #[error("use the address from {from}: it must start with http:// or https:// ({reason})")]
    Address {
        /// Which variable or setting named it.
        from: String,
        reason: String,
    },
    /// A header cannot be sent. The value is not shown: it may be a secret.
    #[error("use header {number} of {from}: write `Name: Value`, one per line")]
    Header {
        /// Which variable or setting named it.
        from: String,
        /// Which of them, from 1.
        number: usize,
    },
    /// What a person said of a repository cannot be kept.
    #[error("record trust in this repository in {}: {source}", path.display())]
    Trust { path: PathBuf, source: Box<everfold_disk::Error> },
    /// What was said of repositories was written by a newer program.
    #[error("read {}: a newer version of Everfold wrote it (format {version})", path.display())]
    NewerRecord { path: PathBuf, version: u32 },
    /// Both kinds of flag source are set.
    #[error("use everfold.flag_source: set `file` or `url`, not both")]
    TwoFlagSources,
    /// Layers that were each right do not make settings together.
    #[error("merge settings: `{key}`: {reason}")]
    Merge {
        /// The key, with dots.
        key: String,
        reason: String,
    },
}

impl Classify for Error {
    fn class(&self) -> Class {
        match self {
            Self::Merge { .. } => Class::Bug,
            _ => Class::Stop,
        }
    }
}
