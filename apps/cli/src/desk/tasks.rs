//! `/tasks`: what runs in the background, agents and other work, and what a
//! person can do about it. `/plan`: plan mode.

use super::{Desk, Flow};
use crate::pick;
use crate::present::{Look, cut};
use anyhow::Result;
use everfold::kernel::settings::PermissionMode;
use everfold::kernel::{QuerySource, Timestamp};
use everfold::{TaskStatus, TaskView};

/// `/tasks`.
pub(super) fn run(desk: &mut Desk, text: &str) -> Result<Flow> {
    let (word, rest) = text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
    match (word, rest.trim()) {
        ("", _) => list(desk)?,
        ("stop", id) if !id.is_empty() => stop(desk, id)?,
        ("say", rest) if !rest.is_empty() => say(desk, rest)?,
        ("stop" | "say", _) => desk.presenter.line("which one? /tasks lists them")?,
        (id, _) => return Ok(Flow::Watch(id.to_owned())),
    }
    Ok(Flow::GoOn)
}

/// `/plan`.
pub(super) fn plan(desk: &mut Desk, text: &str) -> Result<Flow> {
    let planning = desk.session.permit_mut().mode() == PermissionMode::Plan;
    let file = everfold::engine::setups::plan_mode::plan_file(&desk.session);
    match (text.trim(), planning) {
        ("off", true) => {
            everfold::engine::setups::plan_mode::stop_planning(&mut desk.session);
            desk.presenter.line("plan mode is off")?;
        }
        ("off", false) => desk.presenter.line("plan mode is off already")?,
        (_, true) => match std::fs::read_to_string(&file) {
            Ok(plan) => desk.presenter.line(plan.trim_end())?,
            Err(_) => desk.presenter.line("plan mode is on; there is no plan yet")?,
        },
        (_, false) => {
            everfold::engine::setups::plan_mode::start_planning(&mut desk.session);
            let text = format!("plan mode is on; the plan goes to {}", file.display());
            desk.presenter.line(&text)?;
        }
    }
    Ok(Flow::GoOn)
}

fn list(desk: &Desk) -> Result<()> {
    let tasks = desk.session.background().list();
    if tasks.is_empty() {
        return Ok(desk.presenter.line("nothing runs in the background")?);
    }
    let now = Timestamp::now();
    let rows: Vec<Vec<String>> = tasks
        .iter()
        .map(|task| {
            let doing = if task.phase.is_empty() { task.lines.back() } else { Some(&task.phase) };
            vec![
                task.id.clone(),
                status(task).to_owned(),
                pick::age(task.started, now),
                task.name.clone(),
                doing.cloned().unwrap_or_default(),
            ]
        })
        .collect();
    desk.presenter.table(&rows)?;
    let hint = "/tasks ID watches one, /tasks say ID TEXT writes to an agent, /tasks stop ID";
    desk.presenter.note(Look::Dim, hint);
    Ok(())
}

fn stop(desk: &Desk, id: &str) -> Result<()> {
    let done = desk.session.background().stop(id)
        || everfold::engine::agents::letters::agents(&desk.session).stop(id);
    let text = if done { format!("{id} is being stopped") } else { none(id) };
    Ok(desk.presenter.line(&text)?)
}

fn say(desk: &Desk, text: &str) -> Result<()> {
    let (id, words) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let said = if words.trim().is_empty() {
        format!("what should {id} be told? /tasks say {id} TEXT")
    } else if everfold::engine::agents::letters::agents(&desk.session).say(id, words.trim()) {
        format!("{id} reads it at its next step")
    } else {
        none(id)
    };
    Ok(desk.presenter.line(&said)?)
}

pub(crate) fn none(id: &str) -> String {
    format!("nothing of the name {id} runs; /tasks lists what there is")
}

/// What is said of a task while a turn runs: the end of an agent.
pub(crate) fn told(task: &TaskView) -> Option<String> {
    let is_agent = matches!(task.source, QuerySource::Agent(_));
    (is_agent && task.status != TaskStatus::Running).then(|| ended(task))
}

pub(crate) fn ended(task: &TaskView) -> String {
    let name = cut(&task.name, 80);
    match &task.status {
        TaskStatus::Failed { reason } => format!("agent {} ({name}) failed: {reason}", task.id),
        _ => format!("agent {} ({name}) {}", task.id, status(task)),
    }
}

fn status(task: &TaskView) -> &'static str {
    match task.status {
        TaskStatus::Running => "running",
        TaskStatus::Completed => "completed",
        TaskStatus::Failed { .. } => "failed",
        TaskStatus::Killed => "stopped",
    }
}
