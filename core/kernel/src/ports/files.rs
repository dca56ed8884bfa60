//! Files that tools read and write.

use super::BoxFuture;
use crate::error::{Class, Classify};
use bytes::Bytes;
use jiff::Timestamp;
use std::path::{Path, PathBuf};

/// Reading and writing files by absolute path.
pub trait Files: Send + Sync {
    /// What is at a path.
    fn stat<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<FileStat, FileError>>;

    /// The path with every link resolved, as far as it exists. Permission
    /// rules look at this one: a link must not lead out of where one may write.
    fn resolve<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, PathBuf>;

    /// The same, if something is there.
    fn find<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<PathBuf, FileError>> {
        Box::pin(async move {
            self.stat(path).await?;
            Ok(self.resolve(path).await)
        })
    }

    /// A whole file of at most `max_bytes`.
    fn read<'a>(
        &'a self,
        path: &'a Path,
        max_bytes: u64,
    ) -> BoxFuture<'a, Result<FileRead, FileError>>;

    /// Some lines of a file, from the 1-based `first` on, without holding the
    /// rest in memory.
    fn read_lines<'a>(
        &'a self,
        path: &'a Path,
        first: u64,
        count: u64,
        max_bytes: u64,
    ) -> BoxFuture<'a, Result<LinesRead, FileError>>;

    /// The files below a directory, links followed, at most `most`, in the
    /// order of their paths. Where directories are not known, there are none.
    fn list<'a>(
        &'a self,
        dir: &'a Path,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<PathBuf>, FileError>> {
        let _ = most;
        let path = dir.to_owned();
        Box::pin(async move { Err(FileError::NotFound { path }) })
    }

    /// Writes a file whole or not at all, making directories as needed.
    /// Permissions of an existing file are kept.
    fn write<'a>(
        &'a self,
        path: &'a Path,
        bytes: &'a [u8],
        expect: Expect,
    ) -> BoxFuture<'a, Result<FileVersion, FileError>>;

    /// Removes a file of this version. Where files are never removed, it is
    /// denied.
    fn remove<'a>(
        &'a self,
        path: &'a Path,
        version: FileVersion,
    ) -> BoxFuture<'a, Result<(), FileError>> {
        let _ = version;
        let path = path.to_owned();
        Box::pin(async move { Err(FileError::Denied { path }) })
    }
}

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileStat {
    /// What kind of thing.
    pub kind: FileKind,
    /// Its size in bytes.
    pub bytes: u64,
    /// When it was last written, where that is known.
    pub modified: Option<Timestamp>,
}

/// Kinds of things at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    File,
    Directory,
    /// A device, pipe or socket: reading it might never end.
    Special,
}

/// A hash of a file's content: two versions are the same if their bytes are.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileVersion(pub String);

/// A whole file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRead {
    /// Its bytes.
    pub bytes: Bytes,
    pub version: FileVersion,
}

/// Some lines of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinesRead {
    /// The bytes of the lines that were asked for.
    pub bytes: Bytes,
    /// How many lines those are.
    pub lines: u64,
    /// How many lines the file has.
    pub total_lines: u64,
    /// The version of the whole file.
    pub version: FileVersion,
    /// Whether the file has a NUL byte near its start, as binaries do.
    pub binary: bool,
}

/// What must be at a path for a write to go through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expect {
    Anything,
    Absent,
    Version(FileVersion),
}

/// Why a file could not be read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    #[error("{path} does not exist")]
    NotFound { path: PathBuf },
    #[error("{path} is a directory")]
    IsDirectory { path: PathBuf },
    /// It is a device, pipe or socket.
    #[error("{path} is a device, pipe or socket, not a file")]
    Special { path: PathBuf },
    /// It is larger than allowed.
    #[error("{path} has {bytes} bytes, more than the {max} that are read at once")]
    TooLarge { path: PathBuf, bytes: u64, max: u64 },
    /// It is not what it was expected to be.
    #[error("{path} changed since it was read")]
    Changed { path: PathBuf },
    /// It may not be written so.
    #[error("{path}: {reason}")]
    Refused {
        path: PathBuf,
        /// Why not, and what to do.
        reason: String,
    },
    /// The operating system said no.
    #[error("permission denied: {path}")]
    Denied { path: PathBuf },
    /// The disk is full.
    #[error("no space left on the device for {path}")]
    NoSpace { path: PathBuf },
    #[error("{path}: {message}")]
    Io {
        path: PathBuf,
        /// What the operating system said.
        message: String,
    },
}

impl Classify for FileError {
    fn class(&self) -> Class {
        match self {
            Self::NoSpace { .. } | Self::Io { .. } => Class::Degrade,
            _ => Class::Refuse,
        }
    }
}
