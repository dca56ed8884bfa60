//! The same in front of a server that speaks OpenAI's chat completions, such as
//! llama.cpp, vLLM or Ollama, with a client that waits.
//!
//! ```text
//! cargo run -p everfold --example openai_loop -- 127.0.0.1:8080 "What day is it?"
//! ```
//!
//! Without an address a scripted server is started, which calls the tool once.

#![allow(clippy::indexing_slicing, reason = "what a JSON value does not have is null")]

use everfold::context::{AsyncPorts, Context, ContextSetup, Dialect};
use everfold_testkit::{Reply, Scenario, TestServer, When};
use serde_json::{Value, json};
use std::error::Error;
use std::io::{self, Write as _};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Your client: posts a body, and gives that of the response.
async fn post(address: &str, body: &[u8]) -> io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect(address).await?;
    let head = format!(
        "POST /v1/chat/completions HTTP/1.0\r\nhost: {address}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(&[head.as_bytes(), body].concat()).await?;
    let mut response = Vec::new();
    stream.read_to_end(&mut response).await?;
    let end = response.windows(4).position(|bytes| bytes == b"\r\n\r\n");
    Ok(response.split_off(end.map_or(0, |end| end + 4)))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let scenario = Scenario::new()
        .reply(Reply::tool("today", json!({})))
        .on(When::tool_result("Monday"), Reply::text("It is Monday."));
    // Kept until the end: with it the server goes.
    let own = TestServer::start(scenario)?;
    let scripted = || own.base_url().replace("http://", "");
    let address = arguments.next().unwrap_or_else(scripted);
    let prompt = arguments.next().unwrap_or_else(|| "What day is it?".to_owned());
    let today = json!({"type": "function", "function": {"name": "today",
        "description": "The day of the week.",
        "parameters": {"type": "object", "properties": {}}}});
    let setup = ContextSetup::new("qwen3-coder").dialect(Dialect::OpenAi).window(32_000);
    let mut context = Context::new(setup.system("Answer in one sentence.").tools([today]));
    let spilled = std::env::temp_dir().join("everfold-openai-loop");
    let mut ports = AsyncPorts::new(spilled, |body: bytes::Bytes| {
        let address = address.clone();
        async move { post(&address, &body).await }
    });
    context.push(&json!({"role": "user", "content": prompt}))?;
    loop {
        context.prepare_async(&mut ports).await?;
        let response = post(&address, &context.request()).await?;
        context.observe(&response)?;
        let answer: Value = serde_json::from_slice(&response)?;
        let message = &answer["choices"][0]["message"];
        let calls = message["tool_calls"].as_array().cloned().unwrap_or_default();
        for call in &calls {
            context
                .push(&json!({"role": "tool", "tool_call_id": call["id"], "content": "Monday"}))?;
        }
        if calls.is_empty() {
            writeln!(io::stdout(), "{}", message["content"].as_str().unwrap_or_default())?;
            break;
        }
    }
    let end = context.explain();
    writeln!(io::stdout(), "{} requests, {} tokens in view", end.requests, end.tokens.0)?;
    Ok(())
}
