//! Globs over paths: `paths:` of rules (I2) and `claudeMdExcludes`.
//!
//! A `*` does not cross a `/`, so `*.md` matches at the root only. Braces are
//! expanded here, within a budget: a few nested ones can stand for more
//! patterns than any memory holds. A pattern that is invalid, or over the
//! budget, matches nothing.

use everfold_kernel::limits::RulesLimits;
use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};
use std::collections::VecDeque;
use std::path::Path;

/// Globs in one set: larger ones take the regex engine past its size limit.
const SET_SIZE: usize = 256;

/// Patterns, ready to match.
#[derive(Clone, Debug, Default)]
pub struct Patterns {
    written: Vec<String>,
    /// Matched against the path below the base.
    relative: Vec<Set>,
    /// Matched against the whole path.
    absolute: Vec<Set>,
    refused: Vec<String>,
}

/// Globs that are matched together.
#[derive(Clone, Debug)]
struct Set {
    globs: GlobSet,
    /// Which of the patterns each glob came from.
    from: Vec<usize>,
}

impl Set {
    fn first(&self, path: &Path) -> Option<usize> {
        let at = self.globs.matches(path).into_iter().next()?;
        self.from.get(at).copied()
    }
}

impl Patterns {
    #[must_use]
    pub fn new<T: AsRef<str>>(patterns: &[T], limits: &RulesLimits) -> Self {
        let mut out = Self::default();
        let (mut relative, mut absolute) = (Vec::new(), Vec::new());
        let mut budget = Budget { patterns: limits.brace_patterns, bytes: limits.brace_bytes };
        for (at, pattern) in patterns.iter().map(AsRef::as_ref).enumerate() {
            out.written.push(pattern.to_owned());
            let expanded = expand(pattern, &mut budget).unwrap_or_default();
            let globs: Vec<_> = expanded.iter().filter_map(|text| compile(text)).collect();
            if globs.is_empty() {
                out.refused.push(pattern.to_owned());
            }
            for glob in globs {
                let rooted = glob.glob().starts_with('/');
                if rooted || glob.glob().starts_with("**/") {
                    absolute.push((at, glob.clone()));
                }
                if !rooted {
                    relative.push((at, glob));
                }
            }
        }
        out.relative = sets(&relative);
        out.absolute = sets(&absolute);
        out
    }

    /// The pattern that a path below `base` matches. Patterns that begin with
    /// `/` are about the whole path.
    #[must_use]
    pub fn matching(&self, base: &Path, path: &Path) -> Option<&str> {
        let below = path.strip_prefix(base).ok()?;
        let relative = self.relative.iter().find_map(|set| set.first(below));
        let at = relative.or_else(|| self.absolute.iter().find_map(|set| set.first(path)))?;
        self.written.get(at).map(String::as_str)
    }

    /// Whether a whole path matches.
    #[must_use]
    pub fn matches_whole(&self, path: &Path) -> bool {
        self.absolute.iter().any(|set| set.globs.is_match(path))
    }

    #[must_use]
    pub fn written(&self) -> &[String] {
        &self.written
    }

    /// The patterns that are invalid or stand for too many; they match nothing.
    #[must_use]
    pub fn refused(&self) -> &[String] {
        &self.refused
    }
}

fn compile(pattern: &str) -> Option<Glob> {
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    GlobBuilder::new(pattern).literal_separator(true).backslash_escape(true).build().ok()
}

fn sets(globs: &[(usize, Glob)]) -> Vec<Set> {
    let chunks = globs.chunks(SET_SIZE);
    chunks
        .filter_map(|chunk| {
            let mut builder = GlobSetBuilder::new();
            for (_, glob) in chunk {
                builder.add(glob.clone());
            }
            let from = chunk.iter().map(|(at, _)| *at).collect();
            Some(Set { globs: builder.build().ok()?, from })
        })
        .collect()
}

/// What braces may still expand to.
struct Budget {
    patterns: usize,
    bytes: usize,
}

impl Budget {
    fn spend(&mut self, pattern: &str) -> Option<()> {
        self.patterns = self.patterns.checked_sub(1)?;
        self.bytes = self.bytes.checked_sub(pattern.len())?;
        Some(())
    }
}

/// All patterns that one with braces stands for; none if they do not pair or
/// are over the budget.
fn expand(pattern: &str, budget: &mut Budget) -> Option<Vec<String>> {
    let mut open = VecDeque::from([pattern.to_owned()]);
    let mut done = Vec::new();
    while let Some(next) = open.pop_front() {
        match first_braces(&next).ok()? {
            None => done.push(next),
            Some((head, choices, tail)) => {
                for choice in choices {
                    let one = format!("{head}{choice}{tail}");
                    budget.spend(&one)?;
                    open.push_back(one);
                }
            }
        }
    }
    Some(done)
}

type Braces<'a> = (&'a str, Vec<&'a str>, &'a str);

