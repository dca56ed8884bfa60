//! A night: the lock is held, an agent works on a copy, and what it made of it
//! is swapped in whole or thrown away (L6.7).

use super::lock::{COPIES, Held};
use crate::error::Error;
use crate::journal::EntryId;
use crate::path::TopicPath;
use crate::store::{By, LOGS, Replacement, Store};
use everfold_disk::{EntryKind, Root, RootEntry};
use everfold_kernel::ports::{Ending, Gathered, LogsRead, Stored};
use everfold_memory_file::index::INDEX_FILE;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Up to when daily logs were read.
const LOGS_READ: &str = "logs-read.json";
const LOGS_READ_BYTES: u64 = 4 * 1024;
/// Files of a copy that are looked at.
const MAX_FILES: usize = 100_000;
/// Largest file of a copy that is read, in bytes.
const FILE_BYTES: u64 = 1024 * 1024;

#[derive(Debug)]
pub struct DirNight {
    store: Arc<Store>,
    held: Held,
    copy: PathBuf,
}

#[derive(Serialize, Deserialize)]
struct Until {
    until: Timestamp,
}

/// When daily logs were last read by a dream.
pub(super) fn logs_read(store: &Store) -> Option<Timestamp> {
    let bytes = store.own().ok()?.read(Path::new(LOGS_READ), LOGS_READ_BYTES).ok()?;
    serde_json::from_slice::<Until>(&bytes).ok().map(|read| read.until)
}

impl DirNight {
    /// Starts with a lock that is held.
    ///
    /// # Errors
    /// If the folder of the copy cannot be made.
    pub fn new(store: Arc<Store>, held: Held) -> Result<Self, Error> {
        let copy = store.own()?.sub(&copy_place())?.path().to_owned();
        Ok(Self { store, held, copy })
    }

    /// The folder of the working copy.
    #[must_use]
    pub fn copy(&self) -> &Path {
        &self.copy
    }

    #[must_use]
    pub fn store(&self) -> &Arc<Store> {
        &self.store
    }

    /// What the store holds now.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn look(&self) -> Result<Stored, Error> {
        self.store.stored(logs_read(&self.store))
    }

    /// Makes the working copy hold just these files.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn lay_out(&self, files: &BTreeMap<String, String>) -> Result<(), Error> {
        let own = self.store.own()?;
        own.remove_tree(&copy_place())?;
        let copy = own.sub(&copy_place())?;
        // The history is hidden from git, and so from searches; the copy is not.
        own.put(&Path::new(COPIES).join(".gitignore"), b"!*\n")?;
        for (path, text) in files {
            copy.put(Path::new(path), text.as_bytes())?;
        }
        Ok(())
    }

    /// What the working copy holds.
    ///
    /// # Errors
    /// If it cannot be listed.
    pub fn gather(&self) -> Result<Gathered, Error> {
        let copy = self.store.own()?.sub(&copy_place())?;
        let mut gathered = Gathered::default();
        for entry in copy.walk(Path::new("."), MAX_FILES)? {
            let path = entry.path.to_string_lossy().replace('\\', "/");
            match read(&copy, &path, &entry) {
                Ok(text) => drop(gathered.files.insert(path, text)),
                Err(flaw) => drop(gathered.strange.insert(path, flaw.to_string())),
            }
        }
        Ok(gathered)
    }

    /// Makes a change of the store as one entry.
    ///
    /// # Errors
    /// [`Error::Changed`] if the store is not what was expected, or if it
    /// cannot be made.
    pub fn swap(&self, files: &[Replacement], by: &By) -> Result<Option<EntryId>, Error> {
        self.store.swap(files, by)
    }

    /// Ends the night.
    ///
    /// # Errors
    /// If that cannot be written down.
    pub fn end(self, ending: Ending) -> Result<(), Error> {
        let own = self.store.own()?;
        // A copy that stays is removed by the next night.
        let _ = own.remove_tree(Path::new(COPIES));
        let Ending::Done { at, logs } = ending else { return self.held.undone() };
        if logs == LogsRead::Yes {
            let bytes = serde_json::to_vec(&Until { until: at });
            own.write(Path::new(LOGS_READ), &bytes.map_err(|source| Error::Encode { source })?)?;
        }
        self.held.done(at)
    }
}

fn copy_place() -> PathBuf {
    Path::new(COPIES).join("copy")
}

/// What is wrong with a file of a copy.
#[derive(Debug, thiserror::Error)]
enum Flaw {
    #[error("it is not a plain file")]
    NoFile,
    #[error("it is not UTF-8")]
    NoText,
    #[error(transparent)]
    Path(#[from] Error),
    #[error(transparent)]
    Disk(#[from] everfold_disk::Error),
}

/// A file of a copy as text.
fn read(copy: &Root, path: &str, entry: &RootEntry) -> Result<String, Flaw> {
    if entry.kind != EntryKind::File {
        return Err(Flaw::NoFile);
    }
    let is_log = path.strip_prefix(LOGS).is_some_and(|rest| rest.starts_with('/'));
    if path != INDEX_FILE && !is_log {
        TopicPath::new(path)?;
    }
    let bytes = copy.read(&entry.path, FILE_BYTES)?;
    String::from_utf8(bytes).map_err(|_| Flaw::NoText)
}
