//! Replaying transcripts that lie on disk (PC7).

use crate::error::Error;
use mnemon_disk::jsonl;
use mnemon_engine::replay::{Options, Outcome, Policy, Replay};
use mnemon_foreign::{About, Reader, Thread, Told};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::ScopedJoinHandle;

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
/// lie beside it as Claude Code and we put them. Reading takes as long as a
/// policy or two, so it goes on beside them, and they beside each other where
/// there are processors for it.
///
/// # Errors
/// If the file cannot be read. Files of sub-agents that cannot be are left out.
pub fn replay_file(path: &Path, options: &Options) -> Result<Replayed, Error> {
    let max_line = options.limits.transcript_line_bytes;
    let order = options.policies.clone();
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let (mut feed, mut workers) = (Feed::default(), Vec::new());
        for policies in shares(&order, processors) {
            let own = Options { policies, ..options.clone() };
            let (sender, told) = mpsc::sync_channel::<Vec<Told>>(BATCHES);
            feed.senders.push(sender);
            workers.push(scope.spawn(move || {
                let mut replay = Replay::new(own);
                told.iter().flatten().for_each(|told| replay.take(told));
                replay.finish()
            }));
        }
        let mut threads = 0;
        let about = read_one(path, max_line, &mut threads, &mut feed)?;
        let mut agents = agent_files(path);
        agents.retain(|agent| read_one(agent, max_line, &mut threads, &mut feed).is_ok());
        feed.flush();
        drop(feed);
        let ended = |worker: ScopedJoinHandle<'_, Outcome>| {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        let outcomes = workers.into_iter().map(ended).collect();
        Ok(Replayed { about, agents, outcome: joined(outcomes, &order) })
    })
}

/// Records that are handed on at once, so that threads seldom wait for each other.
const BATCH: usize = 128;
/// Batches that may lie before a thread.
const BATCHES: usize = 2;

/// Hands what is told to every thread.
#[derive(Default)]
struct Feed {
    senders: Vec<mpsc::SyncSender<Vec<Told>>>,
    batch: Vec<Told>,
}

impl Feed {
    fn push(&mut self, told: Told) {
        self.batch.push(told);
        if self.batch.len() >= BATCH {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let batch = std::mem::take(&mut self.batch);
        // A thread that is gone takes nothing more; its end tells why.
        let Some((last, others)) = self.senders.split_last() else { return };
        for sender in others {
            let _ = sender.send(batch.clone());
        }
        let _ = last.send(batch);
    }
}

/// Shares policies out among threads: those that read texts, which take
/// longest, by turns, then the others.
fn shares(policies: &[Policy], threads: usize) -> Vec<Vec<Policy>> {
    let (mut long, short): (Vec<Policy>, Vec<Policy>) =
        policies.iter().partition(|policy| policy.reads_texts());
    long.extend(short);
    let mut shares = vec![Vec::new(); threads.clamp(1, policies.len().max(1))];
    let count = shares.len();
    for (at, policy) in long.into_iter().enumerate() {
        if let Some(share) = shares.get_mut(at % count) {
            share.push(policy);
        }
    }
    shares
}

/// One outcome, with the policies in the order in which they were asked for.
/// All threads were told the same, so they differ in their lanes alone; what
/// was predicted is known where the session was replayed as it went.
fn joined(mut outcomes: Vec<Outcome>, order: &[Policy]) -> Outcome {
    outcomes.sort_by_key(|own| own.lanes.iter().all(|lane| lane.policy != Policy::Recorded));
    let mut outcomes = outcomes.into_iter();
    let mut whole = outcomes.next().unwrap_or_default();
    whole.lanes.extend(outcomes.flat_map(|own| own.lanes));
    whole.lanes.sort_by_key(|lane| order.iter().position(|policy| *policy == lane.policy));
    whole
}

/// Reads one file; its threads are numbered on from `threads`.
fn read_one(
    path: &Path,
    max_line: u64,
    threads: &mut u32,
    feed: &mut Feed,
) -> Result<About, Error> {
    let mut reader = Reader::new();
    let before = *threads;
    let mut sink = |told: Told| {
        let thread = Thread(before.saturating_add(told.thread.0));
        *threads = (*threads).max(thread.0.saturating_add(1));
        feed.push(Told { thread, ..told });
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
