//! From text to words to stems.
//!
//! Words are runs of letters and digits in any script, lower-cased; signs of
//! scripts written without spaces (Chinese, Japanese kana) are a word each.
//! Stems are English. Other languages lose nothing by it: query and document
//! go through the same function, and what has no English ending stays as it is.
//!
//! The scan over documents asks for stems of few words (see [`crate::scan`]),
//! so words are cut as bytes, and only what may match becomes a string.

use rust_stemmers::{Algorithm, Stemmer};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Words that carry no meaning of their own; they are never looked for.
/// Sorted, for binary search.
const STOP_WORDS: &[&str] = &[
    "a", "about", "after", "again", "all", "also", "am", "an", "and", "any", "are", "as", "at",
    "be", "because", "been", "before", "being", "between", "both", "but", "by", "can", "could",
    "d", "did", "didn", "do", "does", "doesn", "doing", "don", "during", "each", "few", "for",
    "from", "had", "has", "have", "having", "he", "her", "here", "hers", "him", "his", "how", "i",
    "if", "in", "into", "is", "isn", "it", "its", "just", "ll", "m", "me", "more", "most", "my",
    "no", "nor", "not", "now", "of", "off", "on", "once", "only", "or", "other", "our", "out",
    "over", "own", "please", "re", "s", "same", "she", "should", "so", "some", "such", "t", "than",
    "that", "the", "their", "theirs", "them", "then", "there", "these", "they", "this", "those",
    "through", "to", "too", "under", "until", "up", "ve", "very", "was", "wasn", "we", "were",
    "what", "when", "where", "which", "while", "who", "whom", "why", "will", "with", "would",
    "you", "your", "yours",
];

/// Words that people put into any request. They are looked for, at a smaller
/// weight. Sorted, for binary search.
const FILLER_WORDS: &[&str] = &[
    "add", "ask", "change", "check", "code", "come", "explain", "file", "find", "fix", "get",
    "give", "go", "good", "help", "know", "let", "like", "look", "make", "many", "much", "need",
    "new", "problem", "project", "really", "say", "see", "show", "tell", "thanks", "thing",
    "think", "try", "use", "want", "way", "work", "write",
];

/// Words by which a text says when something was.
pub(crate) const TIME_WORDS: &[&str] = &[
    "yesterday",
    "today",
    "tonight",
    "tomorrow",
    "last",
    "next",
    "ago",
    "since",
    "recently",
    "day",
    "week",
    "weekend",
    "month",
    "year",
    "morning",
    "spring",
    "summer",
    "autumn",
    "fall",
    "winter",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "january",
    "february",
    "march",
    "april",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Whether a word is never looked for.
pub(crate) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// Whether a word is common to requests about anything.
pub(crate) fn is_filler_word(word: &str) -> bool {
    FILLER_WORDS.binary_search(&word).is_ok()
}

/// A stemmer of English.
pub(crate) fn stemmer() -> Stemmer {
    Stemmer::create(Algorithm::English)
}

/// The stem of a lower-case word.
pub(crate) fn stem<'a>(stemmer: &Stemmer, word: &'a str) -> Cow<'a, str> {
    stemmer.stem(word)
}

/// All words of a text, lower-cased.
pub(crate) fn words(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    each_word(text, |word| out.push(String::from_utf8_lossy(word).to_ascii_lowercase()));
    out
}

/// The stems of the words in a text that carry a meaning, each once.
///
/// ```
/// let stems = everfold_memory_recall::stems("We deploy the shop on Fridays");
/// assert_eq!(stems.into_iter().collect::<Vec<_>>(), ["deploy", "friday", "shop"]);
/// ```
#[must_use]
pub fn stems(text: &str) -> BTreeSet<String> {
    let stemmer = stemmer();
    let words = words(text).into_iter().filter(|word| !is_stop_word(word));
    words.map(|word| stem(&stemmer, &word).into_owned()).collect()
}

/// Calls with each word of a text. Plain ASCII words come as they stand, in
/// whatever case; all others in lower case.
pub(crate) fn each_word(text: &str, mut call: impl FnMut(&[u8])) {
    for chunk in text.as_bytes().split(|byte| !is_word_byte(*byte)) {
        if !chunk.is_empty() {
            each_word_of_chunk(chunk, &mut call);
        }
    }
}

/// Whether a byte can be part of a word. What lies beyond ASCII is looked at
/// more closely by [`each_word_of_chunk`].
pub(crate) fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || !byte.is_ascii()
}

/// Calls with each word in a run of word bytes.
pub(crate) fn each_word_of_chunk(chunk: &[u8], call: &mut impl FnMut(&[u8])) {
    if chunk.is_ascii() {
        call(chunk);
    } else {
        each_wide_word(&String::from_utf8_lossy(chunk), call);
    }
}

fn each_wide_word(chunk: &str, call: &mut impl FnMut(&[u8])) {
    let mut word = String::new();
    let flush = |word: &mut String, call: &mut dyn FnMut(&[u8])| {
        if !word.is_empty() {
            call(word.as_bytes());
            word.clear();
        }
    };
    for sign in chunk.chars() {
        if is_spaceless(sign) {
            flush(&mut word, call);
            call(sign.encode_utf8(&mut [0; 4]).as_bytes());
        } else if sign.is_alphanumeric() {
            word.extend(sign.to_lowercase());
        } else if !is_combining(sign) {
            flush(&mut word, call);
        }
    }
    flush(&mut word, call);
}

/// Signs of scripts that put no spaces between words.
fn is_spaceless(sign: char) -> bool {
    matches!(sign, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Accents written as signs of their own do not end a word.
fn is_combining(sign: char) -> bool {
    matches!(sign, '\u{0300}'..='\u{036f}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_word_lists_are_sorted() {
        assert!(STOP_WORDS.is_sorted());
        assert!(FILLER_WORDS.is_sorted());
    }

    #[test]
    fn words_are_cut_in_any_script() {
        assert_eq!(
            words("It’s a naïve_test-case, É2"),
            ["it", "s", "a", "naïve", "test", "case", "é2"]
        );
        assert_eq!(words("データbase 東京"), ["デ", "ー", "タ", "base", "東", "京"]);
        assert_eq!(words("Привет, МИР!"), ["привет", "мир"]);
        assert!(words(" …—!? ").is_empty());
    }

    proptest! {
        /// The scan relies on it to skip words without stemming them.
        #[test]
        fn a_stem_is_a_prefix_of_its_word_but_for_the_last_letter(word in "[a-z]{1,14}(s|ed|ing|y|ly|ies|ation|ization|ational|fulness|able)?") {
            prop_assume!(!["dying", "lying", "tying"].contains(&word.as_str()));
            let stem = stem(&stemmer(), &word).into_owned();
            let head = stem.get(..stem.len().saturating_sub(1)).unwrap();
            prop_assert!(word.starts_with(head), "{} -> {}", word, stem);
            prop_assert!(!stem.is_empty());
        }

        #[test]
        fn cutting_words_never_fails(text in "\\PC{0,60}") {
            for word in words(&text) {
                prop_assert!(!word.is_empty());
            }
        }
    }
}
