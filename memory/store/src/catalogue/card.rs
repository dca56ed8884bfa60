//! What is known of one memory, and how it is read.

use super::file_mark::Mark;
use crate::journal::nanoseconds;
use crate::likeness::{Note, sketch};
use crate::path::TopicPath;
use crate::shelf::{self, Shelved};
use crate::store::TopicHead;
use everfold_memory_file::frontmatter::Basis;
use everfold_memory_file::{Frontmatter, Memory, MemoryType};
use everfold_memory_recall::{Counter, Document, Words};
use jiff::Timestamp;
use jiff::civil::Date;
use std::path::Path;
use std::time::SystemTime;

/// A file this much older than the look at it cannot change unseen.
const COARSE_NS: u64 = 2_000_000_000;

/// What is known of one memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    /// Its path from the top of the directory, with `/`.
    pub path: String,
    /// When the file was last written.
    pub modified: Timestamp,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Its description, if it has one.
    pub description: Option<String>,
    pub kind: Option<MemoryType>,
    /// The day it was learned.
    pub date: Option<Date>,
    /// How sure it is.
    pub basis: Option<Basis>,
    /// The branch that it holds for, if only there.
    pub branch: Option<String>,
    /// The worktree that it holds for, if only there.
    pub worktree: Option<String>,
    pub(super) mark: Mark,
    /// Whether its file cannot have changed since without other times.
    pub(super) is_sure: bool,
    pub(super) words: Words,
}

impl Card {
    /// The memory as it stands in a list, as far as it is known.
    #[must_use]
    pub fn head(&self) -> TopicHead {
        let front = Frontmatter {
            name: self.name.clone(),
            description: self.description.clone(),
            kind: self.kind,
            date: self.date,
            basis: self.basis,
            branch: self.branch.clone(),
            worktree: self.worktree.clone(),
            ..Frontmatter::default()
        };
        let path = TopicPath::found(self.path.clone());
        TopicHead { path, bytes: self.mark.bytes, modified: self.modified, front, fault: None }
    }

    /// What would be known of a memory that is not a file yet.
    #[must_use]
    pub fn of_text(path: &str, text: &str, modified: Timestamp) -> Self {
        let memory = Memory::parse(text);
        let front = memory.front;
        let document = Document {
            name: front.name.as_deref().unwrap_or(path),
            description: front.description.as_deref().unwrap_or_default(),
            body: memory.body,
            ..Document::default()
        };
        Self {
            words: Counter::default().count(&document),
            path: path.to_owned(),
            modified,
            name: front.name,
            description: front.description,
            kind: front.kind,
            date: front.date,
            basis: front.basis,
            branch: front.branch,
            worktree: front.worktree,
            mark: Mark::default(),
            is_sure: false,
        }
    }

    pub(super) fn document(&self, used: u32) -> Document<'_> {
        Document {
            name: self.name.as_deref().unwrap_or(&self.path),
            description: self.description.as_deref().unwrap_or_default(),
            modified: Some(self.modified),
            used,
            ..Document::default()
        }
    }
}

/// Whether it is noted what memories are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Notes {
    Taken,
    Left,
}

/// Reads a memory, and what near-copies of it are looked for by.
pub(super) fn card(
    dir: &Path,
    path: &str,
    mark: Mark,
    (notes, head_lines): (Notes, usize),
    counter: &mut Counter,
) -> Option<(Card, Option<Note>)> {
    let looked = nanoseconds(Some(SystemTime::now()));
    let memory: Shelved = shelf::read(dir, path, head_lines)?;
    let Frontmatter { name, description, kind, date, basis, branch, worktree, .. } =
        memory.front.clone();
    let document = Document {
        name: name.as_deref().unwrap_or(path),
        description: description.as_deref().unwrap_or_default(),
        body: memory.body(),
        ..Document::default()
    };
    let words = counter.count(&document);
    let newest = mark.modified.max(mark.changed);
    let note = || Note {
        path: path.to_owned(),
        seen: (mark.bytes, mark.modified),
        sketch: Some(sketch::of_memory(&memory.text)),
    };
    let note = (notes == Notes::Taken).then(note);
    let card = Card {
        path: path.to_owned(),
        modified: memory.modified,
        mark,
        is_sure: newest != 0 && newest.saturating_add(COARSE_NS) < looked,
        name,
        description,
        kind,
        date,
        basis,
        branch,
        worktree,
        words,
    };
    Some((card, note))
}
