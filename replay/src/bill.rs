//! The real bill, by cause (PC9).
//!
//! Every dollar that the transcript reports is given to one cause, so that the
//! causes sum up to the bill. What was sent before and had to be written again
//! is the fault of what lost it; what is new is written on account of what it
//! is; and what is carried along is read on account of what it is.

mod view;

use crate::anchor::{Anchor, Hit};
use crate::step::Asked;
use everfold_kernel::record::CacheTtl;
use everfold_kernel::{ModelId, ModelSpec, Prices, Timestamp, Usage};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
pub(crate) use view::BillView;
use view::BilledPart;

/// Why money was spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BillCause {
    /// The cache had expired, and what was in it was written again.
    Expiry,
    /// The cache was lost inside its lifetime.
    CacheBreak,
    /// A summary took the place of messages, or results were cleared.
    Compaction,
    /// System prompt and tools: written at first, and carried along.
    SystemPrompt,
    /// Results of tools over [`LARGE_TOKENS`], written and carried along.
    LargeResults,
    /// Other results of tools.
    SmallResults,
    /// Results of calls that had been made before.
    RepeatedReads,
    /// Answers of more than [`LONG_TOKENS`].
    LongAnswers,
    ShortAnswers,
    /// What person and model had said, carried along.
    Dialogue,
    /// Reminders, instruction files and summaries, written and carried along.
    Injections,
    /// All that sub-agents spent.
    SubAgents,
    /// Work beside the conversation.
    BackgroundWork,
}

/// Results with more tokens are large.
pub const LARGE_TOKENS: u64 = 5_000;
/// Answers with more tokens are long.
pub const LONG_TOKENS: u64 = 2_000;
/// Breaks with fewer tokens are not listed.
const LISTED_TOKENS: u64 = 2_000;

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CauseCost {
    /// In US dollars.
    pub usd: f64,
    /// What of it could have been saved.
    pub avoidable_usd: f64,
    /// Tokens that were paid for.
    pub tokens: u64,
    pub times: u64,
}

impl CauseCost {
    /// Adds what it cost elsewhere.
    pub fn add(&mut self, other: &Self) {
        self.usd += other.usd;
        self.avoidable_usd += other.avoidable_usd;
        self.tokens += other.tokens;
        self.times += other.times;
    }
}

/// A place where the cache was lost inside its lifetime.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BilledBreak {
    pub at: Timestamp,
    /// Seconds since the request before.
    pub gap: i64,
    /// Tokens that had to be written again.
    pub tokens: u64,
    /// What that cost more than reading them.
    pub usd: f64,
    /// What changed, as far as it can be told.
    pub part: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct BilledRequest {
    /// When it was answered for the first time.
    pub at: Timestamp,
    /// Known by its message and request; 0 where it has neither.
    pub key: u64,
    pub model: ModelId,
    pub usage: Usage,
    /// What it cost, if that is known.
    pub usd: Option<f64>,
}

/// What a longer or shorter lifetime of the cache would have changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OtherLifetime {
    /// An hour where five minutes were asked for: USD less (or more, if below 0).
    pub hour_saves_usd: f64,
    /// Five minutes where an hour was asked for.
    pub five_minutes_save_usd: f64,
}

/// The bill of one session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bill {
    /// By cause, and by tool where there is one.
    pub causes: BTreeMap<(BillCause, String), CauseCost>,
    /// The same by day, in hours since 1970.
    pub hours: BTreeMap<(i64, BillCause), f64>,
    /// Where the cache was lost, in order.
    pub breaks: Vec<BilledBreak>,
    pub requests: Vec<BilledRequest>,
    /// What another lifetime would have changed.
    pub lifetime: OtherLifetime,
}

impl Bill {
    /// What all of it cost.
    #[must_use]
    pub fn usd(&self) -> f64 {
        self.causes.values().map(|own| own.usd).sum()
    }

    /// Books work beside the conversation.
    pub(crate) fn beside(&mut self, at: Timestamp, usd: f64) {
        self.add(
            at,
            (BillCause::BackgroundWork, ""),
            CauseCost { usd, times: 1, ..CauseCost::default() },
        );
    }

    /// Books a request of a sub-agent.
    pub(crate) fn sidechain(&mut self, asked: &Asked, spec: &ModelSpec) {
        let usd = self.request(asked, spec).unwrap_or(0.0);
        let tokens = asked.usage.total().0;
        let spent = CauseCost { usd, tokens, times: 1, ..CauseCost::default() };
        self.add(asked.at, (BillCause::SubAgents, ""), spent);
    }

    /// Books a request of the conversation.
    pub(crate) fn main(&mut self, asked: &Asked, view: &BillView, spec: &ModelSpec) {
        if self.request(asked, spec).is_none() {
            return;
        }
        let usage = &asked.usage;
        let Some(prices) = spec.prices_for(usage.prompt().0) else { return };
        let at = asked.at;
        let cause = if usage.output > LONG_TOKENS {
            BillCause::LongAnswers
        } else {
            BillCause::ShortAnswers
        };
        let output =
            Usage { output: usage.output, web_searches: usage.web_searches, ..Usage::default() };
        let usd = prices.cost(&output).0;
        self.add(
            at,
            (cause, ""),
            CauseCost { usd, tokens: usage.output, times: 1, avoidable_usd: 0.0 },
        );
        self.share(at, &view.carried(), (usage.cache_read, prices.cache_read));
        let rest = Usage { output: 0, web_searches: 0, cache_read: 0, ..*usage };
        let tokens = rest.prompt().0;
        let each = per_million(prices.cost(&rest).0, tokens);
        let (lost, cause) = lost(asked, view, tokens);
        if let Some(cause) = cause.filter(|_| lost > 0) {
            let more = priced(lost, each - prices.cache_read).max(0.0);
            let avoidable_usd = if cause == BillCause::Compaction { 0.0 } else { more };
            let spent =
                CauseCost { usd: priced(lost, each), avoidable_usd, tokens: lost, times: 1 };
            self.add(at, (cause, ""), spent);
            if cause == BillCause::CacheBreak && lost >= LISTED_TOKENS {
                self.breaks.extend(asked.anchor.map(|anchor| BilledBreak {
                    at,
                    gap: anchor.gap,
                    tokens: lost,
                    usd: more,
                    part: part(&anchor, view),
                }));
            }
        }
        self.share(at, &view.added(), (tokens - lost, each));
        self.other_lifetime(asked, lost, prices);
    }

