//! Sessions as a drawing: one panel for each policy, the tokens of its
//! requests by what they are, what happened, and money below.

use super::scale::{Column, PARTS, columns};
use super::{Session, title};
use crate::presenter::grouped;
use everfold_replay::{Before, LaneReport};
use std::fmt::Write;

const WIDTH: usize = 1_100;
const LEFT: usize = 90;
const RIGHT: usize = 20;
const PLOT: usize = WIDTH - LEFT - RIGHT;
const TOP: usize = 34;
const HEIGHT: usize = 130;
const MONEY: usize = 36;
const GAP: usize = 26;
/// Columns of a panel.
const COLUMNS: usize = 495;
const COLOURS: [&str; PARTS.len()] = ["#7a6f9b", "#4aa3a2", "#3f78b5", "#5d9c59", "#d9a441"];
const INK: &str = "#333333";

/// The drawing of all sessions and policies.
pub(super) fn draw(sessions: &[Session]) -> String {
    let panel = HEIGHT + MONEY + GAP;
    let panels: usize =
        sessions.iter().map(|own| own.found.outcome.lanes.len() * panel + TOP).sum();
    let height = panels + TOP + GAP;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" font-size=\"11\" fill=\"{INK}\">\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
    );
    legend(&mut out);
    let mut y = TOP;
    for session in sessions {
        let name = escaped(&title(&session.file));
        let _ = writeln!(
            out,
            "<text x=\"{LEFT}\" y=\"{}\" font-size=\"14\" font-weight=\"bold\">{name}</text>",
            y + 18
        );
        y += TOP;
        let lanes = &session.found.outcome.lanes;
        let gathered: Vec<Vec<Column>> =
            lanes.iter().map(|lane| columns(&lane.rounds, COLUMNS)).collect();
        // One scale for all policies of a session, so that they can be compared.
        let all = || gathered.iter().flatten();
        let tokens = all().map(Column::total).max().unwrap_or(0).max(1);
        let usd = all().map(|column| column.usd).fold(0.0, f64::max);
        for (lane, columns) in lanes.iter().zip(&gathered) {
            draw_panel(&mut out, lane, columns, (y, tokens, usd));
            y += panel;
        }
    }
    out.push_str("</svg>\n");
    out
}

fn legend(out: &mut String) {
    let mut x = LEFT;
    for (name, colour) in PARTS.iter().zip(COLOURS) {
        let _ = writeln!(
            out,
            "<rect x=\"{x}\" y=\"10\" width=\"11\" height=\"11\" fill=\"{colour}\"/>\
             <text x=\"{}\" y=\"20\">{name}</text>",
            x + 15
        );
        x += 90;
    }
    for (mark, name) in [
        (Before::Compaction, "summary"),
        (Before::Clearing, "clearing"),
        (Before::Expiry, "cache expired"),
        (Before::Change, "model or thinking changed"),
        (Before::Break, "cache lost"),
    ] {
        let _ = writeln!(
            out,
            "<line x1=\"{x}\" x2=\"{x}\" y1=\"9\" y2=\"22\" stroke=\"{}\" stroke-width=\"2\"/>\
             <text x=\"{}\" y=\"20\">{name}</text>",
            colour(mark),
            x + 6
        );
        x += 30 + name.len() * 7;
    }
}

fn colour(before: Before) -> &'static str {
    match before {
        Before::Nothing | Before::Start => "none",
        Before::Compaction => "#c0392b",
        Before::Clearing => "#8e44ad",
        Before::Expiry => "#7f8c8d",
        Before::Change => "#e67e22",
        Before::Rewind => "#16a085",
        Before::Break => "#000000",
    }
}

