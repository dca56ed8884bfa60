//! An agent in forty lines: ask something, watch it work, read the answer.
//!
//! ```text
//! cargo run -p everfold --example agent -- "list the Rust files"
//! ```
//!
//! Without a key it runs offline. With `ANTHROPIC_API_KEY` (or a server under
//! `ANTHROPIC_BASE_URL` or `OPENAI_BASE_URL`) a model answers.

use everfold::{Agent, Event, Turn};
use futures_util::StreamExt as _;
use std::io::Write as _;
use std::path::PathBuf;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let prompt = std::env::args().nth(1).unwrap_or_else(|| "what can you do?".into());
    let user_home = std::env::var_os("HOME").map(PathBuf::from);
    let agent = Agent::builder(std::env::current_dir()?)
        .environment(std::env::vars().collect(), user_home)
        .build()
        .await?;
    let mut session = agent.start();
    let mut turn = Turn::new(&mut session, prompt);
    let mut out = std::io::stdout();
    while let Some(event) = turn.next().await {
        match event {
            Event::Text(text) => write!(out, "{text}")?,
            Event::ToolStarted { name, input, .. } => writeln!(out, "[{name} {input}]")?,
            _ => {}
        }
        out.flush()?;
    }
    let end = turn.end().await?;
    writeln!(out, "\n{:?} after {} requests", end.reason, end.requests)?;
    agent.shutdown().await;
    Ok(())
}
