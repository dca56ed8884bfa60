//! Pasted text is not a query (R13): what counts of it are tokens that mean one
//! thing, such as error codes, symbols and paths.
//!
//! A log of a hundred lines shares words with every memory. What it shares with
//! the one that knows its cause is a token that few texts have. So only such
//! tokens are looked for. Of a failure nobody asks about they are the whole
//! query, and only those count that a memory holds whole: a path that no memory
//! names says nothing for one that has its folder's name. Beside what a person
//! typed, their telling words count.

use crate::table::WordTable;
use crate::text::{self, TokenKind};
use crate::words::{Words, number};

/// Most tokens of a text.
const MOST: usize = 64;
/// Shortest and longest token, in bytes.
const BYTES: std::ops::RangeInclusive<usize> = 3..=120;
/// From how many digits on a token of hexadecimal digits is a hash.
const HASH_DIGITS: usize = 7;
/// From how many letters on a word in capitals is a name.
const CAPITALS: usize = 5;

/// Words in capitals that every log has. Sorted, for binary search.
const LOUD: &[&str] = &[
    "ABORT",
    "BUILD",
    "DEBUG",
    "ERROR",
    "ERRORS",
    "FAILED",
    "FAILURE",
    "FALSE",
    "FATAL",
    "FILES",
    "INFORMATION",
    "PANIC",
    "PASSED",
    "TESTS",
    "TRACE",
    "TRACEBACK",
    "WARNING",
    "WARNINGS",
];

/// The distinctive tokens of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DistinctTokens(Vec<Token>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Token {
    text: String,
    /// The numbers of its words' stems.
    stems: Vec<u64>,
}

impl DistinctTokens {
    /// Those of a text, each once.
    ///
    /// ```
    /// use everfold_memory_recall::DistinctTokens;
    ///
    /// let log = "error[E0463]: can't find `std` in src/billing/tax.rs:12 (took 3s)";
    /// let tokens = DistinctTokens::of(log);
    /// assert_eq!(tokens.texts().collect::<Vec<_>>(), ["E0463", "std", "src/billing/tax.rs", "tax.rs"]);
    /// ```
    #[must_use]
    pub fn of(text: &str) -> Self {
        let mut tokens = Self::default();
        let mut before = ' ';
        let is_gap = |sign: char| sign.is_whitespace() || "\"'`()[]{}<>,;=|".contains(sign);
        let mut rest = text;
        while let Some(at) = rest.find(|sign| !is_gap(sign)) {
            before = rest.get(..at).and_then(|gap| gap.chars().next_back()).unwrap_or(before);
            let from = rest.get(at..).unwrap_or_default();
            let end = from.find(is_gap).unwrap_or(from.len());
            let (word, after) = from.split_at_checked(end).unwrap_or((from, ""));
            let is_quoted = "\"'`".contains(before) && after.starts_with(['"', '\'', '`']);
            tokens.take(word, is_quoted);
            before = ' ';
            rest = after;
        }
        tokens
    }

    fn take(&mut self, word: &str, is_quoted: bool) {
        let word = word.trim_matches(|sign: char| !sign.is_alphanumeric() && sign != '/');
        let word = without_position(word);
        if is_distinctive(word) || is_quoted && is_name(word) || is_rare(word) {
            self.add(word);
            // A memory may name the file without its folder.
            if let Some((_, file)) = word.rsplit_once('/').filter(|(_, file)| file.contains('.')) {
                self.add(file);
            }
        }
    }

    fn add(&mut self, token: &str) {
        let is_there = self.0.iter().any(|known| known.text == token);
        if is_there || self.0.len() >= MOST || !BYTES.contains(&token.len()) {
            return;
        }
        let stemmer = text::stemmer();
        let words = text::words(token).into_iter().filter(|word| !text::is_stop_word(word));
        let stems: Vec<u64> = words.map(|word| number(&text::stem(&stemmer, &word))).collect();
        if !stems.is_empty() {
            self.0.push(Token { text: token.to_owned(), stems });
        }
    }

    /// The tokens as they stand in the text.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|token| token.text.as_str())
    }

    /// All of them, by which two outputs are told apart.
    #[must_use]
    pub fn joined(&self) -> String {
        self.texts().collect::<Vec<_>>().join(" ")
    }

    /// The words of them that tell something by themselves, in lower case.
    pub(crate) fn each_telling(&self, mut call: impl FnMut(text::Token<'_>)) {
        for token in self.texts() {
            text::each_token(token, |word| {
                if is_telling(word.text, word.kind) {
                    call(word);
                }
            });
        }
    }

    /// Those that one of these texts holds whole, as a query.
    #[must_use]
    pub fn known_to<'a>(&self, texts: &(impl Iterator<Item = &'a Words> + Clone)) -> String {
        let holds = |words: &Words, token: &Token| token.stems.iter().all(|stem| words.has(*stem));
        let known = self.0.iter().filter(|token| texts.clone().any(|words| holds(words, token)));
        known.map(|token| token.text.as_str()).collect::<Vec<_>>().join(" ")
    }
}

