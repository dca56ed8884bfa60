//! What a policy does before a request: the layers, as they are.
//!
//! The order is that of the engine's ladder. Nothing is written, read or
//! asked: a spill succeeds, a file is as it was read last, and a summary is a
//! text of a set length, booked at its price.

use crate::conversation::Conversation;
use crate::lane::{Lane, written};
use crate::policy::Prune;
use crate::step::Asked;
use everfold_compact::apply::{AppliedCompaction, CompactionContext, Extras, settle, settle_local};
use everfold_compact::{
    CompactionScope, ConversationKind, Due, Guidance, Plan, Sending, Summariser, Summary, Trigger,
};
use everfold_economy::cache_state;
use everfold_kernel::record::{
    CacheState, ClearTrigger, Cleared, ClearedResult, ClearingSum, FailedSummary,
};
use everfold_kernel::tokens::estimate_text;
use everfold_kernel::window::Overrides;
use everfold_kernel::{
    Decision, Effect, EffectOutcome, Entry, Limits, ModelId, ModelSpec, Timestamp, Tokens, Usage,
    Usd, Window,
};
use everfold_prefix::Fold;
use everfold_prefix::sim::hash;
use everfold_prune::{CacheEdits, Prefix, RequestThread, Situation};
use std::path::PathBuf;
use std::sync::Arc;

/// Runs the rungs of a policy, and tells what that cost.
pub(crate) fn climb(
    lane: &mut Lane,
    own: &mut Conversation,
    asked: &Asked,
    spec: &ModelSpec,
) -> f64 {
    let now = asked.at;
    let limits = Arc::clone(&lane.common.limits);
    if lane.rules.offload {
        offload(lane, own, now, &limits);
    }
    match lane.rules.prune {
        Prune::Never => {}
        Prune::ByTime | Prune::WhereItPays => prune(lane, own, now, spec, &limits),
        Prune::AllBut { keep, over } => mask(lane, own, now, (keep, over)),
    }
    match lane.rules.compact {
        Some(overrides) => compact(lane, own, asked, spec, &overrides, &limits),
        None => 0.0,
    }
}

fn offload(lane: &mut Lane, own: &mut Conversation, now: Timestamp, limits: &Limits) {
    for spill in everfold_offload::plan(&own.fold, &limits.offload) {
        let Effect::Spill { file, .. } = spill.effect else { continue };
        let path = PathBuf::from("tool-results").join(file);
        let applied = everfold_offload::apply(spill.pending, EffectOutcome::Spilled { path });
        let Some(Decision::Spilled(spilled)) = applied.decision else { continue };
        lane.takes(own, &spilled.tool_use_id);
        lane.totals.spilled += 1;
        own.append(now, Entry::Decision(Decision::Spilled(spilled)));
    }
}

fn prune(
    lane: &mut Lane,
    own: &mut Conversation,
    now: Timestamp,
    spec: &ModelSpec,
    limits: &Limits,
) {
    let situation = Situation {
        thread: RequestThread::Main,
        now,
        last_fork: own.last_fork,
        prefix: if own.fold.last_break() > own.fold.last_response() {
            Prefix::Broken
        } else {
            Prefix::Kept
        },
        model: spec,
        cache_edits: CacheEdits::NotOffered,
        clearable: &[],
        flags: &lane.common.flags,
        limits,
    };
    let is_time = situation.trigger(&own.fold) == ClearTrigger::Time;
    if lane.rules.prune == Prune::ByTime && !is_time {
        return;
    }
    let Some(Decision::Cleared(cleared)) = everfold_prune::plan(&own.fold, &situation) else {
        return;
    };
    lane.totals.clearings += 1;
    own.carried.cleared(Tokens(cleared.sum.cleared_tokens), cleared.sum.costs);
    for result in &cleared.results {
        lane.takes(own, &result.tool_use_id);
    }
    own.append(now, Entry::Decision(Decision::Cleared(cleared)));
}

