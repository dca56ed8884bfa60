//! Every setting, its value and who set it. Only for looking: settings are files.

use crate::error::Error;
use crate::frame::{self, Tab};
use crate::site::Site;
use axum::extract::{Query, State};
use everfold_agent::settings::{SettingRow, ValueOrigin};
use everfold_kernel::phrase::counted;
use everfold_memory_judge::secrets;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Wanted {
    #[serde(default)]
    q: String,
    set: Option<String>,
}

pub(crate) async fn show(
    State(site): State<Arc<Site>>,
    Query(wanted): Query<Wanted>,
) -> Result<Markup, Error> {
    site.blocking(move |site| {
        let resolved = site.agent.settings();
        let sought = wanted.q.to_lowercase();
        let mut rows: Vec<SettingRow> = resolved.explain().collect();
        let all = rows.len();
        rows.retain(|row| {
            row.key.to_lowercase().contains(&sought)
                && (wanted.set.is_none() || row.origin != ValueOrigin::Default)
        });
        let body = html! {
            @for problem in resolved.problems.iter().chain(&resolved.passed_over) {
                p class="warning" { (secrets::mask(problem)) }
            }
            form class="search" action="/settings" role="search" {
                label { span class="hidden" { "Words" }
                    input type="search" name="q" value=(wanted.q) placeholder="Search settings";
                }
                label { input type="checkbox" name="set" value="1" checked[wanted.set.is_some()]; " only what is set" }
                button { "Search" }
            }
            p class="quiet" {
                (rows.len()) " of " (counted(all as u64, "setting")) ". Settings are read from files; "
                code { "everfold config" } " shows the same, docs/guide/settings.md says what each means."
            }
            @if rows.is_empty() {
                (frame::empty("No matching settings.", &html! { a href="/settings" { "Show all" } }))
            } @else {
                div class="wide" {
                    table class="settings" {
                        thead { tr { th { "Setting" } th { "Value" } th { "Set by" } } }
                        tbody {
                            @for row in &rows {
                                tr {
                                    th scope="row" { code { (row.key) } }
                                    td { (value(&row.value)) }
                                    td class="quiet" { (row.origin.to_string()) }
                                }
                            }
                        }
                    }
                }
            }
        };
        Ok(frame::page(site, Tab::Settings, "Settings", &body))
    })
    .await
}

fn value(value: &Value) -> Markup {
    html! {
        @if value.is_null() { span class="quiet" { "–" } }
        @else { code { (secrets::mask(&value.to_string())) } }
    }
}
