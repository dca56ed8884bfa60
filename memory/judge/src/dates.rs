//! One-off relative times become absolute when a memory is saved (L5.6, L5.34).
//!
//! "By Friday" means nothing a month later. Words that name one day, week or
//! month are replaced by it, seen from the day they were said. What recurs or
//! holds in general stays, and so do names, code and quotations: a wrong date
//! does more harm than a missing one, so whatever could mean two things is left
//! alone.
//!
//! The words stand in a table for each language (`dates/words/*.txt`); one
//! engine reads them all:
//!
//! - `shield`: what is code, an address or a quotation.
//! - `token`: words, their gaps, sentences and clauses.
//! - `lexicon`: the tables, read once, and what matches where.
//! - `guard`: why a match stays as it is.
//! - `calendar`: which day is meant.

mod calendar;
mod guard;
mod lexicon;
mod phrase;
mod shield;
mod token;
mod word;

#[cfg(test)]
mod tests;

use everfold_memory_file::Memory;
use everfold_memory_file::frontmatter::{Key, Value, set};
use guard::Reading;
use jiff::civil::Date;
use lexicon::{LEXICON, Lexicon};

/// A date can make the words beside it plain ("from Monday to next Friday"), so
/// the text is read again until nothing changes: that is what makes it
/// idempotent. Two rounds do in practice.
const MAX_ROUNDS: usize = 16;

/// The text with its one-off relative times made absolute, seen from `today`.
#[must_use]
pub fn absolute(text: &str, today: Date) -> String {
    let lexicon = &*LEXICON;
    let mut now = text.to_owned();
    for _ in 0..MAX_ROUNDS {
        match replaced(&now, today, lexicon) {
            Some(next) => now = next,
            None => break,
        }
    }
    now
}

/// A whole file with the relative times of its description and its body made
/// absolute.
#[must_use]
pub fn absolute_file(file: &str, day: Date) -> String {
    let memory = Memory::parse(file);
    let head = file.strip_suffix(memory.body).unwrap_or_default();
    let dated = format!("{head}{}", absolute(memory.body, day));
    let Some(description) = memory.front.description.filter(|_| memory.fault.is_none()) else {
        return dated;
    };
    let new = absolute(&description, day);
    if new == description {
        return dated;
    }
    set(&dated, Key::Top("description"), &Value::Text(new)).unwrap_or(dated)
}

/// `None` where nothing changes.
fn replaced(text: &str, today: Date, lexicon: &Lexicon) -> Option<String> {
    let shield = shield::ranges(text);
    let tokens = token::tokens(text, &shield, |word| lexicon.id(word));
    let (found, marks) = lexicon.matches(&tokens);
    if found.is_empty() {
        return None;
    }
    let reading = Reading { text, tokens: &tokens, marks: &marks, lexicon };
    let mut out = String::with_capacity(text.len() + 32);
    let mut done = 0;
    for hit in &found {
        if reading.stays(hit) {
            continue;
        }
        let Some(words) = calendar::resolved(hit, &reading, today) else { continue };
        let (start, end) = reading.place(hit);
        out.push_str(text.get(done..start).unwrap_or_default());
        push_apart(&mut out, &words);
        done = end;
        // Japanese writes "明日15時" without a blank; the date needs one.
        if text
            .get(done..)
            .is_some_and(|rest| rest.starts_with(|sign: char| sign.is_ascii_alphanumeric()))
        {
            out.push(' ');
        }
    }
    out.push_str(text.get(done..).unwrap_or_default());
    (done > 0 && out != text).then_some(out)
}

fn push_apart(out: &mut String, words: &str) {
    if out.ends_with(|sign: char| sign.is_ascii_alphanumeric()) {
        out.push(' ');
    }
    out.push_str(words);
}
