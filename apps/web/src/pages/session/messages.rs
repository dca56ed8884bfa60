//! The messages of a session, a page at a time.

use crate::frame::{self, Link};
use crate::ledger::SessionRow;
use crate::pages::paged;
use crate::site::Site;
use crate::transcript::{CloseUp, HeadKind, MessageHead};
use everfold_kernel::phrase::{counted, size};
use maud::{Markup, html};
use serde::Deserialize;

const SHOWN: [(&str, &str); 6] = [
    ("", "everything"),
    ("said", "person and model"),
    ("calls", "calls and results"),
    ("failed", "what failed"),
    ("injected", "injected"),
    ("decided", "decisions and summaries"),
];

/// What is asked for.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Wanted {
    #[serde(default)]
    show: String,
    #[serde(default)]
    q: String,
    /// Around this time, in milliseconds since 1970.
    at: Option<i64>,
    page: Option<usize>,
}

pub(super) fn show(site: &Site, row: &SessionRow, own: &CloseUp, wanted: &Wanted) -> Markup {
    let sought = wanted.q.to_lowercase();
    let found: Vec<(usize, &MessageHead)> = own
        .heads
        .iter()
        .enumerate()
        .filter(|(_, head)| is_shown(head.kind, &wanted.show))
        .filter(|(_, head)| sought.is_empty() || head.line.to_lowercase().contains(&sought))
        .collect();
    let page = wanted.page.or_else(|| {
        let at = wanted.at?;
        let first = found.iter().position(|(_, head)| head.at.as_millisecond() >= at);
        Some(first.unwrap_or(found.len().saturating_sub(1)) / crate::pages::ROWS + 1)
    });
    let (rows, page, pages) = paged(&found, page);
    let address = format!("/sessions/{}", row.key);
    let link = Link::to(address.as_str()).with("show", &wanted.show).with("q", &wanted.q);
    html! {
        section id="messages" {
            h2 { "Messages" }
            form class="search" action={ (address) "#messages" } {
                label { span class="hidden" { "Words" }
                    input type="search" name="q" value=(wanted.q) placeholder="Search in the first lines";
                }
                (frame::field("show", "show", &wanted.show, &SHOWN))
                button { "Show" }
            }
            p class="quiet" { (counted(found.len() as u64, "message")) }
            ol class="messages" start=((page - 1) * crate::pages::ROWS + 1) {
                @for (number, head) in rows { (line(site, row, *number, head)) }
            }
            (frame::pager(&link, page, pages))
        }
    }
}

fn is_shown(kind: HeadKind, wanted: &str) -> bool {
    use HeadKind::{Call, Compaction, Decided, Failed, Injected, Model, Person, Result, Summary};
    match wanted {
        "said" => matches!(kind, Person | Model),
        "calls" => matches!(kind, Call | Result | Failed),
        "failed" => kind == Failed,
        "injected" => kind == Injected,
        "decided" => matches!(kind, Decided | Summary | Compaction),
        _ => true,
    }
}

fn line(site: &Site, row: &SessionRow, number: usize, head: &MessageHead) -> Markup {
    html! {
        li {
            (frame::badge(head.kind.as_str(), head.kind.as_str()))
            @if head.aside { (frame::badge("aside", "sub-agent")) }
            " " a href={ "/sessions/" (row.key) "/messages/" (number + 1) } {
                @if head.line.is_empty() { "(empty)" } @else { (head.line) }
            }
            " " span class="quiet" {
                (frame::moment(site, head.at))
                @if head.bytes > 0 { " · " (size(head.bytes as u64)) }
            }
        }
    }
}
