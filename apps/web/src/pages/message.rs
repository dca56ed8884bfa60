//! One message of a session, in full: secrets masked, long ones part by part.

use super::{book, session_row};
use crate::error::Error;
use crate::frame::{self, Link, Tab};
use crate::site::Site;
use crate::transcript::texts;
use axum::extract::{Path, Query, State};
use everfold_agent::past_sessions::spilled_result;
use everfold_kernel::phrase::{grouped, size};
use everfold_kernel::{BlockView, Entry, Record};
use everfold_memory_judge::secrets;
use maud::{Markup, html};
use serde::Deserialize;
use std::path::Path as FilePath;
use std::sync::Arc;

/// Characters of a message that are shown at once.
const PART_CHARS: usize = 100_000;

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Wanted {
    part: Option<usize>,
}

pub(crate) async fn show(
    State(site): State<Arc<Site>>,
    Path((key, number)): Path<(String, usize)>,
    Query(wanted): Query<Wanted>,
) -> Result<Markup, Error> {
    site.blocking(move |site| {
        let title = format!("Message {number}");
        let book = match book(site, Tab::Sessions, &title) {
            Ok(book) => book,
            Err(page) => return Ok(*page),
        };
        let row = &session_row(site, &book, &key)?;
        let own = site.transcripts.close_up(row)?;
        let index = number.checked_sub(1).ok_or_else(|| Error::none("such message"))?;
        let head = own.heads.get(index).ok_or_else(|| Error::none("such message"))?;
        let (record, file) = own.message(index, site.transcripts.line_bytes())?;
        let session = format!("/sessions/{}", row.key);
        let around = Link::to(session.as_str()).with("at", head.at.as_millisecond()).href();
        let body = html! {
            p class="quiet" {
                (frame::badge(head.kind.as_str(), head.kind.as_str())) " "
                (frame::moment(site, record.at)) " · " code { (record.id.as_str()) }
            }
            nav class="pager" aria-label="Messages" {
                @if number > 1 { a rel="prev" href={ (session) "/messages/" (number - 1) } { "← Previous" } }
                a href={ (around) "#messages" } { "Back to the session" }
                @if number < own.heads.len() {
                    a rel="next" href={ (session) "/messages/" (number + 1) } { "Next →" }
                }
            }
            (content(site, &record, file, &Link::to(format!("{session}/messages/{number}")), wanted.part))
        };
        Ok(frame::page(site, Tab::Sessions, &title, &body))
    })
    .await
}

fn content(
    site: &Site,
    record: &Record,
    file: &FilePath,
    link: &Link,
    part: Option<usize>,
) -> Markup {
    let spilled = spilled(site, record, file);
    let all = spilled.unwrap_or_else(|| texts(&record.entry));
    // One text, so that parts are of the whole message.
    let whole: Vec<(String, String)> =
        all.into_iter().map(|(name, text)| (name, secrets::mask(&text))).collect();
    let long = whole.iter().map(|(_, text)| text.chars().count()).sum::<usize>();
    let parts = long.div_ceil(PART_CHARS).max(1);
    let part = part.unwrap_or(1).clamp(1, parts);
    let (mut skip, mut left) = ((part - 1) * PART_CHARS, PART_CHARS);
    html! {
        @for (name, text) in &whole {
            @let count = text.chars().count();
            @let shown: String = text.chars().skip(skip).take(left).collect();
            @if !shown.is_empty() || count == 0 {
                section { h2 { (name) } pre class="text" { (shown) } }
            }
            @let taken = shown.chars().count();
            ({ skip = skip.saturating_sub(count); left -= taken; maud::PreEscaped("") })
        }
        @if parts > 1 {
            nav class="pager" aria-label="Parts" {
                @if part > 1 { a href=(link.with("part", part - 1).href()) { "← Previous part" } }
                span { "part " (part) " of " (parts) ", " (grouped(long as u64)) " characters" }
                @if part < parts { a href=(link.with("part", part + 1).href()) { "Next part →" } }
            }
        }
    }
}

/// What of a result lies beside the transcript, whole.
fn spilled(site: &Site, record: &Record, file: &FilePath) -> Option<Vec<(String, String)>> {
    let Entry::User(user) = &record.entry else { return None };
    let most = site.agent.config().limits.past.result_bytes;
    let mut found = Vec::new();
    for block in &user.content {
        if let BlockView::ToolResult { id, .. } = block.view()
            && let Some(text) = spilled_result(file, id, most)
        {
            found.push((format!("result, {} on disk", size(text.len() as u64)), text));
        }
    }
    (!found.is_empty()).then_some(found)
}
