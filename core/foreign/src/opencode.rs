//! Sessions of opencode, as `adapters/opencode` hands them over: a line about
//! the session, then a line for each message with its parts.

use crate::fields::{Fields, count, object, text, time};
use crate::reader::{About, Format, Sink, Thread, TranscriptEvent, What};
use crate::tools;
use everfold_kernel::record::Keeps;
use everfold_kernel::{
    AssistantEntry, Block, BlockView, Boundary, Entry, MessageId, ModelId, Record, RecordId,
    SessionId, ToolUseId, Usage, UserEntry, UserOrigin,
};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

/// Reads such lines.
#[derive(Debug, Default)]
pub(crate) struct Opencode {
    at: Timestamp,
}

pub(crate) fn is_opencode(fields: &Fields) -> bool {
    fields.contains_key("opencode")
}

impl Opencode {
    pub(crate) fn push(&mut self, fields: &Fields, line: u64, about: &mut About, sink: Sink<'_>) {
        about.format = Some(Format::Opencode);
        if text(fields, "opencode") == Some("session") {
            about.session = text(fields, "id").map(SessionId::new);
            about.cwd = text(fields, "directory").map(str::to_owned);
            about.version = text(fields, "version").map(str::to_owned);
            return;
        }
        let (Some(id), Some(info)) = (text(fields, "id"), object(fields, "info")) else {
            return about.tally.skip("a message without an id", line);
        };
        let times = object(info, "time");
        self.at = times.and_then(|times| time(times.get("created"))).unwrap_or(self.at);
        let parts = fields.get("parts").and_then(Value::as_array);
        let parts: Vec<&Fields> =
            parts.into_iter().flatten().filter_map(Value::as_object).collect();
        match text(info, "role").unwrap_or("") {
            "user" => self.user(id, &parts, sink),
            "assistant" => self.assistant(id, info, &parts, (line, about), sink),
            other => about.tally.skip(&format!("a message of role {other:?}"), line),
        }
    }

    fn user(&self, id: &str, parts: &[&Fields], sink: Sink<'_>) {
        let is_own = |part: &&&Fields| part.get("synthetic").and_then(Value::as_bool) == Some(true);
        let texts = |parts: Vec<&&Fields>| -> Vec<Block> {
            parts.into_iter().filter_map(|part| said(part)).collect()
        };
        let (own, typed): (Vec<&&Fields>, Vec<&&Fields>) = parts.iter().partition(is_own);
        let typed = texts(typed).into_iter().map(|block| match block.view() {
            BlockView::Text(text) => Block::text(without_shell_quotes(text)),
            _ => block,
        });
        self.say(id, typed.collect(), UserOrigin::Human, sink);
        self.say(&format!("{id}.own"), texts(own), UserOrigin::Meta, sink);
    }

    fn assistant(
        &self,
        id: &str,
        info: &Fields,
        parts: &[&Fields],
        (line, about): (u64, &mut About),
        sink: Sink<'_>,
    ) {
        let found: Vec<Block> = parts.iter().filter_map(|part| block(part)).collect();
        if found.is_empty() {
            return about.tally.skip("a response without content", line);
        }
        let model = ModelId::new(text(info, "modelID").unwrap_or("unknown"));
        let usage = object(info, "tokens").map(usage).unwrap_or_default();
        let last = found.len() - 1;
        for ((at, block), index) in found.into_iter().enumerate().zip(0_u32..) {
            let entry = Entry::Assistant(AssistantEntry {
                message_id: MessageId::new(id),
                request_id: None,
                model: model.clone(),
                index,
                block,
                usage,
                stop_reason: text(info, "finish").filter(|_| at == last).map(str::to_owned),
            });
            self.tell(&format!("{id}.{at}"), entry, sink);
        }
        let results: Vec<Block> = parts.iter().filter_map(|part| result(part)).collect();
        self.say(&format!("{id}.results"), results, UserOrigin::ToolResult, sink);
        if info.get("summary").and_then(Value::as_bool) == Some(true) {
            self.compaction(id, usage, parts, sink);
        }
    }

