//! What comes out: the same ranking for whoever asks (R11).

use super::MemoryScope;
use crate::record::Attachment;
use jiff::Timestamp;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// What a text is looked up for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecallQuery {
    /// The text.
    pub text: String,
    /// Memories that are in view already, by their absolute paths (R7).
    pub in_view: BTreeSet<PathBuf>,
    /// Bytes of memories that the session was shown (R5).
    pub injected: usize,
    /// Most bytes that can be shown now, where that is less than what is left.
    pub room: Option<usize>,
}

/// What a text calls for, best first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recalled {
    /// Every memory that has something of it, or only those worth showing.
    pub hits: Vec<RecallHit>,
    /// Exactly what a model is shown; none where nothing is good enough.
    pub shown: Option<Attachment>,
    /// How many memories were looked at.
    pub looked_at: usize,
}

/// One memory that has something of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct RecallHit {
    /// Where it is; none of a place where the directory is no store of ours.
    pub scope: Option<MemoryScope>,
    /// Its path within its directory.
    pub file: String,
    /// Its absolute path.
    pub path: PathBuf,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Its description, if it has one.
    pub description: Option<String>,
    /// Its type, if it has a known one.
    pub kind: Option<String>,
    /// When it was last written.
    pub modified: Timestamp,
    /// Its score, comparable within one recall.
    pub score: f64,
    /// How much of the text it has, from 0 to 1.
    pub coverage: f64,
    /// How much speaks for it.
    pub evidence: f64,
    /// The words by which it was found.
    pub words: Vec<String>,
    /// Whether it is in what is shown.
    pub is_shown: bool,
}
