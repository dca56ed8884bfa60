//! What all pages have: head, navigation, and the small parts that they are made
//! of.

mod link;
mod part;

pub(crate) use link::{Link, path_part};
pub(crate) use part::{
    actions, badge, bar, diff, empty, field, hidden, moment, pager, percent, tokens, told_done, usd,
};

use crate::asset;
use crate::site::Site;
use maud::{DOCTYPE, Markup, html};

/// Which part of the page is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tab {
    Overview,
    Sessions,
    Money,
    Memories,
    Inbox,
    Dreams,
    Recall,
    Health,
    Settings,
}

const TABS: [(Tab, &str, &str); 9] = [
    (Tab::Overview, "/", "Overview"),
    (Tab::Sessions, "/sessions", "Sessions"),
    (Tab::Money, "/money", "Money"),
    (Tab::Memories, "/memories", "Memories"),
    (Tab::Inbox, "/inbox", "Inbox"),
    (Tab::Dreams, "/dreams", "Dreams"),
    (Tab::Recall, "/recall", "Recall"),
    (Tab::Health, "/health", "Health"),
    (Tab::Settings, "/settings", "Settings"),
];

/// A page with everything around it.
pub(crate) fn page(site: &Site, tab: Tab, title: &str, body: &Markup) -> Markup {
    let waiting = site.memories.waiting();
    html! {
        (DOCTYPE)
        html lang="en" {
            (head(title))
            body {
                a class="skip" href="#main" { "Skip to the content" }
                header {
                    a class="brand" href="/" { "Everfold" }
                    nav aria-label="Pages" {
                        @for (own, address, name) in TABS {
                            a href=(address) aria-current=[(own == tab).then_some("page")] {
                                (name)
                                @if own == Tab::Inbox && waiting > 0 {
                                    " " span class="count" { (waiting) }
                                }
                            }
                        }
                    }
                }
                main id="main" tabindex="-1" {
                    h1 { (title) }
                    (body)
                }
                footer {
                    span { (site.memories.project().display().to_string()) }
                    @if !site.can_change() { span { "read only" } }
                }
            }
        }
    }
}

/// A page for whoever may not see more.
pub(crate) fn bare(title: &str, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            (head(title))
            body class="bare" { main id="main" { h1 { (title) } (body) } }
        }
    }
}

fn head(title: &str) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            title { (title) " · Everfold" }
            link rel="stylesheet" href=(asset::STYLE);
            link rel="icon" href=(asset::ICON) type="image/svg+xml";
            script src=(asset::SCRIPT) defer {}
        }
    }
}