/// `tax.rs:12:5` without where in it.
fn without_position(word: &str) -> &str {
    let mut word = word;
    while let Some((name, position)) = word.rsplit_once(':') {
        let is_position =
            !position.is_empty() && position.bytes().all(|byte| byte.is_ascii_digit());
        // The port of a host is no position.
        if !is_position
            || !name.contains(['/', '.'])
            || name.ends_with(|c: char| c.is_ascii_digit())
        {
            break;
        }
        word = name;
    }
    word
}

fn is_name(word: &str) -> bool {
    word.starts_with(char::is_alphabetic) && !is_hash(word)
}

fn is_hash(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_hexdigit).count();
    digits >= HASH_DIGITS && word.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

/// Whether a word in lower case tells something by itself, wherever it stands: a
/// name of several parts, a code, a word that few people use.
pub(crate) fn is_telling(word: &str, kind: TokenKind) -> bool {
    let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
    let has_letter = word.bytes().any(|byte| byte.is_ascii_alphabetic());
    word.len() >= *BYTES.start()
        && (kind == TokenKind::Name || has_digit && has_letter || has_letter && is_rare(word))
}

/// Whether a word is none of those that everybody uses.
fn is_rare(word: &str) -> bool {
    let is_word = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    let lower = word.to_ascii_lowercase();
    is_word && !is_hash(word) && WordTable::get().is_some_and(|table| !table.is_common(&lower))
}

fn is_distinctive(word: &str) -> bool {
    let has_letter = word.contains(char::is_alphabetic);
    if !has_letter || is_hash(word) || word.contains("://") {
        return false;
    }
    let between = |sign: char| {
        word.split_once(sign).is_some_and(|(one, other)| {
            one.contains(char::is_alphabetic) && other.contains(char::is_alphabetic)
        })
    };
    is_code(word)
        || between('_')
        || between('/')
        || word.contains("::")
        || between('.')
        || is_camel(word)
        || is_capitals(word)
}

/// Letters and digits, as in `E0463`, `TS2304`, `localhost:5433`; a time or a
/// count with its unit is none.
fn is_code(word: &str) -> bool {
    let is_plain = |sign: char| sign.is_alphanumeric() || "-:".contains(sign);
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    word.chars().all(is_plain) && word.starts_with(char::is_alphabetic) && digits >= 2
}

fn is_camel(word: &str) -> bool {
    let signs: Vec<char> = word.chars().collect();
    signs.iter().all(|sign| sign.is_alphanumeric())
        && signs.windows(2).any(|two| match two {
            [one, other] => one.is_lowercase() && other.is_uppercase(),
            _ => false,
        })
}

fn is_capitals(word: &str) -> bool {
    word.len() >= CAPITALS
        && word.bytes().all(|byte| byte.is_ascii_uppercase())
        && LOUD.binary_search(&word).is_err()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Counter, Document};

    fn found(text: &str) -> Vec<String> {
        DistinctTokens::of(text).texts().map(str::to_owned).collect()
    }

    #[test]
    fn r13_codes_symbols_and_paths_count_and_the_rest_of_a_log_does_not() {
        assert!(LOUD.is_sorted());
        assert_eq!(
            found("Error: connect ECONNREFUSED 127.0.0.1:5433 at TCPConnectWrap.afterConnect"),
            ["ECONNREFUSED", "TCPConnectWrap.afterConnect"]
        );
        assert_eq!(found("Cannot find module 'lodash' from apps/web"), ["lodash", "apps/web"]);
        assert_eq!(
            found("db_main is locked (SQLITE_BUSY), see std::sync"),
            ["db_main", "SQLITE_BUSY", "std::sync"]
        );
        for noise in [
            "12:01:07 INFO finished 14 tests in 3.2s, 0 failed, 100% of 200",
            "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
            "0192f0c1-1111-7aaa-8bbb-0123456789ab 2026-11-16T05:00:00Z",
            "the build failed with an ERROR and a WARNING, see https://example.com/a_b",
        ] {
            assert_eq!(found(noise), Vec::<String>::new(), "{noise}");
        }
    }

    #[test]
    fn r13_a_token_is_looked_for_where_a_memory_holds_it_whole() {
        let body = "The test database listens on 5433; SQLITE_BUSY means that make db runs twice.";
        let words = Counter::default().count(&Document { body, ..Document::default() });
        let tokens = DistinctTokens::of("SQLITE_BUSY in src/sqlite/busy_loop.rs");
        assert_eq!(tokens.known_to(&std::iter::once(&words)), "SQLITE_BUSY");
        assert_eq!(DistinctTokens::of("SQLITE_ERROR").known_to(&std::iter::once(&words)), "");
    }
}