    fn request(&mut self, asked: &Asked, spec: &ModelSpec) -> Option<f64> {
        let usd = spec.cost(&asked.usage).map(|usd| usd.0);
        self.requests.push(BilledRequest {
            at: asked.said,
            key: asked.key,
            model: asked.model.clone(),
            usage: asked.usage,
            usd,
        });
        usd
    }

    /// Shares tokens out among what they are.
    fn share(&mut self, at: Timestamp, parts: &[BilledPart], (tokens, each): (u64, f64)) {
        let whole: u64 = parts.iter().map(|(_, _, own)| own).sum();
        if tokens == 0 {
            return;
        }
        if whole == 0 {
            let spent = CauseCost { usd: priced(tokens, each), tokens, ..CauseCost::default() };
            return self.add(at, (BillCause::Injections, ""), spent);
        }
        for (cause, tool, own) in parts.iter().filter(|(_, _, own)| *own > 0) {
            let usd = priced(tokens, each) * ratio(*own, whole);
            let avoidable_usd = match cause {
                BillCause::RepeatedReads => usd,
                _ => 0.0,
            };
            let wide = u128::from(tokens) * u128::from(*own) / u128::from(whole);
            let tokens = u64::try_from(wide).unwrap_or(u64::MAX);
            self.add(at, (*cause, tool), CauseCost { usd, tokens, times: 0, avoidable_usd });
        }
    }

    fn add(&mut self, at: Timestamp, (cause, tool): (BillCause, &str), spent: CauseCost) {
        self.causes.entry((cause, tool.to_owned())).or_default().add(&spent);
        *self.hours.entry((at.as_second().div_euclid(3_600), cause)).or_default() += spent.usd;
    }

    /// What the other lifetime would have cost for this request.
    fn other_lifetime(&mut self, asked: &Asked, lost: u64, prices: &Prices) {
        let Some(anchor) = asked.anchor else { return };
        let written = asked.usage.cache_write();
        let dearer = prices.cache_write_1h - prices.cache_write_5m;
        let between = anchor.gap >= CacheTtl::FiveMinutes.seconds()
            && anchor.gap < CacheTtl::OneHour.seconds();
        match asked.ttl {
            CacheTtl::FiveMinutes => {
                let kept = if between { lost.min(written) } else { 0 };
                self.lifetime.hour_saves_usd +=
                    priced(kept, prices.cache_write_5m - prices.cache_read);
                self.lifetime.hour_saves_usd -= priced(written - kept, dearer);
            }
            CacheTtl::OneHour => {
                let again = if between { asked.usage.cache_read } else { 0 };
                self.lifetime.five_minutes_save_usd += priced(written, dearer);
                self.lifetime.five_minutes_save_usd -=
                    priced(again, prices.cache_write_5m - prices.cache_read);
            }
        }
    }
}

/// What of the tokens that were not read had been sent before, and why they
/// were lost.
fn lost(asked: &Asked, view: &BillView, rest: u64) -> (u64, Option<BillCause>) {
    let Some(anchor) = asked.anchor else { return (0, None) };
    match anchor.hit {
        Hit::Cut { at, of } => {
            let cause = if anchor.gap >= asked.ttl.seconds() {
                BillCause::Expiry
            } else {
                BillCause::CacheBreak
            };
            (of.saturating_sub(at).min(rest), Some(cause))
        }
        Hit::Silent => (rest, Some(BillCause::Compaction)),
        // Another model in the middle of it has nothing in its cache.
        Hit::Fresh(read) if view.requests > 0 => {
            (view.sent.saturating_sub(read).min(rest), Some(BillCause::CacheBreak))
        }
        Hit::Fresh(_) => {
            let prelude = u64::from(view.prelude).saturating_sub(asked.usage.cache_read);
            (prelude.min(rest), Some(BillCause::SystemPrompt))
        }
        Hit::Kept(_) => (0, None),
    }
}

/// What changed where a prefix was lost.
fn part(anchor: &Anchor, view: &BillView) -> String {
    match anchor.hit {
        Hit::Fresh(_) => "another model was asked: nothing of the conversation is in its cache".to_owned(),
        Hit::Cut { at: 0, .. } => {
            "all of it, from the first token: a tool, the system prompt or a parameter changed, or the server lost it".to_owned()
        }
        Hit::Cut { at, .. } if at <= u64::from(view.prelude) => {
            format!("everything after the first {at} tokens: what follows the shared system \
                     prompt changed (tools, instructions, thinking, the first message)")
        }
        Hit::Cut { at, .. } => {
            format!("everything after the first {at} tokens: a message in the middle changed")
        }
        Hit::Kept(_) | Hit::Silent => String::new(),
    }
}

fn priced(tokens: u64, per_million: f64) -> f64 {
    ratio(tokens, 1_000_000) * per_million
}

fn per_million(usd: f64, tokens: u64) -> f64 {
    if tokens == 0 { 0.0 } else { usd / ratio(tokens, 1_000_000) }
}

#[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}
