//! What every file held when it was last seen, so that changes from outside
//! are noticed without reading everything.
//!
//! A file whose size and time are as they were holds what it held, unless it
//! was written about when it was looked at: clocks of file systems are coarse,
//! so such a file is read once more. Lines are appended, each with its break
//! before it, so that a torn one spoils no other; the last for a path counts.

use super::ContentId;
use crate::error::Error;
use everfold_disk::{Root, RootEntry};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

const FILE: &str = "known.jsonl";
/// Bytes in which the first line has room.
const HEAD_BYTES: u64 = 128;
/// A file this much older than the look at it cannot change unseen.
const COARSE_NS: u64 = 2_000_000_000;
/// Bytes that may be added before the file is written anew, besides as many as
/// it had then.
const ADDED_BYTES: u64 = 128 * 1024;

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

/// All files that are known. The lines stay on the disk: a change of three
/// files looks for three of them.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// How large the file is.
    bytes: u64,
    /// How large it was when it was last written anew.
    base: u64,
    /// What was asked for: nobody else writes the file meanwhile.
    asked: BTreeMap<String, Option<Seen>>,
}

/// The first line of a file that was written anew.
#[derive(Serialize, Deserialize)]
struct Header {
    files: usize,
    #[serde(default)]
    bytes: u64,
}

impl Known {
    /// Looks at the file.
    pub(crate) fn open(own: &Root) -> Result<Self, Error> {
        let name = Path::new(FILE);
        let Some(there) = own.stat(name)? else { return Ok(Self::default()) };
        let head = own.head(name, HEAD_BYTES)?;
        let first = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let base = serde_json::from_slice::<Header>(first).map_or(0, |header| header.bytes);
        Ok(Self { bytes: there.bytes, base, asked: BTreeMap::new() })
    }

    /// What is known of some files, in their order: of each the last line that
    /// is about it. One look at the lines does for all of them.
    pub(crate) fn get(&mut self, own: &Root, paths: &[&str]) -> Result<Vec<Option<Seen>>, Error> {
        let mut wanted = Vec::new();
        for path in paths.iter().filter(|path| !self.asked.contains_key(**path)) {
            // The path ends in a quotation mark, so that no longer one starts so.
            wanted.push((*path, format!("{{\"path\":{}", encode(path)?), None));
        }
        if !wanted.is_empty() {
            self.lines(own, |line| {
                for (_, start, last) in &mut wanted {
                    if line.starts_with(start.as_bytes()) {
                        *last = serde_json::from_slice::<Seen>(line).ok().or(last.take());
                    }
                }
            })?;
        }
        self.asked.extend(wanted.into_iter().map(|(path, _, last)| (path.to_owned(), last)));
        let seen = |path: &&str| self.asked.get(*path).cloned().flatten();
        Ok(paths.iter().map(seen).map(|seen| seen.filter(|seen| seen.content.is_some())).collect())
    }

    /// Everything that is known, by path.
    pub(crate) fn all(&self, own: &Root) -> Result<BTreeMap<String, Seen>, Error> {
        let mut files = BTreeMap::new();
        self.lines(own, |line| {
            // One that is damaged is passed over.
            let Ok(seen) = serde_json::from_slice::<Seen>(line) else { return };
            if seen.content.is_some() {
                files.insert(seen.path.clone(), seen);
            } else {
                files.remove(&seen.path);
            }
        })?;
        Ok(files)
    }

    fn lines(&self, own: &Root, each: impl FnMut(&[u8])) -> Result<(), Error> {
        if self.bytes == 0 {
            return Ok(());
        }
        Ok(own.each_line(Path::new(FILE), each)?)
    }

    /// Learns what files hold now. Nothing waits for the disk: a line that is
    /// lost with the power costs one more look at its file.
    pub(crate) fn learn(&mut self, own: &Root, news: &[Seen]) -> Result<(), Error> {
        if news.is_empty() {
            return Ok(());
        }
        let mut text = String::new();
        for seen in news {
            text.push('\n');
            text.push_str(&encode(seen)?);
        }
        own.append(Path::new(FILE), text.as_bytes())?;
        self.asked.extend(news.iter().map(|seen| (seen.path.clone(), Some(seen.clone()))));
        self.bytes += text.len() as u64;
        if self.bytes > self.base.saturating_mul(2).saturating_add(ADDED_BYTES) {
            self.write_anew(own)?;
        }
        Ok(())
    }

    /// Leaves out the lines that later ones took the place of.
    fn write_anew(&mut self, own: &Root) -> Result<(), Error> {
        let files = self.all(own)?;
        let mut lines = String::new();
        for seen in files.values() {
            lines.push('\n');
            lines.push_str(&encode(seen)?);
        }
        let bytes = lines.len() as u64;
        let text = encode(&Header { files: files.len(), bytes })? + &lines;
        own.write(Path::new(FILE), text.as_bytes())?;
        (self.bytes, self.base) = (text.len() as u64, bytes);
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
        for mut known in [known, Known::open(&own).unwrap()] {
            let found = known.get(&own, &["a.md", odd, "a.md.md", "b.md"]).unwrap();
            assert_eq!(found, [Some(seen("a.md", "4")), Some(seen(odd, "2")), None, None]);
            assert_eq!(known.all(&own).unwrap().len(), 2);
            known.learn(&own, &[seen("b.md", "5"), Seen::gone(odd)]).unwrap();
            let found = known.get(&own, &["b.md", odd]).unwrap();
            assert_eq!(found, [Some(seen("b.md", "5")), None]);
            known.learn(&own, &[Seen::gone("b.md"), seen(odd, "2")]).unwrap();
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
        assert!(text.lines().count() < 2_500, "{}", text.lines().count());
        std::fs::write(&file, format!("{text}{{\"path\":\"c.md\",\"cont")).unwrap();
        let mut known = Known::open(&own).unwrap();
        known.learn(&own, &[seen("d.md", "y")]).unwrap();
        let mut known = Known::open(&own).unwrap();
        let found = known.get(&own, &["a.md", "d.md"]).unwrap();
        assert_eq!(found, [Some(seen("a.md", "1999")), Some(seen("d.md", "y"))]);
        assert_eq!(known.all(&own).unwrap().len(), 3);
        std::fs::write(&file, b"\xff\xfe\n").unwrap();
        assert!(Known::open(&own).unwrap().all(&own).unwrap().is_empty());
    }
}
