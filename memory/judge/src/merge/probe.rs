//! A quick look at a memory, before it is read: whether any of its words could
//! be one of the statement's. It lets through too many, never too few.

use super::heard::Heard;
use super::keys::CONTENT;
use super::lexicon;
use super::words::Kind;
use crate::gate::Known;
use std::collections::BTreeSet;

/// The first signs of a word; a root that is shared has them at least.
type Start = [char; 3];

/// The starts of all words that a statement may meet.
pub(super) struct Probe {
    starts: BTreeSet<Start>,
    /// Its words have no bounds that can be seen.
    is_open: bool,
}

impl Probe {
    pub(super) fn of(heard: &Heard) -> Self {
        let mut starts = BTreeSet::new();
        let mut is_open = false;
        for word in heard.words().filter(|word| word.kind.weight() >= CONTENT) {
            is_open |= word.kind == Kind::Signs || has_signs(&word.lower);
            starts.extend(runs(&word.lower));
            starts.extend(runs(&word.key));
            starts.extend(lexicon::akin(&word.lower).flat_map(runs));
        }
        Self { starts, is_open }
    }

    pub(super) fn may_meet(&self, known: &Known) -> bool {
        let texts = [&known.name, &known.description, &known.body];
        self.is_open
            || texts
                .into_iter()
                .any(|text| has_signs(text) || runs(text).any(|start| self.starts.contains(&start)))
    }
}

fn has_signs(text: &str) -> bool {
    !text.is_ascii() && text.chars().any(|sign| sign >= '\u{3040}')
}

/// The start of each run of letters and digits, in lower case.
fn runs(text: &str) -> impl Iterator<Item = Start> {
    text.split(|sign: char| !sign.is_alphanumeric()).filter(|run| !run.is_empty()).map(|run| {
        let mut start = [' '; 3];
        for (place, sign) in start.iter_mut().zip(run.chars()) {
            *place = sign.to_lowercase().next().unwrap_or(sign);
        }
        start
    })
}
