//! A tool that wants to run: yes, always and for how long, or no and why.

use super::{Asked, Keyed, Sheet, What};
use crate::questions::{OpenQuestion, Question};
use crate::style::TextStyle;
use crate::theme::Theme;
use crate::transcript_view::{Diff, code_block};
use crate::wrap;
use everfold_kernel::ports::{PermissionAnswer, PermissionAsk};
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use ratatui::text::{Line, Span};
use serde_json::Value;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::time::Instant;

/// What a model is told of a no.
pub(crate) const SAID_NO: &str = "the person said no";

/// Rows of a change that can be scrolled through.
const MOST_ROWS: usize = 2_000;
/// Bytes of a file that is compared with what would take its place.
const COMPARED_BYTES: u64 = 1 << 20;

/// What can be answered, with the keys for it.
const CHOICES: [(char, Choice); 4] =
    [('y', Choice::Once), ('a', Choice::Session), ('p', Choice::Project), ('n', Choice::No)];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    Once,
    Session,
    Project,
    No,
}

/// A tool that wants to run.
pub(crate) struct Call {
    question: OpenQuestion<PermissionAsk, PermissionAnswer>,
    /// What a file would become.
    change: Option<Diff>,
    /// The first line that is seen of what the tool would do.
    top: usize,
    /// Rows of it that were seen last.
    seen_rows: usize,
    at: usize,
    /// The reason of a no, while it is typed.
    reason: Option<String>,
}

impl Call {
    pub(super) fn new(
        question: OpenQuestion<PermissionAsk, PermissionAnswer>,
        change: Option<Diff>,
    ) -> Self {
        Self { question, change, top: 0, seen_rows: 1, at: 0, reason: None }
    }

    pub(super) fn is_void(&self) -> bool {
        self.question.is_void()
    }

    pub(super) fn into_question(self) -> OpenQuestion<PermissionAsk, PermissionAnswer> {
        self.question
    }

    pub(super) fn scroll(&mut self, rows: isize) {
        self.top = self.top.saturating_add_signed(rows);
    }

    pub(super) fn page(&self) -> isize {
        isize::try_from(self.seen_rows.saturating_sub(1).max(1)).unwrap_or(1)
    }

    /// Where what is seen begins, of so many rows with room for so many.
    pub(super) fn scrolled(&mut self, rows: usize, room: usize) -> usize {
        self.seen_rows = room.max(1);
        self.top = self.top.min(rows.saturating_sub(room));
        self.top
    }

    pub(super) fn key(mut self: Box<Self>, key: KeyEvent, seen: Option<Instant>) -> Keyed {
        if self.reason.is_some() {
            return self.type_reason(key, seen);
        }
        let chosen = match key.code {
            KeyCode::Esc => return self.stopped(seen),
            KeyCode::Char(letter) => {
                CHOICES.iter().find(|(key, _)| *key == letter).map(|(_, choice)| *choice)
            }
            KeyCode::Enter => CHOICES.get(self.at).map(|(_, choice)| *choice),
            KeyCode::Up | KeyCode::Left => {
                self.at = self.at.saturating_sub(1);
                None
            }
            KeyCode::Down | KeyCode::Right | KeyCode::Tab => {
                self.at = (self.at + 1).min(CHOICES.len() - 1);
                None
            }
            _ => None,
        };
        match chosen {
            None => {}
            Some(Choice::Once) => return self.answered(PermissionAnswer::Allow),
            Some(Choice::Session) => return self.answered(PermissionAnswer::AllowAlways),
            Some(Choice::Project) => {
                let rule = self.question.ask.rule.clone();
                let _ = self.answered(PermissionAnswer::AllowAlways);
                return Keyed::DoneForProject(rule);
            }
            Some(Choice::No) => self.reason = Some(String::new()),
        }
        self.open(seen)
    }

    fn type_reason(mut self: Box<Self>, key: KeyEvent, seen: Option<Instant>) -> Keyed {
        let Some(mut reason) = self.reason.take() else { return self.open(seen) };
        match key.code {
            KeyCode::Enter => return self.answered(denied(&reason)),
            KeyCode::Esc => return self.open(seen),
            KeyCode::Backspace => {
                reason.pop();
            }
            KeyCode::Char(letter) => reason.push(letter),
            _ => {}
        }
        self.reason = Some(reason);
        self.open(seen)
    }

    fn open(self: Box<Self>, seen: Option<Instant>) -> Keyed {
        Keyed::Open(Asked { what: What::Call(self), seen })
    }

