//! The dream lock (L6.2, L6.3): one dreamer among any number of processes.
//!
//! `.consolidate-lock` is what Claude Code knows: its body is the number of the
//! process that dreams, its time that of the last consolidation. Reading and
//! then writing it lets two through, so ours also hold an operating system lock
//! on a file of their own for as long as they dream. Who has that one knows
//! that no other of ours lives; `.everfold/dream.json` says which process the
//! last one was, and what the time was before it.

use crate::error::Error;
use crate::store::Store;
use everfold_disk::{EntryKind, Lock};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

/// The lock as Claude Code knows it.
pub const LOCK_FILE: &str = ".consolidate-lock";
/// The file that the operating system's lock is on.
const OS_LOCK: &str = "dream.lock";
/// What is known of the night under way.
const NOTE: &str = "dream.json";
/// Where working copies are.
pub(super) const COPIES: &str = "dream";
/// A holder that is not ours counts as gone after this.
const STALE: SignedDuration = SignedDuration::from_mins(60);
/// No process has a longer number; what is longer is no number.
const BODY_BYTES: u64 = 64;
const NOTE_BYTES: u64 = 4 * 1024;

/// What came of taking the lock.
#[derive(Debug)]
pub enum Taken {
    Held(Held),
    /// Somebody else dreams.
    Locked {
        /// The process, where the lock names one.
        pid: Option<u32>,
        since: Option<Timestamp>,
    },
}

/// The lock, held. Dropping it rewinds.
#[derive(Debug)]
pub struct Held {
    store: Arc<Store>,
    _os: Lock,
    prior: Option<Timestamp>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Dreaming,
    Over,
}

/// What a night leaves for whoever finds it dead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Note {
    pid: u32,
    /// The time that the lock is to have when the night is over.
    #[serde(default)]
    prior: Option<Timestamp>,
}

/// What the lock file says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Found {
    pid: Option<u32>,
    at: Option<Timestamp>,
}

/// Takes the lock.
///
/// # Errors
/// If something is in its place that cannot be replaced, or the directory
/// cannot be written.
pub fn take(store: &Arc<Store>, now: Timestamp) -> Result<Taken, Error> {
    store.must_be_plain(Path::new(OS_LOCK))?;
    let Some(os) = Lock::try_acquire(&store.own()?.path().join(OS_LOCK))? else {
        let found = found(store)?;
        return Ok(Taken::Locked { pid: found.pid, since: found.at });
    };
    end_of_the_dead(store)?;
    make_way(store)?;
    let found = found(store)?;
    if let Some(pid) = found.pid
        && is_foreign_and_lives(pid, found.at, now)
    {
        return Ok(Taken::Locked { pid: Some(pid), since: found.at });
    }
    let me = std::process::id();
    write_note(store, Note { pid: me, prior: found.at })?;
    let held = Held { store: Arc::clone(store), _os: os, prior: found.at, state: State::Dreaming };
    write(store, &me.to_string(), now)?;
    Ok(Taken::Held(held))
}

/// Ends what a killed dream left: the time of the last consolidation is what
/// it was before it, and its working copy goes. Costs one look where there is
/// nothing to end.
pub(crate) fn recover(store: &Store) -> Result<(), Error> {
    if store.own()?.stat(Path::new(NOTE))?.is_none() {
        return Ok(());
    }
    store.must_be_plain(Path::new(OS_LOCK))?;
    // Whoever holds it is alive, and will end it.
    match Lock::try_acquire(&store.own()?.path().join(OS_LOCK))? {
        Some(_os) => end_of_the_dead(store),
        None => Ok(()),
    }
}

/// When memories were consolidated last; none where somebody is at it.
///
/// # Errors
/// If that cannot be read.
pub fn last(store: &Store) -> Result<Option<Timestamp>, Error> {
    let found = found(store)?;
    Ok(found.at.filter(|_| found.pid.is_none()))
}

/// Takes over that somebody else who shares these memories consolidated them.
/// Where one of ours dreams, it is taken over later.
///
/// # Errors
/// If that cannot be written down.
pub fn adopt(store: &Store, at: Timestamp) -> Result<(), Error> {
    store.must_be_plain(Path::new(OS_LOCK))?;
    let Some(_os) = Lock::try_acquire(&store.own()?.path().join(OS_LOCK))? else { return Ok(()) };
    end_of_the_dead(store)?;
    make_way(store)?;
    if found(store)?.pid.is_none() { write(store, "", at) } else { Ok(()) }
}

impl Held {
    /// When memories were consolidated before this night.
    #[must_use]
    pub fn prior(&self) -> Option<Timestamp> {
        self.prior
    }

