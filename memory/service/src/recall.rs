//! The only way out (R11): the memories that a text calls for, by the local
//! ranker, and exactly the bytes that a model is shown.
//!
//! Cards of what was read are kept beside the stores, so that the next one to
//! ask reads only what has changed.

use crate::Service;
use crate::embedder::{Pace, ReadMemories, Reading};
use everfold_kernel::limits::RecallLimits;
use everfold_kernel::ports::{
    MemoryError, MemoryScope, QueryKind, RecallHit, RecallQuery, RecallReason, RecallTier,
    Recalled, Urgency,
};
use everfold_kernel::provenance::Provenance;
use everfold_kernel::{Attachment, Timestamp};
use everfold_memory_file::MemoryType;
use everfold_memory_judge::words;
use everfold_memory_recall::inject::{self, NamedMemory, ShownMemory};
use everfold_memory_recall::{Hit, PromptPart, Ranking, RecallPrompt, Sense};
use everfold_memory_store::TopicPath;
use everfold_memory_store::catalogue::{Card, Catalogue, Patience, known_tokens, rank_cards};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How much of a memory is read to be shown, in bytes; its limits are far below.
const FILE_BYTES: u64 = 1024 * 1024;

/// Which hits are told of: telling of thousands takes longer than finding them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HitFilter {
    /// Every memory that has something of the text.
    All,
    /// So many of them, the best first, and what is shown.
    Best(usize),
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

/// Cards of several places, and how each is read by meaning.
struct PlacedCards<'a> {
    placed: Vec<Placed<'a>>,
    readings: Vec<(Reading, ReadMemories<'a>)>,
}

impl<'a> PlacedCards<'a> {
    fn new(readings: Vec<Reading>) -> Self {
        let readings = readings.into_iter().map(|reading| (reading, ReadMemories::default()));
        Self { placed: Vec::new(), readings: readings.collect() }
    }

    /// Adds the cards of a catalogue that have a place.
    fn add(&mut self, catalogue: &'a Catalogue, place: impl Fn(&'a Card) -> Option<Placed<'a>>) {
        let places: Vec<Option<Placed<'a>>> = catalogue.cards().iter().map(place).collect();
        for (reading, all) in &mut self.readings {
            let (vectors, sum) = catalogue.vectors(&*reading.embedder);
            let own = vectors.into_iter().zip(&places).filter(|(_, place)| place.is_some());
            all.vectors.extend(own.map(|(vectors, _)| vectors));
            all.sum.add(&sum);
        }
        self.placed.extend(places.into_iter().flatten());
    }

    fn senses(&self, text: &str) -> Vec<Sense<'a>> {
        self.readings.iter().filter_map(|(reading, all)| reading.sense(text, all)).collect()
    }
}

impl Service {
    /// What a text calls for. What holds for another branch or work tree only
    /// is left out (L5.25).
    ///
    /// # Errors
    /// If a directory is there and cannot be listed.
    pub fn recall(&self, query: &RecallQuery, wanted: HitFilter) -> Result<Recalled, MemoryError> {
        let there: Vec<_> = self.tiers.iter().filter(|tier| tier.is_there()).collect();
        let readings = Reading::all(&self.terms.embedders, query.urgency, self.terms.notice);
        let mut catalogues = Vec::new();
        let mut unread = 0;
        for tier in &there {
            // Counts move the order a little; without them all are alike.
            let used =
                tier.store().and_then(|store| store.usage().map_err(|error| tier.failed(&error)));
            let (mut cards, mut left) = tier.fresh_cards(query.urgency)?;
            if let Some(catalogue) = cards.as_mut() {
                left += self.find_vectors(catalogue, &readings, query.urgency);
            }
            if left > 0 {
                tier.read_on_beside(&readings);
            }
            unread += left;
            catalogues.push((tier, cards, used.unwrap_or_default()));
        }
        let mut placed = PlacedCards::new(readings);
        for (tier, catalogue, used) in &catalogues {
            let Some(catalogue) = &**catalogue else { continue };
            placed.add(catalogue, |card| {
                if !self.here.is_meant(card.branch.as_deref(), card.worktree.as_deref()) {
                    return None;
                }
                let used = if used.is_empty() {
                    0
                } else {
                    let count = used.get(&TopicPath::found(card.path.clone()));
                    count.map_or(0, |count| u32::try_from(count.used).unwrap_or(u32::MAX))
                };
                Some(Placed { card, scope: Some(tier.scope()), dir: tier.dir(), used })
            });
        }
        Ok(Recalled { unread, ..self.pick(&placed, query, wanted) })
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
        let unreadable = |error: std::io::Error| MemoryError::Unreadable {
            dir: dir.to_owned(),
            message: error.to_string(),
        };
        let real = dir.canonicalize().map_err(unreadable)?;
        let catalogue = Catalogue::elsewhere(&real, self.terms.cache.as_deref());
        let mut catalogue = catalogue.of_first_lines(self.terms.recall.head_lines);
        let look = catalogue.refresh(Patience::Whole).map_err(unreadable)?;
        catalogue.keep(look);
        let readings = Reading::all(&self.terms.embedders, query.urgency, self.terms.notice);
        let unread = self.find_vectors(&mut catalogue, &readings, query.urgency);
        let mut placed = PlacedCards::new(readings);
        placed.add(&catalogue, |card| Some(Placed { card, scope: None, dir, used: 0 }));
        Ok(Recalled { unread, ..self.pick(&placed, query, wanted) })
    }

