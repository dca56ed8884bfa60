//! A store as a dream sees it: every file with who wrote it, when, and of what
//! use it was.

use super::Store;
use crate::error::Error;
use crate::journal::{Action, Author, JournalEntry};
use crate::path::TopicPath;
use everfold_disk::EntryKind;
use everfold_kernel::ports::{MemoryHand, Stored, StoredFile};
use everfold_memory_file::Memory;
use everfold_memory_file::frontmatter::Basis;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use std::collections::BTreeMap;
use std::path::Path;

/// Where daily logs are (L5.22).
pub(crate) const LOGS: &str = "logs";
/// Daily logs that one dream reads, the newest.
const MAX_LOGS: usize = 60;
/// Largest daily log that is read, in bytes.
const LOG_BYTES: u64 = 256 * 1024;

/// What the history says of a file.
#[derive(Clone, Copy, Debug, Default)]
struct Past {
    last: Option<Timestamp>,
    by_hand: bool,
    /// It came from another member of the team: only there they know who wrote
    /// it, and when.
    from_others: bool,
}

impl Store {
    /// Every file, and the daily logs that were written since a time.
    ///
    /// # Errors
    /// If files or the history cannot be read.
    pub fn stored(&self, logs_since: Option<Timestamp>) -> Result<Stored, Error> {
        let entries = self.journal().entries()?;
        let past = past(&entries);
        let usage = self.usage()?;
        let mut stored = Stored::default();
        for file in self.files()? {
            let Some(path) = super::read::text_path(&file.path) else { continue };
            let Some(read) = self.read_text(&path)? else { continue };
            let known = past.get(path.as_str()).copied().unwrap_or_default();
            let text = read.note.is_none().then_some(read.text);
            let count = usage.get(&TopicPath::found(path.clone())).cloned().unwrap_or_default();
            let file = StoredFile {
                writer: writer(text.as_deref().unwrap_or_default(), known),
                day: known.last.map(day),
                version: read.content.as_str().to_owned(),
                recalled: count.recalled,
                used: count.used,
                text,
            };
            stored.files.insert(path, file);
        }
        stored.logs = self.logs(logs_since)?;
        Ok(stored)
    }

    fn logs(&self, since: Option<Timestamp>) -> Result<BTreeMap<String, String>, Error> {
        let found = match self.root.walk(Path::new(LOGS), usize::MAX) {
            Ok(found) => found,
            Err(everfold_disk::Error::NotFound { .. }) => return Ok(BTreeMap::new()),
            Err(error) => return Err(error.into()),
        };
        let is_new = |file: &everfold_disk::RootEntry| {
            let at = file.modified.and_then(|time| Timestamp::try_from(time).ok());
            file.kind == EntryKind::File && (since.is_none() || at.is_none() || at > since)
        };
        let mut logs = BTreeMap::new();
        for file in found.iter().rev().filter(|file| is_new(file)) {
            let Some(path) = super::read::text_path(&file.path) else { continue };
            let is_log = Path::new(&path).extension().is_some_and(|ending| ending == "md");
            if is_log && logs.len() < MAX_LOGS {
                let bytes = self.root.head(&file.path, LOG_BYTES)?;
                logs.insert(path, String::from_utf8_lossy(&bytes).into_owned());
            }
        }
        Ok(logs)
    }
}

fn past(entries: &[JournalEntry]) -> BTreeMap<&str, Past> {
    let mut past: BTreeMap<&str, Past> = BTreeMap::new();
    for entry in entries.iter().filter(|entry| entry.action != Action::Adopt) {
        for change in &entry.changes {
            let known = past.entry(&change.path).or_default();
            let from_others = entry.action == Action::Team;
            known.last = Some(entry.at).filter(|_| !from_others);
            known.from_others |= from_others;
            known.by_hand |= is_by_hand(&entry.author);
        }
    }
    past
}

/// Whether a person had a hand in it: through Everfold or in an editor.
pub(super) fn is_by_hand(author: &Author) -> bool {
    matches!(author, Author::Person | Author::Foreign)
}

/// A person wrote it, or said it. Where that cannot be told, yes.
fn writer(text: &str, past: Past) -> MemoryHand {
    let basis = Memory::parse(text).front.basis;
    let unknown = if past.from_others { basis.is_none() } else { past.last.is_none() };
    if basis == Some(Basis::Stated) || past.by_hand || unknown {
        MemoryHand::Person
    } else {
        MemoryHand::Agent
    }
}

fn day(at: Timestamp) -> Date {
    at.to_zoned(TimeZone::system()).date()
}
