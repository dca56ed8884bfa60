//! `tool`: the commands of Anthropic's memory tool, for programs that hand
//! them on from a model (X4).
//!
//! Standard input holds inputs of the tool, or whole `tool_use` blocks, one
//! after the other; each is answered by a line. What the model did wrong is an
//! answer for the model. What is no JSON ends the program.

use super::Bench;
use crate::args::memory::Tier;
use crate::fail::Usage;
use crate::present::Presenter;
use anyhow::Result;
use mnemon::memdir::{By, Store};
use mnemon::memory_tool::{self, Answer, Command};
use serde_json::{Deserializer, Value, json};
use std::process::ExitCode;

/// Who made a change, in the history.
const SOURCE: &str = "memory_tool";

impl Bench<'_> {
    pub(super) fn tool(&self, scope: Tier) -> Result<ExitCode> {
        let store = self.memories.open(scope.scope())?;
        let calls = Deserializer::from_reader(std::io::stdin().lock()).into_iter::<Value>();
        let mut count = 0_usize;
        for call in calls {
            let call = call.map_err(|error| usage(&format!("the input is no JSON ({error})")))?;
            Presenter::json_line(&answer(&store, call))?;
            count += 1;
        }
        if count == 0 {
            return Err(usage("there is nothing on standard input"));
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn usage(message: &str) -> anyhow::Error {
    let hint = r#"pipe a call in, such as {"command":"view","path":"/memories"}"#;
    Usage::new(message, hint).into()
}

fn answer(store: &Store, mut call: Value) -> Value {
    let is_block = call.get("type").is_some_and(|kind| kind == "tool_use");
    let input = if is_block { call["input"].take() } else { call.take() };
    let answer = match serde_json::from_value::<Command>(input) {
        Ok(command) => {
            let by = By::agent(SOURCE, "", jiff::Timestamp::now());
            memory_tool::run(store, &command, &by)
        }
        Err(error) => Answer::Failed(format!("Error: {error}")),
    };
    let failed = matches!(answer, Answer::Failed(_));
    let text = answer.text();
    if is_block {
        let id = &call["id"];
        let block =
            json!({"type": "tool_result", "tool_use_id": id, "content": text, "is_error": failed});
        return block;
    }
    json!({"content": text, "is_error": failed})
}
