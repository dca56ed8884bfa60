//! The conversation on the screen: cells, and where in them the person is.
//!
//! A cell keeps its lines for a width, so that a frame draws only what is
//! seen. The place is a cell and a line in it, never a distance from the
//! start: cells that were never seen are never laid out, whatever their number.

use crate::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;

mod cell;
pub(crate) mod history;
mod markdown;
mod tool;

pub(crate) use cell::{Cell, Kind, styled};
pub(crate) use tool::{State, ToolCall};

/// What of the conversation is seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    /// Its end.
    #[default]
    End,
    /// From this line of this cell on.
    At { cell: usize, line: usize },
}

/// The conversation.
#[derive(Default)]
pub(crate) struct Talk {
    cells: Vec<Cell>,
    place: Place,
    chosen: Option<usize>,
    area: Rect,
}

impl Talk {
    /// Shows another conversation.
    pub(crate) fn replace(&mut self, cells: Vec<Cell>) {
        *self = Self { cells, area: self.area, ..Self::default() };
    }

    /// Whether there is nothing yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Adds a cell.
    pub(crate) fn push(&mut self, kind: Kind) {
        self.cells.push(Cell::new(kind));
    }

    /// The last cell.
    pub(crate) fn last_mut(&mut self) -> Option<&mut Cell> {
        self.cells.last_mut()
    }

    /// The tool call of an id.
    pub(crate) fn tool_mut(&mut self, id: &str) -> Option<&mut Cell> {
        self.cells.iter_mut().rev().find(|cell| cell.is_tool(id))
    }

    /// Goes up or down by lines.
    pub(crate) fn scroll(&mut self, lines: isize, theme: Theme) {
        let (mut cell, mut line) = self.top(theme);
        if lines < 0 {
            let mut up = lines.unsigned_abs();
            while up > line && cell > 0 {
                up -= line + 1;
                cell -= 1;
                line = self.height(cell, theme).saturating_sub(1);
            }
            line = line.saturating_sub(up);
        } else {
            let mut down = lines.unsigned_abs();
            while cell < self.cells.len() {
                let left = self.height(cell, theme).saturating_sub(line);
                if down < left {
                    break;
                }
                down -= left;
                (cell, line) = (cell + 1, 0);
            }
            line += down;
        }
        self.place = Place::At { cell, line };
        if self.bottom(theme) <= (cell, line) {
            self.place = Place::End;
        }
    }

    /// A page up or down.
    pub(crate) fn page(&mut self, pages: isize, theme: Theme) {
        let page = isize::try_from(self.area.height.saturating_sub(2).max(1)).unwrap_or(1);
        self.scroll(pages * page, theme);
    }

    /// Goes to the end, and follows it.
    pub(crate) fn go_to_end(&mut self) {
        self.place = Place::End;
    }

    /// Goes to the start.
    pub(crate) fn go_to_start(&mut self) {
        self.place = Place::At { cell: 0, line: 0 };
    }

    /// The cell that is chosen.
    pub(crate) fn chosen(&self) -> Option<&Cell> {
        self.cells.get(self.chosen?)
    }

    /// Chooses the cell before or after; begins with the last one.
    pub(crate) fn choose(&mut self, step: isize, theme: Theme) {
        let last = self.cells.len().saturating_sub(1);
        let next = match self.chosen {
            None => last,
            Some(at) => at.saturating_add_signed(step).min(last),
        };
        self.chosen = Some(next).filter(|_| !self.cells.is_empty());
        self.show(next, theme);
    }

    /// Chooses none.
    pub(crate) fn choose_none(&mut self) {
        self.chosen = None;
    }

    /// Folds or unfolds the chosen cell.
    pub(crate) fn fold(&mut self) {
        if let Some(cell) = self.chosen.and_then(|at| self.cells.get_mut(at)) {
            cell.fold();
        }
    }

    /// Brings a cell into view.
    fn show(&mut self, at: usize, theme: Theme) {
        let top = self.top(theme);
        let rows = usize::from(self.area.height);
        let mut below = 0;
        for cell in top.0..=at {
            below += self.height(cell, theme);
        }
        let fits = below.saturating_sub(top.1) <= rows;
        if at < top.0 || (at == top.0 && top.1 > 0) {
            self.place = Place::At { cell: at, line: 0 };
        } else if !fits {
            let height = self.height(at, theme);
            self.place = Place::At { cell: at, line: 0 };
            self.scroll(-(isize::try_from(rows.saturating_sub(height)).unwrap_or(0)), theme);
        }
    }

    fn height(&mut self, at: usize, theme: Theme) -> usize {
        let width = self.area.width;
        self.cells.get_mut(at).map_or(0, |cell| cell.lines(width, theme).len())
    }

    /// The first line that is seen.
    fn top(&mut self, theme: Theme) -> (usize, usize) {
        match self.place {
            Place::At { cell, line } => (cell, line),
            Place::End => self.bottom(theme),
        }
    }

    /// The first line that is seen when the end is.
    fn bottom(&mut self, theme: Theme) -> (usize, usize) {
        let mut room = usize::from(self.area.height);
        for cell in (0..self.cells.len()).rev() {
            let height = self.height(cell, theme);
            if height >= room {
                return (cell, height - room);
            }
            room -= height;
        }
        (0, 0)
    }

    /// Draws what is seen.
    pub(crate) fn draw(&mut self, area: Rect, buf: &mut Buffer, theme: Theme) {
        self.area = area;
        let (first, mut skip) = self.top(theme);
        let (mut row, end) = (area.y, area.bottom());
        for at in first..self.cells.len() {
            let chosen = self.chosen == Some(at);
            let Some(cell) = self.cells.get_mut(at) else { break };
            for line in cell.lines(area.width, theme).iter().skip(skip) {
                if row >= end {
                    return;
                }
                let place = Rect { y: row, height: 1, ..area };
                line.render(place, buf);
                if chosen {
                    buf.set_style(Rect { width: 1, ..place }, theme.chosen());
                }
                row += 1;
            }
            skip = 0;
        }
    }
}
