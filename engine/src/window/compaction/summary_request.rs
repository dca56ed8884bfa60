//! Asking a model for a summary, until it fits and is one.

use crate::session::{Error, Session, effects, weighed};
use everfold_compact::{Guidance, Plan};
use everfold_kernel::{Entry, Window};
use everfold_window::{SummaryBrief, SummaryFailure, SummaryRequest, SummaryStep, Writer};
use tokio_util::sync::CancellationToken;

/// A model's summary. None if there is none to be had: the failure is in
/// the log then (L4.2).
pub(super) async fn ask_for_summary(
    session: &mut Session,
    plan: &Plan,
    guidance: Guidance<'_>,
    (window, writer): (&Window, Writer),
    cancel: &CancellationToken,
) -> Result<Option<String>, Error> {
    let model = session.model().clone();
    let profile = session.config.profile(&model);
    let brief = SummaryBrief { plan, guidance, model: &model, profile, writer };
    let mut asked = SummaryRequest::new(weighed::ladder_view(session, window), brief);
    let failure: SummaryFailure = loop {
        let request = match asked {
            Ok(request) => request,
            Err(failure) => break failure,
        };
        let outcome = effects::perform(session, request.effect.clone(), cancel).await?;
        let view = weighed::ladder_view(session, window);
        asked = match request.answered(view, brief, outcome) {
            SummaryStep::Ask(next) => Ok(next),
            SummaryStep::Written(summary) => return Ok(Some(summary)),
            SummaryStep::Failed(failure) => Err(failure),
        };
    };
    if !cancel.is_cancelled() {
        session.append(Entry::Decision(failure.decision())).await?;
    }
    Ok(None)
}
