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
        machine_zone().unwrap_or_else(TimeZone::system)
    }

    fn fresh_uuid(&self) -> String {
        uuid::Uuid::now_v7().to_string()
    }
}

/// The zone that the machine is set to, by its own file: to find it by name,
/// every folder of zones would be listed first, which takes longer than the rest
/// of a short command. None where a person chose another by `TZ`, or where there
/// is no such file.
fn machine_zone() -> Option<TimeZone> {
    const FILE: &str = "/etc/localtime";
    if std::env::var_os("TZ").is_some_and(|zone| !zone.is_empty()) {
        return None;
    }
    let linked = std::fs::read_link(FILE).ok()?;
    let (_, name) = linked.to_str()?.rsplit_once("zoneinfo/")?;
    TimeZone::tzif(name, &std::fs::read(FILE).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r16_the_zone_of_the_machine_is_the_one_that_is_found_by_name() {
        let Some(zone) = machine_zone() else {
            eprintln!("TZ is set, or there is no /etc/localtime: nothing to compare");
            return;
        };
        let now = Timestamp::now();
        assert_eq!(zone.iana_name(), TimeZone::system().iana_name());
        assert_eq!(zone.to_offset(now), TimeZone::system().to_offset(now));
    }
}
