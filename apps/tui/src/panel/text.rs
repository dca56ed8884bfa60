//! A text that is longer than a notice: what a command wrote.

use super::{Panel, PanelAct};
use crate::look::Look;
use crate::talk::styled;
use crate::theme::Theme;
use crate::wrap;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Widget;

/// A text with looks.
pub(crate) struct TextPanel {
    title: String,
    parts: Vec<(Look, String)>,
    laid: Option<(u16, Vec<Line<'static>>)>,
    top: usize,
    rows: usize,
}

impl TextPanel {
    /// A text under a title.
    pub(crate) fn new(title: impl Into<String>, parts: Vec<(Look, String)>) -> Self {
        Self { title: title.into(), parts, laid: None, top: 0, rows: 1 }
    }

    fn lines(&self) -> usize {
        self.laid.as_ref().map_or(0, |(_, lines)| lines.len())
    }
}

impl Panel for TextPanel {
    fn title(&self) -> String {
        self.title.clone()
    }

    fn keys(&self) -> String {
        "↑↓ PgUp PgDn scroll · y copy · Esc close".to_owned()
    }

    fn draw(&mut self, area: Rect, buf: &mut Buffer, theme: Theme) {
        if self.laid.as_ref().is_none_or(|(width, _)| *width != area.width) {
            let lines = styled(&self.parts, theme);
            let lines = lines.iter().flat_map(|line| wrap::wrap(line, area.width, "")).collect();
            self.laid = Some((area.width, lines));
        }
        self.rows = usize::from(area.height.max(1));
        self.top = self.top.min(self.lines().saturating_sub(self.rows));
        let Some((_, lines)) = &self.laid else { return };
        for (row, line) in (area.y..area.bottom()).zip(lines.iter().skip(self.top)) {
            line.render(Rect { y: row, height: 1, ..area }, buf);
        }
    }

    fn key(&mut self, key: KeyEvent) -> PanelAct {
        match key.code {
            KeyCode::Esc | KeyCode::Char('q') | KeyCode::Enter => return PanelAct::Close,
            KeyCode::Up | KeyCode::Char('k') => self.top = self.top.saturating_sub(1),
            KeyCode::Down | KeyCode::Char('j') => self.top += 1,
            KeyCode::PageUp => self.top = self.top.saturating_sub(self.rows),
            KeyCode::PageDown | KeyCode::Char(' ') => self.top += self.rows,
            KeyCode::Home | KeyCode::Char('g') => self.top = 0,
            KeyCode::End | KeyCode::Char('G') => self.top = self.lines(),
            KeyCode::Char('y') => {
                return PanelAct::Copy(self.parts.iter().map(|(_, text)| text.as_str()).collect());
            }
            _ => {}
        }
        PanelAct::Stay
    }
}
