//! Compaction from the notes: they are the summary, and no model is asked
//! (L3.6, L3.7).

use crate::session::log::KEPT_SEGMENT;
use crate::session::{Error, Session};
use crate::window::compaction::{self, CompactionScope, Trigger};
use crate::window::notes;
use everfold_compact::apply::{CompactionContext, settle};
use everfold_compact::{AppliedCompaction, Plan, Summariser, Summary};
use everfold_kernel::{BlockView, Flag, RecordId, Window};
use everfold_notes::{Notes, keep_from, policy};
use everfold_prefix::Message;
use serde_json::{Value, json};
use std::sync::Arc;
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
    let at_most = Duration::from_secs(session.config.limits.notes.wait_s);
    cancel.run_until_cancelled(notes::wait_for_notes(session, at_most)).await.transpose()?;
    match plan_from_notes(session, window, cancel).await? {
        Ok(applied) => Ok(Some(applied)),
        Err(reason) => {
            tracing::info!(reason, "the notes are no summary this time");
            Ok(None)
        }
    }
}

async fn plan_from_notes(
    session: &mut Session,
    window: &Window,
    cancel: &CancellationToken,
) -> Result<Result<AppliedCompaction, String>, Error> {
    let limits = Arc::clone(&session.config.limits);
    let (first, text) = match notes_and_cut(session).await {
        Ok(found) => found,
        Err(reason) => return Ok(Err(reason)),
    };
    let scope = CompactionScope::UpTo(first.clone());
    let plan = match Plan::new(&session.state.fold, scope, Trigger::Auto, &limits) {
        Ok(plan) => plan,
        Err(error) => return Ok(Err(error.to_string())),
    };
    let past = plan.past(&session.state.fold, &limits);
    let mut extras = compaction::restored(session, &past, cancel).await?;
    let read = read_from(session, &first);
    extras.restored.retain(|own| !own.data.get("path").is_some_and(|path| read.contains(path)));
    let tail = plan.preserved.last();
    let ends = json!({ "headUuid": first, "tailUuid": tail });
    extras.metadata.insert(KEPT_SEGMENT.to_owned(), ends);
    let summary = Summary::checked(&past, &text, Summariser::Notes, &limits);
    let setting = CompactionContext { fold: &session.state.fold, window, limits: &limits };
    Ok(settle(setting, &plan, &summary, &extras).map_err(|rejection| rejection.to_string()))
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

/// The first record that stays, and the notes for all before it.
async fn notes_and_cut(session: &Session) -> Result<(RecordId, String), String> {
    let through = session.state.fold.noted().ok_or("there are none yet")?;
    let file = notes::notes(session).await.map_err(|error| error.to_string())?;
    let file = file.ok_or("the file is gone")?;
    let template = notes::notes_template(session).await;
    let notes = Notes::adopt(&file.text, &template);
    if notes.is_blank() {
        return Err("they are empty".to_owned());
    }
    let limits = &session.config.limits;
    let first =
        keep_from(&session.state.fold, through, limits).map_err(|nothing| nothing.to_string())?;
    let path = notes::notes_path(session).display().to_string();
    Ok((first, notes.shortened(&path, limits)))
}
