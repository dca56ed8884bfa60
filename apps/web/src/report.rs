//! The report of the first minute as one file (PC14): nothing is loaded from
//! elsewhere, so it can be kept, sent and opened anywhere.

use crate::frame;
use everfold_agent::unsaved::UnsavedMemory;
use everfold_kernel::phrase::{counted, grouped};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde::Serialize;

/// What the sessions of every agent on a machine cost, and what would change it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FirstReport {
    pub days: u32,
    pub sessions: usize,
    pub usd: f64,
    /// The dearest first.
    pub agents: Vec<AgentBill>,
    /// The dearest causes that something can be done about.
    pub savings: Vec<Saving>,
    pub replayed: ComparedSessions,
    /// What would have been remembered, the surest first.
    pub remembered: Vec<UnsavedMemory>,
}

/// What the sessions of one agent cost.
#[derive(Clone, Debug, Serialize)]
pub struct AgentBill {
    pub agent: String,
    pub usd: f64,
    pub requests: u64,
}

/// What could have been saved.
#[derive(Clone, Debug, Serialize)]
pub struct Saving {
    pub cause: &'static str,
    pub advice: &'static str,
    pub usd: f64,
}

/// What the dearest sessions cost, and would have cost with us.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ComparedSessions {
    pub sessions: usize,
    pub recorded_usd: f64,
    pub everfold_usd: f64,
    pub everfold_background_usd: f64,
    pub everfold_rereads: u64,
}

impl FirstReport {
    /// The report as a page of its own.
    #[must_use]
    pub fn html(&self) -> String {
        let body = html! {
            p class="lead" {
                "The last " (counted(u64::from(self.days), "day")) ": "
                (counted(self.sessions as u64, "session")) " of "
                (counted(self.agents.len() as u64, "agent")) ", " (frame::usd(self.usd)) "."
            }
            (self.by_agent())
            (self.saved())
            (self.compared())
            (self.memories())
        };
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { "What your agents cost · Everfold" }
                    style { (PreEscaped(include_str!("assets/page.css"))) }
                }
                body class="bare" {
                    main id="main" { h1 { "What your agents cost" } (body) }
                }
            }
        };
        page.into_string()
    }

    fn by_agent(&self) -> Markup {
        html! {
            table {
                thead { tr {
                    th { "Agent" } th class="number" { "Cost" } th class="number" { "Requests" } th {}
                } }
                tbody {
                    @for own in &self.agents {
                        tr {
                            td { (own.agent) }
                            td class="number" { (frame::usd(own.usd)) }
                            td class="number" { (grouped(own.requests)) }
                            td { (frame::bar(own.usd / self.usd.max(f64::MIN_POSITIVE))) }
                        }
                    }
                }
            }
        }
    }

    fn saved(&self) -> Markup {
        html! {
            @if !self.savings.is_empty() {
                h2 { "What could have been saved" }
                ul {
                    @for own in &self.savings {
                        li {
                            strong { (frame::usd(own.usd)) } " · " (own.cause) ": " (own.advice)
                        }
                    }
                }
            }
        }
    }

    fn compared(&self) -> Markup {
        let own = &self.replayed;
        html! {
            @if own.sessions > 0 {
                h2 { "With Everfold" }
                p {
                    "The most expensive " (counted(own.sessions as u64, "session"))
                    " would have cost " strong { (frame::usd(own.everfold_usd)) } " instead of "
                    (frame::usd(own.recorded_usd)) ", " (frame::usd(own.everfold_background_usd))
                    " of it in the background."
                }
            }
        }
    }

    fn memories(&self) -> Markup {
        html! {
            @if !self.remembered.is_empty() {
                h2 { "What would have been remembered" }
                ul class="cards" {
                    @for own in &self.remembered {
                        li {
                            p { (own.text) " " (frame::badge("", own.kind)) }
                            p class="quiet" {
                                "“" (own.words) "”, " (own.at.strftime("%Y-%m-%d").to_string())
                                @if own.times > 1 { ", said " (counted(own.times as u64, "time")) }
                                @if !own.is_sure { ", would wait in the inbox" }
                            }
                        }
                    }
                }
            }
        }
    }
}
