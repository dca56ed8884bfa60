//! Misspelt words: what a word that no memory has was meant to be.
//!
//! Only words that nobody uses are taken for misspelt, and only what memories
//! have is taken for meant: one letter too many, missing, wrong, or two that
//! changed places.

use crate::query::{Query, Term};
use crate::table::WordTable;
use crate::text::{self, TokenKind};
use crate::tuning::Tuning;
use crate::words::{Words, number};
use rust_stemmers::Stemmer;

/// Shortest word that is looked at: of shorter ones, too many are near.
const LEAST_LETTERS: usize = 4;
/// Longest word that is looked at. A longer one is no word of a language, and
/// what is near to it grows with the square of its length.
const MOST_LETTERS: usize = 24;
/// Most words of a message that are looked at.
const MOST_UNKNOWN: usize = 32;
/// Most words that one can be meant to be.
const MOST_MEANT: usize = 3;

/// Gives the words of a query that no memory has the stems of those that they
/// can be meant to be. Stores of very many words go without.
pub(crate) fn mend<'a>(
    query: &mut Query,
    known: impl Iterator<Item = &'a Words> + Clone,
    tuning: &Tuning,
) {
    let is_known =
        |term: &Term| known.clone().any(|words| term.stems.iter().any(|stem| words.has(*stem)));
    let unknown: Vec<usize> = query
        .terms
        .iter()
        .enumerate()
        .filter(|(_, term)| is_mendable(term) && !is_known(term))
        .map(|(at, _)| at)
        .take(MOST_UNKNOWN)
        .collect();
    let all: usize = known.clone().map(Words::count).sum();
    if unknown.is_empty() || all > tuning.spelling_words {
        return;
    }
    let mut vocabulary: Vec<u64> = known.flat_map(Words::stems).collect();
    vocabulary.sort_unstable();
    vocabulary.dedup();
    let stemmer = text::stemmer();
    for at in unknown {
        if let Some(term) = query.terms.get_mut(at) {
            mend_term(term, &vocabulary, &stemmer, tuning);
        }
    }
}

fn is_mendable(term: &Term) -> bool {
    let is_plain = term.word.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_common = || WordTable::get().is_none_or(|table| table.is_common(&term.word));
    let is_of_length = (LEAST_LETTERS..=MOST_LETTERS).contains(&term.word.len());
    term.kind == TokenKind::Word && is_of_length && is_plain && !is_common()
}

fn mend_term(term: &mut Term, vocabulary: &[u64], stemmer: &Stemmer, tuning: &Tuning) {
    let mut meant: Vec<(u64, String)> = Vec::new();
    each_near(&term.word, |word| {
        let stem = number(&text::stem(stemmer, word));
        if vocabulary.binary_search(&stem).is_ok() && !meant.iter().any(|(known, _)| *known == stem)
        {
            meant.push((stem, word.to_owned()));
        }
    });
    let share = match meant.len() {
        1 => 1.0,
        2 => 0.5,
        MOST_MEANT => 1.0 / 3.0,
        _ => return,
    };
    term.weight *= tuning.misspelt * share;
    term.meant = meant.first().map(|(_, word)| word.clone());
    term.stems.extend(meant.into_iter().map(|(stem, _)| stem));
}

/// Calls with every word that is one slip away.
fn each_near(word: &str, mut call: impl FnMut(&str)) {
    let letters: Vec<char> = word.chars().collect();
    let mut near = String::with_capacity(word.len() + 1);
    let mut tell = |signs: &mut dyn Iterator<Item = char>| {
        near.clear();
        near.extend(signs);
        if near.len() >= LEAST_LETTERS {
            call(&near);
        }
    };
    for at in 0..=letters.len() {
        let (head, tail) = letters.split_at(at);
        if let [_, rest @ ..] = tail {
            tell(&mut head.iter().chain(rest).copied());
            for letter in 'a'..='z' {
                tell(&mut head.iter().copied().chain([letter]).chain(rest.iter().copied()));
            }
        }
        if let [one, other, rest @ ..] = tail {
            tell(&mut head.iter().copied().chain([*other, *one]).chain(rest.iter().copied()));
        }
        for letter in 'a'..='z' {
            tell(&mut head.iter().copied().chain([letter]).chain(tail.iter().copied()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_slip_is_one_step() {
        let near = |word: &str, wanted: &str| {
            let mut found = false;
            each_near(word, |near| found |= near == wanted);
            found
        };
        for (word, meant) in [
            ("migratoin", "migration"),
            ("comit", "commit"),
            ("commmit", "commit"),
            ("strupe", "stripe"),
        ] {
            assert!(near(word, meant), "{word}");
        }
        assert!(!near("commit", "comet"));
    }
}
