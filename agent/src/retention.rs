//! Old sessions of a home (Q11).

use crate::agent::Agent;
use everfold_disk::atomic::{self, FileReaders};
use everfold_disk::retention::{self, StoredSession};
use everfold_kernel::Timestamp;
use std::time::{Duration, SystemTime};

/// Days after which a session that nobody touched is removed.
const DEFAULT_DAYS: u64 = 30;
/// Its time says when old sessions were last looked for.
const TIDIED: &str = ".tidied";

impl Agent {
    /// Days after which sessions are removed (`cleanupPeriodDays`).
    #[must_use]
    pub fn cleanup_days(&self) -> u64 {
        self.settings().settings.cleanup_period_days.unwrap_or(DEFAULT_DAYS)
    }

    /// The sessions of every project that nobody touched for so many days,
    /// oldest first.
    #[must_use]
    pub fn old_sessions(&self, days: u64) -> Vec<StoredSession> {
        retention::older_than(&self.home().projects(), self.days_ago(days))
    }

    /// Removes a session, unless it was written to meanwhile or is open: says
    /// whether it went.
    ///
    /// # Errors
    /// If the operating system says no.
    pub fn remove_session(
        &self,
        session: &StoredSession,
        days: u64,
    ) -> Result<bool, everfold_disk::Error> {
        retention::remove(session, self.days_ago(days))
    }

    /// Removes old sessions on a thread of its own, so that nobody waits for it.
    /// Looking at every session takes a while, so it is done once a day: a file
    /// in the home says when it was done last. What a process that ends leaves
    /// undone, the next one does, as the file is written at the end.
    pub fn tidy_in_background(&self) {
        let (projects, before) = (self.home().projects(), self.days_ago(self.cleanup_days()));
        let (stamp, yesterday) = (self.home().root().join(TIDIED), self.days_ago(1));
        let last = stamp.metadata().and_then(|found| found.modified());
        if last.is_ok_and(|last| last > yesterday) || !projects.is_dir() {
            return;
        }
        tokio::task::spawn_blocking(move || {
            for session in retention::older_than(&projects, before) {
                match retention::remove(&session, before) {
                    Ok(true) => tracing::info!(session = session.session, "an old session went"),
                    Ok(false) => {}
                    Err(error) => tracing::warn!("an old session could not be removed: {error}"),
                }
            }
            if let Err(error) = atomic::write(&stamp, b"", FileReaders::Private) {
                tracing::warn!("old sessions will be looked for again: {error}");
            }
        });
    }

    fn days_ago(&self, days: u64) -> SystemTime {
        let now = SystemTime::from(self.world().clock.now());
        let age = Duration::from_secs(days.saturating_mul(24 * 60 * 60));
        now.checked_sub(age).unwrap_or_else(|| SystemTime::from(Timestamp::UNIX_EPOCH))
    }
}
