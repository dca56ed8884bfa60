//! `LangChain`'s context middleware over a session, priced by our simulator.

use super::Row;
use super::environment::Place;
use anyhow::{Context, Result};
use everfold_bench::conversation::{BYTES_PER_TOKEN, RecordWriter};
use everfold_foreign::{Thread, TranscriptEvent, What};
use everfold_kernel::record::CacheTtl;
use everfold_kernel::{BlockView, Entry, ModelTable, Record, Timestamp, Tokens, Usage};
use everfold_prefix::sim::{Chain, SimConfig, Simulator, hash};
use everfold_replay::{Options, Policy, Replay};
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt;
use std::process::Command;

const MODEL: &str = "claude-sonnet-4-5";
/// Twice the window, so that each has to do something.
const ROUNDS: usize = 500;
/// Tokens of a summary: the same for all.
const SUMMARY_TOKENS: usize = 2_000;
/// Tokens of system prompt and tools: the same for all.
const PRELUDE_TOKENS: u64 = 2_150;
const PEER: &str = "LangChain";

/// What a reader has to know of these rows.
pub(super) const NOTE: &str = "LangChain's middleware is driven with its defaults (summaries at 80 % of the window) \
    over a session of 1,000 requests and 400,000 tokens without pauses; what each request would send is priced by \
    our cache simulator at claude-sonnet-4-5's prices, the answers left out. Ours is the policy `everfold` over the same \
    session. Theirs is counted at four bytes a token, ours by the replay's own count: by how much these differ is what the \
    row of append only shows, where both send the same.";

#[derive(Deserialize)]
struct Found {
    version: String,
    strategies: Vec<Strategy>,
}

/// What one strategy sends.
#[derive(Deserialize)]
struct Strategy {
    name: String,
    /// Bytes of each piece.
    bytes: Vec<usize>,
    /// The pieces of each request.
    requests: Vec<Vec<usize>>,
    /// Bytes that each summary was made from.
    summaries: Vec<usize>,
}

/// Prices its strategies.
pub(super) fn measure(place: &Place) -> Result<Vec<Row>> {
    let mut writer = RecordWriter::new(MODEL, Timestamp::UNIX_EPOCH);
    let records: Vec<Record> = (0..ROUNDS).flat_map(|round| writer.round(round)).collect();
    let input = session(&records).to_string();
    let found = place.python("py-langchain", &["langchain"]).and_then(|python| {
        let mut command = Command::new(python);
        place.run(command.arg(Place::script("langchain_context.py")), &input)
    });
    let found: Found = match found {
        Ok(text) => serde_json::from_slice(&text).context("the script wrote something else")?,
        Err(why) => return Ok(vec![Row::skipped(PEER, "context over a session", &why)]),
    };
    let ours = ours(&records);
    let row = |own: &Strategy| {
        let theirs = price(own);
        let ours = if own.name == "append only" { &ours.0 } else { &ours.1 };
        Row {
            peer: PEER,
            version: found.version.clone(),
            what: match own.name.as_str() {
                "append only" => "prompts, append only",
                "context editing" => "prompts, context editing",
                _ => "prompts, summarization",
            },
            theirs: theirs.to_string(),
            ours: ours.to_string(),
            ratio: Some(theirs.usd / ours.usd),
        }
    };
    Ok(found.strategies.iter().map(row).collect())
}

/// The session as the script reads it.
fn session(records: &[Record]) -> Value {
    let mut messages: Vec<Value> = Vec::new();
    let mut answering = None;
    for record in records {
        match &record.entry {
            Entry::User(user) => {
                answering = None;
                for block in &user.content {
                    let text = block.plain_text();
                    messages.push(match block.view() {
                        BlockView::ToolResult { id, .. } => {
                            json!({"role": "tool", "id": id, "text": text})
                        }
                        _ => json!({"role": "user", "text": text}),
                    });
                }
            }
            Entry::Assistant(entry) => {
                if answering.as_ref() != Some(&entry.message_id) {
                    messages.push(json!({"role": "assistant", "text": "", "calls": []}));
                    answering = Some(entry.message_id.clone());
                }
                let Some(last) = messages.last_mut() else { continue };
                if let BlockView::ToolUse { id, .. } = entry.block.view() {
                    if let Some(calls) = last.get_mut("calls").and_then(Value::as_array_mut) {
                        calls.push(json!(id));
                    }
                } else if let Some(Value::String(text)) = last.get_mut("text") {
                    text.push_str(&entry.block.plain_text());
                }
            }
            _ => {}
        }
    }
    let window = ModelTable::builtin().spec(&MODEL.into()).window;
    json!({"messages": messages, "window": window, "summary_bytes": SUMMARY_TOKENS * BYTES_PER_TOKEN})
}

