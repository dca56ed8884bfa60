//! What it costs to change a prefix, and what that saves (L2.7).
//!
//! Taking tokens out of a conversation is not free: the server's cache knows
//! the prefix as it was, so all that stands behind the change is written
//! again. This module is the one place where the two sides are weighed.
//!
//! # The sum
//!
//! Let `g` be the tokens that go, `r` the tokens that have to be written to
//! the cache again, `N` the requests that are expected to follow, `R` the
//! price of a cache read and `W` that of a cache write. While the cache is
//! **warm**, the next `N` requests cost, for the part in question,
//!
//! ```text
//! untouched   N·(g + r)·R
//! cleared     r·W + (N − 1)·r·R
//! ```
//!
//! and the difference is what a clearing brings:
//!
//! ```text
//! saves = N·g·R          costs = r·(W − R)
//! ```
//!
//! Once the cache is **cold**, the next request writes everything in either
//! case, so nothing is lost, and what goes is not even written:
//!
//! ```text
//! saves = g·W + (N − 1)·g·R          costs = 0
//! ```
//!
//! Where requests ask for no cache at all, `R` and `W` are both the plain
//! input price: every request pays in full, `costs` is 0 and any clearing
//! saves `N·g` at that price.
//!
//! Without a price only the cold case is decided: it is free at any price.
//! A warm one is left alone.
//!
//! # What counts as rewritten
//!
//! A server finds a cached prefix only at the end of an earlier request. So
//! `r` starts behind the last such end before the first cleared block, not at
//! the block itself, and it ends where the last request ended: the answer to
//! that and what came since are written either way. The fold puts a breakpoint
//! on that older end in the request that follows a clearing.
//!
//! # How many requests will follow
//!
//! [`expected_rounds`](crate::expected_rounds) looks at the turns in view. The length of a turn is
//! taken as memoryless, so what is left of it is what turns had on average;
//! the setting `expected_rounds` counts as one more turn of that length, and
//! is all there is at first. Nothing beyond this turn is counted: when the
//! person pauses, the cache either stays warm, and the question comes up
//! again, or it goes cold, and the same clearing is free.
//!
//! # When a session ends sooner
//!
//! Nobody knows that it will go on. If it ended right after a clearing, `costs`
//! would be lost. So layer 2 also keeps that under a small percentage of what
//! the conversation has cost so far ([`spent`](crate::spent)): a session is never made
//! noticeably dearer, however it ends.
//!
//! # Not in the sum
//!
//! That a shorter conversation is compacted later; that a prompt may fall
//! under a model's border for long prompts. Nor that a model may ask again for
//! what was cleared: layer 2 weighs that beside the sum, result by result.

use everfold_kernel::record::{CacheState, CacheTtl, ClearingSum};
use everfold_kernel::{Prices, Timestamp, Tokens, Usd};

/// All that a sum is made with, but for the tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CostTerms {
    /// The model's prices, if known.
    pub prices: Option<Prices>,
    /// How long requests ask the server to keep their prefix; none where
    /// they do not ask.
    pub ttl: Option<CacheTtl>,
    /// Whether the server still has the prefix.
    pub cache: CacheState,
    /// Requests that are expected to follow; fewer than one count as one.
    pub rounds: f64,
}

impl CostTerms {
    /// What it saves and costs to take `cleared` tokens out, so that
    /// `rewritten` others have to be written again.
    ///
    /// ```
    /// use everfold_kernel::{ModelTable, Tokens, record::{CacheState, CacheTtl}};
    /// use everfold_economy::{CostTerms, pays};
    ///
    /// let prices = ModelTable::builtin().spec(&"claude-sonnet-4-6".into()).prices;
    /// let warm = CostTerms { prices, ttl: Some(CacheTtl::FiveMinutes), cache: CacheState::Warm, rounds: 10.0 };
    /// let sum = warm.sum(Tokens(100_000), Tokens(20_000));
    /// assert!((sum.saves.0 - 0.30).abs() < 1e-9);
    /// assert!((sum.costs.0 - 0.069).abs() < 1e-9);
    /// assert!(pays(&sum, 110));
    /// ```
    #[must_use]
    pub fn sum(&self, cleared: Tokens, rewritten: Tokens) -> ClearingSum {
        let rounds = self.rounds.max(1.0);
        let (read, write) = (self.read_price(), self.write_price());
        let (saved, cost) = match self.cache {
            CacheState::Warm => (rounds * read, (write - read).max(0.0)),
            CacheState::Cold => (write + (rounds - 1.0) * read, 0.0),
        };
        ClearingSum {
            cache: self.cache,
            cleared_tokens: cleared.0,
            rewritten_tokens: rewritten.0,
            rounds,
            saves: priced(cleared, saved),
            costs: priced(rewritten, cost),
        }
    }

