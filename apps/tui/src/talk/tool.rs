//! A call of a tool: one line that unfolds.

use crate::look::Look;
use crate::theme::Theme;
use crate::wrap;
use ratatui::text::{Line, Span};
use serde_json::Value;
use std::time::Duration;

/// Arguments that say best what a call does, in the order of choice.
const TELLING: &[&str] = &["command", "file_path", "pattern", "url", "path", "prompt", "query"];
/// Bytes of a result that are kept for the screen.
pub(crate) const KEPT_BYTES: usize = 64 * 1024;

/// A call.
pub(crate) struct ToolCall {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) input: Value,
    pub(crate) state: State,
    /// The start of what it answered.
    pub(crate) result: String,
    /// How large the whole answer is.
    pub(crate) bytes: u64,
}

/// How far a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Running,
    Done(Option<Duration>),
    Failed(Option<Duration>),
}

impl ToolCall {
    /// A call that begins.
    pub(crate) fn new(id: &str, name: &str, input: Value) -> Self {
        Self {
            id: id.to_owned(),
            name: name.to_owned(),
            input,
            state: State::Running,
            result: String::new(),
            bytes: 0,
        }
    }

    /// Its result, of which the start is kept.
    pub(crate) fn answered(&mut self, text: &str) {
        self.bytes = text.len() as u64;
        let end = text.floor_char_boundary(KEPT_BYTES.min(text.len()));
        text.get(..end).unwrap_or_default().clone_into(&mut self.result);
    }

    /// The argument that says best what it does.
    fn telling(&self) -> String {
        let found = TELLING.iter().find_map(|name| self.input.get(name)?.as_str());
        found.map_or_else(|| self.input.to_string(), str::to_owned)
    }

    /// Its words, to be searched and copied.
    pub(crate) fn words(&self) -> String {
        format!("{} {}\n{}", self.name, self.telling(), self.result)
    }

    /// Its lines.
    pub(crate) fn lines(&self, open: bool, width: u16, theme: Theme) -> Vec<Line<'static>> {
        let (mark, look) = match self.state {
            State::Running => ("◌", Look::Yellow),
            State::Done(_) => ("●", Look::Green),
            State::Failed(_) => ("✗", Look::Red),
        };
        let telling = self.telling().replace('\n', " ");
        let head = Line::from(vec![
            Span::styled(format!("{mark} "), theme.style(look)),
            Span::styled(self.name.clone(), theme.style(Look::Bold)),
            Span::raw(format!(" {telling}")),
        ]);
        let mut lines: Vec<Line<'static>> = wrap::wrap(&head, width, "    ");
        if !open {
            lines.truncate(1);
            return lines;
        }
        lines.extend(wrap::text(&self.result, theme.dim(), width, "    "));
        lines
    }
}
