//! The count against what a real API reported (T7), on a session that lies
//! beside the repository. Without the file there is nothing to compare with.

use crate::conversations::Log;
use everfold_kernel::{Block, Limits, ToolUseId, Usage, UserOrigin};
use everfold_prefix::Fold;
use serde_json::{Value, json};

const SESSION: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/transcripts/pi-990-messages.jsonl");

#[expect(clippy::disallowed_methods, reason = "a test reads its data")]
fn lines() -> Option<Vec<Value>> {
    let text = std::fs::read_to_string(SESSION).ok()?;
    Some(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}

fn number(usage: &Value, key: &str) -> u64 {
    usage[key].as_u64().unwrap_or(0)
}

fn blocks(content: &Value) -> Vec<Block> {
    let part = |part: &Value| match part["type"].as_str()? {
        "text" => Some(Block::text(part["text"].as_str()?)),
        "thinking" => Block::from_value(json!({"type": "thinking", "thinking": part["thinking"]})),
        "toolCall" => {
            let id = ToolUseId::new(part["id"].as_str()?);
            Some(Block::tool_use(&id, part["name"].as_str()?, part["arguments"].clone()))
        }
        "image" => Some(Block::image("image/png", "")),
        _ => None,
    };
    content.as_array().into_iter().flatten().filter_map(part).collect()
}

/// The error of each prediction, in thousandths, in the order of requests.
fn errors(lines: &[Value]) -> Vec<u64> {
    let (mut log, mut fold) = (Log::started(), Fold::new(Limits::default().into()));
    let mut taken = 0;
    let mut model = String::new();
    let mut errors = Vec::new();
    for line in lines {
        if line["type"] == "compaction" {
            break;
        }
        let message = &line["message"];
        match message["role"].as_str() {
            Some("user") => {
                log.user_entry(blocks(&message["content"]), UserOrigin::Human);
            }
            Some("toolResult") => {
                let id = ToolUseId::new(message["toolCallId"].as_str().unwrap_or(""));
                let block = Block::tool_result(&id, message["content"].clone());
                log.user_entry(vec![block], UserOrigin::ToolResult);
            }
            Some("assistant") => {
                let usage = &message["usage"];
                let usage = Usage {
                    input: number(usage, "input"),
                    cache_read: number(usage, "cacheRead"),
                    cache_write_5m: number(usage, "cacheWrite"),
                    output: number(usage, "output"),
                    ..Usage::default()
                };
                for record in log.records.drain(..).collect::<Vec<_>>() {
                    taken += 1;
                    fold.push(record);
                }
                let truth = usage.prompt().0;
                let same = message["model"].as_str() == Some(&model);
                if truth > 0 && same {
                    errors.push(fold.count().0.abs_diff(truth) * 1_000 / truth);
                }
                message["model"].as_str().unwrap_or("").clone_into(&mut model);
                let answer = blocks(&message["content"]);
                log.answer_of(&format!("real-{taken}"), &model, answer, usage);
            }
            _ => {}
        }
    }
    errors
}

#[test]
fn t7_the_count_of_a_real_session_is_within_five_percent() {
    let Some(lines) = lines() else {
        println!("skipped: no session beside the repository at ../shared/data/transcripts");
        return;
    };
    let errors = errors(&lines);
    assert!(errors.len() > 100, "{}", errors.len());
    let late: Vec<u64> = errors.into_iter().skip(3).collect();
    let over = late.iter().filter(|error| **error >= 50).count();
    let mean = late.iter().sum::<u64>() / late.len() as u64;
    println!("{} requests, mean error {}.{} %, {over} over 5 %", late.len(), mean / 10, mean % 10);
    assert!(
        over * 100 <= late.len(),
        "{over} of {} predictions are off by 5 % or more",
        late.len()
    );
}
