//! What a policy does between two turns (E2, E4): it sums the past up where
//! carrying it costs more, and reviews what was said. Prefixes are cached for
//! as long as the session had it.
//!
//! Whether and when is decided as in a running session
//! ([`everfold_economy::point`]), at the moments that one comes by: that a pause
//! is long is known when the cache is about to expire, and not before.

use crate::acts;
use crate::conversation::Conversation;
use crate::lane::Lane;
use everfold_economy::point::{CarriedView, CompactionPoint};
use everfold_economy::{CostTerms, expected_rounds};
use everfold_kernel::record::{CacheState, SumVerdict};
use everfold_kernel::{Limits, ModelSpec, Timestamp, Tokens, Usage, Usd};
use std::sync::Arc;

/// The person is back with a prompt.
pub(crate) fn end(lane: &mut Lane, own: &mut Conversation, back: Timestamp) {
    let (Some(answered), Some(model)) = (own.fold.last_response(), own.model.clone()) else {
        own.carried.prompted(None);
        return;
    };
    let common = Arc::clone(&lane.common);
    let (spec, limits) = (&*common.spec(&model), &*common.limits);
    let away = back.as_second().saturating_sub(answered.as_second());
    review(lane, own, spec, limits);
    let moments = moments(own, limits, Some(away));
    moments.into_iter().flatten().find(|moment| is_summed_up(lane, own, spec, (*moment, back)));
    own.carried.prompted(Some(away));
}

/// The session is over, which nobody knew: a summary before the cache expires
/// is made all the same.
pub(crate) fn over(lane: &mut Lane, own: &mut Conversation) {
    let (Some(answered), Some(model)) = (own.fold.last_response(), own.model.clone()) else {
        return;
    };
    let common = Arc::clone(&lane.common);
    let spec = &*common.spec(&model);
    let moments = moments(own, &common.limits, None);
    moments.into_iter().flatten().find(|moment| is_summed_up(lane, own, spec, (*moment, answered)));
}

/// The moments of a pause of so many seconds, or of one that does not end.
fn moments(own: &Conversation, limits: &Limits, away: Option<i64>) -> [Option<CompactionPoint>; 3] {
    let lasts = own.ttl().unwrap_or_default().seconds();
    let margin = i64::try_from(limits.economy.pause_margin_s).unwrap_or(0);
    let is_long = away.is_none_or(|away| away >= lasts.saturating_sub(margin));
    let back = away.map(|away| {
        if away < lasts { CompactionPoint::BackInTime } else { CompactionPoint::BackLate }
    });
    [Some(CompactionPoint::TurnEnd), is_long.then_some(CompactionPoint::Expiry), back]
}

/// Sums the past up at a moment, where that is allowed and pays.
fn is_summed_up(
    lane: &mut Lane,
    own: &mut Conversation,
    spec: &ModelSpec,
    (moment, at): (CompactionPoint, Timestamp),
) -> bool {
    let common = Arc::clone(&lane.common);
    let limits = &*common.limits;
    let window = Tokens(spec.window.unwrap_or(limits.default_window_tokens));
    let economy = lane.rules.economy;
    if !moment.is_allowed(economy, window, &limits.economy) {
        return false;
    }
    let view = own.prelude + own.tokens();
    let cache =
        if moment == CompactionPoint::BackLate { CacheState::Cold } else { CacheState::Warm };
    let terms = CostTerms {
        prices: spec.prices_for(view.0).copied(),
        ttl: Some(own.ttl().unwrap_or_default()),
        cache,
        rounds: 1.0,
    };
    let rounds = expected_rounds(&own.fold, limits.prune.expected_rounds);
    let (_, turn) = everfold_compact::plan::between_turns(&own.fold, limits);
    let kept = own.prelude + turn;
    let carried = CarriedView {
        view,
        kept,
        rounds,
        spent: Usd(lane.totals.usd),
        beside: Usd(lane.totals.background_usd),
    };
    let Some((sum, loss)) = own.carried.weigh(moment, &carried, &terms, &limits.economy) else {
        return false;
    };
    if sum.verdict != SumVerdict::Done {
        return false;
    }
    acts::sum_up(lane, own, (cache, at), spec, limits);
    own.carried.summed_up(view - (own.prelude + own.tokens()), loss);
    true
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
