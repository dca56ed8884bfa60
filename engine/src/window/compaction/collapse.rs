//! Context collapse at work (L4.13): spans are summed up after a turn, when
//! nobody waits for them, and shown by their summaries once the window fills.
//!
//! What is staged lives in memory only: a resumed session stages anew. What is
//! committed is in the log.

use crate::session::{Error, Session, effects, quiet_lines, secrets};
use crate::window::ladder::Climbed;
use everfold_compact::collapse::{self, CollapseCandidate, Pressure};
use everfold_kernel::ports::ModelKind;
use everfold_kernel::{EffectOutcome, Entry, RecordId};
use std::collections::BTreeSet;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Sums up the spans that are finished and have no summary yet.
pub(crate) async fn stage_spans(
    session: &mut Session,
    cancel: &CancellationToken,
) -> Result<(), Error> {
    if collapse_pressure(session) == Pressure::Off {
        return Ok(());
    }
    let asks = session.world.model.kind() == ModelKind::Language;
    for span in unstaged(session) {
        if cancel.is_cancelled() {
            break;
        }
        let answer = if asks { ask_for_span(session, &span, cancel).await? } else { None };
        stage(session, span, answer.as_deref());
    }
    Ok(())
}

/// Commits what is staged once the window is nearly full. What has no
/// summary yet gets one by rule then, so that no turn waits for a model. Where
/// that is not enough, layer 4 serves: a conversation does not end here.
pub(crate) async fn collapse(
    session: &mut Session,
    cancel: &CancellationToken,
) -> Result<Climbed, Error> {
    if matches!(collapse_pressure(session), Pressure::Off | Pressure::Stage) {
        return Ok(Climbed::Done);
    }
    commit_staged(session).await?;
    if matches!(collapse_pressure(session), Pressure::Commit | Pressure::Refuse) {
        for span in unstaged(session) {
            stage(session, span, None);
        }
        commit_staged(session).await?;
    }
    if collapse_pressure(session) != Pressure::Refuse
        || super::make_room(session, None, 1, cancel).await?
    {
        return Ok(Climbed::Done);
    }
    let percent = session.config.limits.compact.collapse_refuse_percent;
    Ok(Climbed::Blocked(format!(
        "the conversation has {} tokens, over {percent} % of the {} that fit, and could be \
         neither collapsed nor compacted; remove a range from view (/snip), or start a new session",
        session.state.fold.count().0,
        session.window().effective.0
    )))
}

fn collapse_pressure(session: &Session) -> Pressure {
    let config = &session.config;
    collapse::pressure(&session.state.fold, &session.window(), &config.flags, &config.limits)
}

/// The spans that can be collapsed and have no summary yet.
fn unstaged(session: &Session) -> Vec<CollapseCandidate> {
    let staged: BTreeSet<&RecordId> =
        session.runtime.branch.staged.iter().map(|one| &one.span.from).collect();
    let mut spans = collapse::candidates(&session.state.fold, &session.config.limits);
    spans.retain(|span| !staged.contains(&span.from));
    spans
}

async fn ask_for_span(
    session: &mut Session,
    span: &CollapseCandidate,
    cancel: &CancellationToken,
) -> Result<Option<String>, Error> {
    let limits = Arc::clone(&session.config.limits);
    let Ok(effect) = collapse::ask(&session.state.fold, span, &limits) else { return Ok(None) };
    Ok(match effects::perform(session, effect, cancel).await? {
        EffectOutcome::Answered { text, .. } => Some(text),
        _ => None,
    })
}

fn stage(session: &mut Session, span: CollapseCandidate, answer: Option<&str>) {
    match collapse::stage(&session.state.fold, span, answer, &session.config.limits) {
        Ok(mut staged) => {
            staged.summary = secrets::masked(session, &staged.summary);
            session.runtime.branch.staged.push(staged);
        }
        Err(error) => tracing::debug!(%error, "a span was not staged"),
    }
}

async fn commit_staged(session: &mut Session) -> Result<(), Error> {
    let config = Arc::clone(&session.config);
    // Whatever is not committed now is out of view or would not pay: it is
    // looked for anew.
    let staged = std::mem::take(&mut session.runtime.branch.staged);
    let window = session.window();
    let decisions =
        collapse::commit(&session.state.fold, &window, &config.flags, &staged, &config.limits);
    let (before, spans) = (session.state.fold.count(), decisions.len());
    for decision in decisions {
        session.append(Entry::Decision(decision)).await?;
    }
    quiet_lines::collapsed(session, spans, before);
    Ok(())
}
