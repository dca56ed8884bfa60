//! Everfold beside another agent: what its hooks ([`crate::hook`]) and its tools
//! over MCP do with memories.
//!
//! There is no conversation of ours here, and so no session and no loop. What
//! another agent would write goes through the same gate as what our own
//! background agents write, waits for a person's word where theirs would
//! (L5.24), and is journaled as any other change. Everything here blocks.

pub(crate) mod keep;

pub use keep::{Keep, Kept, NotKept};

use crate::memory_dirs::MemoryDirs;
use crate::past::Past;
use everfold_disk::Lock;
use everfold_kernel::settings::Memory;
use everfold_kernel::{Flag, Flags, Limits};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How long to sleep between two tries for a lock.
const PAUSE: Duration = Duration::from_millis(3);

/// Everfold beside another agent, for one working directory.
/// [`crate::Builder::beside`] makes it.
#[derive(Clone, Debug)]
pub struct Beside {
    pub(crate) memories: MemoryDirs,
    pub(crate) home: PathBuf,
    pub(crate) flags: Flags,
    pub(crate) limits: Limits,
    pub(crate) review: Memory,
    /// Where Claude Code keeps its files.
    pub(crate) claude: Option<PathBuf>,
    /// Transcripts of the working directory.
    pub(crate) past: Past,
    /// Who reviews what was said.
    pub(crate) reviewer: Reviewer,
}

/// Who reviews what was said in the background.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reviewer {
    /// A model.
    Model,
    /// Nobody: there is no key.
    None,
}

impl Beside {
    /// The memories.
    #[must_use]
    pub fn memories(&self) -> &MemoryDirs {
        &self.memories
    }

    /// Past conversations.
    #[must_use]
    pub fn past(&self) -> &Past {
        &self.past
    }

    /// What bounds everything.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Holds the others back while memories are compared and written: of twenty
    /// that would keep the same, one does. Nobody waits for ever.
    pub(crate) fn hold(&self) -> Option<Lock> {
        let path = self.home.join(crate::hook::DIR).join("keep.lock");
        let started = Instant::now();
        loop {
            match Lock::try_acquire(&path) {
                Ok(Some(lock)) => return Some(lock),
                Ok(None) if started.elapsed() < self.hold_wait() => std::thread::sleep(PAUSE),
                Ok(None) | Err(_) => {
                    tracing::warn!("the lock for keeping memories was not to be had");
                    return None;
                }
            }
        }
    }

    fn hold_wait(&self) -> Duration {
        Duration::from_millis(self.limits.beside.lock_wait_ms)
    }

    /// Whether a switch is on.
    #[must_use]
    pub fn is_on(&self, flag: Flag) -> bool {
        self.flags.is_on(flag)
    }
}
