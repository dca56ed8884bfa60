//! Logs made by chance: any sizes, parallel calls, errors, pictures, thinking,
//! queued prompts, attachments, pins.

use crate::logs::{Log, thinking};
use everfold_compact::pins;
use everfold_kernel::{Block, RecordId, ToolUseId, Usage, UserOrigin};
use proptest::prelude::*;
use serde_json::{Value, json};

#[derive(Clone, Debug)]
pub(crate) enum Round {
    Prompt { words: usize, image: bool },
    Attached(usize),
    Answer { thinking: bool, words: usize },
    Calls { tools: Vec<(u8, usize, bool)>, thinking: bool, queued: bool },
    Pin(usize),
}

pub(crate) fn rounds(most: usize) -> impl Strategy<Value = Vec<Round>> {
    let words = prop_oneof![5 => 0_usize..30, 2 => 30_usize..800, 1 => 800_usize..8_000];
    let call = (any::<u8>(), words.clone(), prop::bool::weighted(0.2));
    let round = prop_oneof![
        3 => (words.clone(), prop::bool::weighted(0.2))
            .prop_map(|(words, image)| Round::Prompt { words, image }),
        1 => (0_usize..200).prop_map(Round::Attached),
        2 => (any::<bool>(), words).prop_map(|(thinking, words)| Round::Answer { thinking, words }),
        4 => (prop::collection::vec(call, 1..6), any::<bool>(), prop::bool::weighted(0.2))
            .prop_map(|(tools, thinking, queued)| Round::Calls { tools, thinking, queued }),
        1 => any::<usize>().prop_map(Round::Pin),
    ];
    prop::collection::vec(round, 1..most)
}

/// Text that is the same for the same place and different for another.
fn words(number: usize, count: usize) -> String {
    let list = ["alpha", "beta é", "gamma\n", "delta.", "eps漢", "fn main() {}", "</said>", "no!"];
    let all: Vec<&str> = (0..count).map(|at| list[(number * 7 + at * 3) % list.len()]).collect();
    format!("#{number} {}", all.join(" "))
}

fn call(kind: u8, number: usize) -> (&'static str, Value) {
    let file = format!("/p/src/f{}.rs", number % 5);
    match kind % 6 {
        0 => ("Read", json!({"file_path": file})),
        1 => ("Edit", json!({"file_path": file, "old_string": "a", "new_string": "b"})),
        2 => ("Write", json!({"file_path": file, "content": "x"})),
        3 => (
            "TodoWrite",
            json!({"todos": [{"content": format!("todo {number}"), "status": "pending"}]}),
        ),
        4 => ("Grep", json!({"pattern": "needle"})),
        _ => ("Bash", json!({"command": format!("make step{number}")})),
    }
}

/// Writes rounds as an engine would, and ends with the user's turn.
pub(crate) fn write(log: &mut Log, rounds: &[Round], base: usize) {
    for (number, round) in rounds.iter().enumerate() {
        let number = base + number;
        match round {
            Round::Prompt { words: count, image } => {
                let mut content = vec![Block::text(words(number, *count))];
                if *image {
                    content.push(Block::image("image/png", "AAAA"));
                }
                log.user_blocks(content, UserOrigin::Human);
            }
            Round::Attached(count) => {
                log.attach("note", &words(number, *count));
            }
            Round::Answer { thinking: with, words: count } => {
                let mut blocks = if *with { vec![thinking()] } else { vec![] };
                blocks.push(Block::text(words(number, *count)));
                log.answer(blocks, Usage::default());
                log.user(&format!("go on {number}"));
            }
            Round::Calls { tools, thinking: with, queued } => {
                calls(log, number, tools, (*with, *queued));
            }
            Round::Pin(at) => pin(log, *at),
        }
    }
    if !log.fold().open_calls().is_empty() || log.records.len() < 3 {
        log.user("end");
    }
}

fn calls(log: &mut Log, number: usize, tools: &[(u8, usize, bool)], (with, queued): (bool, bool)) {
    let ids: Vec<ToolUseId> = tools.iter().map(|_| log.call_id()).collect();
    let mut blocks = if with { vec![thinking()] } else { vec![] };
    blocks.extend(ids.iter().zip(tools).map(|(id, (kind, _, _))| {
        let (name, input) = call(*kind, number);
        Block::tool_use(id, name, input)
    }));
    log.answer(blocks, Usage::default());
    for (index, (id, (kind, size, fails))) in ids.iter().zip(tools).enumerate() {
        let block = match (*fails, *kind % 11) {
            (true, _) => Block::tool_error(id, &words(number, *size)),
            (_, 10) => Block::tool_result(
                id,
                json!([{"type": "text", "text": words(number, *size)}, {"type": "image", "source": {}}]),
            ),
            _ => Block::tool_result(id, json!(words(number, *size))),
        };
        log.user_blocks(vec![block], UserOrigin::ToolResult);
        if queued && index == 0 {
            log.user(&format!("queued {number}"));
        }
    }
}

fn pin(log: &mut Log, at: usize) {
    let fold = log.fold();
    let records: Vec<RecordId> = fold
        .messages()
        .iter()
        .flat_map(everfold_prefix::Message::pieces)
        .map(|piece| piece.record.clone())
        .collect();
    let Some(record) = records.get(at % records.len().max(1)) else { return };
    if let Ok(decision) = pins::pin(&fold, record, &log.limits) {
        log.decide(decision);
    }
}
