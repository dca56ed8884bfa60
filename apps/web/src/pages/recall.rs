//! What a prompt would recall, and why (W4, R9): by the local ranker, exactly
//! the bytes that a session would be shown.

use crate::error::Error;
use crate::frame::{self, Tab};
use crate::pages::memories;
use crate::site::Site;
use axum::extract::{Query, State};
use everfold_kernel::phrase::{counted, grouped};
use everfold_kernel::ports::{MemoryScope, RecallHit, RecallQuery, RecallTier, Recalled};
use everfold_memory_judge::secrets;
use everfold_memory_service::HitFilter;
use maud::{Markup, html};
use serde::Deserialize;
use std::sync::Arc;

/// Memories that are told of.
const HITS: usize = 10;

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Wanted {
    #[serde(default)]
    q: String,
}

pub(crate) async fn show(
    State(site): State<Arc<Site>>,
    Query(wanted): Query<Wanted>,
) -> Result<Markup, Error> {
    site.blocking(move |site| {
        let asked = wanted.q.trim();
        let found = if asked.is_empty() {
            None
        } else {
            let query = RecallQuery { text: asked.to_owned(), ..RecallQuery::default() };
            Some(site.service.recall(&query, HitFilter::Best(HITS))?)
        };
        let body = html! {
            form class="search" action="/recall" {
                label for="q" { "A message, as you would write it" }
                textarea id="q" name="q" rows="3" { "\n" (wanted.q) }
                button class="main" { "Show" }
            }
            @match &found {
                Some(found) => (told(site, found)),
                None => (frame::empty("Which memories would a message recall?", &html! {
                    "Write one as you would to an agent. Nothing is sent anywhere."
                })),
            }
        };
        Ok(frame::page(site, Tab::Recall, "Recall", &body))
    })
    .await
}

fn told(site: &Site, found: &Recalled) -> Markup {
    let count = |tier| found.hits.iter().filter(|hit| hit.shown == tier).count() as u64;
    let (bodies, lines) = (count(RecallTier::Body), count(RecallTier::Line));
    let bytes = found.shown.as_ref().map_or(0, |own| own.rendered.len());
    html! {
        p class="lead" {
            @if bodies + lines == 0 {
                "No memory would be added; searched " (counted(found.looked_at as u64, "memory")) "."
            } @else {
                (counted(bodies, "memory")) " would be added and " (lines) " named in a line, "
                (grouped(bytes as u64)) " bytes of " (grouped(site.memories.limits().session_bytes as u64)) " a session."
            }
        }
        p class="quiet" {
            "Likelihood that this message needs a memory: " (frame::percent(found.sureness)) "."
        }
        ol class="cards" { @for hit in found.hits.iter().take(HITS) { (row(hit)) } }
        @if let Some(shown) = &found.shown {
            section {
                h2 { "What a model would be shown" }
                pre class="text" { (secrets::mask(&shown.rendered)) }
            }
        }
    }
}

fn row(hit: &RecallHit) -> Markup {
    let reason = &hit.reason;
    let (kind, how) = match hit.shown {
        RecallTier::Body => ("good", "shown"),
        RecallTier::Line => ("fair", "named in a line"),
        RecallTier::None => ("none", "not shown: weak match"),
    };
    html! {
        li {
            @if let Some(scope) = hit.scope.map(MemoryScope::as_str) {
                a class="name" href=(memories::address(scope, &hit.file)) { (hit.file) }
            } @else { span class="name" { (hit.file) } }
            " " (frame::badge(kind, how))
            (frame::bar(reason.sureness))
            p class="quiet" {
                (format!("{:.0} % sure that it helps; score {:.2}, words {:.2}, meaning {:.2}",
                    reason.sureness * 100.0, hit.score, reason.by_words, reason.by_meaning))
            }
            p class="quiet" {
                @if reason.words.is_empty() { "matched by meaning only" } @else { "matched words: " (reason.words.join(", ")) }
                @if !reason.missing.is_empty() { "; missing: " (reason.missing.join(", ")) }
            }
        }
    }
}
