//! Text that must not be shown (S5).

use std::fmt;

/// A key, a token or a header's value. It has no `Display` and no
/// `Serialize`, and `Debug` hides it, so that it cannot end up in a log or a
/// transcript by accident.
///
/// ```
/// let key = everfold_kernel::Secret::new("sk-1");
/// assert_eq!(format!("{key:?}"), "[secret]");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

/// Secrets shorter than this are not looked for in texts: they would be found
/// in ordinary words.
const SCRUB_BYTES: usize = 6;

impl Secret {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself, for the request that needs it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Takes the secret out of a text that somebody else wrote.
    #[must_use]
    pub fn scrub(&self, text: String) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s5_a_secret_is_not_shown() {
        let secret = Secret::new("sk-ant-123");
        assert_eq!(format!("{secret:?}"), "[secret]");
        assert_eq!(secret.scrub("key sk-ant-123.".into()), "key [secret].");
        assert_eq!(Secret::new("a").scrub("banana".into()), "banana");
    }
}