    /// The fewest of `behind` tokens that have to go for a clearing among
    /// them to pay, when the rest of them is rewritten; all of them where
    /// less never does. None without a price.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a share of a token count, which is far below 2^52"
    )]
    pub fn least_that_pays(&self, behind: Tokens, gain_percent: u64) -> Option<Tokens> {
        self.prices?;
        let one = self.sum(Tokens(1), Tokens(1));
        let cost = one.costs.0 * gain_percent as f64 / PERCENT;
        let both = one.saves.0 + cost;
        let share = if both > 0.0 { cost / both } else { 1.0 };
        let least = (behind.0 as f64 * share).floor() as u64;
        Some(Tokens(least.saturating_add(1).min(behind.0)))
    }

    /// What it costs to send a prefix of so many tokens once more: by a fork,
    /// or by the next request. None without a price.
    #[must_use]
    pub fn pass(&self, prefix: Tokens) -> Option<Usd> {
        self.prices?;
        Some(match self.cache {
            CacheState::Warm => priced(prefix, self.read_price()),
            CacheState::Cold => priced(prefix, self.write_price()),
        })
    }

    /// What it costs to write so many tokens to the cache once; 0 without a price.
    #[must_use]
    pub fn write(&self, tokens: Tokens) -> Usd {
        priced(tokens, self.write_price())
    }

    /// What it costs to read so many tokens from the cache; 0 without a price.
    #[must_use]
    pub fn read(&self, tokens: Tokens) -> Usd {
        priced(tokens, self.read_price())
    }

    /// What so many tokens cost that are sent and not cached; 0 without a price.
    #[must_use]
    pub fn input(&self, tokens: Tokens) -> Usd {
        priced(tokens, self.prices.map_or(0.0, |prices| prices.input))
    }

    /// What it costs that a model writes so many tokens; 0 without a price.
    #[must_use]
    pub fn output(&self, tokens: Tokens) -> Usd {
        priced(tokens, self.prices.map_or(0.0, |prices| prices.output))
    }

    fn read_price(&self) -> f64 {
        let Some(prices) = &self.prices else { return 0.0 };
        if self.ttl.is_some() { prices.cache_read } else { prices.input }
    }

    fn write_price(&self) -> f64 {
        let Some(prices) = &self.prices else { return 0.0 };
        match self.ttl {
            Some(CacheTtl::FiveMinutes) => prices.cache_write_5m,
            Some(CacheTtl::OneHour) => prices.cache_write_1h,
            None => prices.input,
        }
    }
}

const PERCENT: f64 = 100.0;

/// Whether a clearing pays: it saves `gain_percent` of what it costs, or the
/// cache is cold, where it costs nothing at any price.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "a percentage is far below 2^52")]
pub fn pays(sum: &ClearingSum, gain_percent: u64) -> bool {
    sum.cleared_tokens > 0
        && match sum.cache {
            CacheState::Cold => true,
            CacheState::Warm => sum.saves.0 * PERCENT > sum.costs.0 * gain_percent as f64,
        }
}

/// Whether the server still has a prefix that was last used at `last_use`.
/// Without a TTL of ours it may keep one of its own accord; it is taken for
/// cold after `idle_minutes`.
///
/// A TTL runs from the start of a request and answers come later, so this
/// never calls a cache cold that is still warm.
#[must_use]
pub fn cache_state(
    now: Timestamp,
    last_use: Option<Timestamp>,
    ttl: Option<CacheTtl>,
    idle_minutes: u64,
) -> CacheState {
    let idle = i64::try_from(idle_minutes).unwrap_or(i64::MAX).saturating_mul(SECONDS_A_MINUTE);
    let life = ttl.map_or(idle, CacheTtl::seconds);
    match last_use {
        Some(last) if now.as_second().saturating_sub(last.as_second()) < life => CacheState::Warm,
        _ => CacheState::Cold,
    }
}

/// What a minute has.
pub const SECONDS_A_MINUTE: i64 = 60;

