//! Secrets of a conversation, known by where they were said (S15).
//!
//! A password alone is a word like any other. Where it was first said it was
//! called one, so it is masked wherever else it stands.

use super::{LEAST_REPEATED, mark, mask, spans};
use std::collections::BTreeMap;

/// Bytes from which on a word without digits and signs is told from others.
const LEAST_WORD: usize = 12;

/// What was found to be secret.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownSecrets {
    kinds: BTreeMap<String, &'static str>,
    /// Those too short to be told from other words elsewhere.
    short: BTreeMap<&'static str, usize>,
}

impl KnownSecrets {
    /// Takes in the secrets of a text.
    pub fn learn(&mut self, text: &str) {
        for span in spans(text) {
            let secret = text.get(span.at).unwrap_or_default().trim();
            let is_plain = secret.chars().all(char::is_alphabetic);
            let least = if is_plain { LEAST_WORD } else { LEAST_REPEATED };
            if secret.len() < least {
                *self.short.entry(span.kind).or_default() += 1;
            } else if !self.kinds.contains_key(secret) {
                self.kinds.insert(secret.to_owned(), span.kind);
            }
        }
    }

    /// Takes in what stands under a name: `"password": "…"`.
    pub fn learn_named(&mut self, name: &str, value: &str) {
        self.learn(&format!("{name}: \"{value}\""));
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty() && self.short.is_empty()
    }

    /// What kinds there are, and how many of each.
    #[must_use]
    pub fn kinds(&self) -> BTreeMap<&'static str, usize> {
        let mut counts = self.short.clone();
        for kind in self.kinds.values() {
            *counts.entry(*kind).or_default() += 1;
        }
        counts
    }

    /// The text with every secret replaced by its kind, those that it only
    /// repeats as well.
    #[must_use]
    pub fn mask(&self, text: &str) -> String {
        let mut masked = mask(text);
        // The longest first: one may begin with another.
        let mut known: Vec<(&String, &&str)> = self.kinds.iter().collect();
        known.sort_by_key(|(secret, _)| std::cmp::Reverse(secret.len()));
        for (secret, kind) in known {
            if masked.contains(secret.as_str()) {
                masked = masked.replace(secret.as_str(), &mark(kind));
            }
        }
        masked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s15_a_password_is_masked_where_nothing_calls_it_one() {
        let mut known = KnownSecrets::default();
        known.learn("the db password is Falcon-77-x, ok?");
        known.learn_named("api_key", "q9Zt7Lm2Xc4Vb8Nn1Ks5");
        known.learn("nothing here, and the password is swordfish");
        assert_eq!(known.kinds().values().sum::<usize>(), 3, "{known:?}");
        let masked = known.mask("psql -h db <<< Falcon-77-x # q9Zt7Lm2Xc4Vb8Nn1Ks5 swordfish");
        assert!(!masked.contains("Falcon") && !masked.contains("q9Zt"), "{masked}");
        assert!(masked.ends_with("swordfish"), "a plain word is left: {masked}");
        assert_eq!(known.mask("nothing"), "nothing");
    }
}
