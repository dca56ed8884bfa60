//! A file that is held open while another takes its name.

use super::Root;
use crate::error::Error;
use cap_std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// A file, held open: what others write to it is seen after it was replaced or
/// removed too.
#[derive(Debug)]
pub struct HeldFile {
    file: File,
    path: PathBuf,
}

impl Root {
    /// Holds a file; none where there is none.
    ///
    /// # Errors
    /// If it leads out, is no file or cannot be opened.
    pub fn hold(&self, path: &Path) -> Result<Option<HeldFile>, Error> {
        let inside = self.inside(path)?;
        let there = match self.dir.symlink_metadata(&inside) {
            Ok(there) => there,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.failed(path, error)),
        };
        self.must_be_file(path, there.is_dir(), there.is_file())?;
        match self.dir.open(&inside) {
            Ok(file) => Ok(Some(HeldFile { file, path: self.path.join(path) })),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.failed(path, error)),
        }
    }
}

impl HeldFile {
    /// What it holds now; none where that is more than `max_bytes`.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(&mut self, max_bytes: u64) -> Result<Option<Vec<u8>>, Error> {
        let mut bytes = Vec::new();
        let most = max_bytes.saturating_add(1);
        let file = &mut self.file;
        file.seek(SeekFrom::Start(0))
            .and_then(|_| file.take(most).read_to_end(&mut bytes))
            .map_err(|source| Error::io(&self.path, source))?;
        Ok((bytes.len() as u64 <= max_bytes).then_some(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn x5_what_is_written_to_a_file_that_was_replaced_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::open(dir.path()).unwrap();
        assert!(root.hold(Path::new("a.md")).unwrap().is_none());
        std::fs::write(dir.path().join("a.md"), "one").unwrap();
        let mut theirs =
            std::fs::File::options().append(true).open(dir.path().join("a.md")).unwrap();
        let mut held = root.hold(Path::new("a.md")).unwrap().unwrap();
        root.write(Path::new("a.md"), b"ours").unwrap();
        theirs.write_all(b" two").unwrap();
        assert_eq!(held.read(100).unwrap().as_deref(), Some(&b"one two"[..]));
        assert_eq!(held.read(3).unwrap(), None);
        assert!(root.hold(Path::new("../a.md")).is_err());
    }
}
