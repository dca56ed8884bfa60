//! The real clock.

use jiff::Zoned;
use jiff::civil::Date;
use mnemon_kernel::Timestamp;
use mnemon_kernel::ports::Clock;

/// The time of this machine, and UUIDs of version 7.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn today(&self) -> Date {
        Zoned::now().date()
    }

    fn fresh_uuid(&self) -> String {
        uuid::Uuid::now_v7().to_string()
    }
}
