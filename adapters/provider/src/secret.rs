//! Text that must not be shown.

use std::fmt;

/// A key or token. It does not print itself and cannot be serialised.
///
/// ```
/// let key = mnemon_provider::Secret::new("sk-1");
/// assert_eq!(format!("{key:?}"), "[secret]");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

/// Secrets shorter than this are not looked for in messages: a text that
/// short would be found in ordinary words.
const SCRUB_BYTES: usize = 6;

impl Secret {
    /// Wraps a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself, for the header that carries it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Takes the secret out of a text that a server or a library wrote.
    #[must_use]
    pub(crate) fn scrub(&self, text: String) -> String {
        if self.0.len() >= SCRUB_BYTES && text.contains(&self.0) {
            text.replace(&self.0, "[secret]")
        } else {
            text
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}
