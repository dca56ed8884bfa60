//! The way that a conversation took, for finding where it went back.
//!
//! A line names the one before it. Where that is not the last thing said, the
//! person went back and on from there: what was said since is no longer part
//! of the conversation. Lines of one response and their results hang off one
//! another in any order, so only what comes after another *thing said* (a
//! prompt, another response) counts.

use everfold_kernel::RecordId;

/// What a step is to the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// A prompt, or the first block of a response.
    Opens,
    /// Anything else: it belongs to what was opened last.
    Follows,
}

#[derive(Clone, Debug)]
struct Step {
    id: RecordId,
    group: u32,
}

/// The steps of one conversation since its last boundary.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trail {
    steps: Vec<Step>,
    group: u32,
}

impl Trail {
    /// Adds a step, and tells its place.
    pub(crate) fn note(&mut self, id: RecordId, pace: Pace) -> usize {
        self.group += u32::from(pace == Pace::Opens);
        self.steps.push(Step { id, group: self.group });
        self.steps.len() - 1
    }

    /// What is dropped when the conversation goes on behind `parent`, which
    /// was noted at `place`. None where it goes on from its end, or where the
    /// parent is not on the way.
    pub(crate) fn back_to(&mut self, parent: &RecordId, place: usize) -> Option<Vec<RecordId>> {
        let step = self.steps.get(place).filter(|step| step.id == *parent)?;
        let group = step.group;
        if group == self.group {
            return None;
        }
        // What hangs off the same response stays.
        let first = self.steps.partition_point(|step| step.group <= group);
        let dropped = self.steps.split_off(first).into_iter().map(|step| step.id).collect();
        self.group = group;
        Some(dropped)
    }

    /// All steps from a place on.
    pub(crate) fn from(&self, place: usize) -> Vec<RecordId> {
        self.steps.iter().skip(place).map(|step| step.id.clone()).collect()
    }

    /// The place of a step.
    pub(crate) fn place(&self, id: &RecordId) -> Option<usize> {
        self.steps.iter().rposition(|step| step.id == *id)
    }
}
