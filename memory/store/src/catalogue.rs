//! What recall needs to know of every memory, without reading them again.
//!
//! A card for each file: what it says of itself, and its words. Each look
//! compares number, size and times of every file with its card, and reads only
//! what is new or has changed. So a look at 10,000 files takes as long as
//! listing them. The cards are kept beside the store, in one file that anybody
//! may delete: it is checked, never believed where a file differs, and made
//! anew where it is damaged.

mod card_file;

use crate::journal::nanoseconds;
use crate::likeness::{Note, sketch};
use crate::path::{OWN_DIR, TopicPath};
use crate::shelf::{self, Shelved};
use crate::store::TopicHead;
use everfold_memory_file::frontmatter::Basis;
use everfold_memory_file::{Frontmatter, MemoryType};
use everfold_memory_recall::{Counter, Document, Ranking, Sense, Tuning, Words, rank_known};
use jiff::Timestamp;
use jiff::civil::Date;
use std::fs::{DirEntry, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A file this much older than the look at it cannot change unseen.
const COARSE_NS: u64 = 2_000_000_000;
/// Files that are worth a thread of their own.
const THREAD_FILES: usize = 200;
/// Most threads: the disk is what they share.
const MAX_THREADS: usize = 8;
/// From how many new cards on they are written in any case.
const MANY: usize = 16;
/// Up to how many cards writing them all costs nothing.
const FEW: usize = 1_000;

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
    /// Its type.
    pub kind: Option<MemoryType>,
    /// The day it was learned.
    pub date: Option<Date>,
    /// How sure it is.
    pub basis: Option<Basis>,
    /// The branch that it holds for, if only there.
    pub branch: Option<String>,
    /// The worktree that it holds for, if only there.
    pub worktree: Option<String>,
    mark: Mark,
    is_sure: bool,
    words: Words,
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

    fn document(&self, used: u32) -> Document<'_> {
        Document {
            name: self.name.as_deref().unwrap_or(&self.path),
            description: self.description.as_deref().unwrap_or_default(),
            date: self.date,
            modified: Some(self.modified),
            used,
            ..Document::default()
        }
    }
}

/// By what a file is known again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Mark {
    number: u64,
    bytes: u64,
    modified: u64,
    changed: u64,
}

impl Mark {
    fn of(about: &Metadata) -> Self {
        let modified = nanoseconds(about.modified().ok());
        #[cfg(unix)]
        let (number, changed) = {
            use std::os::unix::fs::MetadataExt;
            let changed = about.ctime().wrapping_mul(1_000_000_000) + about.ctime_nsec();
            (about.ino(), changed.unsigned_abs())
        };
        #[cfg(not(unix))]
        let (number, changed) = (0, modified);
        Self { number, bytes: about.len(), modified, changed }
    }
}

/// The cards of a directory.
#[derive(Debug)]
pub struct Catalogue {
    dir: PathBuf,
    /// By path.
    cards: Vec<Card>,
    kept: Kept,
    /// What the last looks found changed, for whoever looks for near-copies.
    changed: Vec<Note>,
}

/// Whether there may be cards in a file that was not read yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    Unread,
    Read,
}

