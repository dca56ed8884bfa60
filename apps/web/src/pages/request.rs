//! One request of a session: what filled its window, what the cache had of it,
//! what it cost and why.

use super::{book, session, session_row};
use crate::error::Error;
use crate::frame::{self, Link, Tab};
use crate::site::Site;
use crate::transcript::CloseUp;
use axum::extract::{Path, State};
use everfold_kernel::phrase::grouped;
use everfold_memory_judge::secrets;
use everfold_replay::Round;
use maud::{Markup, html};
use std::sync::Arc;

pub(crate) async fn show(
    State(site): State<Arc<Site>>,
    Path((key, number)): Path<(String, usize)>,
) -> Result<Markup, Error> {
    site.blocking(move |site| {
        let title = format!("Request {number}");
        let book = match book(site, Tab::Sessions, &title) {
            Ok(book) => book,
            Err(page) => return Ok(*page),
        };
        let row = &session_row(site, &book, &key)?;
        let own = site.transcripts.close_up(row)?;
        let rounds = &own.lane.rounds;
        let index = number.checked_sub(1).ok_or_else(|| Error::none("such request"))?;
        let round = rounds.get(index).ok_or_else(|| Error::none("such request"))?;
        let session = format!("/sessions/{}", row.key);
        let around = Link::to(session.as_str()).with("at", round.at.as_millisecond()).href();
        let body = html! {
            nav class="pager" aria-label="Requests" {
                @if number > 1 { a rel="prev" href={ (session) "/requests/" (number - 1) } { "← Previous" } }
                a href=(session) { (super::sessions::title(row)) }
                @if number < rounds.len() {
                    a rel="next" href={ (session) "/requests/" (number + 1) } { "Next →" }
                }
            }
            (filled(round))
            (billed(site, &own, index, round))
            p { a href={ (around) "#messages" } { "Messages at that time" } }
        };
        Ok(frame::page(site, Tab::Sessions, &title, &body))
    })
    .await
}

#[expect(clippy::cast_precision_loss, reason = "a share of a bar")]
fn filled(round: &Round) -> Markup {
    let whole = round.prompt().max(1) as f64;
    html! {
        section {
            h2 { "What filled the window" }
            table class="shares" {
                tbody {
                    @for (name, tokens) in session::parts(round) {
                        tr {
                            th scope="row" { (name) }
                            td class="number" { (grouped(tokens)) }
                            td class="bars" { (frame::bar(tokens as f64 / whole)) }
                        }
                    }
                    tr class="total" { th scope="row" { "total" } td class="number" { (grouped(round.prompt())) } td {} }
                }
            }
        }
    }
}

fn billed(site: &Site, own: &CloseUp, index: usize, round: &Round) -> Markup {
    let (read, written) = (u64::from(round.read), u64::from(round.written));
    let plain = round.prompt().saturating_sub(read + written);
    let broken = own.bill().and_then(|bill| bill.breaks.iter().find(|own| own.at == round.at));
    let moments = own.lane.moments.iter().filter(|moment| moment.round == index);
    html! {
        section {
            h2 { "What it cost" }
            dl class="figures" {
                dt { "when" } dd { (frame::moment(site, round.at)) }
                dt { "read from the cache" } dd { (grouped(read)) " tokens" }
                dt { "written to the cache" } dd { (grouped(written)) " tokens" }
                dt { "uncached" } dd { (grouped(plain)) " tokens" }
                dt { "output" } dd { (grouped(round.output.into())) " tokens" }
                dt { "cost" } dd { (frame::usd(round.usd.into())) }
            }
            @if let Some(before) = session::before(round.before) { p { "Before this request: " (before) "." } }
            @if let Some(broken) = broken {
                p class="warning" {
                    "Cache break: " (secrets::mask(&broken.part)) ". "
                    (grouped(broken.tokens)) " tokens were rewritten, which cost "
                    (frame::usd(broken.usd)) " more."
                }
            }
            @for moment in moments {
                p { (secrets::mask(&moment.what)) " (" (frame::usd(moment.usd)) ")" br;
                    span class="quiet" { "would have helped: " (moment.avoid) } }
            }
        }
    }
}
