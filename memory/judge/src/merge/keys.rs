//! What words are compared by, with how much each says.

use super::words::{Kind, Word};
use std::collections::{BTreeMap, BTreeSet};

/// From here on a word counts as content.
pub(super) const CONTENT: u32 = 6;
/// Signs that two words of one root share at least.
const ROOT_CHARS: usize = 5;
/// What a part of a compound says, in tenths of a plain word.
const PART_WEIGHT: u32 = 5;

/// The words of a text, each once.
#[derive(Clone, Debug, Default)]
pub(super) struct Keys {
    whole: BTreeMap<String, u32>,
    parts: BTreeSet<String>,
}

impl Keys {
    pub(super) fn of<'a>(words: impl IntoIterator<Item = &'a Word>) -> Self {
        let mut keys = Self::default();
        keys.add(words);
        keys
    }

    pub(super) fn add<'a>(&mut self, words: impl IntoIterator<Item = &'a Word>) {
        for word in words.into_iter().filter(|word| word.kind.weight() > 0) {
            let weight = word.kind.weight();
            match self.whole.get_mut(&word.key) {
                Some(known) => *known = weight.max(*known),
                None => {
                    self.whole.insert(word.key.clone(), weight);
                }
            }
            self.parts.extend(word.parts.iter().cloned());
        }
    }

    /// Whether a word is there: itself, not as a part of another.
    pub(super) fn has(&self, word: &Word) -> bool {
        if word.kind.weight() == 0 {
            return false;
        }
        let has_parts = !word.parts.is_empty() && word.parts.iter().all(|part| self.has_key(part));
        let is_coded = word.key.chars().any(|c| c.is_ascii_digit());
        self.has_key(&word.key) || self.has_root(word) || (has_parts && !is_coded)
    }

    pub(super) fn has_key(&self, key: &str) -> bool {
        self.whole.contains_key(key)
    }

    /// How much is shared by a word; 0 where it is not there.
    pub(super) fn weight(&self, word: &Word) -> u32 {
        let own = word.kind.weight();
        if own == 0 {
            return 0;
        }
        if let Some(known) = self.whole.get(&word.key) {
            return own.min(*known);
        }
        if self.has_root(word) {
            return own.min(Kind::Plain.weight()) - 2;
        }
        let is_there =
            |part: &&String| self.parts.contains(*part) || self.whole.contains_key(*part);
        let parts = word.parts.iter().filter(is_there).count();
        let hits =
            if self.parts.contains(&word.key) { 1 } else { u32::try_from(parts).unwrap_or(0) };
        own.min(hits * PART_WEIGHT)
    }

    fn has_root(&self, word: &Word) -> bool {
        is_rooted(word) && self.whole.keys().any(|key| shares_root(key, &word.key))
    }
}

/// Whether another ending leaves it the same word.
fn is_rooted(word: &Word) -> bool {
    matches!(word.kind, Kind::Plain | Kind::MaybeName) && !word.key.starts_with("month ")
}

fn shares_root(a: &str, b: &str) -> bool {
    let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    if short.len() < ROOT_CHARS || !short.is_char_boundary(3) || long.get(..3) != short.get(..3) {
        return false;
    }
    let shared = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let longest = long.chars().count();
    shared >= ROOT_CHARS && shared * 10 >= longest * 7
}
