//! From text to words to stems.
//!
//! Words are runs of letters and digits in any script, lower-cased. Scripts
//! that put no spaces between words, and Korean with its particles, are cut into
//! pairs of signs (R15). A name of several parts, as programs have them
//! (`ledger_entries`, `LedgerEntry`, `uv.lock`), is each of its parts, and all of
//! them as one: so it is found by either, however it is joined.

use rust_stemmers::{Algorithm, Stemmer};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Longest name that is looked for as a whole, in bytes.
const NAME_BYTES: usize = 60;

/// Words that carry no meaning of their own; they are never looked for.
/// Sorted, for binary search.
pub(crate) const STOP_WORDS: &[&str] = &[
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

/// A word of a text, in lower case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub(crate) text: &'a str,
    pub(crate) kind: TokenKind,
}

/// What a word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TokenKind {
    /// A word, to be stemmed.
    Word,
    /// Two signs of a script without spaces, or one that stands alone.
    Signs,
    /// A name of several parts, which come before it.
    Name,
}

/// All words of a text, without names that are made of them.
pub(crate) fn words(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    each_token(text, |token| {
        if token.kind != TokenKind::Name {
            out.push(token.text.to_owned());
        }
    });
    out
}

/// The stems of the words in a text that carry a meaning, each once. For texts
/// that are compared with each other: names stay whole, and a sign of a script
/// without spaces is a word.
///
/// ```
/// let stems = everfold_memory_recall::stems("We deploy the shop on Fridays");
/// assert_eq!(stems.into_iter().collect::<Vec<_>>(), ["deploy", "friday", "shop"]);
/// ```
#[must_use]
pub fn stems(text: &str) -> BTreeSet<String> {
    let stemmer = stemmer();
    let mut stems = BTreeSet::new();
    let mut word = String::new();
    for sign in text.chars().chain([' ']) {
        let stands_alone = is_paired(sign) && !is_korean(sign);
        if sign.is_alphanumeric() && !stands_alone {
            word.extend(sign.to_lowercase());
            continue;
        }
        if !is_combining(sign) && !word.is_empty() {
            if !is_stop_word(&word) {
                stems.insert(stem(&stemmer, &word).into_owned());
            }
            word.clear();
        }
        if stands_alone {
            stems.insert(sign.to_string());
        }
    }
    stems
}

/// How many words a text has, for who only wants to know whether there are any.
pub(crate) fn count_words(text: &str) -> usize {
    let mut count = 0;
    each_token(text, |token| count += usize::from(token.kind != TokenKind::Name));
    count
}

