//! Near-copies: two memories that say the same in nearly the same words
//! (L5.23).
//!
//! Texts are cut into overlapping runs of words; the share of runs that both
//! have is the likeness. Case, punctuation and layout do not count.

use everfold_memory_file::Memory;
use std::collections::{BTreeMap, BTreeSet};

/// From here on a new memory is a copy of the old one, and becomes an update.
pub const COPY: f64 = 0.80;
/// From here on two memories are worth a look by a person or a dream.
pub const NEAR: f64 = 0.55;
/// From here on two memories may be about one thing.
pub const AKIN: f64 = 0.30;
/// Words in a run.
const RUN: usize = 3;
/// Runs in a sketch. Of two memories that are [`NEAR`], fewer than one pair in
/// ten thousand shares none of so many.
const SKETCH_RUNS: usize = 12;

/// With how many others that share a run a memory is compared.
const MOST_ALIKE: usize = 32;

/// Two memories that are alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair<'a> {
    /// The path of the one.
    pub one: &'a str,
    /// The path of the other.
    pub other: &'a str,
    /// How alike they are.
    pub likeness: f64,
}

/// Pairs of memories that are at least so much alike. Only those that share a
/// part of their sketches are compared, so thousands of memories take no time.
pub fn pairs<'a>(texts: impl IntoIterator<Item = (&'a str, &'a str)>, least: f64) -> Vec<Pair<'a>> {
    let prints: Vec<(&str, ShingleSet)> =
        texts.into_iter().map(|(path, text)| (path, ShingleSet::of(text))).collect();
    let mut by_run: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    let mut compared = BTreeSet::new();
    let mut pairs = Vec::new();
    for (at, (path, print)) in prints.iter().enumerate() {
        for run in print.sketch() {
            let others = by_run.entry(run).or_default();
            for before in others.iter().copied().take(MOST_ALIKE) {
                let Some((one, earlier)) = prints.get(before) else { continue };
                if !compared.insert((before, at)) {
                    continue;
                }
                let likeness = print.likeness(earlier);
                if likeness >= least {
                    pairs.push(Pair { one, other: path, likeness });
                }
            }
            others.push(at);
        }
    }
    pairs
}

/// A memory's words, ready to be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShingleSet {
    runs: BTreeSet<u64>,
}

impl ShingleSet {
    /// The fingerprint of a memory's file: its description and its body.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let memory = Memory::parse(text);
        Self::of_parts(&memory.front.description.unwrap_or_default(), memory.body)
    }

    /// The same from a description and a body.
    #[must_use]
    pub fn of_parts(description: &str, body: &str) -> Self {
        let words: Vec<String> = words(description).chain(words(body)).collect();
        let mut runs: BTreeSet<u64> = words.windows(RUN).map(hash).collect();
        if words.len() < RUN && !words.is_empty() {
            runs.insert(hash(&words));
        }
        Self { runs }
    }

    /// A few of its runs, the same few for near-copies: two memories that
    /// share none of them need not be compared.
    pub fn sketch(&self) -> impl Iterator<Item = u64> {
        self.runs.iter().copied().take(SKETCH_RUNS)
    }

    /// How much of it is in other memories: 0 nothing, 1 all of it.
    #[must_use]
    pub fn share_in<'a>(&self, others: impl IntoIterator<Item = &'a Self>) -> f64 {
        let mut left = self.runs.clone();
        for other in others {
            left.retain(|run| !other.runs.contains(run));
        }
        share(self.runs.len() - left.len(), self.runs.len())
    }

    /// How alike two memories are: 0 nothing, 1 the same.
    #[must_use]
    pub fn likeness(&self, other: &Self) -> f64 {
        let shared = self.runs.intersection(&other.runs).count();
        let all = self.runs.len() + other.runs.len() - shared;
        share(shared, all)
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of words are far below 2^52")]
fn share(part: usize, all: usize) -> f64 {
    if all == 0 { 0.0 } else { part as f64 / all as f64 }
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

/// FNV-1a: the same on every machine and in every run.
fn hash(words: &[String]) -> u64 {
    let bytes = words.iter().flat_map(|word| word.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn likeness(a: &str, b: &str) -> f64 {
        ShingleSet::of(a).likeness(&ShingleSet::of(b))
    }

    const A: &str = "---\nname: a\ndescription: tests use a real database\n---\nIntegration tests must hit a real \
                     database, never mocks. Why: mocks hid a broken migration last quarter.\n";

    #[test]
    fn l5_23_layout_and_case_do_not_make_a_new_memory() {
        let b = "---\nname: other\ndescription: \"Tests use a real database\"\nmetadata:\n  type: feedback\n---\n\n\
                 Integration tests must hit a **real database**, never mocks.\n\n**Why:** mocks hid a broken \
                 migration last quarter.\n";
        assert!(likeness(A, b) >= COPY, "{}", likeness(A, b));
    }

    #[test]
    fn l5_23_another_subject_is_another_memory() {
        let b = "---\ndescription: deploys happen on Thursdays\n---\nDeploys go out on Thursday mornings, after the \
                 standup. Why: support is fully staffed.\n";
        assert!(likeness(A, b) < NEAR);
        assert!(likeness("", "").abs() < f64::EPSILON);
        assert!(likeness("yes", "Yes!") >= COPY);
    }
}
