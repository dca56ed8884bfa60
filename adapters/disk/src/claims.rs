//! One writer a session (S13): who writes a session's transcript holds a lock
//! beside it, from before the log is read until the session is left.
//!
//! The lock is the operating system's and ends with its process, however that
//! ends. What the file says (a process, a time) is for whoever finds it held.
//! It is removed by its holder, so whoever takes it looks whether the file that
//! is locked is still the one that others would find.
//!
//! Within a process a session may be opened again: that is its own business.

use crate::error::Error;
use crate::jsonl::Appender;
use crate::lock::Lock;
use everfold_kernel::SessionId;
use everfold_kernel::ports::{SessionClaim, SessionHolder, TranscriptError};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// How often a lock is tried again whose file went meanwhile.
const TRIES: usize = 20;
/// Most that is read of what a lock's file says.
const MOST_BYTES: u64 = 1 << 10;
/// The ending of a lock's file.
pub(crate) const LOCKED: &str = "lock";

/// Whether several processes could write the same logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exclusion {
    /// They could: one writer a session.
    BySession,
    /// Whoever has the session has these too.
    None,
}

/// The logs that this process writes.
#[derive(Debug, Default)]
pub(crate) struct Writers {
    open: BTreeMap<SessionId, Writer>,
    /// What is claimed, and by which lock: a claim that ends looks for its
    /// appender here, so nobody here may be the last to hold one.
    claims: BTreeMap<SessionId, (Weak<Claim>, Weak<Held>)>,
}

/// A log that is open.
#[derive(Debug)]
struct Writer {
    appender: Appender,
    held: Arc<Held>,
}

/// A session as long as it is open.
#[derive(Debug)]
struct Claim {
    session: SessionId,
    writers: Weak<Mutex<Writers>>,
    held: Option<Arc<Held>>,
}

impl Drop for Claim {
    fn drop(&mut self) {
        if let Some(writers) = self.writers.upgrade() {
            lock(&writers).open.remove(&self.session);
        }
        // Only now: the appender held it too.
        self.held.take();
    }
}

/// A held lock; none where the file system has none.
#[derive(Debug)]
struct Held {
    path: PathBuf,
    lock: Option<Lock>,
}

impl Drop for Held {
    fn drop(&mut self) {
        // While it is held: afterwards it may be another's.
        if cfg!(unix) && self.lock.is_some() {
            let _ = std::fs::remove_file(&self.path);
        }
        self.lock.take();
    }
}

pub(crate) fn lock(writers: &Mutex<Writers>) -> MutexGuard<'_, Writers> {
    writers.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes a session for this process.
pub(crate) fn claim(
    writers: &Arc<Mutex<Writers>>,
    session: &SessionId,
    log: &Path,
) -> Result<SessionClaim, TranscriptError> {
    let mut all = lock(writers);
    if let Some(claim) = all.claims.get(session).and_then(|(claim, _)| claim.upgrade()) {
        return Ok(SessionClaim::of(claim));
    }
    let held = match all.open.get(session) {
        Some(writer) => Arc::clone(&writer.held),
        None => take(session, log)?,
    };
    let claim = Arc::new(Claim {
        session: session.clone(),
        writers: Arc::downgrade(writers),
        held: Some(Arc::clone(&held)),
    });
    all.claims.retain(|_, (claim, _)| claim.strong_count() > 0);
    all.claims.insert(session.clone(), (Arc::downgrade(&claim), Arc::downgrade(&held)));
    Ok(SessionClaim::of(claim))
}