    /// Esc stops the turn, as it does elsewhere.
    fn stopped(self: Box<Self>, seen: Option<Instant>) -> Keyed {
        Keyed::Stop(Asked { what: What::Call(self), seen })
    }

    fn answered(self: Box<Self>, answer: PermissionAnswer) -> Keyed {
        self.question.answer(answer);
        Keyed::Done
    }

    /// What the tool would do, in the colours of its language.
    fn matter(&self, width: u16, theme: Theme) -> Vec<Line<'static>> {
        let ask = &self.question.ask;
        let mut lines = match ask.tool.as_str() {
            "Bash" => code_block("sh", &ask.summary, width, theme),
            _ => wrap::text(&ask.summary, theme.style(TextStyle::Normal), width, "  "),
        };
        if let Some(why) = ask.input.get("description").and_then(Value::as_str) {
            lines.extend(wrap::text(why, theme.dim(), width, "  "));
        }
        if let Some(change) = &self.change {
            lines.extend(change.lines(width, theme, MOST_ROWS));
        }
        // The choices have one row each; the whole rule can be read here.
        let told = format!("“always” allows {}", ask.rule);
        if told.chars().count() + LONGEST_CHOICE > usize::from(width) {
            lines.extend(wrap::text(&told, theme.dim(), width, "  "));
        }
        lines
    }

    pub(super) fn sheet(&self, width: u16, theme: Theme) -> Sheet {
        let ask = &self.question.ask;
        let title = match ask.tool.as_str() {
            "Bash" => "Run this command?".to_owned(),
            "Edit" | "Write" | "NotebookEdit" => "Make this change?".to_owned(),
            tool => format!("Allow {tool}?"),
        };
        let title = Line::styled(wrap::cut(&title, usize::from(width)), theme.title());
        let matter = self.matter(width, theme);
        if let Some(reason) = &self.reason {
            let choices = vec![Line::from(vec![
                Span::styled("No, because: ", theme.style(TextStyle::Bold)),
                Span::raw(tail(reason, usize::from(width).saturating_sub(15))),
                Span::styled(" ", theme.chosen()),
            ])];
            let hint = "Enter sends it, with or without a reason · Esc goes back".to_owned();
            return Sheet { title, matter, choices, hint };
        }
        let choices = CHOICES.iter().enumerate().map(|(at, (key, choice))| {
            let text = match choice {
                Choice::Once => "Yes, once".to_owned(),
                Choice::Session => format!("Always in this session: {}", ask.rule),
                Choice::Project => format!("Always in this project: {}", ask.rule),
                Choice::No => "No, and say why".to_owned(),
            };
            let text = wrap::cut(&format!(" {key}  {text} "), usize::from(width));
            let chosen = at == self.at;
            Line::styled(text, if chosen { theme.chosen() } else { theme.style(TextStyle::Normal) })
        });
        let hint = "Esc stops the turn".to_owned();
        Sheet { title, matter, choices: choices.collect(), hint }
    }
}

/// Columns of what stands before a rule in a choice, less those of the line
/// that has the whole rule.
const LONGEST_CHOICE: usize = 14;

/// The end of what is typed, where not all of it has room.
fn tail(text: &str, width: usize) -> String {
    let count = text.chars().count();
    text.chars().skip(count.saturating_sub(width)).collect()
}

/// What a question would change, with the file as it is now.
pub(crate) fn change(question: &Question, cwd: &Path) -> Option<Diff> {
    let Question::Call(OpenQuestion { ask, .. }) = question else { return None };
    let path = everfold_kernel::call::file_of(&ask.input);
    let diff = if ask.tool == "Write"
        && let (Some(path), Some(new)) = (path, text(ask, "content"))
        // Opening a pipe would wait for its other end.
        && cwd.join(path).is_file()
        && let Ok(file) = File::open(cwd.join(path))
    {
        let mut old = Vec::new();
        file.take(COMPARED_BYTES).read_to_end(&mut old).ok()?;
        Diff::of_file(&String::from_utf8_lossy(&old), new)
    } else {
        Diff::of_call(&ask.tool, &ask.input)?
    };
    Some(diff.in_file(path.unwrap_or_default()))
}

fn text<'a>(ask: &'a PermissionAsk, name: &str) -> Option<&'a str> {
    ask.input.get(name).and_then(Value::as_str)
}

fn denied(why: &str) -> PermissionAnswer {
    let why = why.trim();
    let reason = match why {
        "" => SAID_NO.to_owned(),
        why => format!("{SAID_NO}: {why}"),
    };
    PermissionAnswer::Deny { reason }
}
