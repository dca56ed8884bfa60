//! Records to lines. Keys have a fixed order, so equal records give equal bytes.

use super::packed::{PACKED, shorten};
use super::{ANCHOR, DATA, DECISION_PREFIX, ORIGIN, PROVENANCE};
use crate::envelope::{Envelope, Side};
use everfold_kernel::record::{ActSum, Keeps, SumVerdict};
use everfold_kernel::{
    AssistantEntry, Attachment, Block, BlockProvenance, Boundary, Decision, Entry, Record,
    RecordId, Tokens, Usage, UserEntry, UserOrigin,
};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

/// One JSON line, without its newline.
#[must_use]
pub fn encode(record: &Record, envelope: &Envelope) -> String {
    let line = match &record.entry {
        Entry::User(user) => {
            let mut line = opening("user", None, record, envelope);
            put_user(&mut line, user, envelope);
            line
        }
        Entry::Assistant(assistant) => {
            let mut line = opening("assistant", None, record, envelope);
            put_assistant(&mut line, assistant);
            line
        }
        Entry::Attachment(attachment) => {
            let mut line = opening("attachment", None, record, envelope);
            put(&mut line, "attachment", attachment_body(attachment));
            put(&mut line, "rendered", json!([{"content": attachment.rendered}]));
            put_provenance(&mut line, attachment.provenance.map(BlockProvenance::whole).as_slice());
            line
        }
        Entry::Decision(decision) => {
            let (kind, payload) = decision_parts(decision);
            let subtype = format!("{DECISION_PREFIX}{kind}");
            let mut line = opening("system", Some(&subtype), record, envelope);
            put_system(&mut line, &decision_text(decision));
            put(&mut line, "isMeta", true);
            put(&mut line, "everfold", payload);
            line
        }
        Entry::Boundary(boundary) => {
            let mut line = opening("system", Some("compact_boundary"), record, envelope);
            if let Some(last) = &boundary.last_before {
                put(&mut line, "logicalParentUuid", last.as_str());
            }
            put_system(&mut line, "Conversation compacted");
            put(&mut line, "compactMetadata", boundary_metadata(record, boundary));
            line
        }
        Entry::Opaque(value) => opaque(record, value),
    };
    Value::Object(line).to_string()
}

fn put(line: &mut Map<String, Value>, key: &str, value: impl Into<Value>) {
    line.insert(key.to_owned(), value.into());
}

/// The fields that every line starts with.
fn opening(
    kind: &str,
    subtype: Option<&str>,
    record: &Record,
    envelope: &Envelope,
) -> Map<String, Value> {
    let mut line = Map::new();
    put(&mut line, "type", kind);
    if let Some(subtype) = subtype {
        put(&mut line, "subtype", subtype);
    }
    put(&mut line, "uuid", record.id.as_str());
    put(&mut line, "parentUuid", record.parent.as_ref().map(RecordId::as_str));
    put(&mut line, "sessionId", envelope.session.as_str());
    put(&mut line, "timestamp", time(record.at));
    put(&mut line, "cwd", envelope.cwd.as_str());
    put(&mut line, "version", envelope.version.as_str());
    put(&mut line, "gitBranch", envelope.git_branch.as_deref().unwrap_or(""));
    put(&mut line, "userType", "external");
    put(&mut line, "entrypoint", envelope.entrypoint.as_str());
    put(&mut line, "isSidechain", envelope.side != Side::Main);
    if let Side::Agent(Some(agent)) = &envelope.side {
        put(&mut line, "agentId", agent.as_str());
    }
    if let Some(original) = &envelope.forked_from {
        put(&mut line, "forkedFrom", original.to_value());
    }
    line
}

/// ISO 8601 with milliseconds and `Z`.
pub(crate) fn time(at: Timestamp) -> String {
    format!("{at:.3}")
}

fn put_user(line: &mut Map<String, Value>, user: &UserEntry, envelope: &Envelope) {
    match user.origin {
        UserOrigin::Meta => put(line, "isMeta", true),
        UserOrigin::CompactSummary => {
            put(line, "isCompactSummary", true);
            put(line, "isVisibleInTranscriptOnly", true);
        }
        UserOrigin::Human | UserOrigin::ToolResult => {}
    }
    if let Some(name) = origin_mark(user) {
        put(line, ORIGIN, name);
    }
    let short = shorten(user, &envelope.previews);
    let (blocks, result) = match &short {
        Some(short) => (&short.content, &short.tool_use_result),
        None => (&user.content, &user.tool_use_result),
    };
    let content = match blocks.as_slice() {
        [only] => plain(only).map(Value::from),
        _ => None,
    };
    let content = content.unwrap_or_else(|| blocks.iter().map(block_value).collect());
    put(line, "message", json!({"role": "user", "content": content}));
    if let Some(result) = result {
        put(line, "toolUseResult", result.clone());
    }
    put_provenance(line, &user.provenance);
    if let Some(short) = short {
        put_packed(line, short.packed);
    }
    if let Some(call) = &envelope.source_tool_assistant {
        put(line, "sourceToolAssistantUUID", call.as_str());
    }
}

