//! Transcripts of private sessions (L5.31): the log is held in memory, files
//! beside it are in a directory that goes with its owner.
//!
//! The directory is locked while its owner lives. One whose lock is free was
//! left by a process that was killed; the next one to come removes it.

use crate::error::Error;
use crate::lock::Lock;
use crate::transcripts::DiskTranscripts;
use everfold_kernel::SessionId;
use everfold_kernel::ports::{
    BoxFuture, Expect, FileError, FileRead, Glimpse, LoadedTranscript, TranscriptError, Transcripts,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tempfile::TempDir;

/// How the names of these directories start.
const PREFIX: &str = "everfold-private-";
const LOCK: &str = "lock";

/// Transcripts that nothing is left of.
pub struct PrivateTranscripts {
    lines: Mutex<BTreeMap<SessionId, Vec<Vec<u8>>>>,
    files: DiskTranscripts,
    _lock: Option<Lock>,
    // Dropped last: removes the directory.
    _dir: TempDir,
}

impl PrivateTranscripts {
    /// A place in the system's directory for temporary files.
    ///
    /// # Errors
    /// If a directory cannot be made there.
    pub fn new() -> Result<Self, Error> {
        Self::within(&std::env::temp_dir())
    }

    /// A place in this directory.
    ///
    /// # Errors
    /// If a directory cannot be made there.
    pub fn within(parent: &Path) -> Result<Self, Error> {
        sweep(parent);
        let failed = |source| Error::io(parent, source);
        let dir = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent).map_err(failed)?;
        let lock = Lock::try_acquire(&dir.path().join(LOCK))?;
        let files = DiskTranscripts::new(dir.path().join("files"));
        Ok(Self { lines: Mutex::default(), files, _lock: lock, _dir: dir })
    }

    fn lines(&self) -> std::sync::MutexGuard<'_, BTreeMap<SessionId, Vec<Vec<u8>>>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes what killed processes left.
fn sweep(parent: &Path) {
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes());
        let lock = entry.path().join(LOCK);
        // One without a lock is being made just now.
        if is_ours && lock.is_file() && matches!(Lock::try_acquire(&lock), Ok(Some(_))) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

impl Transcripts for PrivateTranscripts {
    fn append<'a>(
        &'a self,
        session: &'a SessionId,
        line: &'a [u8],
    ) -> BoxFuture<'a, Result<(), TranscriptError>> {
        self.lines().entry(session.clone()).or_default().push(line.to_vec());
        Box::pin(async { Ok(()) })
    }

    fn load<'a>(
        &'a self,
        session: &'a SessionId,
        sink: &'a mut (dyn FnMut(&[u8]) + Send),
    ) -> BoxFuture<'a, Result<LoadedTranscript, TranscriptError>> {
        let lines = self.lines().get(session).cloned();
        let path = self.path(session);
        Box::pin(async move {
            let missing = || TranscriptError::NotFound { session: session.clone(), path };
            let lines = lines.ok_or_else(missing)?;
            for line in &lines {
                sink(line);
            }
            Ok(LoadedTranscript { lines: lines.len() as u64, ..LoadedTranscript::default() })
        })
    }

    fn glimpse(&self) -> BoxFuture<'_, Result<Vec<Glimpse>, TranscriptError>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn keep<'a>(
        &'a self,
        session: &'a SessionId,
        place: &'a Path,
        bytes: &'a [u8],
    ) -> BoxFuture<'a, Result<PathBuf, FileError>> {
        self.files.keep(session, place, bytes)
    }

    fn beside<'a>(
        &'a self,
        session: &'a SessionId,
        place: &'a Path,
        max_bytes: u64,
    ) -> BoxFuture<'a, Result<Option<FileRead>, FileError>> {
        self.files.beside(session, place, max_bytes)
    }

    fn replace<'a>(
        &'a self,
        session: &'a SessionId,
        place: &'a Path,
        bytes: &'a [u8],
        expect: Expect,
    ) -> BoxFuture<'a, Result<(), FileError>> {
        self.files.replace(session, place, bytes, expect)
    }

    fn session_dir(&self, session: &SessionId) -> PathBuf {
        self.files.session_dir(session)
    }

    fn path(&self, session: &SessionId) -> PathBuf {
        self.files.path(session)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn l5_31_nothing_is_left_of_a_private_session() {
        let parent = tempfile::tempdir().unwrap();
        let count = || std::fs::read_dir(parent.path()).unwrap().count();
        let private = PrivateTranscripts::within(parent.path()).unwrap();
        let session = SessionId::new("s");
        private.append(&session, b"one").await.unwrap();
        private.append(&session, b"two").await.unwrap();
        let kept = private.keep(&session, Path::new("tool-results/a.txt"), b"long").await.unwrap();
        assert!(kept.starts_with(parent.path()) && kept.exists());
        let mut seen = Vec::new();
        private.load(&session, &mut |line| seen.push(line.to_vec())).await.unwrap();
        assert_eq!(seen, [b"one".to_vec(), b"two".to_vec()]);
        assert!(!private.path(&session).exists(), "no transcript on disk");
        assert!(private.load(&SessionId::new("x"), &mut |_| {}).await.is_err());
        drop(private);
        assert_eq!(count(), 0);
    }

    #[test]
    fn l5_31_what_a_killed_process_left_is_removed_by_the_next() {
        let parent = tempfile::tempdir().unwrap();
        let dead = parent.path().join(format!("{PREFIX}dead"));
        std::fs::create_dir(&dead).unwrap();
        std::fs::write(dead.join(LOCK), "").unwrap();
        std::fs::write(dead.join("secret"), "x").unwrap();
        let alive = PrivateTranscripts::within(parent.path()).unwrap();
        assert!(!dead.exists());
        let _other = PrivateTranscripts::within(parent.path()).unwrap();
        assert!(alive.session_dir(&SessionId::new("s")).starts_with(parent.path()));
        assert_eq!(std::fs::read_dir(parent.path()).unwrap().count(), 2, "the living stay");
    }
}
