//! Every pattern of the judge: made here, compiled as late as can be.
//!
//! A memory is kept by a process that has just started, and compiling all that
//! the judge looks for took it longer than everything else it did. So a pattern
//! is split into its alternatives, each is known by the words without which it
//! cannot match ([`needs`]), and only one whose words are in the text is
//! compiled. The classes are those that scripts need, not all of Unicode: `\w`
//! alone has some 800 ranges, and stands in many repetitions.
//!
//! There is no `(?i)`: who does not care for case folds the text before.

mod needs;

use needs::Needs;
use regex::{Captures, Regex};
use std::sync::OnceLock;

/// Statics, each a pattern.
macro_rules! patterns {
    ($($(#[$doc:meta])* $name:ident = $source:expr;)+) => {$(
        $(#[$doc])*
        pub(crate) static $name: std::sync::LazyLock<$crate::pattern::Pattern> =
            std::sync::LazyLock::new(|| $crate::pattern::Pattern::new(&$source));
    )+};
}
pub(crate) use patterns;

/// Letters, digits and what else words are made of, in the scripts of R15.
const WORD: &str = r"0-9A-Za-z_\x{aa}\x{b5}\x{ba}\x{c0}-\x{d6}\x{d8}-\x{f6}\x{f8}-\x{1fff}\x{200c}\x{200d}\x{2c00}-\x{2dff}\x{3005}-\x{3007}\x{3031}-\x{fdff}\x{fe70}-\x{fefe}\x{ff10}-\x{ff19}\x{ff21}-\x{ff3a}\x{ff41}-\x{ff5a}\x{ff66}-\x{ffdc}\x{10000}-\x{1efff}\x{20000}-\x{3ffff}";

/// What is looked for in a text.
pub(crate) struct Pattern {
    /// What it is one of, the first before the others.
    parts: Vec<Part>,
}

struct Part {
    source: String,
    needs: Needs,
    compiled: OnceLock<Option<Regex>>,
}

impl Pattern {
    /// Of alternatives that stand alone; flags hold for all of them.
    pub(crate) fn new(source: &str) -> Self {
        Self::of(source, str::to_owned)
    }

    /// With the word boundaries of ASCII, which are found several times as
    /// quickly: for texts that are folded, or keys.
    pub(crate) fn ascii(source: &str) -> Self {
        Self::of(&source.replace(r"\b", r"(?-u:\b)"), str::to_owned)
    }

    /// Of alternatives that each begin where the text does.
    pub(crate) fn opening(source: &str) -> Self {
        Self::of(source, |part| format!("^(?:{part})"))
    }

    fn of(source: &str, whole: fn(&str) -> String) -> Self {
        let (flags, body) = needs::flags(source);
        let part = |part: &str| Part {
            needs: Needs::of(part, flags),
            source: format!("{flags}{}", whole(part)),
            compiled: OnceLock::new(),
        };
        Self { parts: needs::alternatives(body).into_iter().map(part).collect() }
    }

    /// Whether it is in the text.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        self.parts.iter().any(|part| part.regex(text).is_some_and(|regex| regex.is_match(text)))
    }

    /// Where it stands first, and of two that begin there the first of them.
    pub(crate) fn find<'t>(&self, text: &'t str) -> Option<Captures<'t>> {
        self.find_at(text, 0)
    }

    fn find_at<'t>(&self, text: &'t str, from: usize) -> Option<Captures<'t>> {
        let found = self.parts.iter().filter_map(|part| part.regex(text)?.captures_at(text, from));
        found.min_by_key(start)
    }

    /// All places where it stands, none within another.
    pub(crate) fn find_all<'t>(&self, text: &'t str) -> Vec<Captures<'t>> {
        let mut all = Vec::new();
        let mut from = 0;
        while from <= text.len()
            && let Some(found) = self.find_at(text, from)
        {
            let (start, end) = (start(&found), end(&found));
            from = if start < end { end } else { next(text, end) };
            all.push(found);
        }
        all
    }

    /// The text with each place replaced.
    pub(crate) fn replaced(&self, text: &str, with: impl Fn(&str) -> String) -> String {
        let mut out = String::with_capacity(text.len());
        let mut done = 0;
        for found in self.find_all(text) {
            let Some(whole) = found.get(0) else { continue };
            out.push_str(text.get(done..whole.start()).unwrap_or_default());
            out.push_str(&with(whole.as_str()));
            done = whole.end();
        }
        out.push_str(text.get(done..).unwrap_or_default());
        out
    }

    /// The same as [`is_in`](Self::is_in), by trying everything.
    #[cfg(test)]
    pub(crate) fn is_in_by_trying(&self, text: &str) -> bool {
        self.parts.iter().any(|part| part.compiled().is_some_and(|regex| regex.is_match(text)))
    }

    /// The sources that do not compile; a test of each table wants none.
    #[cfg(test)]
    pub(crate) fn faults(&self) -> Vec<&str> {
        let is_faulty = |part: &&Part| part.compiled().is_none();
        self.parts.iter().filter(is_faulty).map(|part| part.source.as_str()).collect()
    }
}

