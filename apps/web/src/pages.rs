//! The pages, one file for each.

pub(crate) mod changes;
pub(crate) mod health;
pub(crate) mod inbox;
pub(crate) mod live;
pub(crate) mod memories;
pub(crate) mod memory;
pub(crate) mod message;
pub(crate) mod money;
pub(crate) mod overview;
pub(crate) mod recall;
pub(crate) mod request;
pub(crate) mod session;
pub(crate) mod sessions;
pub(crate) mod settings;

use crate::error::Error;
use crate::frame::{self, Link, Tab};
use crate::ledger::{Book, Reading, SessionRow};
use crate::site::Site;
use axum::response::Redirect;
use everfold_kernel::phrase::size;
use everfold_memory_store::EntryId;
use maud::{Markup, html};
use serde::Deserialize;
use std::sync::Arc;

/// Rows of a page.
pub(crate) const ROWS: usize = 50;

/// An address that leads nowhere.
pub(crate) async fn nowhere() -> Error {
    Error::none("such page")
}

/// What was just done, as the address says. Only known words become a text.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Done {
    #[serde(rename = "done")]
    what: Option<String>,
    scope: Option<String>,
    entry: Option<u64>,
}

impl Done {
    /// What is told of it.
    pub(crate) fn text(&self) -> Option<&'static str> {
        Some(match self.what.as_deref()? {
            "saved" => "Saved.",
            "unchanged" => "Nothing had to be changed.",
            "waiting" => "Waiting for review in the inbox.",
            "forgot" => "Forgotten. It is kept in the history.",
            "moved" => "Moved.",
            "undone" => "Undone.",
            "accepted" => "Accepted.",
            "rejected" => "Rejected.",
            _ => return None,
        })
    }

    /// Where it is taken back.
    pub(crate) fn undo_address(&self) -> Option<String> {
        let scope = crate::site::named_scope(self.scope.as_deref()?).ok()?;
        let entry = self.entry?;
        Some(format!("/changes/{}/{entry}", crate::site::scope_name(scope)))
    }
}

/// To a page that tells what was done.
pub(crate) fn done(link: &Link, what: &str, (scope, entry): (&str, Option<EntryId>)) -> Redirect {
    let mut link = link.with("done", what);
    if let Some(entry) = entry {
        link = link.with("scope", scope).with("entry", entry);
    }
    Redirect::to(&link.href())
}

/// One page of a list: its rows, its number and how many there are.
pub(crate) fn paged<T>(all: &[T], page: Option<usize>) -> (&[T], usize, usize) {
    let pages = all.len().div_ceil(ROWS).max(1);
    let page = page.unwrap_or(1).clamp(1, pages);
    let from = (page - 1) * ROWS;
    let rows = all.get(from..(from + ROWS).min(all.len())).unwrap_or_default();
    (rows, page, pages)
}

/// A session by what an address calls it. One that is not known may be new.
pub(crate) fn session_row(site: &Site, book: &Book, key: &str) -> Result<Arc<SessionRow>, Error> {
    let known = book.find(key).cloned();
    let found = known.or_else(|| site.ledger.fresh()?.find(key).cloned());
    found.ok_or_else(|| Error::none("such session"))
}

/// What is known of sessions, or a page that says how far the reading is.
pub(crate) fn book(site: &Site, tab: Tab, title: &str) -> Result<Arc<Book>, Box<Markup>> {
    match site.ledger.reading() {
        Reading::Ready(book) => Ok(book),
        Reading::Underway(done, all) => Err(Box::new(underway(site, tab, title, (done, all)))),
    }
}

#[expect(clippy::cast_precision_loss, reason = "a share of a bar")]
fn underway(site: &Site, tab: Tab, title: &str, (done, all): (u64, u64)) -> Markup {
    let body = html! {
        meta http-equiv="refresh" content="2";
        div class="empty" {
            p class="lead" { "Reading the sessions of this machine for the first time." }
            @if all > 0 {
                p { (size(done)) " of " (size(all)) }
                (frame::bar(done as f64 / all as f64))
            }
        }
    };
    frame::page(site, tab, title, &body)
}
