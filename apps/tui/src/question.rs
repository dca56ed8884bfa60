//! A question of a tool, asked in place: yes, always, or no and why.

use crate::form::Form;
use crate::questions::{OpenQuestion, Question};
use crate::style::TextStyle;
use crate::theme::Theme;
use crate::transcript_view::Diff;
use crate::wrap;
use everfold::kernel::ports::{PermissionAnswer, PermissionAsk};
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use ratatui::text::{Line, Span};
use serde_json::Value;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// Lines of what a tool would do that are shown at once.
const MOST_LINES: usize = 10;
/// Rows of a change that can be scrolled through.
const MOST_ROWS: usize = 500;
/// Bytes of a file that is compared with what would take its place.
const COMPARED_BYTES: u64 = 1 << 20;

/// A question on the screen.
pub(crate) enum Asked {
    /// Whether a tool may run.
    Call(Call),
    /// What a server wants to know.
    Server(Form),
}

impl Asked {
    /// A question that came, with what it would change.
    pub(crate) fn new(question: Question, change: Option<Diff>) -> Self {
        match question {
            Question::Call(open) => Self::Call(Call::new(open, change)),
            Question::Server(open) => Self::Server(Form::new(open)),
        }
    }

    /// Whether nobody waits for the answer any more.
    pub(crate) fn is_void(&self) -> bool {
        match self {
            Self::Call(call) => call.question.is_void(),
            Self::Server(form) => form.is_void(),
        }
    }

    /// Takes a key; nothing is left of a question that it answered.
    pub(crate) fn key(self, key: KeyEvent) -> Option<Self> {
        match self {
            Self::Call(mut call) => match call.key(key) {
                Some(answer) => {
                    call.question.answer(answer);
                    None
                }
                None => Some(Self::Call(call)),
            },
            Self::Server(form) => form.key(key).map(Self::Server),
        }
    }

    /// Says no to it.
    pub(crate) fn refuse(self, reason: &str) {
        match self {
            Self::Call(call) => Question::Call(call.question).refuse(reason),
            Self::Server(form) => Question::Server(form.into_question()).refuse(reason),
        }
    }

    /// Its lines.
    pub(crate) fn lines(&mut self, width: u16, theme: Theme) -> Vec<Line<'static>> {
        match self {
            Self::Call(call) => call.lines(width, theme),
            Self::Server(form) => form.lines(width, theme),
        }
    }
}

/// A tool that wants to run.
pub(crate) struct Call {
    question: OpenQuestion<PermissionAsk, PermissionAnswer>,
    /// What a file would become.
    change: Option<Diff>,
    /// The first line that is seen of what the tool would do.
    top: usize,
    /// What is chosen.
    at: usize,
    /// The reason of a no, while it is typed.
    reason: Option<String>,
}

impl Call {
    fn new(question: OpenQuestion<PermissionAsk, PermissionAnswer>, change: Option<Diff>) -> Self {
        Self { question, change, top: 0, at: 0, reason: None }
    }

    fn ask(&self) -> &PermissionAsk {
        &self.question.ask
    }

    /// Takes a key; an answer where it was one.
    fn key(&mut self, key: KeyEvent) -> Option<PermissionAnswer> {
        if let Some(reason) = &mut self.reason {
            match key.code {
                KeyCode::Enter => return Some(denied(reason)),
                KeyCode::Esc => self.reason = None,
                KeyCode::Backspace => {
                    reason.pop();
                }
                KeyCode::Char(letter) => reason.push(letter),
                _ => {}
            }
            return None;
        }
        match key.code {
            KeyCode::Char('y') => return Some(PermissionAnswer::Allow),
            KeyCode::Char('a') => return Some(PermissionAnswer::AllowAlways),
            KeyCode::Char('n') => self.reason = Some(String::new()),
            KeyCode::Esc => return Some(denied("")),
            KeyCode::PageUp => self.top = self.top.saturating_sub(MOST_LINES - 1),
            KeyCode::PageDown => self.top += MOST_LINES - 1,
            KeyCode::Up | KeyCode::Left => self.at = self.at.saturating_sub(1),
            KeyCode::Down | KeyCode::Right | KeyCode::Tab => self.at = (self.at + 1).min(2),
            KeyCode::Enter => match self.at {
                0 => return Some(PermissionAnswer::Allow),
                1 => return Some(PermissionAnswer::AllowAlways),
                _ => self.reason = Some(String::new()),
            },
            _ => {}
        }
        None
    }

    /// What the tool would do.
    fn what(&self, width: u16, theme: Theme) -> Vec<Line<'static>> {
        let ask = self.ask();
        let mut lines = wrap::text(&ask.summary, theme.style(TextStyle::Normal), width, "    ");
        if let Some(why) = ask.input.get("description").and_then(Value::as_str) {
            lines.extend(wrap::text(why, theme.dim(), width, "    "));
        }
        if let Some(change) = &self.change {
            lines.extend(change.lines(width, theme, MOST_ROWS));
        }
        lines
    }

    /// Its lines.
    fn lines(&mut self, width: u16, theme: Theme) -> Vec<Line<'static>> {
        let ask = self.ask();
        let title = format!("{} wants to run:", ask.tool);
        let mut lines = vec![Line::styled(title, theme.style(TextStyle::Bold))];
        let what = self.what(width, theme);
        self.top = self.top.min(what.len().saturating_sub(MOST_LINES));
        let more = what.len().saturating_sub(self.top + MOST_LINES);
        lines.extend(what.into_iter().skip(self.top).take(MOST_LINES));
        if more > 0 || self.top > 0 {
            let text = format!("  {more} more lines below · PgUp PgDn");
            lines.push(Line::styled(text, theme.dim()));
        }
        if let Some(reason) = &self.reason {
            lines.push(Line::from(vec![
                Span::styled("no, because: ", theme.style(TextStyle::Bold)),
                Span::raw(reason.clone()),
                Span::styled(" ", theme.chosen()),
            ]));
            return lines;
        }
        let always = format!("always {}", self.ask().rule);
        let choices = ["yes".to_owned(), always, "no, and why".to_owned()];
        let mut line = Line::default();
        for (at, (key, choice)) in ["y", "a", "n"].iter().zip(choices).enumerate() {
            let style = if at == self.at { theme.chosen() } else { theme.style(TextStyle::Normal) };
            line.spans.push(Span::styled(format!(" [{key}] {choice} "), style));
        }
        lines.extend(wrap::wrap(&line, width, ""));
        lines
    }
}

/// What a question would change, with the file as it is now.
pub(crate) fn change(question: &Question, cwd: &Path) -> Option<Diff> {
    let Question::Call(OpenQuestion { ask, .. }) = question else { return None };
    if ask.tool == "Write"
        && let (Some(path), Some(new)) =
            (everfold::kernel::call::file_of(&ask.input), text(ask, "content"))
        // Opening a pipe would wait for its other end.
        && cwd.join(path).is_file()
        && let Ok(file) = File::open(cwd.join(path))
    {
        let mut old = Vec::new();
        file.take(COMPARED_BYTES).read_to_end(&mut old).ok()?;
        return Some(Diff::of_file(&String::from_utf8_lossy(&old), new));
    }
    Diff::of_call(&ask.tool, &ask.input)
}

fn text<'a>(ask: &'a PermissionAsk, name: &str) -> Option<&'a str> {
    ask.input.get(name).and_then(Value::as_str)
}

fn denied(why: &str) -> PermissionAnswer {
    let why = why.trim();
    let reason = match why {
        "" => "the person said no".to_owned(),
        why => format!("the person said no: {why}"),
    };
    PermissionAnswer::Deny { reason }
}