/// The whole of what a line says in short.
fn put_packed(line: &mut Map<String, Value>, packed: Value) {
    let own = line.entry("everfold").or_insert_with(|| json!({}));
    if let Some(own) = own.as_object_mut() {
        own.insert(PACKED.to_owned(), packed);
    }
}

/// Whose words the blocks of a line are, under a key of our own (L5.33).
fn put_provenance(line: &mut Map<String, Value>, provenance: &[BlockProvenance]) {
    if !provenance.iter().all(BlockProvenance::is_unknown) {
        put(line, "everfold", json!({ PROVENANCE: provenance }));
    }
}

/// The name of the origin, where a reader would take it for another one.
fn origin_mark(user: &UserEntry) -> Option<&'static str> {
    let has_result = user.content.iter().any(|b| b.kind() == "tool_result");
    match (user.origin, has_result) {
        (UserOrigin::Human, true) => Some("human"),
        (UserOrigin::Meta, true) => Some("meta"),
        (UserOrigin::ToolResult, false) => Some("tool_result"),
        _ => None,
    }
}

/// The text of a block that has nothing but text. The order of its keys
/// counts: it is part of the bytes that a model is sent.
fn plain(block: &Block) -> Option<&str> {
    let mut fields = block.as_map().iter();
    match (fields.next(), fields.next(), fields.next()) {
        (Some((first, kind)), Some((second, Value::String(text))), None)
            if first == "type" && kind == "text" && second == "text" =>
        {
            Some(text)
        }
        _ => None,
    }
}

fn block_value(block: &Block) -> Value {
    Value::Object(block.as_map().clone())
}

fn put_assistant(line: &mut Map<String, Value>, entry: &AssistantEntry) {
    put(
        line,
        "message",
        json!({
            "id": entry.message_id,
            "type": "message",
            "role": "assistant",
            "model": entry.model,
            "content": [block_value(&entry.block)],
            "stop_reason": entry.stop_reason,
            "stop_sequence": null,
            "usage": usage_value(&entry.usage),
        }),
    );
    if let Some(request) = &entry.request_id {
        put(line, "requestId", request.as_str());
    }
    put(line, "apiBlockIndex", entry.index);
    put_provenance(line, &[BlockProvenance::whole(entry.provenance())]);
}

fn usage_value(usage: &Usage) -> Value {
    let mut value = json!({
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.cache_write_5m.saturating_add(usage.cache_write_1h),
        "cache_read_input_tokens": usage.cache_read,
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.cache_write_5m,
            "ephemeral_1h_input_tokens": usage.cache_write_1h,
        },
        "output_tokens": usage.output,
    });
    if let (1.., Value::Object(map)) = (usage.web_searches, &mut value) {
        let searched = json!({"web_search_requests": usage.web_searches});
        map.insert("server_tool_use".into(), searched);
    }
    value
}

/// The kind and the data beside it; data that would not come back from there
/// goes under a key of its own.
fn attachment_body(attachment: &Attachment) -> Value {
    let mut body = Map::new();
    put(&mut body, "type", attachment.kind.as_str());
    match &attachment.data {
        Value::Null => {}
        Value::Object(data)
            if !data.is_empty() && !data.contains_key("type") && !data.contains_key(DATA) =>
        {
            body.extend(data.clone());
        }
        other => put(&mut body, DATA, other.clone()),
    }
    Value::Object(body)
}

fn put_system(line: &mut Map<String, Value>, text: &str) {
    put(line, "content", text);
    put(line, "level", "info");
}

/// The kind of a decision and everything else of it.
fn decision_parts(decision: &Decision) -> (String, Value) {
    let mut payload = serde_json::to_value(decision).unwrap_or_default();
    let kind = payload.as_object_mut().and_then(|fields| fields.shift_remove("kind"));
    let kind = kind.and_then(|kind| kind.as_str().map(str::to_owned));
    (kind.unwrap_or_default(), payload)
}

