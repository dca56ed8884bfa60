//! The real clock.

use everfold_kernel::Timestamp;
use everfold_kernel::ports::Clock;
use jiff::tz::TimeZone;

/// The time of this machine, and UUIDs of version 7.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn zone(&self) -> TimeZone {
        TimeZone::system()
    }

    fn fresh_uuid(&self) -> String {
        uuid::Uuid::now_v7().to_string()
    }
}
