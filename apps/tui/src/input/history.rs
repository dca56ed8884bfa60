//! What was typed before: here first, then elsewhere; up and down, and by
//! search. Kept in a file that other agents' users know.

use everfold_agent::disk::jsonl::{self, Appender};
use everfold_memory_judge::secrets;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Entries that are held.
const MOST: usize = 2_000;
/// Bytes of a line of the file that is read.
const LINE_BYTES: u64 = 1 << 20;

/// What was typed, oldest first, and where the person is in it.
#[derive(Default)]
pub(crate) struct History {
    entries: Vec<String>,
    /// The entry that is shown, and what had been typed before.
    at: Option<(usize, String)>,
}

impl History {
    /// Starts with these, oldest first.
    pub(crate) fn new(entries: Vec<String>) -> Self {
        Self { entries, at: None }
    }

    /// Adds what was sent.
    pub(crate) fn add(&mut self, text: &str) {
        self.at = None;
        if self.entries.last().is_none_or(|last| last != text) {
            self.entries.push(text.to_owned());
        }
    }

    /// The entry before the one that is shown; `typed` comes back at the end.
    pub(crate) fn older(&mut self, typed: &str) -> Option<&str> {
        let (at, typed) = match self.at.take() {
            Some((at, typed)) => (at.checked_sub(1), typed),
            None => (self.entries.len().checked_sub(1), typed.to_owned()),
        };
        let at = at.unwrap_or(0);
        let entry = self.entries.get(at)?;
        self.at = Some((at, typed));
        Some(entry)
    }

    /// The entry after the one that is shown.
    pub(crate) fn newer(&mut self) -> Option<String> {
        let (at, typed) = self.at.take()?;
        match self.entries.get(at + 1) {
            Some(entry) => {
                self.at = Some((at + 1, typed));
                Some(entry.clone())
            }
            None => Some(typed),
        }
    }

    /// The newest entry with these words, `skip` of them left out.
    pub(crate) fn search(&self, words: &str, skip: usize) -> Option<&str> {
        let words = words.to_lowercase();
        let has = |entry: &&String| entry.to_lowercase().contains(&words);
        self.entries.iter().rev().filter(has).nth(skip).map(String::as_str)
    }
}

/// The file of what was typed.
#[derive(Clone, Debug)]
pub(crate) struct HistoryFile {
    path: PathBuf,
    project: String,
}

impl HistoryFile {
    /// The file at a path, for work in a directory.
    pub(crate) fn new(path: &Path, project: &str) -> Self {
        Self { path: path.to_owned(), project: project.to_owned() }
    }

    /// What was typed in this directory, oldest first. What cannot be read is
    /// not there.
    pub(crate) fn read(&self) -> Vec<String> {
        let mut entries: Vec<String> = Vec::new();
        let _ = jsonl::read(&self.path, LINE_BYTES, &mut |line| {
            let Ok(value) = serde_json::from_slice::<Value>(line) else { return };
            let here = value.get("project").and_then(Value::as_str) == Some(&self.project);
            if let (true, Some(text)) = (here, value.get("display").and_then(Value::as_str))
                && entries.last().is_none_or(|last| last != text)
            {
                entries.push(text.to_owned());
            }
        });
        entries.split_off(entries.len().saturating_sub(MOST))
    }

    /// Adds what was sent.
    pub(crate) fn add(&self, text: &str, session: &str) {
        let line = json!({
            // What was typed is in the transcript, where it was said (S15).
            "display": secrets::mask(text),
            "pastedContents": {},
            "timestamp": jiff::Timestamp::now().as_millisecond(),
            "project": self.project,
            "sessionId": session,
        });
        let added = Appender::open(&self.path)
            .and_then(|mut file| file.append(line.to_string().as_bytes()));
        if let Err(error) = added {
            tracing::warn!(%error, "what was typed could not be kept");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q9_up_and_down_go_through_what_was_typed() {
        let mut history = History::new(vec!["one".into(), "two".into()]);
        assert_eq!(history.older("draft"), Some("two"));
        assert_eq!(history.older(""), Some("one"));
        assert_eq!(history.older(""), Some("one"));
        assert_eq!(history.newer().as_deref(), Some("two"));
        assert_eq!(history.newer().as_deref(), Some("draft"));
        assert_eq!(history.newer(), None);
    }

    #[test]
    fn q9_history_is_searched_from_its_end() {
        let history = History::new(vec!["Run tests".into(), "read".into(), "run again".into()]);
        assert_eq!(history.search("RUN", 0), Some("run again"));
        assert_eq!(history.search("run", 1), Some("Run tests"));
        assert_eq!(history.search("run", 2), None);
    }

    #[test]
    fn q9_what_was_typed_is_kept_for_its_directory() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("history.jsonl");
        HistoryFile::new(&path, "/a").add("one\ntwo", "s");
        HistoryFile::new(&path, "/b").add("elsewhere", "s");
        HistoryFile::new(&path, "/a").add("three", "s");
        assert_eq!(HistoryFile::new(&path, "/a").read(), ["one\ntwo", "three"]);
        assert!(HistoryFile::new(&dir.path().join("none"), "/a").read().is_empty());
    }
}
