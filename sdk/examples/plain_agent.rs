//! A small agent that knows nothing of Everfold: its own HTTP client, its own
//! tools, its own loop, and a list of messages that only ever grows.
//!
//! ```text
//! cargo run -p everfold --example plain_agent -- 127.0.0.1:8080 "compare the parts"
//! ```
//!
//! `adopted_agent.rs` is the same program with a context in place of the list.

#![allow(clippy::indexing_slicing, reason = "what a JSON value does not have is null")]

use serde_json::{Value, json};
use std::error::Error;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Component, Path, PathBuf};

type Outcome<T> = Result<T, Box<dyn Error>>;

const MODEL: &str = "claude-sonnet-4-5";
const MAX_TOKENS: u64 = 4_096;
const MAX_ROUNDS: usize = 1_000;
const SYSTEM: &str = "You work on the files of one directory. Look before you answer, read \
                      what you need, and say what you found.";

/// The model's server, reached by plain HTTP.
#[derive(Clone)]
struct Server {
    address: String,
    key: String,
}

impl Server {
    /// Posts a request to the Messages API, and gives the body of the response.
    fn post(&self, body: &[u8]) -> Outcome<Vec<u8>> {
        let mut stream = TcpStream::connect(&self.address)?;
        let head = format!(
            "POST /v1/messages HTTP/1.1\r\nhost: {}\r\nconnection: close\r\nx-api-key: {}\r\n\
             anthropic-version: 2023-06-01\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n",
            self.address,
            self.key,
            body.len()
        );
        stream.write_all(head.as_bytes())?;
        stream.write_all(body)?;
        let mut response = Vec::new();
        stream.read_to_end(&mut response)?;
        let end = response.windows(4).position(|bytes| bytes == b"\r\n\r\n");
        let (head, body) = response.split_at(end.ok_or("no response")? + 4);
        let head = String::from_utf8_lossy(head).to_lowercase();
        let is_chunked = head.contains("transfer-encoding: chunked");
        Ok(if is_chunked { whole(body)? } else { body.to_vec() })
    }
}

/// A body that came in chunks.
fn whole(mut chunks: &[u8]) -> Outcome<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let end = chunks.windows(2).position(|bytes| bytes == b"\r\n").ok_or("a broken chunk")?;
        let (size, rest) = chunks.split_at(end);
        let size = usize::from_str_radix(std::str::from_utf8(size)?.trim(), 16)?;
        if size == 0 {
            return Ok(body);
        }
        let rest = rest.get(2..).ok_or("a broken chunk")?;
        body.extend_from_slice(rest.get(..size).ok_or("a broken chunk")?);
        chunks = rest.get(size + 2..).ok_or("a broken chunk")?;
    }
}

/// What the model can do: look around in one directory.
struct Tools {
    root: PathBuf,
}

impl Tools {
    fn declared() -> Vec<Value> {
        let tool = |name: &str, about: &str, argument: &str| {
            json!({"name": name, "description": about, "input_schema": {"type": "object",
                "properties": {argument: {"type": "string"}}, "required": [argument]}})
        };
        vec![
            tool("list_files", "The names of the files in a folder.", "path"),
            tool("read_file", "The text of a file.", "path"),
            tool("search", "The lines of all files that contain a text.", "text"),
        ]
    }

    fn run(&self, name: &str, input: &Value) -> Outcome<String> {
        let argument = |key: &str| input[key].as_str().ok_or(format!("{key} is missing"));
        match name {
            "list_files" => Ok(names(&self.path(argument("path")?)?)?.join("\n")),
            "read_file" => Ok(std::fs::read_to_string(self.path(argument("path")?)?)?),
            "search" => self.search(argument("text")?),
            other => Err(format!("there is no tool {other}").into()),
        }
    }