    /// Finds the vectors of a catalogue, and makes those that are missing as far
    /// as there is time. Says how many are still missing.
    fn find_vectors(
        &self,
        catalogue: &mut Catalogue,
        readings: &[Reading],
        urgency: Urgency,
    ) -> usize {
        let limits = &self.terms.recall;
        let mut missing = 0;
        for reading in readings {
            let time = match (urgency, reading.pace) {
                (Urgency::Thorough, _) => limits.vectors_ms,
                (Urgency::Prompt, Pace::Quick) => limits.look_ms,
                (Urgency::Prompt, Pace::Slow) => 0,
            };
            let mut left = catalogue.find_vectors(&reading.embedder);
            if left > 0 && time > 0 {
                let until = Instant::now() + Duration::from_millis(time);
                left = catalogue.make_vectors(&reading.embedder, Some(until));
            }
            missing += left;
        }
        missing
    }

    /// Reads what has no card, and makes all vectors that are missing: for a
    /// worker that nobody waits for (R16).
    ///
    /// # Errors
    /// If a directory cannot be listed.
    pub fn read_on(&self) -> Result<(), MemoryError> {
        let readings = Reading::all(&self.terms.embedders, Urgency::Thorough, self.terms.notice);
        let mut there = self.tiers.iter().filter(|tier| tier.is_there());
        there.try_for_each(|tier| tier.read_on(&readings))
    }

    fn pick(&self, all: &PlacedCards<'_>, query: &RecallQuery, wanted: HitFilter) -> Recalled {
        let limits = &self.terms.recall;
        let now = self.clock.now();
        let placed = &all.placed;
        let ranking = ranked(all, query, now);
        let is_new = |hit: &&Hit| {
            let path = placed.get(hit.index).map(Placed::path);
            path.is_some_and(|path| !query.in_view.contains(&path))
        };
        let is_unnamed = |hit: &&Hit| {
            let path = placed.get(hit.index).map(Placed::path);
            path.is_some_and(|path| !query.named.contains(&path))
        };
        let sure = ranking.of_tier(RecallTier::Body).into_iter().filter(is_new).take(limits.bodies);
        let possible = ranking.of_tier(RecallTier::Line).into_iter().filter(is_new);
        let possible = possible.filter(is_unnamed).take(limits.lines);
        let (sure, possible): (Vec<&Hit>, Vec<&Hit>) = (sure.collect(), possible.collect());
        let file = |hit: &&Hit| File::read(placed.get(hit.index)?);
        let files: Vec<File> = sure.iter().filter_map(file).collect();
        let lines: Vec<&Placed<'_>> =
            possible.iter().filter_map(|hit| placed.get(hit.index)).collect();
        let left = limits.session_bytes.saturating_sub(query.injected);
        let room = query.room.map_or(left, |room| room.min(left));
        let (shown, paths) = shown(&files, &lines, room, limits, now);
        let tiers = shown_tiers(shown.as_ref(), &paths);
        let maybe_shown: BTreeSet<usize> =
            sure.iter().chain(&possible).map(|hit| hit.index).collect();
        let hits = ranking.hits.iter().enumerate().filter_map(|(at, hit)| {
            let is_wanted = match wanted {
                HitFilter::All => true,
                HitFilter::Best(most) => at < most,
                HitFilter::WorthShowing => false,
            };
            if !is_wanted && !maybe_shown.contains(&hit.index) {
                return None;
            }
            let one = placed.get(hit.index)?;
            let path = one.path();
            let tier = tiers.get(&path).copied().unwrap_or_default();
            (is_wanted || tier != RecallTier::None).then(|| one.hit(path, hit, &ranking, tier))
        });
        Recalled {
            hits: hits.collect(),
            looked_at: placed.len(),
            sureness: ranking.sureness,
            shown,
            certainty: ranking.certainty(),
            unread: 0,
        }
    }
}

