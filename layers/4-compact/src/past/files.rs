//! The files that a conversation touched.

use super::{Call, CallOutcome};

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
    /// It is read.
    Read,
    /// Parts of it are changed.
    Edited,
    /// It is written whole.
    Written,
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
        }
    }
}

/// The files of these calls, in the order of their last use. A call that
/// failed touched nothing.
pub(super) fn touched(calls: &[Call]) -> Vec<Touched> {
    let mut files: Vec<Touched> = Vec::new();
    for call in calls.iter().filter(|call| !matches!(call.outcome, CallOutcome::Failed(_))) {
        let Some(last) = FileUse::of(&call.tool) else { continue };
        let at = files.iter().position(|file| file.path == call.target);
        let mut file = match at {
            Some(at) => files.remove(at),
            None => Touched { path: call.target.clone(), last, reads: 0, changes: 0 },
        };
        file.last = last;
        match last {
            FileUse::Read => file.reads += 1,
            FileUse::Edited | FileUse::Written => file.changes += 1,
        }
        files.push(file);
    }
    files
}