impl Writers {
    /// The appender of a session's log. Who has not taken the session before
    /// takes it with the first line.
    pub(crate) fn appender(
        &mut self,
        session: &SessionId,
        log: &Path,
        exclusion: Exclusion,
    ) -> Result<&mut Appender, TranscriptError> {
        if !self.open.contains_key(session) {
            let claimed = self.claims.get(session).and_then(|(_, held)| held.upgrade());
            let held = match (claimed, exclusion) {
                (Some(held), _) => held,
                (None, Exclusion::BySession) => take(session, log)?,
                (None, Exclusion::None) => Arc::new(Held { path: PathBuf::new(), lock: None }),
            };
            let appender = Appender::open(log).map_err(|error| TranscriptError::Write {
                path: log.to_owned(),
                message: error.to_string(),
            })?;
            self.open.insert(session.clone(), Writer { appender, held });
        }
        match self.open.get_mut(session) {
            Some(writer) => Ok(&mut writer.appender),
            None => Err(TranscriptError::Write {
                path: log.to_owned(),
                message: "it is not open".to_owned(),
            }),
        }
    }
}

/// Who else has a session open.
pub(crate) fn holder(log: &Path) -> Option<SessionHolder> {
    let path = log.with_extension(LOCKED);
    if !path.is_file() {
        return None;
    }
    match Lock::try_acquire(&path) {
        Ok(None) => Some(said(&path)).filter(|holder| !is_us(holder)),
        _ => None,
    }
}

/// The locks that this process holds: whoever opens a session a second time
/// within it shares the first one's.
static HELD: Mutex<BTreeMap<PathBuf, Weak<Held>>> = Mutex::new(BTreeMap::new());

fn take(session: &SessionId, log: &Path) -> Result<Arc<Held>, TranscriptError> {
    let path = log.with_extension(LOCKED);
    let mut ours = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(held) = ours.get(&path).and_then(Weak::upgrade) {
        return Ok(held);
    }
    let held = Arc::new(take_anew(session, &path)?);
    ours.retain(|_, held| held.strong_count() > 0);
    ours.insert(path, Arc::downgrade(&held));
    Ok(held)
}

fn take_anew(session: &SessionId, path: &Path) -> Result<Held, TranscriptError> {
    for _ in 0..TRIES {
        let lock = match Lock::try_acquire(path) {
            Ok(Some(lock)) => lock,
            Ok(None) => {
                let holder = said(path);
                if is_us(&holder) {
                    // Another thread of ours is about to let go of it.
                    std::thread::sleep(Duration::from_millis(1));
                    continue;
                }
                return Err(TranscriptError::InUse { session: session.clone(), holder });
            }
            Err(error) => return Ok(without(path.to_owned(), &error)),
        };
        if lock.is_in_place(path) {
            let about = json!({"pid": std::process::id(), "since": Timestamp::now()});
            if let Err(error) = lock.write(about.to_string().as_bytes()) {
                tracing::debug!(%error, path = %path.display(), "a lock does not say whose it is");
            }
            return Ok(Held { path: path.to_owned(), lock: Some(lock) });
        }
    }
    let holder = SessionHolder::default();
    Err(TranscriptError::InUse { session: session.clone(), holder })
}

fn is_us(holder: &SessionHolder) -> bool {
    holder.pid == Some(std::process::id())
}

/// A disk that takes no lock takes lines, perhaps, or says why not: nothing is
/// gained by refusing to read.
fn without(path: PathBuf, error: &Error) -> Held {
    tracing::warn!(%error, path = %path.display(), "others may write this session too");
    Held { path, lock: None }
}

/// What the holder of a lock said of itself.
fn said(path: &Path) -> SessionHolder {
    let mut text = String::new();
    let read =
        std::fs::File::open(path).and_then(|file| file.take(MOST_BYTES).read_to_string(&mut text));
    let value: Value = match read {
        Ok(_) => serde_json::from_str(&text).unwrap_or_default(),
        Err(_) => Value::Null,
    };
    let pid = value.get("pid").and_then(Value::as_u64).and_then(|pid| u32::try_from(pid).ok());
    let since = value.get("since").and_then(Value::as_str).and_then(|at| at.parse().ok());
    SessionHolder { pid, since }
}
