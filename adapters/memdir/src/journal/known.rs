//! What every file held when it was last seen, so that changes from outside
//! are noticed without reading everything.
//!
//! A file whose size and time are as they were holds what it held, unless it
//! was written about when it was looked at: clocks of file systems are coarse,
//! so such a file is read once more. Lines are appended; the last for a path
//! counts.

use super::{ContentId, sync};
use crate::error::Error;
use everfold_disk::jsonl::{self, Appender};
use everfold_disk::{Entry, Root};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

const FILE: &str = "known.jsonl";
const MAX_LINE_BYTES: u64 = 64 * 1024;
/// A file this much older than the look at it cannot change unseen.
const COARSE_NS: u64 = 2_000_000_000;
/// Lines that may be superseded before the file is written anew.
const STALE_LINES: usize = 512;

/// What a file held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Seen {
    path: String,
    /// None: it is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) content: Option<ContentId>,
    #[serde(default)]
    bytes: u64,
    #[serde(default)]
    modified: u64,
    #[serde(default)]
    looked: u64,
}

impl Seen {
    /// A file as it is now, holding this.
    pub(crate) fn file(path: &str, content: ContentId, there: &Entry) -> Self {
        let modified = nanoseconds(there.modified);
        let looked = nanoseconds(Some(SystemTime::now()));
        Self { path: path.to_owned(), content: Some(content), bytes: there.bytes, modified, looked }
    }

    /// A file that is gone.
    pub(crate) fn gone(path: &str) -> Self {
        Self { path: path.to_owned(), content: None, bytes: 0, modified: 0, looked: 0 }
    }

    /// Whether the file on the disk is surely the same.
    pub(crate) fn is_surely(&self, there: &Entry) -> bool {
        let same = self.bytes == there.bytes && self.modified == nanoseconds(there.modified);
        same && self.modified != 0 && self.modified.saturating_add(COARSE_NS) < self.looked
    }
}

/// Nanoseconds since 1970; 0 where the time is not known.
pub(crate) fn nanoseconds(time: Option<SystemTime>) -> u64 {
    let since = time.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.and_then(|since| u64::try_from(since.as_nanos()).ok()).unwrap_or(0)
}

/// All files that are known.
#[derive(Debug, Default)]
pub(crate) struct Known {
    files: BTreeMap<String, Seen>,
    lines: usize,
}

impl Known {
    /// Reads what is known.
    pub(crate) fn load(own: &Root) -> Result<Self, Error> {
        let mut known = Self::default();
        let read = jsonl::read(&own.path().join(FILE), MAX_LINE_BYTES, &mut |line| {
            if let Ok(seen) = serde_json::from_slice::<Seen>(line) {
                known.take(seen);
            }
            known.lines += 1;
        });
        match read {
            Ok(_) | Err(everfold_disk::Error::NotFound { .. }) => Ok(known),
            Err(error) => Err(error.into()),
        }
    }

    fn take(&mut self, seen: Seen) {
        if seen.content.is_some() {
            self.files.insert(seen.path.clone(), seen);
        } else {
            self.files.remove(&seen.path);
        }
    }

    /// What is known of a file.
    pub(crate) fn get(&self, path: &str) -> Option<&Seen> {
        self.files.get(path)
    }

    /// The paths that are known.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// The contents that files hold.
    pub(crate) fn contents(&self) -> impl Iterator<Item = &ContentId> {
        self.files.values().filter_map(|seen| seen.content.as_ref())
    }

    /// Learns what files hold now.
    pub(crate) fn learn(&mut self, own: &Root, news: Vec<Seen>) -> Result<(), Error> {
        if news.is_empty() {
            return Ok(());
        }
        let added = news.len();
        let encode =
            |seen: &Seen| serde_json::to_vec(seen).map_err(|source| Error::Encode { source });
        let lines = news.iter().map(encode).collect::<Result<Vec<_>, _>>()?;
        for seen in news {
            self.take(seen);
        }
        let stale = (self.lines + added).saturating_sub(self.files.len());
        if stale > STALE_LINES + self.files.len() || added > STALE_LINES {
            let mut text = Vec::new();
            for seen in self.files.values() {
                text.extend(encode(seen)?);
                text.push(b'\n');
            }
            own.write(Path::new(FILE), &text)?;
            self.lines = self.files.len();
            return Ok(());
        }
        let path = own.path().join(FILE);
        let mut file = Appender::open(&path)?;
        lines.iter().try_for_each(|line| file.append(line))?;
        sync(&path);
        self.lines += added;
        Ok(())
    }
}
