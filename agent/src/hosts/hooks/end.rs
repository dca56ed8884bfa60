//! The end of a session: what is left to do, for a worker that the host does
//! not wait for.

use super::call::HostCall;
use super::notes::{Ended, Note, Notes, file_name};
use super::reply::HostReply;
use crate::error::Error;
use crate::hosts::HostService;
use crate::observed::ObservedBodies;
use everfold_kernel::Flag;
use everfold_memory_store::usage::Use;
use everfold_memory_store::{StoreScope, TopicPath};
use jiff::Timestamp;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const SECONDS_A_DAY: u64 = 86_400;
/// How the lock of a session's worker ends.
const LOCK: &str = "worker";

/// What is left to do for a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    pub(super) session: String,
    /// How often something was left, when this was looked up.
    pub(super) times: u64,
}

/// A session ends: the host waits for no more than this note.
pub(super) fn ended(call: &HostCall, notes: &mut Notes) -> HostReply {
    notes.note(Note::Left { transcript: call.transcript(), ended: Ended::Yes });
    HostReply::hand_over()
}

impl HostService {
    /// What is left to do for a session; none where somebody did it.
    #[must_use]
    pub fn left(&self, session: &str) -> Option<Work> {
        let left = Notes::open(&self.notes_dir(), session).left;
        (left.times > left.done).then(|| Work { session: session.to_owned(), times: left.times })
    }

    /// Reads what prompts left unread, so that the next one finds it (R16).
    ///
    /// # Errors
    /// If memories cannot be read.
    pub fn read_on(&self) -> Result<(), Error> {
        Ok(self.service().read_on()?)
    }

    /// Notes that it was done, however it went: what failed is tried again
    /// when more is left.
    pub fn done(&self, work: &Work) {
        let mut notes = Notes::open(&self.notes_dir(), &work.session);
        notes.note(Note::Done { times: work.times });
    }

    /// Does what needs no model: looks at the last words, takes up what was written from outside, counts
    /// which memories were shown and read (L5.29), and removes old notes. All
    /// of it once the session is over.
    ///
    /// # Errors
    /// If memories cannot be read or written.
    pub fn work(&self, work: &Work, now: Timestamp) -> Result<(), Error> {
        // Whoever looks at requests from close wants their figures, not their
        // bytes lying about (W3).
        if let Err(error) = ObservedBodies::of_claude(&self.home).digest(&self.limits) {
            tracing::info!(%error, "bodies of requests were not read");
        }
        let mut notes = Notes::open(&self.notes_dir(), &work.session);
        if notes.left.ended == Ended::No {
            return Ok(());
        }
        // Hosts write behind: the last words may not have been there before.
        let transcript = notes.left.transcript.clone().filter(|_| self.is_on(Flag::Extract));
        if let Some(path) = transcript {
            let delegate = self.delegate_for(&path);
            self.look(&path, &work.session, &delegate, &mut notes)?;
        }
        for scope in [StoreScope::Project, StoreScope::Global] {
            let dir = super::tool::real(&self.memories.dir(scope));
            let Some(store) = self.memories.existing(scope)? else { continue };
            let topic = |path: &PathBuf| {
                let inside = path.strip_prefix(&dir).ok()?.to_str()?;
                TopicPath::new(inside).ok()
            };
            let shown = notes.shown.iter().filter_map(topic).map(|path| (path, Use::Recalled));
            let read = notes.read.iter().filter_map(topic).map(|path| (path, Use::Used));
            let uses: Vec<(TopicPath, Use)> = shown.chain(read).collect();
            if !uses.is_empty() {
                store.count(&uses, now)?;
            }
        }
        notes.note(Note::Counted);
        self.sweep();
        Ok(())
    }

    /// How long a worker may take.
    #[must_use]
    pub fn worker_deadline(&self) -> Duration {
        Duration::from_secs(self.limits.beside.worker_s)
    }

    /// The file whose lock the worker of a session holds.
    #[must_use]
    pub fn worker_lock(&self, session: &str) -> PathBuf {
        self.notes_dir().join(format!("{}.{LOCK}", file_name(session)))
    }

    /// Removes notes of sessions that are long over.
    fn sweep(&self) {
        let age = Duration::from_secs(self.limits.beside.notes_days.saturating_mul(SECONDS_A_DAY));
        let Ok(entries) = std::fs::read_dir(self.notes_dir()) else { return };
        for path in entries.flatten().map(|entry| entry.path()) {
            let is_ours =
                path.extension().is_some_and(|ending| ending == "jsonl" || ending == LOCK);
            if is_ours && is_older(&path, age) {
                // One that cannot be removed is tried again at the next end.
                let _ = std::fs::remove_file(path);
            }
        }
    }
}

fn is_older(path: &Path, age: Duration) -> bool {
    let modified = path.symlink_metadata().and_then(|about| about.modified());
    let since = modified.ok().and_then(|time| SystemTime::now().duration_since(time).ok());
    since.is_some_and(|since| since > age)
}
