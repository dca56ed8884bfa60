//! Keys while a question is on the screen (U1): those that were meant for it
//! answer it, all others are the person's words.

use super::{Act, App, Phase};
use crate::question::Keyed;
use everfold_agent::KeepRuleError;
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use std::path::PathBuf;
use std::time::Instant;

impl App {
    /// A key while a question is on the screen.
    pub(super) fn question_key(&mut self, key: KeyEvent, now: Instant) -> Vec<Act> {
        let Some(asked) = self.questions.front_mut() else { return Vec::new() };
        match key.code {
            KeyCode::PageUp => asked.scroll(-asked.page()),
            KeyCode::PageDown => asked.scroll(asked.page()),
            // Whatever is typed, the turn can be stopped.
            KeyCode::Esc if !self.input.is_empty() => return self.stop(),
            KeyCode::Tab if !self.input.is_empty() => self.set_aside(),
            _ if self.input.is_empty() && asked.is_ready(now, self.typed_at) => {
                return self.answer_key(key);
            }
            KeyCode::Esc => return self.stop(),
            _ => {
                self.typed_at = Some(now);
                return self.typed(key);
            }
        }
        Vec::new()
    }

    fn answer_key(&mut self, key: KeyEvent) -> Vec<Act> {
        let Some(asked) = self.questions.pop_front() else { return Vec::new() };
        let acts = match asked.key(key) {
            Keyed::Open(asked) => {
                self.questions.push_front(asked);
                return Vec::new();
            }
            Keyed::Done => Vec::new(),
            Keyed::DoneForProject(rule) => vec![Act::KeepRule(rule)],
            Keyed::Stop(asked) => {
                self.questions.push_front(asked);
                return self.stop();
            }
        };
        if self.questions.is_empty() {
            self.take_up();
        }
        acts
    }

    /// Puts what is typed aside until the question is answered.
    fn set_aside(&mut self) {
        let text = self.input.text();
        self.draft = Some(match self.draft.take() {
            Some(before) => format!("{before}\n{text}"),
            None => text,
        });
        self.input.set("");
        self.typed_at = None;
    }

    /// What was put aside is in the line again.
    pub(super) fn take_up(&mut self) {
        if let Some(draft) = self.draft.take() {
            let typed = self.input.text();
            self.input.set(&if typed.is_empty() { draft } else { format!("{draft}\n{typed}") });
        }
    }

    /// A rule was kept for the project, or why not.
    pub(crate) fn rule_kept(&mut self, rule: &str, kept: Result<PathBuf, KeepRuleError>) {
        match kept {
            Ok(path) => self.notice(
                crate::style::TextStyle::Dim,
                format!(
                    "{rule} is allowed in this project from now on ({}); /permissions removes it",
                    path.display()
                ),
            ),
            Err(why) => self.notice(
                crate::style::TextStyle::Yellow,
                format!("{rule} is allowed in this session only: {why}"),
            ),
        }
    }

    /// Turns of the wheel scroll what is seen.
    pub(crate) fn wheel(&mut self, rows: isize) {
        if let Some(asked) = self.questions.front_mut() {
            asked.scroll(rows);
        } else if let Some(panel) = &mut self.panel {
            let code = if rows < 0 { KeyCode::Up } else { KeyCode::Down };
            for _ in 0..rows.unsigned_abs() {
                let _ = panel.key(KeyEvent::from(code));
            }
        } else {
            self.talk.scroll(rows, self.theme);
        }
    }

    /// Whether the person has to be called: a turn took its time and ended, or
    /// a question came.
    pub(super) fn rings(&self, now: Instant) -> bool {
        match &self.phase {
            Phase::Turn { since, .. } => now.saturating_duration_since(*since) >= self.bell_after,
            _ => false,
        }
    }
}
