//! Asking a model for a summary, until it fits and is one.

use crate::session::{Error, Session, effects};
use everfold_compact::parse::{self, Attempt};
use everfold_compact::strip::{Stripped, TooLong};
use everfold_compact::{Guidance, Plan, Sending};
use everfold_economy::cache_state;
use everfold_kernel::record::FailedSummary;
use everfold_kernel::{Decision, Effect, EffectOutcome, Entry, Window};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// A model's summary. None if there is none to be had: the failure is in
/// the log then (L4.2).
pub(super) async fn ask_for_summary(
    session: &mut Session,
    plan: &Plan,
    guidance: Guidance<'_>,
    window: &Window,
    cancel: &CancellationToken,
) -> Result<Option<String>, Error> {
    let limits = Arc::clone(&session.config.limits);
    let outcome = ask_until_it_fits(session, plan, guidance, window, cancel).await?;
    let failed = match outcome {
        Ok((text, effect)) => match parse::read(&text, Attempt::First, &limits) {
            parse::ParsedSummary::Summary(summary) => return Ok(Some(summary)),
            parse::ParsedSummary::NeedsRetry | parse::ParsedSummary::Failed => {
                match ask_again(session, &effect, cancel).await? {
                    Ok(summary) => return Ok(Some(summary)),
                    Err(reason) => reason,
                }
            }
        },
        Err(reason) => reason,
    };
    if !cancel.is_cancelled() {
        let (reason, by) = (failed, FailedSummary::Model);
        session.append(Entry::Decision(Decision::CompactionFailed { reason, by })).await?;
    }
    Ok(None)
}

/// Asks once more, with a word about what was missing.
async fn ask_again(
    session: &mut Session,
    effect: &Effect,
    cancel: &CancellationToken,
) -> Result<Result<String, String>, Error> {
    let none = || "the model wrote no summary".to_owned();
    let Some(effect) = parse::again(effect) else { return Ok(Err(none())) };
    Ok(match effects::perform(session, effect, cancel).await? {
        EffectOutcome::Answered { text, .. } => {
            match parse::read(&text, Attempt::Again, &session.config.limits) {
                parse::ParsedSummary::Summary(summary) => Ok(summary),
                parse::ParsedSummary::NeedsRetry | parse::ParsedSummary::Failed => Err(none()),
            }
        }
        other => Err(reason(&other)),
    })
}

/// Asks, with less and less of the conversation where it is too long (L4.8).
async fn ask_until_it_fits(
    session: &mut Session,
    plan: &Plan,
    guidance: Guidance<'_>,
    window: &Window,
    cancel: &CancellationToken,
) -> Result<Result<(String, Effect), String>, Error> {
    let limits = Arc::clone(&session.config.limits);
    let ttl = session.state.fold.prelude().and_then(|prelude| prelude.params.cache);
    let last_use = session.state.fold.last_response().max(session.runtime.cache.last_fork);
    let idle = limits.prune.idle_minutes;
    let cache = cache_state(session.world.clock.now(), last_use, ttl, idle);
    let sending = everfold_compact::plan::sending(&session.state.fold, window, cache, &limits);
    let mut stripped = match sending {
        Sending::Fork => None,
        Sending::Stripped => Some(Stripped::of(&session.state.fold, plan, &limits)),
    };
    loop {
        let effect = match &stripped {
            None => plan.ask(&session.state.fold, guidance, &limits),
            Some(stripped) => stripped.ask(&session.state.fold, plan, guidance, &limits),
        };
        let effect = match effect {
            Ok(effect) => effect,
            Err(error) => return Ok(Err(error.to_string())),
        };
        match effects::perform(session, effect.clone(), cancel).await? {
            EffectOutcome::Answered { text, .. } => return Ok(Ok((text, effect))),
            EffectOutcome::TooLong { actual, maximum } => {
                let smaller = match &stripped {
                    None => Some(Stripped::of(&session.state.fold, plan, &limits)),
                    Some(stripped) => stripped.shrink(TooLong { actual, maximum }, &limits),
                };
                if smaller.is_none() {
                    return Ok(Err("the conversation is too long to be summed up".to_owned()));
                }
                stripped = smaller;
            }
            other => return Ok(Err(reason(&other))),
        }
    }
}

fn reason(outcome: &EffectOutcome) -> String {
    match outcome {
        EffectOutcome::Failed { reason, .. } => reason.clone(),
        EffectOutcome::TooLong { .. } => "the conversation is too long to be summed up".to_owned(),
        _ => "the model gave no answer".to_owned(),
    }
}
