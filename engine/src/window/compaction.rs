//! Layer 4 at work: asks for the summary, restores files, writes the boundary.
//!
//! The layer decides, this file performs. Whatever fails on the way, a local
//! summary is made in the end, so that the conversation can go on (L4.11).

use crate::agents::kinds;
use crate::event::Event;
use crate::memory::extraction;
use crate::session::projections::CARRIED;
use crate::session::{Error, Session, effects, prelude, quiet_lines, reload, secrets, weighed};
use crate::setups::hooks::session_events;
use crate::setups::{instructions, mcp_tools, plan_mode, preferences, session_head, skills};
use crate::window::ladder::Climbed;
use crate::window::learned::{learn_window, narrowed};
use crate::window::notes::summary;
use crate::window::{prompt_room, thrash};
use everfold_compact::apply::Extras;
use everfold_compact::{AppliedCompaction, Due, Guidance, Plan};
use everfold_kernel::ports::ModelKind;
use everfold_kernel::record::FailedSummary;
use everfold_kernel::{Decision, EffectOutcome, Entry, Flag, RecordId, Tokens, Usd, Window};
use everfold_window::{Concluded, Writer, conclude};
use serde_json::json;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

pub(crate) mod collapse;
mod error;
pub(crate) mod ready_summary;
pub(crate) mod snip;
pub(crate) mod summary_request;

pub use error::CompactionError;
pub use everfold_compact::preview::{CompactionPreview, CompactionReport};
pub use everfold_compact::{CompactionScope, Trigger};

/// What a person or the ladder asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Compaction {
    pub scope: CompactionScope,
    pub trigger: Trigger,
    /// What the person wants kept in mind.
    pub guidance: Option<String>,
}

impl Compaction {
    /// All of the conversation, by hand.
    #[must_use]
    pub fn by_hand(guidance: Option<String>) -> Self {
        Self { scope: CompactionScope::All, trigger: Trigger::Manual, guidance }
    }

    fn automatic() -> Self {
        Self { scope: CompactionScope::All, trigger: Trigger::Auto, guidance: None }
    }
}

/// Compacts if the threshold is passed.
pub(crate) async fn auto_compact(
    session: &mut Session,
    cancel: &CancellationToken,
) -> Result<Climbed, Error> {
    let checked = thrash::check_ceiling(session, cancel).await?;
    if !matches!(checked, Climbed::Done) {
        return Ok(checked);
    }
    let config = Arc::clone(&session.config);
    let window = session.window();
    let due = weighed::ladder_view(session, &window).due();
    if due == Due::No {
        return Ok(Climbed::Done);
    }
    let economy = &config.limits.economy;
    let thrash = session.runtime.branch.guard.is_full(economy).then(|| thrash::causes(session));
    let may_ask = due == Due::Yes && !session.runtime.branch.guard.is_thrashing(economy);
    let (writer, scope) = by_whom(session, &window, may_ask);
    // What was put off is looked at while it is still in view (E2).
    extraction::catch_up(session).await?;
    let compaction = Compaction { scope, ..Compaction::automatic() };
    let done = compact_by(session, compaction, writer, &window, cancel).await;
    if let Err(error) = done {
        let reason = error.unless_broken()?;
        session.emit(|| Event::Notice(format!("the conversation was not compacted: {reason}")));
    }
    if let Some(causes) = thrash {
        thrash::tell(session, &causes).await?;
    }
    Ok(Climbed::Done)
}

/// Makes room after a request was refused as too long (L4.10). The second
/// time in a turn no model is asked. False if nothing could be done.
pub(crate) async fn make_room(
    session: &mut Session,
    maximum: Option<u64>,
    try_number: u32,
    cancel: &CancellationToken,
) -> Result<bool, Error> {
    let limits = Arc::clone(&session.config.limits);
    let is_leaner = learn_window(session, maximum).await?;
    let window = narrowed(session, maximum);
    if prompt_room::shorten_waiting(session, &window).await? || is_leaner {
        return Ok(true);
    }
    session.runtime.branch.guard.is_full(&limits.economy);
    let may_ask = try_number <= 1
        && !session.runtime.branch.guard.is_thrashing(&limits.economy)
        && !everfold_compact::policy::is_breaker_open(&session.state.fold, &limits);
    // The server counts more than we do: nothing is kept by our own count.
    let (writer, _) = by_whom(session, &window, may_ask);
    let compaction = Compaction::automatic();
    match compact_by(session, compaction, writer, &window, cancel).await {
        Ok(_) => Ok(true),
        Err(error) => error.unless_broken().map(|_| false),
    }
}

