//! Whose words a prompt holds, told by its form (L5.33).
//!
//! Hosts hand over prompts without saying what was pasted. What follows an
//! introduction ("summarise this:"), stands in a fence or a quotation, or looks
//! like a log, code, a mail or a document is taken for pasted; a remark after
//! it is the person's again. In doubt, a line that would order something is
//! pasted: a wish that is missed can be said again, an order of a stranger
//! cannot be taken back.

mod form;
mod intro;
mod quotation;
mod reader;

use everfold_kernel::BlockProvenance;
use everfold_kernel::provenance::{Provenance, Source};
use std::ops::Range;

/// The parts of a prompt: what the person typed, and what they pasted, quoted
/// or handed over to be worked on. `pasted` are bytes that are known to be
/// pasted or piped in; the rest is told by its form.
#[must_use]
pub fn split(prompt: &str, pasted: &[Range<usize>]) -> BlockProvenance {
    let known = known(prompt, pasted);
    // What stands between pastes is told by its own form: what introduces a
    // paste ends with it.
    let mut foreign = known.clone();
    let mut at = 0;
    for range in known.iter().cloned().chain(std::iter::once(prompt.len()..prompt.len())) {
        let typed = prompt.get(at..range.start).unwrap_or_default();
        let found = reader::foreign(typed).into_iter();
        foreign.extend(found.map(|found| found.start + at..found.end + at));
        at = range.end;
    }
    foreign.retain(|range| range.start < range.end);
    foreign.sort_unstable_by_key(|range| range.start);
    let mut parts = Vec::new();
    let mut at = 0;
    for range in foreign {
        if range.start > at {
            parts.push((range.start, Provenance::PERSON));
        }
        if range.end > at {
            parts.push((range.end, Source::Pasted.into()));
            at = range.end;
        }
    }
    if at < prompt.len() || parts.is_empty() {
        parts.push((prompt.len(), Provenance::PERSON));
    }
    BlockProvenance::parts(parts)
}

/// The pastes that are known, in order, at bounds of characters.
fn known(prompt: &str, pasted: &[Range<usize>]) -> Vec<Range<usize>> {
    let bound = |range: &Range<usize>| {
        let start = prompt.floor_char_boundary(range.start.min(prompt.len()));
        start..prompt.ceil_char_boundary(range.end.min(prompt.len()))
    };
    let mut known: Vec<Range<usize>> = pasted.iter().map(bound).collect();
    known.sort_unstable_by_key(|range| range.start);
    let mut joined: Vec<Range<usize>> = Vec::new();
    for range in known.into_iter().filter(|range| range.start < range.end) {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}