impl Catalogue {
    /// The cards that are kept beside a store. They are read by the first
    /// [`refresh`](Self::refresh), while it lists the files.
    #[must_use]
    pub fn open(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), cards: Vec::new(), kept: Kept::Unread, changed: Vec::new() }
    }

    /// No cards: for a directory that is no store of ours.
    #[must_use]
    pub fn empty(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), cards: Vec::new(), kept: Kept::Read, changed: Vec::new() }
    }

    /// The cards, by path.
    #[must_use]
    pub fn cards(&self) -> &[Card] {
        &self.cards
    }

    /// Looks at every file, and reads what is new or has changed. Says how
    /// many were read.
    ///
    /// # Errors
    /// If the directory cannot be listed. A file that cannot be read has no card.
    pub fn refresh(&mut self) -> io::Result<usize> {
        let listed = self.look_and_read()?;
        let mut old = std::mem::take(&mut self.cards).into_iter().peekable();
        let mut fresh = Vec::new();
        for (path, mark) in listed {
            while let Some(gone) = old.next_if(|card| card.path < path) {
                self.changed.push(Note::gone(&gone.path));
            }
            match old.next_if(|card| card.path == path) {
                Some(card) if card.mark == mark && card.is_sure => self.cards.push(card),
                _ => fresh.push((path, mark)),
            }
        }
        self.changed.extend(old.map(|gone| Note::gone(&gone.path)));
        let read = fresh.len();
        // So many are looked at when somebody asks for near-copies.
        let notes = if read <= FEW { Notes::Taken } else { Notes::Left };
        if read > 0 {
            let dir = &self.dir;
            let made = share_out(&fresh, |part| {
                let mut counter = Counter::default();
                part.iter()
                    .filter_map(|(path, mark)| card(dir, path, *mark, notes, &mut counter))
                    .collect()
            });
            for (card, note) in made {
                self.cards.push(card);
                self.changed.extend(note);
            }
            self.cards.sort_by(|a, b| a.path.cmp(&b.path));
        }
        Ok(read)
    }

    /// Looks at every file. Cards that are kept are read meanwhile.
    fn look_and_read(&mut self) -> io::Result<Vec<(String, Mark)>> {
        if std::mem::replace(&mut self.kept, Kept::Read) == Kept::Read {
            return Ok(look(shelf::list(&self.dir)?));
        }
        let dir = self.dir.as_path();
        let (cards, listed) = std::thread::scope(|scope| {
            let cards = scope.spawn(|| card_file::read(dir));
            let listed = shelf::list(dir).map(look);
            (cards.join().ok().flatten(), listed)
        });
        self.cards = cards.unwrap_or_default();
        listed
    }

    /// Writes the cards beside the store, if that is worth it after so many
    /// were read. Who cannot write them reads again the next time.
    pub fn keep(&mut self, read: usize) {
        let changed = std::mem::take(&mut self.changed);
        if !changed.is_empty() {
            // Without them, the next look at all files notes it.
            let _ = card_file::note(&self.dir, &changed);
        }
        if read >= MANY || (read > 0 && self.cards.len() <= FEW) {
            let _ = card_file::write(&self.dir, &self.cards);
        }
    }
}

/// Ranks cards of any catalogues by a text; each with how often it was of use.
/// Readings by meaning are in the order of the cards.
#[must_use]
pub fn rank_cards(
    query: &str,
    cards: &[(&Card, u32)],
    senses: &[Sense<'_>],
    now: Timestamp,
) -> Ranking {
    let documents: Vec<(Document<'_>, &Words)> =
        cards.iter().map(|(card, used)| (card.document(*used), &card.words)).collect();
    rank_known(query, &documents, senses, Some(now), &Tuning::default())
}

/// Whether it is noted what memories are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Notes {
    Taken,
    Left,
}

fn card(
    dir: &Path,
    path: &str,
    mark: Mark,
    notes: Notes,
    counter: &mut Counter,
) -> Option<(Card, Option<Note>)> {
    let looked = nanoseconds(Some(SystemTime::now()));
    let memory: Shelved = shelf::read(dir, path)?;
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

/// The marks of files, by path. One that is gone since it was listed is left
/// out.
fn look(files: Vec<(String, DirEntry)>) -> Vec<(String, Mark)> {
    let mark = |(_, entry): &(String, DirEntry)| Some(Mark::of(&entry.metadata().ok()?));
    let mut marks = share_out(&files, |part| part.iter().map(mark).collect());
    if marks.len() != files.len() {
        // A thread died, and nobody knows whose marks these are.
        marks = files.iter().map(mark).collect();
    }
    let marked = files.into_iter().zip(marks);
    let mut found: Vec<(String, Mark)> =
        marked.filter_map(|((path, _), mark)| Some((path, mark?))).collect();
    found.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    found
}

/// Does a part of the work on each core, where there is enough of it.
fn share_out<T: Sync, U: Send>(all: &[T], work: impl Fn(&[T]) -> Vec<U> + Sync) -> Vec<U> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = (all.len() / THREAD_FILES).clamp(1, cores.min(MAX_THREADS));
    if threads == 1 {
        return work(all);
    }
    let work = &work;
    std::thread::scope(|scope| {
        let parts = all.chunks(all.len().div_ceil(threads));
        let running: Vec<_> = parts.map(|part| scope.spawn(move || work(part))).collect();
        // A thread that died took its files with it; the others still count.
        running.into_iter().filter_map(|part| part.join().ok()).flatten().collect()
    })
}

fn own_dir(dir: &Path) -> Option<PathBuf> {
    let own = dir.join(OWN_DIR);
    let there = own.symlink_metadata().ok()?;
    there.is_dir().then_some(own)
}

#[cfg(test)]
mod tests;
