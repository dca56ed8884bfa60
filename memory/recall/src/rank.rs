//! The local ranker (R8): which texts are about what a query asks.
//!
//! BM25 over stems is the base. What is added to it was chosen by measuring on
//! conversations (see [`Tuning`]): texts that stand in an order lend each other
//! a share of their scores, an author or a month that the query names raises
//! what is theirs. Memories have neither; for them the age and the use of a
//! file move the order a little, and never make a match of what is none.
//!
//! It is not a filter by itself: [`Ranking::worth_injecting`] is the threshold.

use crate::query::{NamedDate, Query};
use crate::scan::{Found, Scanner};
use crate::text;
use crate::tuning::Tuning;
use crate::vectors::Sense;
use everfold_kernel::ports::RankCertainty;
use jiff::Timestamp;
use jiff::civil::Date;
use std::collections::{BTreeMap, BTreeSet};

/// The part of the evidence needed from which on a text comes near.
const NEAR: f64 = 0.4;

/// One text that can be found. What it does not have stays empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct Document<'a> {
    /// Its name or title.
    pub name: &'a str,
    /// What it is about, in a sentence.
    pub description: &'a str,
    /// The text itself.
    pub body: &'a str,
    /// Who wrote or said it.
    pub author: Option<&'a str>,
    /// The day it belongs to.
    pub date: Option<Date>,
    /// Texts of one group that follow each other are neighbours, as the turns
    /// of one conversation are.
    pub group: Option<u32>,
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
    /// The words that were looked for.
    pub words: Vec<String>,
    needed: f64,
    least_of_best: f64,
}

/// One text that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// Its position among the documents.
    pub index: usize,
    /// Its score; only comparable within one ranking.
    pub score: f64,
    /// How much of the query's information it has, from 0 to 1.
    pub coverage: f64,
    /// How much speaks for it: rare words count more than common ones, and
    /// matches in name or description more than those in the body.
    pub evidence: f64,
    /// The words of the query that it has, as positions in [`Ranking::words`].
    pub matched: Vec<usize>,
}

impl Ranking {
    /// The hits that are good enough to be shown to a model unasked (R8), at
    /// most `most` of them. None, where nothing is.
    pub fn worth_injecting(&self, most: usize) -> impl Iterator<Item = &Hit> {
        let best = self.hits.first().map_or(0.0, |hit| hit.score);
        self.hits
            .iter()
            .filter(move |hit| hit.evidence >= self.needed)
            .filter(move |hit| hit.score >= best * self.least_of_best)
            .take(most)
    }