fn draw_panel(
    out: &mut String,
    lane: &LaneReport,
    columns: &[Column],
    (y, tokens, usd): (usize, u64, f64),
) {
    let totals = &lane.totals;
    let name = format!(
        "{}: {:.4} USD, {:.1}% from the cache, {} summaries, {} clearings, regret {}",
        lane.policy,
        totals.usd,
        totals.usage.hit_rate() * 100.0,
        totals.compactions,
        totals.clearings,
        totals.regrets
    );
    let _ = writeln!(
        out,
        "<text x=\"{LEFT}\" y=\"{}\" font-weight=\"bold\">{}</text>",
        y + 10,
        escaped(&name)
    );
    let (top, bottom) = (y + 16, y + HEIGHT);
    for (share, label) in [(0, String::new()), (1, grouped(tokens / 2)), (2, grouped(tokens))] {
        let at = bottom - (bottom - top) * share / 2;
        let _ = writeln!(
            out,
            "<line x1=\"{LEFT}\" x2=\"{}\" y1=\"{at}\" y2=\"{at}\" stroke=\"#dddddd\"/>\
             <text x=\"{}\" y=\"{}\" text-anchor=\"end\">{label}</text>",
            WIDTH - RIGHT,
            LEFT - 6,
            at + 4
        );
    }
    draw_areas(out, columns, (top, bottom, tokens));
    draw_window(out, lane.window, (top, bottom, tokens));
    let money = bottom + MONEY - 4;
    let _ = writeln!(out, "<text x=\"{}\" y=\"{money}\" text-anchor=\"end\">USD</text>", LEFT - 6);
    let step = step(columns);
    for (index, column) in columns.iter().enumerate() {
        let x = place(index, step);
        let height = if usd > 0.0 { column.usd / usd * as_number(MONEY - 8) } else { 0.0 };
        if height >= 0.05 {
            let from = as_number(money) - height;
            let _ = writeln!(
                out,
                "<rect x=\"{x:.1}\" y=\"{from:.1}\" width=\"{step:.2}\" height=\"{height:.1}\" fill=\"#b5651d\"/>"
            );
        }
        let stroke = colour(column.before);
        if stroke != "none" {
            let x = x + step / 2.0;
            let from = if column.before == Before::Clearing { bottom - 12 } else { top };
            let _ = writeln!(
                out,
                "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{from}\" y2=\"{}\" stroke=\"{stroke}\" stroke-width=\"1.2\"/>",
                bottom + 4
            );
        }
    }
}

/// The window, where requests came near it.
fn draw_window(out: &mut String, window: u64, (top, bottom, tokens): (usize, usize, u64)) {
    if (1..tokens).contains(&window) {
        let at = as_number(bottom) - as_number(bottom - top) * share(window, tokens);
        let _ = writeln!(
            out,
            "<line x1=\"{LEFT}\" x2=\"{}\" y1=\"{at:.0}\" y2=\"{at:.0}\" stroke=\"#c0392b\" stroke-dasharray=\"4 3\"/>\
             <text x=\"{}\" y=\"{:.0}\" text-anchor=\"end\" fill=\"#c0392b\">window</text>",
            WIDTH - RIGHT,
            WIDTH - RIGHT,
            at - 3.0
        );
    }
}

/// The parts on top of one another, each one path of steps.
fn draw_areas(out: &mut String, columns: &[Column], (top, bottom, tokens): (usize, usize, u64)) {
    let step = step(columns);
    let y = |sum: u64| as_number(bottom) - as_number(bottom - top) * share(sum, tokens);
    for (part, colour) in COLOURS.iter().enumerate() {
        let upto = |column: &Column, end: usize| column.parts.iter().take(end).sum::<u64>();
        let mut path = format!("M{LEFT} {bottom}");
        for (index, column) in columns.iter().enumerate() {
            let (to, right) = (y(upto(column, part + 1)), place(index + 1, step));
            let _ = write!(path, "V{to:.0}H{right:.0}");
        }
        for (index, column) in columns.iter().enumerate().rev() {
            let (from, left) = (y(upto(column, part)), place(index, step));
            let _ = write!(path, "V{from:.0}H{left:.0}");
        }
        let _ = writeln!(out, "<path d=\"{path}Z\" fill=\"{colour}\"/>");
    }
}

fn step(columns: &[Column]) -> f64 {
    as_number(PLOT) / as_number(columns.len().max(1))
}

fn place(index: usize, step: f64) -> f64 {
    as_number(LEFT) + as_number(index) * step
}

#[expect(clippy::cast_precision_loss, reason = "places on a page")]
fn as_number(place: usize) -> f64 {
    place as f64
}

#[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
