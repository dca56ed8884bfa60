//! What work in the background spent, over all processes (L5.27).

use super::BoxFuture;
use crate::error::{Class, Classify};
use crate::models::Usd;
use crate::usage::{Booking, QuerySource, Usage};
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The sums of a day, which all sessions of a home share.
pub trait Spending: Send + Sync {
    /// What was spent on a day so far.
    fn spent(&self, day: Date) -> BoxFuture<'_, Result<SpentOf, SpendingError>>;

    /// Adds to what was spent on a day.
    fn add<'a>(
        &'a self,
        day: Date,
        source: &'a QuerySource,
        spent: Spent,
    ) -> BoxFuture<'a, Result<(), SpendingError>>;
}

/// A sum of tokens and money.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    /// Tokens that were not read from the prompt cache.
    #[serde(default)]
    pub tokens: u64,
    /// What all tokens cost.
    #[serde(default)]
    pub cost: Usd,
}

impl Spent {
    /// What this usage is as a sum.
    #[must_use]
    pub fn new(usage: &Usage, cost: Usd) -> Self {
        let tokens = usage.input.saturating_add(usage.cache_write()).saturating_add(usage.output);
        Self { tokens, cost }
    }

    /// What a request took.
    #[must_use]
    pub fn of(booking: &Booking) -> Self {
        Self::new(&booking.usage, booking.cost.unwrap_or_default())
    }

    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(other.tokens),
            cost: Usd(self.cost.0 + other.cost.0),
        }
    }
}

/// What conversations took, and what went on beside them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SpentOf {
    /// What a person waits for: answers, sub-agents, summaries that make room.
    pub conversation: Spent,
    /// What nobody waits for.
    pub background: Spent,
}

impl SpentOf {
    /// Adds what one source took.
    pub fn add(&mut self, source: &QuerySource, spent: Spent) {
        let side = if source.is_metered() { &mut self.background } else { &mut self.conversation };
        *side = side.and(spent);
    }
}

/// Why the sums could not be read or written. Work in the background goes on
/// by what its own process knows then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot record background spending in {path}: {message}")]
pub struct SpendingError {
    pub path: PathBuf,
    pub message: String,
}

impl Classify for SpendingError {
    fn class(&self) -> Class {
        Class::Degrade
    }
}
