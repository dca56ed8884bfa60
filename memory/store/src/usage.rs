//! Which memories were of use (L5.29): counted beside the store, not in the
//! files, so that counting changes no memory.

use crate::error::Error;
use crate::path::TopicPath;
use crate::store::Store;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

const FILE: &str = "usage.json";
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// What happened to a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// It was shown to a model.
    Recalled,
    /// A model went on to use it.
    Used,
}

/// How often a memory was of use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// How often it was shown.
    #[serde(default)]
    pub recalled: u64,
    /// How often it was used.
    #[serde(default)]
    pub used: u64,
    /// When it was last used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used: Option<Timestamp>,
}

impl Store {
    /// The counts of all memories that were ever shown.
    ///
    /// # Errors
    /// If they cannot be read. Counts that make no sense count as none.
    pub fn usage(&self) -> Result<BTreeMap<TopicPath, Count>, Error> {
        match self.own()?.read(Path::new(FILE), MAX_BYTES) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes).unwrap_or_default()),
            Err(everfold_disk::Error::NotFound { .. }) => Ok(BTreeMap::new()),
            Err(error) => Err(error.into()),
        }
    }

    /// Counts.
    ///
    /// # Errors
    /// If the counts cannot be read or written.
    pub fn count(&self, uses: &[(TopicPath, Use)], at: Timestamp) -> Result<(), Error> {
        self.change_counts(|counts| {
            for (path, what) in uses {
                let count = counts.entry(path.clone()).or_default();
                match what {
                    Use::Recalled => count.recalled += 1,
                    Use::Used => {
                        count.used += 1;
                        count.last_used = Some(at);
                    }
                }
            }
        })
    }

    /// The counts of a memory follow it to its new path.
    pub(crate) fn move_counts(&self, from: &TopicPath, to: &TopicPath) -> Result<(), Error> {
        if !self.usage()?.contains_key(from) {
            return Ok(());
        }
        self.change_counts(|counts| {
            if let Some(count) = counts.remove(from) {
                counts.insert(to.clone(), count);
            }
        })
    }

    fn change_counts(
        &self,
        change: impl FnOnce(&mut BTreeMap<TopicPath, Count>),
    ) -> Result<(), Error> {
        let _lock = self.lock()?;
        let mut counts = self.usage()?;
        change(&mut counts);
        let bytes = serde_json::to_vec(&counts).map_err(|source| Error::Encode { source })?;
        Ok(self.own()?.write(Path::new(FILE), &bytes)?)
    }
}
