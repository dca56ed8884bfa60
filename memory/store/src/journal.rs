//! The history of a memory directory (L5.17): what an entry is, and the file
//! that entries are in. `docs/formats/journal.md` describes it for others.
//!
//! Entries are lines of JSON that are only ever appended, oldest first, each
//! with a number that is one more than the last. They name contents by their
//! hash; the contents are beside them, each once.

mod blobs;
mod last_seen;

pub(crate) use blobs::{Blobs, Haste};
pub(crate) use last_seen::{Known, Seen, nanoseconds};

use crate::error::Error;
use everfold_disk::jsonl::{self, Appender};
use everfold_kernel::ids::{RecordId, SessionId};
use everfold_memory_file::index::INDEX_FILE;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};

/// Longest entry that is read, in bytes.
const MAX_LINE_BYTES: u64 = 64 * 1024 * 1024;
/// How much of the end is looked at for the last number.
const TAIL_BYTES: u64 = 64 * 1024;

/// The number of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EntryId(pub u64);

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The name of a content: its BLAKE3 hash in hexadecimal. A file that is too
/// large to be kept has `large:` with its size and time instead.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ContentId(String);

impl ContentId {
    /// The name of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(blake3::hash(bytes).to_hex().to_string())
    }

    pub(crate) fn of_large(bytes: u64, modified: u64) -> Self {
        Self(format!("large:{bytes}:{modified}"))
    }

    /// The hash, unless the content was too large for one.
    pub(crate) fn hash(&self) -> Option<&str> {
        let plain = self.0.len() == 64 && self.0.bytes().all(|byte| byte.is_ascii_hexdigit());
        plain.then_some(self.0.as_str())
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Who made a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum Author {
    /// The person, through Everfold.
    Person,
    /// An agent of Everfold's.
    Agent {
        /// Which: `extract`, `dream`, `main`.
        source: String,
    },
    /// Somebody outside of Everfold: an editor, Claude Code, git.
    Foreign,
    /// Everfold itself, mending.
    Program,
}

impl Author {
    /// Who it is, for people.
    #[must_use]
    pub fn title(&self) -> String {
        match self {
            Self::Person => "person".to_owned(),
            Self::Agent { source } => format!("agent {source}"),
            Self::Foreign => "outside".to_owned(),
            Self::Program => "everfold".to_owned(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// The store was seen for the first time; its contents were kept.
    Adopt,
    /// A memory was added.
    Add,
    /// A memory was changed.
    Update,
    /// A memory was removed.
    Forget,
    /// A memory got another path.
    Rename,
    /// The index was changed.
    Index,
    Dream,
    /// What others of the team changed came in.
    Team,
    /// Something was changed from outside.
    Foreign,
    /// Earlier entries were taken back.
    Undo,
    /// An action that this version does not know.
    #[serde(other)]
    Unknown,
}

impl Action {
    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Adopt => "adopt",
            Self::Add => "add",
            Self::Update => "update",
            Self::Forget => "forget",
            Self::Rename => "rename",
            Self::Index => "index",
            Self::Foreign => "change",
            Self::Undo => "undo",
            Self::Dream => "dream",
            Self::Team => "team",
            Self::Unknown => "?",
        }
    }
}

/// One file of an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    pub path: String,
    /// What it held; none if it was not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<ContentId>,
    /// What it holds since; none if it is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<ContentId>,
}

/// One change of the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalEntry {
    pub id: EntryId,
    pub at: Timestamp,
    pub author: Author,
    pub action: Action,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<RecordId>,
    /// The entries that it takes back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undoes: Vec<EntryId>,
    /// Statements that no longer hold since, in the words that they had (L5.36).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ended: Vec<String>,
    /// Its files. Those of an adoption are left out: they were all there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<FileChange>,
}

impl JournalEntry {
    /// Its files; an index only where it is alone.
    #[must_use]
    pub fn paths(&self) -> Vec<&str> {
        let all = || self.changes.iter().map(|change| change.path.as_str());
        let topics: Vec<&str> = all().filter(|path| *path != INDEX_FILE).collect();
        if topics.is_empty() { all().collect() } else { topics }
    }

    /// Whether a file is among its changes.
    #[must_use]
    pub fn touches(&self, path: &str) -> bool {
        self.changes.iter().any(|change| change.path == path)
    }
}

/// The file of entries.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
}

impl Journal {
    pub(crate) fn at(own_dir: &Path) -> Self {
        Self { path: own_dir.join("journal.jsonl") }
    }

    /// All entries, oldest first. A line that cannot be read is passed over.
    pub(crate) fn entries(&self) -> Result<Vec<JournalEntry>, Error> {
        let mut found = Vec::new();
        let seen = jsonl::read(&self.path, MAX_LINE_BYTES, &mut |line| {
            found.extend(serde_json::from_slice::<JournalEntry>(line).ok());
        });
        match seen {
            Ok(_) | Err(everfold_disk::Error::NotFound { .. }) => Ok(found),
            Err(error) => Err(error.into()),
        }
    }

    /// The newest entries, as many as fit into the end that is looked at,
    /// oldest first.
    pub(crate) fn recent(&self) -> Result<Vec<JournalEntry>, Error> {
        let ends = match jsonl::head_and_tail(&self.path, TAIL_BYTES) {
            Ok(ends) => ends,
            Err(everfold_disk::Error::NotFound { .. }) => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        };
        let end = if ends.tail.is_empty() { &ends.head } else { &ends.tail };
        let lines = end.split(|byte| *byte == b'\n');
        Ok(lines.filter_map(|line| serde_json::from_slice(line).ok()).collect())
    }

    /// The number of the last entry; 0 where there is none.
    pub(crate) fn last(&self) -> Result<EntryId, Error> {
        let ends = match jsonl::head_and_tail(&self.path, TAIL_BYTES) {
            Ok(ends) => ends,
            Err(everfold_disk::Error::NotFound { .. }) => return Ok(EntryId(0)),
            Err(error) => return Err(error.into()),
        };
        let end = if ends.tail.is_empty() { &ends.head } else { &ends.tail };
        let last = end.split(|byte| *byte == b'\n').rfind(|line| !line.is_empty());
        if let Some(entry) = last.and_then(|line| serde_json::from_slice::<JournalEntry>(line).ok())
        {
            return Ok(entry.id);
        }
        Ok(self.entries()?.last().map_or(EntryId(0), |entry| entry.id))
    }

    /// Appends an entry and brings it to the disk.
    pub(crate) fn append(&self, entry: &JournalEntry) -> Result<(), Error> {
        let line = serde_json::to_vec(entry).map_err(|source| Error::Encode { source })?;
        Appender::open(&self.path)?.append(&line)?;
        sync(&self.path);
        Ok(())
    }

    /// The text of a file with just these entries.
    pub(crate) fn text_of(entries: &[JournalEntry]) -> Result<Vec<u8>, Error> {
        let mut text = Vec::new();
        for entry in entries {
            let line = serde_json::to_vec(entry).map_err(|source| Error::Encode { source })?;
            text.extend(line);
            text.push(b'\n');
        }
        Ok(text)
    }
}

/// Brings a file to the disk. One that cannot be synced survives the end of
/// the process all the same, and that is all that can be had there.
pub(crate) fn sync(path: &Path) {
    if let Ok(file) = std::fs::File::open(path) {
        let _ = file.sync_all();
    }
}
