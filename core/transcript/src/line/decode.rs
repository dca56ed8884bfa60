//! Lines to records, tolerantly.

use super::packed::{PACKED, Packed, Restored};
use super::repair::{parse, parse_said};
use super::{
    ANCHOR, DATA, DECISION_PREFIX, Decoded, Facts, Gap, Line, LineError, Link, ORIGIN, PROVENANCE,
    SYNTHETIC,
};
use crate::envelope::{ForkedFrom, Side};
use everfold_kernel::record::Keeps;
use everfold_kernel::{
    AssistantEntry, Attachment, Block, BlockProvenance, Boundary, Decision, Entry, MessageId,
    ModelId, Record, RecordId, RequestId, SessionId, Usage, UserEntry, UserOrigin,
};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value};

type Fields = Map<String, Value>;

/// Reads one line.
///
/// # Errors
///
/// When it is not a JSON object, or a message without an id. The caller skips
/// such a line and says so.
pub fn decode(line: &[u8]) -> Result<Decoded, LineError> {
    Ok(restored(decoded(parse(line)?)?))
}

/// The same for a reader to whom a result that went to disk is what the model
/// saw of it: its compressed copy stays as it is, beside the record.
///
/// # Errors
///
/// As [`decode`].
pub fn decode_shown(line: &[u8]) -> Result<Decoded, LineError> {
    decoded(parse(line)?)
}

/// The same for a reader who only asks what was said: a user's line comes
/// without the structured form of its result, which is not even read.
///
/// # Errors
///
/// As [`decode`].
pub fn decode_said(line: &[u8]) -> Result<Decoded, LineError> {
    let mut decoded = restored(decoded(parse_said(line)?)?);
    if let Decoded::Record(line) = &mut decoded
        && let Entry::User(user) = &mut line.record.entry
    {
        user.tool_use_result = None;
    }
    Ok(decoded)
}

/// A line's content from its compressed copy.
fn restored(mut decoded: Decoded) -> Decoded {
    if let Decoded::Record(line) = &mut decoded
        && let (Some(packed), Entry::User(user)) = (line.packed.take(), &mut line.record.entry)
        && packed.restore(user) == Restored::Damaged
    {
        line.facts.gaps.push(Gap::Packed);
    }
    decoded
}

fn decoded((value, repaired): (Value, bool)) -> Result<Decoded, LineError> {
    let Value::Object(mut fields) = value else {
        return Err(LineError::NotAnObject);
    };
    let kind = text(&fields, "type").unwrap_or_default();
    let is_message = matches!(kind, "user" | "assistant" | "system" | "attachment");
    let is_link = kind == "progress";
    let Some(id) = text(&fields, "uuid").map(RecordId::new) else {
        return if is_message {
            Err(LineError::NoUuid)
        } else {
            Ok(Decoded::Bookkeeping(Value::Object(fields)))
        };
    };
    // A line of an unknown type is a part of the chain when it has a place there.
    if !is_message && !is_link && !fields.contains_key("parentUuid") {
        return Ok(Decoded::Bookkeeping(Value::Object(fields)));
    }
    let parent = text(&fields, "parentUuid").map(RecordId::new);
    let mut facts = facts(&fields);
    if repaired {
        facts.gaps.push(Gap::Text);
    }
    if is_link {
        return Ok(Decoded::Link(Box::new(Link { id, parent, facts })));
    }
    let at = read_time(fields.get("timestamp")).unwrap_or_else(|| {
        facts.gaps.push(Gap::Time);
        Timestamp::UNIX_EPOCH
    });
    let packed = packed(&mut fields);
    let mut entries = entries(fields, &id, &mut facts).into_iter();
    let entry = entries.next().unwrap_or(Entry::Opaque(Value::Null));
    let rest = entries
        .zip(1_u32..)
        .map(|(entry, number)| Record {
            id: RecordId::from(format!("{id}.{number}")),
            parent: Some(id.clone()),
            at,
            entry,
        })
        .collect();
    let record = Record { id, parent, at, entry };
    Ok(Decoded::Record(Box::new(Line { record, rest, facts, packed })))
}

/// The compressed copy of a user's line.
fn packed(fields: &mut Fields) -> Option<Packed> {
    let is_user = text(fields, "type") == Some("user");
    let own = fields.get_mut("everfold")?.as_object_mut().filter(|_| is_user)?;
    own.shift_remove(PACKED).map(Packed::new)
}

/// What a line says: one entry, or one for each block of a response. A line
/// that cannot be understood is kept whole.
fn entries(mut fields: Fields, id: &RecordId, facts: &mut Facts) -> Vec<Entry> {
    let known = match text(&fields, "type") {
        Some("user") => user(&mut fields).map(|entry| vec![Entry::User(entry)]),
        Some("assistant") => assistant(&mut fields, id, facts),
        Some("attachment") => attachment(&fields).map(|entry| vec![Entry::Attachment(entry)]),
        Some("system") => system(&mut fields, id).map(|entry| vec![entry]),
        _ => None,
    };
    known.unwrap_or_else(|| vec![Entry::Opaque(Value::Object(fields))])
}