/// Calls with each word of a text, from front to back.
pub(crate) fn each_token(text: &str, mut call: impl FnMut(Token<'_>)) {
    let mut cutter = Cutter::default();
    let mut signs = text.chars().peekable();
    while let Some(sign) = signs.next() {
        if sign.is_alphanumeric() {
            cutter.part.push(sign);
        } else if is_joint(sign) && signs.peek().is_some_and(|next| next.is_alphanumeric()) {
            cutter.end_part(sign, &mut call);
        } else if !is_combining(sign) {
            cutter.end_name(&mut call);
        }
    }
    cutter.end_name(&mut call);
}

/// What stands within a name or a word.
fn is_joint(sign: char) -> bool {
    matches!(sign, '_' | '-' | '.' | '\'' | '’')
}

/// Cuts one run of letters, digits and joints.
#[derive(Default)]
struct Cutter {
    /// The part that is being read, as it stands in the text.
    part: String,
    /// The parts before it, in lower case, as one.
    name: String,
    parts: usize,
    /// "It's" is no name.
    is_contracted: bool,
    lower: String,
}

impl Cutter {
    fn end_part(&mut self, joint: char, call: &mut impl FnMut(Token<'_>)) {
        if self.part.is_empty() {
            return self.end_name(call);
        }
        self.is_contracted |= matches!(joint, '\'' | '’');
        self.take_part(call);
    }

    fn end_name(&mut self, call: &mut impl FnMut(Token<'_>)) {
        self.take_part(call);
        if self.parts > 1 && !self.is_contracted && self.name.len() <= NAME_BYTES {
            call(Token { text: &self.name, kind: TokenKind::Name });
        }
        self.name.clear();
        self.parts = 0;
        self.is_contracted = false;
    }

    fn take_part(&mut self, call: &mut impl FnMut(Token<'_>)) {
        if self.part.is_empty() {
            return;
        }
        self.lower.clear();
        if self.part.is_ascii() {
            self.lower.push_str(&self.part);
            self.lower.make_ascii_lowercase();
            plain_word(&self.part, &self.lower, call);
        } else {
            self.lower.extend(self.part.chars().flat_map(char::to_lowercase));
            wide_word(&self.lower, call);
        }
        self.parts += 1;
        if self.name.len() <= NAME_BYTES {
            self.name.push_str(&self.lower);
        }
        self.part.clear();
    }
}

/// A word of ASCII: what camel case joins, and the whole.
fn plain_word(word: &str, lower: &str, call: &mut impl FnMut(Token<'_>)) {
    let mut humps = 0;
    let mut start = 0;
    let bytes = word.as_bytes();
    let is_loud = !bytes.iter().any(u8::is_ascii_lowercase);
    for at in 1..=bytes.len() {
        let is_end = at == bytes.len();
        if is_end && start == 0 || is_loud || !(is_end || is_hump(bytes, at)) {
            continue;
        }
        if let Some(part) = lower.get(start..at).filter(|part| part.len() > 1) {
            call(Token { text: part, kind: TokenKind::Word });
            humps += 1;
        }
        start = at;
    }
    let kind = if humps > 0 { TokenKind::Name } else { TokenKind::Word };
    call(Token { text: lower, kind });
}

/// Whether a part begins there: `tax|Rate`, `HTTP|Server`, `v|5`.
fn is_hump(bytes: &[u8], at: usize) -> bool {
    let sign = |at: usize| bytes.get(at).copied().unwrap_or_default();
    let (before, here, after) = (sign(at - 1), sign(at), sign(at + 1));
    here.is_ascii_uppercase() && (!before.is_ascii_uppercase() || after.is_ascii_lowercase())
        || here.is_ascii_digit() != before.is_ascii_digit()
}

/// A word with signs beyond ASCII, in lower case.
fn wide_word(word: &str, call: &mut impl FnMut(Token<'_>)) {
    let mut rest = word;
    while let Some(first) = rest.chars().next() {
        let paired = is_paired(first);
        let end = rest.find(|sign| is_paired(sign) != paired).unwrap_or(rest.len());
        let (run, behind) = rest.split_at(end);
        if paired {
            pairs(run, call);
        } else {
            call(Token { text: run, kind: TokenKind::Word });
        }
        rest = behind;
    }
}

fn pairs(run: &str, call: &mut impl FnMut(Token<'_>)) {
    let places: Vec<usize> = run.char_indices().map(|(at, _)| at).chain([run.len()]).collect();
    let width = places.len().min(3);
    for window in places.windows(width) {
        let ends = window.first().zip(window.last());
        if let Some(text) = ends.and_then(|(start, end)| run.get(*start..*end)) {
            call(Token { text, kind: TokenKind::Signs });
        }
    }
}

/// Signs of scripts that put no spaces between words, and of Korean.
fn is_paired(sign: char) -> bool {
    matches!(sign, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// The language of a text by its script, where that is one of pairs; a third of
/// it is enough, as names in it are often Latin.
pub(crate) fn paired_script(text: &str) -> Option<&'static str> {
    let letters = text.chars().filter(|sign| sign.is_alphabetic()).count();
    let paired = text.chars().filter(|sign| is_paired(*sign)).count();
    let is_kana = |sign: char| matches!(sign, '\u{3040}'..='\u{30ff}');
    match () {
        () if paired * 3 < letters || paired == 0 => None,
        () if text.chars().any(is_korean) => Some("ko"),
        () if text.chars().any(is_kana) => Some("ja"),
        () => Some("zh"),
    }
}

fn is_korean(sign: char) -> bool {
    matches!(sign, '\u{ac00}'..='\u{d7af}')
}

/// Accents written as signs of their own do not end a word.
fn is_combining(sign: char) -> bool {
    matches!(sign, '\u{0300}'..='\u{036f}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tokens(text: &str) -> Vec<String> {
        let mut out = Vec::new();
        each_token(text, |token| out.push(token.text.to_owned()));
        out
    }

    #[test]
    fn the_word_lists_are_sorted() {
        assert!(STOP_WORDS.is_sorted());
        assert!(FILLER_WORDS.is_sorted());
    }

    #[test]
    fn r15_words_are_cut_in_any_script() {
        assert_eq!(words("It’s a naïve, É2"), ["it", "s", "a", "naïve", "é2"]);
        assert_eq!(words("データbase 東京へ 駅"), ["デー", "ータ", "base", "東京", "京へ", "駅"]);
        assert_eq!(words("배포는"), ["배포", "포는"]);
        assert_eq!(words("Привет, МИР!"), ["привет", "мир"]);
        assert!(words(" …—!? ").is_empty());
    }

    #[test]
    fn r13_a_name_is_its_parts_and_all_of_them() {
        assert_eq!(tokens("ledger_entries."), ["ledger", "entries", "ledgerentries"]);
        assert_eq!(tokens("LedgerEntry"), ["ledger", "entry", "ledgerentry"]);
        assert_eq!(tokens("HTTPServer v5 E0463"), ["http", "server", "httpserver", "v5", "e0463"]);
        assert_eq!(tokens("see uv.lock"), ["see", "uv", "lock", "uvlock"]);
        assert_eq!(tokens("we don't"), ["we", "don", "t"]);
        assert_eq!(tokens("on-call - a"), ["on", "call", "oncall", "a"]);
    }

    proptest! {
        #[test]
        fn cutting_words_never_fails(text in "\\PC{0,60}") {
            for word in tokens(&text) {
                prop_assert!(!word.is_empty());
            }
        }
    }
}
