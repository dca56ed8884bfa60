//! `/context`: what fills the window, as a picture and a table; Enter shows
//! the largest messages of a kind (T4, L4.16).

use super::rows::{self, Rows, Typing};
use super::{Panel, PanelAct, Slot, look};
use crate::panel_data::{Table, TableRow};
use crate::picture;
use crate::status::Status;
use crate::theme::Theme;
use everfold_agent::engine::window::context_view;
use everfold_agent::engine::window::context_view::{CategoryKind, ContextView};
use everfold_agent::engine::window::in_view;
use everfold_agent::engine::window::in_view::InView;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

mod messages;

use messages::MessagesPanel;

/// The brackets around the bar.
const FRAME: u16 = 2;

/// The window, as it was at a moment.
type Seen = (ContextView, Vec<InView>);

/// The window of a session.
pub(crate) struct ContextPanel {
    model: String,
    view: ContextView,
    /// The messages; not known while a turn has the session.
    messages: Option<Vec<InView>>,
    found: Slot<Seen>,
    rows: Rows,
}

impl ContextPanel {
    /// The window as it was last known.
    pub(crate) fn new(status: &Status) -> Self {
        let mut panel = Self {
            model: status.model.clone(),
            view: status.context.clone(),
            messages: None,
            found: Slot::default(),
            rows: Rows::new(Typing::AfterSlash),
        };
        panel.fill();
        panel
    }

    fn fill(&mut self) {
        let rows = self.view.categories.iter().map(|category| TableRow {
            id: category.id.to_owned(),
            cells: picture::cells(category, &self.view),
            look: picture::sign(category).1,
            more: String::new(),
        });
        let head = ["", "", "   tokens", " share"].map(str::to_owned).to_vec();
        self.rows.set(Table { head, rows: rows.collect(), empty: "nothing".to_owned() });
    }

    fn settle(&mut self) {
        if let Some((view, messages)) = self.found.take() {
            self.view = view;
            self.messages = Some(messages);
            self.fill();
        }
    }

    /// The bar, and the marks of the thresholds below it.
    fn bar(&self, width: u16, theme: Theme) -> Vec<Line<'static>> {
        let cells = usize::from(width.saturating_sub(FRAME));
        let mut bar = vec![Span::raw("[")];
        for (category, count) in picture::runs(&self.view, cells) {
            let (letter, look) = category.map_or((' ', crate::TextStyle::Normal), picture::sign);
            bar.push(Span::styled(letter.to_string().repeat(count), theme.style(look)));
        }
        bar.push(Span::raw("]"));
        let mut lines = vec![Line::from(bar)];
        let size = self.view.window.size.0;
        let marks = self.view.thresholds.iter().map(|mark| picture::mark(mark, size, cells));
        lines.extend(marks.map(|mark| Line::styled(mark, theme.dim())));
        lines
    }
}

impl Panel for ContextPanel {
    fn title(&self) -> String {
        let when = if self.messages.is_some() { "" } else { " · before this turn" };
        format!("context · {}{when}", picture::summary(&self.view, &self.model))
    }

    fn keys(&self) -> String {
        "Enter shows the largest of a kind · Esc back".to_owned()
    }

    fn begin(&mut self) -> PanelAct {
        look(&self.found, |session| {
            (context_view::context_view(session), in_view::in_view(session))
        })
    }

    fn draw(&mut self, area: Rect, buf: &mut Buffer, theme: Theme) {
        self.settle();
        let mut area = area;
        for line in self.bar(area.width, theme) {
            rows::styled_line(&line, &mut area, buf);
        }
        self.rows.draw(area, buf, theme);
    }

    fn key(&mut self, key: KeyEvent) -> PanelAct {
        self.settle();
        let Some(key) = self.rows.key(key) else { return PanelAct::Stay };
        let KeyCode::Enter = key.code else { return rows::closes(key) };
        let Some(row) = self.rows.chosen() else { return PanelAct::Stay };
        let chosen = self.view.categories.iter().find(|category| category.id == row.id);
        match chosen {
            Some(category) if category.kind == CategoryKind::Used => PanelAct::Show(Box::new(
                MessagesPanel::new(category.id, category.name, self.messages.clone()),
            )),
            _ => PanelAct::Stay,
        }
    }
}