/// A brace has no partner.
struct Unpaired;

/// The first pair of braces, taken apart at its commas.
fn first_braces(pattern: &str) -> Result<Option<Braces<'_>>, Unpaired> {
    let (mut depth, mut start, mut cuts) = (0_usize, 0, Vec::new());
    let mut escaped = false;
    for (at, sign) in pattern.char_indices() {
        if std::mem::take(&mut escaped) {
            continue;
        }
        match sign {
            '\\' => escaped = true,
            '{' => {
                if depth == 0 {
                    (start, cuts) = (at, vec![at + 1]);
                }
                depth += 1;
            }
            ',' if depth == 1 => cuts.push(at + 1),
            '}' => {
                depth = depth.checked_sub(1).ok_or(Unpaired)?;
                if depth == 0 {
                    cuts.push(at + 1);
                    let pairs = cuts.iter().zip(cuts.iter().skip(1));
                    let choices = pairs.filter_map(|(from, to)| pattern.get(*from..to - 1));
                    let (head, tail) = (pattern.get(..start), pattern.get(at + 1..));
                    return Ok(head.zip(tail).map(|(head, tail)| (head, choices.collect(), tail)));
                }
            }
            _ => {}
        }
    }
    if depth == 0 { Ok(None) } else { Err(Unpaired) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn matches(pattern: &str, path: &str) -> bool {
        let patterns = Patterns::new(&[pattern], &RulesLimits::default());
        patterns.matching(Path::new("/p"), &Path::new("/p").join(path)).is_some()
    }

    #[test]
    fn i2_globs_match_as_expected() {
        for (pattern, path) in [
            ("**/*.ts", "a.ts"),
            ("**/*.ts", "src/deep/a.ts"),
            ("*.md", "README.md"),
            ("src/**", "src/a/b.rs"),
            ("./src/*.rs", "src/a.rs"),
            ("src/**/*.{ts,tsx}", "src/x/y.tsx"),
            ("{a,b{c,d}}/*", "bd/x"),
            ("/p/src/*", "src/x"),
            ("[ab].rs", "b.rs"),
        ] {
            assert!(matches(pattern, path), "{pattern} {path}");
        }
        for (pattern, path) in [
            ("*.md", "docs/README.md"),
            ("src/*", "src/a/b.rs"),
            ("src/**/*.{ts,tsx}", "src/x/y.js"),
            ("/q/**", "src/x"),
        ] {
            assert!(!matches(pattern, path), "{pattern} {path}");
        }
    }

    #[test]
    fn i2_an_invalid_pattern_matches_nothing_and_spares_the_others() {
        let patterns = Patterns::new(&["[", "{a", "a}", "*.rs"], &RulesLimits::default());
        assert_eq!(patterns.refused(), ["[", "{a", "a}"]);
        assert!(patterns.matching(Path::new("/p"), Path::new("/p/x.rs")).is_some());
        assert!(patterns.matching(Path::new("/p"), Path::new("/p/a")).is_none());
        assert!(patterns.matching(Path::new("/p"), Path::new("/q/x.rs")).is_none());
    }

    #[test]
    fn i2_braces_have_a_budget() {
        let bomb = "{a,b}".repeat(40);
        let patterns = Patterns::new(&[bomb.as_str()], &RulesLimits::default());
        assert_eq!(patterns.refused().len(), 1);
        assert!(patterns.matching(Path::new("/p"), Path::new("/p/a")).is_none());
    }

    #[test]
    fn i2_ten_thousand_globs_are_handled() {
        let globs: Vec<String> = (0..10_000).map(|at| format!("src/m{at}/**/*.x{at}")).collect();
        let patterns = Patterns::new(&globs, &RulesLimits::default());
        assert!(patterns.refused().is_empty());
        assert!(patterns.matching(Path::new("/p"), Path::new("/p/src/m9999/a/b.x9999")).is_some());
        assert!(patterns.matching(Path::new("/p"), Path::new("/p/src/m1/a.x2")).is_none());
    }

    #[test]
    fn i5_the_pattern_that_matched_is_known() {
        let patterns = Patterns::new(&["[", "docs/{a,b}/*", "/p/x.rs"], &RulesLimits::default());
        let matching = |path: &str| patterns.matching(Path::new("/p"), Path::new(path));
        assert_eq!(matching("/p/docs/b/x.md"), Some("docs/{a,b}/*"));
        assert_eq!(matching("/p/x.rs"), Some("/p/x.rs"));
        assert_eq!(matching("/p/y.rs"), None);
    }

    proptest! {
        #[test]
        fn i2_any_pattern_is_taken(pattern in "[a{},*?\\[\\]\\\\/!.-]{0,24}") {
            let patterns = Patterns::new(&[pattern.as_str()], &RulesLimits::default());
            let _ = patterns.matching(Path::new("/p"), Path::new("/p/a/b"));
        }
    }
}
