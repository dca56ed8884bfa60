//! A word of a table, and whether a text begins with it.

use super::token::{Gap, Token, UNKNOWN};

/// A word of a table: its first token, and those behind it, each with the gap
/// before it. Nearly all have one: a process that has just started reads all
/// tables before it keeps its first memory.
#[derive(Debug)]
pub(super) struct Word {
    pub(super) first: u16,
    pub(super) rest: Vec<(u16, Gap)>,
}

impl Word {
    pub(super) fn len(&self) -> usize {
        1 + self.rest.len()
    }
}

/// How many tokens the longest of some words has that begins a text.
pub(super) fn longest(words: &[Word], rest: &[Token]) -> Option<usize> {
    words.iter().filter(|word| is_at(word, rest)).map(Word::len).max()
}

/// Whether a text begins with a word.
pub(super) fn is_at(word: &Word, text: &[Token]) -> bool {
    // Nearly all end here, so it comes before anything else.
    let Some((token, behind)) = text.split_first() else { return false };
    if word.first != token.id || token.id == UNKNOWN || word.rest.len() > behind.len() {
        return false;
    }
    word.rest.iter().zip(behind).all(|((id, gap), token)| token.id == *id && token.gap == *gap)
}
