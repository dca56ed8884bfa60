//! A call of a tool: one line that unfolds.

use super::diff::Diff;
use super::result::Answered;
use crate::question::SAID_NO;
use crate::style::TextStyle;
use crate::theme::Theme;
use crate::wrap;
use ratatui::text::{Line, Span};
use serde_json::Value;
use std::borrow::Cow;
use std::path::PathBuf;
use std::time::Duration;
use unicode_width::UnicodeWidthStr;

/// Arguments that say best what a call does, in the order of choice.
const TELLING: &[&str] = &[
    "command",
    "file_path",
    "description",
    "pattern",
    "url",
    "path",
    "query",
    "prompt",
    "skill",
    "id",
];
/// Rows of a change that a folded call shows.
const FOLDED_ROWS: usize = 6;
/// Rows of a change that an unfolded call shows.
const OPEN_ROWS: usize = 400;
/// Lines of a failure that a folded call shows, from its end.
const FAILED_LINES: usize = 3;
/// Lines of what a running command prints that are shown, from its end.
const LIVE_LINES: usize = 5;
/// The same where the call is unfolded.
const OPEN_LIVE_LINES: usize = 40;
/// Lines of an argument that an unfolded call shows.
const ARGUMENT_LINES: usize = 40;

pub(crate) struct ToolCall {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) input: Value,
    pub(crate) state: State,
    pub(crate) result: Answered,
    /// What it changed, as the tool said.
    pub(crate) changed: Option<Diff>,
    /// What a command has printed while it still runs.
    pub(crate) live: String,
}

/// How far a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Running,
    Done(Option<Duration>),
    Failed(Option<Duration>),
    /// It did not run.
    Refused,
}

impl ToolCall {
    /// A call that begins.
    pub(crate) fn new(id: &str, name: &str, input: Value) -> Self {
        Self {
            id: id.to_owned(),
            name: name.to_owned(),
            input,
            state: State::Running,
            result: Answered::default(),
            changed: None,
            live: String::new(),
        }
    }

    /// Its result, and what the tool tells programs of it.
    pub(crate) fn answered(&mut self, content: &Value, structured: Option<&Value>) {
        if self.state == State::Refused {
            return;
        }
        self.result = Answered::of(content);
        let patch = structured.and_then(|value| value.get("structuredPatch"));
        self.changed = patch.and_then(Diff::of_patch);
    }

    /// It was refused: the reason is all that came of it.
    pub(crate) fn refused(&mut self, reason: &str) {
        // It is the person who reads this.
        let told = reason.strip_prefix(SAID_NO).map(|why| format!("you said no{why}"));
        self.result = Answered::of(&Value::from(told.as_deref().unwrap_or(reason)));
        self.state = State::Refused;
    }

    /// The file that it is about.
    pub(crate) fn file(&self) -> Option<PathBuf> {
        let spilled = self.result.spilled().map(PathBuf::from);
        spilled.or_else(|| everfold_kernel::call::file_of(&self.input).map(PathBuf::from))
    }