    /// A path within the directory.
    fn path(&self, path: &str) -> Outcome<PathBuf> {
        let path = Path::new(path);
        let is_inside = path.components().all(|part| matches!(part, Component::Normal(_)));
        if is_inside || path == Path::new(".") {
            Ok(self.root.join(path))
        } else {
            Err("only files of this directory can be read".into())
        }
    }

    fn search(&self, text: &str) -> Outcome<String> {
        let mut found = Vec::new();
        for name in names(&self.root)? {
            let Ok(file) = std::fs::read_to_string(self.root.join(&name)) else { continue };
            for (line, number) in file.lines().zip(1..).filter(|(line, _)| line.contains(text)) {
                found.push(format!("{name}:{number}: {line}"));
            }
        }
        Ok(found.join("\n"))
    }
}

fn names(folder: &Path) -> Outcome<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

/// The conversation, and what it is held with.
struct Agent {
    server: Server,
    tools: Tools,
    messages: Vec<Value>,
}

impl Agent {
    fn new(server: Server, root: PathBuf) -> Self {
        Self { server, tools: Tools { root }, messages: Vec::new() }
    }

    /// One turn: the person's words, rounds of tools, the model's last words.
    fn turn(&mut self, prompt: &str) -> Outcome<String> {
        self.messages.push(json!({"role": "user", "content": prompt}));
        for _ in 0..MAX_ROUNDS {
            let answer = self.ask()?;
            let mut results = Vec::new();
            let mut said = String::new();
            for block in answer["content"].as_array().into_iter().flatten() {
                match block["type"].as_str() {
                    Some("text") => said.push_str(block["text"].as_str().unwrap_or_default()),
                    Some("tool_use") => results.push(self.call(block)),
                    _ => {}
                }
            }
            if results.is_empty() {
                return Ok(said);
            }
            self.messages.push(json!({"role": "user", "content": results}));
        }
        Err("the turn does not end".into())
    }

    /// Sends the conversation, and takes in the answer. What was sent before is
    /// read from the server's cache, up to the mark on the last message.
    fn ask(&mut self) -> Outcome<Value> {
        let mut messages = self.messages.clone();
        if let Some(last) = messages.last_mut() {
            mark(last);
        }
        let body = json!({"model": MODEL, "max_tokens": MAX_TOKENS, "system": SYSTEM,
            "tools": Tools::declared(), "messages": messages});
        let response = self.server.post(body.to_string().as_bytes())?;
        let answer: Value = serde_json::from_slice(&response)?;
        if answer["type"] == "error" {
            return Err(answer["error"]["message"].to_string().into());
        }
        self.messages.push(json!({"role": "assistant", "content": answer["content"]}));
        Ok(answer)
    }

    fn call(&self, call: &Value) -> Value {
        let name = call["name"].as_str().unwrap_or_default();
        let (text, failed) = match self.tools.run(name, &call["input"]) {
            Ok(text) => (text, false),
            Err(error) => (error.to_string(), true),
        };
        json!({"type": "tool_result", "tool_use_id": call["id"], "content": text,
            "is_error": failed})
    }
}

/// Asks the server to cache everything up to the end of this message.
fn mark(message: &mut Value) {
    if let Some(text) = message["content"].as_str() {
        message["content"] = json!([{"type": "text", "text": text}]);
    }
    if let Some(block) = message["content"].as_array_mut().and_then(|blocks| blocks.last_mut()) {
        block["cache_control"] = json!({"type": "ephemeral"});
    }
}

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().ok_or("say where the server is, such as 127.0.0.1:8080")?;
    let prompt = arguments.next().unwrap_or_else(|| "What is in these files?".to_owned());
    let key = std::env::var("ANTHROPIC_API_KEY").unwrap_or_else(|_| "none".to_owned());
    let mut agent = Agent::new(Server { address, key }, std::env::current_dir()?);
    let said = agent.turn(&prompt)?;
    writeln!(std::io::stdout(), "{said}")?;
    Ok(())
}
