//! Why a session was expensive: its dearest moments, each with its cause and
//! what would have avoided it.

use crate::report::{Before, Round};
use everfold_kernel::record::CacheTtl;
use everfold_kernel::{Prices, Timestamp, ToolUseId, Usage};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Results with fewer tokens are not followed one by one.
const FOLLOWED_TOKENS: u64 = 1_000;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Moment {
    pub at: Timestamp,
    /// The request, counted from 0.
    pub round: usize,
    /// What it cost more than it had to, or in all.
    pub usd: f64,
    /// The tokens that it is about.
    pub tokens: u64,
    pub cause: Cause,
    /// The same in words.
    pub what: String,
    pub avoid: String,
}

/// Why something was expensive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The cache had expired.
    Expiry,
    /// Model or thinking changed.
    Change,
    /// A summary was written, and all after it anew.
    Compaction,
    /// Results were cleared, and all after them written anew.
    Clearing,
    /// The person went back.
    Rewind,
    /// The prefix changed, and nothing in the transcript says why.
    Break,
    /// A tool's result stayed.
    Stayed,
    /// The model wrote much.
    Answer,
}

/// Follows one policy, and remembers what was dearest.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    most: usize,
    moments: Vec<Moment>,
    prices: Option<(Prices, CacheTtl)>,
}

/// Results in view that are followed.
pub(crate) type Stays = BTreeMap<ToolUseId, Stay>;

/// A result that is in view.
#[derive(Clone, Debug)]
pub(crate) struct Stay {
    at: Timestamp,
    round: usize,
    tokens: u64,
    label: Arc<str>,
    /// Requests of its conversation when it came.
    from: u64,
}

impl Stay {
    /// A result that came into view; none where it is too small to matter.
    pub(crate) fn new(
        label: Arc<str>,
        tokens: u64,
        (at, round, from): (Timestamp, usize, u64),
    ) -> Option<Self> {
        (tokens >= FOLLOWED_TOKENS).then_some(Self { at, round, tokens, label, from })
    }
}

impl Watch {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, moments: Vec::new(), prices: None }
    }

    /// Takes a request; `gap` are the seconds since the one before.
    pub(crate) fn request(
        &mut self,
        (round, number): (&Round, usize),
        (usage, ttl): (&Usage, CacheTtl),
        prices: &Prices,
        (spent, gap): (f64, i64),
    ) {
        self.prices = Some((*prices, ttl));
        let again = priced(usage.cache_write(), write_price(prices, ttl) - prices.cache_read);
        let written = usage.cache_write();
        let (cause, usd, what, avoid) = match round.before {
            Before::Expiry => (
                Cause::Expiry,
                again,
                format!("the cache had expired after {} without a request", span(gap)),
                expiry_advice(ttl, gap, written, prices),
            ),
            Before::Change => (
                Cause::Change,
                again,
                "model or thinking changed, and the whole prompt was written again".to_owned(),
                "choose both before the first message, or change them where a summary is made anyway".to_owned(),
            ),
            Before::Compaction => (
                Cause::Compaction,
                again + spent,
                "a summary replaced the conversation".to_owned(),
                "with running notes (layer 3) a summary is already there; clearing results \
                 earlier puts it off".to_owned(),
            ),
            Before::Clearing => (
                Cause::Clearing,
                again,
                "old results were cleared, and everything after them was written again".to_owned(),
                "clear only where it saves more than it costs (L2.7), or while the cache is cold".to_owned(),
            ),
            Before::Rewind => (
                Cause::Rewind,
                again,
                "the conversation continued from an earlier point".to_owned(),
                "try in a sidechain (Agent) what you may discard".to_owned(),
            ),
            Before::Break => (
                Cause::Break,
                again,
                "the server had less of the prompt than it was sent".to_owned(),
                "something before the conversation changed: a tool, a setting, the date; see what was done just before".to_owned(),
            ),
            Before::Nothing | Before::Start => (
                Cause::Answer,
                priced(usage.output, prices.output),
                format!("an answer of {} tokens", usage.output),
                "ask for less, or for a lower effort".to_owned(),
            ),
        };
        let tokens = if cause == Cause::Answer { usage.output } else { written };
        let moment = Moment { at: round.at, round: number, usd, tokens, cause, what, avoid };
        self.add(moment);
    }

    /// A result went out of view, when its conversation had made so many requests.
    pub(crate) fn goes(&mut self, stays: &mut Stays, id: &ToolUseId, requests: u64) {
        let (Some(stay), Some((prices, ttl))) = (stays.remove(id), self.prices) else {
            return;
        };
        let rounds = requests.saturating_sub(stay.from);
        if rounds == 0 {
            return;
        }
        let reads = priced(stay.tokens, prices.cache_read) * as_number(rounds - 1);
        let usd = priced(stay.tokens, write_price(&prices, ttl)) + reads;
        let what = format!(
            "{} returned {} tokens, which stayed for {rounds} requests",
            stay.label, stay.tokens
        );
        self.add(Moment {
            at: stay.at,
            round: stay.round,
            usd,
            tokens: stay.tokens,
            cause: Cause::Stayed,
            what,
            avoid: "ask for less of it (a range, head, grep); layer 1 keeps what is over its cap on disk, \
                    layer 2 clears what is stale once that pays"
                .to_owned(),
        });
    }

    /// The dearest moments, the dearest first.
    pub(crate) fn finish(mut self) -> Vec<Moment> {
        self.shorten();
        self.moments
    }

    fn add(&mut self, moment: Moment) {
        if moment.usd > 0.0 {
            self.moments.push(moment);
        }
        // Sorting now and then is enough, and memory stays flat.
        if self.moments.len() > self.most.saturating_mul(64).max(64) {
            self.shorten();
        }
    }

    fn shorten(&mut self) {
        self.moments.sort_by(|one, other| other.usd.total_cmp(&one.usd));
        self.moments.truncate(self.most);
    }
}

fn expiry_advice(ttl: CacheTtl, gap: i64, written: u64, prices: &Prices) -> String {
    if ttl == CacheTtl::FiveMinutes && gap < CacheTtl::OneHour.seconds() {
        let saved = priced(written, prices.cache_write_5m - prices.cache_read);
        format!(
            "a lifetime of an hour (cache.ttl 1h) would have read it: {saved:.4} USD less here, at twice the input price for writing"
        )
    } else {
        "clear or compact before such a pause ends: what goes is not written again (layer 2 does)"
            .to_owned()
    }
}

fn write_price(prices: &Prices, ttl: CacheTtl) -> f64 {
    match ttl {
        CacheTtl::FiveMinutes => prices.cache_write_5m,
        CacheTtl::OneHour => prices.cache_write_1h,
    }
}

fn priced(tokens: u64, per_million: f64) -> f64 {
    as_number(tokens) * per_million / 1_000_000.0
}

#[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
fn as_number(count: u64) -> f64 {
    count as f64
}

/// A length of time as people say it.
fn span(seconds: i64) -> String {
    match seconds {
        0..120 => format!("{seconds} seconds"),
        120..7_200 => format!("{} minutes", seconds / 60),
        7_200..172_800 => format!("{} hours", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}
