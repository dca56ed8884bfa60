//! What a piece of text can be compared by: its words, what is under a
//! negation, and the specifics that nobody may invent.

use super::general::{DENIALS, GENERIC, LIMITS, TURNS, WIDE_DENIALS};
use super::glossary;
use super::tongue::{Tongue, is_small, tongue};
use crate::folding::{cleaned, folded, is_spaceless};
use everfold_memory_recall::stems;
use std::collections::BTreeSet;

/// Something that has to be typed as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Specific {
    Number(String),
    /// A day in numbers: the person may have said "tomorrow".
    Date {
        day: String,
    },
    /// The stem of a day of the week or a month.
    Day(String),
    /// An address, a path, a flag.
    Exact(String),
    /// An identifier or a command: these words, one after the other.
    Run(Vec<String>),
    Name(String),
}

/// A text, taken apart.
#[derive(Clone, Debug, Default)]
pub(super) struct Facets {
    pub(super) text: String,
    /// All its words in order, folded.
    pub(super) run: Vec<String>,
    /// Stems of the words that carry it.
    pub(super) content: BTreeSet<String>,
    /// Those that occur under a negation, and those that occur outside one.
    pub(super) denied: BTreeSet<String>,
    pub(super) asserted: BTreeSet<String>,
    pub(super) denies: bool,
    pub(super) limits: bool,
    pub(super) tongue: Option<Tongue>,
}

impl Facets {
    pub(super) fn of(text: &str) -> Self {
        let text = folded(text);
        let mut facets = Self { tongue: tongue(&text), ..Self::default() };
        facets.denies = WIDE_DENIALS.iter().any(|denial| text.contains(denial));
        let mut denied = facets.denies;
        for clause in
            text.split_inclusive([',', ';', ':', '.', '!', '?', '(', ')', '\n', '，', '。'])
        {
            let words = words(clause);
            let last_denies = words.last().is_some_and(|word| DENIALS.contains(word.as_str()));
            denied = facets.denies
                && denied
                && WIDE_DENIALS.iter().any(|denial| clause.contains(denial));
            denied |= last_denies;
            for word in words {
                if DENIALS.contains(word.as_str()) {
                    (facets.denies, denied) = (true, true);
                } else if TURNS.contains(word.as_str()) {
                    denied = false;
                }
                facets.limits |= LIMITS.contains(word.as_str());
                if let Some(stem) = carried(&word) {
                    let side = if denied { &mut facets.denied } else { &mut facets.asserted };
                    side.insert(stem.clone());
                    facets.content.insert(stem);
                }
                facets.run.push(word);
            }
        }
        facets.content.extend(glossary::meanings(&text).map(str::to_owned));
        facets.text = text;
        facets
    }

    /// Whether its words come of signs without spaces between them.
    pub(super) fn is_wide(&self) -> bool {
        matches!(self.tongue, Some(Tongue::Chinese | Tongue::Japanese))
    }

    /// The text without the words that carry something else than these.
    pub(super) fn without_others(&self, known: &BTreeSet<String>) -> String {
        let mut out = String::with_capacity(self.text.len());
        let mut word = String::new();
        for sign in self.text.chars().chain(['\n']) {
            if sign.is_alphanumeric() {
                word.push(sign);
                continue;
            }
            if carried(&word).is_none_or(|stem| known.contains(&stem)) {
                out.push_str(&word);
            }
            word.clear();
            out.push(sign);
        }
        out
    }

    fn numbers(&self) -> BTreeSet<&str> {
        let digits = self.text.split(|sign: char| !sign.is_ascii_digit());
        let plain =
            digits.map(|digits| digits.trim_start_matches('0')).filter(|digits| !digits.is_empty());
        plain.chain(self.run.iter().filter_map(|word| glossary::number(word))).collect()
    }