    /// How sure the ranking is (R18).
    #[must_use]
    pub fn certainty(&self) -> RankCertainty {
        let most = self.hits.iter().map(|hit| hit.evidence).fold(0.0, f64::max);
        if most > 0.0 && most >= self.needed {
            RankCertainty::Sure
        } else if most >= self.needed * NEAR {
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
}

/// Ranks documents by a query. `now` is what their age is counted from; without
/// it, age plays no part.
#[must_use]
pub fn rank(
    query: &str,
    documents: &[Document<'_>],
    now: Option<Timestamp>,
    tuning: &Tuning,
) -> Ranking {
    by_found(query, documents, &[], now, tuning, |query, stemmer| {
        let scanner = Scanner::new(&query.terms, query.asks_when, stemmer);
        documents.iter().map(|text| scanner.scan(text, tuning)).collect()
    })
}

/// Ranks documents by what `find` says that each of them has of the query.
pub(crate) fn by_found(
    query: &str,
    documents: &[Document<'_>],
    senses: &[Sense<'_>],
    now: Option<Timestamp>,
    tuning: &Tuning,
    find: impl FnOnce(&Query, &rust_stemmers::Stemmer) -> Vec<Found>,
) -> Ranking {
    let stemmer = text::stemmer();
    let mut query = Query::parse(query, tuning.query_words, tuning.filler, &stemmer);
    let authors = named_authors(&mut query, documents, &stemmer);
    let found = find(&query, &stemmer);
    let rarity = Rarity::of(&query, &found, tuning);
    let own: Vec<f64> = found.iter().map(|found| rarity.score(found, tuning)).collect();
    let own = add_meaning(own, senses, rarity.whole(tuning));
    let shared = share_with_neighbours(&own, documents, tuning);
    let mut hits: Vec<Hit> = documents
        .iter()
        .zip(&found)
        .zip(shared)
        .enumerate()
        .filter(|(_, (_, score))| *score > 0.0)
        .map(|(index, ((document, found), score))| {
            let named = document.author.is_some_and(|author| authors.contains(author));
            let gain = context_gain(&query, document, found, tuning)
                * if named { 1.0 + tuning.author } else { 1.0 }
                * prior_gain(document, now, tuning);
            rarity.hit(index, score * gain, found, tuning)
        })
        .collect();
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.index.cmp(&b.index)));
    Ranking {
        hits,
        words: query.terms.iter().map(|term| term.word.clone()).collect(),
        needed: rarity.needed(tuning),
        least_of_best: tuning.least_of_best,
    }
}

/// Scores by words and by meaning, each by its weight. Where every word of the
/// query is found counts as much as where its whole meaning is.
fn add_meaning(mut scores: Vec<f64>, senses: &[Sense<'_>], whole: f64) -> Vec<f64> {
    for sense in senses {
        for (index, score) in scores.iter_mut().enumerate() {
            *score += sense.weight * whole * sense.likeness(index);
        }
    }
    scores
}

/// The authors that the query names. Their names are taken out of the words to
/// look for: everybody in a conversation says them, mostly to address the other.
fn named_authors<'a>(
    query: &mut Query,
    documents: &[Document<'a>],
    stemmer: &rust_stemmers::Stemmer,
) -> BTreeSet<&'a str> {
    let all: BTreeSet<&str> = documents.iter().filter_map(|text| text.author).collect();
    let mut named = BTreeSet::new();
    let mut stems = BTreeSet::new();
    for author in all {
        for word in text::words(author) {
            let stem = text::stem(stemmer, &word).into_owned();
            if query.terms.iter().any(|term| term.stem == stem) {
                named.insert(author);
                stems.insert(stem);
            }
        }
    }
    query.terms.retain(|term| !stems.contains(&term.stem));
    named
}

/// How much each word of the query tells, by how many documents have it.
struct Rarity {
    /// For each term: its weight.
    weights: Vec<f64>,
    /// The weight of a full term that no document has.
    most: f64,
    /// Average length of a document in bytes.
    average_length: f64,
}

impl Rarity {
    #[expect(clippy::cast_precision_loss, reason = "counts far below 2^52")]
    fn of(query: &Query, found: &[Found], tuning: &Tuning) -> Self {
        let mut having = vec![0.0_f64; query.terms.len()];
        for hit in found.iter().flat_map(|found| &found.matches) {
            if let Some(count) = having.get_mut(hit.term) {
                *count += 1.0;
            }
        }
        let documents = (found.len() as f64).max(tuning.least_collection);
        let weight = |having: f64| ((documents - having + 0.5) / (having + 0.5)).ln_1p();
        let bytes: usize = found.iter().map(|found| found.length).sum();
        Self {
            weights: having
                .iter()
                .zip(&query.terms)
                .map(|(having, term)| weight(*having) * term.weight)
                .collect(),
            most: weight(0.0),
            average_length: (bytes as f64 / (found.len() as f64).max(1.0)).max(1.0),
        }
    }

    fn weight(&self, term: usize) -> f64 {
        self.weights.get(term).copied().unwrap_or_default()
    }

    /// BM25, raised by how much of the query is there at all.
    #[expect(clippy::cast_precision_loss, reason = "lengths far below 2^52")]
    fn score(&self, found: &Found, tuning: &Tuning) -> f64 {
        let length = found.length as f64 / self.average_length;
        let damp = tuning.k1 * (1.0 - tuning.b + tuning.b * length);
        let sum: f64 = found
            .matches
            .iter()
            .map(|hit| self.weight(hit.term) * hit.count * (tuning.k1 + 1.0) / (hit.count + damp))
            .sum();
        sum * (1.0 + tuning.coverage * self.coverage(found))
    }

    /// The score of a text of average length that has each word once.
    fn whole(&self, tuning: &Tuning) -> f64 {
        self.weights.iter().sum::<f64>() * (1.0 + tuning.coverage)
    }

    fn coverage(&self, found: &Found) -> f64 {
        let all: f64 = self.weights.iter().sum();
        let here: f64 = found.matches.iter().map(|hit| self.weight(hit.term)).sum();
        if all > 0.0 { here / all } else { 0.0 }
    }

    fn hit(&self, index: usize, score: f64, found: &Found, tuning: &Tuning) -> Hit {
        let evidence = found.matches.iter().map(|hit| {
            let place = if hit.in_head { 1.0 } else { tuning.body_evidence };
            self.weight(hit.term) / self.most * place
        });
        Hit {
            index,
            score,
            coverage: self.coverage(found),
            evidence: evidence.sum(),
            matched: found.matches.iter().map(|hit| hit.term).collect(),
        }
    }

    /// The evidence that is asked for: a part of what a short query holds; for
    /// a long one an amount that grows slowly, as chance matches do.
    #[expect(clippy::cast_precision_loss, reason = "at most a few dozen words")]
    fn needed(&self, tuning: &Tuning) -> f64 {
        let all = self.weights.iter().sum::<f64>() / self.most;
        let growth = tuning.evidence_growth * (self.weights.len() as f64).max(1.0).log2();
        (all * tuning.least_share).min(tuning.least_evidence + growth)
    }
}

/// What follows a question often answers it without its words, so each text is
/// given a share of what stands around it, within its group.
fn share_with_neighbours(own: &[f64], documents: &[Document<'_>], tuning: &Tuning) -> Vec<f64> {
    let mut best: BTreeMap<u32, f64> = BTreeMap::new();
    for (score, group) in own.iter().zip(documents).filter_map(|(s, d)| Some((s, d.group?))) {
        let best = best.entry(group).or_default();
        *best = best.max(*score);
    }
    let shared = |index: usize| {
        let score = own.get(index).copied().unwrap_or_default();
        let Some(group) = documents.get(index).and_then(|text| text.group) else { return score };
        let at = |offset: isize| {
            let index = index.checked_add_signed(offset)?;
            documents.get(index).filter(|text| text.group == Some(group)).zip(own.get(index))
        };
        let of = |offset: isize| at(offset).map_or(0.0, |(_, score)| *score);
        let asks = at(-1).is_some_and(|(text, _)| text.body.trim_end().ends_with('?'));
        let before = if asks { tuning.before_question } else { tuning.before };
        score
            + before * of(-1)
            + tuning.near * (of(-2) + of(2))
            + tuning.group * best.get(&group).copied().unwrap_or_default()
    };
    (0..own.len()).map(shared).collect()
}

/// What the date and the kind of question add.
fn context_gain(query: &Query, document: &Document<'_>, found: &Found, tuning: &Tuning) -> f64 {
    let when = if query.asks_when && found.says_when { tuning.when } else { 0.0 };
    let date = match (query.date, document.date) {
        (Some(named), Some(date)) => date_gain(named, date, tuning),
        _ => 0.0,
    };
    (1.0 + when) * (1.0 + date)
}

fn date_gain(named: NamedDate, date: Date, tuning: &Tuning) -> f64 {
    let year = named.year.is_none_or(|year| year == date.year());
    if !year || named.month != date.month() {
        return 0.0;
    }
    tuning.month + if named.day == Some(date.day()) { tuning.day } else { 0.0 }
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
