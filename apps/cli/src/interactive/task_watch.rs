//! `/tasks ID`, line by line: what a task says while a person looks on.

use super::Repl;
use crate::commands::tasks::{ended, none};
use anyhow::Result;
use everfold_agent::TaskStatus;
use std::time::Duration;

/// How often a task that is watched is looked at.
const LOOK: Duration = Duration::from_millis(200);

/// Shows what a task says until it ends or the person wants to go on.
pub(super) async fn watch(repl: &mut Repl, id: &str) -> Result<()> {
    let mut shown: Vec<String> = Vec::new();
    loop {
        let tasks = repl.cx.session.background().list();
        let Some(task) = tasks.into_iter().find(|task| task.id == id) else {
            return Ok(repl.cx.presenter.line(&none(id))?);
        };
        let lines: Vec<String> = task.lines.iter().cloned().collect();
        let known = common(&shown, &lines);
        for line in lines.iter().skip(known) {
            repl.cx.presenter.line(&format!("  {line}"))?;
        }
        shown = lines;
        if task.status != TaskStatus::Running {
            return Ok(repl.cx.presenter.line(&ended(&task))?);
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