    /// The argument that says best what it does.
    fn telling(&self) -> Cow<'_, str> {
        if let Some(todos) = self.todos() {
            let done = todos.iter().filter(|(status, _)| *status == "completed").count();
            return Cow::Owned(format!("{done} of {} done", todos.len()));
        }
        match TELLING.iter().find_map(|name| self.input.get(name)?.as_str()) {
            Some(text) => Cow::Borrowed(text),
            None if self.input.as_object().is_some_and(serde_json::Map::is_empty) => "".into(),
            None => Cow::Owned(self.input.to_string()),
        }
    }

    fn todos(&self) -> Option<Vec<(&str, &str)>> {
        let todos = self.input.get("todos").filter(|_| self.name == "TodoWrite")?.as_array()?;
        let text = |todo, name| Value::get(todo, name).and_then(Value::as_str);
        Some(
            todos
                .iter()
                .filter_map(|todo| text(todo, "status").zip(text(todo, "content")))
                .collect(),
        )
    }

    fn diff(&self) -> Option<Cow<'_, Diff>> {
        match &self.changed {
            Some(diff) => Some(Cow::Borrowed(diff)),
            None => Diff::of_call(&self.name, &self.input).map(Cow::Owned),
        }
    }

    /// Its words, to be searched and copied.
    pub(crate) fn words(&self) -> String {
        let mut words = format!("{} {}\n", self.name, self.telling());
        match self.diff() {
            Some(diff) => words.push_str(&diff.words()),
            None => words.push_str(self.result.text()),
        }
        words
    }

    pub(crate) fn answer(&self) -> &str {
        self.result.text()
    }

    /// Whether a text occurs in it.
    pub(crate) fn has(&self, found: &dyn Fn(&str) -> bool) -> bool {
        found(&self.name) || found(self.result.text()) || any(&self.input, found)
    }

    /// Its lines.
    pub(crate) fn lines(&self, open: bool, width: u16, theme: Theme) -> Vec<Line<'static>> {
        let diff = self.diff();
        let mut lines = vec![self.head(diff.as_deref(), width, theme)];
        let failed = matches!(self.state, State::Failed(_) | State::Refused);
        if let Some(todos) = self.todos() {
            lines.extend(check_list(&todos, width, theme));
        } else if let Some(diff) = diff.filter(|_| !failed) {
            let most = if open { OPEN_ROWS } else { FOLDED_ROWS };
            lines.extend(diff.lines(width, theme, most));
        } else if open {
            lines.extend(self.arguments(width, theme));
        }
        if self.state == State::Running && !self.live.is_empty() {
            let most = if open { OPEN_LIVE_LINES } else { LIVE_LINES };
            lines.extend(last_lines(&self.live, most, width, theme));
        }
        if failed && !open {
            lines.extend(self.result.tail(FAILED_LINES, width, theme));
        } else if open && (self.changed.is_none() || failed) {
            lines.extend(self.result.lines(width, theme));
        }
        lines
    }

    /// Mark, name and what it is about; then how much, how long, how large.
    fn head(&self, diff: Option<&Diff>, width: u16, theme: Theme) -> Line<'static> {
        let (mark, look, took) = match self.state {
            State::Running => ("◌", TextStyle::Yellow, None),
            State::Done(took) => ("●", TextStyle::Green, took),
            State::Failed(took) => ("✗", TextStyle::Red, took),
            State::Refused => ("⊘", TextStyle::Yellow, None),
        };
        let sum = diff.map(|diff| diff.sum(theme)).unwrap_or_default();
        let mut after: Vec<String> = took.into_iter().map(time).collect();
        if self.state == State::Refused {
            after.push("not run".to_owned());
        } else if self.result.bytes() > 0 && diff.is_none() && self.todos().is_none() {
            after.push(size(self.result.bytes()));
        }
        let after =
            if after.is_empty() { String::new() } else { format!("  {}", after.join(" · ")) };
        let name = wrap::cut(&self.name, usize::from(width).saturating_sub(2));
        let taken = 2 + name.width() + sum.iter().map(Span::width).sum::<usize>() + after.width();
        let room = usize::from(width).saturating_sub(taken + 1);
        let mut spans = vec![
            Span::styled(format!("{mark} "), theme.style(look)),
            Span::styled(name, theme.style(TextStyle::Bold)),
        ];
        let telling = self.telling();
        if !telling.is_empty() && room > 3 {
            spans.push(Span::raw(format!(" {}", wrap::cut(telling.trim(), room))));
        }
        spans.extend(sum);
        spans.push(Span::styled(after, theme.dim()));
        wrap::wrap(&Line::from(spans), width, "").into_iter().next().unwrap_or_default()
    }

    fn arguments(&self, width: u16, theme: Theme) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        for (name, value) in self.input.as_object().into_iter().flatten() {
            let text = match value {
                Value::String(text) => Cow::Borrowed(text.as_str()),
                value => Cow::Owned(serde_json::to_string_pretty(value).unwrap_or_default()),
            };
            let (label, indent) = match name.as_str() {
                "command" => ("$ ".to_owned(), "      "),
                _ => (format!("{name}: "), "      "),
            };
            let mut rows = text.lines();
            let first = Line::from(vec![
                Span::styled(format!("    {label}"), theme.dim()),
                Span::raw(rows.next().unwrap_or_default()),
            ]);
            lines.extend(wrap::wrap(&first, width, indent));
            let more = rows.clone().count().saturating_sub(ARGUMENT_LINES);
            for row in rows.take(ARGUMENT_LINES) {
                lines.extend(wrap::wrap(&Line::raw(format!("{indent}{row}")), width, indent));
            }
            if more > 0 {
                lines.extend(wrap::text(
                    &format!("{indent}… {more} more lines"),
                    theme.dim(),
                    width,
                    "",
                ));
            }
        }
        lines
    }
}

/// Whether any text of a value is what is looked for.
fn any(value: &Value, found: &dyn Fn(&str) -> bool) -> bool {
    match value {
        Value::String(text) => found(text),
        Value::Array(values) => values.iter().any(|value| any(value, found)),
        Value::Object(map) => map.values().any(|value| any(value, found)),
        _ => false,
    }
}

/// The last lines of an output, each in one row.
fn last_lines(text: &str, most: usize, width: u16, theme: Theme) -> Vec<Line<'static>> {
    let room = usize::from(width).saturating_sub(4);
    let mut last: Vec<&str> = text.lines().rev().take(most).collect();
    last.reverse();
    // Programs that draw their progress go back to the start of the line.
    let shown = |line: &str| line.rsplit('\r').find(|part| !part.is_empty()).map(str::to_owned);
    let line = |text: &str| {
        let text = shown(text).unwrap_or_default();
        Line::styled(format!("    {}", wrap::cut(&text, room)), theme.dim())
    };
    last.into_iter().map(line).collect()
}

fn check_list(todos: &[(&str, &str)], width: u16, theme: Theme) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for (status, content) in todos {
        let (mark, look, text) = match *status {
            "completed" => ("[x]", TextStyle::Green, TextStyle::Dim),
            "in_progress" => ("[▸]", TextStyle::Yellow, TextStyle::Bold),
            _ => ("[ ]", TextStyle::Normal, TextStyle::Normal),
        };
        let line = Line::from(vec![
            Span::styled(format!("    {mark} "), theme.style(look)),
            Span::styled((*content).to_owned(), theme.style(text)),
        ]);
        lines.extend(wrap::wrap(&line, width, "        "));
    }
    lines
}

/// A time for people.
pub(crate) fn time(time: Duration) -> String {
    match time.as_secs() {
        0..60 => format!("{:.1} s", time.as_secs_f32()),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

/// A size for people.
#[expect(clippy::cast_precision_loss, reason = "one digit after the point is shown")]
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}
