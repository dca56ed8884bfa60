//! Replaying transcripts that lie on disk (PC7).

use crate::error::Error;
use crate::session_files::read_lines;
use everfold_foreign::{About, Reader, Thread, TranscriptEvent, What};
use everfold_kernel::Entry;
use everfold_replay::{Glance, Lanes, Options, Outcome, Policy, Step, Steps};
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
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
/// lie beside it as Claude Code and we put them. What is the same for all
/// policies is done here, once; the policies go on beside it, and beside each
/// other where there are processors for it.
///
/// # Errors
/// If the file cannot be read. Files of sub-agents that cannot be are left out.
pub fn replay_file(path: &Path, options: &Options) -> Result<Replayed, Error> {
    let max_line = options.limits.transcript_line_bytes;
    let order = &options.policies;
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let options = &as_shown(path, options)?;
    std::thread::scope(|scope| {
        let (mut feed, mut workers) = (Feed::new(options), Vec::new());
        for policies in shares(order, processors) {
            let own = Options { policies, ..options.clone() };
            let (sender, steps) = mpsc::sync_channel::<Arc<Vec<Step>>>(BATCHES);
            feed.senders.push(sender);
            workers.push(scope.spawn(move || {
                let mut lanes = Lanes::new(own);
                for batch in steps {
                    batch.iter().for_each(|step| lanes.take(step));
                }
                lanes.finish()
            }));
        }
        let mut agents = agent_files(path);
        let reader = if agents.is_empty() { Reader::new() } else { Reader::beside_agents() };
        let about = feed.read(path, reader, max_line)?;
        agents.retain(|agent| feed.read(agent, Reader::new(), max_line).is_ok());
        feed.finish();
        let ended = |worker: ScopedJoinHandle<'_, Outcome>| {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        let outcomes = workers.into_iter().map(ended).collect();
        Ok(Replayed { about, agents, outcome: joined(outcomes, order) })
    })
}

/// The same with the window that the transcript shows, where none was set (PC11).
fn as_shown(path: &Path, options: &Options) -> Result<Options, Error> {
    let mut options = options.clone();
    if options.window_tokens.is_none() {
        let (mut reader, mut glance) = (Reader::new(), Glance::default());
        let mut model = None;
        let sink = &mut |told: TranscriptEvent| {
            glance.take(&told);
            if let What::Record(record) = &told.what
                && let Entry::Assistant(entry) = &record.entry
                && model.is_none()
            {
                model = Some(entry.model.clone());
            }
        };
        read_lines(path, options.limits.transcript_line_bytes, &mut |line| {
            reader.push(line, sink);
        })?;
        reader.finish(sink);
        let model = options.model.clone().or(model);
        let known = model.and_then(|model| options.table.spec(&model).window);
        let known = known.unwrap_or(options.limits.default_window_tokens);
        options.window_tokens = glance.window(known, &options.limits);
    }
    Ok(options)
}

/// Bytes of a file whose steps are handed on at once: so many that threads
/// seldom wait for each other, and so few that little lies between them,
/// whatever a line has.
const BATCH_BYTES: usize = 1 << 18;
/// Batches that may lie before a thread.
const BATCHES: usize = 2;

/// Reads files, and hands their steps to every thread.
struct Feed {
    steps: Steps,
    senders: Vec<mpsc::SyncSender<Arc<Vec<Step>>>>,
    batch: Vec<Step>,
    /// Bytes that were read since the last batch went out.
    bytes: usize,
    /// Conversations so far.
    threads: u32,
}

impl Feed {
    fn new(options: &Options) -> Self {
        let (senders, batch) = (Vec::new(), Vec::new());
        Self { steps: Steps::new(options), senders, batch, bytes: 0, threads: 0 }
    }

    /// Reads one file; its conversations are numbered on from those before.
    fn read(&mut self, path: &Path, mut reader: Reader, max_line: u64) -> Result<About, Error> {
        let before = self.threads;
        let seen = read_lines(path, max_line, &mut |line| {
            reader.push(line, &mut |told| self.take(told, before));
            self.bytes += line.len();
            if self.bytes >= BATCH_BYTES {
                self.flush();
            }
        })?;
        for _ in 0..seen.skipped {
            reader.push_too_long();
        }
        let sink = &mut |told| self.take(told, before);
        // A last line that was cut off counts as one that is not JSON.
        if seen.torn_bytes > 0 {
            reader.push(b"{", sink);
        }
        Ok(reader.finish(sink))
    }

    fn take(&mut self, told: TranscriptEvent, before: u32) {
        let thread = Thread(before.saturating_add(told.thread.0));
        self.threads = self.threads.max(thread.0.saturating_add(1));
        self.steps.take(TranscriptEvent { thread, ..told }, &mut |step| self.batch.push(step));
    }

    fn flush(&mut self) {
        self.bytes = 0;
        send(&self.senders, std::mem::take(&mut self.batch));
    }

    fn finish(mut self) {
        self.flush();
        let Self { steps, senders, mut batch, .. } = self;
        steps.finish(&mut |step| batch.push(step));
        send(&senders, batch);
    }
}

fn send(senders: &[mpsc::SyncSender<Arc<Vec<Step>>>], batch: Vec<Step>) {
    let batch = Arc::new(batch);
    for sender in senders {
        // A thread that is gone takes nothing more; its end tells why.
        let _ = sender.send(Arc::clone(&batch));
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Pictures make lines of megabytes: few of them may lie between threads.
    #[test]
    fn pc7_what_lies_between_threads_is_bounded_by_bytes() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let line = |number: usize, bytes: usize| {
            let text = "x".repeat(bytes);
            let prompt = format!(
                r#"{{"type":"user","uuid":"{number}","sessionId":"s","message":{{"role":"user","content":"{text}"}}}}"#
            );
            let answer = format!(
                r#"{{"type":"assistant","uuid":"a{number}","sessionId":"s","message":{{"id":"m{number}","role":"assistant","model":"m","content":[{{"type":"text","text":"x"}}]}}}}"#
            );
            [prompt, answer].join("\n")
        };
        let long: Vec<String> = (0..20).map(|number| line(number, BATCH_BYTES / 2)).collect();
        let short: Vec<String> = (20..400).map(|number| line(number, 10)).collect();
        std::fs::write(file.path(), [long.join("\n"), short.join("\n"), String::new()].join("\n"))
            .unwrap();
        let mut feed = Feed::new(&Options::default());
        let (sender, batches) = mpsc::sync_channel(1_000);
        feed.senders.push(sender);
        feed.read(file.path(), Reader::new(), u64::MAX).unwrap();
        feed.finish();
        let lengths: Vec<usize> = batches.iter().map(|batch| batch.len()).collect();
        // A prompt, a request and an answer each.
        assert_eq!(lengths.iter().sum::<usize>(), 3 * 400);
        assert!(lengths.len() >= 10 && lengths[..9].iter().all(|own| *own <= 6), "{lengths:?}");
    }
}
