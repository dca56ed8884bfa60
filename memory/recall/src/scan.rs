//! One pass over the documents, counting only what the query asks for.
//!
//! A recall asks once, of files that were read just now. An index of all words
//! would cost more than it saves: stemming every word of 10,000 files takes
//! several times as long as reading them. A stem is its word's beginning but
//! for the last letter, so a word is stemmed only if it begins like one that
//! is looked for, and its end is looked for only then. Lengths are counted in
//! bytes for the same reason.

use crate::query::Term;
use crate::rank::Document;
use crate::text;
use crate::tuning::Tuning;
use rust_stemmers::Stemmer;
use std::borrow::Cow;

/// What one document holds of a query.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Its length in bytes.
    pub(crate) length: usize,
    /// The words of the query that it has.
    pub(crate) matches: Vec<Match>,
    /// Whether it says when.
    pub(crate) says_when: bool,
}

/// One word of the query in a document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Match {
    /// Which term of the query.
    pub(crate) term: usize,
    /// How often, weighted by field.
    pub(crate) count: f64,
    /// Whether it is in the name or the description.
    pub(crate) in_head: bool,
}

/// The words to look for.
pub(crate) struct Scanner<'a> {
    stemmer: &'a Stemmer,
    /// By their first byte.
    buckets: Vec<Vec<Wanted<'a>>>,
    /// What each byte can be.
    roles: [Role; 256],
    /// A bit for each pair of first bytes that a wanted word can have.
    pairs: [u64; 1024],
}

/// What a byte can be in a text.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    /// Not part of a word.
    Gap,
    /// Part of a word.
    Inner,
    /// Part of a word, and the first byte of one that is wanted.
    First,
    /// Part of something beyond ASCII.
    Wide,
}

/// The first two bytes of a word as one number, whatever their case.
fn pair(first: u8, second: u8) -> usize {
    usize::from(first | 0x20) << 8 | usize::from(second | 0x20)
}

struct Wanted<'a> {
    stem: Cow<'a, str>,
    purpose: Purpose,
}

#[derive(Clone, Copy)]
enum Purpose {
    Term(usize),
    Time,
}

impl<'a> Scanner<'a> {
    /// Looks for the terms; and for words that say when, if that is asked.
    pub(crate) fn new(terms: &'a [Term], asks_when: bool, stemmer: &'a Stemmer) -> Self {
        let buckets = std::iter::repeat_with(Vec::new).take(256).collect();
        let mut roles = [Role::Gap; 256];
        for (byte, role) in (0..=u8::MAX).zip(&mut roles) {
            if !byte.is_ascii() {
                *role = Role::Wide;
            } else if byte.is_ascii_alphanumeric() {
                *role = Role::Inner;
            }
        }
        let mut scanner = Self { stemmer, buckets, roles, pairs: [0; 1024] };
        for (at, term) in terms.iter().enumerate() {
            scanner.want(term.stem.as_str().into(), Purpose::Term(at));
        }
        if asks_when {
            for word in text::TIME_WORDS {
                scanner.want(text::stem(stemmer, word), Purpose::Time);
            }
        }
        scanner
    }

    fn want(&mut self, stem: Cow<'a, str>, purpose: Purpose) {
        let first = stem.as_bytes().first().copied().unwrap_or_default();
        match stem.as_bytes() {
            [_, second, _, ..] => {
                self.allow(pair(first, *second));
                // "dying" has the stem "die".
                self.allow(pair(first, b'y'));
            }
            _ => (0..=u8::MAX).for_each(|second| self.allow(pair(first, second))),
        }
        for byte in [first, first.to_ascii_uppercase()] {
            if let Some(role) = self.roles.get_mut(usize::from(byte))
                && byte.is_ascii()
            {
                *role = Role::First;
            }
        }
        if let Some(bucket) = self.buckets.get_mut(usize::from(first)) {
            bucket.push(Wanted { stem, purpose });
        }
    }

    fn allow(&mut self, pair: usize) {
        if let Some(bits) = self.pairs.get_mut(pair / 64) {
            *bits |= 1 << (pair % 64);
        }
    }

    fn allows(&self, first: u8, second: u8) -> bool {
        let pair = pair(first, second);
        self.pairs.get(pair / 64).is_some_and(|bits| bits >> (pair % 64) & 1 == 1)
    }

    /// Counts in one document.
    pub(crate) fn scan(&self, document: &Document<'_>, tuning: &Tuning) -> Found {
        let mut found = Found::default();
        let fields = [
            (document.name, tuning.name, true),
            (document.description, tuning.description, true),
            (document.body, 1.0, false),
        ];
        for (text, weight, in_head) in fields {
            found.length += text.len();
            self.each_candidate(text.as_bytes(), |word| {
                self.look(word, |purpose| match purpose {
                    Purpose::Term(term) => found.count(Match { term, count: weight, in_head }),
                    Purpose::Time => found.says_when = true,
                });
            });
        }
        found.matches.sort_unstable_by_key(|hit| hit.term);
        found
    }

