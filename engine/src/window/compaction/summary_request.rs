//! Asking a model for a summary, until it fits and is one.

use crate::session::{Error, Session, effects};
use everfold_compact::parse::{self, Attempt};
use everfold_compact::strip::{Stripped, TooLong};
use everfold_compact::{Guidance, Plan, Sending, lean};
use everfold_economy::cache_state;
use everfold_kernel::record::FailedSummary;
use everfold_kernel::{Decision, Effect, EffectOutcome, Entry, Window};
use everfold_prefix::system::Profile;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Why a model gave no summary.
#[derive(Debug, thiserror::Error)]
enum SummaryError {
    #[error("the model wrote no summary")]
    None,
    #[error("the conversation is too long to be summed up")]
    TooLong,
    #[error("the model gave no answer")]
    NoAnswer,
    #[error("{0}")]
    Failed(String),
    #[error(transparent)]
    Layer(#[from] everfold_compact::Error),
    #[error(transparent)]
    Session(#[from] Error),
}

/// What a model is shown of the conversation that it sums up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SummarySpan {
    /// All that the plan drops.
    Whole,
    /// What the last request held: a batch of results came since (E9).
    Cached,
}

/// A model's summary. None if there is none to be had: the failure is in
/// the log then (L4.2).
pub(super) async fn ask_for_summary(
    session: &mut Session,
    plan: &Plan,
    guidance: Guidance<'_>,
    shown: (&Window, SummarySpan),
    cancel: &CancellationToken,
) -> Result<Option<String>, Error> {
    match summary(session, plan, guidance, shown, cancel).await {
        Ok(summary) => return Ok(Some(summary)),
        Err(SummaryError::Session(error)) => return Err(error),
        Err(_) if cancel.is_cancelled() => {}
        Err(failed) => {
            let (reason, by) = (failed.to_string(), FailedSummary::Model);
            session.append(Entry::Decision(Decision::CompactionFailed { reason, by })).await?;
        }
    }
    Ok(None)
}

async fn summary(
    session: &mut Session,
    plan: &Plan,
    guidance: Guidance<'_>,
    shown: (&Window, SummarySpan),
    cancel: &CancellationToken,
) -> Result<String, SummaryError> {
    let model = session.model().clone();
    if session.config.profile(&model) == Profile::Lean {
        let fold = &session.state.fold;
        let effect = lean::ask(fold, plan, &model, shown.0, &session.config.limits);
        return match effects::perform(session, effect, cancel).await? {
            EffectOutcome::Answered { text, .. } => lean::read(&text).ok_or(SummaryError::None),
            other => Err(failure(other)),
        };
    }
    let (text, effect) = ask_until_it_fits(session, plan, guidance, shown, cancel).await?;
    match parse::read(&text, Attempt::First, &session.config.limits) {
        parse::ParsedSummary::Summary(summary) => Ok(summary),
        parse::ParsedSummary::NeedsRetry | parse::ParsedSummary::Failed => {
            ask_again(session, &effect, cancel).await
        }
    }
}

/// Asks once more, with a word about what was missing.
async fn ask_again(
    session: &mut Session,
    effect: &Effect,
    cancel: &CancellationToken,
) -> Result<String, SummaryError> {
    let effect = parse::again(effect).ok_or(SummaryError::None)?;
    let text = match effects::perform(session, effect, cancel).await? {
        EffectOutcome::Answered { text, .. } => text,
        other => return Err(failure(other)),
    };
    match parse::read(&text, Attempt::Again, &session.config.limits) {
        parse::ParsedSummary::Summary(summary) => Ok(summary),
        parse::ParsedSummary::NeedsRetry | parse::ParsedSummary::Failed => Err(SummaryError::None),
    }
}

/// Asks, with less and less of the conversation where it is too long (L4.8).
async fn ask_until_it_fits(
    session: &mut Session,
    plan: &Plan,
    guidance: Guidance<'_>,
    (window, span): (&Window, SummarySpan),
    cancel: &CancellationToken,
) -> Result<(String, Effect), SummaryError> {
    let limits = Arc::clone(&session.config.limits);
    let ttl = session.state.fold.cached_for();
    let last_use = session.state.fold.last_response().max(session.runtime.cache.last_fork);
    let idle = limits.prune.idle_minutes;
    let cache = cache_state(session.world.clock.now(), last_use, ttl, idle);
    let sending = match span {
        SummarySpan::Cached => Sending::Cached,
        SummarySpan::Whole => {
            everfold_compact::plan::sending(&session.state.fold, window, cache, &limits)
        }
    };
    let mut stripped = match sending {
        Sending::Fork | Sending::Cached => None,
        Sending::Stripped => Some(Stripped::of(&session.state.fold, plan, &limits)),
    };
    loop {
        let effect = match &stripped {
            None if sending == Sending::Cached => {
                plan.ask_cached(&session.state.fold, guidance, &limits)
            }
            None => plan.ask(&session.state.fold, guidance, &limits),
            Some(stripped) => stripped.ask(&session.state.fold, plan, guidance, &limits),
        }?;
        match effects::perform(session, effect.clone(), cancel).await? {
            EffectOutcome::Answered { text, .. } => return Ok((text, effect)),
            EffectOutcome::TooLong { actual, maximum } => {
                let smaller = match &stripped {
                    None => Some(Stripped::of(&session.state.fold, plan, &limits)),
                    Some(stripped) => stripped.shrink(TooLong { actual, maximum }, &limits),
                };
                stripped = Some(smaller.ok_or(SummaryError::TooLong)?);
            }
            other => return Err(failure(other)),
        }
    }
}

fn failure(outcome: EffectOutcome) -> SummaryError {
    match outcome {
        EffectOutcome::Failed { reason, .. } => SummaryError::Failed(reason),
        EffectOutcome::TooLong { .. } => SummaryError::TooLong,
        _ => SummaryError::NoAnswer,
    }
}
