//! Rows with flags and joined emoji, drawn whole.
//!
//! Such a letter has two columns here, and more or fewer in some terminals:
//! what follows it stands elsewhere than we believe, and a change of single
//! cells would leave parts behind (U7). So a row that has or had one is cleared
//! and drawn again, and the cursor is placed anew behind each.

use ratatui::backend::{Backend, ClearType, WindowSize};
use ratatui::buffer::Cell;
use ratatui::layout::{Position, Size};
use std::collections::BTreeSet;
use unicode_width::UnicodeWidthStr;

/// A backend that knows what is on the screen.
pub(crate) struct EmojiRows<B> {
    inner: B,
    size: Size,
    cells: Vec<Cell>,
}

impl<B: Backend> EmojiRows<B> {
    pub(crate) fn new(inner: B) -> Self {
        Self { inner, size: Size::ZERO, cells: Vec::new() }
    }

    fn forget(&mut self) -> Result<(), B::Error> {
        self.size = self.inner.size()?;
        let count = usize::from(self.size.width) * usize::from(self.size.height);
        self.cells = vec![Cell::EMPTY; count];
        Ok(())
    }

    fn row(&self, y: u16) -> &[Cell] {
        let width = usize::from(self.size.width);
        let start = usize::from(y) * width;
        self.cells.get(start..start + width).unwrap_or_default()
    }

    fn has_emoji(&self, y: u16) -> bool {
        self.row(y).iter().any(|cell| is_joined(cell.symbol()))
    }

    /// Clears a row and draws it, one part after each joined letter.
    fn redraw(&mut self, y: u16) -> Result<(), B::Error> {
        self.inner.set_cursor_position(Position { x: 0, y })?;
        self.inner.clear_region(ClearType::CurrentLine)?;
        let row: Vec<Cell> = self.row(y).to_vec();
        let mut part = Vec::new();
        let mut next = 0;
        for (x, cell) in (0..).zip(&row) {
            // The second column of a wide letter is its own.
            if x < next {
                continue;
            }
            part.push((x, y, cell));
            next = x + u16::try_from(cell.symbol().width()).unwrap_or(1).max(1);
            if is_joined(cell.symbol()) {
                self.inner.draw(part.drain(..))?;
            }
        }
        self.inner.draw(part.into_iter())
    }
}

/// Whether terminals disagree on how wide a letter is.
fn is_joined(symbol: &str) -> bool {
    let joins = |letter| {
        matches!(letter, '\u{200d}' | '\u{fe0f}' | '\u{20e3}' | '\u{1f1e6}'..='\u{1f1ff}'
            | '\u{1f3fb}'..='\u{1f3ff}')
    };
    symbol.len() > 3 && symbol.chars().any(joins)
}

impl<B: Backend> Backend for EmojiRows<B> {
    type Error = B::Error;

    fn draw<'a, I>(&mut self, content: I) -> Result<(), Self::Error>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        if self.size != self.inner.size()? {
            self.forget()?;
        }
        let content: Vec<(u16, u16, &Cell)> = content.collect();
        let touched: BTreeSet<u16> = content.iter().map(|(_, y, _)| *y).collect();
        let mut whole: BTreeSet<u16> =
            touched.iter().copied().filter(|y| self.has_emoji(*y)).collect();
        for (x, y, cell) in &content {
            let at = usize::from(*y) * usize::from(self.size.width) + usize::from(*x);
            if let Some(held) = self.cells.get_mut(at) {
                held.clone_from(cell);
            }
        }
        whole.extend(touched.into_iter().filter(|y| self.has_emoji(*y)));
        self.inner.draw(content.into_iter().filter(|(_, y, _)| !whole.contains(y)))?;
        whole.into_iter().try_for_each(|y| self.redraw(y))
    }

    fn hide_cursor(&mut self) -> Result<(), Self::Error> {
        self.inner.hide_cursor()
    }

    fn show_cursor(&mut self) -> Result<(), Self::Error> {
        self.inner.show_cursor()
    }

    fn get_cursor_position(&mut self) -> Result<Position, Self::Error> {
        self.inner.get_cursor_position()
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> Result<(), Self::Error> {
        self.inner.set_cursor_position(position)
    }

    fn clear(&mut self) -> Result<(), Self::Error> {
        self.forget()?;
        self.inner.clear()
    }

    fn clear_region(&mut self, clear_type: ClearType) -> Result<(), Self::Error> {
        if clear_type == ClearType::All {
            self.forget()?;
        }
        self.inner.clear_region(clear_type)
    }

    fn size(&self) -> Result<Size, Self::Error> {
        self.inner.size()
    }

    fn window_size(&mut self) -> Result<WindowSize, Self::Error> {
        self.inner.window_size()
    }

    fn flush(&mut self) -> Result<(), Self::Error> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use ratatui::text::Text;

    #[test]
    fn u7_a_row_that_had_a_flag_is_drawn_whole() {
        let mut terminal = Terminal::new(EmojiRows::new(TestBackend::new(12, 2))).unwrap();
        terminal
            .draw(|frame| frame.render_widget(Text::raw("a 🇩🇪 flag\n語 b"), frame.area()))
            .unwrap();
        // A terminal that counts a flag as four columns.
        let strange = Cell::new("x");
        terminal.backend_mut().inner.draw([(10, 0, &strange)].into_iter()).unwrap();
        terminal.draw(|frame| frame.render_widget(Text::raw("plain\n語 b"), frame.area())).unwrap();
        terminal.backend().inner.assert_buffer_lines(["plain       ", "語 b        "]);
    }

    #[test]
    fn u7_accents_and_wide_letters_are_nothing_special() {
        for letter in ["a", "e\u{301}", "語", "\u{1f600}", "─"] {
            assert!(!is_joined(letter), "{letter}");
        }
        for letter in ["🇩🇪", "👩\u{200d}👧", "❤\u{fe0f}", "👍🏽"] {
            assert!(is_joined(letter), "{letter}");
        }
    }
}
