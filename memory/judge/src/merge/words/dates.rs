//! Dates of several words.

use super::{Kind, Word};

/// A month and the numbers around it become one date.
pub(super) fn dated(words: Vec<Word>) -> Vec<Word> {
    let mut found: Vec<Word> = Vec::with_capacity(words.len());
    for word in words {
        let joins = found.last().is_some_and(|before| continues(before, &word));
        match found.last_mut() {
            Some(before) if joins => {
                before.end = word.end;
                before.key = format!("{} {}", before.key, word.key);
                before.lower = format!("{} {}", before.lower, word.lower);
                before.kind = Kind::Date;
            }
            _ => found.push(word),
        }
    }
    for at in 0..found.len() {
        // A day before its month, with the small words between them.
        let small = |word: &Word| matches!(word.lower.as_str(), "de" | "of" | "the");
        let gap = usize::from(found.get(at + 1).is_some_and(small));
        let is_day =
            found.get(at).is_some_and(|word| word.kind == Kind::Number && is_day(&word.key));
        let month = found.get(at + 1 + gap).filter(|word| word.key.starts_with("month "));
        if let Some((end, key)) =
            month.filter(|_| is_day).map(|month| (month.end, month.key.clone()))
        {
            if let Some(day) = found.get_mut(at) {
                (day.end, day.kind, day.key) = (end, Kind::Date, format!("{key} {}", day.key));
            }
            found.drain(at + 1..at + 2 + gap);
        }
    }
    found
}

/// Whether a number goes on with the date before it.
fn continues(before: &Word, word: &Word) -> bool {
    let near = word.start.saturating_sub(before.end) <= 2;
    let is_year = word.key.len() == 4 && (word.key.starts_with("20") || word.key.starts_with("19"));
    let fits = is_year || (is_day(&word.key) && before.kind != Kind::Date);
    near && word.kind == Kind::Number && before.key.starts_with("month ") && fits
}

fn is_day(key: &str) -> bool {
    key.parse::<u32>().is_ok_and(|day| (1..=31).contains(&day))
}
