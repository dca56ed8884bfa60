//! Codex rollouts: `{timestamp, type, payload}` on each line; files of the
//! first generation have the payloads bare.
//!
//! A response has no id of its own on its items. It begins with the first
//! item of the model after something else, and ends with the record of its
//! usage, or where something else is said. Older files tell the usage in a
//! `token_count` event, which comes after the results.

use crate::fields::{Fields, blocks, count, object, text, time};
use crate::reader::{About, Format, Sink, Thread, TranscriptEvent, What};
use crate::response::Open;
use crate::tools;
use everfold_kernel::record::Keeps;
use everfold_kernel::usage::Booking;
use everfold_kernel::{
    AssistantEntry, Block, Boundary, Decision, Entry, MessageId, ModelId, QuerySource, Record,
    RecordId, SessionId, ToolUseId, Usage, UserEntry, UserOrigin,
};
use jiff::Timestamp;
use serde_json::{Value, json};

/// How texts begin that the program puts on the user's side.
const INJECTED: [&str; 6] = [
    "# AGENTS.md instructions",
    "<environment_context>",
    "<user_instructions>",
    "<INSTRUCTIONS>",
    "<permissions instructions>",
    "<turn_aborted>",
];

/// Reads such a file.
#[derive(Debug, Default)]
pub(crate) struct Codex {
    model: Option<ModelId>,
    open: Option<Response>,
    responses: u64,
    records: u64,
    at: Timestamp,
}

/// A response that may go on.
#[derive(Debug)]
struct Response {
    open: Open,
    /// Whether its usage is known: it is over then.
    booked: bool,
    /// Whether it is a summary, which is no part of the conversation by itself.
    summary: bool,
}

impl Codex {
    pub(crate) fn push(&mut self, fields: &Fields, line: u64, about: &mut About, sink: Sink<'_>) {
        about.format = Some(Format::Codex);
        if let Some(at) = time(fields.get("timestamp")) {
            self.at = at;
        }
        let kind = text(fields, "type").unwrap_or("");
        let Some(payload) = object(fields, "payload") else {
            if kind.is_empty() {
                return note_meta(fields, about);
            }
            return self.item(fields, fields, (line, about), sink);
        };
        match kind {
            "session_meta" => note_meta(payload, about),
            "turn_context" => {
                if let Some(model) = text(payload, "model") {
                    self.model = Some(ModelId::new(model));
                }
            }
            "response_item" => self.item(payload, fields, (line, about), sink),
            "token_usage_record" => {
                let id = text(payload, "response_id");
                self.book(object(payload, "usage").map(usage), id);
            }
            "event_msg" => {
                about.tally.set_aside(text(payload, "type").unwrap_or("no type"));
                let info = object(payload, "info");
                self.book(info.and_then(|info| object(info, "last_token_usage")).map(usage), None);
            }
            "compacted" => self.compacted(payload, (line, about), sink),
            other => about.tally.set_aside(other),
        }
    }

    pub(crate) fn finish(&mut self, sink: Sink<'_>) {
        self.close(sink);
    }

    fn item(
        &mut self,
        item: &Fields,
        line: &Fields,
        (number, about): (u64, &mut About),
        sink: Sink<'_>,
    ) {
        let kind = text(item, "type").unwrap_or("");
        let summary = object(line, "metadata").and_then(|own| own.get("compaction_output"));
        let is_summary = summary.and_then(Value::as_bool).unwrap_or(false);
        match kind {
            "message" => {
                let mut unknown =
                    |kind: &str| about.tally.skip(&format!("a part of type {kind}"), number);
                let content = blocks(item.get("content"), &mut unknown);
                match text(item, "role") {
                    Some("assistant") => {
                        for block in content {
                            self.answer(block, is_summary, sink);
                        }
                    }
                    role => self.user(content, role == Some("user"), sink),
                }
            }
            "reasoning" => {
                let mut unknown = |_: &str| {};
                let parts = blocks(item.get("summary"), &mut unknown);
                let texts: Vec<String> = parts.iter().map(Block::plain_text).collect();
                let thought = json!({"type": "thinking", "thinking": texts.join("\n")});
                if let Some(block) = Block::from_value(thought) {
                    self.answer(block, false, sink);
                }
            }
            "function_call" | "custom_tool_call" | "local_shell_call" | "web_search_call"
            | "tool_search_call" => {
                let block = call(item, kind);
                self.answer(block, false, sink);
            }
            "function_call_output" | "custom_tool_call_output" | "tool_search_output" => {
                self.result(item, sink);
            }
            other => about.tally.set_aside(other),
        }
    }

