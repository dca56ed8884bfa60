//! Listing and reading (R2, S6).
//!
//! Links are not followed: what they lead to is either in the store under its
//! own name, or none of its business.

use super::Store;
use crate::error::Error;
use crate::journal::ContentId;
use crate::location::TEAM_DIR;
use crate::path::{NO_TOPICS, OWN_DIR, TopicPath, is_index_name};
use everfold_disk::{EntryKind, RootEntry};
use everfold_memory_file::index::{Caps, INDEX_FILE, LoadedIndex, load_part};
use everfold_memory_file::{Frontmatter, Memory};
use jiff::Timestamp;
use std::collections::VecDeque;
use std::path::Path;

/// How much of a file a list is made from, in bytes: some thirty long lines.
const HEAD_BYTES: u64 = 16 * 1024;
/// How deep folders are looked into.
const MAX_DEPTH: usize = 16;
/// How many files a store can have; the rest is not looked at.
const MAX_FILES: usize = 200_000;

/// A memory in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct TopicHead {
    pub path: TopicPath,
    pub bytes: u64,
    /// When the file was last written.
    pub modified: Timestamp,
    /// What it says about itself.
    pub front: Frontmatter,
    /// What is wrong with it, in words.
    pub fault: Option<String>,
}

/// Something to know about a text that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// Only its start was read.
    Cut {
        /// The size of the file.
        bytes: u64,
    },
    /// It is not all UTF-8; what is not was replaced.
    NotUtf8,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredText {
    pub text: String,
    /// What the file holds; to be handed back when it is changed.
    pub content: ContentId,
    /// What else to know.
    pub note: Option<Note>,
}

impl Store {
    /// The memories, newest first, at most `limit`.
    ///
    /// # Errors
    /// If the directory cannot be listed. A file that cannot be read is listed
    /// with its fault.
    pub fn scan(&self, limit: usize) -> Result<Vec<TopicHead>, Error> {
        let mut files = self.files()?;
        files.retain(|file| {
            file.path.file_name().and_then(|n| n.to_str()).is_some_and(|n| !is_index_name(n))
        });
        files.sort_by(|a, b| (b.modified, &a.path).cmp(&(a.modified, &b.path)));
        Ok(files.iter().take(limit).filter_map(|file| self.topic_head(file)).collect())
    }

    fn topic_head(&self, file: &RootEntry) -> Option<TopicHead> {
        let path = TopicPath::found(text_path(&file.path)?);
        let modified =
            file.modified.and_then(|time| Timestamp::try_from(time).ok()).unwrap_or_default();
        let head = |front, fault| TopicHead { path, bytes: file.bytes, modified, front, fault };
        let bytes = match self.root.head(&file.path, HEAD_BYTES) {
            Ok(bytes) => bytes,
            // Removed since it was listed.
            Err(everfold_disk::Error::NotFound { .. }) => return None,
            Err(error) => return Some(head(Frontmatter::default(), Some(error.to_string()))),
        };
        let whole = file.bytes <= HEAD_BYTES;
        let (text, is_utf8) = decode(&bytes, if whole { Extent::Whole } else { Extent::Start });
        let memory = Memory::parse_head(&text, self.options.head_lines);
        let fault = match &memory.fault {
            // The end of a long one is only out of sight.
            Some(everfold_memory_file::FrontmatterFault::Unclosed)
                if !whole || text.lines().count() > self.options.head_lines =>
            {
                None
            }
            fault => fault.as_ref().map(ToString::to_string),
        };
        let fault = fault.or_else(|| (!is_utf8).then(|| "it is not all UTF-8".to_owned()));
        Some(head(memory.front, fault))
    }

    /// A memory's text; of one that is too large, its start.
    ///
    /// # Errors
    /// [`Error::NotFound`] if there is none, or if it cannot be read.
    pub fn read(&self, path: &TopicPath) -> Result<StoredText, Error> {
        self.read_text(path.as_str())?.ok_or_else(|| Error::NotFound { path: path.to_string() })
    }

