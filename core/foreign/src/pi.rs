//! pi sessions: a header, then entries. The first generation is a list; from
//! the second on entries name the one before them, and a session may go on
//! from an earlier one.

use crate::fields::{Fields, blocks, count, object, text, time};
use crate::reader::{About, Format, Sink, Thread, TranscriptEvent, What};
use crate::tools;
use crate::trail::{Pace, Trail};
use everfold_kernel::record::Keeps;
use everfold_kernel::{
    AssistantEntry, Block, Boundary, Decision, Entry, MessageId, ModelId, Params, Prelude, Record,
    RecordId, SessionId, ToolUseId, Usage, UserEntry, UserOrigin,
};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Reads such a file.
#[derive(Debug, Default)]
pub(crate) struct Pi {
    trail: Trail,
    /// Where the entries are, by id.
    index: BTreeMap<RecordId, usize>,
    /// Entries so far, the header included.
    entries: usize,
    /// What the first generation calls an entry: its number.
    numbers: BTreeMap<usize, RecordId>,
    model: Option<ModelId>,
    thinking: Option<String>,
    /// The thinking that was told last.
    told_thinking: Option<String>,
    at: Timestamp,
    /// The time of the entry before: a response is written when it ends.
    before: Timestamp,
}

impl Pi {
    pub(crate) fn push(&mut self, fields: &Fields, line: u64, about: &mut About, sink: Sink<'_>) {
        about.format = Some(Format::Pi);
        let number = self.entries;
        self.entries += 1;
        let at = time(fields.get("timestamp"));
        let own = object(fields, "message");
        let at = at.or_else(|| time(own?.get("timestamp")));
        self.before = self.at;
        self.at = at.unwrap_or(self.at);
        let kind = text(fields, "type").unwrap_or("");
        if kind == "session" {
            return self.header(fields, about);
        }
        let id = text(fields, "id").map(RecordId::new);
        let id = id.unwrap_or_else(|| RecordId::from(format!("pi-{number}")));
        if self.index.contains_key(&id) {
            return about.tally.skip("a line that is there twice", line);
        }
        self.go_back(fields, sink);
        match (kind, own) {
            ("message", Some(message)) => self.message(&id, message, (line, about), sink),
            ("custom_message", _) => self.user(&id, fields, UserOrigin::Meta, (line, about), sink),
            ("branch_summary", _) => {
                let text = text(fields, "summary").unwrap_or("").to_owned();
                self.say(&id, vec![Block::text(text)], UserOrigin::Meta, sink);
            }
            ("compaction", _) => return self.compaction(&id, fields, sink),
            ("model_change", _) => {
                self.model = text(fields, "modelId").map(ModelId::new);
            }
            ("thinking_level_change", _) => {
                self.thinking = text(fields, "thinkingLevel").map(str::to_owned);
            }
            (other, _) => about.tally.set_aside(other),
        }
        self.note(id, number, kind);
    }

    fn header(&mut self, fields: &Fields, about: &mut About) {
        about.session = text(fields, "id").map(SessionId::new);
        about.cwd = text(fields, "cwd").map(str::to_owned);
        about.version = fields.get("version").map(ToString::to_string);
        self.model = text(fields, "modelId").map(ModelId::new);
        self.thinking = text(fields, "thinkingLevel").map(str::to_owned);
        self.told_thinking.clone_from(&self.thinking);
    }

    fn note(&mut self, id: RecordId, number: usize, kind: &str) {
        let pace = if kind == "message" { Pace::Opens } else { Pace::Follows };
        self.numbers.insert(number, id.clone());
        let step = self.trail.note(id.clone(), pace);
        self.index.insert(id, step);
    }

    fn go_back(&mut self, fields: &Fields, sink: Sink<'_>) {
        let parent = text(fields, "parentId").map(RecordId::new);
        let place = parent.as_ref().and_then(|parent| self.index.get(parent)).copied();
        let (Some(parent), Some(place)) = (parent, place) else { return };
        if let Some(dropped) = self.trail.back_to(&parent, place) {
            sink(TranscriptEvent { thread: Thread::MAIN, what: What::Rewound { dropped } });
        }
    }

    fn message(
        &mut self,
        id: &RecordId,
        message: &Fields,
        (line, about): (u64, &mut About),
        sink: Sink<'_>,
    ) {
        match text(message, "role").unwrap_or("") {
            "user" => self.user(id, message, UserOrigin::Human, (line, about), sink),
            "custom" | "hookMessage" => {
                self.user(id, message, UserOrigin::Meta, (line, about), sink);
            }
            "assistant" => self.assistant(id, message, (line, about), sink),
            "toolResult" => {
                let mut unknown =
                    |kind: &str| about.tally.skip(&format!("a part of type {kind}"), line);
                let parts = blocks(message.get("content"), &mut unknown);
                let parts = parts.iter().map(|part| Value::Object(part.as_map().clone()));
                let call = ToolUseId::new(text(message, "toolCallId").unwrap_or(""));
                let mut block = Block::tool_result(&call, parts.collect());
                if message.get("isError").and_then(Value::as_bool) == Some(true) {
                    block.as_map_mut().insert("is_error".to_owned(), Value::Bool(true));
                }
                self.say(id, vec![block], UserOrigin::ToolResult, sink);
            }
            // A command that the person ran; the model is shown it.
            "bashExecution" => {
                let command = text(message, "command").unwrap_or("");
                let output = text(message, "output").unwrap_or("(no output)");
                let said = format!("Ran `{command}`\n```\n{output}\n```");
                self.say(id, vec![Block::text(said)], UserOrigin::Meta, sink);
            }
            other => about.tally.skip(&format!("a message of role {other:?}"), line),
        }
    }

