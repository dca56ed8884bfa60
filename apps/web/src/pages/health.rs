//! Whether the layers earn their keep (Q10).

use crate::error::Error;
use crate::frame::{self, Link, Tab};
use crate::site::Site;
use axum::extract::{Query, State};
use everfold_agent::health::{Health, HealthScope};
use maud::{Markup, html};
use serde::Deserialize;
use std::sync::Arc;

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Wanted {
    #[serde(default)]
    of: String,
}

pub(crate) async fn show(
    State(site): State<Arc<Site>>,
    Query(wanted): Query<Wanted>,
) -> Result<Markup, Error> {
    let scope = if wanted.of == "week" { HealthScope::Week } else { HealthScope::Project };
    let health = Health::look(&site.agent, &scope, Some(&site.memories)).await?;
    let link = Link::to("/health");
    let tab = |text: &str, name: &str, own: &HealthScope| {
        let is_open = *own == scope;
        html! {
            a href=(link.with("of", name).href()) aria-current=[is_open.then_some("page")] { (text) }
        }
    };
    let body = html! {
        nav class="tabs" aria-label="Of what" {
            (tab("This directory", "", &HealthScope::Project))
            (tab("The last seven days", "week", &HealthScope::Week))
        }
        p class="quiet" { (scope.title()) ", Everfold's own sessions only" }
        dl class="figures" {
            @for (name, value) in health.rows() { dt { (name) } dd { (value) } }
        }
        p { code { "everfold doctor" } " finds what is wrong, and says how to fix it." }
    };
    Ok(frame::page(&site, Tab::Health, "Health", &body))
}
