//! A turn on the terminal, as it happens.

use crate::commands::{compact, tasks};
use crate::headless::{retrying, waiting};
use crate::presenter::{Presenter, TextStyle, cut, names, offered, remembered, size};
use everfold_agent::Event;
use everfold_kernel::{Entry, Record, UserOrigin};
use serde_json::Value;
use std::io;

/// Arguments that say best what a call does, in the order of choice.
const TELLING: &[&str] = &["command", "file_path", "pattern", "url", "path", "prompt"];

pub(crate) struct Show {
    presenter: Presenter,
    place: Place,
    /// Bytes of the newest tool result.
    result_bytes: u64,
}

/// Where the cursor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    LineStart,
    InText,
}

impl Show {
    /// Starts at the beginning of a line.
    pub(crate) fn new(presenter: Presenter) -> Self {
        Self { presenter, place: Place::LineStart, result_bytes: 0 }
    }

    /// Shows that a call begins, was refused, or has ended.
    fn tool(&mut self, event: &Event) -> io::Result<()> {
        match event {
            Event::ToolStarted { name, input, .. } => {
                let room = self.presenter.width().saturating_sub(name.len() + 3);
                let argument = cut(&telling(input), room);
                self.line(TextStyle::Bold, &format!("* {name} {argument}"))
            }
            Event::ToolRefused { name, input, .. } => {
                let room = self.presenter.width().saturating_sub(name.len() + 14);
                let argument = cut(&telling(input), room);
                self.line(TextStyle::Yellow, &format!("* {name} {argument} (not run)"))
            }
            Event::ToolEnded { is_error, preview, duration, .. } => {
                let took = duration.as_millis();
                let sum = format!("  {}, {took} ms", size(self.result_bytes));
                if *is_error {
                    let room = self.presenter.width().saturating_sub(sum.len() + 10);
                    self.line(TextStyle::Red, &format!("{sum}, failed: {}", cut(preview, room)))
                } else {
                    self.line(TextStyle::Dim, &sum)
                }
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn event(&mut self, event: &Event) -> io::Result<()> {
        match event {
            Event::Text(text) => {
                self.presenter.text(text)?;
                if let Some(last) = text.chars().next_back() {
                    self.place = if last == '\n' { Place::LineStart } else { Place::InText };
                }
                Ok(())
            }
            Event::Recorded(record) => {
                self.result_bytes = result_bytes(record).unwrap_or(self.result_bytes);
                Ok(())
            }
            Event::ToolStarted { .. } | Event::ToolRefused { .. } | Event::ToolEnded { .. } => {
                self.tool(event)
            }
            Event::Retrying { attempt, most, wait, reason } => {
                self.line(TextStyle::Yellow, &retrying(*attempt, *most, *wait, reason))
            }
            Event::Waiting { waited, reason } => {
                self.line(TextStyle::Dim, &waiting(*waited, reason))
            }
            Event::Restarted { reason } => {
                self.line(TextStyle::Yellow, &format!("restarting the answer: {reason}"))
            }
            Event::ModelSwitched { from, to, reason } => {
                self.line(TextStyle::Yellow, &format!("switched from {from} to {to}: {reason}"))
            }
            Event::Compacted { report, line } => {
                self.line(TextStyle::Dim, &compact::told(report, line).join("\n"))
            }
            Event::Recalled { paths } => {
                self.line(TextStyle::Dim, &format!("--- recalled {} ---", names(paths)))
            }
            Event::Remembered { kept, how } => {
                self.line(TextStyle::Dim, &format!("--- {} ---", remembered(kept, *how)))
            }
            Event::Offered(waiting) => {
                self.line(TextStyle::Dim, &format!("--- {} ---", offered(waiting)))
            }
            Event::Housekeeping(text) => self.line(TextStyle::Dim, &format!("--- {text} ---")),
            Event::Notice(text) => self.line(TextStyle::Yellow, text),
            Event::Task(task) => match tasks::told(task) {
                Some(text) => self.line(TextStyle::Dim, &text),
                None => Ok(()),
            },
            Event::Thinking(_) | Event::Booked(_) => Ok(()),
        }
    }

    /// Goes to the beginning of a line.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        if self.place == Place::InText {
            self.presenter.line("")?;
            self.place = Place::LineStart;
        }
        Ok(())
    }

    fn line(&mut self, look: TextStyle, text: &str) -> io::Result<()> {
        self.end()?;
        self.presenter.styled(look, &format!("{text}\n"))
    }
}

fn result_bytes(record: &Record) -> Option<u64> {
    match &record.entry {
        Entry::User(user) if user.origin == UserOrigin::ToolResult => {
            Some(user.content.iter().map(|block| block.plain_text().len() as u64).sum())
        }
        _ => None,
    }
}

/// The argument that says best what a call does.
fn telling(input: &Value) -> String {
    let found = TELLING.iter().find_map(|name| input.get(name)?.as_str());
    found.map_or_else(|| input.to_string(), str::to_owned)
}
