//! What a policy does between two turns (E2, E4): it sums the past up where
//! carrying it costs more, and reviews what was said. Prefixes are cached for
//! as long as the session had it.
//!
//! It knows no more than a running session: that the pause is long is known
//! when the cache is about to expire, and not before.

use crate::acts;
use crate::conversation::Conversation;
use crate::lane::Lane;
use everfold_economy::carry::{Carry, Regrets};
use everfold_economy::pace::PersonPace;
use everfold_economy::{CostTerms, expected_rounds};
use everfold_kernel::record::{CacheState, SumVerdict};
use everfold_kernel::{Limits, ModelSpec, Prices, Timestamp, Tokens, Usage};
use std::sync::Arc;

/// What a conversation remembers from turn to turn.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rest {
    pace: PersonPace,
    turns: u64,
    /// What was lost by compactions that only a sum called for.
    pub(crate) regrets: Regrets,
    /// Tokens that are out of view because of them.
    gone: Tokens,
    /// What they saved so far, less what they cost.
    credit: f64,
}

impl Rest {
    /// A request was made without what is gone: cheaper by so much.
    pub(crate) fn saves(&mut self, read: &Usage, prices: &Prices) {
        let each = if read.cache_write() > read.cache_read {
            prices.cache_write_5m
        } else {
            prices.cache_read
        };
        self.credit += priced(self.gone, each);
    }

    /// A summary at the threshold: what is gone would be gone anyway.
    pub(crate) fn forgets(&mut self) {
        self.gone = Tokens(0);
    }
}

/// A way to sum up between turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SumUp {
    /// By a fork that reads the warm cache.
    Warm,
    /// When the person is back and the cache is cold: nothing of it is read.
    Cold,
}

/// The person is back with a prompt.
pub(crate) fn end(lane: &mut Lane, own: &mut Conversation, back: Timestamp) {
    let (Some(answered), Some(model)) = (own.fold.last_response(), own.model.clone()) else {
        return;
    };
    let common = Arc::clone(&lane.common);
    let (spec, limits) = (&*common.spec(&model), &*common.limits);
    let away = back.as_second().saturating_sub(answered.as_second());
    review(lane, own, spec, limits);
    own.rest.turns += 1;
    if let Some((way, loss)) = chosen(lane, own, spec, Some(away)) {
        let before = own.tokens();
        acts::sum_up(lane, own, (answered, back), (spec, way), limits);
        let gone = before - own.tokens();
        own.rest.regrets.gone += gone;
        own.rest.gone += gone;
        own.rest.credit -= loss;
    }
    own.rest.pace.add(away);
}

/// The session is over, which nobody knew: a summary before the cache expires
/// is made all the same.
pub(crate) fn over(lane: &mut Lane, own: &mut Conversation) {
    let (Some(answered), Some(model)) = (own.fold.last_response(), own.model.clone()) else {
        return;
    };
    let common = Arc::clone(&lane.common);
    let spec = &*common.spec(&model);
    if chosen(lane, own, spec, None).is_some_and(|(way, _)| way == SumUp::Warm) {
        acts::sum_up(lane, own, (answered, answered), (spec, SumUp::Warm), &common.limits);
    }
}

