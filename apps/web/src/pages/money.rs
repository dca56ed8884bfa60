//! What the agents on this machine cost: by day, project, agent and model, and
//! by cause (W5, PC9); the budget, and what goes on in the background.

mod chart;

pub(crate) use chart::days as day_chart;

use super::book;
use crate::error::Error;
use crate::frame::{self, Link, Tab};
use crate::ledger::{Book, SessionRow};
use crate::site::Site;
use axum::extract::{Query, State};
use everfold_agent::bills::Group;
use everfold_kernel::phrase::{counted, grouped};
use everfold_kernel::ports::SpentOf;
use everfold_replay::BillCause;
use jiff::ToSpan;
use jiff::civil::Date;
use maud::{Markup, html};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Groups that are shown.
const LISTED: usize = 60;

const PERIODS: [(&str, &str); 5] =
    [("1", "today"), ("7", "7 days"), ("30", "30 days"), ("90", "90 days"), ("all", "all time")];
const GROUPS: [(&str, &str); 6] = [
    ("day", "Day"),
    ("week", "Week"),
    ("month", "Month"),
    ("project", "Project"),
    ("agent", "Agent"),
    ("model", "Model"),
];

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Wanted {
    #[serde(default)]
    by: String,
    #[serde(default)]
    days: String,
}

pub(crate) async fn show(
    State(site): State<Arc<Site>>,
    Query(wanted): Query<Wanted>,
) -> Result<Markup, Error> {
    let spent = spent_today(&site).await;
    site.blocking(move |site| {
        let book = match book(site, Tab::Money, "Money") {
            Ok(book) => book,
            Err(page) => return Ok(*page),
        };
        let since = since(site, &wanted.days);
        let by = GROUPS.iter().map(|(name, _)| *name).find(|name| *name == wanted.by);
        let by = by.unwrap_or("day");
        let groups = groups(&book, by, since);
        let total = total(groups.values());
        let body = html! {
            (choice(&wanted, by))
            @if total.requests == 0 {
                (frame::empty("Nothing was spent in this period.", &html! {
                    "Choose a longer period. The sessions of every agent on this machine count."
                }))
            } @else {
                p class="lead" {
                    strong { (frame::usd(total.usd)) } " for " (counted(total.requests, "request")) ", "
                    (frame::percent(total.usage.hit_rate())) " of prompt tokens read from cache"
                    @if total.unpriced > 0 { "; " (grouped(total.unpriced)) " without a price" }
                }
                (day_chart(&by_day(&book, since)))
                (group_table(by, &groups))
                (why(&book, since))
            }
            (budget(site, spent.as_ref()))
        };
        Ok(frame::page(site, Tab::Money, "Money", &body))
    })
    .await
}

fn choice(wanted: &Wanted, by: &str) -> Markup {
    let days = if wanted.days.is_empty() { "30" } else { wanted.days.as_str() };
    let link = Link::to("/money").with("by", by).with("days", days);
    html! {
        nav class="tabs" aria-label="How long" {
            @for (value, name) in PERIODS {
                a href=(link.with("days", value).href()) aria-current=[(value == days).then_some("page")] { (name) }
            }
        }
        nav class="tabs" aria-label="Summed up by" {
            @for (value, name) in GROUPS {
                a href=(link.with("by", value).href()) aria-current=[(value == by).then_some("page")] { (name) }
            }
        }
    }
}

/// The first day that counts.
pub(crate) fn since(site: &Site, days: &str) -> Option<Date> {
    if days == "all" {
        return None;
    }
    let days = days.parse::<i64>().unwrap_or(30).clamp(1, 3_650);
    site.now().date().checked_sub((days - 1).days()).ok()
}

/// Requests by what was asked for, from a day on.
fn groups(book: &Book, by: &str, since: Option<Date>) -> BTreeMap<String, Group> {
    let mut found: BTreeMap<String, Group> = BTreeMap::new();
    for row in &book.rows {
        for cell in row.days.iter().filter(|cell| since.is_none_or(|since| cell.day >= since)) {
            let key = match by {
                "project" => row.project.clone().unwrap_or_else(|| "unknown".to_owned()),
                "agent" => row.agent.clone(),
                "model" => cell.model.to_string(),
                "month" => cell.day.strftime("%Y-%m").to_string(),
                "week" => everfold_agent::bills::monday(cell.day).to_string(),
                _ => cell.day.to_string(),
            };
            found.entry(key).or_default().merge(&cell.sum);
        }
    }
    found
}

/// What each day cost.
pub(crate) fn by_day(book: &Book, since: Option<Date>) -> BTreeMap<Date, f64> {
    let mut found: BTreeMap<Date, f64> = BTreeMap::new();
    let cells = book.rows.iter().flat_map(|row| &row.days);
    for cell in cells.filter(|cell| since.is_none_or(|since| cell.day >= since)) {
        *found.entry(cell.day).or_default() += cell.sum.usd;
    }
    found
}

pub(crate) fn total<'a>(groups: impl Iterator<Item = &'a Group>) -> Group {
    let mut all = Group::default();
    for own in groups {
        all.merge(own);
    }
    all
}

