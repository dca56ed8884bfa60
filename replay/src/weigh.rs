//! How many tokens a session's blocks have, before its usage tells.

use crate::count::{self, Factor};
use everfold_kernel::tokens::estimate_text;
use everfold_kernel::{AssistantEntry, Block, BlockView, Entry, Limits, Record, Tokens, Usage};
use everfold_prefix::measure::Weight;
use serde_json::Value;

/// Weighs what was said.
pub(crate) fn said(record: &Record, factor: Factor, limits: &Limits) -> Vec<Weight> {
    let weigh = |block| Weight::of(block, Tokens(factor.of(count::block(block, limits))));
    match &record.entry {
        Entry::Attachment(own) => {
            let block = Block::text(own.rendered.as_str());
            vec![weigh(&block)]
        }
        _ => blocks(record).map(weigh).collect(),
    }
}

/// Weighs a response. Where it says how many tokens it has, they are shared
/// out among its blocks; a count that is far too small is one that was written
/// before the response was complete.
pub(crate) fn response(response: &[Record], factor: Factor, limits: &Limits) -> Vec<Weight> {
    let estimates: Vec<u64> = response.iter().map(|own| estimate_of(own, limits)).collect();
    let total: u64 = estimates.iter().sum();
    let said = usage_of(response).output;
    let is_known = total > 0 && is_whole(said, total);
    let weigh = |(record, estimate): (&Record, u64)| {
        let tokens =
            if is_known { said.saturating_mul(estimate) / total } else { factor.of(estimate) };
        blocks(record).next().map(|block| Weight::of(block, Tokens(tokens)))
    };
    response.iter().zip(estimates).filter_map(weigh).collect()
}

/// What a response used.
pub(crate) fn usage_of(response: &[Record]) -> Usage {
    let entry = response.iter().find_map(|record| match &record.entry {
        Entry::Assistant(entry) => Some(entry.usage),
        _ => None,
    });
    entry.unwrap_or_default()
}

/// Whether a count of output can be that of the whole response.
fn is_whole(said: u64, estimate: u64) -> bool {
    said >= estimate / 3
}

fn estimate_of(record: &Record, limits: &Limits) -> u64 {
    match &record.entry {
        Entry::Attachment(own) => count::text(&own.rendered),
        _ => blocks(record).map(|block| count::block(block, limits)).sum(),
    }
}

/// The blocks of a record.
pub(crate) fn blocks(record: &Record) -> impl Iterator<Item = &Block> {
    let (many, one) = match &record.entry {
        Entry::User(user) => (user.content.as_slice(), None),
        Entry::Assistant(entry) => (&[][..], Some(&entry.block)),
        _ => (&[][..], None),
    };
    many.iter().chain(one)
}

/// The estimate of a prelude.
pub(crate) fn prelude_tokens(prelude: &everfold_kernel::Prelude, limits: &Limits) -> Tokens {
    let text: Tokens = prelude.system.iter().map(|block| estimate_text(&block.text, limits)).sum();
    let tools = prelude.tools.iter().map(|tool| tool.to_string().len()).sum();
    text + everfold_kernel::tokens::estimate_json_bytes(tools, limits)
}

/// Takes the bytes of pictures and documents out of blocks that were weighed:
/// no policy looks at them, and there may be megabytes of them in view.
pub(crate) fn drop_media(blocks: &mut [Block]) {
    let is_media = |part: &Value| {
        matches!(part.get("type").and_then(Value::as_str), Some("image" | "document"))
    };
    for block in blocks {
        match block.view() {
            BlockView::Image | BlockView::Document => empty(block.as_map_mut().get_mut("source")),
            BlockView::ToolResult { content: Value::Array(parts), .. }
                if parts.iter().any(is_media) =>
            {
                let parts = block.as_map_mut().get_mut("content").and_then(Value::as_array_mut);
                for part in parts.into_iter().flatten().filter(|part| is_media(part)) {
                    empty(part.get_mut("source"));
                }
            }
            _ => {}
        }
    }
}

fn empty(source: Option<&mut Value>) {
    if let Some(Value::String(data)) = source.and_then(|source| source.get_mut("data")) {
        *data = String::new();
    }
}

/// Records without their texts, for policies that only look at how much was
/// said: their weights stand for them. What is the same in all is there once.
#[derive(Debug)]
pub(crate) struct Hollow {
    text: Block,
    blank: Block,
    thinking: Block,
}

impl Default for Hollow {
    fn default() -> Self {
        let thinking = Block::from_value(serde_json::json!({"type": "thinking"}));
        Self {
            text: Block::text(PLACE),
            blank: Block::text(""),
            thinking: thinking.unwrap_or_else(|| Block::text(PLACE)),
        }
    }
}

/// Stands for a text.
const PLACE: &str = ".";
/// What a block is known by.
const KNOWN_BY: [&str; 4] = ["type", "id", "name", "tool_use_id"];

impl Hollow {
    /// The same record without its texts.
    pub(crate) fn of(&self, record: &Record) -> Record {
        let entry = match &record.entry {
            Entry::User(user) => Entry::User(everfold_kernel::UserEntry {
                content: user.content.iter().map(|block| self.block(block)).collect(),
                origin: user.origin,
                tool_use_result: None,
                provenance: Vec::new(),
            }),
            Entry::Assistant(entry) => Entry::Assistant(AssistantEntry {
                message_id: entry.message_id.clone(),
                request_id: None,
                model: entry.model.clone(),
                index: entry.index,
                block: self.block(&entry.block),
                usage: Usage::default(),
                stop_reason: None,
            }),
            Entry::Attachment(own) => Entry::Attachment(everfold_kernel::Attachment {
                kind: own.kind.clone(),
                rendered: PLACE.to_owned(),
                data: Value::Null,
                provenance: None,
            }),
            other => other.clone(),
        };
        Record { id: record.id.clone(), parent: None, at: record.at, entry }
    }

    fn block(&self, block: &Block) -> Block {
        match block.view() {
            BlockView::Text(text) if text.trim().is_empty() => self.blank.clone(),
            BlockView::Text(_) => self.text.clone(),
            BlockView::Thinking(_) => self.thinking.clone(),
            _ => {
                let known = block.as_map().iter();
                let known = known
                    .filter(|(key, value)| KNOWN_BY.contains(&key.as_str()) && value.is_string());
                let known = known.map(|(key, value)| (key.clone(), value.clone()));
                let known = Value::Object(known.collect());
                Block::from_value(known).unwrap_or_else(|| self.text.clone())
            }
        }
    }
}
