//! Pins: what a person keeps word for word through every compaction (L4.16).

use crate::error::Error;
use crate::pairs;
use everfold_kernel::{Decision, Limits, RecordId, Tokens};
use everfold_prefix::Fold;
use std::collections::BTreeSet;

/// Tokens that the pins hold, with all that stays for their sake: a pinned
/// result keeps its call.
#[must_use]
pub fn tokens(fold: &Fold) -> Tokens {
    held(fold, &fold.pins().cloned().collect())
}

/// Pins a record, if it is in view and the pins stay within their limit.
///
/// # Errors
/// If they would not, or it is pinned already.
pub fn pin(fold: &Fold, record: &RecordId, limits: &Limits) -> Result<Decision, Error> {
    if pairs::position(fold, record).is_none() {
        return Err(Error::UnknownRecord { record: record.clone() });
    }
    let mut pins: BTreeSet<RecordId> = fold.pins().cloned().collect();
    if !pins.insert(record.clone()) {
        return Err(Error::AlreadyPinned { record: record.clone() });
    }
    let tokens = held(fold, &pins).0;
    let max = limits.compact.pin_tokens;
    if tokens > max {
        return Err(Error::PinsFull { tokens, max });
    }
    Ok(Decision::Pinned { record: record.clone() })
}

/// Takes a pin out.
///
/// # Errors
/// If the record is not pinned.
pub fn unpin(fold: &Fold, record: &RecordId) -> Result<Decision, Error> {
    if fold.pins().any(|pin| pin == record) {
        Ok(Decision::Unpinned { record: record.clone() })
    } else {
        Err(Error::UnknownRecord { record: record.clone() })
    }
}

fn held(fold: &Fold, pins: &BTreeSet<RecordId>) -> Tokens {
    let kept: BTreeSet<RecordId> = pairs::close(fold, pins).into_iter().collect();
    let pieces = pairs::pieces(fold).filter(|(_, piece)| kept.contains(&piece.record));
    fold.calibration().apply(pieces.map(|(_, piece)| piece.tokens).sum())
}
