//! `everfold recall`: which memories a message would bring in, and why (R9). By
//! the local ranker alone, so it needs no model; all that it writes is what it
//! learned of files, beside the store.

use crate::args::Choices;
use crate::args::memory::RecallArgs;
use crate::failure::Usage;
use crate::presenter::{Presenter, TextStyle};
use crate::setup::{self, ProcessEnv};
use anyhow::Result;
use everfold::memory_dirs::MemoryDirs;
use everfold_kernel::ports::{MemoryScope, RecallHit, RecallQuery, Recalled};
use everfold_memory_service::HitFilter;
use jiff::Timestamp;
use serde_json::{Value, json};

/// Shows what would be injected.
pub(crate) fn run(env: &ProcessEnv, args: &RecallArgs, presenter: &Presenter) -> Result<()> {
    if args.query.trim().is_empty() {
        return Err(Usage::new("the query is empty", "say what a message would say").into());
    }
    let memories = setup::builder(env, &Choices::default())?.memory_dirs()?;
    let now = memories.clock().now();
    let query = RecallQuery { text: args.query.clone(), ..RecallQuery::default() };
    let service = memories.service();
    let found = match &args.dir {
        Some(dir) if !dir.is_dir() => {
            let message = format!("{} is no directory", dir.display());
            return Err(Usage::new(message, "name a folder of Markdown files").into());
        }
        Some(dir) => service.recall_in(dir, &query, HitFilter::All)?,
        None => service.recall(&query, HitFilter::All)?,
    };
    let shown: Vec<&RecallHit> = match args.limit {
        Some(limit) => found.hits.iter().take(limit).collect(),
        None => found.hits.iter().filter(|hit| hit.is_shown).collect(),
    };
    if args.json {
        let rows: Vec<Value> = shown.iter().map(|hit| hit_json(hit, now)).collect();
        return Ok(Presenter::json(&rows)?);
    }
    show(&found, &shown, &memories, presenter)
}

fn show(
    found: &Recalled,
    shown: &[&RecallHit],
    memories: &MemoryDirs,
    presenter: &Presenter,
) -> Result<()> {
    for (at, hit) in shown.iter().enumerate() {
        presenter.styled(TextStyle::Bold, &format!("{}. {}\n", at + 1, hit.file))?;
        let why = format!(
            "score {:.2}, {:.0}% of the query, by {}",
            hit.score,
            hit.coverage * 100.0,
            hit.words.join(", ")
        );
        presenter.styled(TextStyle::Dim, &format!("   {why}\n"))?;
        if !hit.is_shown {
            presenter.line("   not shown to a model: too little speaks for it")?;
        }
    }
    // Byte for byte what a session would be shown (R11).
    if let Some(attachment) = &found.shown {
        presenter.line("")?;
        presenter.line(&attachment.rendered)?;
    }
    let count = found.hits.iter().filter(|hit| hit.is_shown).count();
    let bytes = found.shown.as_ref().map_or(0, |attachment| attachment.rendered.len());
    let summary = match count {
        0 => format!("nothing would be injected; {} memories were looked at", found.looked_at),
        count => format!(
            "{count} of {} memories would be injected, {bytes} bytes of {} a session",
            found.looked_at,
            memories.limits().session_bytes
        ),
    };
    presenter.note(TextStyle::Dim, &summary);
    Ok(())
}

fn hit_json(hit: &RecallHit, now: Timestamp) -> Value {
    json!({
        "path": hit.file,
        "score": hit.score,
        "coverage": hit.coverage,
        "evidence": hit.evidence,
        "matched": hit.words,
        "injected": hit.is_shown,
        "shown": if hit.is_shown { "body" } else { "none" },
        "file": hit.path,
        "scope": hit.scope.map(MemoryScope::as_str),
        "name": hit.name,
        "description": hit.description,
        "type": hit.kind,
        "modified": hit.modified,
        "age_days": now.duration_since(hit.modified).as_hours().max(0) / 24,
    })
}
