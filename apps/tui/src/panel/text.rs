//! A text to read: what a command wrote, or will have written in a moment.

use super::{Panel, PanelAct, Slot, Written};
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
    parts: Written,
    /// Where the text will be, if it is not there yet.
    coming: Option<Slot<Written>>,
    /// What brings it.
    bringing: Option<PanelAct>,
    laid: Option<(u16, Vec<Line<'static>>)>,
    top: usize,
    rows: usize,
}

impl TextPanel {
    /// A text under a title.
    pub(crate) fn new(title: impl Into<String>, parts: Written) -> Self {
        Self {
            title: title.into(),
            parts,
            coming: None,
            bringing: None,
            laid: None,
            top: 0,
            rows: 1,
        }
    }

    /// A text that something brings.
    pub(crate) fn coming(
        title: impl Into<String>,
        coming: Slot<Written>,
        bringing: PanelAct,
    ) -> Self {
        let wait = vec![(Look::Dim, "looking…".to_owned())];
        let mut panel = Self::new(title, wait);
        panel.coming = Some(coming);
        panel.bringing = Some(bringing);
        panel
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
        if let Some(found) = self.coming.as_ref().and_then(Slot::take) {
            self.parts = found;
            self.coming = None;
            self.laid = None;
        }
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

    fn begin(&mut self) -> PanelAct {
        self.bringing.take().unwrap_or(PanelAct::Stay)
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
