//! Going on with a conversation that was left.

use crate::config::{Config, ModelChoice};
use crate::session::reload::{load, slim};
use crate::session::toolbox::Toolbox;
use crate::session::{Error, Session, prelude};
use crate::setups::hooks::session_events;
use crate::setups::plan_mode;
use crate::turn::rewind::Changes;
use crate::window::notes;
use everfold_kernel::ports::{JobState, World};
use everfold_kernel::provenance::Source;
use everfold_kernel::{
    Block, BlockProvenance, Decision, Entry, Ledger, Prelude, Role, SessionId, ToolUseId,
    UserEntry, UserOrigin,
};
use everfold_mail::apply::ENDED;
use everfold_prefix::message::{INTERRUPTED, PieceOrigin};
use everfold_transcript::Conversation;
use serde_json::json;
use std::collections::BTreeSet;

/// What was found when a session was opened again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resumed {
    /// Lines that could not be used, with the reason.
    pub skipped: Vec<String>,
    /// Bytes of a line that was being written when the process ended.
    pub torn_bytes: u64,
}

/// Opens a conversation as it was left. Its first request has the bytes of
/// the last one before, and what came after.
///
/// # Errors
/// If there is no such session or its log cannot be read or written.
pub async fn resume(
    id: SessionId,
    world: World,
    config: Config,
    toolbox: Toolbox,
) -> Result<(Session, Resumed), Error> {
    let mut session = Session::new(id, world, config, toolbox);
    // Before it is read: what another process still writes would be missed.
    session.log.claim()?;
    let (conversation, torn_bytes) = load(&session.world, &session.log.id, slim).await?;
    session_events::began_by(&mut session, "resume");
    let resumed = restore(&mut session, conversation, torn_bytes);
    mend(&mut session).await?;
    adopt_choices(&mut session).await?;
    plan_mode::resume_plan_mode(&mut session).await;
    tell_gone(&mut session).await?;
    Ok((session, resumed))
}

/// Keeps other processes from writing a new conversation before it says
/// anything (S13).
///
/// # Errors
/// If another process has a session of this name open.
pub fn claim(session: &mut Session) -> Result<(), Error> {
    Ok(session.log.claim()?)
}

/// Starts a new conversation with all that another one holds.
///
/// # Errors
/// If there is no such session or a log cannot be read or written.
pub async fn fork(
    from: &SessionId,
    id: SessionId,
    world: World,
    config: Config,
    toolbox: Toolbox,
) -> Result<(Session, Resumed), Error> {
    let (mut conversation, torn_bytes) = load(&world, from, |rebuild| rebuild).await?;
    let mut session = Session::new(id, world.clone(), config, toolbox);
    session.log.claim()?;
    let mut fresh = || world.clock.fresh_uuid();
    let forked =
        everfold_transcript::fork(&conversation.records, from, &session.log.envelope, &mut fresh);
    let mut changes = Changes::of(&world, from, &conversation.records, &forked.records).await?;
    for (line, original) in forked.lines.iter().zip(&conversation.records) {
        session.log.note(line).await?;
        changes.copy(&session, &original.id).await?;
    }
    conversation.records = forked.records;
    conversation.ledger = Ledger::default();
    session_events::began_by(&mut session, "fork");
    let resumed = restore(&mut session, conversation, torn_bytes);
    notes::copy_notes(&session, from).await;
    mend(&mut session).await?;
    adopt_choices(&mut session).await?;
    plan_mode::resume_plan_mode(&mut session).await;
    tell_gone(&mut session).await?;
    Ok((session, resumed))
}

fn restore(session: &mut Session, conversation: Conversation, torn_bytes: u64) -> Resumed {
    session.budget.restore(&conversation.ledger);
    session.take_up(conversation.records, conversation.ledger);
    let skipped = conversation
        .skipped
        .iter()
        .map(|skipped| format!("line {}: {:?}", skipped.line, skipped.reason))
        .collect();
    Resumed { skipped, torn_bytes }
}

/// Takes up the branch that the log now ends with, and forgets what was
/// only on the one that was left (Q12).
pub(crate) async fn change_branch(session: &mut Session) -> Result<(), Error> {
    let (conversation, _) = load(&session.world, &session.log.id, slim).await?;
    // What was spent is spent, on whichever branch.
    let books = session.state.ledger.clone();
    session.take_up(conversation.records, books);
    mend(session).await
}

/// Answers calls whose results were lost with the process, and takes back
/// a response of which only thinking had come.
async fn mend(session: &mut Session) -> Result<(), Error> {
    for id in session.state.fold.open_calls() {
        let block = Block::tool_error(&ToolUseId::new(id), INTERRUPTED);
        let content = vec![block];
        let entry = UserEntry {
            content,
            origin: UserOrigin::ToolResult,
            tool_use_result: None,
            provenance: vec![BlockProvenance::whole(Source::Command)],
        };
        session.append(Entry::User(entry)).await?;
    }
    let Some(last) = session.state.fold.messages().last() else { return Ok(()) };
    if last.role() == Role::Assistant && last.blocks(None).is_empty() {
        let id = last.pieces().iter().find_map(|piece| match &piece.origin {
            PieceOrigin::Assistant(id) => Some(id.clone()),
            _ => None,
        });
        if let Some(message_id) = id {
            let reason = "the process ended before the answer did".to_owned();
            session.append(Entry::Decision(Decision::Retracted { message_id, reason })).await?;
        }
    }
    Ok(())
}

/// Tells the model what ran in the background when the program ended, and
/// runs no more.
async fn tell_gone(session: &mut Session) -> Result<(), Error> {
    let told: BTreeSet<&str> =
        session.state.shown_data(ENDED).filter_map(|data| data.get("taskId")?.as_str()).collect();
    let jobs = session.world.shell.jobs().into_iter();
    let running: BTreeSet<String> =
        jobs.filter(|job| job.state == JobState::Running).map(|job| job.id).collect();
    let gone: BTreeSet<String> = (session.context.take_restored_background().into_iter())
        .filter(|id| !told.contains(id.as_str()) && !running.contains(id))
        .collect();
    for id in gone {
        let text = format!(
            "{id}, which ran in the background, is gone: the program ended meanwhile. Start \
             it again if it is still needed."
        );
        session.attach(ENDED, &text, json!({ "taskId": id })).await?;
    }
    Ok(())
}

/// What a person asked for this time is honoured, at the price of a
/// declared break; everything else stays as the log has it.
async fn adopt_choices(session: &mut Session) -> Result<(), Error> {
    let Some(old) = session.state.fold.prelude() else { return Ok(()) };
    let named = session.config.models.choice == ModelChoice::Named;
    let model = if named { session.config.models.model.clone() } else { old.params.model.clone() };
    let dialect = session.world.model.dialect();
    let appended = session.config.surroundings.appended.as_deref().unwrap_or_default();
    let same_text = old.system.iter().any(|block| block.text.contains(appended));
    let searchless = prelude::without_search(session, old);
    let old = searchless.as_ref().unwrap_or(old);
    let same_params = model == old.params.model && dialect == old.params.dialect;
    if same_params && same_text && searchless.is_none() {
        return Ok(());
    }
    let params = session.config.params(&model, dialect);
    let prelude = if same_text {
        Prelude { params, ..old.clone() }
    } else {
        Prelude { params, ..prelude::compose_prelude(session)? }
    };
    let prelude = session.config.managed(prelude);
    session.append(Entry::Decision(Decision::Prelude(Box::new(prelude)))).await?;
    Ok(())
}
