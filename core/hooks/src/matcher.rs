//! Which subjects a group of handlers is for.

use everfold_kernel::{Class, Classify};
use regex::Regex;

/// What stands under `matcher`.
#[derive(Clone, Debug)]
pub enum Matcher {
    /// Omitted, empty or `*`.
    All,
    /// A list of names.
    Names(Vec<String>),
    /// Anything else is a pattern, found anywhere in the subject.
    Pattern(Regex),
}

/// Why something is no matcher.
#[derive(Clone, Debug, thiserror::Error)]
pub enum MatcherError {
    #[error("it is not text")]
    NoText,
    #[error("{}", last_line(.0))]
    Pattern(#[from] regex::Error),
}

impl Classify for MatcherError {
    fn class(&self) -> Class {
        Class::Refuse
    }
}

/// The lines before it draw the pattern.
fn last_line(error: &regex::Error) -> String {
    let reason = error.to_string();
    reason.lines().last().unwrap_or("it is not a regular expression").trim().to_owned()
}

impl Matcher {
    /// Reads a matcher.
    ///
    /// # Errors
    /// If it is a pattern and cannot be read as one.
    pub fn parse(text: &str) -> Result<Self, MatcherError> {
        let text = text.trim();
        if text.is_empty() || text == "*" {
            return Ok(Self::All);
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ',' | '|' | ' ');
        if text.chars().all(plain) {
            return Ok(Self::names(text));
        }
        Ok(Self::Pattern(Regex::new(text)?))
    }

    /// A list of names, whatever they are made of: names of files have dots.
    pub(crate) fn names(text: &str) -> Self {
        let names = text.split(['|', ',']).map(str::trim).filter(|name| !name.is_empty());
        Self::Names(names.map(str::to_owned).collect())
    }

    /// Whether it is for this subject. An event without one is for all.
    #[must_use]
    pub fn fits(&self, subject: Option<&str>) -> bool {
        let Some(subject) = subject else { return true };
        match self {
            Self::All => true,
            Self::Names(names) => names.iter().any(|name| name == subject),
            Self::Pattern(pattern) => pattern.is_match(subject),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q7_a_matcher_is_all_a_list_of_names_or_a_pattern() {
        let fits =
            |matcher: &str, subject: &str| Matcher::parse(matcher).unwrap().fits(Some(subject));
        for all in ["", "*", "  "] {
            assert!(fits(all, "Bash"));
        }
        assert!(fits("Edit|Write", "Write") && !fits("Edit|Write", "WriteX"));
        assert!(fits("Edit, Write", "Edit") && !fits("edit", "Edit"));
        assert!(fits("mcp__memory__.*", "mcp__memory__save"));
        assert!(fits("^Note.*", "NotebookEdit") && fits("book.*", "NotebookEdit"));
        assert!(!fits("^book", "NotebookEdit"));
        assert!(Matcher::parse("Edit").unwrap().fits(None));
        assert!(Matcher::parse("(").unwrap_err().to_string().contains("unclosed group"));
        assert!(Matcher::parse("(?!a)").is_err(), "look-around is not known");
    }
}