fn text<'a>(fields: &'a Fields, key: &str) -> Option<&'a str> {
    fields.get(key)?.as_str()
}

fn filled(fields: &Fields, key: &str) -> Option<String> {
    text(fields, key).filter(|text| !text.is_empty()).map(str::to_owned)
}

fn is_set(fields: &Fields, key: &str) -> bool {
    fields.get(key).and_then(Value::as_bool).unwrap_or(false)
}

pub(crate) fn read_time(value: Option<&Value>) -> Option<Timestamp> {
    value?.as_str()?.parse().ok()
}

fn facts(fields: &Fields) -> Facts {
    let agent = filled(fields, "agentId");
    // A teammate's lines in this file are not part of our conversation either.
    let aside =
        is_set(fields, "isSidechain") || fields.get("teamName").is_some_and(|v| !v.is_null());
    let forked_from = fields.get("forkedFrom").and_then(|from| {
        Some(ForkedFrom {
            session: SessionId::new(from.get("sessionId")?.as_str()?),
            record: RecordId::new(from.get("messageUuid")?.as_str()?),
        })
    });
    Facts {
        session: filled(fields, "sessionId").map(SessionId::from),
        cwd: filled(fields, "cwd"),
        git_branch: filled(fields, "gitBranch"),
        version: filled(fields, "version"),
        side: if aside { Side::Agent(agent) } else { Side::Main },
        source_tool_assistant: filled(fields, "sourceToolAssistantUUID").map(RecordId::from),
        forked_from,
        gaps: Vec::new(),
    }
}

fn user(fields: &mut Fields) -> Option<UserEntry> {
    let content = match fields.get_mut("message")?.get_mut("content")? {
        Value::String(text) => vec![Block::text(std::mem::take(text))],
        other => blocks(other)?,
    };
    Some(UserEntry {
        origin: origin(fields, &content),
        content,
        provenance: provenance(fields),
        tool_use_result: fields.get_mut("toolUseResult").map(Value::take),
    })
}

/// Whose words the blocks are, as far as the line says so.
fn provenance(fields: &Fields) -> Vec<BlockProvenance> {
    let entries = fields.get("everfold").and_then(|own| own.get(PROVENANCE)?.as_array());
    let read = |entry: &Value| BlockProvenance::deserialize(entry).unwrap_or_default();
    entries.map(|entries| entries.iter().map(read).collect()).unwrap_or_default()
}

/// Takes the blocks out of a content; leaves it alone where it is not a list of
/// them, so that the line can be kept whole.
fn blocks(value: &mut Value) -> Option<Vec<Block>> {
    let items = value.as_array_mut().filter(|items| items.iter().all(Value::is_object))?;
    items.iter_mut().map(|item| Block::from_value(item.take())).collect()
}

fn origin(fields: &Fields, content: &[Block]) -> UserOrigin {
    let kind = fields.get("origin").and_then(|origin| origin.get("kind"));
    match text(fields, ORIGIN) {
        Some("human") => UserOrigin::Human,
        Some("meta") => UserOrigin::Meta,
        Some("tool_result") => UserOrigin::ToolResult,
        _ if is_set(fields, "isCompactSummary") => UserOrigin::CompactSummary,
        _ if content.iter().any(|block| block.kind() == "tool_result") => UserOrigin::ToolResult,
        _ if is_set(fields, "isMeta") => UserOrigin::Meta,
        _ if kind.is_some_and(|kind| kind != "human") => UserOrigin::Meta,
        _ => UserOrigin::Human,
    }
}

/// The blocks of a response; none where no model wrote it, so that it is not
/// sent to one.
fn assistant(fields: &mut Fields, id: &RecordId, facts: &mut Facts) -> Option<Vec<Entry>> {
    let is_error = is_set(fields, "isApiErrorMessage");
    let message = fields.get_mut("message")?.as_object_mut()?;
    if is_error || text(message, "model") == Some(SYNTHETIC) {
        return None;
    }
    let blocks = blocks(message.get_mut("content")?).filter(|blocks| !blocks.is_empty())?;
    let message = fields.get("message")?.as_object()?;
    let model = text(message, "model").unwrap_or_default();
    let index = fields.get("apiBlockIndex").and_then(Value::as_u64);
    let index = index.and_then(|index| u32::try_from(index).ok());
    if index.is_none() {
        facts.gaps.push(Gap::BlockIndex);
    }
    let message_id = text(message, "id").unwrap_or(id.as_str());
    let first = AssistantEntry {
        message_id: MessageId::new(message_id),
        request_id: text(fields, "requestId").map(RequestId::new),
        model: ModelId::new(model),
        index: index.unwrap_or(0),
        block: Block::text(""),
        usage: message.get("usage").map(usage).unwrap_or_default(),
        stop_reason: text(message, "stop_reason").map(str::to_owned),
    };
    let numbered = blocks.into_iter().zip(first.index..);
    let entry = |(block, index)| Entry::Assistant(AssistantEntry { block, index, ..first.clone() });
    Some(numbered.map(entry).collect())
}

