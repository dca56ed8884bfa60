//! What recall needs to know of every memory, without reading them again.
//!
//! A card for each file: what it says of itself, and its words. Each look
//! compares number, size and times of every file with its card, and reads only
//! what is new or has changed. So a look at 10,000 files takes as long as
//! listing them, and in a process that stays even that is needed only where
//! something happened ([`DirectoryWatch`]). The cards are kept beside the store, or in the cache where we
//! do not write, in one file that anybody may delete: it is checked, never
//! believed where a file differs, and made anew where it is damaged.
//!
//! A first look at many files takes longer than anybody waits for. So whoever
//! asks says how long ([`Patience`]); the newest files are read first, and the
//! others by whoever nobody waits for.

mod card;
mod card_file;
mod file_mark;
mod folder;
mod rank;
mod vector_shelf;

pub use card::Card;
pub use rank::{known_tokens, rank_cards};

use crate::likeness::Note;
use crate::path::OWN_DIR;
use crate::shelf;
use card::{Notes, card};
use everfold_disk::DirectoryWatch;
use everfold_kernel::limits::RecallLimits;
use everfold_memory_recall::Counter;
use file_mark::{Mark, look, share_out};
use folder::Folders;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use vector_shelf::VectorShelf;

/// From how many new cards on they are written in any case.
const MANY: usize = 16;
/// Up to how many cards writing them all costs nothing.
const FEW: usize = 1_000;
/// Files that are read between two looks at the clock.
const AT_ONCE: usize = 256;

/// How long a look may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// As long as it takes.
    Whole,
    /// Files are read for so long; the others are left.
    Within(Duration),
}

/// What a look came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// Files that were read.
    pub read: usize,
    /// Files that have no card yet, because there was no time.
    pub left: usize,
}

/// The cards of a directory.
pub struct Catalogue {
    dir: PathBuf,
    folders: Folders,
    cards: Vec<Card>,
    /// How often the cards have changed.
    edition: u64,
    /// For each file as it was listed last, its card: where nothing changed, it
    /// is listed so again, and nothing has to be sorted.
    order: Vec<usize>,
    kept: Kept,
    /// Tells whether the cards still hold, where each file has one.
    watch: Option<DirectoryWatch>,
    /// Lines of a file in which its frontmatter is looked for (R2).
    head_lines: usize,
    /// What the last looks found changed, for whoever looks for near-copies.
    changed: Vec<Note>,
    vectors: Vec<VectorShelf>,
}

/// The files of a directory, as they are.
type Listed = Vec<(String, Mark)>;

/// Whether there may be cards in a file that was not read yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    Unread,
    Read,
}

impl Catalogue {
    /// The cards that are kept beside a store, else in this folder of the cache.
    /// They are read by the first [`refresh`](Self::refresh), while it lists the
    /// files.
    #[must_use]
    pub fn open(dir: &Path, cache: Option<&Path>) -> Self {
        Self::kept_in(dir, Folders::of_store(dir, cache))
    }

    /// The cards of a directory that is not ours to write: in the cache, where
    /// there is one.
    #[must_use]
    pub fn elsewhere(dir: &Path, cache: Option<&Path>) -> Self {
        Self::kept_in(dir, Folders::of_any(dir, cache))
    }

    fn kept_in(dir: &Path, folders: Folders) -> Self {
        Self {
            dir: dir.to_owned(),
            folders,
            cards: Vec::new(),
            edition: 0,
            order: Vec::new(),
            kept: Kept::Unread,
            watch: None,
            head_lines: RecallLimits::default().head_lines,
            changed: Vec::new(),
            vectors: Vec::new(),
        }
    }

    /// The same, made from so many lines at the start of each file.
    #[must_use]
    pub fn of_first_lines(self, head_lines: usize) -> Self {
        Self { head_lines, ..self }
    }

    /// The cards, by path.
    #[must_use]
    pub fn cards(&self) -> &[Card] {
        &self.cards
    }

    /// Looks at every file, and reads what is new or has changed, as far as
    /// there is time.
    ///
    /// # Errors
    /// If the directory cannot be listed. A file that cannot be read has no card.
    pub fn refresh(&mut self, patience: Patience) -> io::Result<Look> {
        if self.watch.as_ref().is_some_and(DirectoryWatch::is_quiet) {
            return Ok(Look::default());
        }
        self.watch = None;
        let (listed, watch) = self.look_and_read()?;
        if self.is_as_before(&listed) {
            self.watch = watch;
            return Ok(Look::default());
        }
        self.edition += 1;
        let mut places: Vec<usize> = (0..listed.len()).collect();
        places.sort_unstable_by_key(|at| listed.get(*at).map(|(path, _)| path));
        let look = self.compare(in_order(listed, &places), patience);
        // Which card is whose can be told where each file has one.
        self.order.clear();
        if self.cards.len() == places.len() {
            self.watch = watch;
            self.order.resize(places.len(), 0);
            for (card, place) in places.into_iter().enumerate() {
                if let Some(order) = self.order.get_mut(place) {
                    *order = card;
                }
            }
        }
        Ok(look)
    }

