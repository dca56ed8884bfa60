//! A value that must not be shown (S5).

use std::fmt;

/// A key, a token or a header value. It has no `Display` and no `Serialize`,
/// and `Debug` hides it, so that it cannot end up in a log or a transcript by
/// accident.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a value.
    #[must_use]
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// The value, for the request that needs it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s5_a_secret_is_not_shown() {
        let secret = Secret::new("sk-ant-123");
        assert_eq!(format!("{secret:?}"), "Secret(…)");
        assert_eq!(secret.expose(), "sk-ant-123");
    }
}