    /// A block of the response that is open, or of the next one.
    fn answer(&mut self, block: Block, summary: bool, sink: Sink<'_>) {
        let goes_on = self
            .open
            .as_ref()
            .is_some_and(|own| !own.booked && !own.open.is_answered() && own.summary == summary);
        if !goes_on {
            self.close(sink);
            self.responses += 1;
            let id = MessageId::from(format!("codex-response-{}", self.responses));
            self.open = Some(Response { open: Open::new(id), booked: false, summary });
        }
        let record = self.record(Entry::Opaque(Value::Null));
        let model = self.model.clone().unwrap_or_else(|| ModelId::new("unknown"));
        if let Some(own) = &mut self.open {
            let entry = Entry::Assistant(AssistantEntry {
                message_id: own.open.id.clone(),
                request_id: None,
                model,
                index: 0,
                block,
                usage: Usage::default(),
                stop_reason: None,
            });
            own.open.add(Record { entry, ..record }, false);
        }
    }

    fn user(&mut self, content: Vec<Block>, is_user: bool, sink: Sink<'_>) {
        if content.is_empty() {
            return;
        }
        let is_injected = |block: &Block| {
            let text = block.plain_text();
            INJECTED.iter().any(|start| text.trim_start().starts_with(start))
        };
        let is_person = is_user && !content.iter().all(is_injected);
        let origin = if is_person { UserOrigin::Human } else { UserOrigin::Meta };
        self.close(sink);
        self.say(content, origin, sink);
    }

    fn result(&mut self, item: &Fields, sink: Sink<'_>) {
        let Some(id) = text(item, "call_id") else { return };
        let content = match item.get("output") {
            Some(Value::String(text)) => Value::String(text.clone()),
            Some(Value::Object(own)) => own.get("content").cloned().unwrap_or_default(),
            Some(Value::Array(parts)) => {
                let parts = blocks(Some(&Value::Array(parts.clone())), &mut |_| {});
                parts.iter().map(|part| Value::Object(part.as_map().clone())).collect()
            }
            _ => Value::Null,
        };
        let entry = Entry::User(UserEntry {
            content: vec![Block::tool_result(&ToolUseId::new(id), content)],
            origin: UserOrigin::ToolResult,
            tool_use_result: None,
            provenance: Vec::new(),
        });
        let record = self.record(entry);
        match &mut self.open {
            Some(own) => own.open.hold(record),
            None => sink(told(record)),
        }
    }

    /// What the response used. The record of it is exact; the event repeats
    /// what was said before, so it only counts where nothing is known yet.
    fn book(&mut self, usage: Option<Usage>, response: Option<&str>) {
        let (Some(usage), Some(own)) = (usage, &mut self.open) else { return };
        if own.booked || usage == Usage::default() {
            return;
        }
        if let Some(id) = response {
            own.open.rename(MessageId::new(id));
        }
        own.open.set_usage(usage);
        own.booked = true;
    }

    fn close(&mut self, sink: Sink<'_>) {
        let Some(Response { open, summary, .. }) = self.open.take() else { return };
        if !summary {
            return open.tell(Thread::MAIN, sink);
        }
        let model = self.model.clone().unwrap_or_else(|| ModelId::new("unknown"));
        let (source, usage) = (QuerySource::Compact, open.usage());
        let booking = Booking { source, model, usage, cost: None };
        let record = self.record(Entry::Decision(Decision::Booked(booking)));
        sink(told(record));
    }

