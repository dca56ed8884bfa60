//! The local ranker (R8): which memories are about what a message asks.
//!
//! BM25 over stems is the base, with the textbook's constants and a weight for
//! each field. What a memory means is added to it by weight, never by rank
//! (R14). The age and the use of a file move the order a little, and never make
//! a match of what is none. What is good enough to be shown, the gate says
//! ([`crate::gate`]).

use crate::gate::{self, Features};
use crate::language::Language;
use crate::query::{Query, RecallPrompt, Term};
use crate::text::TokenKind;
use crate::tuning::Tuning;
use crate::typos;
use crate::vectors::Sense;
use crate::words::{Counter, Words};
use everfold_kernel::ports::{RankCertainty, RecallTier};
use jiff::Timestamp;
use std::collections::BTreeSet;

/// A collection counts as at least this large where the most that a word can
/// tell is asked: among five files, none is rare.
const LEAST_COLLECTION: f64 = 50.0;
/// What a word counts that no memory can have, as it is of another language.
const FOREIGN: f64 = 0.3;

/// One text that can be found. What it does not have stays empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct Document<'a> {
    /// Its name or title.
    pub name: &'a str,
    /// What it is about, in a sentence.
    pub description: &'a str,
    pub body: &'a str,
    /// When it was last changed.
    pub modified: Option<Timestamp>,
    /// How often it was of use after a recall (L5.29).
    pub used: u32,
}

/// What a ranking found, best first.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    /// The texts with a score, best first; equals in the order given.
    pub hits: Vec<Hit>,
    /// The words that were looked for, as the message has them.
    pub words: Vec<String>,
    /// How sure it is that the message calls for a memory at all, from 0 to 1.
    pub sureness: f64,
    /// What the gate saw of the first hits.
    pub candidates: Vec<Features>,
}

/// One text that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// Its position among the documents.
    pub index: usize,
    /// Its score; only comparable within one ranking.
    pub score: f64,
    /// The part of the score that is by words.
    pub by_words: f64,
    /// The part of the score that is by meaning.
    pub by_meaning: f64,
    /// How much of the query's information it has, from 0 to 1.
    pub coverage: f64,
    /// How alike the query and it are by meaning, from 0 to 1.
    pub likeness: f64,
    /// How sure it is that it helps, if anything does, from 0 to 1.
    pub sureness: f64,
    /// How it is shown.
    pub tier: RecallTier,
    /// The words of the query that it has, as positions in [`Ranking::words`].
    pub matched: Vec<usize>,
}

impl Ranking {
    /// How sure the ranking is (R18): as sure as what it shows.
    #[must_use]
    pub fn certainty(&self) -> RankCertainty {
        let has = |tier| self.hits.iter().any(|hit| hit.tier == tier);
        if has(RecallTier::Body) {
            RankCertainty::Sure
        } else if has(RecallTier::Line) {
            RankCertainty::Unsure
        } else {
            RankCertainty::Silent
        }
    }

    /// The words by which a hit was found.
    #[must_use]
    pub fn matched_words(&self, hit: &Hit) -> Vec<&str> {
        hit.matched.iter().filter_map(|at| self.words.get(*at)).map(String::as_str).collect()
    }

    /// The hits that are good enough to be shown in this way (R13), those that
    /// surely help first.
    #[must_use]
    pub fn of_tier(&self, tier: RecallTier) -> Vec<&Hit> {
        let mut hits: Vec<&Hit> = self.hits.iter().filter(|hit| hit.tier == tier).collect();
        hits.sort_by(|a, b| b.sureness.total_cmp(&a.sureness));
        hits
    }
}

