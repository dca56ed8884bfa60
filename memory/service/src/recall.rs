//! The only way out (R11): the memories that a text calls for, by the local
//! ranker, and exactly the bytes that a model is shown.
//!
//! Cards of what was read are kept beside the stores, so that the next one to
//! ask reads only what has changed.

use crate::Service;
use everfold_kernel::Timestamp;
use everfold_kernel::limits::RecallLimits;
use everfold_kernel::ports::{MemoryError, MemoryScope, RecallHit, RecallQuery, Recalled};
use everfold_memory_file::MemoryType;
use everfold_memory_recall::inject::{self, ShownMemory};
use everfold_memory_store::TopicPath;
use everfold_memory_store::catalogue::{Card, Catalogue, rank_cards};
use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

/// How much of a memory is read to be shown, in bytes; its limits are far below.
const FILE_BYTES: u64 = 1024 * 1024;

/// Which hits are told of: telling of thousands takes longer than finding them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HitFilter {
    /// Every memory that has something of the text.
    All,
    /// Only what is good enough to be shown.
    WorthShowing,
}

/// A card and where it is from.
struct Placed<'a> {
    card: &'a Card,
    scope: Option<MemoryScope>,
    dir: &'a Path,
    used: u32,
}

impl Service {
    /// What a text calls for. What holds for another branch or work tree only
    /// is left out (L5.25).
    ///
    /// # Errors
    /// If a directory is there and cannot be listed.
    pub fn recall(&self, query: &RecallQuery, wanted: HitFilter) -> Result<Recalled, MemoryError> {
        let there: Vec<_> = self.tiers.iter().filter(|tier| tier.is_there()).collect();
        let mut catalogues = Vec::new();
        for tier in &there {
            // Counts move the order a little; without them all are alike.
            let used =
                tier.store().and_then(|store| store.usage().map_err(|error| tier.failed(&error)));
            catalogues.push((tier, tier.fresh_cards()?, used.unwrap_or_default()));
        }
        let mut cards = Vec::new();
        for (tier, catalogue, used) in &catalogues {
            for card in catalogue.iter().flat_map(Catalogue::cards) {
                if self.here.is_meant(card.branch.as_deref(), card.worktree.as_deref()) {
                    let count = used.get(&TopicPath::found(card.path.clone()));
                    let used =
                        count.map_or(0, |count| u32::try_from(count.used).unwrap_or(u32::MAX));
                    cards.push(Placed { card, scope: Some(tier.scope()), dir: tier.dir(), used });
                }
            }
        }
        Ok(self.pick(&cards, query, wanted))
    }

    /// The same for any directory of Markdown files. Nothing is written there.
    ///
    /// # Errors
    /// If it cannot be listed.
    pub fn recall_in(
        &self,
        dir: &Path,
        query: &RecallQuery,
        wanted: HitFilter,
    ) -> Result<Recalled, MemoryError> {
        let mut catalogue = Catalogue::empty(dir);
        catalogue.refresh().map_err(|error| MemoryError::Unreadable {
            dir: dir.to_owned(),
            message: error.to_string(),
        })?;
        let cards = catalogue.cards().iter();
        let cards: Vec<Placed<'_>> =
            cards.map(|card| Placed { card, scope: None, dir, used: 0 }).collect();
        Ok(self.pick(&cards, query, wanted))
    }

    fn pick(&self, placed: &[Placed<'_>], query: &RecallQuery, wanted: HitFilter) -> Recalled {
        let limits = &self.terms.recall;
        let now = self.clock.now();
        let cards: Vec<(&Card, u32)> = placed.iter().map(|one| (one.card, one.used)).collect();
        let ranking = rank_cards(&query.text, &cards, &[], now);
        let in_view =
            |index: usize| placed.get(index).is_some_and(|one| query.in_view.contains(&one.path()));
        let good: Vec<usize> = ranking
            .worth_injecting(usize::MAX)
            .map(|hit| hit.index)
            .filter(|index| !in_view(*index))
            .take(limits.selected)
            .collect();
        let files: Vec<File> =
            good.iter().filter_map(|index| File::read(placed.get(*index)?)).collect();
        let left = limits.session_bytes.saturating_sub(query.injected);
        let room = query.room.map_or(left, |room| room.min(left));
        let shown = shown(&files, room, limits, now);
        let shown_paths: BTreeSet<&Path> = shown.1.iter().map(PathBuf::as_path).collect();
        let hits = ranking.hits.iter().filter_map(|hit| {
            let one = placed.get(hit.index)?;
            let path = one.path();
            let is_shown = shown_paths.contains(path.as_path());
            (wanted == HitFilter::All || is_shown).then(|| RecallHit {
                scope: one.scope,
                file: one.card.path.clone(),
                name: one.card.name.clone(),
                description: one.card.description.clone(),
                kind: one.card.kind.map(MemoryType::as_str).map(str::to_owned),
                modified: one.card.modified,
                score: hit.score,
                coverage: hit.coverage,
                evidence: hit.evidence,
                words: ranking.matched_words(hit).into_iter().map(str::to_owned).collect(),
                is_shown,
                path,
            })
        });
        Recalled { hits: hits.collect(), looked_at: placed.len(), shown: shown.0 }
    }
}

impl Placed<'_> {
    fn path(&self) -> PathBuf {
        self.dir.join(&self.card.path)
    }
}

/// A memory that is good enough, read.
struct File {
    path: PathBuf,
    listed: String,
    text: String,
    modified: Timestamp,
}

impl File {
    /// None if it is gone since it was looked at.
    fn read(placed: &Placed<'_>) -> Option<Self> {
        let path = placed.path();
        let mut bytes = Vec::new();
        let open = std::fs::File::open(&path).ok()?;
        open.take(FILE_BYTES).read_to_end(&mut bytes).ok()?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let listed = match placed.scope {
            None | Some(MemoryScope::Project) => placed.card.path.clone(),
            Some(scope) => format!("{}:{}", scope.as_str(), placed.card.path),
        };
        Some(Self { path, listed, text, modified: placed.card.modified })
    }
}

/// What a model is shown, and of which memories, within what is left for the
/// session.
fn shown(
    files: &[File],
    room: usize,
    limits: &RecallLimits,
    now: Timestamp,
) -> (Option<everfold_kernel::Attachment>, Vec<PathBuf>) {
    let all: Vec<ShownMemory<'_>> = files
        .iter()
        .map(|file| ShownMemory {
            path: &file.path,
            file: &file.listed,
            text: &file.text,
            modified: file.modified,
        })
        .collect();
    inject::block(&all, room, limits, now)
}
