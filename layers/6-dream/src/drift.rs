//! What memories name and no longer holds (L6.8): looked up by the program,
//! handed to the agent, and told to the person.

use crate::tidy::day_of;
use crate::{Texts, topics};
use everfold_kernel::ports::{Names, Stored};
use everfold_memory_file::Memory;
use everfold_memory_judge::drift::{Reference, references};
use jiff::civil::Date;

/// What memories name that could be looked for.
#[must_use]
pub fn names(texts: &Texts) -> Names {
    let mut names = Names::default();
    for (_, reference) in named(texts) {
        reference.collect(&mut names);
    }
    names
}

/// What no longer holds, given the names that are missing.
#[must_use]
pub fn findings(texts: &Texts, stored: &Stored, missing: &Names, today: Date) -> Vec<String> {
    let gone = named(texts).filter(|(path, reference)| {
        let text = texts.get(*path).map(String::as_str).unwrap_or_default();
        reference.is_gone(missing, day_of(path, text, stored), today)
    });
    gone.map(|(path, reference)| format!("{path} {reference}")).collect()
}

fn named(texts: &Texts) -> impl Iterator<Item = (&str, Reference)> {
    topics(texts).flat_map(|(path, text)| {
        references(Memory::parse(text).body).into_iter().map(move |found| (path, found))
    })
}
