//! What a query asks for: its words, whether it asks when, and a date in it.

use crate::text;
use rust_stemmers::Stemmer;

/// A query, taken apart.
pub(crate) struct Query {
    /// The words to look for, each stem once.
    pub(crate) terms: Vec<Term>,
    /// Whether it asks when or how long.
    pub(crate) asks_when: bool,
    /// The date that it names.
    pub(crate) date: Option<NamedDate>,
}

/// One word to look for.
pub(crate) struct Term {
    /// The word, as the query has it.
    pub(crate) word: String,
    /// Its stem.
    pub(crate) stem: String,
    /// What it counts, from 0 to 1.
    pub(crate) weight: f64,
}

/// A month, with a year and a day where they were named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NamedDate {
    pub(crate) year: Option<i16>,
    pub(crate) month: i8,
    pub(crate) day: Option<i8>,
}

impl Query {
    /// Takes a query apart. Of a long one, the first and the last words stay.
    pub(crate) fn parse(text: &str, most_words: usize, filler: f64, stemmer: &Stemmer) -> Self {
        let words = text::words(text);
        let mut terms: Vec<Term> = Vec::new();
        for word in words.iter().filter(|word| !text::is_stop_word(word)) {
            let stem = text::stem(stemmer, word).into_owned();
            if !terms.iter().any(|term| term.stem == stem) {
                let weight = if text::is_filler_word(word) { filler } else { 1.0 };
                terms.push(Term { word: word.clone(), stem, weight });
            }
        }
        if terms.len() > most_words {
            let tail = terms.split_off(terms.len() - most_words / 2);
            terms.truncate(most_words - most_words / 2);
            terms.extend(tail);
        }
        Self { terms, asks_when: asks_when(&words), date: named_date(text, &words) }
    }
}

fn asks_when(words: &[String]) -> bool {
    let pair = |first: &str, second: &str| {
        words.windows(2).any(|pair| pair.iter().map(String::as_str).eq([first, second]))
    };
    words.first().is_some_and(|word| word == "when")
        || pair("how", "long")
        || ["day", "date", "month", "year"]
            .iter()
            .any(|unit| pair("what", unit) || pair("which", unit))
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// The first month that is named, as `2023-05-08`, `2023-05` or by its name.
fn named_date(text: &str, words: &[String]) -> Option<NamedDate> {
    let mut pairs = words.iter().zip(words.iter().skip(1)).enumerate();
    let numeric = pairs.find_map(|(at, (first, second))| {
        let month = Some(second).filter(|word| word.len() == 2)?.parse().ok()?;
        (year(first).is_some() && (1..=12).contains(&month)).then_some((at, month))
    });
    if let Some((at, month)) = numeric {
        let day = words.get(at + 2).and_then(|word| day(word));
        return Some(NamedDate { year: words.get(at).and_then(|word| year(word)), month, day });
    }
    let (at, month) = words.iter().enumerate().find_map(|(at, word)| {
        let month = MONTHS.iter().position(|month| month == word)?;
        Some((at, i8::try_from(month + 1).ok()?))
    })?;
    // "march" and "may" are months only when they are capitalised.
    if (month == 3 && !text.contains("March")) || (month == 5 && !text.contains("May")) {
        return None;
    }
    let beside = [at.checked_sub(1), Some(at + 1)];
    let day = beside.into_iter().flatten().find_map(|at| day(words.get(at)?));
    Some(NamedDate { year: words.iter().find_map(|word| year(word)), month, day })
}

fn year(word: &str) -> Option<i16> {
    word.parse().ok().filter(|year| word.len() == 4 && (1900..2100).contains(year))
}

fn day(word: &str) -> Option<i8> {
    let digits = word.trim_end_matches(|sign: char| sign.is_ascii_alphabetic());
    digits.parse().ok().filter(|day| (1..=31).contains(day))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Query {
        Query::parse(text, 64, 0.5, &text::stemmer())
    }

    #[test]
    fn a_query_keeps_each_stem_once_and_no_stop_words() {
        let query = parse("What did the tests test, and how is it tested?");
        let stems: Vec<_> = query.terms.iter().map(|term| term.stem.as_str()).collect();
        assert_eq!(stems, ["test"]);
    }

    #[test]
    fn a_long_paste_keeps_both_its_ends() {
        let text: Vec<String> = (0..500).map(|number| format!("w{number}")).collect();
        let query = parse(&text.join(" "));
        assert_eq!(query.terms.len(), 64);
        assert_eq!(query.terms.first().unwrap().word, "w0");
        assert_eq!(query.terms.last().unwrap().word, "w499");
    }

    #[test]
    fn dates_are_read_as_people_write_them() {
        let date = |text: &str| parse(text).date.map(|date| (date.year, date.month, date.day));
        assert_eq!(date("what happened on 8 May, 2023?"), Some((Some(2023), 5, Some(8))));
        assert_eq!(date("on October 13th"), Some((None, 10, Some(13))));
        assert_eq!(date("notes of 2024-11-02"), Some((Some(2024), 11, Some(2))));
        assert_eq!(date("in 2024-11"), Some((Some(2024), 11, None)));
        assert_eq!(date("in June 2021"), Some((Some(2021), 6, None)));
        assert_eq!(date("it may march on"), None);
        assert_eq!(date("in 2022"), None);
    }

    #[test]
    fn asking_for_a_time_is_seen() {
        assert!(parse("When was the release?").asks_when);
        assert!(parse("for how long did it run").asks_when);
        assert!(parse("in which year").asks_when);
        assert!(!parse("what breaks when I deploy").asks_when);
    }
}
