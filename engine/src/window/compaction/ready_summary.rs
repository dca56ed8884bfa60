//! Summing up where nothing forces it (E4): between two turns, because a sum
//! says so. What goes wrong leaves the conversation as it is.

use super::{
    CompactionCause, CompactionError, CompactionReport, put_in_place, restored, summary_request,
};
use crate::session::{Session, secrets};
use crate::setups::hooks::session_events;
use crate::setups::instructions;
use crate::window::notes::summary;
use everfold_compact::apply::{CompactionContext, settle};
use everfold_compact::{
    AppliedCompaction, CompactionScope, Guidance, Plan, Summariser, Summary, Trigger,
};
use everfold_kernel::record::FailedSummary;
use everfold_kernel::{Entry, Usd};
use everfold_window::Writer;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Sums up now, while the person waits: from the notes, or by a model. None
/// where neither has a summary.
pub(crate) async fn sum_up(
    session: &mut Session,
    scope: CompactionScope,
    loss: Usd,
    cancel: &CancellationToken,
) -> Result<Option<CompactionReport>, CompactionError> {
    let plan = planned(session, scope, cancel).await?;
    let window = session.window();
    let from_notes = summary::compacted_from_notes(session, &window, cancel).await?;
    let applied = if let Some(applied) = from_notes {
        applied
    } else {
        let wishes = instructions::compact_wishes(session);
        let guidance = Guidance { person: None, standing: wishes.as_deref() };
        let shown = (&window, Writer::Model);
        let asked =
            summary_request::ask_for_summary(session, &plan, guidance, shown, cancel).await?;
        let Some(text) = asked else { return Ok(None) };
        settled(session, &plan, &text, cancel).await?
    };
    put(session, applied, loss, cancel).await.map(Some)
}

/// Puts a summary in place that was made before.
pub(crate) async fn place(
    session: &mut Session,
    (scope, text): (CompactionScope, &str),
    loss: Usd,
    cancel: &CancellationToken,
) -> Result<CompactionReport, CompactionError> {
    let plan = planned(session, scope, cancel).await?;
    let applied = settled(session, &plan, text, cancel).await?;
    put(session, applied, loss, cancel).await
}

async fn planned(
    session: &mut Session,
    scope: CompactionScope,
    cancel: &CancellationToken,
) -> Result<Plan, CompactionError> {
    let plan = Plan::new(&session.state.fold, scope, Trigger::Auto)?;
    let refused = session_events::compaction_refused(session, Trigger::Auto, None, cancel).await?;
    match refused {
        Some(why) => Err(CompactionError::Hook(why)),
        None => Ok(plan),
    }
}

async fn settled(
    session: &mut Session,
    plan: &Plan,
    text: &str,
    cancel: &CancellationToken,
) -> Result<AppliedCompaction, CompactionError> {
    let (limits, window) = (Arc::clone(&session.config.limits), session.window());
    let past = plan.past(&session.state.fold, &limits);
    let extras = restored(session, &past, cancel).await?;
    let setting = CompactionContext { fold: &session.state.fold, window: &window, limits: &limits };
    let summary = Summary::checked(setting, &past, text, Summariser::Model);
    match settle(setting, plan, &summary, &extras) {
        Ok(applied) => Ok(applied),
        Err(rejection) => {
            let failed = rejection.decision(FailedSummary::Model);
            session.append(Entry::Decision(failed)).await?;
            Err(rejection.into())
        }
    }
}

async fn put(
    session: &mut Session,
    mut applied: AppliedCompaction,
    loss: Usd,
    cancel: &CancellationToken,
) -> Result<CompactionReport, CompactionError> {
    if cancel.is_cancelled() {
        return Err(CompactionError::Stopped);
    }
    secrets::mask_summaries(session, &mut applied.entries);
    let summary = applied.summary();
    let report = put_in_place(session, applied, CompactionCause::Sum(loss)).await?;
    session_events::compacted_hooks(session, Trigger::Auto, &summary, cancel).await?;
    Ok(report)
}