impl Part {
    /// None where the text lacks what it needs.
    fn regex(&self, text: &str) -> Option<&Regex> {
        if self.needs.are_met(text) { self.compiled() } else { None }
    }

    fn compiled(&self) -> Option<&Regex> {
        self.compiled.get_or_init(|| compiled(&self.source)).as_ref()
    }
}

/// A source, made: the only place in the judge where that is done.
pub(crate) fn compiled(source: &str) -> Option<Regex> {
    Regex::new(&plain(source)).ok()
}

/// A source with small classes in place of those of Unicode; they may stand
/// within others.
fn plain(source: &str) -> String {
    let mut out = String::with_capacity(source.len() * 2);
    let mut signs = source.chars();
    while let Some(sign) = signs.next() {
        if sign != '\\' {
            out.push(sign);
            continue;
        }
        match signs.next() {
            Some('w') => out.extend(["[", WORD, "]"]),
            Some('W') => out.extend(["[^", WORD, "]"]),
            Some('d') => out.push_str("[0-9]"),
            Some(other) => out.extend(['\\', other]),
            None => out.push('\\'),
        }
    }
    out
}

/// Behind the sign at a byte.
fn next(text: &str, at: usize) -> usize {
    at + text.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8)
}

fn start(found: &Captures<'_>) -> usize {
    found.get(0).map_or(usize::MAX, |whole| whole.start())
}

fn end(found: &Captures<'_>) -> usize {
    found.get(0).map_or(usize::MAX, |whole| whole.end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_place_counts_and_then_the_first_alternative() {
        let pattern = Pattern::new("(?x) b(?P<x>c)? | abc | ab");
        let found = pattern.find("xabcab").unwrap();
        assert_eq!(found.get(0).unwrap().as_str(), "abc");
        let all: Vec<String> =
            pattern.find_all("xabcab bc").iter().map(|found| found[0].to_owned()).collect();
        assert_eq!(all, ["abc", "ab", "bc"]);
        assert_eq!(pattern.replaced("xabcab", |_| "-".to_owned()), "x--");
        assert!(pattern.faults().is_empty());
    }

    #[test]
    fn what_lacks_its_words_is_never_compiled() {
        let pattern = Pattern::new(r"\b(?:ignore|forget)\ (?:\w+\ ){0,4}rules\b|^\d+$");
        assert!(!pattern.is_in("We deploy on Thursdays."));
        let is_made = |at: usize| pattern.parts[at].compiled.get().is_some();
        assert!(!is_made(0) && is_made(1));
        assert!(pattern.is_in("forget über 規則 rules"));
        assert!(pattern.is_in("42"));
        assert!(Pattern::opening("a|b").is_in("bx") && !Pattern::opening("a|b").is_in("xb"));
    }

    #[test]
    fn empty_places_come_to_an_end() {
        assert_eq!(Pattern::new("x*").find_all("aéx").len(), 4);
    }
}
