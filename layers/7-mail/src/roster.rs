//! All kinds of agents of a session.
//!
//! The list is part of the definition of a tool, and so of the cached prefix:
//! it is made once. Kinds that appear later are told by an attachment.

use crate::definition::{Definition, FORK};
use everfold_kernel::limits::AgentLimits;
use std::collections::BTreeMap;
use std::fmt::Write as _;

const GENERAL: &str = include_str!("kinds/general.md");
const EXPLORE: &str = include_str!("kinds/explore.md");
const PLAN: &str = include_str!("kinds/plan.md");

/// The kind that serves where a call names none.
pub const DEFAULT: &str = "general";

/// The kinds of agents that there are.
#[derive(Clone, Debug, PartialEq)]
pub struct Roster {
    kinds: BTreeMap<String, Definition>,
    /// What could not be read, for `doctor`.
    pub problems: Vec<String>,
}

impl Roster {
    /// Those built in, the person's, and the repository's; of one name the
    /// later holds.
    #[must_use]
    pub fn new(person: Vec<Definition>, repository: Vec<Definition>) -> Self {
        let kinds = built_in().into_iter().chain(person).chain(repository);
        let kinds = kinds.map(|kind| (kind.name.clone(), kind)).collect();
        Self { kinds, problems: Vec::new() }
    }

    /// The same with more, which stand over those of the same names.
    #[must_use]
    pub fn with(mut self, more: impl IntoIterator<Item = Definition>) -> Self {
        self.kinds.extend(more.into_iter().map(|kind| (kind.name.clone(), kind)));
        self
    }

    /// The same, in which no kind runs anything by itself that an earlier one
    /// did not run: what came later, nobody was asked about (S7).
    #[must_use]
    pub fn acting_as(mut self, earlier: &Self) -> Self {
        for kind in self.kinds.values_mut() {
            if kind.acts_beyond(earlier.kinds.get(&kind.name)) {
                kind.disarm();
            }
        }
        self
    }

    /// The kind of this name. What other programs call the built-in ones is
    /// taken too.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Definition> {
        let name = name.trim();
        self.kinds.get(name).or_else(|| match name {
            "general-purpose" | "" => self.kinds.get(DEFAULT),
            "Explore" => self.kinds.get("explore"),
            "Plan" => self.kinds.get("plan"),
            _ => None,
        })
    }

    /// Whether there are those only that everybody has.
    #[must_use]
    pub fn is_built_in(&self) -> bool {
        let own = built_in();
        self.kinds.len() == own.len() && self.kinds.values().all(|kind| own.contains(kind))
    }

    /// Their names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.kinds.keys().map(String::as_str)
    }

    /// The list for the model: one line a kind, within the limits.
    #[must_use]
    pub fn listing(&self, limits: &AgentLimits) -> String {
        let mut text = String::new();
        for kind in self.kinds.values() {
            let _ = writeln!(text, "{}", line(kind, limits));
        }
        let _ = write!(
            text,
            "- {FORK}: a copy of you with all of this conversation, for a part of the work that \
             needs it; cheap, since what it starts from is cached"
        );
        text
    }

    /// What this one has and an earlier one had not, as lines for the model.
    #[must_use]
    pub fn since(&self, earlier: &Self, limits: &AgentLimits) -> Vec<String> {
        let new = self.kinds.values().filter(|kind| earlier.kinds.get(&kind.name) != Some(kind));
        new.map(|kind| line(kind, limits)).collect()
    }
}

fn line(kind: &Definition, limits: &AgentLimits) -> String {
    let words = kind.description.split_whitespace().collect::<Vec<_>>().join(" ");
    let about: String = words.chars().take(limits.description_chars).collect();
    let more = if about.len() < words.len() { "…" } else { "" };
    format!("- {}: {about}{more}", kind.name)
}

/// The kinds that every session has.
fn built_in() -> Vec<Definition> {
    [GENERAL, EXPLORE, PLAN].into_iter().filter_map(|text| Definition::parse(text).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l7_4_three_kinds_are_built_in_and_those_that_look_cannot_write() {
        let roster = Roster::new(Vec::new(), Vec::new());
        assert_eq!(roster.names().collect::<Vec<_>>(), ["explore", "general", "plan"]);
        for name in ["explore", "plan"] {
            let kind = roster.get(name).unwrap();
            assert!(kind.has_tool("Read") && !kind.has_tool("Write") && !kind.has_tool("Edit"));
        }
        assert!(roster.get("general-purpose").unwrap().has_tool("Write"));
        insta::assert_snapshot!(roster.listing(&AgentLimits::default()));
    }

    #[test]
    fn l7_4_the_repository_stands_over_the_person_and_late_kinds_are_told() {
        let kind = |about: &str| Definition::new("reviewer", about, "p");
        let before = Roster::new(vec![kind("mine")], Vec::new());
        let after = Roster::new(vec![kind("mine")], vec![kind("theirs")]);
        assert_eq!(before.get("reviewer").unwrap().description, "mine");
        assert_eq!(after.get("reviewer").unwrap().description, "theirs");
        let limits = AgentLimits::default();
        assert_eq!(after.since(&before, &limits), ["- reviewer: theirs"]);
        assert!(after.since(&after, &limits).is_empty());
        let short = AgentLimits { description_chars: 3, ..limits };
        assert_eq!(after.since(&before, &short), ["- reviewer: the…"]);
    }
}
