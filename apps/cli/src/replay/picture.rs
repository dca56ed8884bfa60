//! A session on the terminal: how large its requests were and of what, what
//! happened, and what they cost.

use crate::presenter::{Presenter, TextStyle, grouped};
use everfold_replay::scale::{Column, PARTS, columns};
use everfold_replay::{Before, LaneReport};
use std::io;

/// Lines of the picture.
const HEIGHT: usize = 10;
/// Columns left of it.
const MARGIN: usize = 9;
/// How each part is drawn, in the order of the parts.
const LOOKS: [(char, TextStyle); PARTS.len()] = [
    ('s', TextStyle::Magenta),
    ('i', TextStyle::Cyan),
    ('r', TextStyle::Blue),
    ('m', TextStyle::Green),
    ('p', TextStyle::Yellow),
];
const BARS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

pub(super) fn draw(lane: &LaneReport, presenter: &Presenter) -> io::Result<()> {
    let width = presenter.width().saturating_sub(MARGIN + 1).clamp(20, 160);
    let columns = columns(&lane.rounds, width);
    let Some(top) = columns.iter().map(Column::total).max().filter(|top| *top > 0) else {
        return Ok(());
    };
    let name = format!("\n{}: tokens of each request, from the first to the last\n", lane.policy);
    presenter.styled(TextStyle::Bold, &name)?;
    for line in (0..HEIGHT).rev() {
        let at = top * (line as u64 + 1) / HEIGHT as u64;
        let label =
            if line + 1 == HEIGHT || line == HEIGHT / 2 { grouped(at) } else { String::new() };
        presenter.text(&format!("{label:>MARGIN$} "))?;
        draw_line(&columns, top, line, presenter)?;
    }
    let marks: String = columns.iter().map(|column| mark(column.before)).collect();
    if !marks.trim().is_empty() {
        presenter.line(&format!("{:>MARGIN$} {}", "", marks.trim_end()))?;
    }
    let most = columns.iter().map(|column| column.usd).fold(0.0, f64::max);
    let bars: String = columns.iter().map(|column| bar(column.usd, most)).collect();
    presenter.line(&format!("{:>MARGIN$} {}", "USD", bars.trim_end()))?;
    presenter.text(&format!("{:>MARGIN$} ", ""))?;
    for (name, (letter, look)) in PARTS.iter().zip(LOOKS) {
        presenter.styled(look, &format!("{letter} {name}  "))?;
    }
    presenter.styled(TextStyle::Dim, "| S summary  c clearing  x expired  ~ changed  < went back\n")
}

/// One line: neighbours of the same part are written together.
fn draw_line(columns: &[Column], top: u64, line: usize, presenter: &Presenter) -> io::Result<()> {
    let cells: Vec<Option<usize>> =
        columns.iter().map(|column| part_at(column, top, line)).collect();
    for run in cells.chunk_by(|one, other| one == other) {
        match run.first().copied().flatten().and_then(|part| LOOKS.get(part)) {
            Some((letter, look)) => {
                presenter.styled(*look, &letter.to_string().repeat(run.len()))?;
            }
            None => presenter.text(&" ".repeat(run.len()))?,
        }
    }
    presenter.line("")
}

/// The part that a cell shows: the one at its middle.
fn part_at(column: &Column, top: u64, line: usize) -> Option<usize> {
    let middle = top * (2 * line as u64 + 1) / (2 * HEIGHT as u64);
    let mut end = 0;
    column.parts.iter().position(|part| {
        end += part;
        end > middle
    })
}

fn mark(before: Before) -> char {
    match before {
        Before::Nothing | Before::Start => ' ',
        Before::Compaction => 'S',
        Before::Clearing => 'c',
        Before::Expiry => 'x',
        Before::Change => '~',
        Before::Rewind => '<',
        Before::Break => '!',
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of eight, which is between 0 and 8"
)]
fn bar(usd: f64, most: f64) -> char {
    let share = if most > 0.0 { (usd / most * 8.0).ceil() } else { 0.0 };
    BARS.get(share as usize).copied().unwrap_or(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pc7_a_cell_shows_what_is_at_its_middle() {
        let column = Column { parts: [10, 0, 50, 40, 0], ..Column::default() };
        let cells: Vec<Option<usize>> =
            (0..HEIGHT).map(|line| part_at(&column, 200, line)).collect();
        let expected = [Some(2), Some(2), Some(2), Some(3), Some(3), None, None, None, None, None];
        assert_eq!(cells, expected);
        assert_eq!((bar(0.0, 1.0), bar(0.01, 1.0), bar(1.0, 1.0)), (' ', '▁', '█'));
    }
}
