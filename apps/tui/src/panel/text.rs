//! A text to read: what a command wrote, or will have written in a moment.

use super::rows;
use super::scroll::Scroll;
use super::{Panel, PanelAct, Slot, Written};
use crate::style::TextStyle;
use crate::theme::Theme;
use crate::transcript_view::styled;
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
    bringing: Option<PanelAct>,
    laid: Option<(u16, Vec<Line<'static>>)>,
    scroll: Scroll,
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
            scroll: Scroll::default(),
        }
    }

    /// A text that something brings.
    pub(crate) fn coming(
        title: impl Into<String>,
        coming: Slot<Written>,
        bringing: PanelAct,
    ) -> Self {
        let wait = vec![(TextStyle::Dim, "looking…".to_owned())];
        let mut panel = Self::new(title, wait);
        panel.coming = Some(coming);
        panel.bringing = Some(bringing);
        panel
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
        let Some((_, lines)) = &self.laid else { return };
        let top = self.scroll.fit(lines.len(), area.height);
        for (row, line) in (area.y..area.bottom()).zip(lines.iter().skip(top)) {
            line.render(Rect { y: row, height: 1, ..area }, buf);
        }
    }

    fn begin(&mut self) -> PanelAct {
        self.bringing.take().unwrap_or(PanelAct::Stay)
    }

    fn key(&mut self, key: KeyEvent) -> PanelAct {
        match self.scroll.key(key).map(|key| key.code) {
            Some(KeyCode::Enter) => PanelAct::Close,
            Some(KeyCode::Char('y')) => {
                PanelAct::Copy(self.parts.iter().map(|(_, text)| text.as_str()).collect())
            }
            Some(_) => rows::closes(key),
            None => PanelAct::Stay,
        }
    }
}
