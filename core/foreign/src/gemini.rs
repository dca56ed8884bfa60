//! Gemini CLI's sessions: a header, then messages, each written again when
//! more of it is known, between lines that set something (`$set`) or take
//! messages back (`$rewindTo`).
//!
//! What hooks and the program put around the person's words is left out. Where
//! the history is set anew (a summary), only what was not told yet is told,
//! and as the program's words.

use crate::fields::{Fields, count, object, text, time};
use crate::reader::{About, Format, Sink, Thread, TranscriptEvent, What};
use crate::tools;
use everfold_kernel::{
    AssistantEntry, Block, Entry, MessageId, ModelId, Record, RecordId, SessionId, ToolUseId,
    Usage, UserEntry, UserOrigin,
};
use jiff::Timestamp;
use serde_json::Value;
use std::collections::BTreeSet;

/// What the program says before the first message.
const CONTEXT: &str = "<session_context>";
const HOOK_START: &str = "<hook_context>";
const HOOK_END: &str = "</hook_context>";
/// What the names of a tool server's tools start with here, and with us.
const SERVER_TOOLS: (&str, &str) = ("mcp_", "mcp__");

/// Reads such a file.
#[derive(Debug, Default)]
pub(crate) struct Gemini {
    /// The last answer, which may be written again.
    open: Option<Fields>,
    /// Messages that were told, with their records, in order.
    told: Vec<(String, Vec<RecordId>)>,
    known: BTreeSet<String>,
    at: Timestamp,
}

/// Whether a line is of such a file.
pub(crate) fn is_gemini(fields: &Fields) -> bool {
    let has = |key: &str| fields.contains_key(key);
    let kind = text(fields, "type").unwrap_or("");
    has("projectHash")
        || has("$set")
        || has("$rewindTo")
        || kind == "gemini"
        || (kind == "user" && has("id") && has("content") && !has("uuid") && !has("message"))
}

impl Gemini {
    pub(crate) fn push(&mut self, fields: &Fields, line: u64, about: &mut About, sink: Sink<'_>) {
        about.format = Some(Format::Gemini);
        self.at = time(fields.get("timestamp")).unwrap_or(self.at);
        if let Some(set) = object(fields, "$set") {
            let messages = set.get("messages").and_then(Value::as_array);
            for message in messages.into_iter().flatten().filter_map(Value::as_object) {
                self.message(message, UserOrigin::Meta, (line, about), sink);
            }
            return;
        }
        if let Some(id) = text(fields, "$rewindTo") {
            return self.rewind(id, sink);
        }
        if fields.contains_key("id") {
            return self.message(fields, UserOrigin::Human, (line, about), sink);
        }
        if let Some(session) = text(fields, "sessionId") {
            about.session = Some(SessionId::new(session));
        }
        about.tally.set_aside("header");
    }

    /// Tells an answer that was still open.
    pub(crate) fn finish(&mut self, sink: Sink<'_>) {
        if let Some(open) = self.open.take() {
            self.answer(&open, sink);
        }
    }

    fn message(
        &mut self,
        message: &Fields,
        origin: UserOrigin,
        (line, about): (u64, &mut About),
        sink: Sink<'_>,
    ) {
        let id = text(message, "id").unwrap_or("");
        let is_open = self.open.as_ref().is_some_and(|open| text(open, "id") == Some(id));
        if !is_open {
            self.finish(sink);
            if self.known.contains(id) {
                return;
            }
        }
        match text(message, "type").unwrap_or("") {
            "gemini" => self.open = Some(message.clone()),
            "user" => self.user(id, message, origin, sink),
            kind @ ("info" | "warning" | "error") => about.tally.set_aside(kind),
            other => about.tally.skip(&format!("a message of type {other:?}"), line),
        }
    }

    fn user(&mut self, id: &str, message: &Fields, origin: UserOrigin, sink: Sink<'_>) {
        let said: Vec<String> = texts(message.get("content"))
            .iter()
            .map(|text| without_hooks(text).trim().to_owned())
            .filter(|text| !text.is_empty())
            .collect();
        // Results stand with their calls.
        if said.is_empty() {
            return;
        }
        let is_program = said.iter().any(|text| text.starts_with(CONTEXT));
        let origin = if is_program { UserOrigin::Meta } else { origin };
        let content = said.into_iter().map(Block::text).collect();
        let entry = Entry::User(UserEntry {
            content,
            origin,
            tool_use_result: None,
            provenance: Vec::new(),
        });
        self.note(id, vec![entry], sink);
    }

