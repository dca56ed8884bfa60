//! The state of the screen. It takes one thing at a time, and answers with
//! what is to be done; it does no I/O.

use crate::host::{CommandInfo, Welcome};
use crate::input::Input;
use crate::page::PageWrite;
use crate::panel::text::TextPanel;
use crate::panel::{Job, Panel};
use crate::question::Asked;
use crate::status::Status;
use crate::style::TextStyle;
use crate::theme::Theme;
use crate::transcript_view::{Kind, TranscriptView, highlight};
use crate::worker::Ask;
use everfold_kernel::ports::WaitingMemory;
use everfold_kernel::settings::TerminalSettings;
use navigation::Browsing;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::path::PathBuf;
use std::time::{Duration, Instant};

mod events;
#[cfg(test)]
pub(crate) mod harness;
mod navigation;
mod question_keys;
#[cfg(test)]
mod scenes;
mod screen;
mod slash_commands;
mod submission;
#[cfg(test)]
mod tests;

/// Lines of a command that are shown in the conversation; more get a panel.
const NOTICE_LINES: usize = 8;

/// What the driver is to do.
pub(crate) enum Act {
    Ask(Ask),
    /// Do something beside the screen.
    Do(Job),
    /// Stop what the worker does.
    Stop,
    /// Put a text on the clipboard.
    Copy(String),
    /// Give the terminal to another program, or take it back.
    Said(PageWrite),
    /// Look for the files that can be mentioned.
    Files,
    /// Keep what was sent, to be found again.
    Keep(String),
    /// Let the person go on typing in their editor.
    Editor(String),
    /// Show what is in these files.
    Open(Vec<PathBuf>),
    /// Go to sleep until the shell wakes us.
    Suspend,
    /// Draw everything anew.
    Redraw,
    /// Allow what a rule covers in this project from now on.
    KeepRule(String),
    /// Call the person, who may look elsewhere (U6).
    Ring(String),
    /// Let the terminal select text, or take the mouse again.
    Mouse(MouseUse),
    End,
}

/// Who gets what the mouse does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MouseUse {
    /// The screen: the wheel scrolls.
    Ours,
    /// The terminal: text can be selected.
    Terminals,
}

/// What is going on.
#[derive(Clone, Debug, PartialEq)]
enum Phase {
    /// Nothing; the person is to speak.
    Rest,
    /// The model is at work.
    Turn {
        since: Instant,
        doing: String,
    },
    Command {
        line: String,
        since: Instant,
    },
    Leaving,
}

pub(crate) struct App {
    theme: Theme,
    welcome: Welcome,
    talk: TranscriptView,
    input: Input,
    panel: Option<Box<dyn Panel>>,
    questions: VecDeque<Asked>,
    /// What stood in the line when the person turned to a question.
    draft: Option<String>,
    /// When a key last went to the line (U1).
    typed_at: Option<Instant>,
    mouse: MouseUse,
    /// How long a turn takes before the person is called (U6).
    bell_after: Duration,
    /// What was typed during a turn and waits for it to end.
    waiting: VecDeque<String>,
    /// What of the messages that were sent was pasted.
    pasted: BTreeMap<String, Vec<Range<usize>>>,
    status: Option<Box<Status>>,
    commands: Vec<CommandInfo>,
    phase: Phase,
    /// What the running command has written.
    written: Vec<(TextStyle, String)>,
    /// The person walks through the conversation.
    browsing: Option<Browsing>,
    /// The key before was one that leaves when it comes twice.
    leaving_once: bool,
    /// The key before was Esc, at rest.
    escaped_once: bool,
    /// How many shell commands the person ran.
    shells: usize,
    /// What the person's own status line says.
    own_line: Option<String>,
    /// A memory that waits in the inbox and was offered (L5.46).
    offered: Option<WaitingMemory>,
}

