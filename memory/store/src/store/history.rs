//! Looking back, and taking back (L5.16, L5.17).

use super::commit::{Edit, State, What};
use super::indexes::{Indexes, Novelty};
use super::{By, Store, outside_changes};
use crate::error::Error;
use crate::journal::{Action, ContentId, EntryId, FileChange, Journal, JournalEntry, Seen};
use crate::path::{TopicPath, is_index_name};
use everfold_memory_file::index::{INDEX_FILE, is_sub_index};
use everfold_memory_file::{Frontmatter, Index, Memory, Pointer};
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What an entry did to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileDiff {
    pub path: String,
    /// What it held; none if it was not there.
    pub before: Option<String>,
    /// What it held after; none if it was gone.
    pub after: Option<String>,
}

impl FileDiff {
    /// The difference in the unified form.
    #[must_use]
    pub fn unified(&self) -> String {
        let name = |text: &Option<String>, side: &str| {
            if text.is_some() { format!("{side}/{}", self.path) } else { "/dev/null".to_owned() }
        };
        let (old, new) = (name(&self.before, "a"), name(&self.after, "b"));
        let before = self.before.as_deref().unwrap_or_default();
        let after = self.after.as_deref().unwrap_or_default();
        let diff = similar::TextDiff::from_lines(before, after);
        diff.unified_diff().context_radius(3).header(&old, &new).to_string()
    }
}

/// What to do where a file was changed again since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnConflict {
    /// Leave everything as it is and say so.
    Refuse,
    /// Take it back all the same; the history keeps the later change.
    Force,
}

/// Where a memory came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Blame {
    /// The entries that changed it, newest first. The first one set what it
    /// holds now.
    pub entries: Vec<JournalEntry>,
    /// What the file says itself: session, messages, date, basis.
    pub front: Frontmatter,
}

/// What is kept when a history is pruned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keep {
    /// At most so many entries, the newest.
    pub entries: usize,
    /// None older than this.
    pub since: Option<Timestamp>,
}

/// What pruning took away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    pub entries: usize,
    pub contents: usize,
}

