//! Markdown as lines of the screen.

use crate::theme::Theme;
use crate::wrap;
use ratatui::style::Style;
use ratatui::text::Line;

/// The lines of a text.
pub(crate) fn lines(text: &str, width: u16, _theme: Theme) -> Vec<Line<'static>> {
    wrap::text(text, Style::new(), width, "")
}
