//! `tool`: the commands of Anthropic's memory tool, for programs that hand
//! them on from a model (X4).
//!
//! Standard input holds inputs of the tool, or whole `tool_use` blocks, one
//! after the other; each is answered by a line. What the model did wrong is an
//! answer for the model. What is not JSON ends the program.

use super::Bench;
use crate::args::memory::Tier;
use crate::failure::Usage;
use crate::presenter::Presenter;
use anyhow::Result;
use everfold_agent::memory_tool::{self, Command, MemoryAccess, ToolAnswer};
use everfold_kernel::Testimony;
use serde::Deserialize;
use serde_json::{Deserializer, Value, json};
use std::process::ExitCode;

impl Bench<'_> {
    pub(super) fn tool(&self, scope: Tier) -> Result<ExitCode> {
        let (store, service) =
            (self.memories.open(scope.scope())?, self.memories.service_with(scope.scope()));
        let desk =
            MemoryAccess { service: &service, store: &store, testimony: &Testimony::default() };
        let calls = Deserializer::from_reader(std::io::stdin().lock()).into_iter::<Value>();
        let mut count = 0_usize;
        for call in calls {
            let call = call.map_err(|error| usage(&format!("the input is not JSON ({error})")))?;
            Presenter::json_line(&answer(&desk, call))?;
            count += 1;
        }
        if count == 0 {
            return Err(usage("standard input is empty"));
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn usage(message: &str) -> anyhow::Error {
    let hint = r#"pipe a call in, such as {"command":"view","path":"/memories"}"#;
    Usage::new(message, hint).into()
}

fn answer(desk: &MemoryAccess<'_>, call: Value) -> Value {
    if let Ok(Block { id, input }) = serde_json::from_value::<Block>(call.clone()) {
        let (text, failed) = result(desk, input);
        return json!({"type": "tool_result", "tool_use_id": id, "content": text, "is_error": failed});
    }
    let (text, failed) = result(desk, call);
    json!({"content": text, "is_error": failed})
}

/// A `tool_use` block.
#[derive(Deserialize)]
struct Block {
    id: Value,
    input: Value,
}

fn result(desk: &MemoryAccess<'_>, input: Value) -> (String, bool) {
    let answer = match serde_json::from_value::<Command>(input) {
        Ok(command) => memory_tool::run(desk, &command, jiff::Timestamp::now()),
        Err(error) => ToolAnswer::Failed(format!("Error: {error}")),
    };
    (answer.text().to_owned(), matches!(answer, ToolAnswer::Failed(_)))
}
