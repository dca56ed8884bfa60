//! The specifics of a sentence: numbers, names, addresses, paths, commands. A
//! model may say ordinary words in its own way; these it may not invent.

use super::facets::{Specific, is_general, words};
use super::glossary;
use super::tongue::Tongue;
use crate::folding::{folded, is_spaceless};
use crate::pattern::patterns;

/// Short forms that are words by now.
const COMMON: &[&str] = &[
    "api", "apis", "url", "urls", "id", "ids", "ui", "ux", "pr", "prs", "ci", "cd", "ok", "utc",
    "sql", "http", "https", "json", "yaml", "html", "css", "cli", "todo", "fyi", "os", "db", "qa",
    "faq", "eod", "i", "i'm", "i'd", "i've", "am", "pm", "it",
];

/// The specifics of a cleaned sentence that is written in this language.
pub(super) fn specifics(sentence: &str, tongue: Option<Tongue>) -> Vec<Specific> {
    let mut found = Vec::new();
    let mut prose = String::with_capacity(sentence.len());
    for (at, part) in sentence.split('`').enumerate() {
        // Every second part stands between two marks of code.
        if at % 2 == 1 {
            let run = words(&folded(part));
            if run.len() > 1 {
                found.push(Specific::Run(run));
            } else {
                found.extend(run.into_iter().filter(|word| !is_general(word)).map(Specific::Name));
            }
            found.extend(exact(part.trim()));
            prose.push_str(" x ");
        } else {
            prose.push_str(part);
        }
    }
    let capitals = names_by_capital(&prose, tongue);
    let mut opens = true;
    for chunk in prose.split_whitespace() {
        for piece in spaced(chunk) {
            found.extend(specific(
                piece,
                if opens { Place::Opening } else { Place::Within },
                capitals,
            ));
        }
        opens = chunk.ends_with([':', '.', '!', '?', '—', '–', '-', '"', '*', '>', '”'])
            || chunk.chars().all(|sign| !sign.is_alphanumeric())
            || chunk.starts_with(['(', '"', '“', '\'']) && chunk.len() == 1;
    }
    found
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Opening,
    Within,
}

/// Whether a capital letter within a sentence makes a name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Capitals {
    Names,
    /// It is a title, or German: every noun has one.
    Nothing,
}

fn names_by_capital(prose: &str, tongue: Option<Tongue>) -> Capitals {
    let long: Vec<&str> =
        prose.split_whitespace().filter(|word| word.chars().count() > 3).collect();
    let capital = long.iter().filter(|word| word.starts_with(char::is_uppercase)).count();
    let is_title = long.len() > 2 && capital * 10 > long.len() * 7;
    if is_title || tongue == Some(Tongue::German) { Capitals::Nothing } else { Capitals::Names }
}

/// The parts of a chunk that are not of a script without spaces.
fn spaced(chunk: &str) -> impl Iterator<Item = &str> {
    chunk
        .split(|sign: char| {
            is_spaceless(sign)
                || matches!(sign, '，' | '。' | '、' | '（' | '）' | '：' | '；' | '…')
        })
        .map(|piece| {
            let start = piece.trim_start_matches(|sign: char| {
                !(sign.is_alphanumeric() || matches!(sign, '/' | '~' | '.' | '-' | '$' | '@'))
            });
            start.trim_end_matches(|sign: char| !sign.is_alphanumeric())
        })
        .filter(|piece| !piece.is_empty())
}

fn specific(piece: &str, place: Place, capitals: Capitals) -> Vec<Specific> {
    let plain = folded(piece);
    let bare = plain.strip_suffix("'s").unwrap_or(&plain);
    if COMMON.contains(&bare) || bare == "x" {
        return Vec::new();
    }
    if let Some(day) = date(bare) {
        return vec![Specific::Date { day }];
    }
    if let Some(exact) = exact(piece) {
        return vec![exact];
    }
    if bare.contains('/') || bare.contains('–') {
        return bare
            .split(['/', '–'])
            .flat_map(|part| specific(part, Place::Within, Capitals::Nothing))
            .collect();
    }
    let digits = bare.chars().any(|sign| sign.is_ascii_digit());
    let letters = bare.chars().filter(|sign| sign.is_alphabetic()).count();
    if digits && (letters == 0 || MEASURE.is_in(bare)) {
        let runs = bare.split(|sign: char| !sign.is_ascii_digit());
        let plain = runs.map(|run| run.trim_start_matches('0')).filter(|run| !run.is_empty());
        return plain.map(|run| Specific::Number(run.to_owned())).collect();
    }
    if digits || bare.contains(['_', '=', '@', '$']) || bare.contains("::") || bare.contains("()") {
        let run = words(bare);
        return if run.is_empty() { Vec::new() } else { vec![Specific::Run(run)] };
    }
    name(piece, bare, place, capitals).into_iter().collect()
}

