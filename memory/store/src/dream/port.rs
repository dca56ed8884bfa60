//! Consolidation as a session uses it. Everything runs on threads where it may
//! block.

use super::consolidation::{DirNight, logs_read};
use super::lock::{self, LOCK_FILE, Taken};
use crate::error::Error;
use crate::path::TopicPath;
use crate::store::inbox::{Handed, ProposedChange};
use crate::store::{By, MemoryTarget, Replacement, Store, StoreOptions, StoreScope};
use everfold_kernel::ports::{
    Begun, BoxFuture, Clock, DreamError, DreamProposal, Dreams, Ending, Gathered, Holder,
    MemoryScope, Night, NightWish, Stored, Swap, Swapped,
};
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The memories of a directory, to be consolidated.
pub struct DirDreams {
    dir: PathBuf,
    scope: MemoryScope,
    clock: Arc<dyn Clock>,
}

impl DirDreams {
    /// Those of this directory, links resolved. It is opened when it is needed.
    #[must_use]
    pub fn new(dir: PathBuf, scope: MemoryScope, clock: &Arc<dyn Clock>) -> Self {
        Self { dir, scope, clock: Arc::clone(clock) }
    }

    fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(Arc<Store>) -> Result<T, Error> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, DreamError>> {
        let (dir, at) = (self.dir.clone(), self.clock.now());
        let scope = match self.scope {
            MemoryScope::Project => StoreScope::Project,
            MemoryScope::Global => StoreScope::Global,
            MemoryScope::Team => StoreScope::Team,
        };
        let (place, options) = (dir.clone(), StoreOptions { scope, ..StoreOptions::default() });
        blocking(dir, move || {
            let store = Store::open_with(&place, options, at)?;
            work(Arc::new(store))
        })
    }
}

impl Dreams for DirDreams {
    fn scope(&self) -> MemoryScope {
        self.scope
    }

    fn dir(&self) -> &Path {
        &self.dir
    }

    fn lock_file(&self) -> PathBuf {
        self.dir.join(LOCK_FILE)
    }

    fn begin(&self, wish: NightWish) -> BoxFuture<'_, Result<Begun, DreamError>> {
        self.run(move |store| match lock::take(&store, wish.at)? {
            Taken::Held(held) => {
                if let Some(last) = held.prior().filter(|last| is_recent(*last, wish)) {
                    held.undone()?;
                    return Ok(Begun::Recent(last));
                }
                let night = Arc::new(DirNight::new(store, held)?);
                Ok(Begun::Night(Box::new(Held { night })))
            }
            Taken::Locked { pid, since } => {
                Ok(Begun::Locked(Holder { pid, since, ..Holder::default() }))
            }
        })
    }

    fn look(&self) -> BoxFuture<'_, Result<Stored, DreamError>> {
        self.run(|store| store.stored(logs_read(&store)))
    }
}

/// A night, for async code. Calls share it, the end takes it.
struct Held {
    night: Arc<DirNight>,
}

impl Held {
    fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&DirNight) -> Result<T, Error> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, DreamError>> {
        let night = Arc::clone(&self.night);
        blocking(night.store().dir().to_owned(), move || work(&night))
    }
}

impl Night for Held {
    fn copy(&self) -> &Path {
        self.night.copy()
    }

    fn look(&self) -> BoxFuture<'_, Result<Stored, DreamError>> {
        self.run(DirNight::look)
    }

    fn lay_out(&self, files: BTreeMap<String, String>) -> BoxFuture<'_, Result<(), DreamError>> {
        self.run(move |night| night.lay_out(&files))
    }

    fn gather(&self) -> BoxFuture<'_, Result<Gathered, DreamError>> {
        self.run(DirNight::gather)
    }

    fn swap(&self, swap: Swap) -> BoxFuture<'_, Result<Swapped, DreamError>> {
        self.run(move |night| {
            let mut by = By::agent("dream", &swap.reason, swap.at);
            by.session = swap.session;
            let files: Vec<Replacement> = swap
                .edits
                .into_iter()
                .map(|edit| Replacement { path: edit.path, expect: edit.expect, text: edit.text })
                .collect();
            match night.swap(&files, &by) {
                Ok(entry) => Ok(Swapped::Done(entry.map(|entry| entry.0))),
                Err(Error::Changed { .. }) => Ok(Swapped::Changed),
                Err(error) => Err(error),
            }
        })
    }

    fn propose(&self, proposal: DreamProposal) -> BoxFuture<'_, Result<bool, DreamError>> {
        self.run(move |night| {
            let mut by = By::agent("dream", &proposal.why, proposal.at);
            by.session = proposal.session;
            let place = MemoryTarget::At(TopicPath::new(&proposal.path)?);
            let wish = ProposedChange { place, text: proposal.text, line: None };
            let handed = night.store().propose(&[wish], &by)?;
            Ok(matches!(handed, Handed::New(_) | Handed::Waiting(_)))
        })
    }

    fn end(self: Box<Self>, ending: Ending) -> BoxFuture<'static, Result<(), DreamError>> {
        let dir = self.night.store().dir().to_owned();
        blocking(dir, move || match Arc::try_unwrap(self.night) {
            Ok(night) => night.end(ending),
            // Somebody still reads: the last one that lets go rewinds.
            Err(_) => Ok(()),
        })
    }
}

/// A time in the future says nothing: clocks are set back.
fn is_recent(last: Timestamp, wish: NightWish) -> bool {
    wish.unless_after.is_some_and(|after| last > after) && last <= wish.at
}

fn blocking<T: Send + 'static>(
    dir: PathBuf,
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> BoxFuture<'static, Result<T, DreamError>> {
    Box::pin(async move {
        let failed = |message: String| DreamError { dir: dir.clone(), message };
        match tokio::task::spawn_blocking(work).await {
            Ok(done) => done.map_err(|error| failed(error.to_string())),
            Err(error) => Err(failed(error.to_string())),
        }
    })
}
