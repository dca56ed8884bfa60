//! `/tasks`: what runs in the background, agents and other work, and what a
//! person can do about it. `/plan`: plan mode.

use super::{CommandContext, Flow};
use crate::presenter::{TextStyle, cut};
use crate::session_picker;
use anyhow::Result;
use everfold_agent::engine::agents::letters;
use everfold_agent::engine::setups::plan_mode;
use everfold_agent::{TaskStatus, TaskView};
use everfold_kernel::settings::PermissionMode;
use everfold_kernel::{QuerySource, Timestamp};
use everfold_tui::jobs::task_of;

/// `/tasks`.
pub(super) fn run(cx: &mut CommandContext, text: &str) -> Result<Flow> {
    let (word, rest) = text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
    match (word, rest.trim()) {
        ("", _) => list(cx)?,
        ("stop", id) if !id.is_empty() => stop(cx, id)?,
        ("say", rest) if !rest.is_empty() => say(cx, rest)?,
        ("stop" | "say", _) => cx.presenter.line("which one? /tasks lists them")?,
        (id, _) => return Ok(Flow::Watch(id.to_owned())),
    }
    Ok(Flow::GoOn)
}

/// `/plan`.
pub(super) fn plan(cx: &mut CommandContext, text: &str) -> Result<Flow> {
    let planning = cx.session.permit_mut().mode() == PermissionMode::Plan;
    let file = plan_mode::plan_file(&cx.session);
    match (text.trim(), planning) {
        ("off", true) => {
            plan_mode::stop_planning(&mut cx.session);
            cx.presenter.line("plan mode is off")?;
        }
        ("off", false) => cx.presenter.line("plan mode is already off")?,
        (_, true) => match std::fs::read_to_string(&file) {
            Ok(plan) => cx.presenter.line(plan.trim_end())?,
            Err(_) => cx.presenter.line("plan mode is on; there is no plan yet")?,
        },
        (_, false) => {
            plan_mode::start_planning(&mut cx.session);
            let text = format!("plan mode is on; the plan goes to {}", file.display());
            cx.presenter.line(&text)?;
        }
    }
    Ok(Flow::GoOn)
}

fn list(cx: &CommandContext) -> Result<()> {
    let mut tasks = cx.session.background().list();
    tasks.extend(cx.agent.world().shell.jobs().iter().map(task_of));
    if tasks.is_empty() {
        return Ok(cx.presenter.line("nothing is running in the background")?);
    }
    let now = Timestamp::now();
    let rows: Vec<Vec<String>> = tasks
        .iter()
        .map(|task| {
            let doing = if task.phase.is_empty() { task.lines.back() } else { Some(&task.phase) };
            vec![
                task.id.clone(),
                status(task).to_owned(),
                session_picker::age(task.started, now),
                task.name.clone(),
                doing.cloned().unwrap_or_default(),
            ]
        })
        .collect();
    cx.presenter.table(&rows)?;
    let hint = "/tasks ID watches one, /tasks say ID TEXT writes to an agent, /tasks stop ID";
    cx.presenter.note(TextStyle::Dim, hint);
    Ok(())
}

fn stop(cx: &CommandContext, id: &str) -> Result<()> {
    let done = cx.session.background().stop(id) || letters::agents(&cx.session).stop(id);
    let text = if done { format!("stopping {id}") } else { none(id) };
    Ok(cx.presenter.line(&text)?)
}

fn say(cx: &CommandContext, text: &str) -> Result<()> {
    let (id, words) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let said = if words.trim().is_empty() {
        format!("usage: /tasks say {id} TEXT")
    } else if letters::agents(&cx.session).say(id, words.trim()) {
        format!("{id} will read it at its next step")
    } else {
        none(id)
    };
    Ok(cx.presenter.line(&said)?)
}

pub(crate) fn none(id: &str) -> String {
    format!("no task {id} is running; /tasks lists them")
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
