//! `everfold sessions prune`: sessions that nobody touched for long (Q11).

use crate::presenter::{Presenter, TextStyle, counted, size};
use crate::session_picker;
use anyhow::Result;
use everfold_agent::Agent;
use jiff::Timestamp;
use serde_json::{Value, json};

/// What is done about old sessions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    Show,
    Remove,
}

/// Removes old sessions, or shows which.
pub(super) fn run(
    agent: &Agent,
    act: Act,
    days: Option<u64>,
    json: bool,
    presenter: &Presenter,
) -> Result<()> {
    let days = days.unwrap_or_else(|| agent.cleanup_days());
    let (mut rows, mut values, mut freed) = (Vec::new(), Vec::<Value>::new(), 0);
    let now = Timestamp::now();
    for session in agent.old_sessions(days) {
        let gone = match act {
            Act::Show => true,
            Act::Remove => match agent.remove_session(&session, days) {
                Ok(gone) => gone,
                Err(error) => {
                    presenter.note(TextStyle::Yellow, &format!("note: {error}"));
                    false
                }
            },
        };
        let modified = Timestamp::try_from(session.modified).unwrap_or(now);
        freed += if gone { session.bytes } else { 0 };
        values.push(json!({
            "session_id": session.session, "project": session.project, "modified": modified,
            "bytes": session.bytes, "removed": gone && act == Act::Remove,
        }));
        let project = session.project.file_name().unwrap_or_default().display().to_string();
        let kept = if gone { String::new() } else { "in use, kept".to_owned() };
        let age = session_picker::age(modified, now);
        rows.push(vec![session.session, age, size(session.bytes), project, kept]);
    }
    if json {
        let value =
            json!({"days": days, "dry_run": act == Act::Show, "bytes": freed, "sessions": values});
        return Ok(Presenter::json(&value)?);
    }
    if rows.is_empty() {
        return Ok(presenter.line(&format!("no session is older than {}", counted(days, "day")))?);
    }
    let count = counted(rows.len() as u64, "session");
    presenter.table(&rows)?;
    let what = match act {
        Act::Show => "would be removed; memories stay",
        Act::Remove => "removed; memories stay",
    };
    Ok(presenter.line(&format!(
        "{count} older than {}, {} {what}",
        counted(days, "day"),
        size(freed)
    ))?)
}
