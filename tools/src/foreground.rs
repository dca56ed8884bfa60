//! Commands that run in the foreground: what they print while they run, and the
//! way to the background (U5).

use crate::context::ToolContext;
use everfold_kernel::ToolUseId;
use everfold_kernel::ports::{BoxFuture, CommandWatch};
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Bytes of an output that are at hand while a command runs: its end. A command
/// that is stopped keeps as much.
const TAIL_BYTES: usize = 1 << 20;
/// Bytes of it that a screen is shown.
const SHOWN_BYTES: usize = 16 << 10;

/// Characters of a fresh id that name a job's file. The last ones: the first
/// of a time-ordered id are the same within a moment.
const JOB_NAME_CHARS: usize = 12;

/// The commands that run now. Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct RunningCommands {
    running: Arc<Mutex<BTreeMap<ToolUseId, Arc<Tail>>>>,
}

/// A command that runs; off the list when it is dropped.
#[derive(Debug)]
pub struct RunningCommand {
    all: RunningCommands,
    id: ToolUseId,
    tail: Arc<Tail>,
    /// Where its output goes on in the background.
    file: PathBuf,
}

#[derive(Debug, Default)]
struct Tail {
    printed: Mutex<VecDeque<u8>>,
    away: Notify,
}

impl RunningCommands {
    /// A command begins; sent to the background, its output goes on in the file.
    #[must_use]
    pub fn begin(&self, id: &ToolUseId, file: PathBuf) -> RunningCommand {
        let tail = Arc::new(Tail::default());
        self.list().insert(id.clone(), Arc::clone(&tail));
        RunningCommand { all: self.clone(), id: id.clone(), tail, file }
    }

    /// The end of what a command has printed so far; none where it does not run.
    #[must_use]
    pub fn printed(&self, id: &ToolUseId) -> Option<String> {
        let tail = Arc::clone(self.list().get(id)?);
        Some(tail.text(TAIL_BYTES))
    }

    /// The end of what each has printed so far.
    #[must_use]
    pub fn all_printed(&self) -> Vec<(ToolUseId, String)> {
        self.list().iter().map(|(id, tail)| (id.clone(), tail.text(SHOWN_BYTES))).collect()
    }

    /// Sends all of them to the background; how many there were.
    #[must_use]
    pub fn send_away(&self) -> usize {
        let list = self.list();
        for tail in list.values() {
            tail.away.notify_one();
        }
        list.len()
    }

    fn list(&self) -> MutexGuard<'_, BTreeMap<ToolUseId, Arc<Tail>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ToolContext {
    /// A new file for the output of a command that goes on in the background.
    #[must_use]
    pub fn job_file(&self) -> PathBuf {
        let fresh = self.world.clock.fresh_uuid();
        let skipped = fresh.chars().count().saturating_sub(JOB_NAME_CHARS);
        let name: String = fresh.chars().skip(skipped).collect();
        self.session_dir.join("jobs").join(format!("{name}.log"))
    }
}

impl Tail {
    /// At most so many bytes from the end, from the start of a line on.
    fn text(&self, most: usize) -> String {
        let printed = self.printed.lock().unwrap_or_else(PoisonError::into_inner);
        let skipped = printed.len().saturating_sub(most);
        let bytes: Vec<u8> = printed.iter().skip(skipped).copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        match text.split_once('\n') {
            Some((_, rest)) if bytes.len() >= most => rest.to_owned(),
            _ => text.into_owned(),
        }
    }
}

impl CommandWatch for RunningCommand {
    fn printed(&self, bytes: &[u8]) {
        let mut printed = self.tail.printed.lock().unwrap_or_else(PoisonError::into_inner);
        printed.extend(bytes);
        let over = printed.len().saturating_sub(TAIL_BYTES);
        printed.drain(..over);
    }

    fn sent_away(&self) -> BoxFuture<'_, PathBuf> {
        Box::pin(async move {
            self.tail.away.notified().await;
            self.file.clone()
        })
    }
}

impl Drop for RunningCommand {
    fn drop(&mut self) {
        self.all.list().remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn u5_the_end_of_an_output_is_at_hand_while_a_command_runs() {
        let all = RunningCommands::default();
        let id = ToolUseId::from("t1".to_owned());
        let running = all.begin(&id, PathBuf::new());
        running.printed(b"one\ntw");
        running.printed("o\n".as_bytes());
        assert_eq!(all.printed(&id).as_deref(), Some("one\ntwo\n"));
        running.printed(&b"line\n".repeat(TAIL_BYTES));
        let tail = all.printed(&id).unwrap();
        assert!(tail.len() <= TAIL_BYTES && tail.starts_with("line\n"), "{}", tail.len());
        let [(_, shown)] = &all.all_printed()[..] else { panic!("one runs") };
        assert!(shown.len() <= SHOWN_BYTES && shown.starts_with("line\n"), "{}", shown.len());
        drop(running);
        assert_eq!(all.printed(&id), None);
    }
}
