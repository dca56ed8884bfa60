//! Past conversations, from outside of one: which messages have some words,
//! and what a message or a tool's result said in full (R10).
//!
//! Transcripts are read line by line and never whole, newest first, ours and
//! those that Claude Code keeps for the same directory.

use everfold_disk::jsonl;
use everfold_foreign::{Reader, Thread, TranscriptEvent, What};
use everfold_kernel::limits::PastLimits;
use everfold_kernel::ports::{PastFound, PastQuery, PastSearch as _, SearchError};
use everfold_kernel::{BlockView, Entry, Record, SessionId};
use everfold_search::{TranscriptSearch, mask_known};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The tool by which other agents search.
const SEARCH_TOOL: &str = "session_search";
/// Transcripts in which a call is looked for, and how much of their ends.
const NEWEST: usize = 4;
const TAIL_BYTES: u64 = 64 * 1024;

/// Folders of transcripts of one working directory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PastSessions {
    pub(crate) dirs: Vec<PathBuf>,
    pub(crate) line_bytes: u64,
    pub(crate) limits: PastLimits,
}

impl PastSessions {
    /// The messages that have all words of a query, newest first, but for those of
    /// one session: whoever is in it need not search for them.
    ///
    /// # Errors
    /// If the query has no words.
    pub async fn search(
        &self,
        words: &str,
        most: usize,
        except: Option<SessionId>,
    ) -> Result<PastFound, SearchError> {
        let query = PastQuery {
            words: words.to_owned(),
            most,
            excerpt_chars: self.limits.excerpt_chars,
            except,
        };
        TranscriptSearch::new(self.dirs.clone(), self.line_bytes).search(query).await
    }

    /// The session at whose end a tool was called with these words. Blocks.
    pub(crate) fn called_with(&self, words: &str) -> Option<String> {
        let words = serde_json::Value::from(words).to_string();
        let is_call = |line: &str| line.contains(SEARCH_TOOL) && line.contains(&words);
        let found = self.files().into_iter().take(NEWEST).find(|file| {
            jsonl::head_and_tail(file, TAIL_BYTES).is_ok_and(|ends| {
                let end = if ends.tail.is_empty() { ends.head } else { ends.tail };
                String::from_utf8_lossy(&end).lines().any(is_call)
            })
        })?;
        Some(found.file_stem()?.to_string_lossy().into_owned())
    }

    /// What the person said in the newest conversation, in order. Blocks.
    #[must_use]
    pub fn newest_prompts(&self, most: usize, bytes: u64) -> Vec<String> {
        let Some(newest) = self.files().into_iter().next() else { return Vec::new() };
        let mut said = crate::hosts::hooks::persons_words(&newest, bytes);
        said.split_off(said.len().saturating_sub(most))
    }

    /// What a message, or the result of a tool call, said in full; by the id of
    /// either. Blocks.
    #[must_use]
    pub fn whole(&self, id: &str) -> Option<String> {
        self.files().into_iter().find_map(|file| {
            let mut text = None;
            self.each(&file, &mut |record| {
                if text.is_none() {
                    text = self.text_of(record, id, &file);
                }
            });
            // Whoever asks is another agent, perhaps (S15).
            text.map(|text| mask_known(&file, self.line_bytes, &text))
        })
    }

    fn text_of(&self, record: &Record, id: &str, file: &Path) -> Option<String> {
        let Entry::User(user) = &record.entry else {
            let is_meant = record.id.as_str() == id;
            return is_meant.then(|| parts(record).join("\n"));
        };
        for block in &user.content {
            if let BlockView::ToolResult { id: call, content, .. } = block.view()
                && (call == id || record.id.as_str() == id)
            {
                return Some(
                    spilled_result(file, call, self.limits.result_bytes)
                        .unwrap_or_else(|| plain(content)),
                );
            }
        }
        (record.id.as_str() == id).then(|| parts(record).join("\n"))
    }

    fn each(&self, file: &Path, sink: &mut dyn FnMut(&Record)) {
        let mut reader = Reader::new();
        let mut take = |told: TranscriptEvent| {
            if let What::Record(record) = &told.what
                && told.thread == Thread::MAIN
            {
                sink(record);
            }
        };
        // One that cannot be read has nothing.
        let _ = jsonl::read(file, self.line_bytes, &mut |line| reader.push(line, &mut take));
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
        files.into_iter().map(|(_, path)| path).collect()
    }
}

/// The result of a call that was too large for a transcript and lies beside it;
/// none where it does not, or has more bytes than these. Blocks.
#[must_use]
pub fn spilled_result(transcript: &Path, call: &str, most_bytes: u64) -> Option<String> {
    let is_name = call.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    let dir = transcript.with_extension("").join("tool-results");
    let path = dir.join(format!("{call}.txt"));
    let fits = path.metadata().is_ok_and(|about| about.len() <= most_bytes);
    (is_name && fits).then(|| std::fs::read_to_string(path).ok()).flatten()
}

/// What was said in a record.
fn parts(record: &Record) -> Vec<String> {
    match &record.entry {
        Entry::User(user) => user.content.iter().filter_map(|block| said(block.view())).collect(),
        Entry::Assistant(answer) => said(answer.block.view()).into_iter().collect(),
        _ => Vec::new(),
    }
}

fn said(block: BlockView<'_>) -> Option<String> {
    match block {
        BlockView::Text(text) => Some(text.to_owned()),
        BlockView::ToolResult { content, .. } => Some(plain(content)),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn past(dir: &Path) -> PastSessions {
        PastSessions {
            dirs: vec![dir.to_owned()],
            line_bytes: 1 << 20,
            limits: PastLimits::default(),
        }
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

    #[tokio::test]
    async fn r10_messages_are_found_by_their_words_and_read_in_full() {
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
        let found = past.search("login mondays", 5, None).await.unwrap().hits;
        assert_eq!(found.len(), 1, "{found:?}");
        let whole = past.whole(found[0].record.as_str());
        assert_eq!(whole.as_deref(), Some("Why does the Login fail on Mondays?"));
        assert_eq!(past.whole("toolu_1").as_deref(), Some("short"));
        let spills = dir.path().join("s1").join("tool-results");
        std::fs::create_dir_all(&spills).unwrap();
        std::fs::write(spills.join("toolu_1.txt"), "all of it").unwrap();
        assert_eq!(past.whole("toolu_1").as_deref(), Some("all of it"));
        assert_eq!(past.whole("../../x"), None);
        assert!(past.search("", 5, None).await.is_err());
        assert!(past.search("nowhere", 5, None).await.unwrap().hits.is_empty());
    }
}
