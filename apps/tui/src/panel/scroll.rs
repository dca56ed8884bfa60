//! Where in a text the person is.

use super::rows;
use crate::style::TextStyle;
use crate::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use ratatui::layout::Rect;

/// The line at the top, of how many, on how many rows.
#[derive(Default)]
pub(crate) struct Scroll {
    top: usize,
    lines: usize,
    rows: usize,
}

impl Scroll {
    /// The first line that is seen, of so many on so many rows.
    pub(crate) fn fit(&mut self, lines: usize, rows: u16) -> usize {
        self.lines = lines;
        self.rows = usize::from(rows.max(1));
        self.top = self.top.min(lines.saturating_sub(self.rows));
        self.top
    }

    /// Draws what is seen of a text, each line cut at the edge.
    pub(crate) fn draw(
        &mut self,
        text: &[(TextStyle, String)],
        mut area: Rect,
        buf: &mut Buffer,
        theme: Theme,
    ) {
        let top = self.fit(text.len(), area.height);
        for (look, line) in text.iter().skip(top) {
            rows::line(line, theme.style(*look), &mut area, buf);
        }
    }

    /// Takes a key; hands back one that is none of its own.
    pub(crate) fn key(&mut self, key: KeyEvent) -> Option<KeyEvent> {
        match key.code {
            KeyCode::Up | KeyCode::Char('k') => self.top = self.top.saturating_sub(1),
            KeyCode::Down | KeyCode::Char('j') => self.top += 1,
            KeyCode::PageUp => self.top = self.top.saturating_sub(self.rows),
            KeyCode::PageDown | KeyCode::Char(' ') => self.top += self.rows,
            KeyCode::Home | KeyCode::Char('g') => self.top = 0,
            KeyCode::End | KeyCode::Char('G') => self.top = self.lines,
            _ => return Some(key),
        }
        None
    }
}
