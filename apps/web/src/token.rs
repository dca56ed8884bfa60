//! Words that nobody can guess.

use crate::error::Error;
use std::fmt::Write;

/// Bytes of a word: far more than can be tried.
const BYTES: usize = 24;

/// A random word. It is never written to a log.
#[derive(Clone)]
pub(crate) struct Token(String);

impl Token {
    pub(crate) fn new() -> Result<Self, Error> {
        let mut bytes = [0_u8; BYTES];
        getrandom::fill(&mut bytes).map_err(|error| Error::NoRandom(error.to_string()))?;
        let mut word = String::with_capacity(BYTES * 2);
        for byte in bytes {
            // Writing to a string does not fail.
            let _ = write!(word, "{byte:02x}");
        }
        Ok(Self(word))
    }

    /// The word, to be handed to the person's browser.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is this word. Takes as long for one that is nearly right.
    pub(crate) fn is(&self, other: &str) -> bool {
        let (own, other) = (self.0.as_bytes(), other.as_bytes());
        let differing = own.iter().zip(other).fold(0, |sum, (a, b)| sum | (a ^ b));
        own.len() == other.len() && differing == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn w1_words_are_long_and_never_the_same() {
        let (one, other) = (Token::new().unwrap(), Token::new().unwrap());
        assert_eq!(one.as_str().len(), 48);
        assert!(one.is(one.as_str()) && !one.is(other.as_str()));
        assert!(!one.is("") && !one.is(one.as_str().get(1..).unwrap()));
    }
}
