//! What is good enough to be shown unasked (R13).
//!
//! Three questions, each answered by a small fitted model. *Does the message call
//! for a memory at all?* It is answered for the whole message, by how well its
//! best hit matches, by its length and, calmly, by what kind of message it is
//! ([`kind`]). *Is its best hit the one?* By the same, and where that is sure, what
//! is likely to help comes with its body. *Which ones besides?* Where a call is
//! only possible, what comes nearest is named in a line. Silence is an answer.
//!
//! The models were fitted by `bench/recall/fit.py` on unlike sets together;
//! [`weights`] is what it wrote.

mod kind;
mod marks;
mod weights;

use crate::query::{Query, RecallPrompt};
use crate::rank::{Found, Hit, Rarity};
use crate::text::TokenKind;
use crate::tuning::Tuning;
use everfold_kernel::ports::RecallTier;
pub use kind::kind_vector;
pub use marks::kind_marks;

/// How many of the best hits are looked at.
const CANDIDATES: usize = 8;
/// From how many words on a message is long, and longer than that.
const LONG: f64 = 8.0;
const LONGER: f64 = 15.0;

/// What speaks for one hit and for its message. Each is between about -6 and 6,
/// whatever the number of memories.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Features([f64; FEATURES]);

const FEATURES: usize = 19;

impl Features {
    /// What they are called where they are fitted, in order.
    pub const NAMES: [&'static str; FEATURES] = [
        "score",
        "words",
        "likeness",
        "likeness_lead",
        "lead",
        "lead_in_full",
        "both",
        "coverage",
        "head_coverage",
        "names",
        "distinctive",
        "single",
        "place",
        "asked",
        "typed",
        "long",
        "longer",
        "kind",
        "nearness",
    ];

    /// Their values, in the same order.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.0
    }

    fn odds(&self, model: &weights::Logistic) -> f64 {
        let value = |at: usize| self.0.get(at).copied().unwrap_or_default();
        let each = self.0.iter().zip(&model.weights).map(|(value, weight)| value * weight);
        let both =
            model.products.iter().map(|(one, other, weight)| value(*one) * value(*other) * weight);
        model.bias + each.sum::<f64>() + both.sum::<f64>()
    }
}

/// Gives the best hits their tiers, and says how sure it is that the message
/// calls for a memory.
pub(crate) fn judge(candidates: &[Features], hits: &mut [Hit]) -> f64 {
    let mut best: Vec<(usize, f64, &Features)> = (0..)
        .zip(candidates)
        .map(|(at, features)| (at, features.odds(&weights::HELPS), features))
        .collect();
    best.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let Some((_, _, first)) = best.first() else { return 0.0 };
    let (calls, answers) = (first.odds(&weights::CALLS), first.odds(&weights::ANSWERS));
    let is_sure = answers >= weights::SURE;
    for (at, helps, _) in best {
        let Some(hit) = hits.get_mut(at) else { continue };
        hit.sureness = probability(helps);
        if is_sure && helps >= weights::LEAST_BODY {
            hit.tier = RecallTier::Body;
        } else if (is_sure || calls >= weights::POSSIBLE) && helps >= weights::LEAST_LINE {
            hit.tier = RecallTier::Line;
        }
    }
    probability(calls)
}

fn probability(odds: f64) -> f64 {
    1.0 / (1.0 + (-odds).exp())
}

/// What a ranking saw of a message and the memories.
pub(crate) struct Looked<'a> {
    pub(crate) query: &'a Query,
    pub(crate) rarity: &'a Rarity,
    pub(crate) found: &'a [Found],
    /// How near the message is to what all memories have in common.
    pub(crate) nearness: f64,
}

/// The features of the best hits, in their order. Words count by their worth here:
/// how rare a word is among a handful of memories says little.
pub(crate) fn features(
    prompt: &RecallPrompt<'_>,
    looked: &Looked<'_>,
    hits: &[Hit],
    tuning: &Tuning,
) -> Vec<Features> {
    let Looked { query, found, nearness, .. } = *looked;
    let rarity = looked.rarity.by_worth(query);
    let whole = rarity.whole.max(f64::EPSILON);
    let best: Vec<(&Hit, Evidence)> = hits
        .iter()
        .take(CANDIDATES)
        .filter_map(|hit| Some((hit, Evidence::of(query, &rarity, found.get(hit.index)?, tuning))))
        .collect();
    let form = Form::of(prompt, query);
    let score = |hit: &Hit, evidence: &Evidence| evidence.words / whole + hit.likeness;
    let each = best.iter().enumerate().map(|(at, (hit, evidence))| {
        let others = || best.iter().enumerate().filter(|(other, _)| *other != at);
        let likest = others().map(|(_, (hit, _))| hit.likeness).fold(0.0, f64::max);
        let next = others().map(|(_, (hit, evidence))| score(hit, evidence)).fold(0.0, f64::max);
        let score = score(hit, evidence);
        let coverage = evidence.covered / whole;
        Features([
            score.min(6.0),
            (evidence.words / rarity.most).ln_1p(),
            hit.likeness,
            hit.likeness - likest,
            (score - next).clamp(-6.0, 6.0),
            ((score - next) * rarity.whole / rarity.most).clamp(-6.0, 6.0),
            coverage * hit.likeness,
            coverage,
            evidence.head / whole,
            evidence.names.ln_1p(),
            evidence.distinctive.ln_1p(),
            f64::from(u8::from(evidence.matched <= 1)),
            count(at),
            (rarity.whole / rarity.most).ln_1p().min(6.0),
            form.typed,
            form.long,
            form.longer,
            form.kind,
            nearness,
        ])
    });
    each.collect()
}

#[expect(clippy::cast_precision_loss, reason = "counts far below 2^52")]
fn count(number: usize) -> f64 {
    number as f64
}

/// What of the query a text has.
#[derive(Default)]
struct Evidence {
    /// Its score by words.
    words: f64,
    covered: f64,
    head: f64,
    matched: usize,
    names: f64,
    distinctive: f64,
}

impl Evidence {
    fn of(query: &Query, rarity: &Rarity, found: &Found, tuning: &Tuning) -> Self {
        let mut evidence = Self { words: rarity.score(found, tuning), ..Self::default() };
        for hit in &found.matches {
            let weight = rarity.weight(hit.term);
            evidence.covered += weight;
            evidence.matched += 1;
            if hit.in_head {
                evidence.head += weight;
            }
            let Some(term) = query.terms.get(hit.term) else { continue };
            evidence.names += f64::from(u8::from(term.kind == TokenKind::Name));
            evidence.distinctive += f64::from(u8::from(term.is_distinctive));
        }
        evidence
    }
}

/// What a message is like, whatever there is to be found.
struct Form {
    typed: f64,
    long: f64,
    longer: f64,
    kind: f64,
}

impl Form {
    fn of(prompt: &RecallPrompt<'_>, query: &Query) -> Self {
        let typed = prompt.typed();
        let terms = count(query.terms.len() + 1);
        Self {
            typed: count(typed.split_whitespace().count()).ln_1p().min(6.0),
            long: (terms / LONG).ln().max(0.0),
            longer: (terms / LONGER).ln().max(0.0),
            kind: kind::score(&typed),
        }
    }
}
