//! A screen as a picture: letters of one width on a dark ground.

use super::rows;
use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier, Style};
use std::fmt::Write as _;
use unicode_width::UnicodeWidthStr;

/// Tenths of a pixel, so that the text is the same everywhere.
const CELL: (usize, usize) = (84, 190);
const EDGE: usize = 120;
const GROUND: &str = "#16181d";
const INK: &str = "#d5d8de";

/// The picture of a screen.
pub(super) fn picture(buf: &Buffer) -> String {
    let (width, height) = (usize::from(buf.area.width), usize::from(buf.area.height));
    let (w, h) = (px(width * CELL.0 + 2 * EDGE), px(height * CELL.1 + 2 * EDGE));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" \
         viewBox=\"0 0 {w} {h}\" font-family=\"ui-monospace, Menlo, Consolas, monospace\" \
         font-size=\"14\">\n<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{GROUND}\"/>\n"
    );
    for (y, row) in rows(buf).iter().enumerate() {
        let mut x = 0;
        for (text, style) in row {
            let cells = text.width();
            run(&mut out, (x, y), cells, text, *style);
            x += cells;
        }
    }
    out.push_str("</svg>\n");
    out
}

fn run(out: &mut String, (x, y): (usize, usize), cells: usize, text: &str, style: Style) {
    let reversed = style.add_modifier.contains(Modifier::REVERSED);
    let (left, top) = (EDGE + x * CELL.0, EDGE + y * CELL.1);
    let mut ink = style.fg.and_then(hex).unwrap_or(INK);
    if reversed {
        let (x, y, w, h) = (px(left), px(top), px(cells * CELL.0), px(CELL.1));
        let _ = writeln!(
            out,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" fill=\"{ink}\"/>"
        );
        ink = GROUND;
    }
    let start = text.len() - text.trim_start().len();
    let shown = text.trim();
    if shown.is_empty() {
        return;
    }
    let left = left + start * CELL.0;
    let mut more = String::new();
    for (modifier, attribute) in [
        (Modifier::BOLD, " font-weight=\"bold\""),
        (Modifier::ITALIC, " font-style=\"italic\""),
        (Modifier::UNDERLINED, " text-decoration=\"underline\""),
        (Modifier::CROSSED_OUT, " text-decoration=\"line-through\""),
        (Modifier::DIM, " opacity=\"0.6\""),
    ] {
        if style.add_modifier.contains(modifier) {
            more.push_str(attribute);
        }
    }
    let (x, y, length) = (px(left), px(top + 140), px(shown.width() * CELL.0));
    let words = shown.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let _ = writeln!(
        out,
        "<text x=\"{x}\" y=\"{y}\" textLength=\"{length}\" fill=\"{ink}\"{more} \
         xml:space=\"preserve\">{words}</text>"
    );
}

fn px(tenths: usize) -> String {
    format!("{}.{}", tenths / 10, tenths % 10)
}

fn hex(colour: Color) -> Option<&'static str> {
    Some(match colour {
        Color::Black | Color::DarkGray => "#5c6370",
        Color::Red | Color::LightRed => "#e06c75",
        Color::Green | Color::LightGreen => "#98c379",
        Color::Yellow | Color::LightYellow => "#e5c07b",
        Color::Blue | Color::LightBlue => "#61afef",
        Color::Magenta | Color::LightMagenta => "#c678dd",
        Color::Cyan | Color::LightCyan => "#56b6c2",
        _ => return None,
    })
}
