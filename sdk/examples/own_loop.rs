//! The context engine around somebody else's loop.
//!
//! You have an agent already: your own HTTP client, your own tools. Keep it.
//! Hand every message to a [`Fold`] as a record and let it make the request
//! bytes: the prefix stays the same from request to request, breakpoints are
//! where they pay, and tokens are counted as the API reports them.
//!
//! ```text
//! cargo run -p everfold --example own_loop
//! ```

use everfold::kernel::{
    AssistantEntry, Block, Decision, Entry, Limits, Params, Prelude, Record, Timestamp, ToolUseId,
    Usage, UserEntry, UserOrigin,
};
use everfold::prefix::Fold;
use serde_json::{Value, json};
use std::io::Write as _;

/// Your log: any store will do, as long as it keeps the order.
#[derive(Default)]
struct Log {
    records: Vec<Record>,
}

impl Log {
    fn add(&mut self, fold: &mut Fold, entry: Entry) {
        let id = format!("record-{}", self.records.len());
        let record = Record { id: id.into(), parent: None, at: Timestamp::now(), entry };
        self.records.push(record.clone());
        fold.push(record);
    }
}

/// Your model client. Here it is a script: a tool call, then an answer.
fn your_model(body: &[u8]) -> (Block, Usage) {
    let request: Value = serde_json::from_slice(body).unwrap_or_default();
    let messages = request.get("messages").and_then(Value::as_array);
    let asked = messages.map_or(0, Vec::len);
    let usage = Usage { input: body.len() as u64 / 4, output: 20, ..Usage::default() };
    let block = match asked {
        1 => Block::tool_use(&ToolUseId::new("call-1"), "weather", json!({"city": "Bern"})),
        _ => Block::text("Eleven degrees and rain."),
    };
    (block, usage)
}

fn user(content: Vec<Block>, origin: UserOrigin) -> Entry {
    Entry::User(UserEntry { content, origin, tool_use_result: None, provenance: Vec::new() })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::stdout();
    let (mut log, mut fold) = (Log::default(), Fold::new(Limits::default().into()));
    let prelude = Prelude {
        system: Vec::new(),
        tools: vec![json!({"name": "weather", "description": "The weather in a city",
            "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}}})],
        params: Params::new("claude-sonnet-5-5", 4_000),
    };
    log.add(&mut fold, Entry::Decision(Decision::Prelude(Box::new(prelude))));
    log.add(&mut fold, user(vec![Block::text("What is the weather in Bern?")], UserOrigin::Human));
    let mut previous: Option<String> = None;
    for round in 1..=3 {
        let request = fold.request(None).ok_or("no prelude")?;
        let text = without_breakpoints(&request.body);
        let shared =
            previous.as_ref().is_none_or(|old| text.starts_with(old.trim_end_matches("]}")));
        let word = if shared { "shares its prefix" } else { "breaks the prefix" };
        writeln!(out, "request {round}: {} bytes, {} tokens, {word}", text.len(), fold.count().0)?;
        previous = Some(text);
        let (block, usage) = your_model(&request.body);
        let called = block.kind() == "tool_use";
        log.add(&mut fold, answer(round, block, usage));
        let next = if called {
            let result = Block::tool_result(&ToolUseId::new("call-1"), json!("11 °C, rain"));
            user(vec![result], UserOrigin::ToolResult)
        } else {
            user(vec![Block::text("And tomorrow?")], UserOrigin::Human)
        };
        log.add(&mut fold, next);
    }
    Ok(())
}

fn answer(round: u32, block: Block, usage: Usage) -> Entry {
    Entry::Assistant(AssistantEntry {
        message_id: format!("message-{round}").into(),
        request_id: None,
        model: "claude-sonnet-5-5".into(),
        index: 0,
        block,
        usage,
        stop_reason: Some("end_turn".into()),
    })
}

fn without_breakpoints(body: &[u8]) -> String {
    String::from_utf8_lossy(body).replace(r#","cache_control":{"type":"ephemeral"}"#, "")
}
