//! What waits is offered where it would have helped (L5.46), each at most once a
//! day: a note beside the store says on which day it was.

use super::{Proposal, ProposalId};
use crate::error::Error;
use crate::store::Store;
use jiff::civil::Date;
use std::collections::BTreeMap;
use std::path::Path;

const FILE: &str = "offered.json";
/// Largest note that is read, in bytes.
const MAX_BYTES: u64 = 1024 * 1024;

type Days = BTreeMap<u64, String>;

impl Store {
    /// The proposals that were not offered on a day yet.
    ///
    /// # Errors
    /// If the inbox cannot be read.
    pub fn not_offered(&self, day: Date) -> Result<Vec<Proposal>, Error> {
        let mut waiting = self.inbox()?;
        if !waiting.is_empty() {
            let (days, day) = (self.days_of_offers(), day.to_string());
            waiting.retain(|proposal| days.get(&proposal.id.0) != Some(&day));
        }
        Ok(waiting)
    }

    /// Notes that a proposal was offered on a day.
    ///
    /// # Errors
    /// If it cannot be noted.
    pub fn offered(&self, id: ProposalId, day: Date) -> Result<(), Error> {
        let waiting = self.inbox()?;
        let mut days = self.days_of_offers();
        days.retain(|id, _| waiting.iter().any(|proposal| proposal.id.0 == *id));
        days.insert(id.0, day.to_string());
        let bytes = serde_json::to_vec(&days).map_err(|source| Error::Encode { source })?;
        Ok(self.own()?.write_lazily(Path::new(FILE), &bytes)?)
    }

    /// A note that is damaged is none: something is offered again.
    fn days_of_offers(&self) -> Days {
        let read = self.own().ok().and_then(|own| own.read(Path::new(FILE), MAX_BYTES).ok());
        read.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }
}
