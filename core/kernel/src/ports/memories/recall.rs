//! What comes out: the same ranking for whoever asks (R11).

use super::MemoryScope;
use crate::record::Attachment;
use jiff::Timestamp;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// What a text is looked up for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecallQuery {
    pub text: String,
    /// Whose words it is.
    pub kind: QueryKind,
    /// Memories that are in view already, by their absolute paths (R7).
    pub in_view: BTreeSet<PathBuf>,
    /// Memories that a line in view names already (R13).
    pub named: BTreeSet<PathBuf>,
    /// Bytes of memories that the session was shown (R5).
    pub injected: usize,
    /// Most bytes that can be shown now, where that is less than what is left.
    pub room: Option<usize>,
    /// Whether somebody waits.
    pub urgency: Urgency,
}

/// Whether somebody waits for an answer who would rather go on without it (R16).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Urgency {
    /// All is read that was never read, however long it takes.
    #[default]
    Thorough,
    /// What is known serves; the rest is read in the background.
    Prompt,
}

/// Whose words a text is that memories are looked up for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueryKind {
    #[default]
    Prompt,
    /// What a program printed or a tool reported: pasted text as a whole, of
    /// which only distinctive tokens count (R13, R17).
    Output,
}

/// What a text calls for, best first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recalled {
    /// Every memory that has something of it, or only those worth showing.
    pub hits: Vec<RecallHit>,
    /// How likely the text calls for a memory at all, from 0 to 1.
    pub sureness: f64,
    /// Exactly what a model is shown; none where nothing is good enough.
    pub shown: Option<Attachment>,
    /// How many memories were looked at.
    pub looked_at: usize,
    /// How sure the ranking is of what it shows, or of showing nothing.
    pub certainty: RankCertainty,
    /// Whether there is more that was never read, or has no vectors yet.
    pub unread: usize,
}

/// How sure a ranking is (R18).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RankCertainty {
    /// Something surely helps.
    Sure,
    /// Something comes near, and may help.
    Unsure,
    /// Nothing comes near.
    #[default]
    Silent,
}

/// A memory that waits for a person's word and would have helped (L5.46).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingMemory {
    pub scope: MemoryScope,
    pub id: u64,
    /// What it is called.
    pub name: String,
    /// What it is about.
    pub description: String,
}

impl WaitingMemory {
    /// The command that accepts it, without the program's name.
    #[must_use]
    pub fn command(&self) -> String {
        format!("memory inbox accept {} --scope {}", self.id, self.scope.as_str())
    }

    /// What it says, in a line for people.
    #[must_use]
    pub fn told(&self) -> String {
        let line = match (self.name.as_str(), self.description.as_str()) {
            ("", about) => about.to_owned(),
            (name, "") => name.to_owned(),
            (name, about) => format!("{name}: {about}"),
        };
        let plain = |sign: char| if sign.is_control() { ' ' } else { sign };
        line.chars().take(TOLD_CHARS).map(plain).collect()
    }
}

/// Characters of a waiting memory that a person is told.
const TOLD_CHARS: usize = 160;

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
    pub reason: RecallReason,
    pub shown: RecallTier,
}

/// Why a memory was found (R9).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecallReason {
    /// The part of the score that is by words.
    pub by_words: f64,
    /// The part of the score that is by meaning.
    pub by_meaning: f64,
    /// How much of the text it has, from 0 to 1.
    pub coverage: f64,
    /// How alike the two are by meaning, from 0 to 1.
    pub likeness: f64,
    /// How likely it helps, if anything does, from 0 to 1.
    pub sureness: f64,
    /// The words by which it was found.
    pub words: Vec<String>,
    /// The words of the text that it does not have.
    pub missing: Vec<String>,
}

/// How a memory is shown (R13).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum RecallTier {
    /// With its body: it surely helps.
    Body,
    /// As a line, for the model to read or leave: it may help.
    Line,
    /// Not at all.
    #[default]
    None,
}

impl RecallTier {
    /// As programs read it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Body => "body",
            Self::Line => "line",
            Self::None => "none",
        }
    }
}