    fn user(
        &mut self,
        id: &RecordId,
        message: &Fields,
        origin: UserOrigin,
        (line, about): (u64, &mut About),
        sink: Sink<'_>,
    ) {
        let mut unknown = |kind: &str| about.tally.skip(&format!("a part of type {kind}"), line);
        let content = blocks(message.get("content"), &mut unknown);
        self.say(id, content, origin, sink);
    }

    fn assistant(
        &mut self,
        id: &RecordId,
        message: &Fields,
        (line, about): (u64, &mut About),
        sink: Sink<'_>,
    ) {
        let parts = message.get("content").and_then(Value::as_array);
        let found: Vec<Block> = parts.into_iter().flatten().filter_map(block).collect();
        let model = text(message, "model").map(ModelId::new).or_else(|| self.model.clone());
        let model = model.unwrap_or_else(|| ModelId::new("unknown"));
        if found.is_empty() {
            let why = text(message, "stopReason").unwrap_or("empty");
            return about.tally.skip(&format!("a response without content ({why})"), line);
        }
        self.tell_thinking(id, &model, sink);
        let usage = object(message, "usage").map(usage).unwrap_or_default();
        let last = found.len() - 1;
        for ((at, block), index) in found.into_iter().enumerate().zip(0_u32..) {
            let name = if at == 0 { id.clone() } else { RecordId::from(format!("{id}.{at}")) };
            let stop = text(message, "stopReason").filter(|_| at == last);
            let entry = Entry::Assistant(AssistantEntry {
                message_id: MessageId::new(id.as_str()),
                request_id: None,
                model: model.clone(),
                index,
                block,
                usage,
                stop_reason: stop.map(str::to_owned),
            });
            self.tell(&name, entry, sink);
        }
    }

    /// Thinking is a part of the cache key: a change of it is told as a new
    /// prelude, before the response that it holds for.
    fn tell_thinking(&mut self, id: &RecordId, model: &ModelId, sink: Sink<'_>) {
        if self.thinking == self.told_thinking {
            return;
        }
        self.told_thinking.clone_from(&self.thinking);
        let mut params = Params::new(model.clone(), 0);
        params.thinking = self.thinking.as_deref().map(|level| json!({ "type": level }));
        let prelude = Prelude { system: Vec::new(), tools: Vec::new(), params };
        let entry = Entry::Decision(Decision::Prelude(Box::new(prelude)));
        let id = RecordId::from(format!("{id}.thinking"));
        let record = Record { id, parent: None, at: self.before, entry };
        sink(TranscriptEvent { thread: Thread::MAIN, what: What::Record(Box::new(record)) });
    }

    /// A boundary with what it keeps, and the summary.
    fn compaction(&mut self, id: &RecordId, fields: &Fields, sink: Sink<'_>) {
        let number = fields.get("firstKeptEntryIndex").and_then(Value::as_u64);
        let number = number.and_then(|number| usize::try_from(number).ok());
        let by_number = number.and_then(|number| self.numbers.range(number..).next());
        let first = text(fields, "firstKeptEntryId").map(RecordId::new);
        let first = first.or_else(|| by_number.map(|(_, id)| id.clone()));
        let place = first.as_ref().and_then(|first| self.index.get(first));
        let preserved = place.map(|place| self.trail.from(*place)).unwrap_or_default();
        let boundary = Boundary {
            trigger: "auto".to_owned(),
            pre_tokens: count(fields, "tokensBefore"),
            last_before: None,
            preserved,
            keeps: Keeps::Suffix,
            metadata: serde_json::Map::new(),
        };
        self.tell(id, Entry::Boundary(boundary), sink);
        let summary = text(fields, "summary").unwrap_or("").to_owned();
        let own = RecordId::from(format!("{id}.summary"));
        self.say(&own, vec![Block::text(summary)], UserOrigin::CompactSummary, sink);
        self.note(id.clone(), self.entries - 1, "compaction");
    }

    fn say(&self, id: &RecordId, content: Vec<Block>, origin: UserOrigin, sink: Sink<'_>) {
        if !content.is_empty() {
            self.tell(
                id,
                Entry::User(UserEntry {
                    content,
                    origin,
                    tool_use_result: None,
                    provenance: Vec::new(),
                }),
                sink,
            );
        }
    }

    fn tell(&self, id: &RecordId, entry: Entry, sink: Sink<'_>) {
        let record = Record { id: id.clone(), parent: None, at: self.at, entry };
        sink(TranscriptEvent { thread: Thread::MAIN, what: What::Record(Box::new(record)) });
    }
}

fn block(part: &Value) -> Option<Block> {
    let part = part.as_object()?;
    match text(part, "type")? {
        "text" => Some(Block::text(part.get("text")?.as_str()?)),
        "thinking" => Block::from_value(json!({
            "type": "thinking",
            "thinking": part.get("thinking")?,
            "signature": part.get("thinkingSignature").cloned().unwrap_or_default(),
        })),
        "toolCall" => {
            let name = tools::name(text(part, "name")?);
            let input = part.get("arguments").cloned().unwrap_or_else(|| json!({}));
            let id = ToolUseId::new(text(part, "id")?);
            Some(Block::tool_use(&id, name, tools::input(name, input)))
        }
        _ => None,
    }
}

fn usage(usage: &Fields) -> Usage {
    Usage {
        input: count(usage, "input"),
        cache_read: count(usage, "cacheRead"),
        cache_write_5m: count(usage, "cacheWrite"),
        output: count(usage, "output"),
        ..Usage::default()
    }
}
