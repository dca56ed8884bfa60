//! The screen without a terminal, for `everfold-bench`. It promises nothing.

use crate::app::App;
use crate::host::Welcome;
use crate::theme::Theme;
use crate::transcript_view::history;
use crate::worker::WorkerEvent;
use everfold_agent::{Agent, Event, Session};
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};
use std::io::{self, Sink};

/// A screen whose bytes go nowhere.
pub struct Bench {
    app: App,
    terminal: Terminal<CrosstermBackend<Sink>>,
}

impl Bench {
    /// A screen of this size.
    ///
    /// # Errors
    /// None that are known.
    pub fn new(width: u16, height: u16) -> io::Result<Self> {
        let viewport = Viewport::Fixed(Rect::new(0, 0, width, height));
        let backend = CrosstermBackend::new(io::sink());
        let terminal = Terminal::with_options(backend, TerminalOptions { viewport })?;
        Ok(Self { app: App::new(Theme::new(true), Welcome::default()), terminal })
    }

    pub async fn open(&mut self, agent: &Agent, session: &Session) {
        let cells = history::cells(agent, session).await;
        self.app.told(WorkerEvent::Changed(cells, Vec::new()));
    }

    /// Takes what the engine tells.
    pub fn event(&mut self, event: Event) {
        self.app.told(WorkerEvent::Event(Box::new(event)));
    }

    pub fn letter(&mut self, letter: char) {
        self.press(KeyCode::Char(letter), KeyModifiers::NONE);
    }

    /// Goes a page up.
    pub fn page_up(&mut self) {
        self.press(KeyCode::PageUp, KeyModifiers::NONE);
    }

    /// Begins to walk through the conversation, and goes to its start.
    pub fn go_to_start(&mut self) {
        self.press(KeyCode::Char('o'), KeyModifiers::CONTROL);
        self.letter('g');
    }

    /// Unfolds what is chosen.
    pub fn unfold(&mut self) {
        self.press(KeyCode::Char(' '), KeyModifiers::NONE);
    }

    fn press(&mut self, code: KeyCode, modifiers: KeyModifiers) {
        self.app.key(KeyEvent::new(code, modifiers));
    }

    /// Draws a frame.
    ///
    /// # Errors
    /// None that are known.
    pub fn draw(&mut self) -> io::Result<()> {
        self.terminal.draw(|frame| self.app.draw(frame)).map(|_| ())
    }
}
