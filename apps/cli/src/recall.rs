//! `everfold recall`: which memories a message would bring in, and why (R9). By
//! the local ranker alone, so it needs no model; all that it writes is what it
//! learned of files, beside the store.

use crate::args::Choices;
use crate::args::memory::RecallArgs;
use crate::failure::Usage;
use crate::presenter::{Presenter, TextStyle, counted};
use crate::setup::{self, ProcessEnv};
use anyhow::Result;
use everfold_agent::memory_dirs::MemoryDirs;
use everfold_kernel::ports::{MemoryScope, RecallHit, RecallQuery, RecallTier, Recalled};
use everfold_memory_service::HitFilter;
use jiff::Timestamp;
use serde_json::{Value, json};

/// Memories that `--why` tells of where no number is given.
const WHY_HITS: usize = 5;

/// Shows what would be injected.
pub(crate) fn run(env: &ProcessEnv, args: &RecallArgs, presenter: &Presenter) -> Result<()> {
    if args.query.trim().is_empty() {
        return Err(Usage::new(
            "the query is empty",
            "write a message as you would to an \
                                                     agent",
        )
        .into());
    }
    let memories = setup::builder(env, &Choices::default())?.memory_dirs()?;
    let now = memories.clock().now();
    let query = RecallQuery { text: args.query.clone(), ..RecallQuery::default() };
    let service = memories.service();
    let found = match &args.dir {
        Some(dir) if !dir.is_dir() => {
            let message = format!("{} is not a directory", dir.display());
            return Err(Usage::new(message, "name a folder of Markdown files").into());
        }
        Some(dir) => service.recall_in(dir, &query, HitFilter::All)?,
        None => service.recall(&query, HitFilter::All)?,
    };
    let shown: Vec<&RecallHit> = match (args.limit, args.why) {
        (Some(limit), _) => found.hits.iter().take(limit).collect(),
        (None, true) => found.hits.iter().take(WHY_HITS).collect(),
        (None, false) => found.hits.iter().filter(|hit| hit.shown != RecallTier::None).collect(),
    };
    if args.json {
        let rows: Vec<Value> = shown.iter().map(|hit| hit_json(hit, now)).collect();
        return Ok(Presenter::json(&rows)?);
    }
    show(&found, &shown, args, &memories, presenter)
}

fn show(
    found: &Recalled,
    shown: &[&RecallHit],
    args: &RecallArgs,
    memories: &MemoryDirs,
    presenter: &Presenter,
) -> Result<()> {
    for (at, hit) in shown.iter().enumerate() {
        presenter.styled(TextStyle::Bold, &format!("{}. {}\n", at + 1, hit.file))?;
        for line in reasons(hit, args) {
            presenter.styled(TextStyle::Dim, &format!("   {line}\n"))?;
        }
    }
    // Byte for byte what a session would be shown (R11).
    if let Some(attachment) = &found.shown {
        presenter.line("")?;
        presenter.line(&attachment.rendered)?;
    }
    let count = |tier| found.hits.iter().filter(|hit| hit.shown == tier).count();
    let bytes = found.shown.as_ref().map_or(0, |attachment| attachment.rendered.len());
    let summary = match (count(RecallTier::Body), count(RecallTier::Line)) {
        (0, 0) => format!(
            "no memory would be added; searched {}",
            counted(found.looked_at as u64, "memory")
        ),
        (bodies, lines) => format!(
            "of {}, {bodies} would be added in full and {lines} as one line; {bytes} of at most \
             {} bytes per session",
            counted(found.looked_at as u64, "memory"),
            memories.limits().session_bytes
        ),
    };
    presenter.note(TextStyle::Dim, &summary);
    if args.why {
        let calls =
            format!("how likely the message calls for a memory: {:.0}%", found.sureness * 100.0);
        presenter.note(TextStyle::Dim, &calls);
    }
    Ok(())
}

/// Why a memory is where it is, in a line or, where that is asked, in some.
fn reasons(hit: &RecallHit, args: &RecallArgs) -> Vec<String> {
    let reason = &hit.reason;
    let how = match hit.shown {
        RecallTier::Body => "shown with its body",
        RecallTier::Line => "named in a line: it may help",
        RecallTier::None => "not shown to a model: weak match",
    };
    let words = match reason.words.join(", ") {
        words if words.is_empty() => "by meaning alone".to_owned(),
        words => format!("by {words}"),
    };
    let mut lines = vec![format!(
        "score {:.2}, {:.0}% of the query, {words}",
        hit.score,
        reason.coverage * 100.0
    )];
    if args.why {
        lines.push(format!(
            "words {:.2}, meaning {:.2} ({:.0}% alike), {:.0}% sure that it helps",
            reason.by_words,
            reason.by_meaning,
            reason.likeness * 100.0,
            reason.sureness * 100.0
        ));
        if !reason.missing.is_empty() {
            lines.push(format!("missing: {}", reason.missing.join(", ")));
        }
    }
    if args.why || hit.shown != RecallTier::Body {
        lines.push(how.to_owned());
    }
    lines
}

fn hit_json(hit: &RecallHit, now: Timestamp) -> Value {
    json!({
        "path": hit.file,
        "score": hit.score,
        "parts": {
            "words": hit.reason.by_words,
            "meaning": hit.reason.by_meaning,
            "coverage": hit.reason.coverage,
            "likeness": hit.reason.likeness,
            "sureness": hit.reason.sureness,
        },
        "matched": hit.reason.words,
        "missing": hit.reason.missing,
        "injected": hit.shown == RecallTier::Body,
        "shown": hit.shown.as_str(),
        "file": hit.path,
        "scope": hit.scope.map(MemoryScope::as_str),
        "name": hit.name,
        "description": hit.description,
        "type": hit.kind,
        "modified": hit.modified,
        "age_days": now.duration_since(hit.modified).as_hours().max(0) / 24,
    })
}