    /// Memories are consolidated as of this time.
    ///
    /// # Errors
    /// If it cannot be written down. Then the night counts as failed.
    pub fn done(mut self, at: Timestamp) -> Result<(), Error> {
        // From here on whoever finds us dead takes this time over.
        write_note(&self.store, Note { pid: std::process::id(), prior: Some(at) })?;
        self.prior = Some(at);
        self.over()
    }

    /// Nothing came of it.
    ///
    /// # Errors
    /// If the time cannot be put back.
    pub fn undone(mut self) -> Result<(), Error> {
        self.over()
    }

    fn over(&mut self) -> Result<(), Error> {
        self.state = State::Over;
        put_back(&self.store, std::process::id(), self.prior)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.state == State::Dreaming {
            // What stays behind is ended by the next one that opens the store.
            let _ = self.over();
        }
    }
}

/// Whether a process that the lock names is not one of ours, and still dreams.
/// Called with the operating system's lock held: ours are dead, or were named
/// in the note and are ended. A time in the future counts as expired.
fn is_foreign_and_lives(pid: u32, at: Option<Timestamp>, now: Timestamp) -> bool {
    let Some(at) = at else { return false };
    let age = now.duration_since(at);
    pid != std::process::id() && age >= SignedDuration::ZERO && age <= STALE && is_alive(pid)
}

#[cfg(unix)]
fn is_alive(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| {
        // One that is not ours to signal is there all the same.
        !matches!(rustix::process::test_kill_process(pid), Err(rustix::io::Errno::SRCH))
    })
}

/// Where that cannot be told, only time tells.
#[cfg(not(unix))]
fn is_alive(_: u32) -> bool {
    true
}

/// Ends the night that the note tells of.
fn end_of_the_dead(store: &Store) -> Result<(), Error> {
    let own = store.own()?;
    own.remove_tree(Path::new(COPIES))?;
    let bytes = match own.read(Path::new(NOTE), NOTE_BYTES) {
        Ok(bytes) => bytes,
        Err(everfold_disk::Error::NotFound { .. }) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    match serde_json::from_slice::<Note>(&bytes) {
        Ok(note) => put_back(store, note.pid, note.prior),
        Err(_) => Ok(own.remove(Path::new(NOTE))?),
    }
}

/// Empties the body and sets the time, if the lock is still that process's:
/// somebody else may have taken it since.
fn put_back(store: &Store, pid: u32, at: Option<Timestamp>) -> Result<(), Error> {
    if found(store)?.pid == Some(pid) {
        match at {
            Some(at) => write(store, "", at)?,
            None => store.root().remove(Path::new(LOCK_FILE))?,
        }
    }
    let own = store.own()?;
    match own.remove(Path::new(NOTE)) {
        Ok(()) | Err(everfold_disk::Error::NotFound { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// What the lock file says. An unreadable body names nobody.
fn found(store: &Store) -> Result<Found, Error> {
    let path = Path::new(LOCK_FILE);
    let Some(there) = store.root().stat(path)? else { return Ok(Found::default()) };
    if there.kind != EntryKind::File {
        return Ok(Found::default());
    }
    let body = store.root().read(path, BODY_BYTES).unwrap_or_default();
    let pid = std::str::from_utf8(&body).ok().and_then(|text| text.trim().parse().ok());
    let at = there.modified.and_then(|time| Timestamp::try_from(time).ok());
    Ok(Found { pid: pid.filter(|pid| *pid > 0), at })
}

/// Takes away what stands where the lock has to be.
fn make_way(store: &Store) -> Result<(), Error> {
    let path = Path::new(LOCK_FILE);
    let in_the_way = || Error::LockPlace { path: store.root().path().join(path) };
    match store.root().stat(path)?.map(|there| there.kind) {
        None | Some(EntryKind::File) => Ok(()),
        Some(EntryKind::Link) => Ok(store.root().remove(path)?),
        Some(EntryKind::Directory) => store.root().remove_dir(path).map_err(|_| in_the_way()),
        Some(EntryKind::Special) => Err(in_the_way()),
    }
}

fn write(store: &Store, body: &str, at: Timestamp) -> Result<(), Error> {
    let path = Path::new(LOCK_FILE);
    Ok(store.root().write_dated(path, body.as_bytes(), SystemTime::from(at))?)
}

fn write_note(store: &Store, note: Note) -> Result<(), Error> {
    let bytes = serde_json::to_vec(&note).map_err(|source| Error::Encode { source })?;
    Ok(store.own()?.write(Path::new(NOTE), &bytes)?)
}
