//! What the servers had, as we last saw it: memories are read from here, and
//! only what is newer is asked for.

use everfold_disk::atomic::{self, FileReaders};
use everfold_disk::read_regular;
use everfold_kernel::ports::{TeamError, TeamFile, TeamFileKind, TeamHead};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const FILE: &str = "fleet.json";
const FOLDER: &str = "fleet";
/// Largest list of files that is read, in bytes.
const MAX_BYTES: u64 = 64 * 1024 * 1024;
/// Revisions for which a version that is no longer the newest stays.
const KEPT: u64 = 10_000;

/// The local copy of a bucket.
#[derive(Debug)]
pub(crate) struct Copies {
    dir: PathBuf,
    pub(crate) seen: Seen,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Seen {
    /// The newest revision.
    pub(crate) last: u64,
    /// The keys, those that are gone included: their last revision is asked for
    /// when one comes back.
    pub(crate) files: BTreeMap<String, SeenFile>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SeenFile {
    pub(crate) revision: u64,
    /// None: it is gone.
    pub(crate) bytes: Option<u64>,
    pub(crate) by: String,
}

impl Copies {
    pub(crate) fn open(dir: &Path) -> Result<Self, TeamError> {
        let seen = match read_regular(&dir.join(FILE), MAX_BYTES) {
            // What is damaged is fetched again.
            Ok(bytes) => serde_json::from_slice(&bytes).unwrap_or_default(),
            Err(everfold_disk::Error::NotFound { .. }) => Seen::default(),
            Err(error) => return Err(damaged(&error)),
        };
        Ok(Self { dir: dir.to_owned(), seen })
    }

    fn path(&self, revision: &str) -> PathBuf {
        self.dir.join(FOLDER).join(revision)
    }

    /// Keeps what a key holds since a revision.
    pub(crate) fn put(
        &mut self,
        path: &str,
        revision: u64,
        content: Option<&[u8]>,
        by: &str,
    ) -> Result<(), TeamError> {
        if let Some(content) = content {
            let file = self.path(&revision.to_string());
            atomic::write(&file, content, FileReaders::Private).map_err(|error| damaged(&error))?;
        }
        let bytes = content.map(|content| content.len() as u64);
        let file = SeenFile { revision, bytes, by: by.to_owned() };
        self.seen.files.insert(path.to_owned(), file);
        self.seen.last = self.seen.last.max(revision);
        Ok(())
    }

    /// Notes what was seen; contents are there before.
    pub(crate) fn save(&self) -> Result<(), TeamError> {
        let bytes = serde_json::to_vec(&self.seen).map_err(|error| damaged(&error))?;
        let file = self.dir.join(FILE);
        atomic::write(&file, &bytes, FileReaders::Private).map_err(|error| damaged(&error))?;
        self.forget_old();
        Ok(())
    }

    /// Removes versions that nobody will ask for again.
    fn forget_old(&self) {
        let current: Vec<String> =
            self.seen.files.values().map(|file| file.revision.to_string()).collect();
        for entry in std::fs::read_dir(self.dir.join(FOLDER)).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_old = name.parse::<u64>().is_ok_and(|own| own + KEPT < self.seen.last);
            if is_old && !current.contains(&name) {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }

    pub(crate) fn content(&self, revision: &str, most: u64) -> Option<Vec<u8>> {
        let is_plain = revision.bytes().all(|byte| byte.is_ascii_digit());
        read_regular(&self.path(revision), most).ok().filter(|_| is_plain)
    }

    pub(crate) fn head(&self) -> TeamHead {
        let there = |(path, file): (&String, &SeenFile)| {
            let (version, bytes) = (file.revision.to_string(), file.bytes?);
            Some((path.clone(), TeamFile { version, bytes, kind: TeamFileKind::Plain }))
        };
        let revision = match self.seen.last {
            0 => String::new(),
            last => last.to_string(),
        };
        TeamHead { revision, files: self.seen.files.iter().filter_map(there).collect() }
    }
}

pub(crate) fn damaged(error: &dyn std::fmt::Display) -> TeamError {
    TeamError::Damaged { message: error.to_string() }
}
