//! The only file that the fork sees: the notes, in memory (S1, L3.4).
//!
//! Nothing that it does reaches the disk. Any other path is refused, whatever
//! it is by the names on the disk.

use bytes::Bytes;
use everfold_kernel::ports::{
    BoxFuture, Expect, FileError, FileKind, FileRead, FileStat, FileVersion, Files, LinesRead,
};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A file in memory, under the path that it has on disk.
pub(super) struct Page {
    path: PathBuf,
    state: Mutex<State>,
}

struct State {
    text: Bytes,
    /// How often it was written.
    writes: u64,
}

impl Page {
    pub(super) fn new(path: PathBuf, text: &str) -> Self {
        let text = Bytes::copy_from_slice(text.as_bytes());
        Self { path, state: Mutex::new(State { text, writes: 0 }) }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Which version of it is there now.
    pub(super) fn version(&self) -> FileVersion {
        version(&self.state())
    }

    /// Writes a text on it, whatever was there.
    pub(super) fn put(&self, text: &str) {
        let mut state = self.state();
        state.text = Bytes::copy_from_slice(text.as_bytes());
        state.writes += 1;
    }

    /// What is written on it.
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.state().text).into_owned()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn only(&self, path: &Path) -> Result<MutexGuard<'_, State>, FileError> {
        if path == self.path {
            Ok(self.state())
        } else {
            Err(FileError::Denied { path: path.to_owned() })
        }
    }

    fn write_now(
        &self,
        path: &Path,
        bytes: &[u8],
        expect: &Expect,
    ) -> Result<FileVersion, FileError> {
        let mut state = self.only(path)?;
        let as_expected = match expect {
            Expect::Anything => true,
            Expect::Absent => false,
            Expect::Version(expected) => *expected == version(&state),
        };
        if !as_expected {
            return Err(FileError::Changed { path: path.to_owned() });
        }
        state.text = Bytes::copy_from_slice(bytes);
        state.writes += 1;
        Ok(version(&state))
    }
}

fn version(state: &State) -> FileVersion {
    FileVersion(format!("page-{}", state.writes))
}

impl Files for Page {
    fn stat<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<FileStat, FileError>> {
        let stat = self.only(path).map(|state| FileStat {
            kind: FileKind::File,
            bytes: state.text.len() as u64,
            modified: None,
        });
        Box::pin(async move { stat })
    }

    fn resolve<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, PathBuf> {
        Box::pin(async move { path.to_owned() })
    }

    fn read<'a>(&'a self, path: &'a Path, _: u64) -> BoxFuture<'a, Result<FileRead, FileError>> {
        let read = self
            .only(path)
            .map(|state| FileRead { bytes: state.text.clone(), version: version(&state) });
        Box::pin(async move { read })
    }

    fn read_lines<'a>(
        &'a self,
        path: &'a Path,
        _: u64,
        _: u64,
        _: u64,
    ) -> BoxFuture<'a, Result<LinesRead, FileError>> {
        // Read is not among its tools: the notes are in what it is told.
        Box::pin(async move { Err(FileError::Denied { path: path.to_owned() }) })
    }

    fn write<'a>(
        &'a self,
        path: &'a Path,
        bytes: &'a [u8],
        expect: Expect,
    ) -> BoxFuture<'a, Result<FileVersion, FileError>> {
        let written = self.write_now(path, bytes, &expect);
        Box::pin(async move { written })
    }
}