/// Old lines give only the sum of cache writes; those were of five minutes.
fn usage(value: &Value) -> Usage {
    let count = |value: &Value, key: &str| value.get(key).and_then(Value::as_u64).unwrap_or(0);
    let by_ttl = value.get("cache_creation").unwrap_or(&Value::Null);
    let five = count(by_ttl, "ephemeral_5m_input_tokens");
    let hour = count(by_ttl, "ephemeral_1h_input_tokens");
    let unnamed =
        count(value, "cache_creation_input_tokens").saturating_sub(five).saturating_sub(hour);
    Usage {
        input: count(value, "input_tokens"),
        cache_read: count(value, "cache_read_input_tokens"),
        cache_write_5m: five.saturating_add(unnamed),
        cache_write_1h: hour,
        output: count(value, "output_tokens"),
        web_searches: value
            .get("server_tool_use")
            .map_or(0, |searched| count(searched, "web_search_requests")),
    }
}

/// An attachment without the text that the model saw says nothing to it.
fn attachment(fields: &Fields) -> Option<Attachment> {
    let mut data = fields.get("attachment")?.as_object()?.clone();
    let rendered = fields.get("rendered")?.as_array()?;
    let texts: Vec<String> = rendered.iter().map(rendered_text).collect::<Option<_>>()?;
    if texts.is_empty() {
        return None;
    }
    let kind = data.shift_remove("type")?.as_str()?.to_owned();
    let data = match data.shift_remove(DATA) {
        Some(whole) => whole,
        None if data.is_empty() => Value::Null,
        None => Value::Object(data),
    };
    let provenance = provenance(fields).first().and_then(BlockProvenance::lowest);
    Some(Attachment { kind, rendered: texts.join("\n"), data, provenance })
}

fn rendered_text(part: &Value) -> Option<String> {
    match part.get("content")? {
        Value::String(text) => Some(text.clone()),
        other => {
            let texts: Option<Vec<&str>> =
                other.as_array()?.iter().map(|block| block.get("text")?.as_str()).collect();
            Some(texts?.join("\n"))
        }
    }
}

fn system(fields: &mut Fields, id: &RecordId) -> Option<Entry> {
    let subtype = text(fields, "subtype")?;
    if subtype == "compact_boundary" {
        return Some(Entry::Boundary(boundary(fields, id)));
    }
    let kind = Value::from(subtype.strip_prefix(DECISION_PREFIX)?);
    let payload = fields.get_mut("everfold")?;
    // The kind stands in the subtype, and not in the payload.
    let before = payload.as_object_mut()?.insert("kind".into(), kind);
    let decision = Decision::deserialize(&*payload);
    if decision.is_err() {
        // The line is kept whole.
        let payload = payload.as_object_mut()?;
        match before {
            Some(before) => payload.insert("kind".into(), before),
            None => payload.shift_remove("kind"),
        };
    }
    decision.ok().map(Entry::Decision)
}

fn boundary(fields: &Fields, id: &RecordId) -> Boundary {
    let mut metadata = match fields.get("compactMetadata") {
        Some(Value::Object(metadata)) => metadata.clone(),
        _ => Map::new(),
    };
    let trigger = metadata.shift_remove("trigger");
    let pre_tokens = metadata.shift_remove("preTokens");
    let kept = metadata.shift_remove("preservedMessages");
    let uuids = kept.as_ref().and_then(|kept| kept.get("uuids")?.as_array());
    let preserved =
        uuids.into_iter().flatten().filter_map(|uuid| uuid.as_str().map(RecordId::new)).collect();
    let segment = metadata.get("preservedSegment");
    let anchor = [kept.as_ref(), segment].into_iter().find_map(|kept| kept?.get(ANCHOR)?.as_str());
    let keeps = if anchor == Some(id.as_str()) { Keeps::Prefix } else { Keeps::Suffix };
    if keeps == Keeps::Suffix
        && let Some(anchor) = anchor.map(Value::from)
    {
        metadata.insert(ANCHOR.into(), anchor);
    }
    Boundary {
        trigger: trigger
            .and_then(|trigger| trigger.as_str().map(str::to_owned))
            .unwrap_or_else(|| "auto".into()),
        pre_tokens: pre_tokens.and_then(|tokens| tokens.as_u64()).unwrap_or(0),
        last_before: text(fields, "logicalParentUuid").map(RecordId::new),
        preserved,
        keeps,
        metadata,
    }
}