/// Clears all but the newest results. The server that does so is sent the
/// whole conversation every time: what counts is how long that is.
fn mask(lane: &mut Lane, own: &mut Conversation, now: Timestamp, (keep, over): (u64, u64)) {
    let whole = own.fold.count().0 + own.cleared;
    let keep = usize::try_from(keep).unwrap_or(usize::MAX);
    if whole <= over || own.live.len() <= keep {
        return;
    }
    let before = own.fold.count().0;
    let old: Vec<_> = own.live.drain(..own.live.len() - keep).collect();
    for id in &old {
        lane.takes(own, id);
    }
    let results = old.into_iter().map(|tool_use_id| ClearedResult {
        tool_use_id,
        marker: everfold_prune::CLEARED.to_owned(),
    });
    let sum = ClearingSum {
        cache: CacheState::Warm,
        cleared_tokens: 0,
        rewritten_tokens: 0,
        rounds: 0.0,
        saves: Usd(0.0),
        costs: Usd(0.0),
    };
    let cleared = Cleared { results: results.collect(), trigger: ClearTrigger::Economy, sum };
    own.append(now, Entry::Decision(Decision::Cleared(cleared)));
    own.cleared += before.saturating_sub(own.fold.count().0);
    lane.totals.clearings += 1;
}

fn compact(
    lane: &mut Lane,
    own: &mut Conversation,
    asked: &Asked,
    spec: &ModelSpec,
    overrides: &Overrides,
    limits: &Limits,
) -> f64 {
    let now = asked.at;
    let window = Conversation::window(spec, overrides, limits);
    let due = everfold_compact::policy::due(
        &own.fold,
        &window,
        &lane.common.flags,
        limits,
        ConversationKind::MainThread,
    );
    if due == Due::No {
        return 0.0;
    }
    let Ok(plan) = Plan::new(&own.fold, CompactionScope::All, Trigger::Auto) else {
        return 0.0;
    };
    let ttl = own.fold.prelude().and_then(|prelude| prelude.params.cache);
    let last_use = own.fold.last_response().max(own.last_fork);
    let cache = cache_state(now, last_use, ttl, limits.prune.idle_minutes);
    let sending = everfold_compact::plan::sending(&own.fold, &window, cache, limits);
    let usage = ask(lane, own, asked, spec, (&plan, sending), limits);
    let spent = book(lane, spec, &usage);
    own.carried.starts_over();
    replace(lane, own, now, &plan, &window, limits);
    spent
}

/// Sums the past up between turns, by a fork that reads what is cached.
pub(crate) fn sum_up(
    lane: &mut Lane,
    own: &mut Conversation,
    (cache, now): (CacheState, Timestamp),
    spec: &ModelSpec,
    limits: &Limits,
) {
    let (scope, _) = everfold_compact::plan::between_turns(&own.fold, limits);
    let Ok(plan) = Plan::new(&own.fold, scope, Trigger::Auto) else {
        return;
    };
    let directive = plan.directive(&own.fold, Sending::Fork, Guidance::default(), limits);
    let directive = estimate_text(&directive.unwrap_or_default(), limits);
    let total = own.prelude + own.tokens();
    let cached = match cache {
        CacheState::Warm => own.sent().min(total),
        CacheState::Cold => Tokens(0),
    };
    let usage = Usage {
        input: ((total - cached) + directive).0,
        cache_read: cached.0,
        output: limits.replay.summary_tokens.saturating_mul(2),
        ..Usage::default()
    };
    book(lane, spec, &usage);
    own.last_fork = own.fold.last_response();
    let window = Conversation::window(spec, &Overrides::default(), limits);
    replace(lane, own, now, &plan, &window, limits);
}

fn book(lane: &mut Lane, spec: &ModelSpec, usage: &Usage) -> f64 {
    let spent = spec.cost(usage).map_or(0.0, |usd| usd.0);
    lane.totals.usage.add(usage);
    lane.totals.usd += spent;
    lane.totals.summaries_usd += spent;
    spent
}

/// Puts a summary in the place of the past.
fn replace(
    lane: &mut Lane,
    own: &mut Conversation,
    now: Timestamp,
    plan: &Plan,
    window: &Window,
    limits: &Limits,
) {
    let past = plan.past(&own.fold, limits);
    let mut extras = Extras::default();
    if let Some(Effect::ReadFiles { paths, max_bytes }) =
        everfold_compact::files::wanted(&past, limits)
    {
        let files = as_read_last(&own.fold, paths, max_bytes);
        extras.restored = everfold_compact::files::attach(&files, limits);
    }
    let setting = CompactionContext { fold: &own.fold, window, limits };
    let summary = Summary::checked(setting, &past, &modelled(limits), Summariser::Model);
    let applied =
        settle(setting, plan, &summary, &extras).or_else(|_| settle_local(setting, plan, &extras));
    match applied {
        Ok(applied) => put_in_place(lane, own, now, applied),
        Err(rejection) => {
            own.append(now, Entry::Decision(rejection.decision(FailedSummary::Local)));
        }
    }
}

