//! Names of memories: plain relative paths that end in `.md`.
//!
//! The operating system's view of the path is what confines a write (S1); this
//! refuses earlier, and with a reason, what only looks like a name (L5.21):
//! `..`, escapes for it, and signs that look like dots and slashes.

use crate::error::Error;
use everfold_kernel::ports::AGENT_MEMORY_LOCAL;
use everfold_memory_file::index::INDEX_FILE;
use everfold_memory_judge::secrets;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::Path;

/// Longest part of a path, in bytes, with room for the endings of others.
const PART_BYTES: usize = 200;
/// Most folders around a memory.
const MAX_DEPTH: usize = 8;

/// Folders at the top that hold no topics (R2).
pub(crate) const NO_TOPICS: &[&str] = &["logs", "inbox", AGENT_MEMORY_LOCAL];
pub(crate) const OWN_DIR: &str = ".everfold";

/// The path of a memory, from the top of its store.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TopicPath(String);

impl TopicPath {
    /// Takes a path, if a memory may have it.
    ///
    /// # Errors
    /// [`Error::BadPath`] that says what is wrong with it.
    pub fn new(path: &str) -> Result<Self, Error> {
        match fault(path) {
            // A refusal does not repeat what must not be said (L5.40).
            Some(why) if secrets::find(path).is_empty() => {
                Err(Error::BadPath { path: path.to_owned(), why })
            }
            Some(why) => Err(Error::BadPath { path: "…".to_owned(), why }),
            None => Ok(Self(path.to_owned())),
        }
    }

    /// The path of a file that is there already, whatever it is called.
    #[must_use]
    pub fn found(path: String) -> Self {
        Self(path)
    }

    /// The path as text, with `/` between its parts.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    #[must_use]
    pub fn as_path(&self) -> &Path {
        Path::new(&self.0)
    }
}

impl fmt::Display for TopicPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn fault(path: &str) -> Option<&'static str> {
    let lower = path.to_ascii_lowercase();
    if path.is_empty() || path.trim() != path {
        return Some("it is empty, or starts or ends with a space");
    }
    if path.contains('\0') || path.chars().any(char::is_control) {
        return Some("it contains control characters");
    }
    if path.starts_with(['/', '\\', '~']) || path.contains('\\') || path.contains(':') {
        return Some("use a path from the top of the memory directory, with `/` between its parts");
    }
    if ["%2e", "%2f", "%5c", "%00", "%252"].iter().any(|code| lower.contains(code)) {
        return Some("it contains escapes for dots or slashes");
    }
    if path.chars().any(looks_like_separator) {
        return Some("it contains characters that look like dots or slashes");
    }
    let parts: Vec<&str> = path.split('/').collect();
    if parts.len() > MAX_DEPTH || parts.iter().any(|part| part.len() > PART_BYTES) {
        return Some("it is too long");
    }
    if parts.iter().any(|part| part.is_empty() || part.starts_with('.') || part.trim() != *part) {
        return Some("a part of it is empty or starts with a dot");
    }
    if Path::new(&lower).extension().is_none_or(|ending| ending != "md") {
        return Some("it must end in `.md`");
    }
    let name = parts.last().copied().unwrap_or_default();
    if is_index_name(name) {
        return Some("that is the index; give the memory a name of its own");
    }
    let first = parts.first().copied().unwrap_or_default();
    let reserved = parts.len() > 1 && NO_TOPICS.iter().any(|dir| first.eq_ignore_ascii_case(dir));
    reserved.then_some("that folder holds no memories")
}

/// Whether a file's name is that of an index; some file systems do not tell
/// cases apart.
pub(crate) fn is_index_name(name: &str) -> bool {
    name.eq_ignore_ascii_case(INDEX_FILE)
}

fn looks_like_separator(c: char) -> bool {
    matches!(
        c,
        '\u{2024}' | '\u{2025}' | '\u{2026}' | '\u{fe52}' | '\u{ff0e}' | '\u{fe19}' // dots
        | '\u{2044}' | '\u{2215}' | '\u{29f8}' | '\u{ff0f}' | '\u{2571}' // slashes
        | '\u{29f5}' | '\u{2216}' | '\u{fe68}' | '\u{ff3c}' | '\u{29f9}' // backslashes
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' // unseen
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l5_21_names_that_lead_elsewhere_are_refused() {
        let bad = [
            "",
            " a.md",
            "../a.md",
            "a/../b.md",
            "/etc/a.md",
            "~/a.md",
            "a\\..\\b.md",
            "C:a.md",
            "a\0.md",
            "a.txt",
            "%2e%2e/a.md",
            "..%2fa.md",
            "%252e%252e/a.md",
            "．．/a.md",
            "..／a.md",
            "‥/a.md",
            "a∕b.md",
            "MEMORY.md",
            "memory.md",
            "sub/Memory.md",
            ".hidden.md",
            ".everfold/x.md",
            ".git/x.md",
            "logs/2026.md",
            "Inbox/x.md",
            "a//b.md",
            "./a.md",
            "a\u{202e}b.md",
            "a\nb.md",
            "a /b.md",
        ];
        for path in bad {
            assert!(TopicPath::new(path).is_err(), "{path:?}");
        }
        assert!(TopicPath::new(&format!("{}.md", "x".repeat(300))).is_err());
    }

    #[test]
    fn plain_names_are_taken() {
        for path in [
            "a.md",
            "feedback_tests.md",
            "db/time outs.md",
            "été.md",
            "logs.md",
            "a..b.md",
            "100%.md",
        ] {
            assert_eq!(TopicPath::new(path).unwrap().as_str(), path);
        }
    }
}
