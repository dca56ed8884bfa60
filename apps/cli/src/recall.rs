//! `everfold recall`: which memories a message would bring in, and why (R9). By
//! the local ranker alone, so it needs no model; all that it writes is what it
//! learned of files, beside the store.

use crate::args::Choices;
use crate::args::memory::RecallArgs;
use crate::fail::Usage;
use crate::present::{Look, Presenter};
use crate::setup::{self, Ground};
use anyhow::Result;
use everfold::memdir::Scope;
use everfold::memory_dirs::{Called, MemoryDirs, Recall, recall, recall_in};
use jiff::Timestamp;
use serde_json::{Value, json};

/// Shows what would be injected.
pub(crate) fn run(ground: &Ground, args: &RecallArgs, presenter: &Presenter) -> Result<()> {
    if args.query.trim().is_empty() {
        return Err(Usage::new("the query is empty", "say what a message would say").into());
    }
    let memories = setup::builder(ground, &Choices::default())?.memory_dirs()?;
    let now = Timestamp::now();
    let found = match &args.dir {
        Some(dir) => recall_in(dir, &memories, &args.query, now)?,
        None => recall(&memories, &args.query, now)?,
    };
    let shown: Vec<&Called> = match args.limit {
        Some(limit) => found.hits.iter().take(limit).collect(),
        None => found.hits.iter().filter(|hit| hit.injected.is_some()).collect(),
    };
    if args.json {
        let rows: Vec<Value> = shown.iter().map(|hit| hit_json(hit, now)).collect();
        return Ok(Presenter::json(&rows)?);
    }
    show(&found, &shown, &memories, presenter)
}

fn show(
    found: &Recall,
    shown: &[&Called],
    memories: &MemoryDirs,
    presenter: &Presenter,
) -> Result<()> {
    for (at, hit) in shown.iter().enumerate() {
        presenter.styled(Look::Bold, &format!("{}. {}\n", at + 1, hit.path))?;
        let why = format!(
            "score {:.2}, {:.0}% of the query, by {}",
            hit.score,
            hit.coverage * 100.0,
            hit.words.join(", ")
        );
        presenter.styled(Look::Dim, &format!("   {why}\n"))?;
        match &hit.injected {
            Some(attachment) => {
                for line in attachment.rendered.lines() {
                    presenter.line(format!("   {line}").trim_end())?;
                }
            }
            None => presenter.line("   not injected: too little speaks for it")?,
        }
    }
    let injected: Vec<usize> = found
        .hits
        .iter()
        .filter_map(|hit| hit.injected.as_ref())
        .map(|attachment| attachment.rendered.len())
        .collect();
    let bytes: usize = injected.iter().sum();
    let summary = match injected.len() {
        0 => format!("nothing would be injected; {} memories were looked at", found.looked_at),
        count => format!(
            "{count} of {} memories would be injected, {bytes} bytes of {} a session",
            found.looked_at,
            memories.limits().session_bytes
        ),
    };
    presenter.note(Look::Dim, &summary);
    Ok(())
}

fn hit_json(hit: &Called, now: Timestamp) -> Value {
    let scope = hit.scope.map(|scope| match scope {
        Scope::Project => "project",
        Scope::Global => "global",
        Scope::Team => "team",
    });
    json!({
        "path": hit.path,
        "score": hit.score,
        "coverage": hit.coverage,
        "evidence": hit.evidence,
        "matched": hit.words,
        "injected": hit.injected.is_some(),
        "injected_bytes": hit.injected.as_ref().map(|attachment| attachment.rendered.len()),
        "file": hit.file,
        "scope": scope,
        "name": hit.name,
        "description": hit.description,
        "type": hit.kind,
        "modified": hit.modified,
        "age_days": now.duration_since(hit.modified).as_hours().max(0) / 24,
    })
}
