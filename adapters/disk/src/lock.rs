//! A lock among processes, on a file of its own.
//!
//! The lock is advisory and tied to the open file: it ends with its holder,
//! however that ends. The file stays, since removing it would let two holders
//! lock two different files of the same name.

use crate::error::Error;
use crate::jsonl::{is_same, open_private};
use std::fs::{File, TryLockError};
use std::io::Write;
use std::path::Path;

/// A held lock; dropping it lets go.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Lock {
    /// Takes the lock on a file, which is made if need be. `None` if somebody
    /// else holds it.
    ///
    /// # Errors
    /// If the file cannot be made or locked.
    pub fn try_acquire(path: &Path) -> Result<Option<Self>, Error> {
        let file = open_private(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(source)) => Err(Error::io(path, source)),
        }
    }

    /// Whether a path leads to the locked file: its last holder may have
    /// removed it.
    pub(crate) fn is_in_place(&self, path: &Path) -> bool {
        is_same(&self.file, path)
    }

    /// Says something in the file, in place of what it said before.
    pub(crate) fn write(&self, bytes: &[u8]) -> std::io::Result<()> {
        self.file.set_len(0)?;
        (&self.file).write_all(bytes)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing lets go too, but a process that is being started may share
        // the open file for a moment and would keep the lock alive.
        let _ = self.file.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_holder_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("deep/er/lock");
        let held = Lock::try_acquire(&path).unwrap();
        assert!(held.is_some());
        assert!(Lock::try_acquire(&path).unwrap().is_none());
        drop(held);
        assert!(Lock::try_acquire(&path).unwrap().is_some());
    }

    #[cfg(unix)]
    #[test]
    fn s5_the_file_is_private() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sub/lock");
        let _held = Lock::try_acquire(&path).unwrap().unwrap();
        let mode = |p: &Path| std::fs::metadata(p).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(path.parent().unwrap()), 0o700);
    }

    #[test]
    fn s6_a_directory_in_the_way_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let error = Lock::try_acquire(dir.path()).unwrap_err();
        assert!(matches!(error, Error::IsDirectory { .. }), "{error}");
    }
}
