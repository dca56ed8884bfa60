//! A list with columns: one row is chosen, typing narrows it.

use super::PanelAct;
use crate::panel_data::{Table, TableRow};
use crate::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::Widget;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Columns between two cells.
const GAP: usize = 2;
/// What stands before the row that is chosen, and before the others.
const CHOSEN: &str = "› ";
const OTHER: &str = "  ";

/// When letters narrow the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Typing {
    Always,
    /// After a slash; before it they are keys of the panel.
    AfterSlash,
}

/// A list and where in it the person is.
pub(crate) struct Rows {
    table: Table,
    typing: Typing,
    /// The words that are looked for; none where letters are keys.
    words: Option<String>,
    /// The rows that have the words.
    shown: Vec<usize>,
    chosen: usize,
    top: usize,
    height: usize,
}

impl Rows {
    /// An empty list.
    pub(crate) fn new(typing: Typing) -> Self {
        let words = (typing == Typing::Always).then(String::new);
        Self {
            table: Table::default(),
            typing,
            words,
            shown: Vec::new(),
            chosen: 0,
            top: 0,
            height: 1,
        }
    }

    /// Shows other rows; the same one stays chosen where it is there.
    pub(crate) fn set(&mut self, table: Table) {
        let before = self.chosen().map(|row| row.id.clone());
        self.table = table;
        self.narrow();
        let same = |at: &usize| self.table.rows.get(*at).map(|row| &row.id) == before.as_ref();
        if let Some(at) = self.shown.iter().position(same) {
            self.chosen = at;
        }
    }

    pub(crate) fn look_for(&mut self, words: &str) {
        self.words = Some(words.to_owned());
        self.narrow();
        self.chosen = 0;
    }

    pub(crate) fn chosen(&self) -> Option<&TableRow> {
        self.table.rows.get(*self.shown.get(self.chosen)?)
    }

    pub(crate) fn all(&self) -> &[TableRow] {
        &self.table.rows
    }

    /// Chooses the row of an id.
    pub(crate) fn choose(&mut self, id: &str) {
        let is = |at: &usize| self.table.rows.get(*at).is_some_and(|row| row.id == id);
        if let Some(at) = self.shown.iter().position(is) {
            self.chosen = at;
        }
    }

    fn narrow(&mut self) {
        let words = self.words.as_deref().unwrap_or_default().to_lowercase();
        let words: Vec<&str> = words.split_whitespace().collect();
        let has = |row: &TableRow| {
            let text = format!("{} {}", row.cells.join(" "), row.more).to_lowercase();
            words.iter().all(|word| text.contains(word))
        };
        let rows = self.table.rows.iter().enumerate();
        self.shown = rows.filter(|(_, row)| has(row)).map(|(at, _)| at).collect();
        self.chosen = self.chosen.min(self.shown.len().saturating_sub(1));
    }

    /// Takes a key; hands back one that is none of its own.
    pub(crate) fn key(&mut self, key: KeyEvent) -> Option<KeyEvent> {
        let last = self.shown.len().saturating_sub(1);
        match key.code {
            KeyCode::Up => self.chosen = self.chosen.saturating_sub(1),
            KeyCode::Down => self.chosen = (self.chosen + 1).min(last),
            KeyCode::PageUp => self.chosen = self.chosen.saturating_sub(self.height),
            KeyCode::PageDown => self.chosen = (self.chosen + self.height).min(last),
            KeyCode::Home => self.chosen = 0,
            KeyCode::End => self.chosen = last,
            KeyCode::Char('/') if self.words.is_none() => self.words = Some(String::new()),
            KeyCode::Char('k') if self.words.is_none() => {
                self.chosen = self.chosen.saturating_sub(1);
            }
            KeyCode::Char('j') if self.words.is_none() => {
                self.chosen = (self.chosen + 1).min(last);
            }
            KeyCode::Char(letter) if key.modifiers.difference(KeyModifiers::SHIFT).is_empty() => {
                let Some(words) = &mut self.words else { return Some(key) };
                words.push(letter);
                self.narrow();
                self.chosen = 0;
            }
            KeyCode::Backspace => {
                let Some(words) = &mut self.words else { return Some(key) };
                if words.pop().is_none() && self.typing == Typing::AfterSlash {
                    self.words = None;
                }
                self.narrow();
            }
            KeyCode::Esc => return self.escape(key),
            _ => return Some(key),
        }
        None
    }

    /// Esc takes back the words first.
    fn escape(&mut self, key: KeyEvent) -> Option<KeyEvent> {
        let none = (self.typing == Typing::Always).then(String::new);
        if self.words == none {
            return Some(key);
        }
        self.words = none;
        let id = self.chosen().map(|row| row.id.clone());
        self.narrow();
        if let Some(id) = id {
            self.choose(&id);
        }
        None
    }

