//! Compaction from the notes: they are the summary, and no model is asked
//! (L3.6, L3.7).

use crate::session::log::KEPT_SEGMENT;
use crate::session::{Error, Session, weighed};
use crate::window::{compaction, notes};
use everfold_compact::AppliedCompaction;
use everfold_kernel::{BlockView, Flag, RecordId, Window};
use everfold_notes::{Notes, policy};
use everfold_prefix::Message;
use everfold_window::{NotesPlan, NotesUnfit};
use serde_json::{Value, json};
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// A compaction in which the notes stand for the conversation. None where
/// they cannot; layer 4 runs then.
pub(crate) async fn compacted_from_notes(
    session: &mut Session,
    window: &Window,
    cancel: &CancellationToken,
) -> Result<Option<AppliedCompaction>, Error> {
    let flags = &session.config.flags;
    let wanted = policy::is_kept(flags) && flags.is_on(Flag::SessionMemoryCompact);
    if !wanted || !session.is_main() {
        return Ok(None);
    }
    // An update that waits for the next answer would be waited for in vain.
    let has_asked = session.runtime.branch.notes.asked.load(Ordering::Acquire);
    let at_most = if has_asked { session.config.limits.notes.wait_s } else { 0 };
    let at_most = Duration::from_secs(at_most);
    cancel.run_until_cancelled(notes::wait_for_notes(session, at_most)).await.transpose()?;
    match plan_from_notes(session, window, cancel).await {
        Ok(applied) => Ok(Some(applied)),
        Err(Unfit::Session(error)) => Err(error),
        Err(reason) => {
            tracing::info!(%reason, "the notes are no summary this time");
            Ok(None)
        }
    }
}

/// Why the notes are no summary this time.
#[derive(Debug, thiserror::Error)]
enum Unfit {
    #[error("the file is gone")]
    Gone,
    #[error(transparent)]
    File(#[from] notes::NotesError),
    #[error(transparent)]
    Notes(#[from] NotesUnfit),
    #[error(transparent)]
    Session(#[from] Error),
}

async fn plan_from_notes(
    session: &mut Session,
    window: &Window,
    cancel: &CancellationToken,
) -> Result<AppliedCompaction, Unfit> {
    let file = notes::notes(session).await?.ok_or(Unfit::Gone)?;
    let template = notes::notes_template(session).await;
    let path = notes::notes_path(session).display().to_string();
    let view = weighed::ladder_view(session, window);
    let plan = NotesPlan::new(view, &Notes::adopt(&file.text, &template), &path)?;
    let past = plan.plan.past(&session.state.fold, &session.config.limits);
    let mut extras = compaction::restored(session, &past, cancel).await?;
    let read = read_from(session, &plan.first);
    extras.restored.retain(|own| !own.data.get("path").is_some_and(|path| read.contains(path)));
    let ends = json!({ "headUuid": plan.first, "tailUuid": plan.plan.preserved.last() });
    extras.metadata.insert(KEPT_SEGMENT.to_owned(), ends);
    Ok(plan.settle(weighed::ladder_view(session, window), &extras)?)
}

/// The files that the model reads in what stays: they need not come back.
fn read_from(session: &Session, first: &RecordId) -> Vec<Value> {
    let pieces = session.state.fold.messages().iter().flat_map(Message::pieces);
    let kept = pieces.skip_while(|piece| piece.record != *first);
    kept.filter_map(|piece| match piece.block.view() {
        BlockView::ToolUse { name: "Read", input, .. } => {
            everfold_kernel::call::file_of(input).map(Value::from)
        }
        _ => None,
    })
    .collect()
}
