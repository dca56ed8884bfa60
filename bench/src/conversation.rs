//! A conversation of about a million tokens, made by rule.
//!
//! Rounds of four messages, as an agent makes them: the person asks, the
//! model calls `Read`, the file comes, the model answers. Every response is
//! booked, and every result carries the structured form that `Read` writes,
//! so that a transcript of it is as long as a real one.

use everfold_kernel::record::{Breakpoint, Keeps};
use everfold_kernel::usage::Booking;
use everfold_kernel::{
    AssistantEntry, Block, Boundary, Decision, Entry, MessageId, ModelId, ModelTable, Params,
    Prelude, QuerySource, Record, RecordId, SystemBlock, Timestamp, ToolUseId, Usage, UserEntry,
    UserOrigin,
};
use serde_json::json;
use std::fmt::Write as _;

/// Messages of the conversation that the goals name.
pub const MESSAGES: usize = 5_000;
/// Bytes of its text: a million tokens of four bytes.
pub const TEXT_BYTES: usize = 4_000_000;
/// Bytes of a token, as the estimate has them.
pub const BYTES_PER_TOKEN: usize = 4;

const MESSAGES_A_ROUND: usize = 4;
const PROMPT_BYTES: usize = 300;
const THOUGHT_BYTES: usize = 200;
const ANSWER_BYTES: usize = 700;
const RESULT_BYTES: usize =
    TEXT_BYTES * MESSAGES_A_ROUND / MESSAGES - PROMPT_BYTES - THOUGHT_BYTES - ANSWER_BYTES;

/// Makes the records of a conversation, one after another.
#[derive(Debug)]
pub struct RecordWriter {
    model: ModelId,
    table: ModelTable,
    last: Option<RecordId>,
    count: u64,
    start: Timestamp,
    tokens: u64,
}

impl RecordWriter {
    /// A conversation with this model, whose first record is of this time.
    #[must_use]
    pub fn new(model: &str, start: Timestamp) -> Self {
        Self {
            model: ModelId::new(model),
            table: ModelTable::builtin(),
            last: None,
            count: 0,
            start,
            tokens: 0,
        }
    }

    /// The first record: a system prompt and one tool.
    pub fn prelude(&mut self) -> Record {
        let prelude = Prelude {
            system: vec![SystemBlock {
                text: words("system", 8_000),
                breakpoint: Breakpoint::Here,
            }],
            tools: vec![json!({
                "name": "Read",
                "description": words("tool", 600),
                "input_schema": {"type": "object", "properties": {"file_path": {"type": "string"}}},
            })],
            params: Params::new(self.model.clone(), 32_000),
        };
        self.record(Entry::Decision(Decision::Prelude(Box::new(prelude))))
    }

    /// The records of one round: four messages and two bookings.
    pub fn round(&mut self, number: usize) -> Vec<Record> {
        let mut records = vec![self.ask(number)];
        records.extend(self.call(number));
        records.push(self.result(number));
        records.extend(self.answer(number));
        records
    }

    /// The model's call of round `number`.
    pub fn call(&mut self, number: usize) -> Vec<Record> {
        let path = format!("src/part_{number}.rs");
        let call = Block::tool_use(&call_id(number), "Read", json!({"file_path": path}));
        let thought = Block::text(words(&format!("thought {number}"), THOUGHT_BYTES));
        self.response(&format!("msg_call_{number}"), vec![thought, call], "tool_use")
    }

    /// The result that the call of round `number` brought.
    pub fn result(&mut self, number: usize) -> Record {
        let text = words(&format!("line of part {number}"), RESULT_BYTES);
        self.add_tokens(text.len());
        let structured = json!({"type": "text", "file": {
            "filePath": format!("src/part_{number}.rs"), "content": &text,
            "numLines": 40, "startLine": 1, "totalLines": 40,
        }});
        self.record(Entry::User(UserEntry {
            content: vec![Block::tool_result(&call_id(number), text.into())],
            origin: UserOrigin::ToolResult,
            tool_use_result: Some(structured),
            provenance: Vec::new(),
        }))
    }

