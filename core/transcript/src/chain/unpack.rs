//! How much of results a rebuild holds.

use crate::line::Packed;
use everfold_kernel::{BlockView, Decision, Entry, Record, RecordId, ToolUseId, UserEntry};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Leaves of a result's structured form these fields; all where none is named.
pub(super) fn slim(user: &mut UserEntry, fields: &[&str]) {
    if !fields.is_empty() {
        user.tool_use_result = only(user.tool_use_result.take(), fields);
    }
}

/// The object with these fields alone; none where it has none of them.
fn only(value: Option<Value>, names: &[&str]) -> Option<Value> {
    let Value::Object(mut fields) = value? else { return None };
    let kept: Map<String, Value> =
        names.iter().filter_map(|name| fields.shift_remove_entry(*name)).collect();
    (!kept.is_empty()).then_some(Value::Object(kept))
}

/// Puts back results whose short form no decision stands for. Those that one
/// does stay short: every request shows them so, and the copy is large.
pub(super) fn restore(
    records: &mut [Record],
    packed: &BTreeMap<RecordId, Packed>,
    fields: &[&str],
) {
    if packed.is_empty() {
        return;
    }
    let spilled = spilled(records);
    for record in records {
        let (Some(packed), Entry::User(user)) = (packed.get(&record.id), &mut record.entry) else {
            continue;
        };
        let is_spilled = user.content.iter().all(|block| match block.view() {
            BlockView::ToolResult { id, .. } => spilled.contains(&ToolUseId::new(id)),
            _ => true,
        });
        if !is_spilled {
            // A copy that is damaged leaves what the model was shown.
            let _ = packed.restore(user);
            slim(user, fields);
        }
    }
}

/// The calls whose results are shown by previews.
fn spilled(records: &[Record]) -> BTreeSet<ToolUseId> {
    let voided: BTreeSet<&RecordId> = records
        .iter()
        .filter_map(|record| match &record.entry {
            Entry::Decision(Decision::Voided { decision }) => Some(decision),
            _ => None,
        })
        .collect();
    let decided = records.iter().filter_map(|record| match &record.entry {
        Entry::Decision(Decision::Spilled(spilled)) if !voided.contains(&record.id) => {
            Some(spilled.tool_use_id.clone())
        }
        _ => None,
    });
    decided.collect()
}