    /// A boundary, and the history that stands after it.
    fn compacted(&mut self, payload: &Fields, (line, about): (u64, &mut About), sink: Sink<'_>) {
        self.close(sink);
        let boundary = Boundary {
            trigger: "auto".to_owned(),
            pre_tokens: 0,
            last_before: None,
            preserved: Vec::new(),
            keeps: Keeps::Suffix,
            metadata: serde_json::Map::new(),
        };
        let record = self.record(Entry::Boundary(boundary));
        sink(told(record));
        let summary = text(payload, "message").unwrap_or("");
        let history = payload.get("replacement_history").and_then(Value::as_array);
        let mut has_summary = false;
        for item in history.into_iter().flatten().filter_map(Value::as_object) {
            let content = blocks(item.get("content"), &mut |_| {});
            let is_summary = content.iter().any(|block| block.plain_text() == summary);
            if is_summary && !has_summary {
                has_summary = true;
                self.say(content, UserOrigin::CompactSummary, sink);
            } else {
                self.item(item, item, (line, about), sink);
            }
        }
        self.close(sink);
        if !has_summary && !summary.is_empty() {
            self.say(vec![Block::text(summary)], UserOrigin::CompactSummary, sink);
        }
    }

    fn say(&mut self, content: Vec<Block>, origin: UserOrigin, sink: Sink<'_>) {
        let entry = Entry::User(UserEntry {
            content,
            origin,
            tool_use_result: None,
            provenance: Vec::new(),
        });
        let record = self.record(entry);
        sink(told(record));
    }

    fn record(&mut self, entry: Entry) -> Record {
        self.records += 1;
        let id = RecordId::from(format!("codex-{}", self.records));
        Record { id, parent: None, at: self.at, entry }
    }
}

fn told(record: Record) -> TranscriptEvent {
    TranscriptEvent { thread: Thread::MAIN, what: What::Record(Box::new(record)) }
}

fn note_meta(meta: &Fields, about: &mut About) {
    about.session = text(meta, "id").map(SessionId::new).or_else(|| about.session.take());
    about.cwd = text(meta, "cwd").map(str::to_owned).or_else(|| about.cwd.take());
    about.version = text(meta, "cli_version").map(str::to_owned).or_else(|| about.version.take());
}

/// Cached tokens are part of the input here.
fn usage(usage: &Fields) -> Usage {
    let input = count(usage, "input_tokens");
    let (read, write) =
        (count(usage, "cached_input_tokens"), count(usage, "cache_write_input_tokens"));
    Usage {
        input: input.saturating_sub(read).saturating_sub(write),
        cache_read: read,
        cache_write_5m: write,
        output: count(usage, "output_tokens"),
        ..Usage::default()
    }
}

fn call(item: &Fields, kind: &str) -> Block {
    let id = text(item, "call_id").or_else(|| text(item, "id")).unwrap_or("");
    let name = text(item, "name").unwrap_or(match kind {
        "local_shell_call" => "local_shell",
        "web_search_call" => "web_search",
        _ => "tool_search",
    });
    let arguments =
        item.get("arguments").or_else(|| item.get("input")).or_else(|| item.get("action"));
    let input = match arguments {
        Some(Value::String(text)) => {
            let parsed: Option<Fields> = serde_json::from_str(text).ok();
            parsed.map_or_else(|| json!({ "input": text }), Value::Object)
        }
        Some(other) => other.clone(),
        None => json!({}),
    };
    // A server's tools stand under its name, which says that they are a server's (L5.26).
    let name = match text(item, "namespace") {
        Some(server) => format!("{server}__{name}"),
        None => tools::name(name).to_owned(),
    };
    Block::tool_use(&ToolUseId::new(id), &name, tools::input(&name, input))
}
