//! Syncs beside a session: what is new comes in at its start, what it changes
//! goes out, and neither keeps it waiting for long.

use super::{ProjectTeam, Prompts};
use everfold_memory_service::TeamLink;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Keeps one team in step, one sync at a time, on a thread of its own.
pub(crate) struct BackgroundSync {
    inner: Arc<Inner>,
}

struct Inner {
    team: ProjectTeam,
    state: Mutex<State>,
    turned: Condvar,
}

#[derive(Default)]
struct State {
    round: SyncRound,
    /// A change of ours is not with the others yet.
    owed: bool,
    pulled: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum SyncRound {
    #[default]
    None,
    Running,
    /// Something changed since it began.
    Again,
}

impl BackgroundSync {
    pub(crate) fn new(team: ProjectTeam) -> Self {
        let (state, turned) = (Mutex::default(), Condvar::new());
        Self { inner: Arc::new(Inner { team, state, turned }) }
    }

    /// Starts a sync, or has the running one go round again.
    pub(crate) fn start(&self) {
        let mut state = self.inner.lock();
        if state.round != SyncRound::None {
            state.round = SyncRound::Again;
            return;
        }
        state.round = SyncRound::Running;
        drop(state);
        let inner = Arc::clone(&self.inner);
        let begun = std::thread::Builder::new().name("team".to_owned()).spawn(move || inner.work());
        if begun.is_err() {
            self.inner.lock().round = SyncRound::None;
        }
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        loop {
            let patience = Duration::from_secs(self.team.limits().background_s);
            match self.team.sync(Prompts::Never, patience) {
                Ok(report) => tracing::debug!(?report, "the team is in step"),
                Err(error) => tracing::info!(%error, "the team is not in step"),
            }
            let mut state = self.lock();
            state.pulled = true;
            self.turned.notify_all();
            if state.round != SyncRound::Again {
                state.round = SyncRound::None;
                state.owed = false;
                return;
            }
            state.round = SyncRound::Running;
        }
    }

    /// Waits until something holds, for a time.
    fn wait(&self, most: Duration, holds: impl Fn(&State) -> bool) {
        let until = Instant::now() + most;
        let mut state = self.lock();
        while !holds(&state) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let waited = self.turned.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl TeamLink for BackgroundSync {
    fn pull(&self) {
        let is_first = {
            let state = self.inner.lock();
            !state.pulled && state.round == SyncRound::None
        };
        if is_first {
            self.start();
        }
        let most = Duration::from_millis(self.inner.team.limits().pull_ms);
        self.inner.wait(most, |state| state.pulled || state.round == SyncRound::None);
    }

    fn changed(&self) {
        self.inner.lock().owed = true;
        self.start();
    }
}

impl Drop for BackgroundSync {
    /// What was changed at the end goes out before the process does, if it can.
    fn drop(&mut self) {
        let most = Duration::from_millis(self.inner.team.limits().close_ms);
        self.inner.wait(most, |state| !state.owed || state.round == SyncRound::None);
    }
}
