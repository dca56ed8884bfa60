//! Keys, tokens and passwords that must not be written to a memory (L5.18,
//! S15).
//!
//! The text is read on a `View` without the signs nobody sees, so that
//! a key split by a zero-width space is still a key. One pass looks for the
//! words that rules need, then only the rules whose words were there are run.
//! A report says what kind of secret and where, never the secret itself.
//!
//! Everything is linear in the text: memories are small, but transcripts and
//! imports go through here too.

mod blocks;
mod clause;
mod codes;
mod columns;
mod encoded;
mod issued;
mod keywords;
mod known;
mod logins;
mod names;
mod near;
mod nouns;
mod pieces;
mod plain;
mod proof;
mod shape;
mod spaced;
mod stand_in;
mod table;
mod value;
mod view;

pub use known::KnownSecrets;

use crate::pattern::compiled;
use proof::Proof;
use regex::Regex;
use std::fmt;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};
use table::{Form, Rule};
use view::View;

/// A secret that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What kind: `a GitHub token`.
    pub kind: &'static str,
    /// The line, from 1.
    pub line: usize,
    /// The column, in characters, from 1.
    pub column: usize,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on line {}, column {}", self.kind, self.line, self.column)
    }
}

/// Every secret in a text, from the top.
#[must_use]
pub fn find(text: &str) -> Vec<Finding> {
    let (mut line, mut line_start, mut counted, mut column) = (1, 0, 0, 1);
    spans(text)
        .into_iter()
        .map(|span| {
            let between = text.get(counted..span.at.start).unwrap_or_default();
            line += between.matches('\n').count();
            if let Some(newline) = between.rfind('\n') {
                line_start = counted + newline + 1;
                column = 1;
            }
            let from = counted.max(line_start);
            column += text.get(from..span.at.start).unwrap_or_default().chars().count();
            counted = span.at.start;
            Finding { kind: span.kind, line, column }
        })
        .collect()
}

/// What a text repeats of the secrets in another one: a key alone may not look
/// like one, but where it was first said, it was called so.
pub(crate) fn repeated(text: &str, said: &str) -> Option<&'static str> {
    spans(said).into_iter().find_map(|span| {
        let secret = said.get(span.at).unwrap_or_default().trim();
        (secret.len() >= LEAST_REPEATED && text.contains(secret)).then_some(span.kind)
    })
}

/// The text with every secret replaced by its kind; the rest byte for byte.
#[must_use]
pub fn mask(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut written = 0;
    for span in spans(text) {
        masked.push_str(text.get(written..span.at.start).unwrap_or_default());
        masked.push_str(&mark(span.kind));
        written = span.at.end;
    }
    masked.push_str(text.get(written..).unwrap_or_default());
    masked
}

/// What stands in the place of a secret.
fn mark(kind: &str) -> String {
    format!("[secret: {kind}]")
}

/// Bytes from which on a secret that stands elsewhere is told from a word.
const LEAST_REPEATED: usize = 6;

/// Where a secret stands.
struct Span {
    at: Range<usize>,
    kind: &'static str,
    /// The number of its rule: the lower one names it where two overlap.
    rank: usize,
}

static RULES: LazyLock<Vec<&'static Rule>> =
    LazyLock::new(|| table::ALL.iter().copied().flatten().collect());
static PATTERNS: LazyLock<Vec<OnceLock<Option<Regex>>>> =
    LazyLock::new(|| RULES.iter().map(|_| OnceLock::new()).collect());
static KEYWORDS: LazyLock<keywords::Automaton> =
    LazyLock::new(|| keywords::Automaton::new(RULES.iter().map(|rule| rule.words)));

fn spans(text: &str) -> Vec<Span> {
    let view = View::of(text);
    let seen = view.text();
    let mut found = Vec::new();
    for rank in KEYWORDS.rules_in(seen) {
        let Some(rule) = RULES.get(rank) else { continue };
        let mut keep = |at: Range<usize>| {
            if !at.is_empty() {
                found.push(Span { at: view.original(&at), kind: rule.kind, rank });
            }
        };
        match rule.form {
            Form::Pattern(proof, _) => {
                if let Some(pattern) = pattern(rank) {
                    matches(seen, pattern, proof, &mut keep);
                }
            }
            Form::Block(scan) => scan(seen).into_iter().for_each(keep),
        }
    }
    // No word tells that one is there.
    found.extend(encoded::keys(seen).into_iter().map(|at| Span {
        at: view.original(&at),
        kind: "a key in base64",
        rank: RULES.len(),
    }));
    without_overlaps(found)
}

