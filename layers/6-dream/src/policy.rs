//! When memories are consolidated: the gates, cheapest first (L6.1).
//!
//! A time in the future counts as expired: clocks are set back.

use everfold_kernel::SessionId;
use everfold_kernel::limits::DreamLimits;
use everfold_kernel::ports::MemoryScope;
use jiff::{SignedDuration, Timestamp};
use std::fmt;

/// Why there is no dream now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoDreamReason {
    /// It is switched off.
    Off,
    /// The last one was not long ago.
    Recent {
        /// How long ago, in minutes.
        minutes: i64,
        /// Hours between two.
        hours: i64,
    },
    /// Sessions were looked for not long ago.
    ScannedLately,
    /// Too few sessions were touched since.
    FewSessions {
        found: usize,
        /// How many it takes.
        needed: usize,
    },
}

impl fmt::Display for NoDreamReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("dreams are switched off (flag dream)"),
            Self::Recent { minutes, hours } => {
                let (ago, rest) = (minutes / 60, minutes % 60);
                write!(
                    f,
                    "the last dream was {ago} h {rest} min ago; the next is due {hours} h after it"
                )
            }
            Self::ScannedLately => f.write_str("sessions were counted recently"),
            Self::FewSessions { found, needed } => {
                write!(f, "{found} of {needed} other sessions were used since the last dream")
            }
        }
    }
}

/// Whether enough time has passed since the last dream.
///
/// # Errors
/// If not.
pub fn time(
    last: Option<Timestamp>,
    now: Timestamp,
    limits: &DreamLimits,
) -> Result<(), NoDreamReason> {
    match last.map(|last| now.duration_since(last)) {
        Some(ago) if is_within(ago, SignedDuration::from_hours(limits.hours)) => {
            Err(NoDreamReason::Recent { minutes: ago.as_mins(), hours: limits.hours })
        }
        _ => Ok(()),
    }
}

/// Whether sessions may be looked for again.
///
/// # Errors
/// If not.
pub fn scan(
    last: Option<Timestamp>,
    now: Timestamp,
    limits: &DreamLimits,
) -> Result<(), NoDreamReason> {
    match last.map(|last| now.duration_since(last)) {
        Some(ago) if is_within(ago, SignedDuration::from_mins(limits.scan_minutes)) => {
            Err(NoDreamReason::ScannedLately)
        }
        _ => Ok(()),
    }
}

/// Whether enough other sessions were touched since the last dream.
///
/// # Errors
/// If not.
pub fn sessions(
    touched: &[(SessionId, Timestamp)],
    present: &SessionId,
    last: Option<Timestamp>,
    now: Timestamp,
    limits: &DreamLimits,
) -> Result<usize, NoDreamReason> {
    let last = last.filter(|last| *last <= now);
    let others = touched.iter().filter(|(session, _)| session != present);
    let found = others.filter(|(_, at)| last.is_none_or(|last| *at > last)).count();
    let needed = limits.sessions;
    if found < needed { Err(NoDreamReason::FewSessions { found, needed }) } else { Ok(found) }
}

fn is_within(ago: SignedDuration, span: SignedDuration) -> bool {
    ago >= SignedDuration::ZERO && ago < span
}

/// Who started a dream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Starter {
    /// The end of a turn.
    Turn,
    Hand,
}

/// What an agent starts from (L6.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DreamStart {
    /// The conversation, whose prefix is cached.
    Parent,
    /// System prompt and tools alone.
    Fresh,
}

/// From what a dream's agent starts: by hand, and where the session fills more
/// than half of the window, from system prompt and tools alone. So does the
/// dream of a team: what was said here is not for the others.
#[must_use]
pub fn start(
    starter: Starter,
    scope: MemoryScope,
    (used, window): (u64, u64),
    limits: &DreamLimits,
) -> DreamStart {
    let is_full = used.saturating_mul(100) > window.saturating_mul(limits.fresh_percent);
    if starter == Starter::Hand || scope == MemoryScope::Team || is_full {
        DreamStart::Fresh
    } else {
        DreamStart::Parent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minutes: i64) -> Timestamp {
        Timestamp::from_second(1_790_000_000 + minutes * 60).unwrap()
    }

    #[test]
    fn l6_1_a_day_has_to_pass() {
        let limits = DreamLimits::default();
        assert_eq!(time(None, at(0), &limits), Ok(()));
        let closed = time(Some(at(0)), at(24 * 60 - 1), &limits).unwrap_err();
        assert!(closed.to_string().contains("23 h 59 min ago"), "{closed}");
        assert_eq!(time(Some(at(0)), at(24 * 60), &limits), Ok(()));
        assert_eq!(time(Some(at(5)), at(0), &limits), Ok(()), "a clock that was set back");
    }

    #[test]
    fn l6_1_sessions_are_looked_for_every_ten_minutes() {
        let limits = DreamLimits::default();
        assert_eq!(scan(None, at(0), &limits), Ok(()));
        assert_eq!(scan(Some(at(0)), at(9), &limits), Err(NoDreamReason::ScannedLately));
        assert_eq!(scan(Some(at(0)), at(10), &limits), Ok(()));
        assert_eq!(scan(Some(at(9)), at(0), &limits), Ok(()));
    }

    #[test]
    fn l6_1_five_others_since() {
        let limits = DreamLimits::default();
        let me = SessionId::from("me");
        let mut touched = vec![(me.clone(), at(9))];
        touched.extend((0..4).map(|n| (SessionId::from(format!("s{n}")), at(n + 1))));
        let count = |touched: &[_], last| sessions(touched, &me, last, at(10), &limits);
        assert_eq!(
            count(&touched, Some(at(0))),
            Err(NoDreamReason::FewSessions { found: 4, needed: 5 })
        );
        touched.push((SessionId::from("s5"), at(5)));
        assert_eq!(count(&touched, Some(at(0))), Ok(5));
        assert!(count(&touched, Some(at(1))).is_err(), "one was not touched since");
        assert_eq!(count(&touched, None), Ok(5));
        assert_eq!(count(&touched, Some(at(99))), Ok(5), "a last time in the future says nothing");
    }

    #[test]
    fn l6_4_by_hand_or_in_a_full_window_it_starts_afresh() {
        let limits = DreamLimits::default();
        let start = |starter, scope, used| start(starter, scope, (used, 100), &limits);
        assert_eq!(start(Starter::Turn, MemoryScope::Project, 50), DreamStart::Parent);
        assert_eq!(start(Starter::Turn, MemoryScope::Project, 51), DreamStart::Fresh);
        assert_eq!(start(Starter::Hand, MemoryScope::Project, 0), DreamStart::Fresh);
        assert_eq!(start(Starter::Turn, MemoryScope::Team, 0), DreamStart::Fresh);
    }
}
