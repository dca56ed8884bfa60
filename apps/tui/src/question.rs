//! A question of a tool, asked in place: yes, always, or no and why.

use crate::asking::Question;
use crate::look::Look;
use crate::theme::Theme;
use crate::wrap;
use mnemon::kernel::ports::{Answer, PermissionAsk};
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use ratatui::text::{Line, Span};

/// Lines of what a tool would do that are shown at most.
const MOST_LINES: usize = 12;

/// A question on the screen.
pub(crate) struct Asked {
    question: Question,
    /// What is chosen.
    at: usize,
    /// The reason of a no, while it is typed.
    reason: Option<String>,
}

impl Asked {
    /// A question that came.
    pub(crate) fn new(question: Question) -> Self {
        Self { question, at: 0, reason: None }
    }

    /// What is asked.
    pub(crate) fn ask(&self) -> &PermissionAsk {
        &self.question.ask
    }

    /// Whether nobody waits for the answer any more.
    pub(crate) fn is_void(&self) -> bool {
        self.question.is_void()
    }

    /// Answers it.
    pub(crate) fn answer(self, answer: Answer) {
        self.question.answer(answer);
    }

    /// Takes a key; an answer where it was one.
    pub(crate) fn key(&mut self, key: KeyEvent) -> Option<Answer> {
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
            KeyCode::Char('y') => return Some(Answer::Allow),
            KeyCode::Char('a') => return Some(Answer::AllowAlways),
            KeyCode::Char('n') => self.reason = Some(String::new()),
            KeyCode::Esc => return Some(denied("")),
            KeyCode::Up | KeyCode::Left => self.at = self.at.saturating_sub(1),
            KeyCode::Down | KeyCode::Right | KeyCode::Tab => self.at = (self.at + 1).min(2),
            KeyCode::Enter => match self.at {
                0 => return Some(Answer::Allow),
                1 => return Some(Answer::AllowAlways),
                _ => self.reason = Some(String::new()),
            },
            _ => {}
        }
        None
    }

    /// Its lines.
    pub(crate) fn lines(&self, width: u16, theme: Theme) -> Vec<Line<'static>> {
        let ask = self.ask();
        let mut lines =
            vec![Line::styled(format!("{} wants to run:", ask.tool), theme.style(Look::Bold))];
        let what = wrap::text(&ask.summary, theme.style(Look::Normal), width, "    ");
        let more = what.len().saturating_sub(MOST_LINES);
        lines.extend(what.into_iter().take(MOST_LINES));
        if more > 0 {
            lines.push(Line::styled(format!("  and {more} more lines"), theme.dim()));
        }
        if let Some(reason) = &self.reason {
            lines.push(Line::from(vec![
                Span::styled("no, because: ", theme.style(Look::Bold)),
                Span::raw(reason.clone()),
                Span::styled(" ", theme.chosen()),
            ]));
            return lines;
        }
        let choices = ["yes".to_owned(), format!("always {}", ask.rule), "no, and why".to_owned()];
        let mut line = Line::default();
        for (at, (key, choice)) in ["y", "a", "n"].iter().zip(choices).enumerate() {
            let style = if at == self.at { theme.chosen() } else { theme.style(Look::Normal) };
            line.spans.push(Span::styled(format!(" [{key}] {choice} "), style));
        }
        lines.extend(wrap::wrap(&line, width, ""));
        lines
    }
}

fn denied(why: &str) -> Answer {
    let why = why.trim();
    let reason = match why {
        "" => "the person said no".to_owned(),
        why => format!("the person said no: {why}"),
    };
    Answer::Deny { reason }
}
