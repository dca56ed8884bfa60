//! A table that fits: wide columns give way, and their cells are broken.

use crate::style::TextStyle;
use crate::theme::Theme;
use crate::wrap;
use pulldown_cmark::Alignment;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

/// Between two columns.
const BETWEEN: &str = " │ ";
/// A column that would be narrower is no column.
const NARROWEST: usize = 4;

type Spans = Vec<Span<'static>>;

/// A table, row by row; the first is the head.
pub(super) struct Table {
    alignments: Vec<Alignment>,
    rows: Vec<Vec<Spans>>,
    row: Vec<Spans>,
}

impl Table {
    /// An empty one.
    pub(super) fn new(alignments: Vec<Alignment>) -> Self {
        Self { alignments, rows: Vec::new(), row: Vec::new() }
    }

    /// The next cell of the row.
    pub(super) fn cell(&mut self, spans: Spans) {
        self.row.push(spans);
    }

    /// The row is complete.
    pub(super) fn end_row(&mut self) {
        self.rows.push(std::mem::take(&mut self.row));
    }

    /// Its lines.
    pub(super) fn lines(self, width: u16, theme: Theme) -> Vec<Line<'static>> {
        match self.columns(usize::from(width)) {
            Some(columns) => self.grid(&columns, theme),
            None => self.stacked(width, theme),
        }
    }

    /// The width of each column; none where they cannot stand side by side.
    fn columns(&self, width: usize) -> Option<Vec<usize>> {
        let count = self.alignments.len();
        let mut wanted = vec![1; count];
        for row in &self.rows {
            for (want, cell) in wanted.iter_mut().zip(row) {
                *want = cell.iter().map(Span::width).sum::<usize>().max(*want);
            }
        }
        let room = width.checked_sub(BETWEEN.chars().count() * count.saturating_sub(1))?;
        if wanted.iter().sum::<usize>() <= room {
            return Some(wanted);
        }
        // The most that every column can have, so that all of them fit.
        let fits = |cap: usize| wanted.iter().map(|want| (*want).min(cap)).sum::<usize>() <= room;
        let cap = (NARROWEST..=room).take_while(|cap| fits(*cap)).last()?;
        Some(wanted.into_iter().map(|want| want.min(cap)).collect())
    }

    fn grid(self, columns: &[usize], theme: Theme) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        for (at, row) in self.rows.into_iter().enumerate() {
            let mut cells: Vec<Vec<Line<'static>>> = row
                .into_iter()
                .zip(columns)
                .map(|(cell, width)| {
                    wrap::wrap(&Line::from(cell), u16::try_from(*width).unwrap_or(u16::MAX), "")
                })
                .collect();
            let height = cells.iter().map(Vec::len).max().unwrap_or(1);
            for part in 0..height {
                let mut line = Line::default();
                for (column, width) in columns.iter().enumerate() {
                    if column > 0 {
                        line.spans.push(Span::styled(BETWEEN, theme.dim()));
                    }
                    let cell = cells.get_mut(column).and_then(|cell| cell.get_mut(part));
                    let cell = cell.map(std::mem::take).unwrap_or_default();
                    let alignment = self.alignments.get(column).copied();
                    line.spans.extend(aligned(cell, *width, alignment));
                }
                if at == 0 {
                    line = line.patch_style(Modifier::BOLD);
                }
                lines.push(line);
            }
            if at == 0 {
                let rules: Vec<String> = columns.iter().map(|width| "─".repeat(*width)).collect();
                lines.push(Line::styled(rules.join("─┼─"), theme.dim()));
            }
        }
        lines
    }

    /// Each row as a list of what its cells are and say.
    fn stacked(mut self, width: u16, theme: Theme) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        let head = if self.rows.is_empty() { Vec::new() } else { self.rows.remove(0) };
        for (at, row) in self.rows.into_iter().enumerate() {
            if at > 0 {
                lines.push(Line::default());
            }
            for (column, cell) in row.into_iter().enumerate() {
                let name: String = head
                    .get(column)
                    .map(|spans| spans.iter().map(|span| span.content.as_ref()).collect())
                    .unwrap_or_default();
                let mut spans =
                    vec![Span::styled(format!("{name}: "), theme.style(TextStyle::Bold))];
                spans.extend(cell);
                lines.extend(wrap::wrap(&Line::from(spans), width, "  "));
            }
        }
        lines
    }
}

fn aligned(line: Line<'static>, width: usize, alignment: Option<Alignment>) -> Spans {
    let missing = width.saturating_sub(line.width());
    let left = match alignment {
        Some(Alignment::Right) => missing,
        Some(Alignment::Center) => missing / 2,
        _ => 0,
    };
    let blank = |count: usize| Span::raw(" ".repeat(count));
    let mut spans = vec![blank(left)];
    spans.extend(line.spans);
    spans.push(blank(missing - left));
    spans.retain(|span| !span.content.is_empty());
    spans
}