/// What a person who reads the file is told.
fn decision_text(decision: &Decision) -> String {
    match decision {
        Decision::Prelude(prelude) => format!(
            "Requests from here on: model {}, {} tools",
            prelude.params.model,
            prelude.tools.len()
        ),
        Decision::Booked(booking) => {
            let cost = booking.cost.map_or_else(String::new, |cost| format!(", ${:.4}", cost.0));
            format!(
                "Request of {} to {}: {} tokens in, {} out{cost}",
                booking.source,
                booking.model,
                booking.usage.prompt().0,
                booking.usage.output
            )
        }
        Decision::Retracted { message_id, reason } => {
            format!("Response {message_id} taken back: {reason}")
        }
        Decision::Spilled(spilled) => {
            format!("Result {} of {} characters went to disk", spilled.tool_use_id, spilled.chars)
        }
        Decision::Cleared(cleared) => {
            format!("{} old tool results cleared", cleared.results.len())
        }
        Decision::CacheEdited { tool_use_ids } => {
            format!("{} tool results dropped from the cache", tool_use_ids.len())
        }
        Decision::ServerCleared { edits } => {
            let tokens: Tokens = edits.iter().map(|edit| edit.cleared_input_tokens).sum();
            format!("The server cleared {} tokens of the prompt", tokens.0)
        }
        Decision::Snipped { from, to, .. } => format!("Records {from} to {to} taken out of view"),
        Decision::Collapsed { from, to, .. } => format!("Records {from} to {to} summarised"),
        Decision::Voided { decision } => format!("Decision {decision} taken back"),
        Decision::Pinned { record } => format!("Record {record} pinned"),
        Decision::Unpinned { record } => format!("Record {record} no longer pinned"),
        Decision::CompactionFailed { reason, .. } => format!("Compaction failed: {reason}"),
        Decision::Noted { through, tokens } => {
            format!("The notes, of {tokens} tokens, cover all up to {through}")
        }
        Decision::NotesTried { reason, .. } => format!("No notes were taken: {reason}"),
        Decision::Weighed(sum) => weighed_text(sum),
        Decision::HookFailed { event, handler, reason } => {
            format!("The {event} hook {handler:?} failed: {reason}")
        }
        Decision::BreakSeen(seen) => {
            format!("The prompt cache broke ({}): {} tokens were not read", seen.part, seen.tokens)
        }
        Decision::Extracted(extracted) => format!(
            "Reviewed for memories: {} saved, {} refused",
            extracted.saved.len(),
            extracted.refused.len()
        ),
        Decision::Rewound(rewound) => format!("Went back to {}", rewound.point),
    }
}

fn weighed_text(sum: &ActSum) -> String {
    let done = match sum.verdict {
        SumVerdict::Done => "done",
        SumVerdict::Left => "left",
    };
    let (costs, saves) = (sum.cost().0, sum.saving().0);
    format!("{} ({}): costs ${costs:.4}, saves ${saves:.4}, {done}", sum.act, sum.source)
}

fn boundary_metadata(record: &Record, boundary: &Boundary) -> Value {
    let mut fields = Map::new();
    put(&mut fields, "trigger", boundary.trigger.as_str());
    put(&mut fields, "preTokens", boundary.pre_tokens);
    for (key, value) in &boundary.metadata {
        if !fields.contains_key(key) {
            put(&mut fields, key, value.clone());
        }
    }
    let own = record.id.as_str();
    if boundary.preserved.is_empty() && boundary.keeps == Keeps::Suffix {
        return Value::Object(fields);
    }
    let anchor = match boundary.keeps {
        Keeps::Prefix => Value::from(own),
        Keeps::Suffix => match boundary.metadata.get(ANCHOR) {
            Some(Value::String(anchor)) if anchor != own => {
                fields.shift_remove(ANCHOR).unwrap_or_default()
            }
            _ => Value::Null,
        },
    };
    put(&mut fields, "preservedMessages", json!({ANCHOR: anchor, "uuids": boundary.preserved}));
    Value::Object(fields)
}

/// A line that was kept whole goes back whole, with the record's own place in
/// the chain.
fn opaque(record: &Record, value: &Value) -> Map<String, Value> {
    let mut line = match value {
        Value::Object(line) => line.clone(),
        other => Map::from_iter([
            ("type".to_owned(), Value::from("everfold_value")),
            ("value".to_owned(), other.clone()),
        ]),
    };
    put(&mut line, "uuid", record.id.as_str());
    put(&mut line, "parentUuid", record.parent.as_ref().map(RecordId::as_str));
    let written = super::decode::read_time(line.get("timestamp"));
    if written.unwrap_or(Timestamp::UNIX_EPOCH) != record.at {
        put(&mut line, "timestamp", time(record.at));
    }
    line
}
