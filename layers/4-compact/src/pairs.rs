//! What stays together: a result with its call, thinking with its message.

use everfold_kernel::record::Keeps;
use everfold_kernel::{BlockView, Boundary, Entry, Record, RecordId, Role, Timestamp};
use everfold_prefix::{Fold, Message, Piece};
use std::collections::BTreeSet;

/// Every piece with its speaker, oldest first.
pub(crate) fn pieces(fold: &Fold) -> impl DoubleEndedIterator<Item = (Role, &Piece)> {
    fold.messages().iter().flat_map(|m| m.pieces().iter().map(move |piece| (m.role(), piece)))
}

/// Where the pieces of a record are among all pieces.
pub(crate) fn position(fold: &Fold, record: &RecordId) -> Option<(usize, usize)> {
    let mut own = pieces(fold)
        .enumerate()
        .filter(|(_, (_, piece))| piece.record == *record)
        .map(|(index, _)| index);
    let first = own.next()?;
    Some((first, own.last().unwrap_or(first)))
}

/// The wanted records with all that cannot be told apart from them, in order.
pub(crate) fn close(fold: &Fold, wanted: &BTreeSet<RecordId>) -> Vec<RecordId> {
    let mut kept = wanted.clone();
    for (index, message) in fold.messages().iter().enumerate() {
        if message.role() == Role::Assistant {
            let group = exchange(message, fold.messages().get(index + 1));
            if group.iter().any(|record| kept.contains(*record)) {
                kept.extend(group.into_iter().cloned());
            }
        }
    }
    in_order(fold, |record| kept.contains(record))
}

/// The records of a response and of the results that answer it.
fn exchange<'a>(response: &'a Message, next: Option<&'a Message>) -> Vec<&'a RecordId> {
    let calls: BTreeSet<&str> = response.tool_calls().collect();
    let answers = next.into_iter().flat_map(Message::pieces).filter(
        |piece| matches!(piece.block.view(), BlockView::ToolResult { id, .. } if calls.contains(id)),
    );
    response.pieces().iter().chain(answers).map(|piece| &piece.record).collect()
}

/// The records in view that `choose` takes, each once, in order.
pub(crate) fn in_order(fold: &Fold, choose: impl Fn(&RecordId) -> bool) -> Vec<RecordId> {
    let mut seen = BTreeSet::new();
    pieces(fold)
        .map(|(_, piece)| &piece.record)
        .filter(|record| choose(record) && seen.insert((*record).clone()))
        .cloned()
        .collect()
}

/// The conversation with nothing but these records.
pub(crate) fn only(fold: &Fold, records: &[RecordId]) -> Fold {
    let mut part = fold.clone();
    part.push(record(Entry::Boundary(Boundary {
        trigger: String::new(),
        pre_tokens: 0,
        last_before: None,
        preserved: records.to_vec(),
        keeps: Keeps::Prefix,
        metadata: serde_json::Map::new(),
    })));
    part
}

/// An entry as a record that is folded for a look and never written.
pub(crate) fn record(entry: Entry) -> Record {
    Record { id: RecordId::new(""), parent: None, at: Timestamp::UNIX_EPOCH, entry }
}
