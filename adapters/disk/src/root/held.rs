//! A file that is held open after another took its name.

use super::{Root, parent};
use crate::error::Error;
use cap_std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// How often a name is tried that comes and goes.
const TRADES: usize = 16;

/// What became of a file that was to take a name.
enum Traded {
    /// It has the name; what had it stands under the other one.
    Gone,
    /// It has the name, which was free.
    Placed,
}

/// Why it did not.
enum Refusal {
    /// That cannot be done here.
    Cannot,
    Failed(io::Error),
}

/// A file, held open: what others write to it is seen after it was replaced or
/// removed too.
#[derive(Debug)]
pub struct HeldFile {
    file: File,
    path: PathBuf,
}

impl Root {
    /// As [`Root::write_lazily`], and gives what had the name until then: that
    /// very file, whoever put it there last.
    ///
    /// Where the file system cannot exchange names, what is given is the file
    /// that was there just before.
    ///
    /// # Errors
    /// As [`Root::write`].
    pub fn exchange(&self, path: &Path, bytes: &[u8]) -> Result<Option<HeldFile>, Error> {
        let target = self.target(path)?;
        let temp = self.stage(&target, bytes)?;
        match self.trade(&temp, &target) {
            Ok(Traded::Gone) => self.let_go(&temp),
            Ok(Traded::Placed) => Ok(None),
            Err(Refusal::Cannot) => self.replace(&temp, &target),
            Err(Refusal::Failed(source)) => Err(self.give_up(&temp, path, source)),
        }
    }

    /// As [`Root::remove_lazily`] of a file, and gives what was removed.
    ///
    /// # Errors
    /// If it leads out, is not a file or cannot be removed.
    pub fn take(&self, path: &Path) -> Result<Option<HeldFile>, Error> {
        let target = self.inside(path)?;
        let there = self.dir.symlink_metadata(&target);
        let there = there.map_err(|source| self.failed(path, source))?;
        self.must_be_file(path, there.is_dir(), there.is_file())?;
        let (temp, _) = self.temporary(parent(&target))?;
        let moved = self.dir.rename(&target, &self.dir, &temp);
        moved.map_err(|source| self.give_up(&temp, path, source))?;
        self.let_go(&temp)
    }

    /// Holds a file that lost its name, and removes it.
    fn let_go(&self, temp: &Path) -> Result<Option<HeldFile>, Error> {
        let held = self.hold(temp);
        self.dir.remove_file(temp).map_err(|source| self.failed(temp, source))?;
        held
    }

    /// Gives a finished file the name of the target, in one step, and takes
    /// away what had it.
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    fn trade(&self, temp: &Path, target: &Path) -> Result<Traded, Refusal> {
        use rustix::fs::{RenameFlags, renameat_with};
        use rustix::io::Errno;
        let dir = self.dir.open_dir(parent(target)).map_err(Refusal::Failed)?;
        let (Some(from), Some(to)) = (temp.file_name(), target.file_name()) else {
            return Err(Refusal::Cannot);
        };
        for _ in 0..TRADES {
            match renameat_with(&dir, from, &dir, to, RenameFlags::EXCHANGE) {
                Ok(()) => return Ok(Traded::Gone),
                Err(Errno::NOENT) => {}
                Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => return Err(Refusal::Cannot),
                Err(error) => return Err(Refusal::Failed(error.into())),
            }
            match renameat_with(&dir, from, &dir, to, RenameFlags::NOREPLACE) {
                Ok(()) => return Ok(Traded::Placed),
                Err(Errno::EXIST) => {}
                Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => return Err(Refusal::Cannot),
                Err(error) => return Err(Refusal::Failed(error.into())),
            }
        }
        Err(Refusal::Cannot)
    }

    #[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
    fn trade(&self, _: &Path, _: &Path) -> Result<Traded, Refusal> {
        Err(Refusal::Cannot)
    }

    /// The same in two steps.
    fn replace(&self, temp: &Path, target: &Path) -> Result<Option<HeldFile>, Error> {
        let held = self.hold(target);
        let moved = self.dir.rename(temp, &self.dir, target);
        moved.map_err(|source| self.give_up(temp, target, source))?;
        held
    }

    /// Holds a file; none where there is none.
    fn hold(&self, path: &Path) -> Result<Option<HeldFile>, Error> {
        let there = match self.dir.symlink_metadata(path) {
            Ok(there) => there,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.failed(path, error)),
        };
        self.must_be_file(path, there.is_dir(), there.is_file())?;
        match self.dir.open(path) {
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
        let (name, file) = (Path::new("sub/a.md"), dir.path().join("sub/a.md"));
        assert!(root.exchange(name, b"one").unwrap().is_none());
        let mut theirs = std::fs::File::options().append(true).open(&file).unwrap();
        let mut held = root.exchange(name, b"ours").unwrap().unwrap();
        theirs.write_all(b" two").unwrap();
        assert_eq!(held.read(100).unwrap().as_deref(), Some(&b"one two"[..]));
        assert_eq!(held.read(3).unwrap(), None);
        assert_eq!(std::fs::read(&file).unwrap(), b"ours");
        let mut held = root.take(name).unwrap().unwrap();
        assert_eq!(held.read(100).unwrap().as_deref(), Some(&b"ours"[..]));
        let left = std::fs::read_dir(dir.path().join("sub")).unwrap().count();
        assert_eq!(left, 0, "nothing is left behind");
        assert!(root.take(name).is_err(), "there is nothing to remove");
        assert!(root.exchange(Path::new("../a.md"), b"x").is_err());
    }

    #[test]
    fn x5_where_names_cannot_be_exchanged_the_file_from_before_is_held() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::open(dir.path()).unwrap();
        let name = Path::new("a.md");
        root.write(name, b"one").unwrap();
        let temp = root.stage(name, b"ours").unwrap();
        let mut held = root.replace(&temp, name).unwrap().unwrap();
        assert_eq!(held.read(100).unwrap().as_deref(), Some(&b"one"[..]));
        assert_eq!(std::fs::read(dir.path().join(name)).unwrap(), b"ours");
    }
}
