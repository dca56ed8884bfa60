//! Replaying transcripts that lie on disk (PC7).

use crate::error::Error;
use mnemon_disk::jsonl;
use mnemon_engine::replay::{Options, Outcome, Replay};
use mnemon_foreign::{About, Reader, Thread, Told};
use std::path::{Path, PathBuf};

/// What a transcript says of itself, and what its replay found.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayed {
    /// What is known of the file.
    pub about: About,
    /// Files of sub-agents that belong to it.
    pub agents: Vec<PathBuf>,
    /// What was found.
    pub outcome: Outcome,
}

/// Replays a transcript, and with it the files of its sub-agents where they
/// lie beside it as Claude Code and we put them.
///
/// # Errors
/// If the file cannot be read. Files of sub-agents that cannot be are left out.
pub fn replay_file(path: &Path, options: Options) -> Result<Replayed, Error> {
    let max_line = options.limits.transcript_line_bytes;
    let mut replay = Replay::new(options);
    let mut threads = 0;
    let about = read_one(path, max_line, &mut threads, &mut replay)?;
    let mut agents = agent_files(path);
    agents.retain(|agent| read_one(agent, max_line, &mut threads, &mut replay).is_ok());
    Ok(Replayed { about, agents, outcome: replay.finish() })
}

/// Reads one file; its threads are numbered on from `threads`.
fn read_one(
    path: &Path,
    max_line: u64,
    threads: &mut u32,
    replay: &mut Replay,
) -> Result<About, Error> {
    let mut reader = Reader::new();
    let before = *threads;
    let mut sink = |told: Told| {
        let thread = Thread(before.saturating_add(told.thread.0));
        *threads = (*threads).max(thread.0.saturating_add(1));
        replay.take(Told { thread, ..told });
    };
    let seen = jsonl::read(path, max_line, &mut |line| reader.push(line, &mut sink))?;
    for _ in 0..seen.skipped {
        reader.push_too_long();
    }
    // A last line that was cut off counts as one that is no JSON.
    if seen.torn_bytes > 0 {
        reader.push(b"{", &mut sink);
    }
    Ok(reader.finish(&mut sink))
}

/// The transcripts of the sub-agents of a session, in the order of their names.
fn agent_files(path: &Path) -> Vec<PathBuf> {
    let directory = path.with_extension("").join("subagents");
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "jsonl"))
        .collect();
    files.sort();
    files
}
