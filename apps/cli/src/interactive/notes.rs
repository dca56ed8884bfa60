//! `/notes`: the running notes on this session (L3).

use super::{Flow, Repl};
use crate::memory::editor;
use crate::present::Look;
use anyhow::{Result, anyhow};
use mnemon::TaskStatus;
use mnemon::kernel::QuerySource;

/// Shows the notes, says where they are, or changes them.
pub(super) async fn run(repl: &mut Repl<'_>, text: &str) -> Result<Flow> {
    match text {
        "" => show(repl).await?,
        "path" => repl.presenter.line(&repl.session.notes_path().display().to_string())?,
        "edit" => edit(repl).await?,
        "update" => update(repl).await?,
        other => {
            let text = format!("/notes takes path, edit or update, not {other:?}");
            repl.presenter.note(Look::Yellow, &text);
        }
    }
    Ok(Flow::GoOn)
}

async fn show(repl: &Repl<'_>) -> Result<()> {
    let (session, presenter) = (&repl.session, &repl.presenter);
    match session.notes().await? {
        Some(file) => presenter.text(&file.text)?,
        None => presenter.line(
            "there are no notes yet; they are made while the conversation grows, or by /notes update",
        )?,
    }
    let path = session.notes_path().display().to_string();
    let running = session.background().is_running(&QuerySource::SessionMemory);
    let now = if running { ", being brought up to date" } else { "" };
    Ok(presenter.styled(Look::Dim, &format!("{path}{now}\n"))?)
}

async fn edit(repl: &Repl<'_>) -> Result<()> {
    let Some(file) = repl.session.notes().await? else {
        repl.presenter.note(Look::Yellow, "there are no notes yet; /notes update makes them");
        return Ok(());
    };
    let edited = editor::edit(&file.text, &repl.ground.variables)?;
    if edited.text == file.text {
        return Ok(repl.presenter.line("nothing was changed")?);
    }
    match repl.session.write_notes(&edited.text, file.expect).await {
        Ok(()) => Ok(repl.presenter.line("the notes are changed")?),
        Err(error) => Err(edited.keep(error.into())),
    }
}

async fn update(repl: &mut Repl<'_>) -> Result<()> {
    repl.presenter
        .styled(Look::Dim, "bringing the notes up to date; Ctrl-C leaves it running\n")?;
    let changed = tokio::select! {
        changed = repl.session.update_notes() => changed?,
        _ = repl.signals.next() => return Ok(()),
    };
    match changed {
        Ok(true) => show(repl).await,
        Ok(false) => Err(anyhow!("the notes were not changed: {}", why(repl))),
        Err(error) => Err(error.into()),
    }
}

/// What became of the last update.
fn why(repl: &Repl<'_>) -> String {
    let tasks = repl.session.background().list();
    let last = tasks.into_iter().rfind(|task| task.source == QuerySource::SessionMemory);
    match last.map(|task| task.status) {
        Some(TaskStatus::Failed { reason }) => reason,
        _ => "the update was stopped".to_owned(),
    }
}
