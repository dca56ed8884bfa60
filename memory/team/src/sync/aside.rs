//! Versions that wait for a person's word.
//!
//! They are noted before anything is changed and handed in afterwards, against
//! what is there then; who is killed in between finds the note.

use super::{SyncReport, TeamSync};
use crate::error::Error;
use crate::place;
use everfold_memory_store::store::inbox::ProposedChange;
use everfold_memory_store::{By, TopicPath};
use std::path::PathBuf;

const FILE: &str = "aside.json";

/// What waits, by the memory that it is about.
pub(super) struct Aside(Vec<(String, String)>);

impl Aside {
    /// Hands in what somebody who was killed had noted.
    pub(super) fn recover(sync: &TeamSync<'_>, report: &mut SyncReport) -> Result<(), Error> {
        let noted = place::read(&file(sync))?.unwrap_or_default();
        Self(noted).propose(sync, report)
    }

    /// Notes versions that are about to be set aside.
    pub(super) fn note(sync: &TeamSync<'_>, versions: &[(String, String)]) -> Result<Self, Error> {
        if !versions.is_empty() {
            place::write(&file(sync), &versions)?;
        }
        Ok(Self(versions.to_vec()))
    }

    pub(super) fn propose(self, sync: &TeamSync<'_>, report: &mut SyncReport) -> Result<(), Error> {
        if self.0.is_empty() {
            return Ok(());
        }
        let reason = format!("team {}: another version, which says something else", sync.name);
        let by = By::agent("team", &reason, sync.now);
        for (path, text) in self.0 {
            let change = ProposedChange::write(TopicPath::found(path.clone()), text);
            match sync.store.propose(&[change], &by) {
                Ok(_) => {
                    report.waits.insert(path);
                }
                // It stays in the history of the store.
                Err(error) => tracing::warn!(%error, path, "a version cannot be handed in"),
            }
        }
        match std::fs::remove_file(file(sync)) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(Error::Damaged { path: file(sync), message: error.to_string() }),
        }
    }
}

fn file(sync: &TeamSync<'_>) -> PathBuf {
    sync.dir.join(FILE)
}