    /// An answer that sums up what was before it: nothing else is sent on.
    fn compaction(&self, id: &str, usage: Usage, parts: &[&Fields], sink: Sink<'_>) {
        let boundary = Boundary {
            trigger: "auto".to_owned(),
            pre_tokens: usage.prompt().0,
            last_before: None,
            preserved: Vec::new(),
            keeps: Keeps::Suffix,
            metadata: Map::new(),
        };
        self.tell(&format!("{id}.boundary"), Entry::Boundary(boundary), sink);
        let summary = parts.iter().filter_map(|part| said(part)).collect();
        self.say(&format!("{id}.summary"), summary, UserOrigin::CompactSummary, sink);
    }

    fn say(&self, id: &str, content: Vec<Block>, origin: UserOrigin, sink: Sink<'_>) {
        if !content.is_empty() {
            let provenance = Vec::new();
            let entry = UserEntry { content, origin, tool_use_result: None, provenance };
            self.tell(id, Entry::User(entry), sink);
        }
    }

    fn tell(&self, id: &str, entry: Entry, sink: Sink<'_>) {
        let record = Record { id: RecordId::new(id), parent: None, at: self.at, entry };
        sink(TranscriptEvent { thread: Thread::MAIN, what: What::Record(Box::new(record)) });
    }
}

/// What a person typed to `opencode run`, which puts a message of several words
/// in quotes.
#[must_use]
pub fn without_shell_quotes(text: &str) -> String {
    let inner = text.trim().strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    let plain = inner.map(|inner| inner.replace("\\\"", "\u{0}"));
    match plain.filter(|plain| !plain.contains('"')) {
        Some(plain) => plain.replace('\u{0}', "\""),
        None => text.to_owned(),
    }
}

/// What a part says in words.
fn said(part: &Fields) -> Option<Block> {
    (text(part, "type")? == "text").then(|| text(part, "text").map(Block::text)).flatten()
}

fn block(part: &Fields) -> Option<Block> {
    match text(part, "type")? {
        "text" => said(part),
        "reasoning" => {
            let thinking = text(part, "text")?;
            Block::from_value(json!({"type": "thinking", "thinking": thinking, "signature": ""}))
        }
        "tool" => {
            let name = tools::name(text(part, "tool")?);
            let input = object(part, "state").and_then(|state| state.get("input")).cloned();
            let id = ToolUseId::new(text(part, "callID")?);
            let input = tools::input(name, input.unwrap_or_else(|| json!({})));
            Some(Block::tool_use(&id, name, input))
        }
        _ => None,
    }
}

/// What a tool gave back; one that was stopped gave nothing.
fn result(part: &Fields) -> Option<Block> {
    let state = object(part, "state").filter(|_| text(part, "type") == Some("tool"))?;
    let call = ToolUseId::new(text(part, "callID")?);
    let failed = text(state, "error");
    let told = failed.or_else(|| text(state, "output")).unwrap_or_default();
    let mut block = Block::tool_result(&call, json!([{"type": "text", "text": told}]));
    if failed.is_some() {
        block.as_map_mut().insert("is_error".to_owned(), Value::Bool(true));
    }
    Some(block)
}

fn usage(tokens: &Fields) -> Usage {
    let cache = object(tokens, "cache");
    let cached = |key: &str| cache.map_or(0, |cache| count(cache, key));
    Usage {
        input: count(tokens, "input"),
        cache_read: cached("read"),
        cache_write_5m: cached("write"),
        output: count(tokens, "output").saturating_add(count(tokens, "reasoning")),
        ..Usage::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x8_quotes_that_the_program_adds_are_no_part_of_what_was_typed() {
        for (said, typed) in [
            ("\"Remember the tea.\"\n", "Remember the tea."),
            (r#""It says: \"no\" to me""#, r#"It says: "no" to me"#),
            ("tea", "tea"),
            (r#""one" and "two""#, r#""one" and "two""#),
            ("\"", "\""),
        ] {
            assert_eq!(without_shell_quotes(said), typed);
        }
    }
}