    /// Draws it, with a line for the words and one for the head.
    pub(crate) fn draw(&mut self, area: Rect, buf: &mut Buffer, theme: Theme) {
        let mut area = area;
        if let Some(words) = &self.words {
            let (text, style) = if words.is_empty() {
                ("search: type".to_owned(), theme.dim())
            } else {
                (format!("search: {words}▏"), Style::new())
            };
            line(&text, style, &mut area, buf);
        }
        let widths = self.widths(usize::from(area.width).saturating_sub(OTHER.len()));
        if !self.table.head.is_empty() {
            let head = format!("{OTHER}{}", laid(&self.table.head, &widths));
            line(&head, theme.dim(), &mut area, buf);
        }
        self.height = usize::from(area.height.max(1));
        if self.shown.is_empty() {
            let none = if self.table.rows.is_empty() { &*self.table.empty } else { "no matches" };
            line(none, theme.dim(), &mut area, buf);
            return;
        }
        self.top = self.top.min(self.chosen);
        self.top = self.top.max((self.chosen + 1).saturating_sub(self.height));
        let rows = self.shown.iter().enumerate().skip(self.top).take(usize::from(area.height));
        for (at, row) in rows {
            let Some(row) = self.table.rows.get(*row) else { continue };
            let is_chosen = at == self.chosen;
            let mut style = theme.style(row.look);
            if is_chosen {
                style = style.patch(theme.chosen());
            }
            let mark = if is_chosen { CHOSEN } else { OTHER };
            let text = format!("{mark}{}", laid(&row.cells, &widths));
            let missing = usize::from(area.width).saturating_sub(text.width());
            line(&format!("{text}{}", " ".repeat(missing)), style, &mut area, buf);
        }
    }

    /// How wide each column is: as its widest cell, but none so wide that the
    /// last one has no room.
    fn widths(&self, room: usize) -> Vec<usize> {
        let rows = || self.table.rows.iter().map(|row| &row.cells);
        let columns = rows().map(Vec::len).max().unwrap_or(0).max(self.table.head.len());
        let most = if columns > 2 { room / 3 } else { room / 2 };
        let cells = |at| {
            let cells = rows().filter_map(move |row: &Vec<String>| row.get(at));
            cells
                .chain(self.table.head.get(at))
                .map(|cell: &String| cell.width())
                .max()
                .unwrap_or(0)
        };
        let mut left = room;
        (0..columns)
            .map(|at| {
                let is_last = at + 1 == columns;
                let width = if is_last { left } else { cells(at).min(most).min(left) };
                left = left.saturating_sub(width + GAP);
                width
            })
            .collect()
    }
}

/// Cells beside each other, none wider than its column.
fn laid(cells: &[String], widths: &[usize]) -> String {
    let mut out = String::new();
    for (at, (cell, width)) in cells.iter().zip(widths).enumerate() {
        let cell = cut(cell, *width);
        let missing = width.saturating_sub(cell.width());
        out.push_str(&cell);
        if at + 1 < cells.len() {
            out.push_str(&" ".repeat(missing + GAP));
        }
    }
    out.trim_end().to_owned()
}

/// A text on one line, at most so many columns wide.
pub(crate) fn cut(text: &str, most: usize) -> String {
    let clean = |letter: char| if letter.is_control() { ' ' } else { letter };
    let text: String = text.chars().map(clean).collect();
    if text.width() <= most {
        return text;
    }
    let mut out = String::new();
    for letter in text.graphemes(true) {
        if out.width() + letter.width() + 1 > most {
            break;
        }
        out.push_str(letter);
    }
    if most > 0 {
        out.push('…');
    }
    out
}

/// Writes a line, and leaves the rest of the area.
pub(crate) fn line(text: &str, style: Style, area: &mut Rect, buf: &mut Buffer) {
    if area.height == 0 {
        return;
    }
    Line::styled(cut(text, usize::from(area.width)), style)
        .render(Rect { height: 1, ..*area }, buf);
    area.y = area.y.saturating_add(1);
    area.height -= 1;
}

/// The same with a text that has looks.
pub(crate) fn styled_line(text: &Line<'_>, area: &mut Rect, buf: &mut Buffer) {
    if area.height == 0 {
        return;
    }
    text.render(Rect { height: 1, ..*area }, buf);
    area.y = area.y.saturating_add(1);
    area.height -= 1;
}

/// Esc and q close a panel, where it has nothing else to do with them.
pub(crate) fn closes(key: KeyEvent) -> PanelAct {
    match key.code {
        KeyCode::Esc | KeyCode::Char('q') => PanelAct::Close,
        _ => PanelAct::Stay,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q9_cells_are_cut_at_columns_not_letters() {
        assert_eq!(cut("日本語日本語", 6), "日本…");
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("a\nb", 9), "a b");
        assert_eq!(cut("abc", 0), "");
        let cells = ["ab".to_owned(), "c".to_owned()];
        assert_eq!(laid(&cells, &[4, 3]), "ab    c");
    }
}
