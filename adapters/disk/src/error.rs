//! Why something on the disk did not work.

use everfold_kernel::error::{Class, Classify};
use everfold_kernel::ports::FileError;
use std::io;
use std::path::{Path, PathBuf};

/// What failed, where, and what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The path leads out of the directory that it was meant for.
    #[error("{path} leads out of {root}; use a path inside it")]
    Escapes {
        root: PathBuf,
        /// What was asked for.
        path: PathBuf,
    },
    #[error("{path} does not exist")]
    NotFound { path: PathBuf },
    /// Something is there already.
    #[error("{path} already exists; choose another name or remove it first")]
    Exists { path: PathBuf },
    #[error("{path} is a directory, not a file")]
    IsDirectory { path: PathBuf },
    /// It is a device, pipe or socket.
    #[error("{path} is a device, pipe or socket, not a file")]
    Special { path: PathBuf },
    /// It is larger than allowed.
    #[error("{path} has {bytes} bytes, more than the {max} that are read at once")]
    TooLarge {
        path: PathBuf,
        /// How much there is, as far as it was looked at.
        bytes: u64,
        max: u64,
    },
    #[error("{path} is not UTF-8 text")]
    NotText { path: PathBuf },
    /// A line for a JSONL file has a line break in it.
    #[error("a line for {path} has a line break in it; write it as one line of JSON")]
    LineBreak { path: PathBuf },
    /// The operating system said no.
    #[error("permission denied: {path}; check its owner and permissions")]
    Denied { path: PathBuf },
    /// The disk is full, or the quota used up.
    #[error("no space left on the device for {path}; free some and try again")]
    NoSpace { path: PathBuf },
    #[error("{path}: {source}")]
    Io {
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
}

impl Error {
    /// Names what an I/O error means.
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        let path = path.to_path_buf();
        match source.kind() {
            io::ErrorKind::NotFound => Self::NotFound { path },
            io::ErrorKind::AlreadyExists => Self::Exists { path },
            io::ErrorKind::IsADirectory => Self::IsDirectory { path },
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Self::Denied { path }
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::NoSpace { path },
            _ => Self::Io { path, source },
        }
    }
}

impl Classify for Error {
    fn class(&self) -> Class {
        match self {
            Self::NoSpace { .. } | Self::Io { .. } => Class::Degrade,
            Self::LineBreak { .. } => Class::Bug,
            _ => Class::Refuse,
        }
    }
}

impl From<Error> for FileError {
    fn from(error: Error) -> Self {
        match error {
            Error::NotFound { path } => Self::NotFound { path },
            Error::Exists { path } => Self::Changed { path },
            Error::IsDirectory { path } => Self::IsDirectory { path },
            Error::Special { path } => Self::Special { path },
            Error::TooLarge { path, bytes, max } => Self::TooLarge { path, bytes, max },
            Error::Denied { path } | Error::Escapes { path, .. } => Self::Denied { path },
            Error::NoSpace { path } => Self::NoSpace { path },
            Error::Io { path, source } => Self::Io { path, message: source.to_string() },
            Error::LineBreak { ref path } | Error::NotText { ref path } => {
                Self::Io { path: path.clone(), message: error.to_string() }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn s6_numbers_of_the_system_get_names() {
        let named = |errno| Error::io(Path::new("/x"), io::Error::from_raw_os_error(errno));
        assert!(matches!(named(2), Error::NotFound { .. }));
        assert!(matches!(named(1), Error::Denied { .. }), "EPERM");
        assert!(matches!(named(13), Error::Denied { .. }), "EACCES");
        assert!(matches!(named(30), Error::Denied { .. }), "EROFS");
        assert!(matches!(named(28), Error::NoSpace { .. }), "ENOSPC");
        assert!(matches!(named(122), Error::NoSpace { .. }), "EDQUOT");
        assert!(matches!(named(21), Error::IsDirectory { .. }), "EISDIR");
        assert!(matches!(named(17), Error::Exists { .. }), "EEXIST");
        assert!(matches!(named(5), Error::Io { .. }), "EIO");
    }

    #[test]
    fn s6_messages_name_the_path() {
        let error = Error::io(Path::new("/a/b"), io::ErrorKind::StorageFull.into());
        assert_eq!(
            error.to_string(),
            "no space left on the device for /a/b; free some and try again"
        );
        assert_eq!(error.class(), Class::Degrade);
    }
}
