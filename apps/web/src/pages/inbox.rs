//! What waits for a person's word: accepted, rejected or edited (L5.24).

use super::{Done, done};
use crate::error::Error;
use crate::frame::{self, Link, Tab};
use crate::site::{Site, scope_name};
use axum::Form;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use everfold_memory_judge::secrets;
use everfold_memory_store::store::OnConflict;
use everfold_memory_store::store::inbox::{Proposal, ProposalId};
use everfold_memory_store::{Error as StoreError, Store, StoreScope, TopicPath};
use maud::{Markup, html};
use serde::Deserialize;
use std::sync::Arc;

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Wanted {
    edit: Option<String>,
    reject: Option<String>,
    force: Option<String>,
}

/// What a form asks for.
#[derive(Debug, Deserialize)]
pub(crate) struct Word {
    #[serde(rename = "do")]
    deed: String,
    #[serde(default)]
    path: String,
    #[serde(default)]
    text: String,
    force: Option<String>,
}

pub(crate) async fn list(
    State(site): State<Arc<Site>>,
    Query(done): Query<Done>,
) -> Result<Markup, Error> {
    site.blocking(move |site| {
        let mut all = Vec::new();
        for (scope, store) in site.stores()? {
            all.extend(store.inbox()?.into_iter().map(|own| (scope, Arc::clone(&store), own)));
        }
        all.sort_by_key(|(_, _, own)| std::cmp::Reverse(own.at));
        let body = html! {
            (frame::told_done(site, &done))
            @if all.is_empty() {
                (frame::empty("Nothing is waiting for review.", &html! {
                    "What agents want to remember but you did not say yourself waits here for you \
                     to accept or reject. "
                    "Set " code { "everfold.memory.review" } " to " code { "inbox" } " to review everything."
                }))
            }
            @for (scope, store, own) in &all {
                section class="card" {
                    (head(site, *scope, own))
                    (difference(store, own)?)
                    (buttons(site, *scope, own, OnConflict::Refuse))
                }
            }
        };
        Ok(frame::page(site, Tab::Inbox, "Inbox", &body))
    })
    .await
}

pub(crate) async fn show(
    State(site): State<Arc<Site>>,
    Path((scope, id)): Path<(String, u64)>,
    Query(wanted): Query<Wanted>,
) -> Result<Markup, Error> {
    site.blocking(move |site| {
        let (scope, store) = site.named_store(&scope)?;
        let own = store.proposal(ProposalId(id))?;
        if let Some(path) = wanted.edit.as_deref().filter(|_| site.can_change()) {
            return edit(site, scope, &own, path);
        }
        let conflict =
            if wanted.force.is_some() { OnConflict::Force } else { OnConflict::Refuse };
        let body = html! {
            (head(site, scope, &own))
            (difference(&store, &own)?)
            @if wanted.reject.is_some() {
                p class="warning" { "Rejecting cannot be undone, and the same will not be proposed again." }
                (frame::actions(site, &address(scope, own.id), &html! {
                    (frame::hidden("do", "reject"))
                    button class="main" { "Reject permanently" }
                    a href="/inbox" { "Cancel" }
                }))
            } @else {
                @if conflict == OnConflict::Force {
                    p class="warning" { "The memory has changed since this was proposed. Accepting overwrites that change." }
                }
                (buttons(site, scope, &own, conflict))
            }
        };
        Ok(frame::page(site, Tab::Inbox, &format!("Proposal {id}"), &body))
    })
    .await
}

pub(crate) async fn decide(
    State(site): State<Arc<Site>>,
    Path((scope, id)): Path<(String, u64)>,
    Form(word): Form<Word>,
) -> Result<Response, Error> {
    site.blocking(move |site| {
        let (scope, store) = site.named_store(&scope)?;
        let (id, inbox) = (ProposalId(id), Link::to("/inbox"));
        let name = scope_name(scope);
        match word.deed.as_str() {
            "accept" => {
                let conflict =
                    if word.force.is_some() { OnConflict::Force } else { OnConflict::Refuse };
                let by = site.person("accepted on the page");
                let entry = store.accept(id, conflict, &by).map_err(|error| match error {
                    StoreError::Stale { .. } => Error::Conflict {
                        what: error.to_string(),
                        again: format!("{}?force=1", address(scope, id)),
                    },
                    other => other.into(),
                })?;
                Ok(done(&inbox, "accepted", (name, entry)).into_response())
            }
            "reject" => {
                store.reject(id, &site.person("rejected on the page"))?;
                Ok(done(&inbox, "rejected", (name, None)).into_response())
            }
            "amend" => amend(site, (scope, &store, id), &word),
            _ => Err(Error::none("such action")),
        }
    })
    .await
}

