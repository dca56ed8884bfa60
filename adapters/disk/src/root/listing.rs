//! What is in a [`Root`]. Links are shown, never followed, so a walk ends.

use super::{Root, TEMP_PREFIX};
use crate::error::Error;
use cap_std::fs::Metadata;
use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Something in a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootEntry {
    pub path: PathBuf,
    pub kind: EntryKind,
    pub bytes: u64,
    /// When it was last written, where the system knows.
    pub modified: Option<SystemTime>,
}

/// Kinds of things in a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    File,
    Directory,
    /// A link, wherever it leads.
    Link,
    /// A device, pipe or socket.
    Special,
}

impl Root {
    /// What is at a path, if anything; a link is not followed.
    ///
    /// # Errors
    /// If it leads out or cannot be looked at.
    pub fn stat(&self, path: &Path) -> Result<Option<RootEntry>, Error> {
        let inside = self.inside(path)?;
        match self.dir.symlink_metadata(&inside) {
            Ok(there) => Ok(Some(entry(inside, &there))),
            Err(source) if source.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(self.failed(path, source)),
        }
    }

    /// What is in a directory, by name. Unfinished files are left out.
    ///
    /// # Errors
    /// If it leads out or cannot be listed.
    pub fn list(&self, path: &Path) -> Result<Vec<RootEntry>, Error> {
        let failed = |source| self.failed(path, source);
        let inside = self.inside(path)?;
        let base = inside.strip_prefix(".").unwrap_or(&inside);
        let mut found = Vec::new();
        for item in self.dir.read_dir(&inside).map_err(failed)? {
            let item = item.map_err(failed)?;
            let name = item.file_name();
            if name.as_encoded_bytes().starts_with(TEMP_PREFIX.as_bytes()) {
                continue;
            }
            match item.metadata() {
                Ok(there) => found.push(entry(base.join(name), &there)),
                // Removed since the directory was read.
                Err(source) if source.kind() == io::ErrorKind::NotFound => {}
                Err(source) => return Err(failed(source)),
            }
        }
        found.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(found)
    }

    /// Everything below a directory that is not itself a directory, by path,
    /// but no more than `limit`; directories near the top come first into
    /// that count.
    ///
    /// # Errors
    /// If a directory cannot be listed.
    pub fn walk(&self, path: &Path, limit: usize) -> Result<Vec<RootEntry>, Error> {
        let mut found = Vec::new();
        let mut ahead = VecDeque::from([path.to_path_buf()]);
        while let Some(dir) = ahead.pop_front() {
            for entry in self.list(&dir)? {
                if entry.kind == EntryKind::Directory {
                    ahead.push_back(entry.path);
                } else if found.len() < limit {
                    found.push(entry);
                }
            }
            if found.len() >= limit {
                break;
            }
        }
        found.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(found)
    }
}

fn entry(path: PathBuf, there: &Metadata) -> RootEntry {
    let kind = if there.is_symlink() {
        EntryKind::Link
    } else if there.is_dir() {
        EntryKind::Directory
    } else if there.is_file() {
        EntryKind::File
    } else {
        EntryKind::Special
    };
    RootEntry {
        path,
        kind,
        bytes: there.len(),
        modified: there.modified().ok().map(cap_std::time::SystemTime::into_std),
    }
}
