//! What becomes of each memory when two states meet (F1, L5.35).
//!
//! A function of texts: what both had in common, what is here, what the others
//! have. It touches nothing.

use everfold_memory_judge::together::{MergeSide, Together, near_copy, together};
use std::collections::{BTreeMap, BTreeSet};

/// One memory in its three states; none where it is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meeting<'a> {
    pub path: &'a str,
    /// What both had last.
    pub base: Option<&'a str>,
    pub ours: Option<&'a str>,
    /// What the others have.
    pub theirs: Option<&'a str>,
}

/// What is to be done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TeamPlan {
    /// What memories here are to hold; none: they go.
    pub here: BTreeMap<String, Option<String>>,
    /// What the others are to have; none: it goes.
    pub there: BTreeMap<String, Option<String>>,
    /// What waits for a person, by the memory that it is about.
    pub aside: Vec<(String, String)>,
}

/// Decides about all memories that differ. Names that are taken are not given
/// to another.
#[must_use]
pub fn planned(meetings: &[Meeting<'_>], taken: &BTreeSet<String>) -> TeamPlan {
    let mut plan = TeamPlan::default();
    let mut taken = taken.clone();
    taken.extend(meetings.iter().map(|meeting| meeting.path.to_owned()));
    let is_new = |m: &&Meeting<'_>| m.base.is_none() && m.ours.is_none();
    let came: Vec<&str> = meetings.iter().filter(is_new).filter_map(|m| m.theirs).collect();
    for meeting in meetings {
        let Meeting { path, base, ours, theirs } = *meeting;
        if ours == theirs {
            continue;
        }
        let path = path.to_owned();
        let is_copy = |ours: &str| came.iter().any(|theirs| near_copy(ours, theirs));
        match (base, ours, theirs) {
            // Only they changed it.
            (base, ours, theirs) if ours == base => {
                plan.here.insert(path, theirs.map(str::to_owned));
            }
            // A new one of ours says what a new one of theirs says.
            (None, Some(ours), None) if is_copy(ours) => {
                plan.here.insert(path, None);
            }
            // Only we did; or they forgot it, not knowing that we changed it.
            (base, ours, theirs) if theirs == base || theirs.is_none() => {
                plan.there.insert(path, ours.map(str::to_owned));
            }
            // It was forgotten here, not knowing that they changed it.
            (_, None, theirs) => {
                plan.here.insert(path, theirs.map(str::to_owned));
            }
            (base, Some(ours), Some(theirs)) => plan.join(&path, base, ours, theirs, &mut taken),
            _ => {}
        }
    }
    plan
}

impl TeamPlan {
    /// Both changed it.
    fn join(
        &mut self,
        path: &str,
        base: Option<&str>,
        ours: &str,
        theirs: &str,
        taken: &mut BTreeSet<String>,
    ) {
        let path = path.to_owned();
        match together(base, ours, theirs) {
            Together::One(text) => {
                if text != ours {
                    self.here.insert(path.clone(), Some(text.clone()));
                }
                if text != theirs {
                    self.there.insert(path, Some(text));
                }
            }
            Together::Apart => {
                let other = free_name(&path, taken);
                taken.insert(other.clone());
                self.here.insert(path, Some(theirs.to_owned()));
                self.here.insert(other.clone(), Some(ours.to_owned()));
                self.there.insert(other, Some(ours.to_owned()));
            }
            Together::Against { holds: MergeSide::Theirs } => {
                self.aside.push((path.clone(), ours.to_owned()));
                self.here.insert(path, Some(theirs.to_owned()));
            }
            Together::Against { holds: MergeSide::Ours } => {
                self.aside.push((path.clone(), theirs.to_owned()));
                self.there.insert(path, Some(ours.to_owned()));
            }
        }
    }
}

/// The path with a number that nobody has.
fn free_name(path: &str, taken: &BTreeSet<String>) -> String {
    let stem = path.strip_suffix(".md").unwrap_or(path);
    let names = (2_u64..).map(|number| format!("{stem}-{number}.md"));
    names.into_iter().find(|name| !taken.contains(name)).unwrap_or_else(|| path.to_owned())
}
