//! History snip: a range out of the model's view (L4.14).
//!
//! The range grows to whole exchanges, so that no result loses its call. The
//! transcript keeps it; `Decision::Voided` undoes it.

use crate::error::Error;
use crate::{RECALL_TOOL, pairs};
use everfold_kernel::{Decision, RecordId};
use everfold_prefix::Fold;
use std::collections::BTreeSet;

/// Takes the records from one to another out of view.
///
/// # Errors
/// If they are not in view or in the wrong order, or if a pin or a call that
/// waits for its result is among them.
pub fn snip(fold: &Fold, from: &RecordId, to: &RecordId) -> Result<Decision, Error> {
    let at = |record: &RecordId| {
        pairs::position(fold, record).ok_or_else(|| Error::UnknownRecord { record: record.clone() })
    };
    let (first, last) = (at(from)?.0, at(to)?.1);
    if last < first {
        return Err(Error::Backwards { from: from.clone(), to: to.clone() });
    }
    let (first, last) = whole(fold, first, last);
    let range: Vec<RecordId> = pairs::pieces(fold)
        .skip(first)
        .take(last - first + 1)
        .map(|(_, piece)| piece.record.clone())
        .collect();
    if let Some(pin) = fold.pins().find(|pin| range.contains(pin)) {
        return Err(Error::HoldsPin { record: pin.clone() });
    }
    let open = fold.messages().last().filter(|_| !fold.open_calls().is_empty());
    if open.is_some_and(|m| m.pieces().iter().any(|piece| range.contains(&piece.record))) {
        return Err(Error::OpenCall);
    }
    let (from, to) = match (range.first(), range.last()) {
        (Some(from), Some(to)) => (from.clone(), to.clone()),
        _ => return Err(Error::NothingToSummarise),
    };
    let marker = format!(
        "[{} pieces of the conversation were taken out of view here, from record {from} to record {to}. They are in the transcript: {RECALL_TOOL} brings one back by its id, and the snip can be undone.]",
        range.len()
    );
    Ok(Decision::Snipped { from, to, marker })
}

/// Undoes a snip or a collapse: `decision` is its record.
#[must_use]
pub fn undo(decision: &RecordId) -> Decision {
    Decision::Voided { decision: decision.clone() }
}

/// The range, grown until it holds whole records and whole exchanges.
fn whole(fold: &Fold, mut first: usize, mut last: usize) -> (usize, usize) {
    loop {
        let range: BTreeSet<RecordId> = pairs::pieces(fold)
            .skip(first)
            .take(last - first + 1)
            .map(|(_, piece)| piece.record.clone())
            .collect();
        let closed = pairs::close(fold, &range);
        let places = || closed.iter().filter_map(|record| pairs::position(fold, record));
        let grown = (
            places().map(|place| place.0).min().unwrap_or(first).min(first),
            places().map(|place| place.1).max().unwrap_or(last).max(last),
        );
        if grown == (first, last) {
            return grown;
        }
        (first, last) = grown;
    }
}
