//! Memory for a chat of ten lines: what the person asks to be remembered is
//! kept as a Markdown file, and comes back when a later message calls for it.
//!
//! ```text
//! cargo run -p everfold --example memory_chat -- ./memories
//! From now on, deploy to the staging cluster in Zurich first.
//! (another day)
//! Where do I deploy first?
//! ```
//!
//! The model is an echo of what it was shown, so that one sees what that is.

#![allow(clippy::indexing_slicing, reason = "what a JSON value does not have is null")]

use everfold::context::{Context, ContextMemory, ContextSetup, Kept, LocalPorts};
use serde_json::{Value, json};
use std::error::Error;
use std::io::{BufRead as _, Write as _};
use std::path::PathBuf;

/// Your model client: here it says what it was told last.
fn your_model(body: &[u8]) -> Result<Vec<u8>, serde_json::Error> {
    let request: Value = serde_json::from_slice(body)?;
    let last = request["messages"].as_array().and_then(|messages| messages.last());
    let blocks = last.and_then(|message| message["content"].as_array());
    let told: Vec<&str> =
        blocks.into_iter().flatten().filter_map(|block| block["text"].as_str()).collect();
    Ok(json!({"id": format!("msg-{}", body.len()), "model": "echo", "role": "assistant",
        "content": [{"type": "text", "text": told.join("\n")}], "stop_reason": "end_turn",
        "usage": {"input_tokens": body.len() / 4, "output_tokens": 10}})
    .to_string()
    .into_bytes())
}

fn main() -> Result<(), Box<dyn Error>> {
    let dir = PathBuf::from(std::env::args().nth(1).ok_or("say where memories are kept")?);
    let memory = ContextMemory::open(&dir);
    let mut ports = LocalPorts::new(std::env::temp_dir(), your_model).memory(memory.clone());
    let mut context = Context::new(ContextSetup::new("echo"));
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        context.push(&json!({"role": "user", "content": line}))?;
        context.prepare(&mut ports)?;
        let response = your_model(&context.request())?;
        let answer = context.observe(&response)?;
        let said: String = answer.blocks.iter().map(everfold::Block::plain_text).collect();
        writeln!(std::io::stdout(), "{said}")?;
        for notice in memory.listen(&line)?.iter().filter_map(Kept::notice) {
            writeln!(std::io::stdout(), "({notice})")?;
        }
    }
    Ok(())
}
