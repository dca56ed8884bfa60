//! The files that a conversation touched.

use super::{CallOutcome, PastCall};
use crate::frame;
use std::collections::BTreeMap;

/// One file with what was done to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touched {
    /// Its path, as the calls gave it.
    pub path: String,
    /// What was done last.
    pub last: FileUse,
    /// How often it was read.
    pub reads: usize,
    /// How often it was changed.
    pub changes: usize,
}

impl Touched {
    /// Whether it was changed at all.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        self.changes > 0
    }
}

/// What a call does to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileUse {
    Read,
    /// Parts of it are changed.
    Edited,
    /// It is written whole.
    Written,
    /// It was changed before the compaction that came before.
    ChangedEarlier,
}

impl FileUse {
    /// What a tool does, if it works on one file.
    #[must_use]
    pub fn of(tool: &str) -> Option<Self> {
        match tool {
            "Read" => Some(Self::Read),
            "Edit" | "MultiEdit" | "NotebookEdit" => Some(Self::Edited),
            "Write" => Some(Self::Written),
            _ => None,
        }
    }

    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Edited => "edited",
            Self::Written => "written",
            Self::ChangedEarlier => "changed earlier",
        }
    }
}

/// The files that an earlier summary names as changed, then those of these
/// calls, in the order of their last use. Only a call that worked counts:
/// what was refused or broken off touched nothing.
pub(super) fn touched(calls: &[PastCall], earlier: Option<&str>) -> Vec<Touched> {
    let last = FileUse::ChangedEarlier;
    let before: Vec<String> = earlier.into_iter().flat_map(frame::changed_in).collect();
    let mut files = Files::default();
    for path in &before {
        files.used_last(path, Touched { path: path.clone(), last, reads: 0, changes: 1 });
    }
    for call in calls.iter().filter(|call| matches!(call.outcome, CallOutcome::Worked(_))) {
        let Some(last) = FileUse::of(&call.tool) else { continue };
        let mut file = files.take(&call.target).unwrap_or_else(|| Touched {
            path: call.target.clone(),
            last,
            reads: 0,
            changes: 0,
        });
        file.last = last;
        match last {
            FileUse::Read => file.reads += 1,
            FileUse::Edited | FileUse::Written | FileUse::ChangedEarlier => file.changes += 1,
        }
        files.used_last(&call.target, file);
    }
    files.in_order.into_iter().flatten().collect()
}

/// Files in the order of their last use; a place that was left is empty.
#[derive(Default)]
struct Files<'a> {
    in_order: Vec<Option<Touched>>,
    places: BTreeMap<&'a str, usize>,
}

impl<'a> Files<'a> {
    fn take(&mut self, path: &str) -> Option<Touched> {
        let place = self.places.remove(path)?;
        self.in_order.get_mut(place)?.take()
    }

    fn used_last(&mut self, path: &'a str, file: Touched) {
        self.places.entry(path).or_insert(self.in_order.len());
        self.in_order.push(Some(file));
    }
}
