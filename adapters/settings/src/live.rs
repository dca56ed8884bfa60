//! Flags and limits that can change while sessions run (Q3).
//!
//! [`LiveFlags`] is what sessions are given their values from; it always answers
//! at once. A poller looks at a file or a URL in the background and swaps in what
//! it finds; whoever sees that settings files changed hands in a fresh reading of
//! them. A look that fails changes nothing but what [`LiveFlags::problem`] says.
//! Whoever sends bytes that depend on a value reads it once and keeps it (PC1);
//! this handle does not do that for them.

mod poller;

pub use poller::{FlagLocation, PollerHandle, poll_interval, spawn_poller};

use crate::error::Error;
use crate::origin::ValueOrigin;
use crate::resolved::Resolved;
use everfold_kernel::{Flags, Limits};
use serde_json::{Map, Value};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A cheap handle on the flags and limits in force. Clones see the same.
#[derive(Clone, Debug)]
pub struct LiveFlags {
    current: Arc<Mutex<Current>>,
}

#[derive(Debug)]
struct Current {
    resolved: Arc<Resolved>,
    /// Why the flag source gave nothing when it was last looked at.
    problem: Option<String>,
}

impl LiveFlags {
    /// Starts from settings, before any provider has answered.
    #[must_use]
    pub fn new(resolved: Resolved) -> Self {
        let current = Current { resolved: Arc::new(resolved), problem: None };
        Self { current: Arc::new(Mutex::new(current)) }
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
        Arc::clone(&self.state().resolved)
    }

    /// Why the flag source gives nothing now; its last values stay.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        self.state().problem.clone()
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
        // Held throughout: files may be read anew at the same time.
        let mut state = self.state();
        let next = state.resolved.with_provider(&part("flags"), &part("limits"))?;
        state.resolved = Arc::new(next);
        Ok(())
    }

    /// Takes over settings that were read anew, under what the provider says.
    /// What a file said that is gone now stays, and is named: a file that an
    /// editor is just replacing must not switch anything.
    ///
    /// # Errors
    /// [`Error::Merge`] if all of it together makes no settings.
    pub fn renew(&self, fresh: &Resolved) -> Result<Vec<ValueOrigin>, Error> {
        let mut state = self.state();
        let (next, gone) = fresh.with_missing_of(&state.resolved)?;
        state.resolved = Arc::new(next);
        Ok(gone)
    }

    fn report(&self, problem: Option<String>) {
        self.state().problem = problem;
    }

    fn state(&self) -> MutexGuard<'_, Current> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