    /// Calls with every word that can be wanted, and with some others.
    fn each_candidate(&self, bytes: &[u8], mut call: impl FnMut(&[u8])) {
        let mut before = Role::Gap;
        let mut done = 0;
        for (at, byte) in bytes.iter().enumerate() {
            let role = self.roles.get(usize::from(*byte)).copied().unwrap_or(Role::Gap);
            // One branch for each byte, seldom taken: this loop is most of a recall.
            let starts = role == Role::First && before == Role::Gap;
            let widens = role == Role::Wide && before != Role::Wide;
            before = role;
            if !(starts || widens) {
                continue;
            }
            if widens && at >= done {
                let gap = bytes.iter().take(at).rposition(|byte| !text::is_word_byte(*byte));
                let start = gap.map_or(0, |gap| gap + 1);
                let chunk = run(bytes, start);
                done = start + chunk.len();
                text::each_word_of_chunk(chunk, &mut call);
            } else if starts && self.allows(*byte, bytes.get(at + 1).copied().unwrap_or(0)) {
                let word = run(bytes, at);
                // What goes on beyond ASCII is met again at its first such byte.
                if word.is_ascii() {
                    call(word);
                }
            }
        }
    }

    fn look(&self, word: &[u8], mut call: impl FnMut(Purpose)) {
        let first = word.first().map(u8::to_ascii_lowercase).unwrap_or_default();
        let Some(bucket) = self.buckets.get(usize::from(first)) else { return };
        if !bucket.iter().any(|wanted| wanted.may_be(word)) {
            return;
        }
        let lower = String::from_utf8_lossy(word).to_ascii_lowercase();
        let stem = text::stem(self.stemmer, &lower);
        for wanted in bucket.iter().filter(|wanted| wanted.stem == stem) {
            call(wanted.purpose);
        }
    }
}

/// The word bytes from a position on.
fn run(bytes: &[u8], start: usize) -> &[u8] {
    let rest = bytes.get(start..).unwrap_or_default();
    let end = rest.iter().position(|byte| !text::is_word_byte(*byte)).unwrap_or(rest.len());
    rest.get(..end).unwrap_or_default()
}

impl Wanted<'_> {
    /// Whether the word can have this stem, without stemming it.
    fn may_be(&self, word: &[u8]) -> bool {
        let stem = self.stem.as_bytes();
        let same = stem.len().saturating_sub(1);
        let starts = stem
            .get(..same)
            .zip(word.get(..same))
            .is_some_and(|(stem, word)| stem.eq_ignore_ascii_case(word));
        // Of all English words, these three change a letter before the last.
        starts || (stem.len() == 3 && stem.ends_with(b"ie") && word.len() == 5)
    }
}

impl Found {
    fn count(&mut self, hit: Match) {
        match self.matches.iter_mut().find(|known| known.term == hit.term) {
            Some(known) => {
                known.count += hit.count;
                known.in_head |= hit.in_head;
            }
            None => self.matches.push(hit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::Query;
    use proptest::prelude::*;

    /// What a scan without any shortcut finds.
    fn slowly(terms: &[Term], text: &str) -> Vec<(usize, usize)> {
        let words = text::words(text);
        let stems: Vec<_> =
            words.iter().map(|word| text::stem(&text::stemmer(), word).into_owned()).collect();
        let count = |term: &Term| stems.iter().filter(|stem| **stem == term.stem).count();
        terms.iter().map(count).enumerate().filter(|(_, count)| *count > 0).collect()
    }

    fn quickly(terms: &[Term], text: &str) -> Vec<(usize, f64)> {
        let stemmer = text::stemmer();
        let document = Document { body: text, ..Document::default() };
        let found = Scanner::new(terms, false, &stemmer).scan(&document, &Tuning::default());
        let mut all: Vec<_> = found.matches.iter().map(|hit| (hit.term, hit.count)).collect();
        all.sort_by_key(|hit| hit.0);
        all
    }

    proptest! {
        #[test]
        fn the_shortcuts_miss_nothing(
            query in "([a-eé—i’]{1,4}(s|ing|ed|ies|y)? ?){1,5}",
            text in "([a-eA-Eé—i’東]{1,4}(s|ing|ed|ies|y)?[ ,—]?){0,12}",
        ) {
            let query = Query::parse(&format!("{query} die lie"), 64, 1.0, &text::stemmer());
            let text = format!("{text} dying Lie");
            let expected: Vec<(usize, f64)> = slowly(&query.terms, &text)
                .into_iter()
                .map(|(term, count)| (term, f64::from(u32::try_from(count).unwrap())))
                .collect();
            prop_assert_eq!(quickly(&query.terms, &text), expected);
        }
    }
}
