//! A known memory, as it is compared, and what of it a statement says is over.

use super::clauses::{clause_is_in, content};
use super::heard::{Heard, Said};
use super::keys::{CONTENT, Keys};
use super::markers::End;
use super::sentences::{Part, Sentence, sentences};
use super::words::{Capitals, Kind, Word, words};
use crate::gate::Known;

/// A known memory, read.
#[derive(Debug)]
pub(super) struct Old<'a> {
    pub(super) known: &'a Known,
    pub(super) sentences: Vec<Sentence>,
    /// All of its words.
    pub(super) keys: Keys,
    /// The words of its name and description.
    pub(super) label: Keys,
}

impl<'a> Old<'a> {
    pub(super) fn of(known: &'a Known) -> Self {
        let sentences = sentences(&known.body);
        let name = known.name.replace(['-', '_'], " ").to_lowercase();
        let mut label = Keys::of(&words(&name, 0, Capitals::Names));
        label.add(&words(&known.description, 0, Capitals::Names));
        let mut keys = label.clone();
        keys.add(sentences.iter().flat_map(Sentence::words));
        Self { known, sentences, keys, label }
    }

    /// Whether it says all of a statement, its reasons aside.
    pub(super) fn covers(&self, heard: &Heard) -> bool {
        let clauses = || heard.said.iter().flat_map(|said| &said.sentence.clauses);
        // "As you know" says nothing beside what does.
        let mut telling = clauses().filter(|clause| content(clause).next().is_some()).peekable();
        match telling.peek() {
            Some(_) => telling.all(|clause| clause_is_in(clause, &self.sentences)),
            None => {
                clauses().next().is_some()
                    && clauses().all(|clause| clause_is_in(clause, &self.sentences))
            }
        }
    }

    /// Whether it gives a reason.
    pub(super) fn gives(&self, reason: &str) -> bool {
        let is_said = |sentence: &Sentence| {
            sentence.part != Part::Fixed
                && sentence.clauses.iter().all(|clause| clause_is_in(clause, &self.sentences))
        };
        self.known.body.contains(reason) || sentences(reason).iter().all(is_said)
    }

    pub(super) fn main(&self) -> impl Iterator<Item = (usize, &Sentence)> {
        self.sentences.iter().enumerate().filter(|(_, sentence)| sentence.part == Part::Main)
    }
}

/// What a statement says is over, and a memory holds to be so.
pub(super) fn over(heard: &Heard, old: &Old<'_>) -> Vec<Word> {
    let standing: Vec<&Word> = heard.said.iter().flat_map(Said::standing).collect();
    let standing_keys = Keys::of(standing.iter().copied());
    let others: u32 = standing.iter().map(|word| old.keys.weight(word)).sum();
    let mut found = Vec::new();
    for ended in heard.said.iter().flat_map(|said| &said.ended) {
        let named = || {
            ended
                .words
                .iter()
                .filter(|word| word.kind.weight() >= CONTENT && !standing_keys.has(word))
        };
        let is_held = |word: &&Word| {
            old.main().flat_map(|(_, sentence)| &sentence.clauses).any(|clause| {
                (!clause.is_negative || ended.how == End::Withdrawn) && clause.keys.has(word)
            })
        };
        let held: Vec<&Word> = named().filter(is_held).collect();
        let weight: u32 = held.iter().map(|word| word.kind.weight()).sum();
        let all: u32 = named().map(|word| word.kind.weight()).sum();
        let is_named = ended.how != End::Left || others >= CONTENT;
        // Pairs of signs overlap, and some of them cross a bound of words.
        let share = if ended.words.iter().any(|word| word.kind == Kind::Signs) { 4 } else { 2 };
        if weight * share >= all && is_named {
            found.extend(held.into_iter().cloned());
        }
    }
    found
}
