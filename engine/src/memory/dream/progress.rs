//! What a dream's agent does, line by line, for whoever watches (L6.6).

use crate::background::TaskHandle;
use crate::event::Event;
use everfold_kernel::{Usage, Usd};
use serde_json::Value;
use std::path::Path;

/// Characters of what the agent said in a round.
const TEXT_CHARS: usize = 100;

/// What happened so far.
pub(super) struct Progress<'a> {
    task: &'a TaskHandle,
    round: Round,
    pub(super) usage: Usage,
    pub(super) cost: Usd,
}

/// What happened since the last answer.
#[derive(Default)]
struct Round {
    text: String,
    tools: usize,
    written: Vec<String>,
}

impl<'a> Progress<'a> {
    pub(super) fn new(task: &'a TaskHandle) -> Self {
        Self { task, round: Round::default(), usage: Usage::default(), cost: Usd::default() }
    }

    /// Takes note of an event of the agent.
    pub(super) fn hear(&mut self, event: &Event) {
        match event {
            Event::Text(text) => self.round.text.push_str(text),
            Event::ToolStarted { name, input, .. } => {
                self.round.tools += 1;
                if matches!(name.as_str(), "Write" | "Edit") {
                    self.task.phase("updating");
                    self.round.written.extend(file_of(input));
                }
            }
            Event::Booked(booking) => {
                // An answer ends the round before it: its tools have run.
                let said = std::mem::take(&mut self.round.text);
                self.say();
                self.round.text = said;
                self.usage.add(&booking.usage);
                self.cost = Usd(self.cost.0 + booking.cost.map_or(0.0, |cost| cost.0));
            }
            _ => {}
        }
    }

    /// Says what happened in a round, if anything did.
    pub(super) fn say(&mut self) {
        let Round { text, tools, written } = std::mem::take(&mut self.round);
        let mut parts = Vec::new();
        if tools > 0 {
            parts.push(format!("{tools} tools"));
        }
        if !written.is_empty() {
            parts.push(format!("wrote {}", written.join(", ")));
        }
        let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if !text.is_empty() {
            parts.push(text.chars().take(TEXT_CHARS).collect());
        }
        if !parts.is_empty() {
            let tokens = self.usage.prompt().0 + self.usage.output;
            let sum = format!("{tokens} tokens, ${:.4} so far", self.cost.0);
            self.task.say(format!("{} ({sum})", parts.join("; ")));
        }
    }
}

fn file_of(input: &Value) -> Option<String> {
    let path = everfold_kernel::call::file_of(input)?;
    Some(Path::new(path).file_name()?.to_string_lossy().into_owned())
}
