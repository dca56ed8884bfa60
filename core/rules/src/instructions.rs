//! What there is after loading: texts, rules that wait, and an account of it.

use crate::discovery::{InstructionScope, Reason};
use crate::patterns::Patterns;
use everfold_kernel::tokens::Tokens;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// A text that the model is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionText {
    pub path: PathBuf,
    pub scope: InstructionScope,
    /// Why it was loaded.
    pub reason: Reason,
    /// What it says, without frontmatter and comments.
    pub text: String,
}

/// A rule that waits for a file that its `paths` match (I2).
#[derive(Clone, Debug)]
pub struct Conditional {
    pub path: PathBuf,
    pub scope: InstructionScope,
    /// What it waits for.
    pub patterns: Patterns,
}

/// One file that was met, for `everfold instructions` (I5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionFile {
    pub path: PathBuf,
    pub scope: InstructionScope,
    /// Why it was looked at.
    pub reason: Reason,
    /// Bytes that the model is shown.
    pub bytes: usize,
    /// About how many tokens those are.
    pub tokens: Tokens,
    /// What became of it.
    pub fate: FileFate,
}

/// What became of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileFate {
    Loaded,
    /// Loaded, and longer than is good: this many characters (I4).
    LoadedLarge {
        /// Its characters.
        chars: usize,
    },
    Empty,
    /// It waits for a file that its `paths` match; these patterns never will.
    Waiting {
        /// Invalid patterns, and those that stand for too many.
        refused_patterns: Vec<String>,
    },
    /// `claudeMdExcludes` names it.
    Excluded,
    /// It is over the limit (I4).
    TooLarge {
        /// Its size in bytes.
        bytes: u64,
    },
    /// It is not text.
    NotText,
    /// It lies outside of the tree that imports it or links to it, and the
    /// person did not approve that (I5, S9).
    NeedsApproval {
        /// Where it really is.
        real: PathBuf,
    },
    /// It is imported over too many hops, or it and what follows it are more
    /// imports than are taken (I3).
    TooDeep,
    /// An import of what is not there; it stays as text.
    Missing,
    /// It could not be read.
    Unreadable {
        message: String,
    },
}

/// What a loader ended with.
#[derive(Clone, Debug, Default)]
pub struct Instructions {
    /// The texts, in order; where two disagree, the later one holds.
    pub texts: Vec<InstructionText>,
    /// Rules that wait.
    pub conditional: Vec<Conditional>,
    /// Everything that was met.
    pub rows: Vec<InstructionFile>,
    /// The real paths of what was loaded; it is not loaded again.
    pub loaded: BTreeSet<PathBuf>,
}