impl Store {
    /// The history, newest first; of one file, where a path is given.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn log(&self, path: Option<&str>, limit: usize) -> Result<Vec<JournalEntry>, Error> {
        let mut entries = self.journal().entries()?;
        entries.reverse();
        entries.retain(|entry| path.is_none_or(|path| entry.touches(path)));
        entries.truncate(limit);
        Ok(entries)
    }

    pub(super) fn entry(&self, id: EntryId) -> Result<JournalEntry, Error> {
        let found = self.journal().entries()?.into_iter().find(|entry| entry.id == id);
        found.ok_or(Error::NoEntry { id })
    }

    /// What an entry changed.
    ///
    /// # Errors
    /// If there is no such entry, or it cannot be read. A content that was not
    /// kept reads as a line that says so.
    pub fn diff(&self, id: EntryId) -> Result<Vec<FileDiff>, Error> {
        let text = |content: &Option<ContentId>| -> Result<Option<String>, Error> {
            let Some(content) = content else { return Ok(None) };
            let kept = self.blobs()?.get(content)?;
            let text = kept.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            Ok(Some(text.unwrap_or_else(|| format!("(not kept: {})\n", content.as_str()))))
        };
        let one = |change: FileChange| {
            Ok(FileDiff {
                before: text(&change.before)?,
                after: text(&change.after)?,
                path: change.path,
            })
        };
        self.entry(id)?.changes.into_iter().map(one).collect()
    }

    /// Takes one entry back: its memories hold again what they held, and the
    /// index points to those that are there. That is an entry too.
    ///
    /// # Errors
    /// [`Error::Conflict`] if a memory was changed again since, and
    /// [`Error::NotKept`] if what it held is no longer there.
    pub fn undo(
        &self,
        id: EntryId,
        on_conflict: OnConflict,
        by: &By,
    ) -> Result<Option<EntryId>, Error> {
        let mut held = self.begin()?;
        self.notice_all(&mut held, &outside_changes::foreign(by.at))?;
        let entry = self.entry(id)?;
        let (lists, topics): (Vec<&FileChange>, Vec<&FileChange>) =
            entry.changes.iter().partition(|change| self.is_list(change));
        let mut edits = Vec::new();
        let mut removed = Vec::new();
        let exact = if topics.is_empty() { &lists } else { &topics };
        for change in exact {
            let now = self.state(&change.path)?;
            if now.content != change.after && on_conflict == OnConflict::Refuse {
                return Err(Error::Conflict { path: change.path.clone(), id });
            }
            let edit = self.back_to(change.before.as_ref(), &change.path, now)?;
            if edit.after.content.is_some() { edits.push(edit) } else { removed.push(edit) }
        }
        if !topics.is_empty() {
            edits.extend(self.lists_back(&lists, &topics)?);
        }
        edits.extend(removed);
        let what = What { undoes: vec![id], ..Action::Undo.into() };
        self.commit(&mut held, what, edits, by)
    }

    /// The edits that bring indexes back. Those that hold what the entry left
    /// hold again what they held; where somebody changed one since, it points
    /// to the memories that are there.
    fn lists_back(
        &self,
        lists: &[&FileChange],
        topics: &[&FileChange],
    ) -> Result<Vec<Edit>, Error> {
        let mut exact = Vec::new();
        for change in lists {
            let now = self.state(&change.path)?;
            if now.content == change.after {
                match self.back_to(change.before.as_ref(), &change.path, now) {
                    Ok(edit) => exact.push(edit),
                    // Then the lines are brought back one by one.
                    Err(Error::NotKept { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        if exact.len() == lists.len() {
            // A pointer never leads nowhere: sub-indexes come first, or go last.
            exact.sort_by_key(|edit| (edit.after.content.is_none(), is_index_name(&edit.path)));
            return Ok(exact);
        }
        let mut indexes = Indexes::load(self)?;
        for change in topics {
            match (&change.before, self.old_pointer(lists, &change.path)?) {
                (None, _) => indexes.remove(&change.path)?,
                (Some(_), Some(pointer)) => indexes.set(&pointer, Novelty::Known)?,
                (Some(_), None) => {}
            }
        }
        indexes.fit()?;
        Ok(indexes.edits())
    }

    /// Brings the store back to what it was at a time, index and all.
    ///
    /// # Errors
    /// [`Error::NotKept`] if something it held then is no longer there.
    pub fn undo_to(&self, at: Timestamp, by: &By) -> Result<Option<EntryId>, Error> {
        let mut held = self.begin()?;
        self.notice_all(&mut held, &outside_changes::foreign(by.at))?;
        let entries = self.journal().entries()?;
        // By number and not by time: clocks go back.
        let since = entries.iter().rposition(|entry| entry.at <= at).map_or(0, |last| last + 1);
        let later = entries.get(since..).unwrap_or_default();
        let mut then: BTreeMap<&str, Option<&ContentId>> = BTreeMap::new();
        for change in later.iter().flat_map(|entry| &entry.changes) {
            then.entry(&change.path).or_insert(change.before.as_ref());
        }
        let mut edits = Vec::new();
        for (path, content) in then {
            edits.push(self.back_to(content, path, self.state(path)?)?);
        }
        // Memories, then what points to them, then what goes.
        edits.sort_by_key(|edit| (edit.after.content.is_none(), is_index_name(&edit.path)));
        let undoes = later.iter().map(|entry| entry.id).collect();
        self.commit(&mut held, What { undoes, ..Action::Undo.into() }, edits, by)
    }

    /// The edit that gives a file an earlier content.
    fn back_to(&self, content: Option<&ContentId>, path: &str, now: State) -> Result<Edit, Error> {
        let Some(content) = content else { return Ok(Edit::remove(path, now)) };
        if now.content.as_ref() == Some(content) {
            return Ok(Edit { path: path.to_owned(), after: now.clone(), before: now });
        }
        let kept = self.blobs()?.get(content)?;
        let bytes = kept.ok_or_else(|| Error::NotKept { path: path.to_owned() })?;
        Ok(Edit::write(path, now, bytes))
    }

    /// Whether a change is one of an index or a sub-index.
    pub(super) fn is_list(&self, change: &FileChange) -> bool {
        let text = |content: &ContentId| self.blobs().ok()?.get(content).ok().flatten();
        let is_sub = |content: &ContentId| {
            text(content).is_some_and(|b| is_sub_index(&String::from_utf8_lossy(&b)))
        };
        change.path == INDEX_FILE
            || [&change.before, &change.after].into_iter().flatten().any(is_sub)
    }

    /// The pointer that a memory had before an entry.
    fn old_pointer(&self, lists: &[&FileChange], path: &str) -> Result<Option<Pointer>, Error> {
        for content in lists.iter().filter_map(|change| change.before.as_ref()) {
            let Some(bytes) = self.blobs()?.get(content)? else { continue };
            let index = Index::parse(&String::from_utf8_lossy(&bytes));
            if let Some(pointer) = index.pointers().find(|pointer| pointer.target == path) {
                return Ok(Some(pointer.clone()));
            }
        }
        Ok(None)
    }

    /// Where a memory came from.
    ///
    /// # Errors
    /// If there is none, or the history cannot be read.
    pub fn blame(&self, path: &TopicPath) -> Result<Blame, Error> {
        let text = self.read(path)?.text;
        let mut entries = self.log(Some(path.as_str()), usize::MAX)?;
        let born = entries.last().is_some_and(|first| {
            first
                .changes
                .iter()
                .any(|change| change.path == path.as_str() && change.before.is_none())
        });
        if !born {
            // It was there before the history was.
            let adopted =
                self.journal().entries()?.into_iter().find(|entry| entry.action == Action::Adopt);
            entries.extend(adopted);
        }
        Ok(Blame { entries, front: Memory::parse(&text).front })
    }

    /// Drops old entries, and every content that neither an entry nor a file
    /// refers to any more. The last entry stays, so that numbers go on.
    ///
    /// # Errors
    /// If the history cannot be read or written.
    pub fn prune(&self, keep: Keep) -> Result<Pruned, Error> {
        let held = self.begin()?;
        let all = self.journal().entries()?;
        let first = all.len().saturating_sub(keep.entries.max(1));
        let recent = all.get(first..).unwrap_or_default();
        let (last, old) =
            recent.split_last().map_or((None, recent), |(last, old)| (Some(last), old));
        let in_time = old.iter().filter(|entry| keep.since.is_none_or(|since| entry.at >= since));
        let kept: Vec<JournalEntry> = in_time.chain(last).cloned().collect();
        let own = self.own()?;
        if kept.len() < all.len() {
            own.write(Path::new("journal.jsonl"), &Journal::text_of(&kept)?)?;
        }
        let mut wanted = wanted(&kept, held.known.all(own)?);
        wanted.extend(self.proposed_against()?);
        let contents = self.blobs()?.retain(&wanted)?;
        Ok(Pruned { entries: all.len() - kept.len(), contents })
    }
}

fn wanted(entries: &[JournalEntry], known: BTreeMap<String, Seen>) -> BTreeSet<ContentId> {
    let changes = entries.iter().flat_map(|entry| &entry.changes);
    let named = changes.flat_map(|change| [&change.before, &change.after]).flatten();
    let held = known.into_values().filter_map(|seen| seen.content);
    named.cloned().chain(held).collect()
}