fn group_table(by: &str, groups: &BTreeMap<String, Group>) -> Markup {
    let mut rows: Vec<(&String, &Group)> = groups.iter().rev().collect();
    if !matches!(by, "day" | "week" | "month") {
        rows.sort_by(|one, other| other.1.usd.total_cmp(&one.1.usd));
    }
    let most = rows.iter().map(|(_, own)| own.usd).fold(0.0, f64::max);
    let name = GROUPS.iter().find(|(own, _)| *own == by).map_or(by, |(_, name)| name);
    html! {
        div class="wide" {
            table {
                thead { tr {
                    th { (name) } th class="number" { "Cost" } th { "" } th class="number" { "Requests" }
                    th class="number" { "Cached" } th class="number" { "Written" } th class="number" { "Answers" }
                } }
                tbody {
                    @for (key, own) in rows.iter().take(LISTED) {
                        tr {
                            th scope="row" { (key) }
                            td class="number" {
                                @if own.unpriced == own.requests { "no price" } @else { (frame::usd(own.usd)) }
                            }
                            td class="bars" { @if most > 0.0 { (frame::bar(own.usd / most)) } }
                            td class="number" { (grouped(own.requests)) }
                            td class="number" { (frame::percent(own.usage.hit_rate())) }
                            td class="number" { (frame::tokens(own.usage.cache_write())) }
                            td class="number" { (frame::tokens(own.usage.output)) }
                        }
                    }
                }
            }
        }
        @if rows.len() > LISTED { p class="quiet" { "and " (rows.len() - LISTED) " more; " code { "everfold cost" } " lists them all" } }
    }
}

/// The causes from a day on: what each cost, and what of it could have been saved.
pub(crate) fn causes(book: &Book, since: Option<Date>) -> Vec<(BillCause, f64, f64)> {
    let mut by: BTreeMap<BillCause, (f64, f64)> = BTreeMap::new();
    let cells = book.rows.iter().flat_map(|row| &row.causes);
    for cell in cells.filter(|cell| since.is_none_or(|since| cell.day >= since)) {
        let sum = by.entry(cell.cause).or_default();
        (sum.0, sum.1) = (sum.0 + cell.usd, sum.1 + cell.avoidable);
    }
    let mut all: Vec<_> = by.into_iter().map(|(cause, (usd, saved))| (cause, usd, saved)).collect();
    all.sort_by(|one, other| other.1.total_cmp(&one.1));
    all
}

fn why(book: &Book, since: Option<Date>) -> Markup {
    let all = causes(book, since);
    let whole: f64 = all.iter().map(|(_, usd, _)| usd).sum();
    let mut broken: Vec<&Arc<SessionRow>> =
        book.rows.iter().filter(|row| row.breaks.1 > 0.0 && is_since(row, since)).collect();
    broken.sort_by(|one, other| other.breaks.1.total_cmp(&one.breaks.1));
    html! {
        @if whole > 0.0 {
            section {
                h2 { "Why" }
                (cause_table(all.into_iter(), whole))
            }
        }
        @if !broken.is_empty() {
            section {
                h2 { "Most expensive cache breaks" }
                ul {
                    @for row in broken.iter().take(5) {
                        li {
                            a href={ "/sessions/" (row.key) } { (super::sessions::title(row)) } ": "
                            (counted(row.breaks.0 as u64, "break")) ", " (frame::usd(row.breaks.1))
                        }
                    }
                }
            }
        }
    }
}

fn is_since(row: &SessionRow, since: Option<Date>) -> bool {
    since.is_none_or(|since| row.days.iter().any(|cell| cell.day >= since))
}

/// Causes in order of money, each with what would change it.
pub(crate) fn cause_table(
    causes: impl Iterator<Item = (BillCause, f64, f64)>,
    whole: f64,
) -> Markup {
    html! {
        div class="wide" {
            table {
                thead { tr {
                    th { "Cause" } th class="number" { "Cost" } th { "" } th class="number" { "Avoidable" }
                    th { "How to reduce it" }
                } }
                tbody {
                    @for (cause, usd, avoidable) in causes {
                        tr {
                            th scope="row" { (cause.title()) }
                            td class="number" { (frame::usd(usd)) }
                            td class="bars" { (frame::bar(usd / whole)) }
                            td class="number" { @if avoidable > 0.0 { (frame::usd(avoidable)) } }
                            td { (cause.advice()) }
                        }
                    }
                }
            }
        }
    }
}

async fn spent_today(site: &Site) -> Option<SpentOf> {
    let spending = site.agent.world().spending.clone()?;
    spending.spent(site.now().date()).await.ok()
}

/// What work in the background may spend, and has (L5.27).
fn budget(site: &Site, spent: Option<&SpentOf>) -> Markup {
    let limits = site.agent.settings().settings.everfold.budget;
    let used = spent.map(|own| own.background);
    let behind = used.map_or(0.0, |own| own.cost.0);
    let share = if limits.daily_usd > 0.0 { behind / limits.daily_usd } else { 0.0 };
    html! {
        section {
            h2 { "Background budget" }
            p { "Recall, reviews, notes and dreams have spent " strong { (frame::usd(behind)) }
                " of " (frame::usd(limits.daily_usd)) " today." }
            (frame::bar(share))
            dl class="figures" {
                @if let Some(used) = used {
                    dt { "tokens today" } dd { (grouped(used.tokens)) " of " (grouped(limits.daily_tokens)) }
                }
                dt { "a session" } dd { (frame::usd(limits.session_usd)) ", " (grouped(limits.session_tokens)) " tokens" }
                dt { "share of conversations" } dd { "at most " (frame::percent(limits.background_share)) }
                dt { "ceiling of a turn" } dd { (frame::usd(limits.turn_ceiling_usd)) }
            }
            p class="quiet" { "Set by " code { "everfold.budget" } "; " a href="/settings?q=everfold.budget" { "all of it" } "." }
        }
    }
}