    /// The index as it is, whole; none where there is none.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read_index(&self) -> Result<Option<StoredText>, Error> {
        self.read_text(INDEX_FILE)
    }

    pub(crate) fn read_text(&self, path: &str) -> Result<Option<StoredText>, Error> {
        let state = self.state(path)?;
        let Some(content) = state.content else { return Ok(None) };
        if let Some(bytes) = state.bytes {
            let (text, is_utf8) = decode(&bytes, Extent::Whole);
            return Ok(Some(StoredText {
                text,
                content,
                note: (!is_utf8).then_some(Note::NotUtf8),
            }));
        }
        let name = Path::new(path);
        let bytes = self.root.stat(name)?.map_or(0, |there| there.bytes);
        let (text, _) = decode(&self.root.head(name, self.options.topic_bytes)?, Extent::Start);
        Ok(Some(StoredText { text, content, note: Some(Note::Cut { bytes }) }))
    }

    /// The index as a model sees it: within its caps, with a warning where it
    /// was cut. Empty where there is none.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn load_index(&self) -> Result<LoadedIndex, Error> {
        self.load_index_within(self.options.caps)
    }

    /// The same within other caps: what another index left of them (L5.25).
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn load_index_within(&self, caps: Caps) -> Result<LoadedIndex, Error> {
        let Some(read) = self.read_text(INDEX_FILE)? else {
            return Ok(LoadedIndex { text: String::new(), cut: None });
        };
        let total = match read.note {
            Some(Note::Cut { bytes }) => bytes,
            _ => read.text.len() as u64,
        };
        Ok(load_part(&read.text, total, caps))
    }

    /// Every Markdown file of the store: topics and indexes. Hidden folders,
    /// logs, the inbox, and a team's store inside are not part of it.
    pub(super) fn files(&self) -> Result<Vec<RootEntry>, Error> {
        let mut found = Vec::new();
        let mut ahead = VecDeque::from([(Path::new(".").to_path_buf(), 0)]);
        while let Some((dir, depth)) = ahead.pop_front() {
            let entries = match self.root.list(&dir) {
                Ok(entries) => entries,
                // One folder that is closed or gone must not hide the others.
                Err(_) if depth > 0 => continue,
                Err(error) => return Err(error.into()),
            };
            if depth == 1 && is_team_store(&dir, &entries) {
                continue;
            }
            for entry in entries {
                let name =
                    entry.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                let ends = Path::new(name)
                    .extension()
                    .is_some_and(|ending| ending.eq_ignore_ascii_case("md"));
                match entry.kind {
                    _ if name.is_empty() || name.starts_with('.') => {}
                    EntryKind::Directory if depth == 0 && NO_TOPICS.contains(&name) => {}
                    EntryKind::Directory if depth < MAX_DEPTH => {
                        ahead.push_back((entry.path, depth + 1));
                    }
                    EntryKind::File if ends && found.len() < MAX_FILES => found.push(entry),
                    _ => {}
                }
            }
        }
        Ok(found)
    }
}

/// Whether a folder is a store of its own: a team's, with its own index or
/// history.
fn is_team_store(dir: &Path, entries: &[RootEntry]) -> bool {
    let is_sign = |entry: &RootEntry| {
        entry.path.file_name().is_some_and(|name| name == INDEX_FILE || name == OWN_DIR)
    };
    dir == Path::new(TEAM_DIR) && entries.iter().any(is_sign)
}

/// A path as text with `/`, if it can be one.
pub(super) fn text_path(path: &Path) -> Option<String> {
    let parts: Option<Vec<&str>> = path.iter().map(|part| part.to_str()).collect();
    parts.map(|parts| parts.join("/"))
}

/// How much of a file some bytes are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    Whole,
    Start,
}

/// Bytes as text, and whether they are text. The start of a longer file may
/// end inside a character.
fn decode(bytes: &[u8], extent: Extent) -> (String, bool) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (text.to_owned(), true),
        Err(error) if extent == Extent::Start && error.error_len().is_none() => {
            let text = bytes.get(..error.valid_up_to()).unwrap_or_default();
            (String::from_utf8_lossy(text).into_owned(), true)
        }
        Err(_) => (String::from_utf8_lossy(bytes).into_owned(), false),
    }
}
