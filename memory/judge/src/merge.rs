//! How something new stands to what is known, and what becomes of both
//! (L5.23, L5.35, L5.36).
//!
//! An update adds: what a memory says is lost only where the newer words
//! contradict it, and then in that place alone. Texts are compared clause by
//! clause, by the words that carry a meaning: names, numbers, days,
//! identifiers, the stems of the rest.
//!
//! Whose words outrank whose is not decided here: the caller knows the basis.

mod clauses;
mod comparison;
mod heard;
mod keys;
mod lexicon;
mod markers;
mod old;
mod probe;
mod rewrite;
mod sentences;
mod subject;
mod threeway;
mod wording;
mod words;

use crate::gate::Known;
use comparison::{Stand, compared};
use heard::Heard;
use old::Old;
use probe::Probe;

/// What is new, as it would be written: dates already made absolute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statement<'a> {
    /// What it is called.
    pub name: &'a str,
    /// What it says, on a line.
    pub description: &'a str,
    pub body: &'a str,
}

/// How something new stands to what is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Nothing that is known is about the same.
    New,
    /// A known memory says all of it already.
    Same { of: usize },
    /// It adds to a known one: the memory as it becomes.
    Extends {
        of: usize,
        /// What it says now.
        body: String,
        /// The same, on a line.
        description: String,
        changed: Vec<String>,
    },
    /// It replaces what a known one says, or a part of it.
    Supersedes {
        of: usize,
        /// What it says now.
        body: String,
        /// The same, on a line.
        description: String,
        /// What is said instead.
        changed: Vec<String>,
        /// What no longer holds, in its own words.
        ended: Vec<String>,
    },
}

/// How a statement stands to the known memory that is closest to it; of two
/// that are as close, the first.
#[must_use]
pub fn relate(new: &Statement<'_>, known: &[Known]) -> Relation {
    let body = if new.body.trim().is_empty() { new.description } else { new.body };
    let heard = Heard::of(new.name, body);
    let mut best: Option<(usize, Old<'_>, comparison::Finding)> = None;
    let probe = Probe::of(&heard);
    for (of, known) in known.iter().enumerate().filter(|(_, known)| probe.may_meet(known)) {
        let old = Old::of(known);
        if let Some(finding) = compared(&heard, &old)
            && best.as_ref().is_none_or(|(_, _, best)| finding.score > best.score)
        {
            best = Some((of, old, finding));
        }
    }
    let Some((of, old, finding)) = best else { return Relation::New };
    match &finding.stand {
        Stand::Same => Relation::Same { of },
        Stand::Extends => {
            let worded = wording::extended(&heard, &old, finding.target);
            if worded.changed.is_empty() && worded.body == old.known.body {
                return Relation::Same { of };
            }
            Relation::Extends {
                of,
                body: worded.body,
                description: worded.description,
                changed: worded.changed,
            }
        }
        Stand::Supersedes { pairs, over, turned } => {
            let worded = wording::superseded(&heard, &old, &finding, pairs, over, turned);
            Relation::Supersedes {
                of,
                body: worded.body,
                description: worded.description,
                changed: worded.changed,
                ended: worded.ended,
            }
        }
    }
}

/// A whole new text for a memory that is there: the new body, with every
/// statement of the old one put back that it leaves out and does not
/// contradict; and which these were.
#[must_use]
pub fn rewritten(old_body: &str, new_body: &str) -> (String, Vec<String>) {
    rewrite::rewritten(old_body, new_body)
}

/// The body of a memory that was changed in two places, with both changes; none
/// where they contradict each other.
#[must_use]
pub fn three_way(base: &str, ours: &str, theirs: &str) -> Option<String> {
    threeway::joined(base, ours, theirs)
}
