//! What a text calls for, by the local ranker alone (R8, R9): no model, no
//! network, nothing written.

use super::MemoryDirs;
use super::shelf::{Shelved, shelf};
use crate::error::Error;
use jiff::Timestamp;
use mnemon_kernel::Attachment;
use mnemon_memdir::Scope;
use mnemon_recall::{Document, Ranking, Tuning, budget, inject, rank};
use std::path::Path;

/// Every memory that has something of a text, best first.
#[derive(Clone, Debug)]
pub struct Recall {
    /// The hits.
    pub hits: Vec<Called>,
    /// How many memories were looked at.
    pub looked_at: usize,
}

/// One memory that has something of a text.
#[derive(Clone, Debug)]
pub struct Called {
    /// The memory.
    pub memory: Shelved,
    /// Whose it is; none in a directory that is no store of ours.
    pub scope: Option<Scope>,
    /// Its score, comparable within one recall.
    pub score: f64,
    /// How much of the text it has, from 0 to 1.
    pub coverage: f64,
    /// How much speaks for it.
    pub evidence: f64,
    /// The words by which it was found.
    pub words: Vec<String>,
    /// What would be shown to a model; none where it is not good enough.
    pub injected: Option<Attachment>,
}

/// Recalls from the project's memories and the person's own. What holds for
/// another branch or work tree only is left out (L5.25).
///
/// # Errors
/// If a directory is there and cannot be read.
pub fn recall(memories: &MemoryDirs, query: &str, now: Timestamp) -> Result<Recall, Error> {
    let mut all = Vec::new();
    for scope in [Scope::Project, Scope::Global, Scope::Team] {
        let dir = memories.dir(scope);
        if !memories.is_used(scope) || !memories.is_there(scope) {
            continue;
        }
        let here = shelf(&dir)?.into_iter().filter(|memory| holds_here(memory, memories));
        all.extend(here.map(|memory| (Some(scope), memory)));
    }
    Ok(pick(memories, query, all, now))
}

/// Recalls from any directory of Markdown files.
///
/// # Errors
/// If it cannot be read.
pub fn recall_in(
    dir: &Path,
    memories: &MemoryDirs,
    query: &str,
    now: Timestamp,
) -> Result<Recall, Error> {
    let all = shelf(dir)?.into_iter().map(|memory| (None, memory)).collect();
    Ok(pick(memories, query, all, now))
}

fn holds_here(memory: &Shelved, memories: &MemoryDirs) -> bool {
    let branch = memory.front.branch.as_deref();
    let worktree = memory.front.worktree.as_deref();
    branch.is_none_or(|branch| memories.branch() == Some(branch))
        && worktree.is_none_or(|tree| Path::new(tree) == memories.root())
}

fn pick(
    memories: &MemoryDirs,
    query: &str,
    all: Vec<(Option<Scope>, Shelved)>,
    now: Timestamp,
) -> Recall {
    let ranking = {
        let documents: Vec<Document<'_>> = all.iter().map(|(_, memory)| document(memory)).collect();
        rank(query, &documents, Some(now), &Tuning::default())
    };
    let looked_at = all.len();
    let mut all: Vec<Option<(Option<Scope>, Shelved)>> = all.into_iter().map(Some).collect();
    let good: Vec<usize> =
        ranking.worth_injecting(memories.limits().selected).map(|hit| hit.index).collect();
    let hits = ranking.hits.iter().filter_map(|hit| {
        let (scope, memory) = all.get_mut(hit.index)?.take()?;
        let injected = good.contains(&hit.index).then(|| attachment(&memory, memories, now));
        Some(Called {
            scope,
            score: hit.score,
            coverage: hit.coverage,
            evidence: hit.evidence,
            words: words(&ranking, hit),
            injected,
            memory,
        })
    });
    Recall { hits: hits.collect(), looked_at }
}

fn document(memory: &Shelved) -> Document<'_> {
    Document {
        name: memory.front.name.as_deref().unwrap_or(&memory.path),
        description: memory.front.description.as_deref().unwrap_or_default(),
        body: memory.body(),
        date: memory.front.date,
        modified: Some(memory.modified),
        ..Document::default()
    }
}

fn words(ranking: &Ranking, hit: &mnemon_recall::Hit) -> Vec<String> {
    ranking.matched_words(hit).into_iter().map(str::to_owned).collect()
}

fn attachment(memory: &Shelved, memories: &MemoryDirs, now: Timestamp) -> Attachment {
    let shown = budget::shown(&memory.text, memories.limits());
    inject::attachment(&memory.file.display().to_string(), shown, memory.modified, now)
}
