//! What every file held when it was last seen, so that changes from outside
//! are noticed without reading everything.
//!
//! A file whose size and time are as they were holds what it held, unless it
//! was written about when it was looked at: clocks of file systems are coarse,
//! so such a file is read once more. Lines are appended; the last for a path
//! counts.

use super::ContentId;
use crate::error::Error;
use everfold_disk::{Root, RootEntry};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

const FILE: &str = "known.jsonl";
/// Largest file that is read, in bytes.
const MAX_BYTES: u64 = 1 << 30;
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
    pub(crate) fn file(path: &str, content: ContentId, there: &RootEntry) -> Self {
        let modified = nanoseconds(there.modified);
        let looked = nanoseconds(Some(SystemTime::now()));
        Self { path: path.to_owned(), content: Some(content), bytes: there.bytes, modified, looked }
    }

    /// A file that is gone.
    pub(crate) fn gone(path: &str) -> Self {
        Self { path: path.to_owned(), content: None, bytes: 0, modified: 0, looked: 0 }
    }

    /// Whether the file on the disk is surely the same.
    pub(crate) fn is_surely(&self, there: &RootEntry) -> bool {
        let same = self.bytes == there.bytes && self.modified == nanoseconds(there.modified);
        same && self.modified != 0 && self.modified.saturating_add(COARSE_NS) < self.looked
    }
}

/// Nanoseconds since 1970; 0 where the time is not known.
pub(crate) fn nanoseconds(time: Option<SystemTime>) -> u64 {
    let since = time.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.and_then(|since| u64::try_from(since.as_nanos()).ok()).unwrap_or(0)
}

/// All files that are known: the lines as they stand. A change of three files
/// looks for three of them and leaves the others unread.
#[derive(Debug, Default)]
pub(crate) struct Known {
    raw: String,
    lines: usize,
    /// How many files there were when the lines were last written anew.
    files: usize,
}

/// The first line of a file that was written anew.
#[derive(Serialize, Deserialize)]
struct Header {
    files: usize,
}

impl Known {
    /// Reads what is known, as it stands.
    pub(crate) fn open(own: &Root) -> Result<Self, Error> {
        let bytes = match own.read(Path::new(FILE), MAX_BYTES) {
            Ok(bytes) => bytes,
            Err(everfold_disk::Error::NotFound { .. }) => return Ok(Self::default()),
            Err(error) => return Err(error.into()),
        };
        // A line that is no text is no JSON either, and is passed over.
        let raw = String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        let lines = raw.matches('\n').count();
        let header = raw.lines().next().and_then(|line| serde_json::from_str::<Header>(line).ok());
        Ok(Self { raw, lines, files: header.map_or(0, |header| header.files) })
    }

    /// What is known of a file: the last line that is about it.
    pub(crate) fn get(&self, path: &str) -> Option<Seen> {
        let start = format!("{{\"path\":{}", serde_json::to_string(path).ok()?);
        let lines = self.raw.rsplit('\n').filter(|line| line.starts_with(&start));
        // The path ends in a quotation mark, so that no longer one starts so.
        let mut seen = lines.filter_map(|line| serde_json::from_str::<Seen>(line).ok());
        seen.next().filter(|seen| seen.content.is_some())
    }

    /// Everything that is known, by path.
    pub(crate) fn all(&self) -> BTreeMap<String, Seen> {
        let mut files = BTreeMap::new();
        for seen in self.raw.lines().filter_map(|line| serde_json::from_str::<Seen>(line).ok()) {
            if seen.content.is_some() {
                files.insert(seen.path.clone(), seen);
            } else {
                files.remove(&seen.path);
            }
        }
        files
    }

    /// Learns what files hold now. Nothing waits for the disk: a line that is
    /// lost with the power costs one more look at its file.
    pub(crate) fn learn(&mut self, own: &Root, news: &[Seen]) -> Result<(), Error> {
        if news.is_empty() {
            return Ok(());
        }
        let mut text = String::new();
        if !self.raw.is_empty() && !self.raw.ends_with('\n') {
            text.push('\n');
        }
        for seen in news {
            text.push_str(&encode(seen)?);
            text.push('\n');
        }
        self.raw.push_str(&text);
        self.lines += news.len();
        if self.lines > STALE_LINES + 2 * self.files {
            return self.write_anew(own);
        }
        Ok(own.append(Path::new(FILE), text.as_bytes())?)
    }

    /// Leaves out the lines that later ones took the place of.
    fn write_anew(&mut self, own: &Root) -> Result<(), Error> {
        let files = self.all();
        let mut text = encode(&Header { files: files.len() })?;
        text.push('\n');
        for seen in files.values() {
            text.push_str(&encode(seen)?);
            text.push('\n');
        }
        own.write(Path::new(FILE), text.as_bytes())?;
        *self = Self { raw: text, lines: files.len() + 1, files: files.len() };
        Ok(())
    }
}

fn encode(line: &impl Serialize) -> Result<String, Error> {
    serde_json::to_string(line).map_err(|source| Error::Encode { source })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(path: &str, content: &str) -> Seen {
        let content = Some(ContentId::of(content.as_bytes()));
        Seen { path: path.to_owned(), content, bytes: 1, modified: 2, looked: 3 }
    }

    #[test]
    fn r16_the_last_line_of_a_path_counts_however_it_is_looked_for() {
        let dir = tempfile::tempdir().unwrap();
        let own = Root::open(dir.path()).unwrap();
        let mut known = Known::open(&own).unwrap();
        let odd = "a \"b\"/ö\\.md";
        known.learn(&own, &[seen("a.md", "1"), seen(odd, "2"), seen("a.md.md", "3")]).unwrap();
        known.learn(&own, &[seen("a.md", "4"), Seen::gone("a.md.md")]).unwrap();
        for known in [known, Known::open(&own).unwrap()] {
            assert_eq!(known.get("a.md"), Some(seen("a.md", "4")));
            assert_eq!(known.get(odd), Some(seen(odd, "2")));
            assert_eq!(known.get("a.md.md"), None);
            assert_eq!(known.get("b.md"), None);
            assert_eq!(known.all().len(), 2);
        }
    }

    #[test]
    fn r16_lines_that_no_longer_count_go_and_a_torn_one_does_no_harm() {
        let dir = tempfile::tempdir().unwrap();
        let own = Root::open(dir.path()).unwrap();
        let mut known = Known::open(&own).unwrap();
        for round in 0..2_000 {
            known.learn(&own, &[seen("a.md", &round.to_string()), seen("b.md", "x")]).unwrap();
        }
        let file = dir.path().join(FILE);
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.lines().count() < 1_000, "{}", text.lines().count());
        std::fs::write(&file, format!("{text}{{\"path\":\"c.md\",\"cont")).unwrap();
        let mut known = Known::open(&own).unwrap();
        known.learn(&own, &[seen("d.md", "y")]).unwrap();
        let known = Known::open(&own).unwrap();
        assert_eq!(known.get("a.md"), Some(seen("a.md", "1999")));
        assert_eq!(known.get("d.md"), Some(seen("d.md", "y")));
        assert_eq!(known.all().len(), 3);
        std::fs::write(&file, b"\xff\xfe\n").unwrap();
        assert!(Known::open(&own).unwrap().all().is_empty());
    }
}
