//! `everfold sessions redact`: keys and passwords, taken out for good (S15).

use crate::presenter::{Presenter, TextStyle, counted};
use anyhow::Result;
use everfold_agent::{Agent, RedactionMode, SessionId};
use serde_json::json;

/// Masks the secrets of a session, or counts them.
pub(super) fn run(
    agent: &Agent,
    id: &SessionId,
    mode: RedactionMode,
    json: bool,
    presenter: &Presenter,
) -> Result<()> {
    let done = agent.redact(id, mode)?;
    let total: usize = done.kinds.values().sum();
    if json {
        return Ok(Presenter::json(&json!({
            "session_id": id,
            "dry_run": mode == RedactionMode::Count,
            "secrets": done.kinds,
            "places": done.places,
            "files": done.files,
            "unread_files": done.unread,
        }))?);
    }
    for path in &done.unread {
        let told = format!("note: {} is not text, and was left unchanged", path.display());
        presenter.note(TextStyle::Yellow, &told);
    }
    if done.files.is_empty() {
        return Ok(presenter.line("no secrets found")?);
    }
    let rows: Vec<Vec<String>> = done
        .kinds
        .iter()
        .map(|(kind, count)| vec![count.to_string(), (*kind).to_owned()])
        .collect();
    presenter.table(&rows)?;
    let count = |number: usize, what: &str| counted(number as u64, what);
    let (secrets, places) = (count(total, "secret"), count(done.places, "place"));
    let (files, verb) = (
        count(done.files.len(), "file"),
        match mode {
            RedactionMode::Count => "would be masked",
            RedactionMode::Mask => "masked",
        },
    );
    Ok(presenter.line(&format!("{secrets} in {places} of {files} {verb}"))?)
}
