//! Changes whose names reach the disk later, so that many of them wait for it
//! once.

use super::{Root, parent};
use crate::error::Error;
use std::collections::BTreeSet;
use std::path::Path;

impl Root {
    /// As [`Root::write`], but only the bytes are brought to the disk, not the
    /// name: after the power failed, the old file may be there, never a part
    /// of the new one.
    ///
    /// # Errors
    /// As [`Root::write`].
    pub fn write_lazily(&self, path: &Path, bytes: &[u8]) -> Result<(), Error> {
        let target = self.target(path)?;
        let temp = self.stage(&target, bytes)?;
        self.dir
            .rename(&temp, &self.dir, &target)
            .map_err(|source| self.give_up(&temp, path, source))
    }

    /// As [`Root::remove`], for a file that does no harm if the power fails
    /// and it is there again.
    ///
    /// # Errors
    /// As [`Root::remove`].
    pub fn remove_lazily(&self, path: &Path) -> Result<(), Error> {
        let inside = self.inside(path)?;
        self.dir.remove_file(&inside).map_err(|source| self.failed(path, source))
    }

    /// Brings the names of these files to the disk, each directory once.
    ///
    /// # Errors
    /// If one leads out, or a directory cannot be brought there.
    pub fn settle<'a>(&self, paths: impl IntoIterator<Item = &'a Path>) -> Result<(), Error> {
        let mut done = BTreeSet::new();
        for path in paths {
            let inside = self.inside(path)?;
            if !done.insert(parent(&inside).to_path_buf()) {
                continue;
            }
            match self.sync_parent(&inside) {
                // A directory that is gone has no names.
                Ok(()) | Err(Error::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_lazily_is_there_and_settles() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::open(dir.path()).unwrap();
        let (a, b) = (Path::new("a"), Path::new("sub/b"));
        root.write_lazily(a, b"one").unwrap();
        root.write_lazily(b, b"two").unwrap();
        root.settle([a, b, a]).unwrap();
        root.remove_lazily(b).unwrap();
        assert_eq!(std::fs::read(dir.path().join("a")).unwrap(), b"one");
        assert!(!dir.path().join(b).exists());
        assert!(root.settle([Path::new("../x")]).is_err());
    }
}
