//! `/notes`: the running notes on this session (L3).

use super::{CommandContext, Flow};
use crate::memory::editor;
use crate::presenter::TextStyle;
use anyhow::{Result, anyhow};
use everfold_agent::TaskStatus;
use everfold_agent::engine::window::notes::{self, NotesUpdate};
use everfold_kernel::QuerySource;

/// Shows the notes, says where they are, or changes them.
pub(super) async fn run(cx: &mut CommandContext, text: &str) -> Result<Flow> {
    match text {
        "" => show(cx).await?,
        "path" => cx.presenter.line(&notes::notes_path(&cx.session).display().to_string())?,
        "edit" => edit(cx).await?,
        "update" => update(cx).await?,
        other => {
            let text = format!("/notes takes path, edit or update, not {other:?}");
            cx.presenter.note(TextStyle::Yellow, &text);
        }
    }
    Ok(Flow::GoOn)
}

async fn show(cx: &CommandContext) -> Result<()> {
    let (session, presenter) = (&cx.session, &cx.presenter);
    match notes::notes(session).await? {
        Some(file) => presenter.text(&file.text)?,
        None => presenter
            .line("no notes yet; they are made as the conversation grows, or by /notes update")?,
    }
    let path = notes::notes_path(session).display().to_string();
    let running = session.background().is_running(&QuerySource::SessionMemory);
    let now = if running { ", being updated" } else { "" };
    Ok(presenter.styled(TextStyle::Dim, &format!("{path}{now}\n"))?)
}

async fn edit(cx: &CommandContext) -> Result<()> {
    let Some(file) = notes::notes(&cx.session).await? else {
        cx.presenter.note(TextStyle::Yellow, "no notes yet; /notes update makes them");
        return Ok(());
    };
    let edited = editor::edit(&file.text, &cx.env.variables, &cx.presenter)?;
    if edited.text == file.text {
        return Ok(cx.presenter.line("nothing was changed")?);
    }
    match notes::write_notes(&cx.session, &edited.text, file.expect).await {
        Ok(()) => Ok(cx.presenter.line("the notes were changed")?),
        Err(error) => Err(edited.keep(error.into())),
    }
}

async fn update(cx: &mut CommandContext) -> Result<()> {
    cx.presenter.styled(TextStyle::Dim, "updating the notes; this continues if you leave\n")?;
    let changed = tokio::select! {
        changed = notes::update_notes(&mut cx.session) => changed?,
        () = cx.stop.cancelled() => return Ok(()),
    };
    match changed {
        NotesUpdate::Changed => show(cx).await,
        NotesUpdate::Unchanged => Err(anyhow!("the notes were not changed: {}", why(cx))),
        NotesUpdate::Refused(error) => Err(error.into()),
    }
}

/// What became of the last update.
fn why(cx: &CommandContext) -> String {
    let tasks = cx.session.background().list();
    let last = tasks.into_iter().rfind(|task| task.source == QuerySource::SessionMemory);
    match last.map(|task| task.status) {
        Some(TaskStatus::Failed { reason }) => reason,
        _ => "the update was stopped".to_owned(),
    }
}
