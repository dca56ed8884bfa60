//! What a text calls for, by the local ranker alone (R8, R9): no model and no
//! network. Cards of what was read are kept beside the stores, so that the next
//! one to ask reads only what has changed.

use super::MemoryDirs;
use crate::error::Error;
use everfold_kernel::Attachment;
use everfold_memdir::Scope;
use everfold_memdir::catalogue::{Card, Catalogue, rank_cards};
use everfold_memfile::MemoryType;
use everfold_recall::{budget, inject};
use jiff::Timestamp;
use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

/// How much of a memory is read to be shown, in bytes; its limits are far below.
const FILE_BYTES: u64 = 1024 * 1024;

/// Every memory that has something of a text, best first.
#[derive(Clone, Debug)]
pub struct Recall {
    /// The hits.
    pub hits: Vec<Called>,
    /// How many memories were looked at.
    pub looked_at: usize,
}

/// One memory that has something of a text.
#[derive(Clone, Debug)]
pub struct Called {
    /// Its path from the top of its directory, with `/`.
    pub path: String,
    /// The file.
    pub file: PathBuf,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Its description, if it has one.
    pub description: Option<String>,
    /// Its type.
    pub kind: Option<MemoryType>,
    /// When it was last written.
    pub modified: Timestamp,
    /// Whose it is; none in a directory that is no store of ours.
    pub scope: Option<Scope>,
    /// Its score, comparable within one recall.
    pub score: f64,
    /// How much of the text it has, from 0 to 1.
    pub coverage: f64,
    /// How much speaks for it.
    pub evidence: f64,
    /// The words by which it was found.
    pub words: Vec<String>,
    /// What would be shown to a model; none where it is not good enough.
    pub injected: Option<Attachment>,
}

/// Answers one question after the other: each time every file is looked at, and
/// only what has changed is read.
pub struct Recaller {
    memories: MemoryDirs,
    shelves: Vec<(Option<Scope>, PathBuf, Catalogue)>,
}

/// Which hits are told of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    All,
    WorthShowing,
}

impl Recaller {
    /// For the memories of a working directory: the project's, the person's own
    /// and the team's.
    #[must_use]
    pub fn new(memories: &MemoryDirs) -> Self {
        let scopes = [Scope::Project, Scope::Global, Scope::Team].into_iter();
        let used = scopes.filter(|scope| memories.is_used(*scope) && memories.is_there(*scope));
        let shelf = |scope| {
            let dir = memories.dir(scope);
            (Some(scope), dir.clone(), Catalogue::open(&dir))
        };
        Self { memories: memories.clone(), shelves: used.map(shelf).collect() }
    }

    /// For any directory of Markdown files. Nothing is written there.
    #[must_use]
    pub fn of(dir: &Path, memories: &MemoryDirs) -> Self {
        let shelves = vec![(None, dir.to_owned(), Catalogue::empty(dir))];
        Self { memories: memories.clone(), shelves }
    }

    /// What a text calls for. What holds for another branch or work tree only
    /// is left out (L5.25).
    ///
    /// # Errors
    /// If a directory cannot be listed.
    pub fn recall(&mut self, query: &str, now: Timestamp) -> Result<Recall, Error> {
        self.refresh()?;
        Ok(self.pick(query, now, Wanted::All))
    }

    /// The same, but only what is good enough to be shown: telling of thousands
    /// of others takes longer than finding them.
    ///
    /// # Errors
    /// If a directory cannot be listed.
    pub fn worth_showing(&mut self, query: &str, now: Timestamp) -> Result<Recall, Error> {
        self.refresh()?;
        Ok(self.pick(query, now, Wanted::WorthShowing))
    }

    fn refresh(&mut self) -> Result<(), Error> {
        for (_, dir, catalogue) in &mut self.shelves {
            let read = catalogue.refresh().map_err(|error| Error::Directory {
                path: dir.clone(),
                message: error.to_string(),
            })?;
            catalogue.keep(read);
        }
        Ok(())
    }

    fn pick(&self, query: &str, now: Timestamp, wanted: Wanted) -> Recall {
        let mut cards: Vec<&Card> = Vec::new();
        let mut from = Vec::new();
        for (scope, dir, catalogue) in &self.shelves {
            let is_known = scope.is_some();
            let here = catalogue.cards().iter().filter(|card| !is_known || self.holds_here(card));
            cards.extend(here);
            from.resize(cards.len(), (*scope, dir));
        }
        let ranking = rank_cards(query, &cards, |_| 0, now);
        let most = self.memories.limits().selected;
        let good: BTreeSet<usize> = ranking.worth_injecting(most).map(|hit| hit.index).collect();
        let is_wanted = |index| wanted == Wanted::All || good.contains(&index);
        let hits = ranking.hits.iter().filter(|hit| is_wanted(hit.index)).filter_map(|hit| {
            let card = cards.get(hit.index)?;
            let (scope, dir) = from.get(hit.index)?;
            let file = dir.join(&card.path);
            let injected = good.contains(&hit.index).then(|| self.attachment(card, &file, now));
            Some(Called {
                path: card.path.clone(),
                name: card.name.clone(),
                description: card.description.clone(),
                kind: card.kind,
                modified: card.modified,
                scope: *scope,
                score: hit.score,
                coverage: hit.coverage,
                evidence: hit.evidence,
                words: ranking.matched_words(hit).into_iter().map(str::to_owned).collect(),
                injected: injected.flatten(),
                file,
            })
        });
        Recall { hits: hits.collect(), looked_at: cards.len() }
    }

    fn holds_here(&self, card: &Card) -> bool {
        let branch = card.branch.as_deref();
        let worktree = card.worktree.as_deref();
        branch.is_none_or(|branch| self.memories.branch() == Some(branch))
            && worktree.is_none_or(|tree| Path::new(tree) == self.memories.root())
    }

    /// What a model would see; none if the file is gone since it was looked at.
    fn attachment(&self, card: &Card, file: &Path, now: Timestamp) -> Option<Attachment> {
        let mut bytes = Vec::new();
        let open = std::fs::File::open(file).ok()?;
        open.take(FILE_BYTES).read_to_end(&mut bytes).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        let shown = budget::shown(&text, self.memories.limits());
        Some(inject::attachment(&file.display().to_string(), shown, card.modified, now))
    }
}

/// Recalls once from the memories of a working directory.
///
/// # Errors
/// If a directory is there and cannot be read.
pub fn recall(memories: &MemoryDirs, query: &str, now: Timestamp) -> Result<Recall, Error> {
    Recaller::new(memories).recall(query, now)
}

/// Recalls once from any directory of Markdown files.
///
/// # Errors
/// If it cannot be read.
pub fn recall_in(
    dir: &Path,
    memories: &MemoryDirs,
    query: &str,
    now: Timestamp,
) -> Result<Recall, Error> {
    Recaller::of(dir, memories).recall(query, now)
}
