//! What goes in by the one door that all doors lead to (L5.32).

use super::MemoryScope;
use crate::ids::{RecordId, SessionId};
use crate::testimony::Testimony;
use std::path::PathBuf;

/// A memory that somebody would keep. Whoever asks, by whichever door, fills in
/// one of these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryProposal {
    /// The file as it is proposed, with its frontmatter.
    pub text: String,
    pub place: MemoryPlacement,
    /// What it can rest on (L5.33).
    pub testimony: Testimony,
    /// Who proposes it, and why.
    pub by: MemoryAuthor,
    /// Whether it is made at once where it may be (L5.24, L5.37).
    pub haste: Haste,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryPlacement {
    /// Named after itself; what it says decides where (L5.38).
    Anywhere {
        /// The tier that its words ask for, where they do.
        scope: Option<MemoryScope>,
    },
    /// Named after itself, in the place that was asked for and no other.
    In { scope: MemoryScope },
    /// This file, by its absolute path, which holds this now. What it said and
    /// the new text leaves out stays (L5.35).
    At {
        path: PathBuf,
        /// What it has to hold.
        before: MemoryBefore,
    },
    /// The same, but it is to hold exactly the text: by the person's own hand, or
    /// for a model that sees memories as plain files (X4).
    Exactly {
        path: PathBuf,
        /// What it has to hold.
        before: MemoryBefore,
    },
}

/// Whether a proposal may be made without asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Haste {
    /// It may, where the judge and the settings agree.
    AtOnce,
    /// It waits in the inbox whatever it rests on.
    Waits,
}

/// What a memory has to hold before it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryBefore {
    Anything,
    /// Nothing: it is not there.
    Absent,
    Text(String),
}

/// Who writes a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryAuthor {
    /// The person, or which agent of ours.
    pub who: MemoryWriter,
    pub reason: String,
    pub session: Option<SessionId>,
    pub messages: Vec<RecordId>,
}

/// Who is at a door.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryWriter {
    Person,
    /// An agent, by the name that the history has for it.
    Agent(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryRef {
    /// The place that it is in.
    pub scope: MemoryScope,
    /// Its path within that place, with `/` between the parts.
    pub file: String,
    /// Its absolute path.
    pub path: PathBuf,
}

impl MemoryRef {
    /// How a person and a model are told of it: `global/me.md`.
    #[must_use]
    pub fn id(&self) -> String {
        format!("{}/{}", self.scope.as_str(), self.file)
    }
}

/// What became of a proposal. Every door renders this in its own way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// It is a memory now.
    Saved {
        memory: MemoryRef,
        /// The entry of the history; none where nothing changed.
        entry: Option<u64>,
    },
    /// A memory that was there took it up, and lost nothing (L5.35).
    Merged {
        kept: MemoryRef,
        /// What it says now that it did not; empty where it said all of it.
        changed: Vec<String>,
        /// The entry of the history; none where nothing changed.
        entry: Option<u64>,
    },
    /// It took the place of what a memory said (L5.36).
    Superseded {
        memory: MemoryRef,
        /// What it says now.
        changed: Vec<String>,
        /// What no longer holds.
        ended: Vec<String>,
        /// The entry of the history.
        entry: Option<u64>,
    },
    /// It waits for the person's word (L5.24, L5.33).
    Proposed {
        /// What it would become.
        memory: MemoryRef,
        /// Its number in that place's inbox.
        id: u64,
    },
    /// It is not kept.
    Refused {
        /// Why, in words that name nothing of what was refused (L5.40).
        reason: String,
    },
}

impl Kept {
    /// The memory that it is about.
    #[must_use]
    pub fn memory(&self) -> Option<&MemoryRef> {
        match self {
            Self::Saved { memory, .. }
            | Self::Merged { kept: memory, .. }
            | Self::Superseded { memory, .. }
            | Self::Proposed { memory, .. } => Some(memory),
            Self::Refused { .. } => None,
        }
    }

    /// The entry of the history, where something changed.
    #[must_use]
    pub fn entry(&self) -> Option<u64> {
        match self {
            Self::Saved { entry, .. }
            | Self::Merged { entry, .. }
            | Self::Superseded { entry, .. } => *entry,
            Self::Proposed { .. } | Self::Refused { .. } => None,
        }
    }

    /// What a person is told of it, on one line; nothing where nothing changed.
    #[must_use]
    pub fn notice(&self) -> Option<String> {
        let with = |what: String, changed: &[String]| match changed.first() {
            Some(first) if changed.len() > 1 => {
                format!("{what}: {first} (and {} more)", changed.len() - 1)
            }
            Some(first) => format!("{what}: {first}"),
            None => what,
        };
        match self {
            Self::Saved { entry: None, .. }
            | Self::Merged { entry: None, .. }
            | Self::Refused { .. } => None,
            Self::Saved { memory, .. } => Some(format!("saved {}", memory.id())),
            Self::Merged { kept, changed, .. } => {
                Some(with(format!("added to {}", kept.id()), changed))
            }
            Self::Superseded { memory, changed, .. } => {
                Some(with(format!("updated {}", memory.id()), changed))
            }
            Self::Proposed { memory, .. } => Some(format!("{} is waiting for review", memory.id())),
        }
    }

    /// The command that takes it back, or decides about it (L5.41).
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match (self, self.entry()) {
            (Self::Proposed { memory, id }, _) => {
                Some(format!("everfold memory inbox accept {id} --scope {}", memory.scope.as_str()))
            }
            (_, Some(entry)) => {
                let scope = self.memory()?.scope.as_str();
                Some(format!("everfold memory undo {entry} --scope {scope}"))
            }
            _ => None,
        }
    }
}