/// What a session's prompts come to.
struct Priced {
    usd: f64,
    summaries: u64,
    /// Tokens of the largest.
    largest: u64,
}

impl fmt::Display for Priced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { usd, summaries, largest } = self;
        write!(f, "{usd:.2} USD, {summaries} summaries, largest {largest}")
    }
}

/// What the prompts of a strategy cost.
fn price(own: &Strategy) -> Priced {
    let table = ModelTable::builtin();
    let spec = table.spec(&MODEL.into());
    let tokens = |bytes: usize| Tokens((bytes / BYTES_PER_TOKEN) as u64);
    let (mut cache, mut chain) = (Simulator::new(SimConfig::default()), Chain::default());
    let (mut usd, mut largest, mut before) = (0.0, 0, 0);
    let mut last: &[usize] = &[];
    for request in &own.requests {
        chain.enter(MODEL);
        if chain.is_empty() {
            chain.push(hash(b"prelude"), Tokens(PRELUDE_TOKENS));
        }
        let same = last.iter().zip(request).take_while(|(one, other)| one == other).count();
        chain.truncate(same + 1);
        for piece in request.iter().skip(same) {
            let bytes = own.bytes.get(*piece).copied().unwrap_or(0);
            chain.push(hash(&piece.to_le_bytes()), tokens(bytes));
        }
        let mut marks = vec![0, before, chain.len() - 1];
        marks.retain(|mark| *mark < chain.len());
        marks.dedup();
        let minimum = Tokens(spec.cache_minimum);
        let at = Timestamp::UNIX_EPOCH;
        let billed = cache.advance(at, &chain, minimum, (&marks, CacheTtl::FiveMinutes));
        let usage = billed.unwrap_or_default();
        usd += spec.cost(&usage).map_or(0.0, |usd| usd.0);
        largest = largest.max(usage.prompt().0);
        before = chain.len() - 1;
        last = request;
    }
    for bytes in &own.summaries {
        let (input, output) = (tokens(*bytes).0, SUMMARY_TOKENS as u64);
        let usage = Usage { input, output, ..Usage::default() };
        usd += spec.cost(&usage).map_or(0.0, |usd| usd.0);
    }
    Priced { usd, summaries: own.summaries.len() as u64, largest }
}

/// What the same prompts cost append only, and under our policy.
fn ours(records: &[Record]) -> (Priced, Priced) {
    let policies = vec![Policy::None, Policy::Everfold];
    let mut replay = Replay::new(Options { policies, ..Options::default() });
    for record in records {
        let what = What::Record(Box::new(record.clone()));
        replay.take(TranscriptEvent { thread: Thread::MAIN, what });
    }
    let outcome = replay.finish();
    let table = ModelTable::builtin();
    let told = |policy: Policy| {
        let lane = outcome.lanes.iter().find(|lane| lane.policy == policy);
        let own = lane.map(|lane| lane.totals).unwrap_or_default();
        let output = lane.iter().flat_map(|lane| &lane.rounds).map(|round| u64::from(round.output));
        let answers = Usage { output: output.sum(), ..Usage::default() };
        let answers = table.spec(&MODEL.into()).cost(&answers).map_or(0.0, |usd| usd.0);
        Priced { usd: own.usd - answers, summaries: own.compactions, largest: own.largest }
    };
    (told(Policy::None), told(Policy::Everfold))
}