/// Who sums up, and what.
fn by_whom(session: &Session, window: &Window, may_ask: bool) -> (Writer, CompactionScope) {
    if may_ask {
        weighed::ladder_view(session, window).writer()
    } else {
        (Writer::Nobody, CompactionScope::All)
    }
}

/// What a compaction would do.
///
/// # Errors
/// If none can be made.
pub fn preview_compaction(
    session: &Session,
    scope: CompactionScope,
) -> Result<CompactionPreview, CompactionError> {
    let limits = &session.config.limits;
    let plan = Plan::new(&session.state.fold, scope, Trigger::Manual)?;
    Ok(everfold_compact::preview::preview(&session.state.fold, &plan, limits))
}

/// Compacts the conversation now.
///
/// # Errors
/// If none can be made, or the log cannot be written.
pub async fn compact(
    session: &mut Session,
    compaction: Compaction,
    cancel: &CancellationToken,
) -> Result<CompactionReport, CompactionError> {
    let window = session.window();
    compact_by(session, compaction, Writer::Model, &window, cancel).await
}

/// Keeps a record word for word through every compaction (L4.16).
///
/// # Errors
/// If it cannot be pinned, or the log cannot be written.
pub async fn pin(session: &mut Session, record: &RecordId) -> Result<(), CompactionError> {
    let decision =
        everfold_compact::pins::pin(&session.state.fold, record, &session.config.limits)?;
    session.append(Entry::Decision(decision)).await?;
    Ok(())
}

/// Takes a pin out.
///
/// # Errors
/// If there is none, or the log cannot be written.
pub async fn unpin(session: &mut Session, record: &RecordId) -> Result<(), CompactionError> {
    let decision = everfold_compact::pins::unpin(&session.state.fold, record)?;
    session.append(Entry::Decision(decision)).await?;
    Ok(())
}

/// Takes a range of messages out of the model's view (L4.14), and gives
/// the record by which that can be undone.
///
/// # Errors
/// If the range cannot be, or the log cannot be written.
pub async fn snip(
    session: &mut Session,
    from: &RecordId,
    to: &RecordId,
) -> Result<RecordId, CompactionError> {
    if !session.config.flags.is_on(Flag::Snip) {
        return Err(CompactionError::SwitchedOff(Flag::Snip));
    }
    let decision = everfold_compact::snip::snip(&session.state.fold, from, to)?;
    Ok(session.append(Entry::Decision(decision)).await?)
}

/// Takes a snip, a collapse or a clearing back: what it hid is shown again.
///
/// # Errors
/// If the log cannot be written or read.
pub async fn undo_decision(session: &mut Session, decision: &RecordId) -> Result<(), Error> {
    session.append(Entry::Decision(everfold_compact::snip::undo(decision))).await?;
    reload::refold(session).await
}

async fn compact_by(
    session: &mut Session,
    compaction: Compaction,
    writer: Writer,
    window: &Window,
    cancel: &CancellationToken,
) -> Result<CompactionReport, CompactionError> {
    let Compaction { scope, trigger, guidance } = compaction;
    let before = quiet_lines::summaries_cost(session);
    let plan = Plan::new(&session.state.fold, scope, trigger)?;
    let refused = session_events::compaction_refused(session, trigger, guidance.as_deref(), cancel);
    if let Some(why) = refused.await? {
        return Err(CompactionError::Hook(why));
    }
    let from_notes = match trigger {
        Trigger::Auto => summary::compacted_from_notes(session, window, cancel).await?,
        Trigger::Manual => None,
    };
    let mut applied = match from_notes {
        Some(applied) => applied,
        None => {
            match summarised(session, &plan, guidance.as_deref(), writer, window, cancel).await {
                Err(CompactionError::Rejected(why)) if !cancel.is_cancelled() => {
                    let failed = why.decision(FailedSummary::Local);
                    session.append(Entry::Decision(failed)).await?;
                    return Err(why.into());
                }
                other => other?,
            }
        }
    };
    if cancel.is_cancelled() {
        return Err(CompactionError::Stopped);
    }
    secrets::mask_summaries(session, &mut applied.entries);
    let summary = applied.summary();
    let report = put_in_place(session, applied, CompactionCause::Room).await?;
    let cost = Usd(quiet_lines::summaries_cost(session).0 - before.0);
    quiet_lines::compacted(session, &report, cost);
    session_events::compacted_hooks(session, trigger, &summary, cancel).await?;
    Ok(report)
}