/// The pattern of a rule; compiled at first use.
fn pattern(rank: usize) -> Option<&'static Regex> {
    let made = PATTERNS.get(rank)?;
    let Form::Pattern(proof, source) = RULES.get(rank)?.form else { return None };
    let compile = || {
        if proof.takes_what_follows() {
            return compiled(source);
        }
        // Keys are ASCII, and Chinese writes them without a space before.
        let source = source.replace(r"\b", r"(?-u:\b)");
        // `%3D` and the like end in a letter, and part words all the same.
        match source.strip_prefix(r"(?-u:\b)") {
            Some(rest) => compiled(&format!(r"(?:(?-u:\b)|%[0-9A-F]{{2}}){rest}")),
            None => compiled(&source),
        }
    };
    made.get_or_init(compile).as_ref()
}

fn matches(seen: &str, pattern: &Regex, proof: Proof, keep: &mut dyn FnMut(Range<usize>)) {
    if proof.takes_what_follows() {
        let mut at = 0;
        while let Some(lead) = pattern.find_at(seen, at) {
            at = lead.end().max(at + 1);
            let value = value::after(seen, lead.end());
            let value =
                if proof.is_of_tokens() { value.map(value::Value::cut_to_token) } else { value };
            if let Some(value) = value
                && !is_said_before(seen, &value)
                && proof.holds_for(seen, lead.range(), &value)
            {
                keep(value.at);
            }
            if !seen.is_char_boundary(at) {
                break;
            }
        }
        return;
    }
    for captures in pattern.captures_iter(seen) {
        let Some(hit) = captures.get(1).or_else(|| captures.get(0)) else { continue };
        if proof.holds_for_form(hit.as_str()) && !is_named_alike(seen, hit.range()) {
            keep(hit.range());
        }
    }
}

/// `root:root@localhost`: what is the same as the name opens nothing that the
/// name does not.
fn is_named_alike(text: &str, at: Range<usize>) -> bool {
    let before = text.get(..at.start).and_then(|head| head.strip_suffix(':')).unwrap_or_default();
    let word = text.get(at.clone()).unwrap_or_default();
    let is_edge = |c: char| !c.is_ascii_alphanumeric();
    text.get(at.end..).is_some_and(|rest| rest.starts_with('@'))
        && before.strip_suffix(word).is_some_and(|head| head.ends_with(is_edge))
}

/// `curl -u admin:admin`: the same.
fn is_said_before(text: &str, value: &value::Value<'_>) -> bool {
    let before = text.get(..value.at.start).and_then(|head| head.strip_suffix(':'));
    before.and_then(|head| head.strip_suffix(value.text)).is_some_and(|head| {
        value.text.bytes().all(|b| b.is_ascii_alphabetic())
            && head.ends_with(|c: char| !c.is_ascii_alphanumeric())
    })
}

/// One span where several rules saw the same secret: as wide as all of them,
/// so that no end of it is left behind.
fn without_overlaps(mut found: Vec<Span>) -> Vec<Span> {
    found.sort_unstable_by_key(|span| (span.at.start, span.rank));
    let mut merged: Vec<Span> = Vec::with_capacity(found.len());
    for span in found {
        match merged.last_mut() {
            Some(last) if span.at.start < last.at.end => {
                last.at.end = last.at.end.max(span.at.end);
                if span.rank < last.rank {
                    (last.kind, last.rank) = (span.kind, span.rank);
                }
            }
            _ => merged.push(span),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l5_18_every_rule_compiles_and_has_words() {
        for (rank, rule) in RULES.iter().enumerate() {
            if matches!(rule.form, Form::Pattern(..)) {
                assert!(pattern(rank).is_some(), "{}: {:?}", rule.kind, rule.words);
            }
            assert!(!rule.words.is_empty(), "{}", rule.kind);
            assert!(
                rule.words.iter().all(|word| *word == word.to_ascii_lowercase()),
                "{}",
                rule.kind
            );
        }
    }

    #[test]
    fn l5_18_a_report_names_place_and_kind_but_not_the_secret() {
        let key = ["AKIA", "Z7QW3ERTY5UIOP2L"].concat();
        let found = find(&format!("line one\nthe key is {key} here"));
        assert_eq!(found.len(), 1);
        let text = found.first().unwrap().to_string();
        assert_eq!(text, "an AWS access key on line 2, column 12");
        assert!(!format!("{found:?}").contains(&key));
    }
}
