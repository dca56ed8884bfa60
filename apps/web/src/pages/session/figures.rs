//! What a session cost, by cause; where its cache was lost; its dearest moments;
//! its compactions.

use crate::frame;
use crate::ledger::SessionRow;
use crate::site::Site;
use crate::transcript::{CloseUp, HeadKind};
use everfold_kernel::phrase::{counted, grouped};
use everfold_memory_judge::secrets;
use everfold_replay::{Bill, Causes};
use maud::{Markup, html};

/// Rows of each table.
const LISTED: usize = 20;

pub(super) fn show(site: &Site, row: &SessionRow, own: &CloseUp) -> Markup {
    html! {
        @if let Some(bill) = own.bill() {
            (causes(bill))
            (breaks(site, row, own, bill))
        }
        (moments(row, own))
        (compactions(site, row, own))
    }
}

fn causes(bill: &Bill) -> Markup {
    let causes = Causes::of(std::iter::once((String::new(), bill)));
    let whole = causes.usd();
    html! {
        @if whole > 0.0 {
            section {
                h2 { "What it cost, and why" }
                (crate::pages::money::cause_table(causes.sorted().into_iter().map(|(cause, own)| {
                    (cause, own.usd, own.avoidable_usd)
                }), whole))
            }
        }
    }
}

fn breaks(site: &Site, row: &SessionRow, own: &CloseUp, bill: &Bill) -> Markup {
    let mut all: Vec<_> = bill.breaks.iter().collect();
    all.sort_by(|one, other| other.usd.total_cmp(&one.usd));
    let number = |at| own.lane.rounds.iter().position(|round| round.at == at);
    html! {
        @if !all.is_empty() {
            section {
                h2 { "Cache breaks" }
                div class="wide" {
                    table {
                        thead { tr {
                            th { "When" } th { "What changed" } th class="number" { "Tokens rewritten" } th class="number" { "Cost" }
                        } }
                        tbody {
                            @for broken in all.iter().take(LISTED) {
                                tr {
                                    td {
                                        @if let Some(number) = number(broken.at) {
                                            a href={ "/sessions/" (row.key) "/requests/" (number + 1) } {
                                                "request " (grouped(number as u64 + 1))
                                            } ", "
                                        }
                                        (frame::moment(site, broken.at))
                                    }
                                    td { (secrets::mask(&broken.part)) }
                                    td class="number" { (grouped(broken.tokens)) }
                                    td class="number" { (frame::usd(broken.usd)) }
                                }
                            }
                        }
                    }
                }
                @if all.len() > LISTED { p class="quiet" { "and " (all.len() - LISTED) " more" } }
            }
        }
    }
}

fn moments(row: &SessionRow, own: &CloseUp) -> Markup {
    html! {
        @if !own.lane.moments.is_empty() {
            section {
                h2 { "Most expensive moments" }
                ul class="cards" {
                    @for moment in own.lane.moments.iter().take(LISTED / 2) {
                        li {
                            a class="name" href={ "/sessions/" (row.key) "/requests/" (moment.round + 1) } {
                                "request " (grouped(moment.round as u64 + 1))
                            }
                            " " strong { (frame::usd(moment.usd)) }
                            p { (secrets::mask(&moment.what)) }
                            p class="quiet" { "would have helped: " (moment.avoid) }
                        }
                    }
                }
            }
        }
    }
}

/// Each compaction: how many messages went out of view, what was kept.
fn compactions(site: &Site, row: &SessionRow, own: &CloseUp) -> Markup {
    let mut found = Vec::new();
    let mut since = 0_u64;
    for (number, head) in own.heads.iter().enumerate().filter(|(_, head)| !head.aside) {
        match head.kind {
            HeadKind::Compaction => {
                found.push((number, head, since, None));
                since = 0;
            }
            HeadKind::Summary => {
                if let Some((_, _, _, summary @ None)) = found.last_mut() {
                    *summary = Some(number);
                }
            }
            HeadKind::Decided => {}
            _ => since += 1,
        }
    }
    html! {
        @if !found.is_empty() {
            section {
                h2 { "Compactions" }
                ul class="cards" {
                    @for (number, head, since, summary) in found.iter().take(LISTED) {
                        li {
                            a class="name" href={ "/sessions/" (row.key) "/messages/" (number + 1) } {
                                (head.line)
                            }
                            p class="quiet" {
                                (frame::moment(site, head.at)) " · " (counted(*since, "message")) " dropped from view"
                                @if let Some(summary) = summary {
                                    " · " a href={ "/sessions/" (row.key) "/messages/" (summary + 1) } { "the summary" }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
