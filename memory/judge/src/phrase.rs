//! Lists of phrases, looked up in folded text.
//!
//! A phrase is written once, in lower case; its forms without accents and with
//! other apostrophes come of themselves. One that ends in `*` may go on as a
//! longer word. Scripts without spaces know no word bounds.

use std::collections::BTreeMap;
use std::ops::Range;

/// Statics, each a list of phrases.
macro_rules! phrases {
    ($($(#[$doc:meta])* $name:ident = [$($list:literal),+ $(,)?];)+) => {$(
        $(#[$doc])*
        pub(crate) static $name: std::sync::LazyLock<$crate::phrase::Phrases> =
            std::sync::LazyLock::new(|| $crate::phrase::Phrases::new(concat!($($list, "|"),+)));
    )+};
}
pub(crate) use phrases;

/// From here on scripts are written without spaces, or glue endings to words.
const UNSPACED: char = '\u{2e80}';

/// The text in lower case, every byte where it was.
pub(crate) fn fold(text: &str) -> String {
    text.chars()
        .map(|c| {
            let mut lower = c.to_lowercase();
            match (lower.next(), lower.next()) {
                (Some(one), None) if one.len_utf8() == c.len_utf8() => one,
                _ => c,
            }
        })
        .collect()
}

/// A part of a text; nothing where the range does not fit it.
pub(crate) fn part(text: &str, range: Range<usize>) -> &str {
    text.get(range).unwrap_or_default()
}

/// Whether a script writes this without spaces between words.
pub(crate) fn is_unspaced(c: char) -> bool {
    c >= UNSPACED && c.is_alphanumeric()
}

/// How much a text says: words, and where there are no spaces, two for three
/// characters.
pub(crate) fn weight(text: &str) -> usize {
    let unspaced = text.chars().filter(|c| is_unspaced(*c)).count();
    let words = text
        .split_whitespace()
        .filter(|word| word.chars().any(|c| c.is_alphanumeric() && !is_unspaced(c)))
        .count();
    words + unspaced * 2 / 3
}

/// A list of phrases.
pub(crate) struct Phrases {
    by_first: BTreeMap<char, Vec<(String, Tail)>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Tail {
    Closed,
    Open,
}

impl Phrases {
    /// From phrases with `|` between them.
    pub(crate) fn new(list: &str) -> Self {
        let mut by_first: BTreeMap<char, Vec<(String, Tail)>> = BTreeMap::new();
        for phrase in list.split('|').map(str::trim).filter(|phrase| !phrase.is_empty()) {
            let (phrase, tail) =
                phrase.strip_suffix('*').map_or((phrase, Tail::Closed), |open| (open, Tail::Open));
            for form in spellings(phrase) {
                if let Some(first) = form.chars().next() {
                    by_first.entry(first).or_default().push((form, tail));
                }
            }
        }
        for phrases in by_first.values_mut() {
            // Of two that fit, the longer one is meant.
            phrases.sort_unstable_by(|(a, _), (b, _)| b.len().cmp(&a.len()).then(a.cmp(b)));
        }
        Self { by_first }
    }

    /// The first phrase at or after a byte.
    pub(crate) fn find(&self, text: &str, from: usize) -> Option<Range<usize>> {
        let (before, rest) = text.split_at_checked(from)?;
        let mut last = before.chars().next_back();
        for (at, sign) in rest.char_indices() {
            // Within a word none can begin.
            if is_bound(last, Some(sign))
                && let Some(end) = self.at(text, from + at)
            {
                return Some(from + at..end);
            }
            last = Some(sign);
        }
        None
    }

    /// Where the last of them ends.
    pub(crate) fn find_last(&self, text: &str) -> Option<usize> {
        let mut last = None;
        let mut from = 0;
        while let Some(range) = self.find(text, from) {
            last = Some(range.end);
            from = range.end;
        }
        last
    }

    /// Whether one of them is in the text.
    pub(crate) fn any(&self, text: &str) -> bool {
        self.find(text, 0).is_some()
    }

    /// Where the longest phrase ends that begins at a byte.
    pub(crate) fn at(&self, text: &str, start: usize) -> Option<usize> {
        let (before, rest) = text.split_at_checked(start)?;
        let known = self.by_first.get(&rest.chars().next()?)?;
        let fits = |(phrase, tail): &&(String, Tail)| {
            rest.strip_prefix(phrase.as_str()).is_some_and(|after| {
                is_bound(before.chars().next_back(), phrase.chars().next())
                    && (*tail == Tail::Open
                        || is_bound(after.chars().next(), phrase.chars().next_back()))
            })
        };
        known.iter().find(fits).map(|(phrase, _)| start + phrase.len())
    }

    /// Where a phrase ends that the text begins with.
    pub(crate) fn starts(&self, text: &str) -> Option<usize> {
        self.at(text, 0)
    }
}

/// A phrase as people type it: with other apostrophes, without accents.
fn spellings(phrase: &str) -> Vec<String> {
    let plain: String = phrase.chars().map(unaccented).collect();
    let mut forms = vec![phrase.to_owned()];
    if plain != phrase {
        forms.push(plain);
    }
    if phrase.contains('\'') {
        let others = |form: &String| [form.replace('\'', "’"), form.replace('\'', "")];
        forms.extend(forms.iter().flat_map(others).collect::<Vec<_>>());
    }
    forms
}

/// Whether a phrase with this letter at its edge may stand beside the other.
fn is_bound(outside: Option<char>, edge: Option<char>) -> bool {
    let joins = |c: char| c.is_alphanumeric() || c == '_';
    let (Some(outside), Some(edge)) = (outside, edge) else { return true };
    !joins(edge) || is_unspaced(edge) || !joins(outside) || is_unspaced(outside)
}

/// What people type who have no key for an accent.
fn unaccented(c: char) -> char {
    match c {
        'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' | 'ą' | 'ă' => 'a',
        'è' | 'é' | 'ê' | 'ë' | 'ę' | 'ě' => 'e',
        'ì' | 'í' | 'î' | 'ï' | 'ı' => 'i',
        'ò' | 'ó' | 'ô' | 'õ' | 'ö' | 'ø' | 'ő' => 'o',
        'ù' | 'ú' | 'û' | 'ü' | 'ű' => 'u',
        'ç' | 'ć' | 'č' => 'c',
        'ñ' | 'ń' => 'n',
        'ś' | 'ş' | 'š' | 'ș' => 's',
        'ź' | 'ż' | 'ž' => 'z',
        'ğ' => 'g',
        'ł' => 'l',
        'ț' => 't',
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_stand_alone_and_come_in_every_spelling() {
        let list = Phrases::new("don't forget|note|note that|acuérdate|summari*|记住");
        for text in
            ["dont forget x", "don’t forget", "acuerdate", "summarising", "请记住它", "a note."]
        {
            assert!(list.any(text), "{text}");
        }
        for text in ["notebook", "footnote", "a_note", "summer"] {
            assert!(!list.any(text), "{text}");
        }
        assert_eq!(list.find("keynote, note that", 0), Some(9..18));
        assert_eq!(fold("İÄ’ẞ").len(), "İÄ’ẞ".len());
    }
}
