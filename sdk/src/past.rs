//! Past conversations, from outside of one: which messages have some words,
//! and what a message or a tool's result said in full (R10).
//!
//! Transcripts are read line by line and never whole, newest first, ours and
//! those that Claude Code keeps for the same directory. Everything here blocks.

use mnemon_disk::jsonl;
use mnemon_foreign::{Reader, Thread, Told, What};
use mnemon_kernel::limits::PastLimits;
use mnemon_kernel::{BlockView, Entry, Record, Timestamp, UserOrigin};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Folders of transcripts of one working directory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Past {
    pub(crate) dirs: Vec<PathBuf>,
    pub(crate) limits: PastLimits,
}

/// A message that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The session, which is also the name of its file.
    pub session: String,
    /// The message, for [`Past::whole`].
    pub id: String,
    /// When it was said.
    pub at: Timestamp,
    /// Who said it: `person`, `assistant` or `tool`.
    pub who: &'static str,
    /// The part that has the words.
    pub excerpt: String,
}

impl Past {
    /// The messages that have all words of a query, newest sessions first.
    #[must_use]
    pub fn search(&self, query: &str, most: usize) -> Vec<Found> {
        let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
        let mut found = Vec::new();
        if words.is_empty() {
            return found;
        }
        for file in self.files() {
            let session = stem(&file);
            let mut here = Vec::new();
            self.each(&file, &mut |record| {
                for (who, text) in parts(record) {
                    if let Some(excerpt) = excerpt(&text, &words, self.limits.excerpt_chars) {
                        let (id, at) = (record.id.to_string(), record.at);
                        here.push(Found { session: session.clone(), id, at, who, excerpt });
                    }
                }
            });
            // Within a session, too, the newest come first.
            here.reverse();
            found.extend(here);
            if found.len() >= most {
                break;
            }
        }
        found.truncate(most);
        found
    }

    /// What a message, or the result of a tool call, said in full; by the id of
    /// either.
    #[must_use]
    pub fn whole(&self, id: &str) -> Option<String> {
        self.files().into_iter().find_map(|file| {
            let mut text = None;
            self.each(&file, &mut |record| {
                if text.is_none() {
                    text = self.text_of(record, id, &file);
                }
            });
            text
        })
    }

    fn text_of(&self, record: &Record, id: &str, file: &Path) -> Option<String> {
        let Entry::User(user) = &record.entry else {
            let is_meant = record.id.as_str() == id;
            return is_meant.then(|| join(parts(record)));
        };
        for block in &user.content {
            if let BlockView::ToolResult { id: call, content, .. } = block.view()
                && (call == id || record.id.as_str() == id)
            {
                return Some(self.spilled(file, call).unwrap_or_else(|| plain(content)));
            }
        }
        (record.id.as_str() == id).then(|| join(parts(record)))
    }

    /// A result that was too large for the transcript.
    fn spilled(&self, transcript: &Path, call: &str) -> Option<String> {
        let is_name = call.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
        let dir = transcript.with_extension("").join("tool-results");
        let path = dir.join(format!("{call}.txt"));
        let fits = path.metadata().is_ok_and(|about| about.len() <= self.limits.result_bytes);
        (is_name && fits).then(|| std::fs::read_to_string(path).ok()).flatten()
    }

    fn each(&self, file: &Path, sink: &mut dyn FnMut(&Record)) {
        let mut reader = Reader::new();
        let mut take = |told: Told| {
            if let What::Record(record) = &told.what
                && told.thread == Thread::MAIN
            {
                sink(record);
            }
        };
        // One that cannot be read has nothing.
        let _ = jsonl::read(file, self.limits.line_bytes, &mut |line| reader.push(line, &mut take));
        reader.finish(&mut take);
    }

