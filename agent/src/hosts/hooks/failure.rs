//! A tool failed: a memory that knows the cause is shown (R17), once.

use super::call::HostCall;
use super::notes::{Note, Notes};
use super::reply::HostReply;
use crate::error::Error;
use crate::hosts::HostService;
use everfold_kernel::Flag;
use everfold_kernel::ports::QueryKind;
use everfold_memory_judge::secrets;
use everfold_memory_recall::DistinctTokens;
use everfold_memory_recall::budget::{both_ends, has_room};
use serde_json::Value;

/// Fields of a tool's answer that hold what it said.
const TEXTS: [&str; 7] =
    ["error", "stderr", "stdout", "output", "aggregated_output", "message", "content"];

impl HostService {
    /// The host says that a tool failed. That the person stopped it is no
    /// failure.
    pub(super) fn tool_failed(
        &self,
        call: &HostCall,
        notes: &mut Notes,
    ) -> Result<HostReply, Error> {
        if call.field("is_interrupt") == Some(&Value::Bool(true)) {
            return Ok(HostReply::nothing());
        }
        let said = call.field("error").map(said).unwrap_or_default();
        self.cause_of(&said, notes)
    }

    /// What memories know of a failure.
    pub(super) fn cause_of(&self, said: &str, notes: &mut Notes) -> Result<HostReply, Error> {
        let limits = self.memories.limits();
        if self.on_failure == Some(false)
            || !self.is_on(Flag::Recall)
            || !has_room(notes.bytes, limits)
        {
            return Ok(HostReply::nothing());
        }
        let text = both_ends(said, limits.failure_bytes);
        let tokens = DistinctTokens::of(&text).joined();
        // A key that was printed is a token like any other, and is not noted.
        let tokens = secrets::mask(&tokens);
        if tokens.is_empty() || notes.looked_up.contains(&tokens) {
            return Ok(HostReply::nothing());
        }
        notes.note(Note::LookedUp { tokens });
        self.context_for(&text, QueryKind::Output, notes)
    }
}

/// What a tool reported that its host counts as done: an error, or the output of
/// a command that failed. None where it went well.
pub(super) fn reported(call: &HostCall) -> Option<String> {
    let answer = call.field("tool_response")?;
    let flag = |name: &str| answer.get(name) == Some(&Value::Bool(true));
    let code = |name: &str| answer.get(name).and_then(Value::as_i64).is_some_and(|code| code != 0);
    let has_error = answer.get("error").is_some_and(|error| match error {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        _ => true,
    });
    let failed =
        flag("is_error") || flag("isError") || code("exit_code") || code("exitCode") || has_error;
    failed.then(|| said(answer)).filter(|text| !text.is_empty())
}

/// The texts in what a tool said.
fn said(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().map(|part| part.get("text").map_or_else(|| said(part), said));
            texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
        }
        Value::Object(fields) => {
            let texts = TEXTS.iter().filter_map(|name| fields.get(*name)).map(said);
            texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}