#[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
pub(crate) fn priced(tokens: Tokens, per_million: f64) -> Usd {
    Usd(tokens.0 as f64 * per_million / 1_000_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use everfold_kernel::ModelTable;
    use proptest::prelude::*;

    fn terms(ttl: Option<CacheTtl>, cache: CacheState, rounds: f64) -> CostTerms {
        let prices = ModelTable::builtin().spec(&"claude-opus-5-5".into()).prices;
        CostTerms { prices, ttl, cache, rounds }
    }

    #[test]
    fn l2_7_a_longer_ttl_makes_a_rewrite_dearer() {
        let sum = |ttl| terms(Some(ttl), CacheState::Warm, 10.0).sum(Tokens(1_000), Tokens(1_000));
        let (short, long) = (sum(CacheTtl::FiveMinutes), sum(CacheTtl::OneHour));
        assert!((short.saves.0 - 0.002).abs() < 1e-12 && short.saves == long.saves);
        assert!((short.costs.0 - 0.0048).abs() < 1e-12);
        assert!((long.costs.0 - 0.0078).abs() < 1e-12);
    }

    #[test]
    fn l2_7_a_cold_cache_costs_nothing_and_what_goes_is_not_written() {
        let cold = terms(Some(CacheTtl::OneHour), CacheState::Cold, 3.0);
        let sum = cold.sum(Tokens(1_000_000), Tokens(500_000));
        assert!((sum.saves.0 - 8.4).abs() < 1e-9);
        assert!(sum.costs.0.abs() < 1e-12 && pays(&sum, 110));
        assert!(!pays(&cold.sum(Tokens(0), Tokens(5)), 110), "nothing goes");
    }

    #[test]
    fn l2_7_without_a_price_only_a_cold_cache_is_touched() {
        let unknown = |cache| CostTerms { prices: None, ..terms(None, cache, 50.0) };
        assert!(!pays(&unknown(CacheState::Warm).sum(Tokens(900_000), Tokens(1)), 110));
        assert!(pays(&unknown(CacheState::Cold).sum(Tokens(1), Tokens(900_000)), 110));
        assert_eq!(unknown(CacheState::Warm).least_that_pays(Tokens(10), 110), None);
        assert_eq!(unknown(CacheState::Warm).pass(Tokens(10)), None);
    }

    #[test]
    fn l2_7_without_caching_every_request_pays_in_full() {
        let sum = terms(None, CacheState::Warm, 2.0).sum(Tokens(1_000_000), Tokens(9_000_000));
        assert!((sum.saves.0 - 8.0).abs() < 1e-9 && sum.costs.0.abs() < 1e-12);
    }

    #[test]
    fn l2_7_the_cache_is_cold_from_its_ttl_on() {
        let now = Timestamp::from_second(10_000).unwrap();
        let used = |ago: i64| Some(Timestamp::from_second(10_000 - ago).unwrap());
        let five = Some(CacheTtl::FiveMinutes);
        assert_eq!(cache_state(now, used(299), five, 60), CacheState::Warm);
        assert_eq!(cache_state(now, used(300), five, 60), CacheState::Cold);
        assert_eq!(cache_state(now, used(3_599), None, 60), CacheState::Warm);
        assert_eq!(cache_state(now, used(3_600), None, 60), CacheState::Cold);
        assert_eq!(cache_state(now, used(-50), five, 60), CacheState::Warm, "the clock went back");
        assert_eq!(cache_state(now, None, five, 60), CacheState::Cold);
    }

    proptest! {
        #[test]
        fn l2_7_the_sum_is_monotone_in_rounds(
            cleared in 0_u64..2_000_000, rewritten in 0_u64..2_000_000,
            rounds in 0.0..500.0_f64, more in 0.0..500.0_f64, cold in any::<bool>(),
        ) {
            let cache = if cold { CacheState::Cold } else { CacheState::Warm };
            let sum = |rounds| {
                terms(Some(CacheTtl::FiveMinutes), cache, rounds).sum(Tokens(cleared), Tokens(rewritten))
            };
            let (few, many) = (sum(rounds), sum(rounds + more));
            prop_assert!(few.saves.0 <= many.saves.0);
            prop_assert_eq!(few.costs, many.costs);
            prop_assert!(!pays(&few, 110) || pays(&many, 110));
        }

        #[test]
        fn l2_7_the_least_that_pays_is_the_least(
            behind in 2_u64..2_000_000, rounds in 1.0..200.0_f64, gain in 100_u64..300,
        ) {
            let warm = terms(Some(CacheTtl::FiveMinutes), CacheState::Warm, rounds);
            let least = warm.least_that_pays(Tokens(behind), gain).unwrap().0;
            let at = |cleared: u64| pays(&warm.sum(Tokens(cleared), Tokens(behind - cleared)), gain);
            prop_assert!(at((least + 1).min(behind)), "{least} of {behind}");
            prop_assert!(!at(least.saturating_sub(2)), "{least} of {behind}");
        }
    }
}
