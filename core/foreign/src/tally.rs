//! What became of the lines.

use serde::Serialize;
use std::collections::BTreeMap;

/// Most names that are kept apart; a hostile file could have a new one on
/// every line.
const MOST_NAMES: usize = 64;
/// The name under which further ones are counted.
const OTHERS: &str = "others";

/// Counts of lines, with names for what was not taken in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ImportTally {
    /// Lines that are not blank.
    pub lines: u64,
    /// Parts that were not taken in, by reason.
    pub skipped: BTreeMap<String, SkippedParts>,
    /// Lines that are no part of a conversation, by their type.
    pub aside: BTreeMap<String, u64>,
}

/// Parts that were not taken in for one reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SkippedParts {
    pub count: u64,
    /// The line of the first, from 1.
    pub first_line: u64,
}

impl ImportTally {
    /// How many parts were not taken in.
    #[must_use]
    pub fn skips(&self) -> u64 {
        self.skipped.values().map(|skip| skip.count).sum()
    }

    pub(crate) fn skip(&mut self, reason: &str, line: u64) {
        let name = known(&self.skipped, reason);
        let skip = self.skipped.entry(name).or_insert(SkippedParts { count: 0, first_line: line });
        skip.count += 1;
    }

    pub(crate) fn set_aside(&mut self, kind: &str) {
        let name = known(&self.aside, kind);
        *self.aside.entry(name).or_insert(0) += 1;
    }
}

fn known<T>(names: &BTreeMap<String, T>, name: &str) -> String {
    if names.contains_key(name) || names.len() < MOST_NAMES {
        name.to_owned()
    } else {
        OTHERS.to_owned()
    }
}
