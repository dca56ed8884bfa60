//! One memory: what it says, where it came from, what became of it, and what a
//! person can do about it (W4).

use super::{Done, done, memories};
use crate::error::Error;
use crate::frame::{self, Link, Tab};
use crate::site::{SCOPES, Site, named_scope, scope_name};
use axum::Form;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use everfold_kernel::phrase::{counted, grouped};
use everfold_kernel::ports::Kept;
use everfold_memory_file::Memory;
use everfold_memory_judge::secrets;
use everfold_memory_service::edit;
use everfold_memory_store::store::{Blame, StoredText};
use everfold_memory_store::usage::Count;
use everfold_memory_store::{EntryId, JournalEntry, Store, StoreScope, TopicPath};
use maud::{Markup, html};
use serde::Deserialize;
use std::sync::Arc;

/// Entries of its history that are listed.
const HISTORY: usize = 100;

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Wanted {
    edit: Option<String>,
}

/// What a form asks for.
#[derive(Debug, Deserialize)]
pub(crate) struct Change {
    #[serde(rename = "do")]
    deed: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    before: String,
    #[serde(default)]
    to: String,
}

/// A memory that is there.
struct Meant {
    scope: StoreScope,
    store: Arc<Store>,
    path: TopicPath,
}

impl Meant {
    fn find(site: &Site, scope: &str, path: &str) -> Result<Self, Error> {
        let (scope, store) = site.named_store(scope)?;
        Ok(Self { scope, store, path: TopicPath::new(path)? })
    }

    fn address(&self) -> String {
        memories::address(scope_name(self.scope), self.path.as_str())
    }
}

pub(crate) async fn show(
    State(site): State<Arc<Site>>,
    Path((scope, path)): Path<(String, String)>,
    Query(wanted): Query<Wanted>,
    Query(done): Query<Done>,
) -> Result<Markup, Error> {
    site.blocking(move |site| {
        let meant = Meant::find(site, &scope, &path)?;
        let read = match meant.store.read(&meant.path) {
            Ok(read) => read,
            Err(everfold_memory_store::Error::NotFound { .. }) => return gone(site, &meant, &done),
            Err(error) => return Err(error.into()),
        };
        if wanted.edit.is_some() && site.can_change() && can_be_edited(&read) {
            return Ok(form(site, &meant, (&read.text, &read.text), None));
        }
        let blame = meant.store.blame(&meant.path)?;
        let counts = meant.store.usage().unwrap_or_default();
        let count = counts.get(&meant.path).cloned().unwrap_or_default();
        let memory = Memory::parse(&read.text);
        let name = memory.front.name.clone();
        let title = name.unwrap_or_else(|| meant.path.as_str().to_owned());
        let body = html! {
            (frame::told_done(site, &done))
            p class="quiet" { (scope_name(meant.scope)) " / " (meant.path.as_str()) }
            (text(&memory))
            (buttons(site, &meant, &read))
            (grounds(&meant, &blame, &count))
            (history(site, &meant, &blame.entries))
        };
        Ok(frame::page(site, Tab::Memories, &secrets::mask(&title), &body))
    })
    .await
}

/// One that is memory was removed; its history may bring it back.
fn gone(site: &Site, meant: &Meant, done: &Done) -> Result<Markup, Error> {
    let entries = meant.store.log(Some(meant.path.as_str()), HISTORY)?;
    if entries.is_empty() {
        return Err(Error::none("such memory"));
    }
    let body = html! {
        (frame::told_done(site, done))
        p class="lead" { "This memory was removed. Undo the change that removed it to get it back." }
        (history(site, meant, &entries))
    };
    Ok(frame::page(site, Tab::Memories, meant.path.as_str(), &body))
}

fn text(memory: &Memory<'_>) -> Markup {
    html! {
        @if let Some(fault) = &memory.fault { p class="warning" { (fault.to_string()) } }
        @if let Some(description) = &memory.front.description {
            p class="lead" { (secrets::mask(description)) }
        }
        pre class="text" { (secrets::mask(memory.body.trim())) }
    }
}

/// What would be lost or shown by a form is not put into one.
fn can_be_edited(read: &StoredText) -> bool {
    read.note.is_none() && secrets::find(&read.text).is_empty()
}

fn buttons(site: &Site, meant: &Meant, read: &StoredText) -> Markup {
    let address = meant.address();
    let others =
        SCOPES.into_iter().filter(|scope| *scope != meant.scope && site.memories.is_used(*scope));
    html! {
        @if site.can_change() {
            div class="row" {
                @if can_be_edited(read) {
                    a class="button" href={ (address) "?edit=1" } { "Edit" }
                } @else {
                    span class="warning" {
                        "It contains a secret or is too large to edit here; use " code { "everfold memory edit" } "."
                    }
                }
                (frame::actions(site, &address, &html! {
                    (frame::hidden("do", "forget")) button { "Forget" }
                }))
                @for scope in others {
                    (frame::actions(site, &address, &html! {
                        (frame::hidden("do", "move")) (frame::hidden("to", scope_name(scope)))
                        button { "Move to " (scope_name(scope)) }
                    }))
                }
            }
        }
    }
}

fn form(site: &Site, meant: &Meant, (before, now): (&str, &str), fault: Option<&str>) -> Markup {
    let address = meant.address();
    let body = html! {
        @if let Some(fault) = fault { p class="warning" role="alert" { (fault) } }
        (frame::actions(site, &address, &html! {
            (frame::hidden("do", "edit"))
            (frame::hidden("before", before))
            label for="text" { "The file" }
            textarea id="text" name="text" rows="20" spellcheck="false" { "\n" (now) }
            div class="row" { button class="main" { "Save" } a href=(address) { "Cancel" } }
        }))
        p class="quiet" { "Saving adds one entry to the history, which you can undo." }
    };
    frame::page(site, Tab::Memories, &format!("Edit {}", meant.path), &body)
}