/// The order of all cards. What was pasted is told from what was typed by its
/// form (R13).
fn ranked(all: &PlacedCards<'_>, query: &RecallQuery, now: Timestamp) -> Ranking {
    let cards: Vec<(&Card, u32)> = all.placed.iter().map(|one| (one.card, one.used)).collect();
    if query.kind == QueryKind::Output {
        let known = known_tokens(&query.text, all.placed.iter().map(|one| one.card));
        return rank_cards(&known.as_str().into(), &cards, &all.senses(&known), now);
    }
    let text = query.text.as_str();
    let parts = words::split(text, &[]);
    let part = |(whose, part): (Provenance, _)| {
        let whose = if whose.is_typed() { PromptPart::Typed } else { PromptPart::Pasted };
        (whose, part)
    };
    let prompt = RecallPrompt::new(parts.split(text).map(part));
    rank_cards(&prompt, &cards, &all.senses(text), now)
}

/// How each memory is shown that is.
fn shown_tiers(shown: Option<&Attachment>, paths: &[PathBuf]) -> BTreeMap<PathBuf, RecallTier> {
    let named = shown.map_or(0, |shown| inject::named(&shown.data).count());
    let bodies = paths.len().saturating_sub(named);
    let tier = |at: usize| if at < bodies { RecallTier::Body } else { RecallTier::Line };
    paths.iter().enumerate().map(|(at, path)| (path.clone(), tier(at))).collect()
}

impl Placed<'_> {
    fn path(&self) -> PathBuf {
        self.dir.join(&self.card.path)
    }

    /// Its path as it is listed: beside that of a project, with its scope.
    fn listed(&self) -> String {
        match self.scope {
            None | Some(MemoryScope::Project) => self.card.path.clone(),
            Some(scope) => format!("{}:{}", scope.as_str(), self.card.path),
        }
    }

    fn hit(&self, path: PathBuf, hit: &Hit, ranking: &Ranking, shown: RecallTier) -> RecallHit {
        let words = ranking.matched_words(hit);
        let missing = ranking.words.iter().filter(|word| !words.contains(&word.as_str()));
        let reason = RecallReason {
            by_words: hit.by_words,
            by_meaning: hit.by_meaning,
            coverage: hit.coverage,
            likeness: hit.likeness,
            sureness: hit.sureness,
            missing: missing.cloned().collect(),
            words: words.into_iter().map(str::to_owned).collect(),
        };
        RecallHit {
            scope: self.scope,
            file: self.card.path.clone(),
            name: self.card.name.clone(),
            description: self.card.description.clone(),
            kind: self.card.kind.map(MemoryType::as_str).map(str::to_owned),
            modified: self.card.modified,
            score: hit.score,
            reason,
            shown,
            path,
        }
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
        let listed = placed.listed();
        Some(Self { path, listed, text, modified: placed.card.modified })
    }
}

/// What a model is shown, and of which memories, within what is left for the
/// session: those with their bodies first.
fn shown(
    files: &[File],
    lines: &[&Placed<'_>],
    room: usize,
    limits: &RecallLimits,
    now: Timestamp,
) -> (Option<Attachment>, Vec<PathBuf>) {
    let all: Vec<ShownMemory<'_>> = files
        .iter()
        .map(|file| ShownMemory {
            path: &file.path,
            file: &file.listed,
            text: &file.text,
            modified: file.modified,
        })
        .collect();
    let places: Vec<(PathBuf, String, &Card)> =
        lines.iter().map(|one| (one.path(), one.listed(), one.card)).collect();
    let named: Vec<NamedMemory<'_>> = places
        .iter()
        .map(|(path, file, card)| NamedMemory {
            path,
            file,
            name: card.name.as_deref().unwrap_or_default(),
            description: card.description.as_deref().unwrap_or_default(),
        })
        .collect();
    inject::block(&all, &named, room, limits, now)
}
