//! What the server's cache has of a conversation.

use crate::terms::{CostTerms, cache_state};
use everfold_kernel::record::{CacheState, CacheTtl};
use everfold_kernel::{ModelSpec, Timestamp, Tokens};
use everfold_prefix::Fold;

/// The cache of a conversation's prefix, as far as it can be told from here.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrefixCache {
    /// Whether the server still has it.
    pub state: CacheState,
    /// How long requests ask it to be kept; none where they do not ask.
    pub ttl: Option<CacheTtl>,
    /// When it was last read or written.
    pub last_use: Option<Timestamp>,
    /// Tokens of it: what the last request held. What came since is cached nowhere.
    pub cached: Tokens,
}

impl PrefixCache {
    /// That of a conversation now. A fork that read the prefix kept it in the
    /// cache too. Where the next request does not start as the last one did,
    /// the cache is of no use to it, whatever the time.
    #[must_use]
    pub fn of(
        fold: &Fold,
        now: Timestamp,
        last_fork: Option<Timestamp>,
        idle_minutes: u64,
    ) -> Self {
        let ttl = fold.prelude().and_then(|prelude| prelude.params.cache);
        let kept_for = fold.cached_for();
        let last_use = fold.last_response().max(last_fork);
        let is_broken = fold.last_break() > fold.last_response();
        let state = if is_broken {
            CacheState::Cold
        } else {
            cache_state(now, last_use, kept_for, idle_minutes)
        };
        let cached = match state {
            CacheState::Warm => fold.last_prompt(),
            CacheState::Cold => Tokens(0),
        };
        Self { state, ttl, last_use, cached }
    }

    /// Tokens that the next request has to write: they came after the last
    /// one, or the cache has lost them.
    #[must_use]
    pub fn uncached(&self, fold: &Fold) -> Tokens {
        fold.count() - self.cached
    }

    /// Everything that a sum needs besides its tokens.
    #[must_use]
    pub fn terms(&self, model: &ModelSpec, count: Tokens, rounds: f64) -> CostTerms {
        let prices = model.prices_for(count.0).copied();
        CostTerms { prices, ttl: self.ttl, cache: self.state, rounds }
    }

    /// Seconds until it is lost, from now on; none where it is lost, or nobody
    /// knows how long it is kept.
    #[must_use]
    pub fn seconds_left(&self, now: Timestamp) -> Option<i64> {
        let last = self.last_use.filter(|_| self.state == CacheState::Warm)?;
        let age = now.as_second().saturating_sub(last.as_second());
        Some(self.ttl?.seconds().saturating_sub(age))
    }
}
