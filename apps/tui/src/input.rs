//! Where the person types.

use crate::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::Widget;
use ratatui_textarea::{CursorMove, TextArea, WrapMode};

/// Rows that it may take.
const MOST_ROWS: u16 = 10;
/// Columns of the mark before the text.
const MARK: u16 = 2;

/// What a key led to.
pub(crate) enum Typed {
    /// The text changed, or the cursor moved.
    Nothing,
    /// The person sent it.
    Sent(String),
    /// The key means nothing here.
    Passed,
}

/// The text that is being typed.
pub(crate) struct Input {
    area: TextArea<'static>,
}

impl Default for Input {
    fn default() -> Self {
        Self { area: fresh("") }
    }
}

fn fresh(text: &str) -> TextArea<'static> {
    let mut area = TextArea::new(text.split('\n').map(str::to_owned).collect());
    area.set_wrap_mode(WrapMode::WordOrGlyph);
    area.set_cursor_line_style(Style::new());
    area.set_placeholder_text("what shall we do?  / commands  @ files  ! shell  # remember");
    area.move_cursor(CursorMove::Bottom);
    area.move_cursor(CursorMove::End);
    area
}

impl Input {
    /// What is typed.
    pub(crate) fn text(&self) -> String {
        self.area.lines().join("\n")
    }

    /// Whether nothing is.
    pub(crate) fn is_empty(&self) -> bool {
        self.area.is_empty()
    }

    /// Puts a text in the place of what is typed.
    pub(crate) fn set(&mut self, text: &str) {
        self.area = fresh(text);
    }

    /// Adds a text at the cursor.
    pub(crate) fn paste(&mut self, text: &str) {
        self.area.insert_str(text.replace("\r\n", "\n").replace('\r', "\n"));
    }

    /// Takes a key.
    pub(crate) fn key(&mut self, key: KeyEvent) -> Typed {
        let plain = key.modifiers.is_empty();
        match key.code {
            KeyCode::Enter if plain => {
                let text = self.text();
                if let Some(start) = text.strip_suffix('\\') {
                    self.set(&format!("{start}\n"));
                    return Typed::Nothing;
                }
                if text.trim().is_empty() {
                    return Typed::Nothing;
                }
                self.set("");
                Typed::Sent(text)
            }
            KeyCode::Enter => {
                self.area.insert_newline();
                Typed::Nothing
            }
            KeyCode::Char('j') if key.modifiers == KeyModifiers::CONTROL => {
                self.area.insert_newline();
                Typed::Nothing
            }
            KeyCode::Esc | KeyCode::PageUp | KeyCode::PageDown | KeyCode::Tab => Typed::Passed,
            _ => {
                self.area.input(key);
                Typed::Nothing
            }
        }
    }

    /// Rows that it takes at a width.
    pub(crate) fn rows(&self, width: u16) -> u16 {
        let room = usize::from(width.saturating_sub(MARK).max(1));
        let rows = self
            .area
            .lines()
            .iter()
            .map(|line| unicode_width::UnicodeWidthStr::width(line.as_str()) / room + 1);
        u16::try_from(rows.sum::<usize>()).unwrap_or(MOST_ROWS).clamp(1, MOST_ROWS)
    }

    /// Draws it.
    pub(crate) fn draw(&self, area: Rect, buf: &mut Buffer, theme: Theme) {
        buf.set_string(area.x, area.y, "›", theme.title());
        let inner =
            Rect { x: area.x.saturating_add(MARK), width: area.width.saturating_sub(MARK), ..area };
        (&self.area).render(inner, buf);
    }
}