fn name(piece: &str, bare: &str, place: Place, capitals: Capitals) -> Option<Specific> {
    if let Some(meant) = glossary::meaning(bare) {
        return glossary::is_day(meant).then(|| Specific::Day(meant.to_owned()));
    }
    let first = piece.chars().next().is_some_and(char::is_uppercase);
    let others = piece.chars().skip(1).filter(|sign| sign.is_uppercase()).count();
    let all = piece.chars().filter(|sign| sign.is_alphabetic()).all(char::is_uppercase);
    // A whole word in capitals may be shouted: then it is an ordinary one.
    let odd = others > 0 && !(all && piece.chars().count() > 5);
    let named = first && place == Place::Within && capitals == Capitals::Names;
    let name = bare.trim_matches(|sign: char| !sign.is_alphanumeric());
    let parts = words(name);
    let general = parts.iter().all(|part| is_general(part));
    ((odd || named) && !general).then(|| match parts.as_slice() {
        [only] => Specific::Name(only.clone()),
        _ => Specific::Name(parts.concat()),
    })
}

/// An address, a path or a flag.
fn exact(piece: &str) -> Option<Specific> {
    let plain = folded(piece);
    let bare = plain.split_once("://").map_or(plain.as_str(), |(_, rest)| rest);
    let bare = bare.trim_end_matches(|sign: char| !sign.is_alphanumeric());
    let is_path = bare.starts_with(['/', '~']) || bare.starts_with("./");
    let deep =
        bare.contains('/') && (bare.matches('/').count() > 1 || bare.contains(['.', '_', '@']));
    let flag = bare.starts_with('-') && bare.len() > 1 && FLAG.is_in(bare);
    let bare_words = bare.split_whitespace().count() == 1;
    let found = bare_words
        && bare.len() > 1
        && (plain.contains("://") || is_path || deep || flag || HOST.is_in(bare));
    found.then(|| Specific::Exact(bare.trim_end_matches('/').to_owned()))
}

fn date(bare: &str) -> Option<String> {
    let found = DATE.find(bare)?;
    Some(found.name("day")?.as_str().trim_start_matches('0').to_owned())
}

patterns! {
    DATE = r"^(?:19|20)\d\d-\d\d-(?P<day>\d\d)(?:t\S*)?$";
    /// A number with a unit, or a time.
    MEASURE = r"^[$€£]?\d[\d.,:–-]*(?:st|nd|rd|th|[a-z]{1,2}|min|sec|hrs?|days?|-?day|-?hour|-?minute|-?second|-?year|-?week)?$";
    HOST = r"^\.?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.[a-z][a-z0-9]+(?:[:/?#].*)?$|^\d+\.\d+\.\d+\.\d+(?:[:/].*)?$|^\.[a-z]\w+$";
    FLAG = r"^--?[a-z]";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l5_23_specifics_are_told_from_ordinary_words() {
        let found =
            specifics("Ask Noor at fra.example, run `just quick` after 18:00 on Fridays.", None);
        let expected = [
            Specific::Run(vec!["just".into(), "quick".into()]),
            Specific::Name("noor".into()),
            Specific::Exact("fra.example".into()),
            Specific::Number("18".into()),
            Specific::Day("friday".into()),
        ];
        assert_eq!(found, expected);
        assert_eq!(specifics("The person likes short answers and/or lists.", None), []);
        assert_eq!(specifics("Real Database In Tests", None), []);
        for pattern in [&DATE, &MEASURE, &HOST, &FLAG] {
            assert_eq!(pattern.faults(), [""; 0]);
        }
    }
}
