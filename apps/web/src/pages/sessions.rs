//! The sessions of every agent on this machine: searched, sorted, a page at a
//! time (W2).

use super::{book, paged};
use crate::error::Error;
use crate::frame::{self, Link, Tab};
use crate::ledger::{Book, SessionRow};
use crate::site::Site;
use axum::extract::{Query, State};
use everfold_kernel::phrase::{counted, grouped};
use maud::{Markup, html};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::sync::Arc;

const SORTS: [(&str, &str); 5] = [
    ("", "newest first"),
    ("cost", "most expensive first"),
    ("requests", "most requests"),
    ("window", "largest window"),
    ("breaks", "most expensive cache breaks"),
];

/// A session goes on whose file was written in the last two minutes, and whose
/// last request was in the last half hour: a copied file is new, and says nothing.
const WRITTEN_MS: i64 = 120_000;
const ASKED_S: i64 = 1_800;

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Wanted {
    #[serde(default)]
    q: String,
    #[serde(default)]
    sort: String,
    #[serde(default)]
    agent: String,
    page: Option<usize>,
}

pub(crate) async fn list(
    State(site): State<Arc<Site>>,
    Query(wanted): Query<Wanted>,
) -> Result<Markup, Error> {
    site.blocking(move |site| {
        let book = match book(site, Tab::Sessions, "Sessions") {
            Ok(book) => book,
            Err(page) => return Ok(*page),
        };
        let found = found(&book, &wanted);
        let link = Link::to("/sessions")
            .with("q", &wanted.q)
            .with("sort", &wanted.sort)
            .with("agent", &wanted.agent);
        let (rows, page, pages) = paged(&found, wanted.page);
        let body = html! {
            @if book.rows.is_empty() {
                (frame::empty("No sessions on this machine yet.", &html! {
                    "Sessions of Everfold, Claude Code, Codex, Gemini CLI, opencode and pi are found where these \
                     programs keep them. Start one with " code { "everfold" } "."
                }))
            } @else {
                (search(&book, &wanted))
                p class="quiet" { (counted(found.len() as u64, "session")) }
                @if found.is_empty() {
                    (frame::empty("No matching sessions.", &html! {
                        "Titles, projects, ids and models are searched; "
                        code { "everfold search" } " searches the messages. "
                        a href="/sessions" { "Show all" }
                    }))
                }
                (table(site, rows))
                (frame::pager(&link, page, pages))
            }
        };
        Ok(frame::page(site, Tab::Sessions, "Sessions", &body))
    })
    .await
}

fn search(book: &Book, wanted: &Wanted) -> Markup {
    let agents: BTreeSet<&str> = book.rows.iter().map(|row| row.agent.as_str()).collect();
    let mut choices = vec![("", "every agent")];
    choices.extend(agents.into_iter().map(|agent| (agent, agent)));
    html! {
        form class="search" action="/sessions" role="search" {
            label { span class="hidden" { "Words" }
                input type="search" name="q" value=(wanted.q) placeholder="Search sessions";
            }
            (frame::field("of", "agent", &wanted.agent, &choices))
            (frame::field("sorted", "sort", &wanted.sort, &SORTS))
            button { "Search" }
        }
    }
}

fn found(book: &Book, wanted: &Wanted) -> Vec<Arc<SessionRow>> {
    let words: Vec<String> = wanted.q.split_whitespace().map(str::to_lowercase).collect();
    let has = |row: &&Arc<SessionRow>| {
        let agent = wanted.agent.is_empty() || row.agent == wanted.agent;
        agent && (words.is_empty() || has_words(row, &words))
    };
    let mut found: Vec<Arc<SessionRow>> = book.rows.iter().filter(has).cloned().collect();
    match wanted.sort.as_str() {
        "cost" => found.sort_by(|a, b| b.total.usd.total_cmp(&a.total.usd)),
        "requests" => found.sort_by_key(|row| std::cmp::Reverse(row.total.requests)),
        "window" => found.sort_by_key(|row| std::cmp::Reverse(row.largest)),
        "breaks" => found.sort_by(|a, b| b.breaks.1.total_cmp(&a.breaks.1)),
        _ => {}
    }
    found
}

fn has_words(row: &SessionRow, words: &[String]) -> bool {
    let texts = [row.title.as_deref(), row.project.as_deref(), Some(&row.name)];
    let models = row.days.iter().map(|cell| &*cell.model);
    let all: Vec<String> =
        texts.into_iter().flatten().chain(models).map(str::to_lowercase).collect();
    words.iter().all(|word| all.iter().any(|text| text.contains(word)))
}

/// Whether it goes on.
pub(crate) fn is_running(site: &Site, row: &SessionRow) -> bool {
    let now = site.at();
    let asked = row.span.is_none_or(|(_, last)| now.as_second() - last.as_second() < ASKED_S);
    asked && now.as_millisecond().saturating_sub(row.modified) < WRITTEN_MS
}

/// What a session is called.
pub(crate) fn title(row: &SessionRow) -> &str {
    row.title.as_deref().unwrap_or("(without a prompt)")
}

/// Sessions as a table.
pub(crate) fn table(site: &Site, rows: &[Arc<SessionRow>]) -> Markup {
    html! {
        @if !rows.is_empty() {
            div class="wide" {
                table class="sessions" {
                    thead { tr {
                        th { "Session" } th { "Agent" } th { "When" } th class="number" { "Requests" }
                        th class="number" { "Largest" } th class="number" { "Cached" } th class="number" { "Cost" }
                    } }
                    tbody { @for row in rows { (line(site, row)) } }
                }
            }
        }
    }
}

fn line(site: &Site, row: &SessionRow) -> Markup {
    html! {
        tr {
            td {
                a class="name" href={ "/sessions/" (row.key) } { (title(row)) }
                @if is_running(site, row) { " " (frame::badge("running", "running")) }
                div class="quiet" { (row.project.as_deref().unwrap_or("")) }
            }
            td { (row.agent) }
            td { (frame::moment(site, row.last())) }
            td class="number" { (grouped(row.total.requests)) }
            td class="number" { (frame::tokens(row.largest)) }
            td class="number" { (frame::percent(row.cached())) }
            td class="number" {
                (price(row))
                @if row.breaks.0 > 0 {
                    div class="quiet" { (counted(row.breaks.0 as u64, "break")) " " (frame::usd(row.breaks.1)) }
                }
            }
        }
    }
}

/// What it cost; a model without a price is not free.
pub(crate) fn price(row: &SessionRow) -> String {
    match row.total.unpriced {
        0 => frame::usd(row.total.usd),
        all if all == row.total.requests => "no price".to_owned(),
        some => format!("{} + {some} without a price", frame::usd(row.total.usd)),
    }
}