/// Ranks documents by the words of a message. `now` is what their age is counted
/// from; without it, age plays no part.
#[must_use]
pub fn rank<'a>(
    prompt: impl Into<RecallPrompt<'a>>,
    documents: &[Document<'_>],
    now: Option<Timestamp>,
    tuning: &Tuning,
) -> Ranking {
    let mut counter = Counter::default();
    let words: Vec<Words> = documents.iter().map(|document| counter.count(document)).collect();
    let known: Vec<(Document<'_>, &Words)> = documents.iter().copied().zip(&words).collect();
    rank_known(&prompt.into(), &known, &[], now, tuning)
}

/// Ranks texts whose words are known, and their meaning by `senses`; their
/// bodies may be left out.
#[must_use]
pub fn rank_known(
    prompt: &RecallPrompt<'_>,
    documents: &[(Document<'_>, &Words)],
    senses: &[Sense<'_>],
    now: Option<Timestamp>,
    tuning: &Tuning,
) -> Ranking {
    let known = documents.iter().map(|(_, words)| *words);
    let languages: BTreeSet<Language> = known.clone().map(Words::language).collect();
    let mut query = Query::parse(prompt, &languages, tuning);
    typos::mend(&mut query, known.clone(), tuning);
    let found: Vec<Found> = known.map(|words| Found::of(&query, words, tuning)).collect();
    let rarity = Rarity::of(&query, &found);
    let likeness = likenesses(&query, senses, &rarity, documents.len(), tuning);
    let weight: f64 = senses.iter().map(|sense| sense.weight).sum();
    let mut hits: Vec<Hit> = Vec::new();
    for (index, ((document, _), found)) in documents.iter().zip(&found).enumerate() {
        let likeness = likeness.get(index).copied().unwrap_or_default();
        let gain = prior_gain(document, now, tuning);
        // No words at all sum up to a zero with a sign, which is shown.
        let by_words = rarity.score(found, tuning) * gain + 0.0;
        let by_meaning = likeness * rarity.whole * gain;
        if by_words + by_meaning > 0.0 {
            hits.push(Hit {
                index,
                score: by_words + by_meaning,
                by_words,
                by_meaning,
                coverage: rarity.coverage(found),
                likeness: if weight > 0.0 { likeness / weight } else { 0.0 },
                sureness: 0.0,
                tier: RecallTier::None,
                matched: found.matches.iter().map(|hit| hit.term).collect(),
            });
        }
    }
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.index.cmp(&b.index)));
    // The first reading is the table's, which the gate was fitted with.
    let nearness = senses.first().map_or(0.0, Sense::nearness);
    let looked = gate::Looked { query: &query, rarity: &rarity, found: &found, nearness };
    let candidates = gate::features(prompt, &looked, &hits, tuning);
    let sureness = gate::judge(&candidates, &mut hits);
    let words = query.terms.into_iter().map(|term| term.word).collect();
    Ranking { hits, words, sureness, candidates }
}

/// The likenesses of every reading, each by its weight.
fn likenesses(
    query: &Query,
    senses: &[Sense<'_>],
    rarity: &Rarity,
    count: usize,
    tuning: &Tuning,
) -> Vec<f64> {
    let mut sum = vec![0.0; count];
    let weight = |word: &str| {
        let mut terms = query.terms.iter().enumerate();
        let is_it = |term: &Term| term.word == word && term.meant.is_none();
        let term = terms.find(|(_, term)| term.kind != TokenKind::Name && is_it(term));
        term.map_or(0.0, |(at, _)| rarity.weight(at))
    };
    for sense in senses {
        let likenesses = sense.likenesses(tuning.common, weight);
        for (sum, likeness) in sum.iter_mut().zip(likenesses) {
            *sum += sense.weight * likeness;
        }
    }
    sum
}

/// What one document holds of a query.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Its length in words, by field.
    pub(crate) length: f64,
    /// The words of the query that it has.
    pub(crate) matches: Vec<Match>,
}

/// One word of the query in a document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Match {
    /// Which term of the query.
    pub(crate) term: usize,
    /// How often, weighted by field.
    pub(crate) count: f64,
    /// Whether it is in the name or the description.
    pub(crate) in_head: bool,
}

impl Found {
    fn of(query: &Query, words: &Words, tuning: &Tuning) -> Self {
        let found = |(term, wanted): (usize, &Term)| {
            let mut hit = Match { term, count: 0.0, in_head: false };
            for entry in wanted.stems.iter().filter_map(|stem| words.get(*stem)) {
                hit.count += f64::from(entry.name) * tuning.name
                    + f64::from(entry.description) * tuning.description
                    + f64::from(entry.body);
                hit.in_head |= entry.name > 0 || entry.description > 0;
            }
            (hit.count > 0.0).then_some(hit)
        };
        let matches = query.terms.iter().enumerate().filter_map(found).collect();
        Self { length: words.length(tuning), matches }
    }
}

/// How much each word of the query tells, by how many documents have it.
pub(crate) struct Rarity {
    /// For each term: its weight, and how many documents have it.
    pub(crate) weights: Vec<(f64, f64)>,
    /// The weight of all terms.
    pub(crate) whole: f64,
    /// The weight of a full term that no document has.
    pub(crate) most: f64,
    /// Average length of a document.
    average_length: f64,
    documents: f64,
}

impl Rarity {
    #[expect(clippy::cast_precision_loss, reason = "counts far below 2^52")]
    fn of(query: &Query, found: &[Found]) -> Self {
        let mut having = vec![0.0_f64; query.terms.len()];
        for hit in found.iter().flat_map(|found| &found.matches) {
            if let Some(count) = having.get_mut(hit.term) {
                *count += 1.0;
            }
        }
        let documents = found.len() as f64;
        let of_term =
            |(having, term): (&f64, &Term)| (rareness(documents, *having) * term.weight, *having);
        let weights: Vec<(f64, f64)> = having.iter().zip(&query.terms).map(of_term).collect();
        let length: f64 = found.iter().map(|found| found.length).sum();
        Self {
            whole: weights.iter().map(|(weight, _)| weight).sum(),
            weights,
            most: rareness(documents.max(LEAST_COLLECTION), 0.0),
            average_length: (length / documents.max(1.0)).max(1.0),
            documents,
        }
    }

    /// The same for what is shown unasked: each word by its worth besides, and as
    /// among many memories. That all of three memories have a word does not make it
    /// a common one.
    pub(crate) fn by_worth(&self, query: &Query) -> Self {
        let all = self.documents.max(LEAST_COLLECTION);
        let of_term = |((_, having), term): (&(f64, f64), &Term)| {
            let is_out_of_reach = term.is_foreign && *having == 0.0;
            let reach = if is_out_of_reach { FOREIGN } else { 1.0 };
            (rareness(all, *having) * term.weight * term.worth * reach, *having)
        };
        let weights: Vec<(f64, f64)> = self.weights.iter().zip(&query.terms).map(of_term).collect();
        let whole = weights.iter().map(|(weight, _)| weight).sum();
        Self { weights, whole, ..*self }
    }

    pub(crate) fn weight(&self, term: usize) -> f64 {
        self.weights.get(term).map_or(0.0, |(weight, _)| *weight)
    }

    /// BM25.
    pub(crate) fn score(&self, found: &Found, tuning: &Tuning) -> f64 {
        let length = found.length / self.average_length;
        let damp = tuning.k1 * (1.0 - tuning.b + tuning.b * length);
        let each = found
            .matches
            .iter()
            .map(|hit| self.weight(hit.term) * hit.count * (tuning.k1 + 1.0) / (hit.count + damp));
        each.sum()
    }

    fn coverage(&self, found: &Found) -> f64 {
        let here: f64 = found.matches.iter().map(|hit| self.weight(hit.term)).sum();
        // The sum of nothing is -0.
        if self.whole > 0.0 { (here / self.whole).abs() } else { 0.0 }
    }
}

/// How much a word tells that so many of all documents have.
fn rareness(all: f64, having: f64) -> f64 {
    ((all - having + 0.5) / (having + 0.5)).ln_1p()
}

/// What age and use add: little, and only to what matches.
fn prior_gain(document: &Document<'_>, now: Option<Timestamp>, tuning: &Tuning) -> f64 {
    let recency = document.modified.zip(now).map_or(0.0, |(modified, now)| {
        let days = now.duration_since(modified).as_secs_f64().max(0.0) / 86_400.0;
        tuning.recency * (-days / tuning.recency_half_life_days).exp2()
    });
    let used = f64::from(document.used);
    1.0 + recency + tuning.usage * used / (used + tuning.usage_half)
}
