//! Today at a glance: money, cache, window, what was learned, what waits.

use super::{Done, book, memories, money, sessions};
use crate::error::Error;
use crate::frame::{self, Tab};
use crate::ledger::Book;
use crate::site::{Site, scope_name};
use axum::extract::{Query, State};
use everfold_agent::bills::Group;
use everfold_kernel::phrase::{counted, grouped};
use everfold_memory_judge::secrets;
use everfold_memory_store::{Action, Author, JournalEntry, StoreScope};
use maud::{Markup, html};
use std::sync::Arc;

/// Sessions and changes that are shown.
const SHOWN: usize = 6;

pub(crate) async fn show(
    State(site): State<Arc<Site>>,
    Query(done): Query<Done>,
) -> Result<Markup, Error> {
    site.blocking(move |site| {
        let book = match book(site, Tab::Overview, "Today") {
            Ok(book) => book,
            Err(page) => return Ok(*page),
        };
        let body = html! {
            (frame::told_done(site, &done))
            (tiles(site, &book))
            (savings(site, &book))
            section {
                h2 { "Sessions" }
                @if book.rows.is_empty() {
                    (frame::empty("No sessions on this machine yet.", &html! {
                        "Start one with " code { "everfold" } ", or keep using your agent: its \
                                                               sessions are found automatically."
                    }))
                }
                (sessions::table(site, book.rows.get(..SHOWN.min(book.rows.len())).unwrap_or_default()))
                @if book.rows.len() > SHOWN {
                    p { a href="/sessions" { "All " (grouped(book.rows.len() as u64)) " sessions" } }
                }
            }
            (learned(site)?)
        };
        Ok(frame::page(site, Tab::Overview, "Today", &body))
    })
    .await
}

fn tiles(site: &Site, book: &Book) -> Markup {
    let today = site.now().date();
    let cells = || book.rows.iter().flat_map(|row| &row.days).filter(|cell| cell.day == today);
    let sum: Group = money::total(cells().map(|cell| &cell.sum));
    let active: Vec<_> =
        book.rows.iter().filter(|row| row.days.iter().any(|cell| cell.day == today)).collect();
    let largest = active.iter().map(|row| row.largest).max().unwrap_or(0);
    let running = book.rows.iter().filter(|row| sessions::is_running(site, row)).count() as u64;
    let waiting = site.memories.waiting() as u64;
    let since = money::since(site, "30");
    html! {
        div class="tiles" {
            a class="tile" href="/money?days=1" {
                span class="figure" { (frame::usd(sum.usd)) }
                span { "spent today, " (counted(sum.requests, "request")) }
            }
            a class="tile" href="/money?days=1&by=model" {
                span class="figure" { (frame::percent(sum.usage.hit_rate())) }
                span { "of prompt tokens read from cache" }
            }
            a class="tile" href="/sessions?sort=window" {
                span class="figure" { (frame::tokens(largest)) }
                span { "tokens, the largest prompt today" }
            }
            a class="tile" href="/sessions" {
                span class="figure" { (active.len()) }
                span {
                    @if active.len() == 1 { "session today" } @else { "sessions today" }
                    @if running > 0 { ", " (running) " running" }
                }
            }
            a class="tile" href="/inbox" {
                span class="figure" { (waiting) }
                span { "waiting for review" }
            }
        }
        (money::day_chart(&money::by_day(book, since)))
    }
}

/// By what most could have been saved.
fn savings(site: &Site, book: &Book) -> Markup {
    let mut all = money::causes(book, money::since(site, "30"));
    all.retain(|(_, _, avoidable)| *avoidable >= 0.01);
    all.sort_by(|one, other| other.2.total_cmp(&one.2));
    html! {
        @if !all.is_empty() {
            section {
                h2 { "What could have been saved in 30 days" }
                ul class="cards" {
                    @for (cause, _, avoidable) in all.iter().take(3) {
                        li {
                            strong { (frame::usd(*avoidable)) } " " (cause.title())
                            p class="quiet" { (cause.advice()) }
                        }
                    }
                }
                p { a href="/money" { "Full breakdown" } }
            }
        }
    }
}

fn learned(site: &Site) -> Result<Markup, Error> {
    let mut all: Vec<(StoreScope, JournalEntry)> = Vec::new();
    for (scope, store) in site.stores()? {
        let own = store
            .log(None, SHOWN * 4)?
            .into_iter()
            .filter(|own| own.action != Action::Adopt && !matches!(own.author, Author::Program));
        all.extend(own.map(|entry| (scope, entry)));
    }
    all.sort_by_key(|(_, entry)| std::cmp::Reverse(entry.at));
    Ok(html! {
        section {
            h2 { "What was learned" }
            @if all.is_empty() {
                (frame::empty("No memories yet.", &html! {
                    "Memories come as you work, or with " code { "# a sentence" } " in a session."
                }))
            }
            ul class="cards" {
                @for (scope, own) in all.iter().take(SHOWN) {
                    li {
                        (frame::badge("deed", own.action.as_str())) " "
                        @for path in own.paths().into_iter().take(2) {
                            a class="name" href=(memories::address(scope_name(*scope), path)) { (path) } " "
                        }
                        p class="quiet" {
                            (own.author.title()) " · " (frame::moment(site, own.at))
                            @if !own.reason.is_empty() { " · " (secrets::mask(&own.reason)) }
                        }
                    }
                }
            }
            @if !all.is_empty() { p { a href="/changes" { "Full history" } } }
        }
    })
}
