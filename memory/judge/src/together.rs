//! A memory that two members of a team changed apart (F1, L5.35).

use crate::gate::Known;
use crate::merge::{self, Relation, Statement};
use crate::stamp::composed;
use everfold_memory_file::Memory;
use everfold_memory_file::frontmatter::{Key, METADATA, Value, set};

/// What becomes of two versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Together {
    /// One text that says what both say.
    One(String),
    /// They are about different things, and only have the same name.
    Apart,
    /// They contradict each other: one is in force, the other waits for a person.
    Against {
        /// Which of them is in force.
        holds: MergeSide,
    },
}

/// One of two versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeSide {
    /// The one that was made here.
    Ours,
    /// The one that the others have already.
    Theirs,
}

/// Puts two versions of a memory together; none of what either adds is lost.
#[must_use]
pub fn together(base: Option<&str>, ours: &str, theirs: &str) -> Together {
    if ours == theirs {
        return Together::One(theirs.to_owned());
    }
    match base {
        Some(base) => changed(base, ours, theirs),
        None => added(ours, theirs),
    }
}

fn changed(base: &str, ours: &str, theirs: &str) -> Together {
    let (old, mine, other) = (Memory::parse(base), Memory::parse(ours), Memory::parse(theirs));
    let Some(body) = merge::three_way(old.body, mine.body, other.body) else {
        return against(&mine, &other);
    };
    let about = |memory: &Memory<'_>| memory.front.description.clone().unwrap_or_default();
    let (before, mine_about, others_about) = (about(&old), about(&mine), about(&other));
    let description = if others_about == before { mine_about } else { others_about };
    Together::One(weighed(&composed(theirs, &description, &body), &mine, &other))
}

/// Both were written under one name, neither knowing of the other.
fn added(ours: &str, theirs: &str) -> Together {
    let (mine, other) = (Memory::parse(ours), Memory::parse(theirs));
    match related(&mine, &other) {
        Relation::New => Together::Apart,
        Relation::Same { .. } => Together::One(theirs.to_owned()),
        // Neither is an answer to the other: each keeps its words.
        Relation::Extends { .. } | Relation::Supersedes { .. } => {
            match merge::three_way("", mine.body, other.body) {
                Some(body) => {
                    let about = other.front.description.clone().unwrap_or_default();
                    Together::One(weighed(&composed(theirs, &about, &body), &mine, &other))
                }
                None => against(&mine, &other),
            }
        }
    }
}

/// Whether a new memory of ours says what one of the others' says, under
/// whatever name.
#[must_use]
pub fn near_copy(ours: &str, theirs: &str) -> bool {
    let (mine, other) = (Memory::parse(ours), Memory::parse(theirs));
    mine.front.kind == other.front.kind && matches!(related(&mine, &other), Relation::Same { .. })
}

fn related(mine: &Memory<'_>, other: &Memory<'_>) -> Relation {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let known = Known {
        file: String::new(),
        name: text(&other.front.name),
        description: text(&other.front.description),
        body: other.body.to_owned(),
        basis: other.front.basis,
    };
    let (name, description) = (text(&mine.front.name), text(&mine.front.description));
    let new = Statement { name: &name, description: &description, body: mine.body };
    merge::relate(&new, &[known])
}

/// What a person stated is never replaced by what was inferred; else what the
/// others have already holds.
fn against(mine: &Memory<'_>, other: &Memory<'_>) -> Together {
    let ours_is_surer = mine.front.basis > other.front.basis;
    Together::Against { holds: if ours_is_surer { MergeSide::Ours } else { MergeSide::Theirs } }
}

/// A text that is no more certain and no more trusted than either of those that
/// it was made from.
fn weighed(text: &str, mine: &Memory<'_>, other: &Memory<'_>) -> String {
    let basis = [mine.front.basis, other.front.basis].into_iter().flatten().min();
    let trust = [mine.front.provenance, other.front.provenance].into_iter().flatten().max();
    let told = [
        ("basis", basis.map(|basis| basis.as_str().to_owned())),
        ("provenance", trust.map(|trust| trust.to_string())),
    ];
    let put = |text: String, (key, value): (&str, Option<String>)| match value {
        Some(value) => set(&text, Key::Under(METADATA, key), &Value::Text(value)).unwrap_or(text),
        None => text,
    };
    told.into_iter().fold(text.to_owned(), put)
}