    /// An answer, its calls, and their results.
    fn answer(&mut self, message: &Fields, sink: Sink<'_>) {
        let id = text(message, "id").unwrap_or("");
        let calls = message.get("toolCalls").and_then(Value::as_array);
        let calls: Vec<&Fields> =
            calls.into_iter().flatten().filter_map(Value::as_object).collect();
        let said = texts(message.get("content")).join("");
        let mut blocks: Vec<Block> =
            (!said.is_empty()).then(|| Block::text(said)).into_iter().collect();
        blocks.extend(calls.iter().map(|call| {
            let name = tool(text(call, "name").unwrap_or(""));
            let input = tools::input(&name, call.get("args").cloned().unwrap_or_default());
            Block::tool_use(&call_id(call), &name, input)
        }));
        let last = blocks.len().saturating_sub(1);
        let stop = if calls.is_empty() { "end_turn" } else { "tool_use" };
        let answer = |(at, block): (usize, Block)| {
            Entry::Assistant(AssistantEntry {
                message_id: MessageId::new(id),
                request_id: None,
                model: ModelId::new(text(message, "model").unwrap_or("unknown")),
                index: u32::try_from(at).unwrap_or(u32::MAX),
                block,
                usage: object(message, "tokens").map(usage).unwrap_or_default(),
                stop_reason: (at == last).then(|| stop.to_owned()),
            })
        };
        let mut entries: Vec<Entry> = blocks.into_iter().enumerate().map(answer).collect();
        entries.extend(calls.iter().filter_map(|call| result(call)));
        self.note(id, entries, sink);
    }

    fn note(&mut self, id: &str, entries: Vec<Entry>, sink: Sink<'_>) {
        let mut records = Vec::new();
        for (at, entry) in entries.into_iter().enumerate() {
            let name = if at == 0 { id.to_owned() } else { format!("{id}.{at}") };
            let name = RecordId::from(name);
            records.push(name.clone());
            let record = Record { id: name, parent: None, at: self.at, entry };
            sink(TranscriptEvent { thread: Thread::MAIN, what: What::Record(Box::new(record)) });
        }
        self.known.insert(id.to_owned());
        self.told.push((id.to_owned(), records));
    }

    /// Takes back a message and what came after it; all, where it is not known.
    fn rewind(&mut self, id: &str, sink: Sink<'_>) {
        self.finish(sink);
        let from = self.told.iter().position(|(told, _)| told == id).unwrap_or(0);
        let dropped: Vec<RecordId> =
            self.told.split_off(from).into_iter().flat_map(|(_, records)| records).collect();
        if !dropped.is_empty() {
            sink(TranscriptEvent { thread: Thread::MAIN, what: What::Rewound { dropped } });
        }
    }
}

/// The result of a call that has one.
fn result(call: &Fields) -> Option<Entry> {
    let results = call.get("result")?.as_array()?;
    let response = results.iter().find_map(|part| part.get("functionResponse")?.get("response"))?;
    let said = |key: &str| response.get(key).and_then(Value::as_str);
    let (id, origin) = (call_id(call), UserOrigin::ToolResult);
    let output = || said("output").map_or_else(|| response.to_string(), str::to_owned);
    let block = said("error").map_or_else(
        || Block::tool_result(&id, Value::String(output())),
        |error| Block::tool_error(&id, error),
    );
    Some(Entry::User(UserEntry {
        content: vec![block],
        origin,
        tool_use_result: None,
        provenance: Vec::new(),
    }))
}

fn call_id(call: &Fields) -> ToolUseId {
    ToolUseId::new(text(call, "id").unwrap_or(""))
}

fn tool(name: &str) -> String {
    let (theirs, ours) = SERVER_TOOLS;
    match name.strip_prefix(theirs) {
        Some(rest) if !name.starts_with(ours) => format!("{ours}{rest}"),
        _ => tools::name(name).to_owned(),
    }
}

/// The texts of a content: a string, or parts.
fn texts(content: Option<&Value>) -> Vec<String> {
    match content {
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(parts)) => {
            let text = |part: &Value| Some(part.get("text")?.as_str()?.to_owned());
            parts.iter().filter_map(text).collect()
        }
        _ => Vec::new(),
    }
}

/// A text without what hooks put into it.
#[must_use]
pub fn without_hooks(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(HOOK_START) {
        out.push_str(before);
        // One that does not end takes nothing with it.
        let Some((_, after)) = after.split_once(HOOK_END) else {
            out.push_str(HOOK_START);
            rest = after;
            continue;
        };
        rest = after;
    }
    out.push_str(rest);
    out
}

fn usage(tokens: &Fields) -> Usage {
    let cached = count(tokens, "cached");
    Usage {
        input: count(tokens, "input").saturating_sub(cached),
        cache_read: cached,
        output: count(tokens, "output") + count(tokens, "thoughts"),
        ..Usage::default()
    }
}
