//! What persons said of repositories: one file under the home, `trust.json`.

use super::Records;
use crate::error::Error;
use crate::layout::Home;
use crate::source::read_capped;
use everfold_disk::{Lock, atomic};
use everfold_kernel::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long to wait while another process writes.
const LOCK_WAIT: Duration = Duration::from_secs(10);
const LOCK_PAUSE: Duration = Duration::from_millis(5);

/// What a person said of one repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustRecord {
    /// When.
    pub at: Timestamp,
    /// What.
    pub verdict: TrustDecision,
    /// The hashes of what it brought then, by name.
    pub things: BTreeMap<String, String>,
    /// The files from outside that it imported then.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub imports: BTreeSet<PathBuf>,
}

/// Yes or no.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrustDecision {
    /// It may act.
    Trusted,
    /// It may not, and the person does not want to be asked again.
    Declined,
}

#[derive(Default, Serialize, Deserialize)]
struct File {
    #[serde(default)]
    repositories: Records,
}

/// Everything that was said, by the roots of repositories.
///
/// # Errors
/// If it is there and cannot be read.
pub fn all(home: &Home) -> Result<Vec<(PathBuf, TrustRecord)>, Error> {
    Ok(read(home)?.into_iter().collect())
}

/// Forgets what was said of a repository; says whether there was anything.
///
/// # Errors
/// If it cannot be read or written.
pub fn revoke(home: &Home, root: &Path) -> Result<bool, Error> {
    if !read(home)?.contains_key(root) {
        return Ok(false);
    }
    change(home, |all| {
        all.remove(root);
    })?;
    Ok(true)
}

pub(super) fn read(home: &Home) -> Result<Records, Error> {
    let path = file(home);
    let Some(bytes) = read_capped(&path)? else { return Ok(Records::new()) };
    let file: File = serde_json::from_slice(&bytes).map_err(|error| Error::Syntax {
        place: path.display().to_string(),
        line: error.line(),
        column: error.column(),
        reason: error.to_string(),
    })?;
    Ok(file.repositories)
}

pub(super) fn change(home: &Home, change: impl FnOnce(&mut Records)) -> Result<(), Error> {
    home.ensure()?;
    let path = file(home);
    let failed = |source| Error::Trust { path: path.clone(), source: Box::new(source) };
    let _lock = lock(&home.root().join("trust.lock")).map_err(failed)?;
    let mut repositories = read(home)?;
    change(&mut repositories);
    let mut text = serde_json::to_vec_pretty(&File { repositories }).unwrap_or_default();
    text.push(b'\n');
    atomic::write(&path, &text, atomic::FileReaders::Private).map_err(failed)
}

fn file(home: &Home) -> PathBuf {
    home.root().join("trust.json")
}

/// The lock; who holds it for too long is written past, for the file itself is
/// replaced whole.
fn lock(path: &Path) -> Result<Option<Lock>, everfold_disk::Error> {
    let started = Instant::now();
    loop {
        let lock = Lock::try_acquire(path)?;
        if lock.is_some() || started.elapsed() > LOCK_WAIT {
            return Ok(lock);
        }
        std::thread::sleep(LOCK_PAUSE);
    }
}