    fn is_as_before(&self, listed: &[(String, Mark)]) -> bool {
        let is_same = |((path, mark), at): (&(String, Mark), &usize)| {
            let card = self.cards.get(*at);
            card.is_some_and(|card| card.mark == *mark && card.is_sure && card.path == *path)
        };
        !listed.is_empty()
            && listed.len() == self.order.len()
            && listed.len() == self.cards.len()
            && listed.iter().zip(&self.order).all(is_same)
    }

    /// Takes what is as it was, and reads the rest.
    fn compare(&mut self, listed: Listed, patience: Patience) -> Look {
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
        self.read(fresh, patience)
    }

    fn read(&mut self, mut fresh: Listed, patience: Patience) -> Look {
        let started = Instant::now();
        if fresh.len() > AT_ONCE && patience != Patience::Whole {
            fresh.sort_by_key(|(_, mark)| std::cmp::Reverse(mark.modified));
        }
        // So many are looked at when somebody asks for near-copies.
        let notes = if fresh.len() <= FEW { Notes::Taken } else { Notes::Left };
        let step = match patience {
            Patience::Whole => fresh.len().max(1),
            Patience::Within(_) => AT_ONCE,
        };
        let mut read = 0;
        for part in fresh.chunks(step) {
            if matches!(patience, Patience::Within(time) if read > 0 && started.elapsed() > time) {
                break;
            }
            read += part.len();
            let (dir, lines) = (&self.dir, self.head_lines);
            let made = share_out(part, |part| {
                let mut counter = Counter::default();
                part.iter()
                    .filter_map(|(path, mark)| card(dir, path, *mark, (notes, lines), &mut counter))
                    .collect()
            });
            for (card, note) in made {
                self.cards.push(card);
                self.changed.extend(note);
            }
        }
        if read > 0 {
            self.cards.sort_by(|a, b| a.path.cmp(&b.path));
        }
        Look { read, left: fresh.len() - read }
    }

    /// Looks at every file. Cards that are kept are read meanwhile. Who looks a
    /// second time may do so again, and has the files watched.
    fn look_and_read(&mut self) -> io::Result<(Listed, Option<DirectoryWatch>)> {
        if std::mem::replace(&mut self.kept, Kept::Read) == Kept::Read {
            let mut watch = DirectoryWatch::default();
            let files = shelf::list(&self.dir, |folder| watch.add(folder))?;
            return Ok((look(files), Some(watch)));
        }
        let (dir, folders, lines) = (self.dir.as_path(), &self.folders, self.head_lines);
        let (cards, listed) = std::thread::scope(|scope| {
            let cards = scope.spawn(|| card_file::read(folders, lines));
            let listed = shelf::list(dir, |_| ()).map(look);
            (cards.join().ok().flatten(), listed)
        });
        self.cards = cards.unwrap_or_default();
        Ok((listed?, None))
    }

    /// Writes the cards, if that is worth it after such a look: one that left
    /// files is gone on with by somebody else. Who cannot write them reads again
    /// the next time.
    pub fn keep(&mut self, Look { read, left }: Look) {
        let changed = std::mem::take(&mut self.changed);
        if !changed.is_empty() {
            // Without them, the next look at all files notes it.
            let _ = card_file::note(&self.folders, &changed);
        }
        if left == 0 && (read >= MANY || (read > 0 && self.cards.len() <= FEW)) {
            let _ = card_file::write(&self.folders, &self.cards, self.head_lines);
        }
    }
}

/// What stands at these places, each of which is there once.
fn in_order<T>(all: Vec<T>, places: &[usize]) -> Vec<T> {
    let mut all: Vec<Option<T>> = all.into_iter().map(Some).collect();
    places.iter().filter_map(|at| all.get_mut(*at).and_then(Option::take)).collect()
}

fn own_dir(dir: &Path) -> Option<PathBuf> {
    let own = dir.join(OWN_DIR);
    let there = own.symlink_metadata().ok()?;
    there.is_dir().then_some(own)
}

#[cfg(test)]
mod tests;