impl App {
    /// An empty screen.
    pub(crate) fn new(theme: Theme, welcome: Welcome) -> Self {
        Self {
            theme,
            welcome,
            talk: TranscriptView::default(),
            input: Input::default(),
            panel: None,
            questions: VecDeque::new(),
            draft: None,
            typed_at: None,
            mouse: MouseUse::Ours,
            bell_after: Duration::MAX,
            waiting: VecDeque::new(),
            pasted: BTreeMap::new(),
            status: None,
            commands: Vec::new(),
            phase: Phase::Rest,
            written: Vec::new(),
            browsing: None,
            leaving_once: false,
            escaped_once: false,
            shells: 0,
            own_line: None,
            offered: None,
        }
    }

    /// With what the person wants of the terminal.
    pub(crate) fn with_terminal(mut self, terminal: TerminalSettings) -> Self {
        self.mouse = if terminal.mouse { MouseUse::Ours } else { MouseUse::Terminals };
        self.bell_after = Duration::from_millis(terminal.bell_after_ms);
        self
    }

    /// Whether something moves by itself.
    pub(crate) fn moves(&self) -> bool {
        self.phase != Phase::Rest || self.panel.is_some() || highlight::is_busy()
    }

    pub(crate) fn key(&mut self, key: KeyEvent) -> Vec<Act> {
        self.key_at(key, Instant::now())
    }

    /// Takes a key that was pressed at a moment.
    pub(crate) fn key_at(&mut self, key: KeyEvent, now: Instant) -> Vec<Act> {
        let once = std::mem::take(&mut self.leaving_once);
        if key.modifiers == KeyModifiers::CONTROL
            && let KeyCode::Char(letter @ ('c' | 'd')) = key.code
            && let Some(acts) = self.leaving(letter, once)
        {
            return acts;
        }
        if !self.questions.is_empty() {
            return self.question_key(key, now);
        }
        if let Some(panel) = &mut self.panel {
            let act = panel.key(key);
            return self.panel_act(act);
        }
        if self.browsing.is_some() {
            return self.browse(key);
        }
        self.typed_at = Some(now);
        self.typed(key)
    }

    /// Ctrl-C and Ctrl-D: stop, clear, and twice leave.
    fn leaving(&mut self, letter: char, once: bool) -> Option<Vec<Act>> {
        if letter == 'd' && !self.input.is_empty() {
            return None;
        }
        if self.phase == Phase::Leaving {
            return Some(vec![Act::Stop, Act::End]);
        }
        if letter == 'c' && self.panel.take().is_some() {
            return Some(Vec::new());
        }
        if letter == 'c' && self.phase != Phase::Rest {
            return Some(vec![Act::Stop]);
        }
        if letter == 'c' && !self.input.is_empty() {
            self.input.set("");
            return Some(Vec::new());
        }
        if letter == 'c' && !once {
            self.leaving_once = true;
            return Some(Vec::new());
        }
        Some(self.leave())
    }

    fn leave(&mut self) -> Vec<Act> {
        self.deny_all("the person left");
        self.phase = Phase::Leaving;
        vec![Act::Stop, Act::Ask(Ask::Leave)]
    }

    /// What runs is being stopped: only now are its questions refused, or the
    /// turn would go on with the refusal.
    pub(crate) fn stopped(&mut self) {
        self.deny_all("the person stopped the turn");
        self.take_up();
    }

    fn deny_all(&mut self, reason: &str) {
        for asked in self.questions.drain(..) {
            asked.refuse(reason);
        }
    }

    /// Shows what a command wrote.
    fn show_written(&mut self, title: &str) {
        let written = std::mem::take(&mut self.written);
        let lines: usize = written.iter().map(|(_, text)| text.matches('\n').count()).sum();
        if lines > NOTICE_LINES {
            self.panel = Some(Box::new(TextPanel::new(format!("/{title}"), written)));
        } else if !written.is_empty() {
            self.talk.push(Kind::Notice(written));
        }
    }

    fn notice(&mut self, look: TextStyle, text: impl Into<String>) {
        self.talk.push(Kind::Notice(vec![(look, text.into())]));
    }
}
