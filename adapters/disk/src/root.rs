//! A directory that nothing done through it can leave (S1).
//!
//! The directory is opened once, and everything else is opened relative to
//! that handle. Whether a path stays inside is answered by the operating
//! system while it walks the path, links included, not by comparing strings:
//! a link swapped in at the last moment leads nowhere either. Absolute paths
//! and `..` are refused outright, so that a name has one meaning.
//!
//! Files are made with 0600, directories with 0700 (S5). Writes are whole or
//! not at all. Everything here blocks.

use crate::atomic::{FileReaders, make_dirs};
use crate::error::Error;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, DirBuilder, File, OpenOptions};
use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

mod append;
mod held;
mod lazy;
mod listing;

pub use held::HeldFile;
pub use listing::{EntryKind, RootEntry};

/// How the names of unfinished files start; lists leave them out.
const TEMP_PREFIX: &str = ".everfold-tmp-";
/// How often another name is tried for an unfinished file.
const TEMP_TRIES: usize = 64;
/// Bytes that are read at once of a file that is read line by line.
const LINES_BYTES: usize = 64 * 1024;

/// A directory, held open, and all below it.
#[derive(Debug)]
pub struct Root {
    dir: Dir,
    path: PathBuf,
}

impl Root {
    /// Opens a directory that exists.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let dir = Dir::open_ambient_dir(path, ambient_authority())
            .map_err(|source| Error::io(path, source))?;
        let path = path.to_path_buf();
        Ok(Self { dir, path })
    }

    /// Opens a directory, making it and those above it as needed.
    ///
    /// # Errors
    /// If it cannot be made or opened.
    pub fn create(path: &Path) -> Result<Self, Error> {
        make_dirs(path, FileReaders::Private)?;
        Self::open(path)
    }

    /// A directory inside this one as a root of its own, made as needed.
    ///
    /// # Errors
    /// If it leads out, or cannot be made or opened.
    pub fn sub(&self, path: &Path) -> Result<Self, Error> {
        let inside = self.inside(path)?;
        self.make_dirs_inside(&inside)?;
        let dir = self.dir.open_dir(&inside).map_err(|source| self.failed(path, source))?;
        Ok(Self { dir, path: self.path.join(inside) })
    }

    /// Where the directory was when it was opened.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A whole file of at most `max_bytes`.
    ///
    /// # Errors
    /// If it leads out, is not a file, is too large or cannot be read.
    pub fn read(&self, path: &Path, max_bytes: u64) -> Result<Vec<u8>, Error> {
        let failed = |source| self.failed(path, source);
        let inside = self.inside(path)?;
        // Opening a pipe would wait for its other end, so look first.
        let there = self.dir.metadata(&inside).map_err(failed)?;
        self.must_be_file(path, there.is_dir(), there.is_file())?;
        // Growing by doubling would copy a large file several times.
        let expected = there.len().min(max_bytes).saturating_add(1);
        let mut bytes = Vec::with_capacity(usize::try_from(expected).unwrap_or_default());
        self.dir
            .open(&inside)
            .map_err(failed)?
            .take(max_bytes.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(failed)?;
        let found = there.len().max(bytes.len() as u64);
        if found > max_bytes {
            return Err(Error::TooLarge {
                path: self.path.join(path),
                bytes: found,
                max: max_bytes,
            });
        }
        Ok(bytes)
    }

    /// Hands each line of a file over, without its break and without holding
    /// the others.
    ///
    /// # Errors
    /// If it leads out, is not a file or cannot be read.
    pub fn each_line(&self, path: &Path, mut each: impl FnMut(&[u8])) -> Result<(), Error> {
        let failed = |source| self.failed(path, source);
        let inside = self.inside(path)?;
        let there = self.dir.metadata(&inside).map_err(failed)?;
        self.must_be_file(path, there.is_dir(), there.is_file())?;
        let file = self.dir.open(&inside).map_err(failed)?;
        let mut file = BufReader::with_capacity(LINES_BYTES, file);
        let mut line = Vec::new();
        while file.read_until(b'\n', &mut line).map_err(failed)? > 0 {
            each(line.strip_suffix(b"\n").unwrap_or(&line));
            line.clear();
        }
        Ok(())
    }

    /// The first `max_bytes` of a file, or all of it where it is shorter.
    ///
    /// # Errors
    /// If it leads out, is not a file or cannot be read.
    pub fn head(&self, path: &Path, max_bytes: u64) -> Result<Vec<u8>, Error> {
        let failed = |source| self.failed(path, source);
        let inside = self.inside(path)?;
        // Opening a pipe would wait for its other end, so look first.
        let there = self.dir.metadata(&inside).map_err(failed)?;
        self.must_be_file(path, there.is_dir(), there.is_file())?;
        let mut bytes = Vec::new();
        let file = self.dir.open(&inside).map_err(failed)?;
        file.take(max_bytes).read_to_end(&mut bytes).map_err(failed)?;
        Ok(bytes)
    }

    /// Writes a file whole or not at all, making directories as needed. A
    /// link inside is followed; one that leads out is refused.
    ///
    /// # Errors
    /// If it leads out or cannot be written; then what was there is unchanged.
    pub fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), Error> {
        let target = self.target(path)?;
        let temp = self.stage(&target, bytes)?;
        self.dir
            .rename(&temp, &self.dir, &target)
            .map_err(|source| self.give_up(&temp, path, source))?;
        self.sync_parent(&target)
    }

    /// As [`Root::write`], with the time at which it counts as written: both
    /// are there at once, or neither.
    ///
    /// # Errors
    /// As [`Root::write`].
    pub fn write_dated(&self, path: &Path, bytes: &[u8], at: SystemTime) -> Result<(), Error> {
        let target = self.target(path)?;
        let temp = self.stage(&target, bytes)?;
        self.dir
            .open_with(&temp, OpenOptions::new().write(true))
            .and_then(|file| file.into_std().set_modified(at))
            .and_then(|()| self.dir.rename(&temp, &self.dir, &target))
            .map_err(|source| self.give_up(&temp, path, source))?;
        self.sync_parent(&target)
    }

    /// Writes a file of a copy that nobody would miss: in place, and not
    /// brought to the disk.
    ///
    /// # Errors
    /// If it leads out or cannot be written.
    pub fn put(&self, path: &Path, bytes: &[u8]) -> Result<(), Error> {
        let inside = self.inside(path)?;
        self.make_dirs_inside(parent(&inside))?;
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        cap_std::fs::OpenOptionsExt::mode(&mut options, 0o600);
        self.dir
            .open_with(&inside, &options)
            .and_then(|mut file| file.write_all(bytes))
            .map_err(|source| self.failed(path, source))
    }

    /// Removes a directory with all that is in it; links in it are not
    /// followed. Nothing there is fine.
    ///
    /// # Errors
    /// If it leads out or cannot be removed.
    pub fn remove_tree(&self, path: &Path) -> Result<(), Error> {
        let inside = self.inside(path)?;
        match self.dir.remove_dir_all(&inside) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(self.failed(path, source))
            }
            _ => Ok(()),
        }
    }

    /// Removes a directory that is empty.
    ///
    /// # Errors
    /// If it leads out, has something in it, or cannot be removed.
    pub fn remove_dir(&self, path: &Path) -> Result<(), Error> {
        let inside = self.inside(path)?;
        self.dir.remove_dir(&inside).map_err(|source| self.failed(path, source))
    }

    /// Writes a file if nothing has its name yet, whole or not at all.
    ///
    /// # Errors
    /// [`Error::Exists`] if something is there; else as [`Root::write`].
    pub fn create_new(&self, path: &Path, bytes: &[u8]) -> Result<(), Error> {
        let target = self.inside(path)?;
        let temp = self.stage(&target, bytes)?;
        // A second name for the finished file, unlike a rename, never
        // replaces what is there.
        self.dir
            .hard_link(&temp, &self.dir, &target)
            .map_err(|source| self.give_up(&temp, path, source))?;
        self.dir.remove_file(&temp).map_err(|source| self.failed(path, source))?;
        self.sync_parent(&target)
    }

    /// Removes a file, or a link (not what it leads to).
    ///
    /// # Errors
    /// If it leads out or cannot be removed.
    pub fn remove(&self, path: &Path) -> Result<(), Error> {
        let inside = self.inside(path)?;
        self.dir.remove_file(&inside).map_err(|source| self.failed(path, source))?;
        self.sync_parent(&inside)
    }

    /// Moves a file or directory, making directories as needed. What has the
    /// new name is replaced.
    ///
    /// # Errors
    /// If either leads out or it cannot be moved.
    pub fn rename(&self, from: &Path, to: &Path) -> Result<(), Error> {
        let (source, target) = (self.inside(from)?, self.inside(to)?);
        self.make_dirs_inside(parent(&target))?;
        self.dir
            .rename(&source, &self.dir, &target)
            .map_err(|failure| self.failed(from, failure))?;
        self.sync_parent(&target)?;
        self.sync_parent(&source)
    }

    /// The path in its one plain form, if by its words it stays inside.
    fn inside(&self, path: &Path) -> Result<PathBuf, Error> {
        let mut plain = PathBuf::new();
        for part in path.components() {
            match part {
                Component::Normal(name) => plain.push(name),
                Component::CurDir => {}
                _ => return Err(self.escapes(path)),
            }
        }
        if plain.as_os_str().is_empty() {
            plain.push(".");
        }
        Ok(plain)
    }

    /// Where a write goes: through a link, if there is one and it stays inside.
    fn target(&self, path: &Path) -> Result<PathBuf, Error> {
        let inside = self.inside(path)?;
        let Ok(there) = self.dir.symlink_metadata(&inside) else {
            return Ok(inside);
        };
        if there.is_symlink() {
            let to = self.dir.canonicalize(&inside);
            return to.map_err(|source| self.failed(path, source));
        }
        self.must_be_file(path, there.is_dir(), there.is_file())?;
        Ok(inside)
    }

    /// Brings bytes to the disk under a name of their own, next to the target.
    fn stage(&self, target: &Path, bytes: &[u8]) -> Result<PathBuf, Error> {
        let parent = parent(target);
        self.make_dirs_inside(parent)?;
        let (temp, mut file) = self.temporary(parent)?;
        file.write_all(bytes)
            .and_then(|()| file.sync_all())
            .map_err(|source| self.give_up(&temp, target, source))?;
        Ok(temp)
    }

    fn temporary(&self, parent: &Path) -> Result<(PathBuf, File), Error> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        cap_std::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut tries = 0;
        loop {
            let next = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = format!("{TEMP_PREFIX}{}-{next}", std::process::id());
            let path = parent.join(name);
            tries += 1;
            match self.dir.open_with(&path, &options) {
                Ok(file) => return Ok((path, file)),
                // Left by a process that had our number and was killed.
                Err(source)
                    if source.kind() == io::ErrorKind::AlreadyExists && tries < TEMP_TRIES => {}
                Err(source) => return Err(self.failed(&path, source)),
            }
        }
    }

    /// Removes an unfinished file and says why it was not finished.
    fn give_up(&self, temp: &Path, path: &Path, source: io::Error) -> Error {
        let _ = self.dir.remove_file(temp);
        self.failed(path, source)
    }

    fn make_dirs_inside(&self, dir: &Path) -> Result<(), Error> {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        cap_std::fs::DirBuilderExt::mode(&mut builder, 0o700);
        match self.dir.metadata(dir) {
            Ok(there) if there.is_dir() => return Ok(()),
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                return Err(self.failed(dir, source));
            }
            _ => {}
        }
        self.dir.create_dir_with(dir, &builder).map_err(|source| self.failed(dir, source))
    }

    /// Brings a rename to the disk, where directories can be synced.
    fn sync_parent(&self, path: &Path) -> Result<(), Error> {
        #[cfg(unix)]
        self.dir.open(parent(path)).and_then(|dir| dir.sync_all()).or_else(
            |source| match source.kind() {
                io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported => Ok(()),
                _ => Err(self.failed(path, source)),
            },
        )?;
        #[cfg(not(unix))]
        let _ = path;
        Ok(())
    }

    fn must_be_file(&self, path: &Path, is_dir: bool, is_file: bool) -> Result<(), Error> {
        let path = self.path.join(path);
        match (is_dir, is_file) {
            (true, _) => Err(Error::IsDirectory { path }),
            (_, false) => Err(Error::Special { path }),
            _ => Ok(()),
        }
    }

    fn escapes(&self, path: &Path) -> Error {
        Error::Escapes { root: self.path.clone(), path: path.to_path_buf() }
    }

    fn failed(&self, path: &Path, source: io::Error) -> Error {
        // A refusal without a number is not the system's but that of the
        // walk through the handle: the path led out.
        let led_out =
            source.kind() == io::ErrorKind::PermissionDenied && source.raw_os_error().is_none();
        if led_out {
            return self.escapes(path);
        }
        Error::io(&self.path.join(path), source)
    }
}

/// The directory of a plain path.
fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent.as_os_str() != OsStr::new("") => parent,
        _ => Path::new("."),
    }
}
