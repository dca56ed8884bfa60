//! Plan mode: nothing but reading, and one file for the plan (Q14).
//!
//! The model is told of the mode at the start of a turn, writes its plan to
//! the session's plan file, and asks to leave by a tool; the person decides.
//! After a compaction the mode and the plan are told again (L4.5).

use crate::session::{Error, Session};
use everfold_kernel::provenance::Provenance;
use everfold_kernel::record::reminder;
use everfold_kernel::settings::PermissionMode;
use everfold_kernel::{Attachment, Entry};
use everfold_prefix::message::PieceOrigin;
use serde_json::json;
use std::path::PathBuf;

/// The kind of the attachment that tells of the mode.
const ENTERED: &str = "plan_mode";
/// The kind of the attachment that tells of its end.
const LEFT: &str = "plan_mode_exit";
/// The file's name beside the transcript.
const PLAN_FILE: &str = "plan.md";

/// Where the plan of this session is.
#[must_use]
pub fn plan_file(session: &Session) -> PathBuf {
    session.world.transcripts.session_dir(&session.log.id).join(PLAN_FILE)
}

/// Goes into plan mode, for the next turn on.
pub fn start_planning(session: &mut Session) {
    session.permit.set_mode(PermissionMode::Plan);
}

/// Leaves plan mode by the person's word; the model is told with the next
/// turn.
pub fn stop_planning(session: &mut Session) {
    session.permit.set_mode(PermissionMode::Default);
}

/// Goes on in plan mode where the log says that the session was in it,
/// unless the person asks for another mode this time. The model knows it,
/// and is not told again.
pub(crate) async fn resume_plan_mode(session: &mut Session) {
    let marks = session
        .state
        .fold
        .messages()
        .iter()
        .rev()
        .flat_map(|message| message.pieces().iter().rev());
    let mut last = marks.filter_map(|piece| match &piece.origin {
        PieceOrigin::Attachment(kind) if kind == ENTERED || kind == LEFT => Some(kind == ENTERED),
        _ => None,
    });
    if last.next() != Some(true) {
        return;
    }
    let path = session.world.files.resolve(&plan_file(session)).await;
    session.context.start_plan(path.clone());
    if session.config.permissions.mode == PermissionMode::Default {
        session.permit.set_mode(PermissionMode::Plan);
    }
    if session.permit.mode() == PermissionMode::Plan {
        session.permit.set_plan_file(Some(path));
    }
}

/// Tells the model of plan mode, or of its end, where it does not know.
pub(crate) async fn attach_plan_mode(session: &mut Session) -> Result<(), Error> {
    let planning = session.permit.mode() == PermissionMode::Plan;
    match session.context.plan_file() {
        None if planning => {}
        Some(path) if !planning => {
            session.context.end_plan();
            session.permit.set_plan_file(None);
            let text = "Plan mode is over: the person ended it. Do what they say next.";
            return session.attach(LEFT, text, json!({"planFilePath": path})).await;
        }
        _ => return Ok(()),
    }
    let path = session.world.files.resolve(&plan_file(session)).await;
    session.permit.set_plan_file(Some(path.clone()));
    session.context.start_plan(path.clone());
    if session.is_main() {
        let attachment = entered(&path);
        session.append(Entry::Attachment(attachment)).await?;
    }
    Ok(())
}

/// Leaves plan mode where the person agreed to the plan.
pub(crate) async fn leave_plan_mode(session: &mut Session) -> Result<(), Error> {
    let Some(mode) = session.context.left_plan() else { return Ok(()) };
    session.permit.set_mode(mode);
    session.permit.set_plan_file(None);
    let path = plan_file(session);
    let text = format!(
        "Plan mode is over: the person approved the plan in {}. Carry it out.",
        path.display()
    );
    session.attach(LEFT, &text, json!({"planFilePath": path})).await
}

/// What a compaction brings back of plan mode.
pub(crate) async fn plan_again(session: &Session) -> Vec<Attachment> {
    let Some(path) = session.context.plan_file() else { return Vec::new() };
    let mut again = vec![entered(&path)];
    let limits = &session.config.limits;
    let most = limits.agents.plan_tokens.saturating_mul(limits.bytes_per_token_text);
    if let Ok(read) = session.world.files.read_lines(&path, 1, u64::MAX, most).await {
        let plan = String::from_utf8_lossy(&read.bytes);
        if !plan.trim().is_empty() {
            let text = format!("Your plan so far, in {}:\n\n{}", path.display(), plan.trim());
            again.push(Attachment {
                kind: "plan_file_reference".to_owned(),
                rendered: reminder(&text),
                data: json!({"planFilePath": path}),
                provenance: Some(Provenance::MODEL),
            });
        }
    }
    again
}

fn entered(path: &std::path::Path) -> Attachment {
    let text = format!(
        "Plan mode: the person wants a plan before anything is changed. Only read; edits and \
         commands that change something are refused. Find out what you need, ask the person where \
         their choice matters, and write the plan to {} (the one file that you may write): the \
         steps in order, the files that each touches, how to check the outcome. Then call \
         ExitPlanMode.",
        path.display()
    );
    let data = json!({"planFilePath": path});
    Attachment { kind: ENTERED.to_owned(), rendered: reminder(&text), data, provenance: None }
}