    fn has_exactly(&self, text: &str) -> bool {
        let joins = |sign: char| sign.is_alphanumeric() || matches!(sign, '-' | '_');
        self.text.match_indices(text).any(|(at, _)| {
            let before = self.text.get(..at).and_then(|before| before.chars().next_back());
            let mut after = self.text.get(at + text.len()..).unwrap_or_default().chars();
            let next = after.next();
            let goes_on = match next {
                Some('.' | '/' | ':') => {
                    text.contains(['.', '/'])
                        && after.next().is_some_and(joins)
                        && next != Some('/')
                }
                Some(sign) => joins(sign),
                None => false,
            };
            !before.is_some_and(joins) && !goes_on
        })
    }

    fn has_name(&self, name: &str) -> bool {
        let stem = stems(name).pop_first();
        let meant = glossary::meaning(name);
        let alike = |word: &String| {
            word == name
                || (word.len().min(name.len()) >= 4
                    && (word.starts_with(name) || name.starts_with(word.as_str())))
        };
        stem.is_some_and(|stem| self.content.contains(&stem))
            || meant.is_some_and(|meant| self.content.contains(meant))
            || self.run.iter().any(alike)
            || (name.len() >= 5 && self.run.concat().contains(name))
    }

    /// Whether a specific is in this text. `dated`: whether the text around
    /// the specific names a month.
    pub(super) fn has(&self, specific: &Specific, around: &Self) -> bool {
        let relative = || glossary::is_relative(&self.text);
        let dated = || around.content.iter().any(|stem| glossary::is_day(stem));
        match specific {
            Specific::Number(number) => {
                let numbers = self.numbers();
                let evening = number.parse::<u32>().ok().filter(|hour| (13..24).contains(hour));
                let evening = evening.map(|hour| (hour - 12).to_string());
                numbers.contains(number.as_str())
                    || evening.is_some_and(|hour| {
                        numbers.contains(hour.as_str()) && self.text.contains("pm")
                    })
                    || (dated() && relative())
            }
            Specific::Date { day } => self.numbers().contains(day.as_str()) || relative(),
            Specific::Day(stem) => self.content.contains(stem) || relative(),
            Specific::Exact(text) => self.has_exactly(text),
            Specific::Run(words) => {
                self.run.windows(words.len().max(1)).any(|run| run == words.as_slice())
            }
            Specific::Name(name) => self.has_name(name),
        }
    }
}

/// The words of a folded text: runs of letters and digits, and pairs of signs
/// where a script has no spaces.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for run in text.split(|sign: char| !(sign.is_alphanumeric() || sign == '\'')) {
        let signs: Vec<char> = run.trim_matches('\'').chars().collect();
        for part in signs.chunk_by(|a, b| is_spaceless(*a) == is_spaceless(*b)) {
            if part.first().is_some_and(|sign| is_spaceless(*sign)) && part.len() > 1 {
                found.extend(part.windows(2).map(|pair| pair.iter().collect::<String>()));
            } else {
                let word: String = part.iter().collect();
                found.extend(word.split('\'').filter(|word| !word.is_empty()).map(str::to_owned));
            }
        }
    }
    found
}

/// What a word carries: its stem, or what it stands for; nothing for small and
/// general words.
fn carried(word: &str) -> Option<String> {
    let short = word.chars().count() < 2
        && word.is_ascii()
        && !word.starts_with(|c: char| c.is_ascii_digit());
    if short || is_small(word) {
        return None;
    }
    if let Some(meaning) = glossary::meaning(word) {
        return (!GENERIC.contains(meaning)).then(|| meaning.to_owned());
    }
    if word.starts_with(is_spaceless) {
        return Some(word.to_owned());
    }
    let stem = stems(word).pop_first()?;
    (!GENERIC.contains(stem.as_str()) && !GENERIC.contains(word)).then_some(stem)
}

/// Whether a folded word says nothing of its own.
pub(super) fn is_general(word: &str) -> bool {
    carried(word).is_none()
}

/// Cleaned words of a text as a reader sees them, for [`super::specifics`].
pub(super) fn shown(text: &str) -> String {
    cleaned(text)
}
