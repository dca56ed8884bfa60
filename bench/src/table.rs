//! Tables that read well in a terminal and are Markdown.

use std::fmt;
use std::time::Duration;

/// One benchmark's part of the page.
#[derive(Debug)]
pub(crate) struct Section {
    pub(crate) title: &'static str,
    /// The goal, in a sentence or two.
    pub(crate) goal: &'static str,
    pub(crate) table: Table,
    /// How they were taken, and what to know of them.
    pub(crate) notes: String,
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { title, goal, table, notes } = self;
        write!(f, "## {title}\n\nGoal: {goal}\n\n{table}\n{notes}\n")
    }
}

/// Rows under a header.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these columns.
    pub(crate) fn new(header: &[&str]) -> Self {
        Self { rows: vec![header.iter().map(|&cell| cell.to_owned()).collect()] }
    }

    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.into());
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, row) in self.rows.iter().enumerate() {
            for (column, cell) in row.iter().enumerate() {
                let width = self.width(column);
                if column == 0 {
                    write!(f, "| {cell:<width$} |")?;
                } else {
                    write!(f, " {cell:>width$} |")?;
                }
            }
            writeln!(f)?;
            if number == 0 {
                for column in 0..row.len() {
                    let dashes = "-".repeat(self.width(column));
                    let open = if column == 0 { "|" } else { "" };
                    let close = if column == 0 { "-" } else { ":" };
                    write!(f, "{open}-{dashes}{close}|")?;
                }
                writeln!(f)?;
            }
        }
        Ok(())
    }
}

/// Times of the same thing, taken many times.
#[derive(Debug, Default)]
pub(crate) struct Samples(Vec<Duration>);

impl Samples {
    pub(crate) fn add(&mut self, time: Duration) {
        self.0.push(time);
        self.0.sort_unstable();
    }

    pub(crate) fn best(&self) -> Duration {
        self.0.first().copied().unwrap_or_default()
    }

    /// The one in the middle.
    pub(crate) fn median(&self) -> Duration {
        self.0.get(self.0.len() / 2).copied().unwrap_or_default()
    }

    pub(crate) fn worst(&self) -> Duration {
        self.0.last().copied().unwrap_or_default()
    }
}

/// Milliseconds with two digits.
pub(crate) fn ms(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1_000.0)
}

pub(crate) fn us(time: Duration) -> String {
    format!("{:.0} µs", time.as_secs_f64() * 1_000_000.0)
}

/// Megabytes of 1,000,000 bytes, from kibibytes.
pub(crate) fn mb(kib: u64) -> String {
    let tenths = kib.saturating_mul(1_024) / 100_000;
    format!("{}.{} MB", tenths / 10, tenths % 10)
}

/// Whether a goal is met, in a word.
pub(crate) fn verdict(met: bool) -> String {
    if met { "yes" } else { "NO" }.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_markdown_and_lines_up() {
        let mut table = Table::new(&["a", "figure"]);
        table.row(["long name".into(), "1".into()]);
        assert_eq!(
            table.to_string(),
            "| a         | figure |\n|-----------|-------:|\n| long name |      1 |\n"
        );
    }

    #[test]
    fn megabytes_are_decimal() {
        assert_eq!(mb(40_000), "40.9 MB");
    }
}
