//! The small parts of pages.

use super::Link;
use crate::guard::FORM_KEY;
use crate::site::Site;
use everfold_kernel::phrase::{age, grouped};
use everfold_memory_judge::secrets;
use everfold_memory_store::store::FileDiff;
use jiff::Timestamp;
use maud::{Markup, html};

/// Lines of a difference that are shown.
const DIFF_LINES: usize = 2_000;

/// Dollars as people read them: small sums need more digits.
pub(crate) fn usd(sum: f64) -> String {
    match sum {
        0.0 => "$0".to_owned(),
        sum if sum.abs() < 0.1 => format!("${sum:.4}"),
        sum if sum.abs() < 1_000.0 => format!("${sum:.2}"),
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "whole dollars"
        )]
        sum => format!("${}", grouped(sum.abs().round() as u64)),
    }
}

pub(crate) fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// Tokens in a few letters.
#[expect(clippy::cast_precision_loss, reason = "one digit after the point is shown")]
pub(crate) fn tokens(count: u64) -> String {
    match count {
        0..10_000 => grouped(count),
        10_000..1_000_000 => format!("{}k", count / 1_000),
        _ => format!("{:.1}M", count as f64 / 1e6),
    }
}

/// A time: how long ago, and exactly for who asks.
pub(crate) fn moment(site: &Site, at: Timestamp) -> Markup {
    let zoned = at.to_zoned(site.zone());
    let exact = zoned.strftime("%Y-%m-%d %H:%M").to_string();
    let ago = match age(at, site.at()) {
        now if now == "now" => "just now".to_owned(),
        ago => format!("{ago} ago"),
    };
    html! { time datetime=(at.to_string()) title=(exact) { (ago) } }
}

/// A word in a frame.
pub(crate) fn badge(kind: &str, text: &str) -> Markup {
    html! { span class={ "badge " (kind) } { (text) } }
}

/// A share as a bar. Drawn, since styles in a page are not taken.
pub(crate) fn bar(share: f64) -> Markup {
    let wide = format!("{:.1}", (share.clamp(0.0, 1.0)) * 100.0);
    html! {
        svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true" {
            rect class="ground" width="100" height="8" {}
            rect class="part" width=(wide) height="8" {}
        }
    }
}

/// Nothing is here yet, and what to do about it.
pub(crate) fn empty(what: &str, hint: &Markup) -> Markup {
    html! { div class="empty" { p class="lead" { (what) } p { (hint) } } }
}

/// The way to the pages before and after.
pub(crate) fn pager(link: &Link, page: usize, pages: usize) -> Markup {
    html! {
        @if pages > 1 {
            nav class="pager" aria-label="Result pages" {
                @if page > 1 {
                    a rel="prev" href=(link.with("page", page - 1).href()) { "← Previous" }
                }
                span { "page " (grouped(page as u64)) " of " (grouped(pages as u64)) }
                @if page < pages {
                    a rel="next" href=(link.with("page", page + 1).href()) { "Next →" }
                }
            }
        }
    }
}

/// A field that a form hands on.
pub(crate) fn hidden(name: &str, value: &str) -> Markup {
    html! { input type="hidden" name=(name) value=(value); }
}

/// A choice of a form.
pub(crate) fn field(label: &str, name: &str, now: &str, choices: &[(&str, &str)]) -> Markup {
    html! {
        label {
            (label) " "
            select name=(name) {
                @for (value, text) in choices {
                    option value=(value) selected[*value == now] { (text) }
                }
            }
        }
    }
}

/// A form that changes something; nothing where the page is only for looking.
pub(crate) fn actions(site: &Site, address: &str, body: &Markup) -> Markup {
    html! {
        @if site.can_change() {
            form class="actions" method="post" action=(address) {
                (hidden(FORM_KEY, site.gate.form.as_str()))
                (body)
            }
        }
    }
}

/// What was just done, with the way back.
pub(crate) fn told_done(site: &Site, done: &super::super::pages::Done) -> Markup {
    html! {
        @if let Some(text) = done.text() {
            div class="notice" role="status" {
                p { (text) }
                @if let Some(address) = done.undo_address() {
                    (actions(site, &address, &html! { button { "Undo" } }))
                }
            }
        }
    }
}

/// A difference, line by line. Secrets are masked.
pub(crate) fn diff(own: &FileDiff) -> Markup {
    let masked = secrets::mask(&own.unified());
    let lines: Vec<&str> = masked.lines().collect();
    let class = |line: &str| match line.chars().next() {
        _ if line.starts_with("+++") || line.starts_with("---") => "file",
        Some('+') => "plus",
        Some('-') => "minus",
        Some('@') => "place",
        _ => "same",
    };
    html! {
        pre class="diff" {
            @for line in lines.iter().take(DIFF_LINES) {
                span class=(class(line)) { (line) "\n" }
            }
            @if lines.len() > DIFF_LINES {
                span class="place" { "… " (grouped((lines.len() - DIFF_LINES) as u64)) " more lines\n" }
            }
        }
    }
}
