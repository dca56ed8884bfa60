//! All memories: searched, sorted, a page at a time (W4).

use super::{Done, paged};
use crate::error::Error;
use crate::frame::{self, Link, Tab, path_part};
use crate::site::Site;
use axum::extract::{Query, State};
use everfold_kernel::phrase::{counted, cut};
use everfold_kernel::ports::{MemoryHead, RecallHit, RecallQuery};
use everfold_memory_judge::secrets;
use everfold_memory_service::HitFilter;
use maud::{Markup, html};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Most that are found by what they hold.
const MOST_FOUND: usize = 500;
/// Characters of a description in the list.
const LINE_CHARS: usize = 160;

const SORTS: [(&str, &str); 3] = [("", "newest first"), ("name", "by name"), ("used", "most used")];
const KINDS: [(&str, &str); 5] = [
    ("", "every type"),
    ("user", "user"),
    ("feedback", "feedback"),
    ("project", "project"),
    ("reference", "reference"),
];
const PLACES: [(&str, &str); 4] =
    [("", "everywhere"), ("project", "this project"), ("global", "global"), ("team", "team")];

/// What is asked for.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Wanted {
    #[serde(default)]
    q: String,
    #[serde(default)]
    sort: String,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    place: String,
    page: Option<usize>,
}

pub(crate) async fn list(
    State(site): State<Arc<Site>>,
    Query(wanted): Query<Wanted>,
    Query(done): Query<Done>,
) -> Result<Markup, Error> {
    site.blocking(move |site| {
        let all = site.service.listed()?;
        let count = all.len();
        let found = found(site, all, &wanted)?;
        let link = Link::to("/memories")
            .with("q", &wanted.q)
            .with("sort", &wanted.sort)
            .with("kind", &wanted.kind)
            .with("place", &wanted.place);
        let (rows, page, pages) = paged(&found, wanted.page);
        let body = html! {
            (frame::told_done(site, &done))
            @if count == 0 {
                (frame::empty("No memories yet.", &html! {
                    "Memories come as you work. In a session, " code { "# a sentence" }
                    " keeps it at once; on the command line, " code { "everfold memory add" } "."
                }))
            } @else {
                (search(&wanted))
                p class="quiet" {
                    (counted(found.len() as u64, "memory")) " · "
                    a href="/changes" { "history" }
                }
                @if found.is_empty() {
                    (frame::empty("No matching memories.", &html! {
                        a href="/memories" { "Show all" }
                    }))
                }
                ul class="cards" { @for own in rows { (row(site, own)) } }
                (frame::pager(&link, page, pages))
            }
        };
        Ok(frame::page(site, Tab::Memories, "Memories", &body))
    })
    .await
}

fn search(wanted: &Wanted) -> Markup {
    html! {
        form class="search" action="/memories" role="search" {
            label { span class="hidden" { "Words" }
                input type="search" name="q" value=(wanted.q) placeholder="Search memories";
            }
            (frame::field("in", "place", &wanted.place, &PLACES))
            (frame::field("of", "kind", &wanted.kind, &KINDS))
            (frame::field("sorted", "sort", &wanted.sort, &SORTS))
            button { "Search" }
        }
    }
}

/// Those that are asked for, in their order.
fn found(site: &Site, mut all: Vec<MemoryHead>, wanted: &Wanted) -> Result<Vec<MemoryHead>, Error> {
    all.retain(|own| {
        (wanted.place.is_empty() || own.scope.as_str() == wanted.place)
            && (wanted.kind.is_empty() || own.kind.as_deref() == Some(wanted.kind.as_str()))
    });
    match wanted.sort.as_str() {
        "name" => all.sort_by_cached_key(|own| title(own).to_lowercase()),
        "used" => all.sort_by_key(|own| std::cmp::Reverse(own.used)),
        _ => {}
    }
    if wanted.q.trim().is_empty() {
        return Ok(all);
    }
    // First those that say the words of themselves, then those that recall finds
    // by what they hold.
    let words: Vec<String> = wanted.q.split_whitespace().map(str::to_lowercase).collect();
    let says = |own: &MemoryHead| {
        let text = format!("{} {} {}", own.name, own.description, own.file).to_lowercase();
        words.iter().all(|word| text.contains(word))
    };
    let query = RecallQuery { text: wanted.q.clone(), ..RecallQuery::default() };
    let hits = site.service.recall(&query, HitFilter::Best(MOST_FOUND))?.hits;
    let has_words = |hit: &&RecallHit| !hit.reason.words.is_empty();
    let ranks: BTreeMap<&Path, usize> = hits
        .iter()
        .filter(has_words)
        .enumerate()
        .map(|(rank, hit)| (hit.path.as_path(), rank))
        .collect();
    let (first, rest): (Vec<MemoryHead>, Vec<MemoryHead>) = all.into_iter().partition(says);
    let mut rest: Vec<(usize, MemoryHead)> =
        rest.into_iter().filter_map(|own| Some((*ranks.get(own.path.as_path())?, own))).collect();
    rest.sort_by_key(|(rank, _)| *rank);
    Ok(first.into_iter().chain(rest.into_iter().map(|(_, own)| own)).collect())
}

/// What a memory is called.
pub(crate) fn title(own: &MemoryHead) -> &str {
    let file = own.file.strip_suffix(".md").unwrap_or(&own.file);
    if own.name.trim().is_empty() { file } else { &own.name }
}

/// Where a memory is on the page.
pub(crate) fn address(scope: &str, file: &str) -> String {
    format!("/memories/{scope}/{}", path_part(file))
}

fn row(site: &Site, own: &MemoryHead) -> Markup {
    html! {
        li {
            a class="name" href=(address(own.scope.as_str(), &own.file)) { (secrets::mask(title(own))) }
            p { (secrets::mask(&cut(&own.description, LINE_CHARS))) }
            p class="quiet" {
                @if let Some(kind) = &own.kind { (frame::badge(kind, kind)) " " }
                (own.scope.as_str()) " · " (frame::moment(site, own.modified))
                @if own.used > 0 { " · used " (counted(own.used.into(), "time")) }
            }
        }
    }
}