    /// A boundary that keeps these records, and its summary.
    pub fn compaction(&mut self, kept: Vec<RecordId>) -> [Record; 2] {
        let last_before = self.last.take();
        let boundary = self.record(Entry::Boundary(Boundary {
            trigger: "auto".to_owned(),
            pre_tokens: self.tokens,
            last_before,
            preserved: kept,
            keeps: Keeps::Suffix,
            metadata: serde_json::Map::new(),
        }));
        let summary = self.record(Entry::User(UserEntry {
            content: vec![Block::text(words("summary", ANSWER_BYTES))],
            origin: UserOrigin::CompactSummary,
            tool_use_result: None,
            provenance: Vec::new(),
        }));
        [boundary, summary]
    }

    fn answer(&mut self, number: usize) -> Vec<Record> {
        let text = Block::text(words(&format!("answer {number}"), ANSWER_BYTES));
        self.response(&format!("msg_answer_{number}"), vec![text], "end_turn")
    }

    fn ask(&mut self, number: usize) -> Record {
        let text = words(&format!("ask {number}"), PROMPT_BYTES);
        self.add_tokens(text.len());
        self.record(Entry::User(UserEntry {
            content: vec![Block::text(text)],
            origin: UserOrigin::Human,
            tool_use_result: None,
            provenance: Vec::new(),
        }))
    }

    fn response(&mut self, id: &str, blocks: Vec<Block>, stop: &str) -> Vec<Record> {
        let cached = self.tokens.saturating_sub(1_000);
        let usage = Usage { cache_read: cached, input: 1_000, output: 100, ..Usage::default() };
        let last = blocks.len().saturating_sub(1);
        let mut records = Vec::new();
        for ((at, block), index) in blocks.into_iter().enumerate().zip(0_u32..) {
            self.add_tokens(block.plain_text().len());
            records.push(self.record(Entry::Assistant(AssistantEntry {
                message_id: MessageId::new(id),
                request_id: None,
                model: self.model.clone(),
                index,
                block,
                usage,
                stop_reason: (at == last).then(|| stop.to_owned()),
            })));
        }
        let booking = Booking::new(QuerySource::Main, self.model.clone(), usage, &self.table);
        records.push(self.record(Entry::Decision(Decision::Booked(booking))));
        records
    }

    fn add_tokens(&mut self, bytes: usize) {
        self.tokens += (bytes / BYTES_PER_TOKEN) as u64;
    }

    fn record(&mut self, entry: Entry) -> Record {
        self.count += 1;
        let id = RecordId::from(format!("00000000-0000-7000-8000-{:012}", self.count));
        let parent = self.last.replace(id.clone());
        let later = i64::try_from(self.count).unwrap_or(0);
        let at = Timestamp::from_millisecond(self.start.as_millisecond() + later);
        Record { id, parent, at: at.unwrap_or(self.start), entry }
    }
}

/// How many rounds the whole conversation has.
#[must_use]
pub fn rounds() -> usize {
    MESSAGES / MESSAGES_A_ROUND
}

/// Text of exactly this many bytes about a topic in ASCII, with line breaks
/// and something to escape in JSON, as source code has.
#[must_use]
pub fn words(topic: &str, bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 80);
    let mut number = 0_u32;
    while text.len() < bytes {
        // Writing to a text does not fail.
        let _ = writeln!(text, "    let {topic} = \"value {number}\"; // and why it is so");
        number += 1;
    }
    text.truncate(bytes);
    text
}

fn call_id(number: usize) -> ToolUseId {
    ToolUseId::from(format!("toolu_{number:08}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_is_as_long_as_it_says() {
        let mut writer = RecordWriter::new("claude-sonnet-5-5", Timestamp::UNIX_EPOCH);
        let records: Vec<Record> = (0..10).flat_map(|number| writer.round(number)).collect();
        let text: usize = records
            .iter()
            .flat_map(|record| match &record.entry {
                Entry::User(user) => user.content.clone(),
                Entry::Assistant(entry) => vec![entry.block.clone()],
                _ => Vec::new(),
            })
            .map(|block| block.plain_text().len())
            .sum();
        assert_eq!(text * rounds() / 10, TEXT_BYTES);
    }
}
