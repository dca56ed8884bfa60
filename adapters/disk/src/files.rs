//! The files that tools read and write: the port [`Files`] on a real disk.
//!
//! Files here are the person's: new ones follow the umask, old ones keep
//! their permissions. Nothing is confined; what may be touched is decided
//! before, on the path that [`Files::resolve`] gives.

use crate::atomic::{FileReaders, Staged};
use crate::error::Error;
use crate::regular::{open_regular, read_regular};
use bytes::Bytes;
use everfold_kernel::ports::{
    BoxFuture, Expect, FileError, FileKind, FileRead, FileStat, FileVersion, Files, LinesRead,
};
use jiff::Timestamp;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

mod lines;
mod list;
mod resolve;

/// Files by absolute path.
#[derive(Clone, Copy, Debug, Default)]
pub struct DiskFiles;

impl Files for DiskFiles {
    fn stat<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<FileStat, FileError>> {
        blocking(path, stat)
    }

    fn resolve<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, PathBuf> {
        Box::pin(async move {
            let given = path.to_path_buf();
            let resolved = tokio::task::spawn_blocking(move || resolve::resolve(&given)).await;
            resolved.unwrap_or_else(|_| path.to_path_buf())
        })
    }

    fn find<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<PathBuf, FileError>> {
        blocking(path, |path| {
            stat(path)?;
            Ok(resolve::resolve(path))
        })
    }

    fn read<'a>(
        &'a self,
        path: &'a Path,
        max_bytes: u64,
    ) -> BoxFuture<'a, Result<FileRead, FileError>> {
        blocking(path, move |path| read(path, max_bytes))
    }

    fn list<'a>(
        &'a self,
        dir: &'a Path,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<PathBuf>, FileError>> {
        blocking(dir, move |dir| list::below(dir, most))
    }

    fn read_lines<'a>(
        &'a self,
        path: &'a Path,
        first: u64,
        count: u64,
        max_bytes: u64,
    ) -> BoxFuture<'a, Result<LinesRead, FileError>> {
        blocking(path, move |path| lines::read(path, open(path)?.0, first, count, max_bytes))
    }

    fn write<'a>(
        &'a self,
        path: &'a Path,
        bytes: &'a [u8],
        expect: Expect,
    ) -> BoxFuture<'a, Result<FileVersion, FileError>> {
        let bytes = bytes.to_vec();
        blocking(path, move |path| write(path, &bytes, &expect))
    }

    fn remove<'a>(
        &'a self,
        path: &'a Path,
        version: FileVersion,
    ) -> BoxFuture<'a, Result<(), FileError>> {
        blocking(path, move |path| {
            check(path, &Expect::Version(version))?;
            fs::remove_file(path).map_err(|source| Error::io(path, source).into())
        })
    }
}

/// Does the work on a thread where it may block.
fn blocking<T: Send + 'static>(
    path: &Path,
    work: impl FnOnce(&Path) -> Result<T, FileError> + Send + 'static,
) -> BoxFuture<'_, Result<T, FileError>> {
    Box::pin(async move {
        let given = path.to_path_buf();
        let done = tokio::task::spawn_blocking(move || work(&given)).await;
        done.unwrap_or_else(|failed| {
            Err(FileError::Io { path: path.to_path_buf(), message: failed.to_string() })
        })
    })
}

fn stat(path: &Path) -> Result<FileStat, FileError> {
    let there = fs::metadata(path).map_err(|source| Error::io(path, source))?;
    let kind = if there.is_file() {
        FileKind::File
    } else if there.is_dir() {
        FileKind::Directory
    } else {
        FileKind::Special
    };
    let bytes = there.len();
    let modified = there.modified().ok().and_then(|time| Timestamp::try_from(time).ok());
    Ok(FileStat { kind, bytes, modified })
}

/// Opens a regular file, and says how large it claims to be.
fn open(path: &Path) -> Result<(File, u64), FileError> {
    Ok(open_regular(path)?)
}

fn read(path: &Path, max: u64) -> Result<FileRead, FileError> {
    let bytes = read_regular(path, max)?;
    let version = FileVersion(blake3::hash(&bytes).to_hex().to_string());
    let bytes = Bytes::from(bytes);
    Ok(FileRead { bytes, version })
}

fn write(path: &Path, bytes: &[u8], expect: &Expect) -> Result<FileVersion, FileError> {
    // Once before anything is made, and once more right before the rename.
    check(path, expect)?;
    let staged = Staged::new(path, bytes, FileReaders::Umask)?;
    if *expect == Expect::Absent {
        staged.commit_new()?;
    } else {
        check(staged.target(), expect)?;
        staged.commit()?;
    }
    Ok(FileVersion(blake3::hash(bytes).to_hex().to_string()))
}

fn check(path: &Path, expect: &Expect) -> Result<(), FileError> {
    let changed = || FileError::Changed { path: path.to_path_buf() };
    match expect {
        Expect::Anything => Ok(()),
        Expect::Absent => match stat(path) {
            Err(FileError::NotFound { .. }) => Ok(()),
            Ok(FileStat { kind: FileKind::File, .. }) => Err(changed()),
            Ok(_) => open(path).map(|_| ()),
            Err(error) => Err(error),
        },
        Expect::Version(version) => match open(path) {
            Ok((file, _)) if version_of(&file, path)? == *version => Ok(()),
            Ok(_) | Err(FileError::NotFound { .. }) => Err(changed()),
            Err(error) => Err(error),
        },
    }
}

fn version_of(mut file: &File, path: &Path) -> Result<FileVersion, FileError> {
    let mut hasher = blake3::Hasher::new();
    io::copy(&mut file, &mut hasher).map_err(|source| Error::io(path, source))?;
    Ok(FileVersion(hasher.finalize().to_hex().to_string()))
}
