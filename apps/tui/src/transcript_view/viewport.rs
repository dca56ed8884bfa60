//! Which lines of the conversation are seen, and how they are drawn.

use super::search::Search;
use super::{Place, TranscriptView};
use crate::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Widget;

/// Lines below what is seen that are counted; more are only said to be more.
const COUNTED: usize = 200;

impl TranscriptView {
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
            self.go_to_end();
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
        self.news = false;
    }

    /// Brings a cell into view.
    pub(super) fn show(&mut self, at: usize, theme: Theme) {
        let top = self.top(theme);
        if at < top.0 || (at == top.0 && top.1 > 0) {
            self.place = Place::At { cell: at, line: 0 };
            return;
        }
        let rows = usize::from(self.area.height);
        let mut below = 0;
        for cell in top.0..=at {
            below += self.height(cell, theme);
            if below.saturating_sub(top.1) > rows {
                let height = self.height(at, theme);
                self.place = Place::At { cell: at, line: 0 };
                let up = isize::try_from(rows.saturating_sub(height)).unwrap_or(0);
                self.scroll(-up, theme);
                return;
            }
        }
    }

    /// Brings a line of a cell into view, not at the very edge.
    pub(super) fn show_line(&mut self, cell: usize, line: usize, theme: Theme) {
        self.place = Place::At { cell, line };
        self.scroll(-isize::try_from(self.area.height / 3).unwrap_or(0), theme);
    }

    pub(super) fn height(&mut self, at: usize, theme: Theme) -> usize {
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
        let (first, skip) = self.top(theme);
        let end = self.draw_cells((first, skip), buf, theme);
        if self.place != Place::End {
            self.draw_more(end, buf, theme);
        }
        self.drop_far(first..end.0 + 1);
    }

    /// Draws from a line on; says which is the first one that has no room.
    fn draw_cells(
        &mut self,
        (first, mut skip): (usize, usize),
        buf: &mut Buffer,
        theme: Theme,
    ) -> (usize, usize) {
        let area = self.area;
        let mut row = area.y;
        for at in first..self.cells.len() {
            let chosen = self.chosen == Some(at);
            let needle = self.search.as_ref().map(Search::needle);
            let Some(cell) = self.cells.get_mut(at) else { break };
            for (line_at, line) in cell.lines(area.width, theme).iter().enumerate().skip(skip) {
                if row >= area.bottom() {
                    return (at, line_at);
                }
                let place = Rect { y: row, height: 1, ..area };
                line.render(place, buf);
                if let Some(needle) = needle {
                    mark_found(line, needle, place, buf, theme);
                }
                if chosen && !line.spans.is_empty() {
                    buf.set_style(Rect { width: 1.min(area.width), ..place }, theme.chosen());
                }
                row += 1;
            }
            skip = 0;
        }
        (self.cells.len(), 0)
    }

    /// Says how much there is below what is seen.
    fn draw_more(&mut self, (cell, line): (usize, usize), buf: &mut Buffer, theme: Theme) {
        let mut more = 0;
        for at in cell..self.cells.len() {
            more += self.height(at, theme);
            if more > COUNTED + line {
                break;
            }
        }
        let more = more.saturating_sub(line);
        if more == 0 {
            return;
        }
        let count = if more > COUNTED { format!("over {COUNTED}") } else { more.to_string() };
        let news = if self.news { ", new below" } else { "" };
        let text = format!(" ↓ {count} more lines{news} ");
        let line = Line::styled(text, theme.chosen());
        let width = u16::try_from(line.width()).unwrap_or(u16::MAX).min(self.area.width);
        let place = Rect {
            x: self.area.right().saturating_sub(width),
            y: self.area.bottom().saturating_sub(1),
            width,
            height: 1.min(self.area.height),
        };
        line.render(place, buf);
    }

    /// Where the person is: the cell that is chosen, and how many there are.
    pub(crate) fn position(&self) -> String {
        let at = self.chosen.map_or(self.cells.len(), |at| at + 1);
        format!("{at} of {}", self.cells.len())
    }
}

/// Marks what was searched for in a line that is drawn.
fn mark_found(line: &Line<'_>, needle: &str, place: Rect, buf: &mut Buffer, theme: Theme) {
    let text = line.to_string();
    let mut from = 0;
    while let Some(range) = super::search::find(&text, needle, from) {
        let columns = |end: usize| {
            let width = Line::raw(text.get(..end).unwrap_or_default()).width();
            u16::try_from(width).unwrap_or(u16::MAX)
        };
        let (start, end) = (columns(range.start), columns(range.end));
        let found =
            Rect { x: place.x.saturating_add(start), width: end.saturating_sub(start), ..place };
        buf.set_style(found.intersection(place), theme.found());
        from = range.end.max(from + 1);
    }
}
