//! Keys, tokens and passwords that must not be written to a memory (L5.18).
//!
//! First a cheap look for words that every rule needs, then the rules whose
//! words were there. A report says what kind of secret and where, never the
//! secret itself. Rules that match a form which is also used for harmless
//! things ask for randomness, and leave placeholders alone.

mod table;

use std::fmt;
use table::{RULES, Rule};

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
    let lower = text.to_ascii_lowercase();
    let mut found: Vec<(usize, usize, &'static str)> = Vec::new();
    for rule in RULES {
        if !rule.words.iter().any(|word| lower.contains(word)) {
            continue;
        }
        let Some(pattern) = rule.pattern() else { continue };
        for captures in pattern.captures_iter(text) {
            let Some(hit) = captures.get(1).or_else(|| captures.get(0)) else { continue };
            let overlaps =
                found.iter().any(|(start, end, _)| hit.start() < *end && *start < hit.end());
            if !overlaps && is_real(rule, hit.as_str()) {
                found.push((hit.start(), hit.end(), rule.kind));
            }
        }
    }
    found.sort_unstable();
    found.into_iter().map(|(at, _, kind)| finding(text, at, kind)).collect()
}

fn finding(text: &str, at: usize, kind: &'static str) -> Finding {
    let before = text.get(..at).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let in_line = before.get(line_start..).unwrap_or_default();
    Finding { kind, line: before.matches('\n').count() + 1, column: in_line.chars().count() + 1 }
}

fn is_real(rule: &Rule, hit: &str) -> bool {
    let Some(least) = rule.least_entropy else {
        return !is_repetition(hit);
    };
    !is_placeholder(hit) && entropy(hit) >= least
}

/// `xxxxxxxx`, `00000000`: a form shown, not a key.
fn is_repetition(hit: &str) -> bool {
    let mut kinds: Vec<char> = hit.chars().rev().take(12).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds.len() <= 2
}

/// Words of examples.
const PLACEHOLDERS: &[&str] = &[
    "example",
    "placeholder",
    "changeme",
    "change_me",
    "change-me",
    "your",
    "xxxx",
    "dummy",
    "redacted",
    "secret-here",
    "insert",
    "todo",
    "${",
    "{{",
    "<",
    "...",
    "…",
    "****",
    "env.",
    "process.",
    "getenv",
    "environ",
    "vault",
    "secretref",
];

fn is_placeholder(hit: &str) -> bool {
    let lower = hit.to_ascii_lowercase();
    is_repetition(hit)
        || PLACEHOLDERS.iter().any(|word| lower.contains(word))
        || hit.starts_with(['$', '%', '{', '[', '('])
        || hit.ends_with([')', ';'])
}

/// Bits a character, by how often each occurs.
fn entropy(text: &str) -> f64 {
    let mut counts = std::collections::BTreeMap::<char, u32>::new();
    text.chars().for_each(|c| *counts.entry(c).or_default() += 1);
    let total = f64::from(counts.values().sum::<u32>().max(1));
    counts.values().map(|count| f64::from(*count) / total).map(|share| -share * share.log2()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l5_18_every_rule_compiles_and_has_words() {
        for rule in RULES {
            assert!(rule.pattern().is_some(), "{}", rule.kind);
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
