//! What the server reported of a request, as far as it holds under any policy
//! (PC8).
//!
//! How much a request read is told by the transcript, and so is why it read
//! less than it could: the cache had expired, or the prefix had changed. Both
//! would have happened whatever was kept in view, so every policy loses its
//! cache in the same places. What a policy does itself is simulated.

use everfold_kernel::Usage;
use everfold_kernel::record::CacheTtl;

/// What was reported of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Anchor {
    pub(crate) hit: Hit,
    /// What is read of the prelude where nothing else is: system prompt and
    /// tools, but not what travels in the first message.
    pub(crate) floor: u64,
    /// The prompt that was sent.
    pub(crate) prompt: u64,
    /// What of it was neither read nor written.
    pub(crate) input: u64,
    pub(crate) caching: Caching,
    /// Seconds since the last request of the conversation.
    pub(crate) gap: i64,
}

/// What the server still had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hit {
    /// Nothing of this conversation was sent to this model before; so much
    /// was there all the same.
    Fresh(u64),
    /// All that was sent before, give or take so many tokens.
    Kept(i64),
    /// Only so much of it.
    Cut {
        /// Tokens that were read.
        at: u64,
        /// Tokens that could have been.
        of: u64,
    },
    /// The session's own policy changed what it sent: of other policies that
    /// tells nothing.
    Silent,
}

/// Whether what is not read is written to the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caching {
    On,
    /// It is plain input: the server caches of its own accord, or not at all.
    Off,
}

impl Anchor {
    /// The same request where prefixes are cached for another time: a pause
    /// is survived, or is not.
    pub(crate) fn under(self, had: CacheTtl, has: CacheTtl) -> Self {
        if had == has {
            return self;
        }
        let lasted = |ttl: CacheTtl| self.gap < ttl.seconds();
        let hit = match self.hit {
            Hit::Cut { .. } if !lasted(had) && lasted(has) => Hit::Kept(0),
            Hit::Kept(_) | Hit::Silent if !lasted(has) => {
                Hit::Cut { at: self.floor, of: self.prompt }
            }
            hit => hit,
        };
        Self { hit, ..self }
    }

    /// How a prompt is billed that shares `simulated` tokens with what was
    /// sent before, of which `sent` were cached.
    pub(crate) fn bill(&self, own: &Shared, ttl: CacheTtl) -> Usage {
        let read = self.read(own).min(own.prompt);
        let rest = own.prompt - read;
        let input = match self.caching {
            Caching::On => self.input.min(rest),
            Caching::Off => rest,
        };
        let written = rest - input;
        let (five, hour) = match ttl {
            CacheTtl::FiveMinutes => (written, 0),
            CacheTtl::OneHour => (0, written),
        };
        Usage {
            input,
            cache_read: read,
            cache_write_5m: five,
            cache_write_1h: hour,
            ..Usage::default()
        }
    }

    fn read(&self, own: &Shared) -> u64 {
        let simulated = if own.simulated <= own.prelude {
            own.simulated.min(self.floor)
        } else {
            own.simulated
        };
        match self.hit {
            Hit::Fresh(read) if own.is_like(self.prompt) => read,
            Hit::Fresh(read) => read.min(own.prelude),
            Hit::Kept(more) if own.simulated == own.sent => simulated.saturating_add_signed(more),
            Hit::Kept(_) | Hit::Silent => simulated,
            Hit::Cut { at, of } => simulated.min(own.place(at, of, self.prompt)),
        }
    }
}

/// What a policy's request shares with what it sent before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shared {
    pub(crate) prompt: u64,
    pub(crate) prelude: u64,
    /// What would be read if nothing were ever lost.
    pub(crate) simulated: u64,
    /// The prompt of the request before it.
    pub(crate) sent: u64,
}

impl Shared {
    /// Whether it is the prompt that the session itself sent, or nearly.
    fn is_like(&self, prompt: u64) -> bool {
        self.prompt.abs_diff(prompt) <= prompt / LIKE
    }

    /// Where a cut of the session's prompt falls in this one: at the same
    /// share of what comes after the prelude.
    fn place(&self, at: u64, of: u64, prompt: u64) -> u64 {
        if at <= self.prelude || self.is_like(prompt) {
            return at;
        }
        let wide = |count: u64| u128::from(count.saturating_sub(self.prelude));
        let share = wide(at) * wide(self.simulated) / wide(of).max(1);
        self.prelude.saturating_add(u64::try_from(share).unwrap_or(u64::MAX))
    }
}

/// Prompts that differ by less than one part in so many are the same.
const LIKE: u64 = 100;
