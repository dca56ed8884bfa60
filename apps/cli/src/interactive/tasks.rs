//! `/tasks`: what runs in the background, agents and other work, and what a
//! person can do about it. `/plan`: plan mode.

use super::{Flow, Repl};
use crate::pick;
use crate::present::{Look, cut};
use anyhow::Result;
use mnemon::kernel::settings::PermissionMode;
use mnemon::kernel::{QuerySource, Timestamp};
use mnemon::{TaskStatus, TaskView};
use std::time::Duration;

/// How often a task that is watched is looked at.
const LOOK: Duration = Duration::from_millis(200);

/// `/tasks`.
pub(super) async fn run(repl: &mut Repl<'_>, text: &str) -> Result<Flow> {
    let (word, rest) = text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
    match (word, rest.trim()) {
        ("", _) => list(repl)?,
        ("stop", id) if !id.is_empty() => stop(repl, id)?,
        ("say", rest) if !rest.is_empty() => say(repl, rest)?,
        ("stop" | "say", _) => repl.presenter.line("which one? /tasks lists them")?,
        (id, _) => watch(repl, id).await?,
    }
    Ok(Flow::GoOn)
}

/// `/plan`.
pub(super) fn plan(repl: &mut Repl<'_>, text: &str) -> Result<Flow> {
    let planning = repl.session.permit_mut().mode() == PermissionMode::Plan;
    let file = repl.session.plan_file();
    match (text.trim(), planning) {
        ("off", true) => {
            repl.session.stop_planning();
            repl.presenter.line("plan mode is off")?;
        }
        ("off", false) => repl.presenter.line("plan mode is off already")?,
        (_, true) => match std::fs::read_to_string(&file) {
            Ok(plan) => repl.presenter.line(plan.trim_end())?,
            Err(_) => repl.presenter.line("plan mode is on; there is no plan yet")?,
        },
        (_, false) => {
            repl.session.start_planning();
            let text = format!("plan mode is on; the plan goes to {}", file.display());
            repl.presenter.line(&text)?;
        }
    }
    Ok(Flow::GoOn)
}

fn list(repl: &Repl<'_>) -> Result<()> {
    let tasks = repl.session.background().list();
    if tasks.is_empty() {
        return Ok(repl.presenter.line("nothing runs in the background")?);
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
    repl.presenter.table(&rows)?;
    let hint = "/tasks ID watches one, /tasks say ID TEXT writes to an agent, /tasks stop ID";
    repl.presenter.note(Look::Dim, hint);
    Ok(())
}

fn stop(repl: &Repl<'_>, id: &str) -> Result<()> {
    let done = repl.session.background().stop(id) || repl.session.agents().stop(id);
    let text = if done { format!("{id} is being stopped") } else { none(id) };
    Ok(repl.presenter.line(&text)?)
}

fn say(repl: &Repl<'_>, text: &str) -> Result<()> {
    let (id, words) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let said = if words.trim().is_empty() {
        format!("what should {id} be told? /tasks say {id} TEXT")
    } else if repl.session.agents().say(id, words.trim()) {
        format!("{id} reads it at its next step")
    } else {
        none(id)
    };
    Ok(repl.presenter.line(&said)?)
}

fn none(id: &str) -> String {
    format!("nothing of the name {id} runs; /tasks lists what there is")
}

/// Shows what a task says until it ends or the person wants to go on.
async fn watch(repl: &mut Repl<'_>, id: &str) -> Result<()> {
    let mut shown: Vec<String> = Vec::new();
    loop {
        let tasks = repl.session.background().list();
        let Some(task) = tasks.into_iter().find(|task| task.id == id) else {
            return Ok(repl.presenter.line(&none(id))?);
        };
        let lines: Vec<String> = task.lines.iter().cloned().collect();
        let known = common(&shown, &lines);
        for line in lines.iter().skip(known) {
            repl.presenter.line(&format!("  {line}"))?;
        }
        shown = lines;
        if task.status != TaskStatus::Running {
            return Ok(repl.presenter.line(&ended(&task))?);
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK) => {}
            _ = repl.signals.next() => return Ok(()),
            _ = repl.lines.next() => return Ok(()),
        }
    }
}

/// How many of the lines were shown already; the oldest may be gone.
fn common(shown: &[String], lines: &[String]) -> usize {
    let fits = |skip: &usize| shown.iter().skip(*skip).zip(lines).all(|(a, b)| a == b);
    let skip = (0..=shown.len()).find(fits).unwrap_or(shown.len());
    shown.len().saturating_sub(skip)
}

/// What is said of a task while a turn runs: the end of an agent.
pub(super) fn told(task: &TaskView) -> Option<String> {
    let is_agent = matches!(task.source, QuerySource::Agent(_));
    (is_agent && task.status != TaskStatus::Running).then(|| ended(task))
}

fn ended(task: &TaskView) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l7_4_lines_of_a_task_are_shown_once() {
        let lines = |text: &str| text.chars().map(String::from).collect::<Vec<_>>();
        assert_eq!(common(&lines(""), &lines("ab")), 0);
        assert_eq!(common(&lines("ab"), &lines("abc")), 2);
        assert_eq!(common(&lines("abc"), &lines("bcd")), 2);
        assert_eq!(common(&lines("abc"), &lines("xyz")), 0);
    }
}
