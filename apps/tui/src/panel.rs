//! Panels: what takes the place of the conversation while a person looks at
//! something else. Each owns its state, takes keys, and says what is to follow.

use crate::status::Status;
use crate::theme::Theme;
use crate::worker::Ask;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::Rect;

pub(crate) mod text;

/// Something to look at.
pub(crate) trait Panel: Send {
    /// What stands above it.
    fn title(&self) -> String;

    /// The keys that it takes, for the line below it.
    fn keys(&self) -> String;

    /// Draws it.
    fn draw(&mut self, area: Rect, buf: &mut Buffer, theme: Theme);

    /// Takes a key.
    fn key(&mut self, key: KeyEvent) -> PanelAct;

    /// Takes over what is known now; asked for before each frame.
    fn update(&mut self, _status: &Status) {}
}

/// What follows a key in a panel.
#[expect(dead_code, reason = "panels are on their way")]
pub(crate) enum PanelAct {
    /// Nothing.
    Stay,
    /// The conversation comes back.
    Close,
    /// Another panel takes its place; Esc there closes it.
    Show(Box<dyn Panel>),
    /// The worker is asked, and the panel stays.
    Ask(Ask),
    /// The worker is asked, and the panel goes.
    CloseAnd(Ask),
    /// A text is put where the person types, and the panel goes.
    Put(String),
    /// A text goes to the clipboard.
    Copy(String),
}