fn put_in_place(
    lane: &mut Lane,
    own: &mut Conversation,
    now: Timestamp,
    applied: AppliedCompaction,
) {
    for entry in applied.entries {
        own.append(now, entry);
    }
    lane.totals.compactions += 1;
    lane.forget_all_but_shown(own);
    for path in &applied.report.restored {
        own.memory.brings_back("Read", path);
    }
}

/// What asking for the summary takes.
fn ask(
    lane: &mut Lane,
    own: &mut Conversation,
    asked: &Asked,
    spec: &ModelSpec,
    (plan, sending): (&Plan, Sending),
    limits: &Limits,
) -> Usage {
    let directive = plan.directive(&own.fold, sending, Guidance::default(), limits);
    let directive = estimate_text(&directive.unwrap_or_default(), limits);
    // A draft, and the summary itself.
    let output = limits.replay.summary_tokens.saturating_mul(2);
    if sending == Sending::Stripped {
        let input = (own.fold.count() + directive).0;
        return Usage { input, output, ..Usage::default() };
    }
    let model = own.model.clone().unwrap_or_else(|| ModelId::new(""));
    let (mut marks, _) = own.extend(&model);
    let length = own.chain.len();
    own.chain.push(hash(b"directive"), directive);
    marks.pop();
    marks.push(length);
    let ttl = own.fold.prelude().and_then(|prelude| prelude.params.cache).unwrap_or_default();
    let usage = lane.billed(own, asked, (spec, &marks, ttl));
    own.chain.truncate(length);
    own.last_fork = Some(asked.at);
    // A fork writes nothing to the cache that it alone uses.
    let input = usage.input + usage.cache_write();
    Usage { input, cache_read: usage.cache_read, output, ..Usage::default() }
}

/// Books the summary that the session's own program asked for: a fork of the
/// conversation, as ours is. The transcript does not have that request.
pub(crate) fn book_summary(lane: &mut Lane, own: &mut Conversation, summary: Tokens) {
    let Some((prompt, gap)) = own.summarised.take() else { return };
    let model = own.model.clone().unwrap_or_else(|| ModelId::new(""));
    let common = Arc::clone(&lane.common);
    let ttl = own.fold.prelude().and_then(|prelude| prelude.params.cache).unwrap_or_default();
    let cached = if gap < ttl.seconds() { own.sent().min(prompt) } else { Tokens(0) };
    // Its draft stands in the summary.
    let usage =
        Usage { cache_read: cached.0, output: summary.0, ..written((prompt - cached).0, ttl) };
    book(lane, &common.spec(&model), &usage);
}

/// Stands for what a model would write.
fn modelled(limits: &Limits) -> String {
    const WORDS: &str = "What was done and why, in the words of a model. ";
    let bytes = limits.replay.summary_tokens.saturating_mul(limits.bytes_per_token_text);
    let times = usize::try_from(bytes).unwrap_or(0) / WORDS.len();
    WORDS.repeat(times.max(1))
}

/// Files as a conversation saw them last.
fn as_read_last(fold: &Fold, paths: Vec<PathBuf>, max_bytes: u64) -> Vec<(PathBuf, String)> {
    let results = fold.results();
    let text_of = |path: &PathBuf| {
        let path = path.to_str()?;
        let read = results.iter().rev().find(|result| {
            let own = result.input.and_then(everfold_kernel::call::file_of);
            result.tool == "Read" && own == Some(path)
        });
        let text = read?.piece.block.plain_text();
        let end = text.floor_char_boundary(usize::try_from(max_bytes).unwrap_or(usize::MAX));
        Some(text.get(..end)?.to_owned())
    };
    let found = paths.into_iter().filter_map(|path| Some((path.clone(), text_of(&path)?)));
    found.collect()
}