    /// The transcripts, the last written first.
    fn files(&self) -> Vec<PathBuf> {
        let mut files: Vec<(SystemTime, PathBuf)> = Vec::new();
        for dir in &self.dirs {
            let Ok(entries) = std::fs::read_dir(dir) else { continue };
            for path in entries.flatten().map(|entry| entry.path()) {
                let about = path.symlink_metadata();
                let is_file = about.as_ref().is_ok_and(std::fs::Metadata::is_file);
                if is_file && path.extension().is_some_and(|ending| ending == "jsonl") {
                    let modified = about.and_then(|about| about.modified());
                    files.push((modified.unwrap_or(SystemTime::UNIX_EPOCH), path));
                }
            }
        }
        files.sort_by(|a, b| b.cmp(a));
        files.into_iter().take(self.limits.files).map(|(_, path)| path).collect()
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// What was said in a record, and by whom.
fn parts(record: &Record) -> Vec<(&'static str, String)> {
    match &record.entry {
        Entry::User(user) => {
            let who = match user.origin {
                UserOrigin::Human => "person",
                UserOrigin::CompactSummary => "assistant",
                UserOrigin::ToolResult | UserOrigin::Meta => "tool",
            };
            user.content.iter().filter_map(|block| said(block.view(), who)).collect()
        }
        Entry::Assistant(answer) => said(answer.block.view(), "assistant").into_iter().collect(),
        _ => Vec::new(),
    }
}

fn said(block: BlockView<'_>, who: &'static str) -> Option<(&'static str, String)> {
    match block {
        BlockView::Text(text) => Some((who, text.to_owned())),
        BlockView::ToolResult { content, .. } => Some(("tool", plain(content))),
        _ => None,
    }
}

/// The text of a result: a string, or the text blocks of a list.
fn plain(content: &serde_json::Value) -> String {
    match content {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block.get("text")?.as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

fn join(parts: Vec<(&'static str, String)>) -> String {
    parts.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join("\n")
}

/// The part of a text around the first word, if it has all of them.
fn excerpt(text: &str, words: &[String], chars: usize) -> Option<String> {
    let lower = text.to_lowercase();
    if !words.iter().all(|word| lower.contains(word)) {
        return None;
    }
    let first = words.iter().filter_map(|word| lower.find(word)).min().unwrap_or_default();
    let before = lower.get(..first).map_or(0, |before| before.chars().count());
    let start = before.saturating_sub(chars / 3);
    let part: String = text.chars().skip(start).take(chars).collect();
    let part = part.split_whitespace().collect::<Vec<_>>().join(" ");
    let total = text.chars().count();
    let head = if start > 0 { "…" } else { "" };
    let tail = if start + chars < total { "…" } else { "" };
    Some(format!("{head}{part}{tail}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn past(dir: &Path) -> Past {
        Past { dirs: vec![dir.to_owned()], limits: PastLimits::default() }
    }

    fn write(dir: &Path, session: &str, lines: &[&str]) {
        let lines: Vec<String> = lines
            .iter()
            .enumerate()
            .map(|(at, line)| {
                line.replacen(
                    '{',
                    &format!(r#"{{"uuid":"{session}-{at}","parentUuid":null,"sessionId":"{session}","timestamp":"2026-11-01T10:00:0{at}.000Z","cwd":"/p","#),
                    1,
                )
            })
            .collect();
        std::fs::write(dir.join(format!("{session}.jsonl")), lines.join("\n") + "\n").unwrap();
    }

    #[test]
    fn r10_messages_are_found_by_their_words_and_read_in_full() {
        let dir = tempfile::tempdir().unwrap();
        write(
            dir.path(),
            "s1",
            &[
                r#"{"type":"user","message":{"role":"user","content":"Why does the Login fail on Mondays?"}}"#,
                r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"short"}]}}"#,
                "{\"broken\n",
            ],
        );
        let past = past(dir.path());
        let found = past.search("login mondays", 5);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].session.as_str(), found[0].who), ("s1", "person"));
        assert_eq!(
            past.whole(&found[0].id).as_deref(),
            Some("Why does the Login fail on Mondays?")
        );
        assert_eq!(past.whole("toolu_1").as_deref(), Some("short"));
        let spills = dir.path().join("s1").join("tool-results");
        std::fs::create_dir_all(&spills).unwrap();
        std::fs::write(spills.join("toolu_1.txt"), "all of it").unwrap();
        assert_eq!(past.whole("toolu_1").as_deref(), Some("all of it"));
        assert_eq!(past.whole("../../x"), None);
        assert!(past.search("", 5).is_empty() && past.search("nowhere", 5).is_empty());
    }

    #[test]
    fn r10_an_excerpt_has_the_words_and_is_short() {
        let text = format!("{} needle {}", "é ".repeat(500), "x ".repeat(500));
        let part = excerpt(&text, &["needle".into()], 90).unwrap();
        assert!(part.contains("needle") && part.chars().count() <= 92, "{part}");
        assert!(part.starts_with('…') && part.ends_with('…'));
    }
}