fn amend(
    site: &Site,
    (scope, store, id): (StoreScope, &Store, ProposalId),
    word: &Word,
) -> Result<Response, Error> {
    let text = word.text.replace("\r\n", "\n");
    let path = TopicPath::new(&word.path)?;
    let link = Link::to(address(scope, id));
    match store.amend(id, &path, &text, &site.person("edited on the page")) {
        Ok(()) => Ok(done(&link, "saved", (scope_name(scope), None)).into_response()),
        Err(error) => {
            let fault = secrets::mask(&error.to_string());
            let page = form(site, (scope, id), (&path, &text), Some(&fault));
            Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
        }
    }
}

fn address(scope: StoreScope, id: ProposalId) -> String {
    format!("/inbox/{}/{id}", scope_name(scope))
}

fn head(site: &Site, scope: StoreScope, own: &Proposal) -> Markup {
    html! {
        h2 { a href=(address(scope, own.id)) { (own.summary()) } }
        p class="quiet" {
            (own.author.title()) " · " (scope_name(scope)) " · " (frame::moment(site, own.at))
            @if own.edited.is_some() { " · edited by you" }
            @if let Some(session) = &own.session {
                " · " a href={ "/sessions/" (frame::path_part(session.as_str())) } { "its session" }
            }
        }
        @if !own.reason.is_empty() { p { (secrets::mask(&own.reason)) } }
        @if let Some(evidence) = &own.evidence {
            blockquote {
                (secrets::mask(evidence))
                @if let Some(whose) = own.provenance { footer { (whose.to_string()) } }
            }
        }
    }
}

fn difference(store: &Store, own: &Proposal) -> Result<Markup, Error> {
    let previews = store.preview(own.id)?;
    Ok(html! {
        @for preview in &previews {
            @if preview.is_stale {
                p class="warning" { (preview.diff.path) " has changed since this was proposed." }
            }
            (frame::diff(&preview.diff))
        }
    })
}

fn buttons(site: &Site, scope: StoreScope, own: &Proposal, conflict: OnConflict) -> Markup {
    let address = address(scope, own.id);
    let writes = own.changes.iter().filter(|change| change.text().is_some());
    html! {
        @if site.can_change() {
            div class="row" {
                (frame::actions(site, &address, &html! {
                    (frame::hidden("do", "accept"))
                    @if conflict == OnConflict::Force { (frame::hidden("force", "1")) }
                    button class="main" { "Accept" }
                }))
                @for change in writes {
                    a class="button" href=(Link::to(address.as_str()).with("edit", &change.path).href()) {
                        @if own.changes.len() > 1 { "Edit " (change.path.as_str()) } @else { "Edit" }
                    }
                }
                a class="button" href={ (address) "?reject=1" } { "Reject" }
            }
        }
    }
}

fn edit(site: &Site, scope: StoreScope, own: &Proposal, path: &str) -> Result<Markup, Error> {
    let change = own.changes.iter().find(|change| change.path.as_str() == path);
    let text = change.and_then(|change| Some((change.path.clone(), change.text()?)));
    let (path, text) = text.ok_or_else(|| Error::none("such file in the proposal"))?;
    Ok(form(site, (scope, own.id), (&path, &text), None))
}

fn form(
    site: &Site,
    (scope, id): (StoreScope, ProposalId),
    (path, text): (&TopicPath, &str),
    fault: Option<&str>,
) -> Markup {
    let address = address(scope, id);
    let body = html! {
        @if let Some(fault) = fault { p class="warning" role="alert" { (fault) } }
        (frame::actions(site, &address, &html! {
            (frame::hidden("do", "amend"))
            (frame::hidden("path", path.as_str()))
            label for="text" { (path.as_str()) }
            textarea id="text" name="text" rows="16" spellcheck="false" { "\n" (text) }
            div class="row" { button class="main" { "Save" } a href=(address) { "Cancel" } }
        }))
    };
    frame::page(site, Tab::Inbox, &format!("Edit proposal {id}"), &body)
}
