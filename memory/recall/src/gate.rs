//! What is good enough to be shown unasked (R13).
//!
//! Two questions, each answered by a small fitted model. *Does the message call
//! for a memory at all?* It is answered for the whole message, so that a long one
//! does not pass on words that it happens to share. *Which ones?* Where the
//! first answer is sure, what is likely to help comes with its body; where it
//! is only possible, what comes nearest is named in a line. Silence is an answer.
//!
//! The models were fitted by `bench/recall/fit.py`; [`weights`] is what it wrote.

mod weights;

use crate::query::{Query, RecallPrompt};
use crate::rank::{Found, Hit, Rarity};
use everfold_kernel::ports::RecallTier;

/// How many of the best hits are looked at.
const CANDIDATES: usize = 8;

/// What speaks for one hit and for its message. Each is between 0 and about 6,
/// whatever the number of memories.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Features([f64; FEATURES]);

const FEATURES: usize = 18;

impl Features {
    /// What they are called where they are fitted, in order.
    pub const NAMES: [&'static str; FEATURES] = [
        "head_coverage",
        "likeness",
        "likeness_lead",
        "rarest",
        "words",
        "of_best",
        "score",
        "matched",
        "head_matched",
        "distinctive",
        "known_coverage",
        "asked",
        "terms",
        "unknown",
        "asks",
        "ours",
        "makes",
        "length",
    ];

    /// Their values, in the same order.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.0
    }

    fn odds(&self, model: &weights::Logistic) -> f64 {
        let each = self.0.iter().zip(&model.weights).map(|(value, weight)| value * weight);
        model.bias + each.sum::<f64>()
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
    let calls = first.odds(&weights::CALLS);
    for (at, helps, _) in best {
        let Some(hit) = hits.get_mut(at) else { continue };
        hit.sureness = probability(helps);
        if calls >= weights::SURE && helps >= weights::LEAST_BODY {
            hit.tier = RecallTier::Body;
        } else if calls >= weights::POSSIBLE && helps >= weights::LEAST_LINE {
            hit.tier = RecallTier::Line;
        }
    }
    probability(calls)
}

fn probability(odds: f64) -> f64 {
    1.0 / (1.0 + (-odds).exp())
}

/// The features of the best hits, in their order.
pub(crate) fn features(
    prompt: &RecallPrompt<'_>,
    query: &Query,
    rarity: &Rarity,
    found: &[Found],
    hits: &[Hit],
) -> Vec<Features> {
    let form = Form::of(&prompt.typed());
    let best = hits.first().map_or(1.0, |hit| hit.score);
    let whole = rarity.whole.max(f64::EPSILON);
    let unknown: f64 =
        rarity.weights.iter().filter(|(_, having)| *having == 0.0).map(|(weight, _)| weight).sum();
    let candidates = hits.iter().take(CANDIDATES).enumerate();
    let each = candidates.filter_map(|(at, hit)| {
        let evidence = Evidence::of(query, rarity, found.get(hit.index)?);
        let others = hits.iter().enumerate().filter(|(other, _)| *other != at);
        let other = others.map(|(_, hit)| hit.likeness).fold(0.0, f64::max);
        Some(Features([
            evidence.head / whole,
            hit.likeness,
            hit.likeness - other,
            evidence.rarest / rarity.most,
            (hit.by_words / rarity.most).min(6.0),
            hit.score / best,
            hit.score / whole,
            evidence.matched.ln_1p(),
            evidence.head_matched.ln_1p(),
            evidence.distinctive.ln_1p(),
            if whole > unknown { evidence.all / (whole - unknown) } else { 0.0 },
            (whole / rarity.most).min(6.0),
            count(query.terms.len()).ln_1p(),
            unknown / whole,
            form.asks,
            form.ours,
            form.makes,
            form.length,
        ]))
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
    all: f64,
    head: f64,
    rarest: f64,
    matched: f64,
    head_matched: f64,
    distinctive: f64,
}

impl Evidence {
    fn of(query: &Query, rarity: &Rarity, found: &Found) -> Self {
        let mut evidence = Self::default();
        for hit in &found.matches {
            let weight = rarity.weight(hit.term);
            evidence.all += weight;
            evidence.matched += 1.0;
            evidence.rarest = weight.max(evidence.rarest);
            if hit.in_head {
                evidence.head += weight;
                evidence.head_matched += 1.0;
            }
            let is_distinctive = query.terms.get(hit.term).is_some_and(|term| term.is_distinctive);
            evidence.distinctive += f64::from(u8::from(is_distinctive));
        }
        evidence
    }
}

/// Words at the beginning of a question that can be about anything.
const ASKING: [&str; 13] = [
    "are", "did", "do", "does", "explain", "how", "is", "what", "whats", "which", "who", "whose",
    "why",
];
/// Words of somebody who speaks for a project.
const OURS: [&str; 6] = ["our", "ours", "unser", "us", "we", "wir"];
/// Words of somebody who makes something.
const MAKING: [&str; 5] = ["add", "new", "should", "use", "write"];

/// What kind of message it is, by its small words.
struct Form {
    asks: f64,
    ours: f64,
    makes: f64,
    length: f64,
}

impl Form {
    fn of(typed: &str) -> Self {
        let lower = typed.to_lowercase();
        let is_gap = |sign: char| !(sign.is_alphanumeric() || sign == '\'');
        let words: Vec<&str> = lower.split(is_gap).filter(|word| !word.is_empty()).collect();
        let has = |list: &[&str]| f64::from(u8::from(words.iter().any(|word| list.contains(word))));
        let first = words.first().map(|word| word.split('\'').next().unwrap_or_default());
        Self {
            asks: f64::from(u8::from(first.is_some_and(|word| ASKING.contains(&word)))),
            ours: has(&OURS),
            makes: has(&MAKING),
            length: count(words.len()).ln_1p().min(6.0),
        }
    }
}
