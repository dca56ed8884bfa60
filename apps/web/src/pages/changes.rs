//! What was changed in memory, by whom and why, and the way back: every change,
//! and those of dreams by themselves (W4).

use super::{Done, done, memories, paged};
use crate::error::Error;
use crate::frame::{self, Link, Tab};
use crate::site::{Site, scope_name};
use axum::Form;
use axum::extract::{Path, Query, State};
use axum::response::Redirect;
use everfold_memory_judge::secrets;
use everfold_memory_store::store::OnConflict;
use everfold_memory_store::{Action, EntryId, Error as StoreError, JournalEntry, StoreScope};
use maud::{Markup, html};
use serde::Deserialize;
use std::sync::Arc;

/// Dreams whose differences are shown at once.
const OPEN_DREAMS: usize = 5;

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Wanted {
    page: Option<usize>,
}

/// What a form asks for.
#[derive(Debug, Deserialize)]
pub(crate) struct Undo {
    force: Option<String>,
}

pub(crate) async fn list(
    State(site): State<Arc<Site>>,
    Query(wanted): Query<Wanted>,
) -> Result<Markup, Error> {
    site.blocking(move |site| {
        let all = entries(site, &|_| true)?;
        let (rows, page, pages) = paged(&all, wanted.page);
        let body = html! {
            @if all.is_empty() {
                (frame::empty("No changes yet.", &html! {
                    "Every change to a memory, by an agent or by you, is listed here and can be undone."
                }))
            }
            (table(site, &rows.iter().map(|(scope, own)| (*scope, own)).collect::<Vec<_>>()))
            (frame::pager(&Link::to("/changes"), page, pages))
        };
        Ok(frame::page(site, Tab::Memories, "History", &body))
    })
    .await
}

pub(crate) async fn dreams(
    State(site): State<Arc<Site>>,
    Query(wanted): Query<Wanted>,
) -> Result<Markup, Error> {
    site.blocking(move |site| {
        let all = entries(site, &|own| own.action == Action::Dream)?;
        let (rows, page, pages) = paged(&all, wanted.page);
        let body = html! {
            @if all.is_empty() {
                (frame::empty("No dreams yet.", &html! {
                    "Dreams tidy memories between sessions: they merge duplicates and drop what no longer holds. " code { "everfold dream" } " starts one now; "
                    code { "everfold dream --dry-run" } " only shows what it would do."
                }))
            }
            @for (number, (scope, own)) in rows.iter().enumerate() {
                section class="card" {
                    (head(site, *scope, own))
                    @if number < OPEN_DREAMS && page == 1 { (diffs(site, *scope, own.id)?) }
                }
            }
            (frame::pager(&Link::to("/dreams"), page, pages))
        };
        Ok(frame::page(site, Tab::Dreams, "Dreams", &body))
    })
    .await
}

pub(crate) async fn show(
    State(site): State<Arc<Site>>,
    Path((scope, entry)): Path<(String, u64)>,
    Query(undo): Query<Undo>,
    Query(done): Query<Done>,
) -> Result<Markup, Error> {
    site.blocking(move |site| {
        let (scope, store) = site.named_store(&scope)?;
        let id = EntryId(entry);
        let all = store.log(None, usize::MAX)?;
        let own = all.iter().find(|own| own.id == id).ok_or_else(|| Error::none("such change"))?;
        let taken_back = all.iter().find(|other| other.undoes.contains(&id));
        let address = address(scope, id);
        let insists = undo.force.is_some();
        let body = html! {
            (frame::told_done(site, &done))
            (head(site, scope, own))
            @for ended in &own.ended { p class="quiet" { "no longer holds: " (secrets::mask(ended)) } }
            @if let Some(other) = taken_back {
                p { "Undone by " a href=(self::address(scope, other.id)) { "change " (other.id) } "." }
            }
            (diffs(site, scope, id)?)
            @if own.action != Action::Adopt {
                (frame::actions(site, &address, &html! {
                    @if insists {
                        (frame::hidden("force", "1"))
                        p { "Later changes to the same memory are undone as well. The history keeps them." }
                    }
                    button { @if insists { "Undo anyway" } @else { "Undo this change" } }
                }))
            }
        };
        Ok(frame::page(site, Tab::Memories, &format!("Change {id}"), &body))
    })
    .await
}

