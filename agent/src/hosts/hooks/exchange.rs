//! A part of a host's conversation that a model takes (X11): it begins with the
//! person, ends with an answer, and no result is without its call.

use super::host_transcript::persons_text;
use everfold_kernel::{BlockView, Entry, Record};
use std::collections::BTreeSet;

/// Where what has its answer ends: behind everything, or before the last message
/// of the person's that has none yet.
pub(super) fn end(records: &[Record]) -> usize {
    let answer = records.iter().rposition(is_answer);
    let asked = records.iter().rposition(|record| persons_text(record).is_some());
    match (asked, answer) {
        (Some(asked), answer) if answer.is_none_or(|answer| answer < asked) => asked,
        _ => records.len(),
    }
}

/// The exchanges of which `is_saved` says no, each with the person's message that
/// it begins with.
pub(super) fn without_saved(
    records: Vec<Record>,
    is_saved: impl Fn(&[Record]) -> bool,
) -> Vec<Record> {
    if !is_saved(&records) {
        return records;
    }
    let mut kept = Vec::with_capacity(records.len());
    let mut rest = records.as_slice();
    while !rest.is_empty() {
        let next = rest.iter().skip(1).position(|record| persons_text(record).is_some());
        let (exchange, after) = rest.split_at(next.map_or(rest.len(), |next| next + 1));
        if !is_saved(exchange) {
            kept.extend_from_slice(exchange);
        }
        rest = after;
    }
    kept
}

/// The records from the first word of the person's on, without results whose
/// calls are not among them.
pub(super) fn valid(records: Vec<Record>) -> Vec<Record> {
    let mut calls: BTreeSet<String> = BTreeSet::new();
    let mut kept = Vec::with_capacity(records.len());
    let spoken = records.into_iter().skip_while(|record| persons_text(record).is_none());
    for mut record in spoken {
        match &mut record.entry {
            Entry::Assistant(answer) => {
                if let BlockView::ToolUse { id, .. } = answer.block.view() {
                    calls.insert(id.to_owned());
                }
            }
            Entry::User(user) => {
                user.content.retain(|block| match block.view() {
                    BlockView::ToolResult { id, .. } => calls.contains(id),
                    _ => true,
                });
                if user.content.is_empty() {
                    continue;
                }
            }
            _ => {}
        }
        kept.push(record);
    }
    kept
}

fn is_answer(record: &Record) -> bool {
    let Entry::Assistant(answer) = &record.entry else { return false };
    matches!(answer.block.view(), BlockView::Text(text) if !text.trim().is_empty())
}
