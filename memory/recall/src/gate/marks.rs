//! How a message is worded: its words, pairs of neighbours, how it begins, and
//! runs of letters within words, each a place among a fixed number of places.
//!
//! What people write when they mean their own project shows in such marks more
//! than in what their words mean: "who may", "our", "again", an order to change
//! what is there. Runs of letters stand for words that nobody has seen yet.

use crate::lexicon::Interpreter;
use crate::text::{self, TokenKind};
use std::collections::BTreeMap;

/// Places for marks. With half as many the sets cannot tell a difference.
pub(super) const PLACES: usize = 1 << 14;
/// Words that are looked at.
const MOST_WORDS: usize = 256;
/// Lengths of runs of letters, the ends of a word counted as letters.
const RUNS: [usize; 2] = [3, 4];

/// The kinds of marks, so that equal letters of two kinds are apart.
#[derive(Clone, Copy)]
enum Mark {
    Word = 1,
    Pair = 2,
    First = 3,
    FirstPair = 4,
    Run = 5,
    English = 6,
}

/// The marks of a text, each place once, and how much each counts; together they
/// are of length one.
#[must_use]
pub fn kind_marks(text: &str) -> Vec<(usize, f32)> {
    let mut counts: BTreeMap<usize, f32> = BTreeMap::new();
    let mut count =
        |mark: Mark, parts: &[&str]| *counts.entry(place(mark, parts)).or_default() += 1.0;
    let words = words(text);
    for word in &words {
        count(Mark::Word, &[word]);
        runs(word, |run| count(Mark::Run, &[run]));
    }
    for pair in words.windows(2) {
        if let [one, other] = pair {
            count(Mark::Pair, &[one, other]);
        }
    }
    if let Some(first) = words.first() {
        count(Mark::First, &[first]);
        if let Some(second) = words.get(1) {
            count(Mark::FirstPair, &[first, second]);
        }
    }
    english(text, |word| count(Mark::English, &[word]));
    let marks = counts.into_iter().map(|(place, count)| (place, 1.0 + count.ln()));
    let marks: Vec<(usize, f32)> = marks.collect();
    let length = marks.iter().map(|(_, value)| value * value).sum::<f32>().sqrt();
    marks.into_iter().map(|(place, value)| (place, value / length)).collect()
}

/// The words of a text, small ones too. That it asks is a word as well.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    text::each_token(text, |token| {
        if token.kind != TokenKind::Name && words.len() < MOST_WORDS {
            words.push(token.text.to_owned());
        }
    });
    if text.contains(['?', '？', '¿']) {
        words.push("?".to_owned());
    }
    words
}

/// Calls with the English for each word of another language.
fn english(text: &str, mut call: impl FnMut(&str)) {
    let Some(interpreter) = Interpreter::of(text) else { return };
    let mut left = MOST_WORDS;
    text::each_token(text, |token| {
        if token.kind != TokenKind::Name && left > 0 {
            interpreter.english(token.text, token.kind).into_iter().for_each(&mut call);
            left -= 1;
        }
    });
}

/// Calls with each run of letters in a word.
fn runs(word: &str, mut call: impl FnMut(&str)) {
    let whole = format!(" {word} ");
    let ends: Vec<usize> = whole.char_indices().map(|(at, _)| at).chain([whole.len()]).collect();
    for length in RUNS {
        for ends in ends.windows(length + 1) {
            let run = ends.first().zip(ends.last()).and_then(|(from, to)| whole.get(*from..*to));
            run.into_iter().for_each(&mut call);
        }
    }
}

/// The place of a mark: FNV-1a over its kind and its parts.
fn place(mark: Mark, parts: &[&str]) -> usize {
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([0]));
    let hash =
        [mark as u8].into_iter().chain(bytes).fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
            (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
    usize::try_from((hash ^ (hash >> 32)) % PLACES as u64).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn r13_the_same_words_in_another_order_are_another_message() {
        let marks = |text: &str| kind_marks(text);
        assert_eq!(marks("May we deploy?"), marks("may we  deploy ?"));
        assert_ne!(marks("may we deploy"), marks("we may deploy"));
        assert!(kind_marks("").is_empty());
    }

    #[test]
    fn r15_english_stands_beside_the_words_of_another_language() {
        let has =
            |text: &str, place: usize| kind_marks(text).iter().any(|(known, _)| *known == place);
        let payment = place(Mark::English, &["payment"]);
        assert!(has("wann ist die nächste zahlung für den kunden", payment));
        assert!(!has("when is the next payment due?", payment));
    }

    proptest! {
        #[test]
        fn marks_are_places_and_of_length_one(text in "\\PC{1,60}") {
            let marks = kind_marks(&text);
            prop_assert!(marks.iter().all(|(place, _)| *place < PLACES));
            let length: f32 = marks.iter().map(|(_, value)| value * value).sum();
            prop_assert!(marks.is_empty() || (length - 1.0).abs() < 1e-3);
        }
    }
}