/// What it rests on, and of what use it was.
fn grounds(meant: &Meant, blame: &Blame, count: &Count) -> Markup {
    let front = &blame.front;
    let said = [
        ("type", front.kind.map(|kind| kind.as_str().to_owned())),
        ("learned", front.date.map(|date| date.to_string())),
        ("basis", front.basis.map(|basis| basis.as_str().to_owned())),
        ("whose words", front.provenance.map(|own| own.to_string())),
        ("the words", front.evidence.as_deref().map(secrets::mask)),
        ("rule", front.rule.clone()),
        ("branch", front.branch.clone()),
        ("work tree", front.worktree.clone()),
    ];
    let query = front.description.as_deref().or(front.name.as_deref()).unwrap_or_default();
    html! {
        section {
            h2 { "Where it came from" }
            dl {
                @for (name, value) in said {
                    @if let Some(value) = value { dt { (name) } dd { (value) } }
                }
                @if let Some(session) = &front.session {
                    dt { "session" }
                    dd { a href={ "/sessions/" (frame::path_part(session.as_str())) } { (session.as_str()) }
                        @if !front.messages.is_empty() {
                            " (" (counted(front.messages.len() as u64, "message")) ")"
                        }
                    }
                }
                dt { "recalled" } dd { (counted(count.recalled, "time")) }
                dt { "used" } dd { (grouped(count.used))
                    @if let Some(at) = count.last_used { ", last on " (at.strftime("%Y-%m-%d").to_string()) }
                }
                dt { "file" } dd { (meant.store.dir().join(meant.path.as_path()).display().to_string()) }
            }
            p { a href=(Link::to("/recall").with("q", query).href()) { "See what recalls it, and why" } }
        }
    }
}

fn history(site: &Site, meant: &Meant, entries: &[JournalEntry]) -> Markup {
    let newest = entries.first().and_then(|entry| {
        let all = meant.store.diff(entry.id).ok()?;
        all.into_iter().find(|own| own.path == meant.path.as_str())
    });
    html! {
        section {
            h2 { "History" }
            @if entries.is_empty() {
                p class="quiet" { "No history yet." }
            }
            (super::changes::table(site, &entries.iter().take(HISTORY).map(|own| (meant.scope, own)).collect::<Vec<_>>()))
            @if let Some(newest) = newest {
                h3 { "The last change" }
                (frame::diff(&newest))
            }
        }
    }
}

pub(crate) async fn change(
    State(site): State<Arc<Site>>,
    Path((scope, path)): Path<(String, String)>,
    Form(change): Form<Change>,
) -> Result<Response, Error> {
    site.blocking(move |site| {
        let meant = Meant::find(site, &scope, &path)?;
        match change.deed.as_str() {
            "edit" => save(site, &meant, &change),
            "forget" => {
                let by = site.person("forgotten on the page");
                let entry = meant.store.forget(&meant.path, &by)?;
                Ok(told(&Link::to("/memories"), "forgot", meant.scope, entry))
            }
            "move" => relocate(site, &meant, &change.to),
            _ => Err(Error::none("such action")),
        }
    })
    .await
}

fn told(link: &Link, what: &str, scope: StoreScope, entry: Option<EntryId>) -> Response {
    done(link, what, (scope_name(scope), entry)).into_response()
}

fn save(site: &Site, meant: &Meant, change: &Change) -> Result<Response, Error> {
    // Forms send their lines with a carriage return.
    let (text, before) = (change.text.replace("\r\n", "\n"), change.before.replace("\r\n", "\n"));
    let again = |fault: &str| {
        let page = form(site, meant, (&before, &text), Some(&secrets::mask(fault)));
        (StatusCode::UNPROCESSABLE_ENTITY, page).into_response()
    };
    let read = meant.store.read(&meant.path)?;
    if read.text.trim_end() != before.trim_end() {
        return Ok(again(
            "It was changed while you were editing. Copy what you need, then open it again.",
        ));
    }
    let edited = match edit::edited(&read.text, &text, &site.now()) {
        Ok(edited) => edited,
        Err(fault) => return Ok(again(&fault.to_string())),
    };
    let path = meant.store.dir().join(meant.path.as_path());
    let proposal = edit::proposal(path, &read.text, edited.text, "edited on the page");
    let kept = match site.memories.service_with(meant.scope).keep(&proposal) {
        Ok(Kept::Refused { reason }) => return Ok(again(&reason)),
        Ok(kept) => kept,
        Err(error) => return Ok(again(&error.to_string())),
    };
    let link = Link::to(meant.address());
    let entry = kept.entry().map(EntryId);
    let what = match kept {
        Kept::Proposed { .. } => "waiting",
        _ if entry.is_none() => "unchanged",
        _ => "saved",
    };
    Ok(told(&link, what, meant.scope, entry))
}

fn relocate(site: &Site, meant: &Meant, to: &str) -> Result<Response, Error> {
    let to = named_scope(to)?;
    let other = site.memories.open(to)?;
    let reason = format!("moved from {} to {}", scope_name(meant.scope), scope_name(to));
    let saved = meant.store.move_to(&meant.path, &other, &site.person(&reason))?;
    let link = Link::to(memories::address(scope_name(to), saved.path.as_str()));
    Ok(Redirect::to(&link.with("done", "moved").href()).into_response())
}