/// A summary by a model; where that is not available, one of our own.
async fn summarised(
    session: &mut Session,
    plan: &Plan,
    guidance: Option<&str>,
    writer: Writer,
    window: &Window,
    cancel: &CancellationToken,
) -> Result<AppliedCompaction, CompactionError> {
    let written = match (writer, session.world.model.kind()) {
        (Writer::Model | Writer::ModelOfCached, ModelKind::Language) => {
            let wishes = instructions::compact_wishes(session);
            let guidance = Guidance { person: guidance, standing: wishes.as_deref() };
            let shown = (window, writer);
            summary_request::ask_for_summary(session, plan, guidance, shown, cancel).await?
        }
        _ => None,
    };
    let past = plan.past(&session.state.fold, &session.config.limits);
    let extras = restored(session, &past, cancel).await?;
    let view = weighed::ladder_view(session, window);
    let Concluded { rejected, settled } = conclude(view, plan, written.as_deref(), &extras);
    if let Some(decision) = rejected.filter(|_| !cancel.is_cancelled()) {
        session.append(Entry::Decision(decision)).await?;
    }
    Ok(settled?)
}

/// Why a conversation is compacted.
#[derive(Clone, Copy, Debug, PartialEq)]
enum CompactionCause {
    /// For room, or because a person asks.
    Room,
    /// A sum says that it pays. So much is lost if nothing follows (E4).
    Sum(Usd),
}

/// Writes the boundary and what follows it. Sections of the system prompt
/// are composed anew, and what stands at the head of a conversation is read
/// again: the cache is broken here anyway (PC3).
async fn put_in_place(
    session: &mut Session,
    mut applied: AppliedCompaction,
    cause: CompactionCause,
) -> Result<CompactionReport, Error> {
    let mut carried = session.state.carried;
    match cause {
        CompactionCause::Room => carried.starts_over(),
        CompactionCause::Sum(loss) => {
            carried.summed_up(Tokens(applied.report.before) - Tokens(applied.report.after), loss);
        }
    }
    if let Some(Entry::Boundary(boundary)) = applied.entries.first_mut() {
        // Whoever resumes here knows how it went before.
        boundary.metadata.insert(CARRIED.to_owned(), json!(carried));
    }
    session.append_all(applied.entries).await?;
    session.runtime.branch.guard.compacted();
    let model = session.model().clone();
    let fresh = prelude::compose_prelude_for(session, &model)?;
    if session.state.fold.prelude() != Some(&fresh) {
        session.append(Entry::Decision(Decision::Prelude(Box::new(fresh)))).await?;
    }
    session.runtime.branch.lazy = None;
    session_head::attach_head(session, session.state.memory_switch).await?;
    preferences::attach_choices(session).await?;
    mcp_tools::attach_servers(session).await?;
    if session.is_main() {
        kinds::attach_agents_again(session).await?;
    }
    Ok(applied.report)
}

pub(crate) async fn restored(
    session: &mut Session,
    past: &everfold_compact::SpanFacts,
    cancel: &CancellationToken,
) -> Result<Extras, Error> {
    let config = Arc::clone(&session.config);
    let limits = config.limits.within(&session.window());
    let mut extras = Extras::default();
    if let Some(effect) = everfold_compact::files::wanted(past, &limits)
        && let EffectOutcome::Files(files) = effects::perform(session, effect, cancel).await?
    {
        extras.restored = everfold_compact::files::attach(&files, &limits);
    }
    extras.restored.extend(skills::restored_skills(session, &limits));
    extras.restored.extend(mcp_tools::restored_schemas(session));
    extras.restored.splice(0..0, plan_mode::plan_again(session).await);
    Ok(extras)
}