/// Whether and how the past is summed up, and what is lost where the session
/// ends right after. The person was away for so many seconds, or for good.
fn chosen(
    lane: &Lane,
    own: &Conversation,
    spec: &ModelSpec,
    away: Option<i64>,
) -> Option<(SumUp, f64)> {
    let limits = &lane.common.limits;
    let view = own.prelude + own.tokens();
    let prices = *spec.prices_for(view.0)?;
    // There is little to carry, and a summary would hardly be shorter.
    if own.tokens().0 < limits.replay.after_tokens.saturating_mul(LEAST_TIMES) {
        return None;
    }
    let ttl = own.ttl().unwrap_or_default();
    let terms =
        CostTerms { prices: Some(prices), ttl: Some(ttl), cache: CacheState::Warm, rounds: 1.0 };
    let carry = carry(own, view, limits);
    let gain = limits.replay.gain_percent;
    // However it ends, it is not made noticeably dearer.
    let may_lose = |percent: f64| lane.totals.usd * percent / 100.0 + own.rest.credit;
    let summary = terms.read(view).0 + terms.output(carry.summary).0;
    let rewrite = terms.write(carry.after).0 - terms.read(carry.after).0;
    let lasts = ttl.seconds();
    let warned = lasts - lasts * MARGIN_PERCENT / 100;
    if away.is_none_or(|away| away >= warned) {
        let sum = carry.at_pause(&terms, late_percent(own.rest.pace)).decided(gain);
        if sum.verdict == SumVerdict::Done && summary + rewrite <= may_lose(AT_PAUSE) {
            return Some((SumUp::Warm, summary + rewrite));
        }
    }
    if away.is_some_and(|away| away >= lasts) {
        let after = terms.write(carry.after).0;
        let costs = priced(view, prices.input) + terms.output(carry.summary).0 + after;
        let loss = costs - terms.write(view).0;
        let reads = terms.read(carry.gone()).0 * (carry.requests - 1.0).max(0.0);
        let again = terms.write(carry.gone()).0 * carry.again_percent / 100.0;
        let pays = reads > (loss + again).max(0.0);
        return (pays && loss <= may_lose(WHEN_BACK)).then_some((SumUp::Cold, loss.max(0.0)));
    }
    let sum = carry.at_turn_end(&terms).decided(gain);
    let is_done = sum.verdict == SumVerdict::Done && away.is_some();
    (is_done && summary + rewrite <= may_lose(AT_TURN_END))
        .then_some((SumUp::Warm, summary + rewrite))
}

/// How many times what is left there has to be.
const LEAST_TIMES: u64 = 2;
/// The timer goes off so much before the cache expires.
const MARGIN_PERCENT: i64 = 3;
/// Percentage of a session's cost that may be lost if it ends right after a
/// summary that is made while nobody is there: many do.
const AT_PAUSE: f64 = 0.5;
/// The same when the person is back.
const WHEN_BACK: f64 = 6.0;
/// The same between two turns that follow each other.
const AT_TURN_END: f64 = 6.0;

/// How likely somebody who is away until the cache is about to expire comes
/// back, and only after that.
fn late_percent(pace: PersonPace) -> u64 {
    // One of two comes back at all before anything is known.
    (pace.long + pace.middle + 1) * 100 / (pace.long + pace.middle + 2)
}

#[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
fn priced(tokens: Tokens, per_million: f64) -> f64 {
    tokens.0 as f64 * per_million / 1_000_000.0
}

fn carry(own: &Conversation, view: Tokens, limits: &Limits) -> Carry {
    let summary = Tokens(limits.replay.summary_tokens.saturating_mul(2));
    let after = own.prelude + Tokens(limits.replay.after_tokens);
    let rounds = expected_rounds(&own.fold, limits.prune.expected_rounds);
    // A session goes on about as long as it has gone on.
    #[expect(clippy::cast_precision_loss, reason = "turns are far below 2^52")]
    let turns = (own.rest.turns as f64).clamp(1.0, limits.replay.turns_ahead as f64);
    let prior = Tokens(limits.replay.regret_tokens);
    let again_percent = own.rest.regrets.percent(limits.prune.ask_again_percent, prior);
    Carry { view, after: after.min(view), summary, requests: rounds * turns, again_percent }
}

/// Books the review of what was said in a turn (E2): by the small model, on
/// the new messages alone, within the share of the budget (E6).
fn review(lane: &mut Lane, own: &mut Conversation, spec: &ModelSpec, limits: &Limits) {
    let said = own.said_since_review();
    if said.0 < limits.replay.review_least_tokens {
        return;
    }
    let common = Arc::clone(&lane.common);
    let small = common.table.spec(&common.small_model);
    let small = if small.prices.is_some() { small } else { spec };
    let input = limits.replay.review_tokens + said.0.min(limits.replay.review_most_tokens);
    let usage = Usage { input, output: limits.replay.call_tokens, ..Usage::default() };
    let cost = small.cost(&usage).map_or(0.0, |usd| usd.0);
    let share = f64::from(limits.replay.background_percent) / 100.0;
    if lane.totals.background_usd + cost > lane.totals.usd * share {
        return;
    }
    own.reviewed();
    lane.totals.background_usd += cost;
    lane.totals.usd += cost;
    lane.totals.usage.add(&usage);
}
