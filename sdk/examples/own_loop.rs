//! The context layers around somebody else's loop, in front of the reader.
//!
//! You have an agent already: your own HTTP client, your own tools. Keep it. A
//! [`Context`] takes the place of its list of messages. Here the model is a
//! script that reads one file after another, so that everything happens which
//! happens in a long session: a large result goes to disk, old results are
//! cleared where that pays, and a summary takes the place of what no longer fits.
//!
//! ```text
//! cargo run -p everfold --example own_loop
//! ```

#![allow(clippy::indexing_slicing, reason = "what a JSON value does not have is null")]

use everfold::SystemClock;
use everfold::context::{Clock, Context, ContextSetup, LocalPorts, Timestamp};
use serde_json::{Value, json};
use std::error::Error;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const ROUNDS: usize = 60;
/// How far the script is, and how many files were read.
static ROUND: AtomicUsize = AtomicUsize::new(0);
static READ: AtomicUsize = AtomicUsize::new(0);

/// The machine's clock, with an hour for lunch after the twelfth file: then the
/// server has nothing cached any more, and clearing costs nothing.
struct WorkClock;

impl Clock for WorkClock {
    fn now(&self) -> Timestamp {
        let lunch = if READ.load(Ordering::Relaxed) >= 12 { 3_700 } else { 0 };
        Timestamp::from_second(SystemClock.now().as_second() + lunch).unwrap_or_default()
    }

    fn fresh_uuid(&self) -> String {
        SystemClock.fresh_uuid()
    }
}

/// Your model client. Here it is a script: it reads file after file, sums up
/// when it is asked to, and has its say at the end.
fn your_model(body: &[u8]) -> Result<Vec<u8>, serde_json::Error> {
    let request: Value = serde_json::from_slice(body)?;
    let is_summary = request["messages"].to_string().contains("about to be compacted");
    let round = ROUND.fetch_add(usize::from(!is_summary), Ordering::Relaxed);
    let content = if is_summary {
        json!([{"type": "text",
            "text": format!("<summary>Files up to {round} were read. None is broken.</summary>")}])
    } else if round < ROUNDS {
        json!([{"type": "tool_use", "id": format!("call-{round}"), "name": "read_file",
            "input": {"number": round + 1}}])
    } else {
        json!([{"type": "text", "text": "None of the files is broken."}])
    };
    let tokens = body.len() / 4;
    let answer = json!({"id": format!("msg-{round}-{tokens}"), "model": "claude-sonnet-4-5",
        "role": "assistant", "content": content, "stop_reason": null,
        "usage": {"input_tokens": 0, "cache_read_input_tokens": tokens, "output_tokens": 60}});
    Ok(answer.to_string().into_bytes())
}

/// Your tool: files of some size, the fourth of them large.
fn your_tool(input: &Value) -> String {
    let number = input["number"].as_u64().unwrap_or_default();
    READ.fetch_add(1, Ordering::Relaxed);
    let lines = if number == 4 { 2_000 } else { 90 };
    let line = format!("file {number} has a line like this one, and nothing in it is broken\n");
    format!("{}end of file {number}", line.repeat(lines))
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout();
    let spilled = std::env::temp_dir().join("everfold-own-loop");
    let mut ports = LocalPorts::new(&spilled, your_model);
    let tool = json!({"name": "read_file", "description": "Reads a file.", "input_schema":
        {"type": "object", "properties": {"number": {"type": "integer"}}}});
    let setup = ContextSetup::new("claude-sonnet-4-5")
        .system("Look for what is broken.")
        .tools([tool])
        .clearable(["read_file"])
        .clock(Arc::new(WorkClock))
        .window(40_000);
    let mut context = Context::new(setup);
    context.push(&json!({"role": "user", "content": "Is one of the files broken?"}))?;
    let mut told = 0;
    for round in 1..=ROUNDS + 1 {
        context.prepare(&mut ports)?;
        for act in context.explain().acts.iter().skip(told) {
            writeln!(out, "before request {round}: {act}")?;
            told += 1;
        }
        let request = context.request();
        let answer = context.observe(&your_model(&request)?)?;
        let mut results = Vec::new();
        for block in &answer.blocks {
            let block = block.as_map();
            match block.get("type").and_then(Value::as_str) {
                Some("tool_use") => {
                    let result = your_tool(block.get("input").unwrap_or(&Value::Null));
                    results.push(json!({"type": "tool_result", "tool_use_id": block.get("id"),
                        "content": result}));
                }
                _ => writeln!(out, "{}", block.get("text").and_then(Value::as_str).unwrap_or(""))?,
            }
        }
        if results.is_empty() {
            break;
        }
        context.push(&json!({"role": "user", "content": results}))?;
    }
    let end = context.explain();
    writeln!(
        out,
        "{} requests, {} tokens in a window of {}, ${:.2} of which ${:.2} for summaries",
        end.requests, end.tokens.0, end.window.size.0, end.spent.0, end.spent_by_layers.0
    )?;
    Ok(())
}
