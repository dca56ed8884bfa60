//! The one list of files that may break a rule, each with its reason.
//!
//! An exception that is no longer needed is itself a finding.

/// A rule that can be excepted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// The number of lines of a file.
    Size,
    /// The name of a file or a folder.
    Name,
}

/// One file that may break one rule.
pub(crate) struct Exception {
    /// Which rule.
    pub(crate) rule: Rule,
    /// Which file.
    pub(crate) path: &'static str,
    /// Why it has to.
    pub(crate) reason: &'static str,
}

/// All of them.
pub(crate) const EXCEPTIONS: &[Exception] = &[];
