//! The state that we and the others had in common last.
//!
//! What was changed here, and what was changed there, is told by it. A base that
//! is lost is no loss: everything is compared anew.

use crate::error::Error;
use crate::place;
use everfold_memory_store::ContentId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

const FILE: &str = "base.json";

/// A state in common.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TeamBase {
    pub revision: String,
    /// The memories, by their paths in the store.
    pub files: BTreeMap<String, BaseFile>,
    /// What the others have and we do not take in.
    #[serde(default)]
    pub held: BTreeMap<String, AncestorHeld>,
}

/// A memory of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BaseFile {
    /// The name of what it holds, as the others have it.
    pub version: String,
    /// The same, as the store has it.
    pub content: ContentId,
}

/// A file that is not taken in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AncestorHeld {
    pub version: String,
    /// Why it is not taken in.
    pub why: String,
}

impl TeamBase {
    /// The last one; an empty one where there is none.
    ///
    /// # Errors
    /// If it is there and cannot be read.
    pub fn load(dir: &Path) -> Result<Self, Error> {
        Ok(place::read(&dir.join(FILE))?.unwrap_or_default())
    }

    /// Keeps it.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn save(&self, dir: &Path) -> Result<(), Error> {
        place::write(&dir.join(FILE), self)
    }
}
