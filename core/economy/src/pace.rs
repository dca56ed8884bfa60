//! The pace of a person, and the time to live that suits it (E5).
//!
//! Between an answer and the next prompt some time goes by. Where it is under
//! five minutes, either time to live keeps the prefix; over an hour, neither
//! does. In between, the longer one saves writing the whole prefix again, and
//! what it costs is that everything new is written at the higher price.

use crate::terms::CostTerms;
use everfold_kernel::record::{CacheState, CacheTtl};
use everfold_kernel::{Prices, Role, Timestamp, Tokens, UserOrigin};
use everfold_prefix::Fold;
use everfold_prefix::message::PieceOrigin;
use serde::{Deserialize, Serialize};

/// Pauses of a person, by what they mean for the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonPace {
    /// Within five minutes.
    pub short: u64,
    /// Over five minutes, within an hour.
    pub middle: u64,
    /// Over an hour.
    pub long: u64,
}

impl PersonPace {
    /// The pauses before the prompts in view.
    #[must_use]
    pub fn of(fold: &Fold) -> Self {
        let mut own = Self::default();
        let mut answered: Option<Timestamp> = None;
        for message in fold.messages() {
            for piece in message.pieces() {
                match (message.role(), &piece.origin) {
                    (Role::Assistant, _) => answered = Some(piece.at),
                    (_, PieceOrigin::User(UserOrigin::Human)) => {
                        if let Some(last) = answered.take() {
                            own.add(piece.at.as_second().saturating_sub(last.as_second()));
                        }
                    }
                    _ => {}
                }
            }
        }
        own
    }

    /// Counts one pause of so many seconds.
    pub fn add(&mut self, seconds: i64) {
        if seconds < CacheTtl::FiveMinutes.seconds() {
            self.short += 1;
        } else if seconds < CacheTtl::OneHour.seconds() {
            self.middle += 1;
        } else {
            self.long += 1;
        }
    }

    /// Pauses in which a cache of this time to live expired.
    #[must_use]
    pub fn longer_than(self, ttl: CacheTtl) -> u64 {
        match ttl {
            CacheTtl::FiveMinutes => self.middle + self.long,
            CacheTtl::OneHour => self.long,
        }
    }

    fn pauses(self) -> u64 {
        self.short + self.middle + self.long
    }
}

/// The time to live that is cheaper at this pace, for a prefix of so many
/// tokens that grows by so many between two pauses. The one that is in use
/// counts as `prior` pauses that speak for it, so that one odd pause does not
/// change it.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts of pauses are far below 2^52")]
pub fn time_to_live(
    pace: PersonPace,
    prefix: Tokens,
    growth: Tokens,
    prices: &Prices,
    (current, prior): (CacheTtl, u64),
) -> CacheTtl {
    let speaks_for = match current {
        CacheTtl::OneHour => prior,
        CacheTtl::FiveMinutes => 0,
    };
    let share = (pace.middle + speaks_for) as f64 / (pace.pauses() + prior).max(1) as f64;
    let at = |ttl| CostTerms {
        prices: Some(*prices),
        ttl: Some(ttl),
        cache: CacheState::Cold,
        rounds: 1.0,
    };
    let (five, hour) = (at(CacheTtl::FiveMinutes), at(CacheTtl::OneHour));
    let saves = share * (five.write(prefix).0 - five.read(prefix).0);
    let costs = hour.write(growth).0 - five.write(growth).0;
    if saves > costs { CacheTtl::OneHour } else { CacheTtl::FiveMinutes }
}

#[cfg(test)]
mod tests {
    use super::*;
    use everfold_kernel::ModelTable;

    fn prices() -> Prices {
        ModelTable::builtin().spec(&"claude-sonnet-5-5".into()).prices.unwrap()
    }

    fn chosen(pace: PersonPace, growth: u64, current: CacheTtl) -> CacheTtl {
        time_to_live(pace, Tokens(60_000), Tokens(growth), &prices(), (current, 2))
    }

    #[test]
    fn e5_pauses_between_five_minutes_and_an_hour_call_for_the_hour() {
        let slow = PersonPace { short: 4, middle: 4, long: 1 };
        assert_eq!(chosen(slow, 8_000, CacheTtl::FiveMinutes), CacheTtl::OneHour);
    }

    #[test]
    fn e5_a_quick_person_and_one_who_stays_away_pay_for_five_minutes() {
        let quick = PersonPace { short: 60, middle: 1, long: 0 };
        assert_eq!(chosen(quick, 8_000, CacheTtl::OneHour), CacheTtl::FiveMinutes);
        let away = PersonPace { short: 30, middle: 0, long: 30 };
        assert_eq!(chosen(away, 8_000, CacheTtl::OneHour), CacheTtl::FiveMinutes);
    }

    #[test]
    fn e5_nothing_known_leaves_what_is() {
        for current in [CacheTtl::FiveMinutes, CacheTtl::OneHour] {
            assert_eq!(chosen(PersonPace::default(), 8_000, current), current);
        }
        let one = PersonPace { short: 1, ..PersonPace::default() };
        assert_eq!(chosen(one, 8_000, CacheTtl::OneHour), CacheTtl::OneHour);
    }

    #[test]
    fn e5_a_pause_is_told_by_its_length() {
        let mut pace = PersonPace::default();
        for seconds in [-5, 0, 299, 300, 3_599, 3_600, 90_000] {
            pace.add(seconds);
        }
        assert_eq!(pace, PersonPace { short: 3, middle: 2, long: 2 });
    }
}
