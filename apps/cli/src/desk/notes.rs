//! `/notes`: the running notes on this session (L3).

use super::{Desk, Flow};
use crate::memory::editor;
use crate::present::Look;
use anyhow::{Result, anyhow};
use everfold::TaskStatus;
use everfold::kernel::QuerySource;

/// Shows the notes, says where they are, or changes them.
pub(super) async fn run(desk: &mut Desk, text: &str) -> Result<Flow> {
    match text {
        "" => show(desk).await?,
        "path" => desk.presenter.line(
            &everfold::engine::window::notes::notes_path(&desk.session).display().to_string(),
        )?,
        "edit" => edit(desk).await?,
        "update" => update(desk).await?,
        other => {
            let text = format!("/notes takes path, edit or update, not {other:?}");
            desk.presenter.note(Look::Yellow, &text);
        }
    }
    Ok(Flow::GoOn)
}

async fn show(desk: &Desk) -> Result<()> {
    let (session, presenter) = (&desk.session, &desk.presenter);
    match everfold::engine::window::notes::notes(session).await? {
        Some(file) => presenter.text(&file.text)?,
        None => presenter.line(
            "there are no notes yet; they are made while the conversation grows, or by /notes update",
        )?,
    }
    let path = everfold::engine::window::notes::notes_path(session).display().to_string();
    let running = session.background().is_running(&QuerySource::SessionMemory);
    let now = if running { ", being brought up to date" } else { "" };
    Ok(presenter.styled(Look::Dim, &format!("{path}{now}\n"))?)
}

async fn edit(desk: &Desk) -> Result<()> {
    let Some(file) = everfold::engine::window::notes::notes(&desk.session).await? else {
        desk.presenter.note(Look::Yellow, "there are no notes yet; /notes update makes them");
        return Ok(());
    };
    let edited = editor::edit(&file.text, &desk.ground.variables, &desk.presenter)?;
    if edited.text == file.text {
        return Ok(desk.presenter.line("nothing was changed")?);
    }
    match everfold::engine::window::notes::write_notes(&desk.session, &edited.text, file.expect)
        .await
    {
        Ok(()) => Ok(desk.presenter.line("the notes are changed")?),
        Err(error) => Err(edited.keep(error.into())),
    }
}

async fn update(desk: &mut Desk) -> Result<()> {
    desk.presenter.styled(Look::Dim, "bringing the notes up to date; it goes on if you leave\n")?;
    let changed = tokio::select! {
        changed = everfold::engine::window::notes::update_notes(&mut desk.session) => changed?,
        () = desk.stop.cancelled() => return Ok(()),
    };
    match changed {
        Ok(true) => show(desk).await,
        Ok(false) => Err(anyhow!("the notes were not changed: {}", why(desk))),
        Err(error) => Err(error.into()),
    }
}

/// What became of the last update.
fn why(desk: &Desk) -> String {
    let tasks = desk.session.background().list();
    let last = tasks.into_iter().rfind(|task| task.source == QuerySource::SessionMemory);
    match last.map(|task| task.status) {
        Some(TaskStatus::Failed { reason }) => reason,
        _ => "the update was stopped".to_owned(),
    }
}
