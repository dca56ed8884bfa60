//! A question on the screen: of a tool that wants to run, or of a server.
//!
//! A key answers only a question that was there to be read when it was pressed
//! (U1): it has to be on the screen for a moment, nothing may have been typed
//! in that time, and the line below has to be empty. Everything else goes to
//! that line.

mod call;

pub(crate) use call::{Call, SAID_NO, change};

use crate::form::Form;
use crate::questions::Question;
use crate::style::TextStyle;
use crate::theme::Theme;
use crate::transcript_view::Diff;
use everfold_kernel::phrase::counted;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Widget;
use std::time::{Duration, Instant};

/// How long a question is on the screen before a key can answer it.
pub(crate) const GUARD: Duration = Duration::from_millis(600);

/// A question on the screen.
pub(crate) struct Asked {
    what: What,
    /// When its choices were first drawn.
    seen: Option<Instant>,
}

enum What {
    /// Whether a tool may run.
    Call(Box<Call>),
    /// What a server wants to know.
    Server(Box<Form>),
}

/// What a key led to.
pub(crate) enum Keyed {
    /// It is still open.
    Open(Asked),
    Done,
    /// It is answered, and a rule holds in this project from now on.
    DoneForProject(String),
    /// The person stops the turn; it is refused once that is under way.
    Stop(Asked),
}

/// The lines of a question, in the order in which they may go where there is
/// no room: first the hint, then what it is about, then the title.
pub(crate) struct Sheet {
    pub(crate) title: Line<'static>,
    /// What it is about; it scrolls.
    pub(crate) matter: Vec<Line<'static>>,
    /// What can be answered; never left out.
    pub(crate) choices: Vec<Line<'static>>,
    pub(crate) hint: String,
}

impl Sheet {
    fn rows(&self) -> usize {
        2 + self.matter.len() + self.choices.len()
    }
}

impl Asked {
    /// A question that came, with what it would change.
    pub(crate) fn new(question: Question, change: Option<Diff>) -> Self {
        let what = match question {
            Question::Call(open) => What::Call(Box::new(Call::new(open, change))),
            Question::Server(open) => What::Server(Box::new(Form::new(open))),
        };
        Self { what, seen: None }
    }

    /// Whether nobody waits for the answer any more.
    pub(crate) fn is_void(&self) -> bool {
        match &self.what {
            What::Call(call) => call.is_void(),
            What::Server(form) => form.is_void(),
        }
    }

    /// Whether a key that is pressed now was meant for it.
    pub(crate) fn is_ready(&self, now: Instant, typed: Option<Instant>) -> bool {
        let since = |past: Instant| now.saturating_duration_since(past) >= GUARD;
        self.seen.is_some_and(since) && typed.is_none_or(since)
    }

    pub(crate) fn key(self, key: KeyEvent) -> Keyed {
        match self.what {
            What::Call(call) => call.key(key, self.seen),
            What::Server(form) => match form.key(key) {
                Some(form) => {
                    Keyed::Open(Self { what: What::Server(Box::new(form)), seen: self.seen })
                }
                None => Keyed::Done,
            },
        }
    }

    /// Shows another part of what it is about.
    pub(crate) fn scroll(&mut self, rows: isize) {
        if let What::Call(call) = &mut self.what {
            call.scroll(rows);
        }
    }

    /// Rows of what it is about that were seen last.
    pub(crate) fn page(&self) -> isize {
        match &self.what {
            What::Call(call) => call.page(),
            What::Server(_) => 1,
        }
    }

    /// Says no to it.
    pub(crate) fn refuse(self, reason: &str) {
        match self.what {
            What::Call(call) => Question::Call(call.into_question()).refuse(reason),
            What::Server(form) => Question::Server(form.into_question()).refuse(reason),
        }
    }

    fn sheet(&self, width: u16, theme: Theme) -> Sheet {
        match &self.what {
            What::Call(call) => call.sheet(width, theme),
            What::Server(form) => form.sheet(width, theme),
        }
    }

    /// Rows that it would like to have.
    pub(crate) fn rows(&self, width: u16, theme: Theme) -> u16 {
        u16::try_from(self.sheet(width, theme).rows()).unwrap_or(u16::MAX)
    }

    /// Draws it. Its choices are seen whatever the size; what it is about gets
    /// what is left.
    pub(crate) fn draw(&mut self, area: Rect, buf: &mut Buffer, theme: Theme, now: Instant) {
        let Sheet { title, matter, choices, hint } = self.sheet(area.width, theme);
        let mut left = usize::from(area.height).saturating_sub(choices.len());
        let has_title = left > 0;
        left = left.saturating_sub(1);
        let has_hint = left > usize::from(!matter.is_empty());
        left = left.saturating_sub(usize::from(has_hint));
        let scrolled = match &mut self.what {
            What::Call(call) => call.scrolled(matter.len(), left),
            What::Server(_) => matter.len().saturating_sub(left),
        };
        let below = matter.len().saturating_sub(scrolled + left);
        let mut lines: Vec<Line<'static>> = Vec::new();
        if has_title {
            lines.push(title);
        }
        lines.extend(matter.into_iter().skip(scrolled).take(left));
        lines.extend(choices);
        if has_hint {
            let more = match (scrolled, below) {
                (0, 0) => String::new(),
                (above, below) => {
                    let above = counted(above as u64, "line");
                    format!("{above} above, {below} below: PgUp PgDn · ")
                }
            };
            lines.push(Line::styled(format!("{more}{hint}"), theme.style(TextStyle::Dim)));
        }
        for (row, line) in (area.y..area.bottom()).zip(&lines) {
            line.render(Rect { y: row, height: 1, ..area }, buf);
        }
        if area.height > 0 {
            self.seen.get_or_insert(now);
        }
    }
}