pub(crate) async fn undo(
    State(site): State<Arc<Site>>,
    Path((scope, entry)): Path<(String, u64)>,
    Form(form): Form<Undo>,
) -> Result<Redirect, Error> {
    site.blocking(move |site| {
        let (scope, store) = site.named_store(&scope)?;
        let on_conflict = if form.force.is_some() { OnConflict::Force } else { OnConflict::Refuse };
        let by = site.person("undone on the page");
        let undone = store.undo(EntryId(entry), on_conflict, &by).map_err(|error| match error {
            StoreError::Conflict { .. } => Error::Conflict {
                what: error.to_string(),
                again: format!("{}?force=1", address(scope, EntryId(entry))),
            },
            other => other.into(),
        })?;
        let what = if undone.is_some() { "undone" } else { "unchanged" };
        // The undoing is an entry too, and can be undone.
        let link = Link::to(address(scope, undone.unwrap_or(EntryId(entry))));
        Ok(done(&link, what, (scope_name(scope), undone)))
    })
    .await
}

/// The entries of all places, the newest first.
fn entries(
    site: &Site,
    wanted: &dyn Fn(&JournalEntry) -> bool,
) -> Result<Vec<(StoreScope, JournalEntry)>, Error> {
    let mut all = Vec::new();
    for (scope, store) in site.stores()? {
        let own = store.log(None, usize::MAX)?.into_iter().filter(wanted);
        all.extend(own.map(|entry| (scope, entry)));
    }
    all.sort_by_key(|(_, entry)| std::cmp::Reverse((entry.at, entry.id)));
    Ok(all)
}

fn address(scope: StoreScope, entry: EntryId) -> String {
    format!("/changes/{}/{entry}", scope_name(scope))
}

fn diffs(site: &Site, scope: StoreScope, entry: EntryId) -> Result<Markup, Error> {
    let (_, store) = site.named_store(scope_name(scope))?;
    let all = store.diff(entry)?;
    Ok(html! {
        @if all.is_empty() { p class="quiet" { "No file was changed." } }
        @for own in &all { (frame::diff(own)) }
    })
}

fn head(site: &Site, scope: StoreScope, own: &JournalEntry) -> Markup {
    html! {
        p {
            (frame::badge("deed", own.action.as_str())) " "
            (own.author.title()) " · " (scope_name(scope)) " · " (frame::moment(site, own.at)) " · "
            a href=(address(scope, own.id)) { "change " (own.id) }
        }
        @if !own.reason.is_empty() { p class="lead" { (secrets::mask(&own.reason)) } }
        @if let Some(session) = &own.session {
            p class="quiet" { "from session "
                a href={ "/sessions/" (frame::path_part(session.as_str())) } { (session.as_str()) }
            }
        }
    }
}

/// Entries as a table.
pub(crate) fn table(site: &Site, rows: &[(StoreScope, &JournalEntry)]) -> Markup {
    html! {
        @if !rows.is_empty() {
            div class="wide" {
                table {
                    thead { tr { th { "Change" } th { "When" } th { "Who" } th { "What" } th { "Memories" } th { "Why" } } }
                    tbody {
                        @for (scope, own) in rows {
                            tr {
                                td { a href=(address(*scope, own.id)) { (own.id) } }
                                td { (frame::moment(site, own.at)) }
                                td { (own.author.title()) }
                                td { (frame::badge("deed", own.action.as_str())) }
                                td { (files(*scope, own)) }
                                td { (secrets::mask(&own.reason)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Files of an entry that are named.
const NAMED: usize = 4;

fn files(scope: StoreScope, own: &JournalEntry) -> Markup {
    let paths = own.paths();
    html! {
        @for (number, path) in paths.iter().take(NAMED).enumerate() {
            @if number > 0 { ", " }
            a href=(memories::address(scope_name(scope), path)) { (path) }
        }
        @if paths.len() > NAMED { " and " (paths.len() - NAMED) " more" }
    }
}
