//! What agents write, and what is counted.

use super::Tier;
use crate::error::Error;
use crate::journal::{Action, ContentId};
use crate::path::TopicPath;
use crate::store::inbox::{Handed, Wish};
use crate::store::{By, Expect, Place, Save, Store};
use crate::usage::Use;
use everfold_kernel::ports::{
    MemoryAuthor, MemoryBefore, MemoryError, MemoryLine, MemoryUse, MemoryWrite, MemoryWritten,
};
use everfold_kernel::settings::Review;
use everfold_kernel::{Class, Classify};
use everfold_memfile::index::INDEX_FILE;
use jiff::Timestamp;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const REJECTED: &str = "a person was asked about the same before and said no; let it go";

impl Tier {
    /// Writes what an agent asks for.
    fn write(&self, file: &str, write: &MemoryWrite) -> Result<MemoryWritten, MemoryError> {
        let store = self.store()?;
        let by = by(&write.by, self.clock.now());
        let failed = |error: Error| self.refused(&write.path, &error);
        match write.review {
            _ if file == INDEX_FILE => write_index(&store, write, &by).map_err(failed),
            Review::Auto if write.line == MemoryLine::Left => {
                write_topic(&store, file, write, &by).map_err(failed)
            }
            Review::Auto => save(&store, file, write, &by).map_err(failed),
            Review::Inbox => match propose(&store, file, write, &by).map_err(failed)? {
                Handed::New(_) | Handed::Waiting(_) => Ok(MemoryWritten::Proposed),
                Handed::Nothing => Ok(MemoryWritten::Unchanged),
                Handed::RejectedBefore(_) => {
                    let (path, reason) = (write.path.clone(), REJECTED.to_owned());
                    Err(MemoryError::Refused { path, reason })
                }
            },
        }
    }

    fn refused(&self, path: &Path, error: &Error) -> MemoryError {
        let path = path.to_owned();
        match error.class() {
            Class::Refuse => MemoryError::Refused { path, reason: error.to_string() },
            _ => {
                MemoryError::Unreadable { dir: self.place.dir.clone(), message: error.to_string() }
            }
        }
    }

    fn count(&self, uses: &[(String, Use)]) -> Result<(), MemoryError> {
        let uses: Vec<(TopicPath, Use)> =
            uses.iter().map(|(file, what)| (TopicPath::found(file.clone()), *what)).collect();
        let now = self.clock.now();
        self.store()?.count(&uses, now).map_err(|error| self.unreadable(&error))
    }
}

/// Writes to the tier that a path is in.
pub(super) fn write(
    tiers: &[Arc<Tier>],
    write: &MemoryWrite,
) -> Result<MemoryWritten, MemoryError> {
    let Some((tier, file)) = tier_of(tiers, &write.path) else {
        let reason = format!("{} is in no memory directory", write.path.display());
        return Err(MemoryError::Refused { path: write.path.clone(), reason });
    };
    tier.write(&file, write)
}

/// Gives lines to memories of the tiers that they are in.
pub(super) fn point_to(
    tiers: &[Arc<Tier>],
    paths: &[PathBuf],
    author: &MemoryAuthor,
) -> Result<(), MemoryError> {
    for tier in tiers {
        let own: Vec<TopicPath> = paths
            .iter()
            .filter_map(|path| {
                let (found, file) = tier_of(tiers, path)?;
                Arc::ptr_eq(&found, tier).then(|| TopicPath::new(&file).ok())?
            })
            .collect();
        if !own.is_empty() {
            let by = by(author, tier.clock.now());
            let done = tier.store()?.point_to(&own, &by);
            done.map_err(|error| tier.unreadable(&error))?;
        }
    }
    Ok(())
}

/// Counts in the tiers that paths are in; a path that is in none is nobody's.
pub(super) fn count(tiers: &[Arc<Tier>], uses: &[(PathBuf, MemoryUse)]) -> Result<(), MemoryError> {
    for tier in tiers {
        let own: Vec<(String, Use)> = uses
            .iter()
            .filter_map(|(path, what)| {
                let (found, file) = tier_of(tiers, path)?;
                Arc::ptr_eq(&found, tier).then_some((file, (*what).into()))
            })
            .collect();
        if !own.is_empty() {
            tier.count(&own)?;
        }
    }
    Ok(())
}

/// The tier whose directory a path is in, the innermost, and its name there.
fn tier_of(tiers: &[Arc<Tier>], path: &Path) -> Option<(Arc<Tier>, String)> {
    let inside = tiers.iter().filter_map(|tier| {
        let file = path.strip_prefix(&tier.place.dir).ok()?.to_str()?;
        Some((Arc::clone(tier), file.replace(std::path::MAIN_SEPARATOR, "/")))
    });
    inside.min_by_key(|(_, file)| file.len())
}

impl From<MemoryUse> for Use {
    fn from(what: MemoryUse) -> Self {
        match what {
            MemoryUse::Recalled => Self::Recalled,
            MemoryUse::Used => Self::Used,
        }
    }
}

fn by(author: &MemoryAuthor, at: Timestamp) -> By {
    By::agent(&author.source.to_string(), &author.reason, at)
        .from(author.session.clone(), author.messages.clone())
}

fn expect(before: &MemoryBefore) -> Expect {
    match before {
        MemoryBefore::Anything => Expect::Anything,
        MemoryBefore::Absent => Expect::Nothing,
        MemoryBefore::Text(text) => Expect::Content(ContentId::of(text.as_bytes())),
    }
}

fn write_index(store: &Store, write: &MemoryWrite, by: &By) -> Result<MemoryWritten, Error> {
    let entry = store.write_index(&write.text, &expect(&write.before), by)?;
    Ok(if entry.is_some() { MemoryWritten::Updated } else { MemoryWritten::Unchanged })
}

fn save(store: &Store, file: &str, write: &MemoryWrite, by: &By) -> Result<MemoryWritten, Error> {
    let saved = store.save(
        &Save {
            place: Place::At(TopicPath::new(file)?),
            text: &write.text,
            expect: expect(&write.before),
            line: None,
        },
        by,
    )?;
    Ok(match (saved.entry, saved.action) {
        (None, _) => MemoryWritten::Unchanged,
        (_, Action::Add) => MemoryWritten::Added,
        _ => MemoryWritten::Updated,
    })
}

fn write_topic(
    store: &Store,
    file: &str,
    write: &MemoryWrite,
    by: &By,
) -> Result<MemoryWritten, Error> {
    let path = TopicPath::new(file)?;
    let entry = store.write_topic(&path, &write.text, &expect(&write.before), by)?;
    Ok(if entry.is_some() { MemoryWritten::Updated } else { MemoryWritten::Unchanged })
}

fn propose(store: &Store, file: &str, write: &MemoryWrite, by: &By) -> Result<Handed, Error> {
    let wish = Wish::write(TopicPath::new(file)?, write.text.clone());
    store.propose(&[wish], by)
}
