//! Sessions as a drawing: one panel for each policy, the tokens of its
//! requests by what they are, what happened; what the cache had of them, and
//! money below.
//!
//! Colours are attributes, and everything that has one has a class too, so that
//! a page can give it others (and a dark ground) in its style sheet.

use crate::report::{Before, LaneReport};
use crate::scale::{Column, PARTS, columns};
use everfold_kernel::phrase::grouped;
use std::fmt::Write;

const WIDTH: usize = 1_100;
const LEFT: usize = 90;
const RIGHT: usize = 20;
const PLOT: usize = WIDTH - LEFT - RIGHT;
const TOP: usize = 34;
const HEIGHT: usize = 130;
/// The cache and, below it, money.
const CACHE: usize = 40;
const MONEY: usize = 36;
const GAP: usize = 26;
/// Columns of a panel.
const COLUMNS: usize = 495;
const COLOURS: [&str; PARTS.len()] = ["#7a6f9b", "#4aa3a2", "#3f78b5", "#5d9c59", "#d9a441"];
const INK: &str = "#333333";

/// One policy, from its name to the gap below it.
const PANEL: usize = HEIGHT + CACHE + MONEY + GAP;

/// A session, ready to be drawn.
#[derive(Clone, Copy, Debug)]
pub struct DrawnSession<'a> {
    /// What it is called.
    pub name: &'a str,
    /// What it came to, under each policy.
    pub lanes: &'a [LaneReport],
}

/// What a page says of a column, and where it leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnNote {
    pub href: String,
    /// What is told of it, in lines.
    pub lines: Vec<String>,
}

/// The drawing of all sessions and policies, as a file.
#[must_use]
pub fn draw(sessions: &[DrawnSession<'_>]) -> String {
    let panels: usize = sessions.iter().map(|own| own.lanes.len() * PANEL + TOP).sum();
    let height = panels + TOP + GAP;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" font-size=\"11\" fill=\"{INK}\">\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
    );
    legend(&mut out);
    let mut y = TOP;
    for session in sessions {
        let name = escaped(session.name);
        let _ = writeln!(
            out,
            "<text x=\"{LEFT}\" y=\"{}\" font-size=\"14\" font-weight=\"bold\">{name}</text>",
            y + 18
        );
        y += TOP;
        let gathered: Vec<Vec<Column>> =
            session.lanes.iter().map(|lane| columns(&lane.rounds, COLUMNS)).collect();
        // One scale for all policies of a session, so that they can be compared.
        let all = || gathered.iter().flatten();
        let tokens = all().map(Column::total).max().unwrap_or(0).max(1);
        let usd = all().map(|column| column.usd).fold(0.0, f64::max);
        for (lane, columns) in session.lanes.iter().zip(&gathered) {
            title(&mut out, lane, y);
            panel(&mut out, lane, columns, (y, tokens, usd));
            y += PANEL;
        }
    }
    out.push_str("</svg>\n");
    out
}

/// One policy as a part of a page. Every column is a link that can be reached
/// by the keyboard, and says what it is while it is looked at.
#[must_use]
pub fn draw_on_page(lane: &LaneReport, note: &dyn Fn(&Column) -> ColumnNote) -> String {
    let height = TOP + PANEL;
    let mut out = format!(
        "<svg class=\"window\" role=\"group\" aria-label=\"The window, request by request\" \
         viewBox=\"0 0 {WIDTH} {height}\" font-size=\"11\" fill=\"{INK}\">\n"
    );
    legend(&mut out);
    let columns = columns(&lane.rounds, COLUMNS);
    let tokens = columns.iter().map(Column::total).max().unwrap_or(0).max(1);
    let usd = columns.iter().map(|column| column.usd).fold(0.0, f64::max);
    panel(&mut out, lane, &columns, (TOP, tokens, usd));
    let step = step(&columns);
    for (index, column) in columns.iter().enumerate() {
        let ColumnNote { href, lines } = note(column);
        let (x, href) = (place(index, step), escaped(&href));
        let label = escaped(&lines.join(", "));
        let _ = write!(
            out,
            "<a class=\"hit\" href=\"{href}\" aria-label=\"{label}\"><rect x=\"{x:.1}\" y=\"{TOP}\" \
             width=\"{step:.2}\" height=\"{}\"/></a><g class=\"tip\">",
            PANEL - GAP
        );
        tip(&mut out, &lines, x);
        out.push_str("</g>\n");
    }
    out.push_str("</svg>\n");
    out
}

/// What is told of a column, on the side where there is room for it.
fn tip(out: &mut String, lines: &[String], x: f64) {
    let wide = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0) * 6 + 16;
    let right = x + 12.0 + as_number(wide) < as_number(WIDTH);
    let left = if right { x + 8.0 } else { (x - 8.0 - as_number(wide)).max(0.0) };
    let top = TOP + 18;
    let _ = write!(
        out,
        "<rect class=\"note\" x=\"{left:.0}\" y=\"{top}\" width=\"{wide}\" height=\"{}\" rx=\"4\"/>",
        lines.len() * 15 + 10
    );
    for (at, line) in lines.iter().enumerate() {
        let y = top + 17 + at * 15;
        let _ = write!(out, "<text x=\"{:.0}\" y=\"{y}\">{}</text>", left + 8.0, escaped(line));
    }
}

fn legend(out: &mut String) {
    let mut x = LEFT;
    for (part, (name, colour)) in PARTS.iter().zip(COLOURS).enumerate() {
        let _ = writeln!(
            out,
            "<rect class=\"part{part}\" x=\"{x}\" y=\"10\" width=\"11\" height=\"11\" fill=\"{colour}\"/>\
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
            "<line class=\"{}\" x1=\"{x}\" x2=\"{x}\" y1=\"9\" y2=\"22\" stroke=\"{}\" stroke-width=\"2\"/>\
             <text x=\"{}\" y=\"20\">{name}</text>",
            class(mark),
            colour(mark),
            x + 6
        );
        x += 30 + name.len() * 7;
    }
}

