//! Flags and limits that can change while sessions run (Q3).
//!
//! [`LiveFlags`] is what layers ask; it always answers at once. A poller looks
//! at a file or a URL in the background and swaps in what it finds. A look that
//! fails changes nothing. Whoever sends bytes that depend on a value reads it
//! once and keeps it (PC1); this handle does not do that for them.

mod poller;

pub use poller::{FlagLocation, PollerHandle, poll_interval, spawn_poller};

use crate::error::Error;
use crate::resolved::Resolved;
use everfold_kernel::{Flags, Limits};
use serde_json::{Map, Value};
use std::sync::{Arc, Mutex, PoisonError};

/// A cheap handle on the flags and limits in force. Clones see the same.
#[derive(Clone, Debug)]
pub struct LiveFlags {
    current: Arc<Mutex<Arc<Resolved>>>,
}

impl LiveFlags {
    /// Starts from settings, before any provider has answered.
    #[must_use]
    pub fn new(resolved: Resolved) -> Self {
        Self { current: Arc::new(Mutex::new(Arc::new(resolved))) }
    }

    /// The flags and limits in force now.
    #[must_use]
    pub fn current(&self) -> (Flags, Limits) {
        let own = &self.resolved().settings.everfold;
        (own.flags.clone(), own.limits.clone())
    }

    /// The settings in force now, with origins.
    #[must_use]
    pub fn resolved(&self) -> Arc<Resolved> {
        let current = self.current.lock();
        Arc::clone(&current.unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes over what a provider answered; all of it or nothing.
    ///
    /// # Errors
    /// [`Error::Flag`] if it is not of the form `{"flags": {…}, "limits": {…}}`
    /// with values that flags and limits take.
    pub fn apply(&self, answer: &[u8]) -> Result<(), Error> {
        let wrong =
            |reason: String| Error::Flag { flag: "everfold.flag_source".to_owned(), reason };
        let answer: Map<String, Value> =
            serde_json::from_slice(answer).map_err(|error| wrong(error.to_string()))?;
        // Other keys are left for other readers.
        let part = |name: &str| {
            let nothing = || Value::Object(Map::new());
            answer.get(name).cloned().unwrap_or_else(nothing)
        };
        let next = self.resolved().with_provider(&part("flags"), &part("limits"))?;
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        *current = Arc::new(next);
        Ok(())
    }
}
