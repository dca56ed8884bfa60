//! What a replay found.

use crate::bill::Bill;
use crate::policy::Policy;
use crate::why::Moment;
use everfold_kernel::record::CacheTtl;
use everfold_kernel::{Timestamp, Usage};
use everfold_prefix::measure::Shares;
use serde::Serialize;
use std::ops::AddAssign;

/// Sums over the requests of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Totals {
    /// Requests of the conversation and its sidechains.
    pub requests: u64,
    /// Their tokens, those of summaries included.
    pub usage: Usage,
    pub usd: f64,
    /// Requests whose model has no price; their cost is not in the sum.
    pub unpriced: u64,
    /// What of it was spent on summaries.
    pub summaries_usd: f64,
    /// The prompt of the largest request.
    pub largest: u64,
    /// Requests whose prompt is over the model's window.
    pub over_window: u64,
    /// Breaks of the prefix, by what caused them.
    pub breaks: Breaks,
    /// Summaries that took the place of messages.
    pub compactions: u64,
    /// Times that results were cleared.
    pub clearings: u64,
    /// Results that went to disk.
    pub spilled: u64,
    /// How often a later call of the session asks for what had been taken
    /// away. It does so in every row.
    pub regrets: u64,
    /// How often something had to be read again that had been taken away, and
    /// the session itself did not: a request more, which is in the sum.
    pub rereads: u64,
    pub rereads_usd: f64,
    /// What of the sum work in the background is.
    pub background_usd: f64,
}

/// Breaks of the prefix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Breaks {
    /// The policy changed what was sent before, or model or thinking changed.
    pub declared: u64,
    /// The cache had expired.
    pub expired: u64,
    /// The usage of the transcript shows one that nothing explains.
    pub unexplained: u64,
}

impl Totals {
    /// Adds the sums of another session.
    pub fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.usage.add(&other.usage);
        self.usd += other.usd;
        self.unpriced += other.unpriced;
        self.summaries_usd += other.summaries_usd;
        self.largest = self.largest.max(other.largest);
        self.over_window += other.over_window;
        self.breaks.declared += other.breaks.declared;
        self.breaks.expired += other.breaks.expired;
        self.breaks.unexplained += other.breaks.unexplained;
        self.compactions += other.compactions;
        self.clearings += other.clearings;
        self.spilled += other.spilled;
        self.regrets += other.regrets;
        self.rereads += other.rereads;
        self.rereads_usd += other.rereads_usd;
        self.background_usd += other.background_usd;
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Round {
    /// When it was made.
    pub at: Timestamp,
    /// Tokens of system prompt and tools.
    pub prelude: u32,
    /// The other tokens of its prompt, by what they are.
    pub shares: RoundShares,
    /// Prompt tokens that were read from the cache.
    pub read: u32,
    /// Prompt tokens that were written to it.
    pub written: u32,
    /// Tokens that the model wrote.
    pub output: u32,
    /// What it cost, a summary before it included; 0 without a price.
    pub usd: f32,
    /// What happened before it.
    pub before: Before,
}

/// Tokens of a request by what they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RoundShares {
    /// What the person said.
    pub said: u32,
    /// What the model wrote, calls included.
    pub written: u32,
    pub results: u32,
    /// What was injected, and summaries.
    pub injected: u32,
}

impl RoundShares {
    pub(crate) fn of(shares: &Shares) -> Self {
        Self {
            said: small(shares.said),
            written: small(shares.written + shares.calls),
            results: small(shares.results),
            injected: small(shares.injected + shares.summaries),
        }
    }
}

impl Round {
    /// Tokens of its prompt.
    #[must_use]
    pub fn prompt(&self) -> u64 {
        let RoundShares { said, written, results, injected } = self.shares;
        [self.prelude, said, written, results, injected].into_iter().map(u64::from).sum()
    }

    /// How its prompt was billed, where prefixes are cached for so long.
    pub(crate) fn prompt_usage(&self, ttl: CacheTtl) -> Usage {
        let (read, written) = (u64::from(self.read), u64::from(self.written));
        let (five, hour) = match ttl {
            CacheTtl::FiveMinutes => (written, 0),
            CacheTtl::OneHour => (0, written),
        };
        Usage {
            input: self.prompt().saturating_sub(read + written),
            cache_read: read,
            cache_write_5m: five,
            cache_write_1h: hour,
            ..Usage::default()
        }
    }
}

/// A count that is kept in four bytes: tens of thousands of rounds are.
pub(crate) fn small(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// What happened before a request that changed what is read from the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Before {
    #[default]
    Nothing,
    /// It is the first of its conversation.
    Start,
    /// A summary took the place of messages.
    Compaction,
    Clearing,
    /// Another model, another way of thinking.
    Change,
    /// The person went back.
    Rewind,
    /// The cache had expired.
    Expiry,
    /// The server had less of it than it was sent, and nothing in the
    /// transcript says why.
    Break,
}

/// What a session comes to under one policy.
#[derive(Clone, Debug, PartialEq)]
pub struct LaneReport {
    pub policy: Policy,
    pub totals: Totals,
    /// The window of the model of its last request.
    pub window: u64,
    /// Every request, in the order in which it was priced.
    pub rounds: Vec<Round>,
    /// What was dearest, and what would have avoided it.
    pub moments: Vec<Moment>,
    /// What was reported, by cause (PC9); for the session as it went.
    pub bill: Option<Bill>,
}

/// What the session really used, beside what the replay makes of it as it
/// went: how far the other rows can be trusted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Truth {
    /// Requests that were compared.
    pub requests: u64,
    pub prompt: Compared<u64>,
    pub cache_read: Compared<u64>,
    /// What they wrote to it.
    pub cache_write: Compared<u64>,
    /// What their prompts cost, in US dollars; answers are as they are.
    pub usd: Compared<f64>,
}

/// A sum as it was and as it was predicted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Compared<T> {
    /// As the transcript says.
    pub reported: T,
    pub predicted: T,
}

impl<T: AddAssign> Compared<T> {
    /// Takes one more pair.
    pub(crate) fn add(&mut self, reported: T, predicted: T) {
        self.reported += reported;
        self.predicted += predicted;
    }
}

impl Compared<u64> {
    /// How far the prediction is off, in percent of what was reported.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
    pub fn error_percent(&self) -> f64 {
        let Self { reported, predicted } = *self;
        Compared { reported: reported as f64, predicted: predicted as f64 }.error_percent()
    }
}

impl Compared<f64> {
    /// How far the prediction is off, in percent of what was reported.
    #[must_use]
    pub fn error_percent(&self) -> f64 {
        let Self { reported, predicted } = *self;
        if reported == 0.0 { 0.0 } else { (predicted - reported) * 100.0 / reported }
    }
}

impl Truth {
    /// Adds what another session showed.
    pub fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.prompt.add(other.prompt.reported, other.prompt.predicted);
        self.cache_read.add(other.cache_read.reported, other.cache_read.predicted);
        self.cache_write.add(other.cache_write.reported, other.cache_write.predicted);
        self.usd.add(other.usd.reported, other.usd.predicted);
    }
}

/// All that a replay of one session found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// One for each policy, in the order in which they were asked for.
    pub lanes: Vec<LaneReport>,
    /// What the transcript itself says that was used; none where it says nothing.
    pub reported: Option<Totals>,
    /// That compared with the prediction. None where nothing is left to be
    /// compared, or another model or lifetime was asked for.
    pub truth: Option<Truth>,
    /// What was booked for other sources than the conversation.
    pub beside_usd: f64,
    /// Conversations: one, and one for each sidechain.
    pub threads: usize,
}
