//! The same conversation under another name (`--fork-session`).
//!
//! A fork is a transcript of its own: every record gets a new id and says
//! which one it was copied from. Ids that a server issued (of responses,
//! requests and calls) stay, so a fork sends the bytes that its parent sent.
//! Titles and shortened results are bookkeeping lines; whoever forks writes
//! them again (see [`bookkeeping`](crate::bookkeeping)).

use crate::envelope::{Envelope, ForkedFrom};
use crate::line::{ANCHOR, encode};
use everfold_kernel::record::{Extracted, Rewound};
use everfold_kernel::{BlockView, Decision, Entry, Record, RecordId, SessionId};
use serde_json::Value;
use std::collections::BTreeMap;

/// Fields that a copy does not have.
const DROPPED: [&str; 4] = ["teamName", "agentName", "slug", "sourceToolAssistantUUID"];

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ForkedTranscript {
    pub records: Vec<Record>,
    /// The lines of its transcript, one for each record.
    pub lines: Vec<String>,
}

/// Copies the records of session `from` into the session that `envelope`
/// names, in order. `fresh` gives a new id each time.
pub fn fork(
    records: &[Record],
    from: &SessionId,
    envelope: &Envelope,
    fresh: &mut dyn FnMut() -> String,
) -> ForkedTranscript {
    let ids: BTreeMap<&RecordId, RecordId> =
        records.iter().map(|record| (&record.id, RecordId::from(fresh()))).collect();
    let renamed = |id: &RecordId| ids.get(id).cloned();
    let previews: BTreeMap<&str, &str> = records.iter().filter_map(preview).collect();
    let mut callers: BTreeMap<&str, &RecordId> = BTreeMap::new();
    let mut fork = ForkedTranscript::default();
    for original in records {
        let Some(id) = renamed(&original.id) else {
            continue;
        };
        let mut envelope = envelope
            .clone()
            .forked_from(ForkedFrom { session: from.clone(), record: original.id.clone() });
        let mut record = Record {
            parent: original.parent.as_ref().and_then(renamed),
            entry: copy(&original.entry, &renamed),
            at: original.at,
            id,
        };
        copy_whole_line(&mut record, &envelope);
        if let Some(call) = caller(&original.entry, &mut callers, &original.id) {
            envelope.source_tool_assistant = renamed(call);
        }
        for id in answered(&original.entry) {
            let preview = previews.get(id).map(|text| (id.into(), (*text).to_owned()));
            envelope.previews.extend(preview);
        }
        fork.lines.push(encode(&record, &envelope));
        fork.records.push(record);
    }
    fork
}

/// What a result on disk is shown by, by its call.
fn preview(record: &Record) -> Option<(&str, &str)> {
    match &record.entry {
        Entry::Decision(Decision::Spilled(spilled)) if spilled.file.is_some() => {
            Some((spilled.tool_use_id.as_str(), &spilled.replacement))
        }
        _ => None,
    }
}

/// The calls that an entry answers.
fn answered(entry: &Entry) -> impl Iterator<Item = &str> {
    let content = match entry {
        Entry::User(user) => user.content.as_slice(),
        _ => &[],
    };
    content.iter().filter_map(|block| match block.view() {
        BlockView::ToolResult { id, .. } => Some(id),
        _ => None,
    })
}

/// Notes the call of a response's block; gives the record of the call that a
/// result answers.
fn caller<'a>(
    entry: &'a Entry,
    callers: &mut BTreeMap<&'a str, &'a RecordId>,
    own: &'a RecordId,
) -> Option<&'a RecordId> {
    match entry {
        Entry::Assistant(assistant) => {
            if let BlockView::ToolUse { id, .. } = assistant.block.view() {
                callers.insert(id, own);
            }
            None
        }
        _ => answered(entry).find_map(|id| callers.get(id).copied()),
    }
}

/// The entry with every id of a record in it renamed. An id that is not among
/// the copied records names nothing in the new file and is dropped.
fn copy(entry: &Entry, renamed: &dyn Fn(&RecordId) -> Option<RecordId>) -> Entry {
    match entry {
        Entry::Boundary(boundary) => {
            let mut boundary = boundary.clone();
            boundary.last_before = boundary.last_before.as_ref().and_then(renamed);
            boundary.preserved = boundary.preserved.iter().filter_map(renamed).collect();
            boundary.metadata.shift_remove("preservedSegment");
            if let Some(Value::String(anchor)) = boundary.metadata.shift_remove(ANCHOR)
                && let Some(anchor) = renamed(&RecordId::from(anchor))
            {
                let anchor = Value::from(anchor.as_str());
                boundary.metadata.insert(ANCHOR.into(), anchor);
            }
            Entry::Boundary(boundary)
        }
        Entry::Decision(decision) => Entry::Decision(copy_decision(decision, renamed)),
        // None of these names another record.
        Entry::User(_) | Entry::Assistant(_) | Entry::Attachment(_) | Entry::Opaque(_) => {
            entry.clone()
        }
    }
}

/// A decision, about the copies of the records that it was about. A record
/// that was not copied keeps its name: nothing is shown differently then.
fn copy_decision(decision: &Decision, renamed: &dyn Fn(&RecordId) -> Option<RecordId>) -> Decision {
    let mut decision = decision.clone();
    let ids: Vec<&mut RecordId> = match &mut decision {
        Decision::Snipped { from, to, .. } | Decision::Collapsed { from, to, .. } => {
            vec![from, to]
        }
        Decision::Rewound(Rewound { point, left, .. }) => vec![point, left],
        Decision::Voided { decision: id }
        | Decision::Noted { through: id, .. }
        | Decision::NotesTried { through: id, .. }
        | Decision::Pinned { record: id }
        | Decision::Unpinned { record: id }
        | Decision::Extracted(Extracted { through: id, .. }) => vec![id],
        Decision::Prelude(_)
        | Decision::Booked(_)
        | Decision::Retracted { .. }
        | Decision::Spilled(_)
        | Decision::Cleared(_)
        | Decision::CacheEdited { .. }
        | Decision::ServerCleared { .. }
        | Decision::CompactionFailed { .. }
        | Decision::HookFailed { .. }
        | Decision::Weighed(_)
        | Decision::BreakSeen(_) => Vec::new(),
    };
    for id in ids {
        if let Some(copy) = renamed(id) {
            *id = copy;
        }
    }
    decision
}

/// A line that is kept whole has its place and its session inside.
fn copy_whole_line(record: &mut Record, envelope: &Envelope) {
    let Entry::Opaque(Value::Object(fields)) = &mut record.entry else {
        return;
    };
    for key in DROPPED {
        fields.shift_remove(key);
    }
    let parent = record.parent.as_ref().map(RecordId::as_str);
    fields.insert("uuid".into(), record.id.as_str().into());
    fields.insert("parentUuid".into(), parent.into());
    fields.insert("sessionId".into(), envelope.session.as_str().into());
    if let Some(original) = &envelope.forked_from {
        fields.insert("forkedFrom".into(), original.to_value());
    }
}
