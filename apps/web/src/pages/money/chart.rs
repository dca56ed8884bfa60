//! Days as bars.

use crate::frame;
use jiff::ToSpan;
use jiff::civil::Date;
use maud::{Markup, PreEscaped, html};
use std::collections::BTreeMap;
use std::fmt::Write;

const WIDTH: f64 = 1_000.0;
const HEIGHT: f64 = 120.0;
/// Room for the figure of the dearest day.
const TOP: f64 = 18.0;
/// Room for the labels.
const FOOT: f64 = 18.0;
/// Days that are drawn, the newest.
const DAYS: usize = 120;

/// What each day cost, from the first that did to the last.
pub(crate) fn days(by: &BTreeMap<Date, f64>) -> Markup {
    let (Some((first, _)), Some((last, _))) = (by.first_key_value(), by.last_key_value()) else {
        return html! {};
    };
    let mut all: Vec<Date> = first.series(1.day()).take_while(|day| day <= last).collect();
    let all = all.split_off(all.len().saturating_sub(DAYS));
    let most = by.values().copied().fold(0.0, f64::max);
    if most <= 0.0 || all.len() < 2 {
        return html! {};
    }
    #[expect(clippy::cast_precision_loss, reason = "places on a page")]
    let step = (WIDTH / all.len() as f64).min(72.0);
    let mut out = String::new();
    let mut x = 0.0;
    for day in &all {
        let usd = by.get(day).copied().unwrap_or(0.0);
        let tall = usd / most * (HEIGHT - TOP);
        // Numbers and dates of ours; nothing to escape.
        let _ = write!(
            out,
            "<g><rect class=\"space\" x=\"{x:.1}\" y=\"0\" width=\"{step:.1}\" height=\"{HEIGHT}\"/>\
             <rect class=\"money\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{tall:.1}\"/>\
             <title>{day}: {}</title></g>",
            x + step * 0.1,
            HEIGHT - tall,
            step * 0.8,
            frame::usd(usd)
        );
        x += step;
    }
    let label =
        |day: Option<&Date>| day.map(|day| day.strftime("%-d %b").to_string()).unwrap_or_default();
    let (from, to) = (label(all.first()), label(all.last()));
    html! {
        figure class="chart" {
            svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT + FOOT) } role="img"
                aria-label={ "Cost by day, from " (from) " to " (to) ", at most " (frame::usd(most)) } {
                (PreEscaped(out))
                line class="grid" x1="0" x2=(WIDTH) y1=(HEIGHT) y2=(HEIGHT) {}
                text class="most" x=(WIDTH) y="11" text-anchor="end" { "at most " (frame::usd(most)) " a day" }
                text x="0" y=(HEIGHT + FOOT - 4.0) { (from) }
                text x=(x) y=(HEIGHT + FOOT - 4.0) text-anchor="end" { (to) }
            }
        }
    }
}
