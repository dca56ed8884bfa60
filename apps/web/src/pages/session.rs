//! One session: the window over its requests by what filled it, the cache, what
//! it cost and why, and every message (W2).

mod figures;
mod messages;

use super::{book, session_row, sessions};
use crate::error::Error;
use crate::frame::{self, Tab};
use crate::ledger::SessionRow;
use crate::site::Site;
use crate::transcript::CloseUp;
use axum::extract::{Path, Query, State};
use everfold_foreign::Format;
use everfold_kernel::phrase::{counted, grouped};
use everfold_replay::scale::Column;
use everfold_replay::svg::{ColumnNote, draw_on_page};
use everfold_replay::{Before, Round};
use maud::{Markup, PreEscaped, html};
use std::sync::Arc;

pub(crate) use messages::Wanted;

pub(crate) async fn show(
    State(site): State<Arc<Site>>,
    Path(key): Path<String>,
    Query(wanted): Query<Wanted>,
) -> Result<Markup, Error> {
    site.blocking(move |site| {
        let book = match book(site, Tab::Sessions, "Session") {
            Ok(book) => book,
            Err(page) => return Ok(*page),
        };
        let row = &session_row(site, &book, &key)?;
        let own = site.transcripts.close_up(row)?;
        let body = html! {
            div data-live={ "/sessions/" (row.key) "/events?from=" (own.bytes) } {
                (facts(site, row, &own))
                (picture(row, &own))
                div id="why" { (figures::show(site, row, &own)) }
                (messages::show(site, row, &own, &wanted))
            }
        };
        Ok(frame::page(site, Tab::Sessions, sessions::title(row), &body))
    })
    .await
}

/// How much of what is shown is known, and how much follows from it (W3).
fn exactness(own: &CloseUp) -> Markup {
    let all = own.lane.rounds.len();
    let seen = format!(
        "{} of {} as Claude Code sent them.",
        grouped(own.observed as u64),
        counted(all as u64, "request")
    );
    let (kind, word, why) = match (own.about.format, own.is_reported) {
        (Some(Format::Everfold), _) => {
            ("good", "exact", "Our own log: the requests are known exactly as sent.")
        }
        _ if own.observed > 0 && own.observed == all => ("good", "exact", seen.as_str()),
        _ if own.observed > 0 => ("fair", "partly exact", seen.as_str()),
        (_, true) => (
            "fair",
            "reconstructed",
            "Sizes, cache and cost are as the provider reported them; what filled the window is \
             derived from the transcript.",
        ),
        (_, false) => (
            "none",
            "estimated",
            "The transcript does not say what requests used: sizes and cost are estimates.",
        ),
    };
    html! { p { (frame::badge(kind, word)) " " span class="quiet" { (why) } } }
}

fn facts(site: &Site, row: &SessionRow, own: &CloseUp) -> Markup {
    let totals = &own.lane.totals;
    let version = own.about.version.as_deref().unwrap_or_default();
    html! {
        (exactness(own))
        dl class="figures" {
            dt { "agent" } dd { (row.agent) " " (version)
                @if sessions::is_running(site, row) { " " (frame::badge("running", "running")) } }
            @if let Some(project) = &row.project { dt { "directory" } dd { (project) } }
            dt { "last request" } dd { (frame::moment(site, row.last())) }
            dt { "requests" } dd { (grouped(row.total.requests))
                @if own.agents > 0 { ", " (counted(own.agents as u64, "sub-agent")) " among them" } }
            dt { "cost" } dd { (sessions::price(row)) }
            dt { "cache hit rate" } dd { (frame::percent(row.cached())) }
            dt { "largest prompt" } dd { (grouped(row.largest)) " of " (grouped(own.lane.window)) " tokens" }
            dt { "compactions" } dd { (totals.compactions) }
            dt { "results cleared" } dd { (counted(totals.clearings, "time")) }
            dt { "id" } dd { code { (row.name) } }
        }
        @if own.about.tally.skips() > 0 {
            p class="warning" { (counted(own.about.tally.skips(), "part")) " of the transcript could not be read." }
        }
    }
}

fn picture(row: &SessionRow, own: &CloseUp) -> Markup {
    if own.lane.rounds.is_empty() {
        return frame::empty(
            "No requests yet.",
            &html! {
                "Once there are, the window is drawn here, request by request."
            },
        );
    }
    let note = |column: &Column| note(row, own, column);
    // Drawn by ourselves out of numbers; names in it are escaped there.
    let drawn = PreEscaped(draw_on_page(&own.lane, &note));
    html! {
        section {
            h2 { "The window, request by request" }
            a class="skip" href="#why" { "Skip the picture" }
            div class="wide" { (drawn) }
            p class="quiet" {
                "Hover over a request, or tab to it, for its figures. Click it, or press Enter, for details."
            }
        }
    }
}

fn note(row: &SessionRow, own: &CloseUp, column: &Column) -> ColumnNote {
    let first = column.rounds.start;
    let name = match column.rounds.len() {
        1 => format!("request {}", grouped(first as u64 + 1)),
        _ => format!(
            "requests {} to {}",
            grouped(first as u64 + 1),
            grouped(column.rounds.end as u64)
        ),
    };
    let mut lines = vec![
        format!("{name}: {} tokens", grouped(column.total())),
        format!(
            "{} read from the cache, {} written",
            grouped(column.read),
            grouped(column.written)
        ),
        frame::usd(column.usd),
    ];
    lines.extend(before(column.before).map(str::to_owned));
    // The one that the mark is about, where several stand together.
    let rounds = own.lane.rounds.get(column.rounds.clone()).unwrap_or_default();
    let marked = rounds.iter().position(|round| round.before == column.before).unwrap_or(0);
    let href = format!("/sessions/{}/requests/{}", row.key, first + marked + 1);
    ColumnNote { href, lines }
}

/// What happened before a request, in words.
pub(crate) fn before(before: Before) -> Option<&'static str> {
    Some(match before {
        Before::Nothing => return None,
        Before::Start => "the conversation began",
        Before::Compaction => "a summary replaced messages",
        Before::Clearing => "results were cleared",
        Before::Change => "model or thinking changed",
        Before::Rewind => "the person rewound the conversation",
        Before::Expiry => "the cache had expired",
        Before::Break => "the cache was lost for an unknown reason",
    })
}

/// The parts of a request, from the bottom of the picture to its top.
pub(crate) fn parts(round: &Round) -> [(&'static str, u64); 5] {
    let shares = &round.shares;
    [
        ("system prompt and tools", round.prelude.into()),
        ("injected", shares.injected.into()),
        ("results of tools", shares.results.into()),
        ("the model", shares.written.into()),
        ("the person", shares.said.into()),
    ]
}
