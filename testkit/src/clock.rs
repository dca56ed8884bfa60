//! A clock that stands still until it is told to move.

use everfold_kernel::ports::Clock;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A settable clock; clones share their time. Its UUIDs count up.
///
/// ```
/// use everfold_kernel::ports::Clock;
/// use everfold_testkit::FakeClock;
/// use std::time::Duration;
///
/// let clock = FakeClock::default();
/// let before = clock.now();
/// clock.advance(Duration::from_secs(300));
/// assert_eq!(clock.now().as_second() - before.as_second(), 300);
/// assert_ne!(clock.fresh_uuid(), clock.fresh_uuid());
/// ```
#[derive(Clone, Debug)]
pub struct FakeClock(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    now: Timestamp,
    zone: TimeZone,
    next_id: u64,
}

/// 1 June 2026, noon.
const START_SECOND: i64 = 1_780_315_200;

impl Default for FakeClock {
    fn default() -> Self {
        Self::at(Timestamp::from_second(START_SECOND).unwrap_or(Timestamp::UNIX_EPOCH))
    }
}

impl FakeClock {
    /// A clock that shows this time.
    #[must_use]
    pub fn at(now: Timestamp) -> Self {
        Self(Arc::new(Mutex::new(State { now, zone: TimeZone::UTC, next_id: 1 })))
    }

    /// Sets the time, back too.
    pub fn set(&self, now: Timestamp) {
        self.state().now = now;
    }

    /// Moves the person to another time zone.
    pub fn move_to(&self, zone: TimeZone) {
        self.state().zone = zone;
    }

    /// Moves the time on.
    pub fn advance(&self, by: Duration) {
        let mut state = self.state();
        let by = SignedDuration::try_from(by).unwrap_or(SignedDuration::MAX);
        state.now = state.now.saturating_add(by).unwrap_or(Timestamp::MAX);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for FakeClock {
    fn now(&self) -> Timestamp {
        self.state().now
    }

    fn zone(&self) -> TimeZone {
        self.state().zone.clone()
    }

    fn fresh_uuid(&self) -> String {
        let mut state = self.state();
        let id = state.next_id;
        state.next_id += 1;
        format!("00000000-0000-7000-8000-{id:012x}")
    }
}