fn class(before: Before) -> &'static str {
    match before {
        Before::Nothing | Before::Start => "nothing",
        Before::Compaction => "compaction",
        Before::Clearing => "clearing",
        Before::Expiry => "expiry",
        Before::Change => "change",
        Before::Rewind => "rewind",
        Before::Break => "break",
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

fn title(out: &mut String, lane: &LaneReport, y: usize) {
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
}

fn panel(
    out: &mut String,
    lane: &LaneReport,
    columns: &[Column],
    (y, tokens, usd): (usize, u64, f64),
) {
    let (top, bottom) = (y + 16, y + HEIGHT);
    let half = grouped(tokens / 2);
    for (share, label) in [(0, "tokens".to_owned()), (1, half), (2, grouped(tokens))] {
        let at = bottom - (bottom - top) * share / 2;
        let _ = writeln!(
            out,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{}\" y1=\"{at}\" y2=\"{at}\" stroke=\"#dddddd\"/>\
             <text x=\"{}\" y=\"{}\" text-anchor=\"end\">{label}</text>",
            WIDTH - RIGHT,
            LEFT - 6,
            at + 4
        );
    }
    areas(out, columns, (top, bottom, tokens));
    window(out, lane.window, (top, bottom, tokens));
    let marks = (top, bottom);
    let cache = bottom + CACHE - 4;
    let money = bottom + CACHE + MONEY - 4;
    let most = format!("{usd:.4}");
    let labels = [("cache", cache), (most.as_str(), money - MONEY + 18), ("USD", money)];
    for (name, at) in labels {
        let _ =
            writeln!(out, "<text x=\"{}\" y=\"{at}\" text-anchor=\"end\">{name}</text>", LEFT - 6);
    }
    let step = step(columns);
    requests(out, columns, (step, money));
    for (index, column) in columns.iter().enumerate() {
        let x = place(index, step);
        let tall = |part: u64| share(part, tokens) * as_number(CACHE - 10);
        let (read, written) = (tall(column.read), tall(column.written));
        bar(out, ("read", "#5d9c59"), (x, as_number(cache), step), read);
        bar(out, ("written", "#e67e22"), (x, as_number(cache) - read, step), written);
        let height = if usd > 0.0 { column.usd / usd * as_number(MONEY - 8) } else { 0.0 };
        bar(out, ("money", "#b5651d"), (x, as_number(money), step), height);
        mark(out, column.before, x + step / 2.0, marks);
    }
}

/// The axis of requests: the first, the last, and the quarters between them.
fn requests(out: &mut String, columns: &[Column], (step, foot): (f64, usize)) {
    let last = columns.len().saturating_sub(1);
    let mut ticks: Vec<usize> = (0..=4).map(|quarter| last * quarter / 4).collect();
    ticks.dedup();
    let _ = writeln!(
        out,
        "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{}\" y1=\"{foot}\" y2=\"{foot}\" stroke=\"#999999\"/>\
         <text x=\"{}\" y=\"{}\" text-anchor=\"end\">request</text>",
        WIDTH - RIGHT,
        LEFT - 6,
        foot + 14
    );
    for index in ticks {
        let Some(column) = columns.get(index) else { continue };
        let number = if index == last { column.rounds.end } else { column.rounds.start + 1 };
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            place(index, step) + step / 2.0,
            foot + 14,
            grouped(number as u64)
        );
    }
}

/// A bar that stands on a line.
fn bar(
    out: &mut String,
    (class, fill): (&str, &str),
    (x, foot, step): (f64, f64, f64),
    height: f64,
) {
    if height >= 0.05 {
        let from = foot - height;
        let _ = writeln!(
            out,
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{from:.1}\" width=\"{step:.2}\" height=\"{height:.1}\" fill=\"{fill}\"/>"
        );
    }
}

/// What happened before a request.
fn mark(out: &mut String, before: Before, x: f64, (top, bottom): (usize, usize)) {
    let stroke = colour(before);
    if stroke != "none" {
        let from = if before == Before::Clearing { bottom - 12 } else { top };
        let class = class(before);
        let _ = writeln!(
            out,
            "<line class=\"{class}\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{from}\" y2=\"{}\" stroke=\"{stroke}\" stroke-width=\"1.2\"/>",
            bottom + 4
        );
    }
}

/// The window, where requests came near it.
fn window(out: &mut String, window: u64, (top, bottom, tokens): (usize, usize, u64)) {
    if (1..tokens).contains(&window) {
        let at = as_number(bottom) - as_number(bottom - top) * share(window, tokens);
        let _ = writeln!(
            out,
            "<line class=\"limit\" x1=\"{LEFT}\" x2=\"{}\" y1=\"{at:.0}\" y2=\"{at:.0}\" stroke=\"#c0392b\" stroke-dasharray=\"4 3\"/>\
             <text x=\"{}\" y=\"{:.0}\" class=\"limit\" text-anchor=\"end\" fill=\"#c0392b\">window</text>",
            WIDTH - RIGHT,
            WIDTH - RIGHT,
            at - 3.0
        );
    }
}

/// The parts on top of one another, each one path of steps.
fn areas(out: &mut String, columns: &[Column], (top, bottom, tokens): (usize, usize, u64)) {
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
        let _ = writeln!(out, "<path class=\"part{part}\" d=\"{path}Z\" fill=\"{colour}\"/>");
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
