//! What persons said of repositories: one file under the home, `trust.json`.

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
    pub at: Timestamp,
    pub verdict: TrustDecision,
    /// The hashes of what it brought then, by name.
    pub things: BTreeMap<String, String>,
    /// The real paths of what it took from outside then.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub imports: BTreeSet<PathBuf>,
}

impl TrustRecord {
    /// Whether a thing is as it was then.
    pub(super) fn covers(&self, thing: &super::Thing) -> bool {
        thing.hash.is_some() && self.things.get(&thing.name) == thing.hash.as_ref()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrustDecision {
    Trusted,
    /// It may not, and the person does not want to be asked again.
    Declined,
}

/// All that the file holds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Records {
    /// The format. The first one had no number, and its hashes covered no files
    /// that commands name: such a command has another hash now, and asks again.
    #[serde(default = "first_format")]
    version: u32,
    /// What was said of repositories, by their real roots.
    #[serde(default)]
    pub(super) repositories: BTreeMap<PathBuf, TrustRecord>,
    /// Permission rules that this program wrote into a tree because its person
    /// said "always", by the real root.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) rules: BTreeMap<PathBuf, BTreeSet<String>>,
}

/// The format that is written.
const FORMAT: u32 = 2;

fn first_format() -> u32 {
    1
}

impl Default for Records {
    fn default() -> Self {
        Self { version: FORMAT, repositories: BTreeMap::new(), rules: BTreeMap::new() }
    }
}

/// Everything that was said, by the roots of repositories.
///
/// # Errors
/// If it is there and cannot be read.
pub fn all(home: &Home) -> Result<Vec<(PathBuf, TrustRecord)>, Error> {
    Ok(read(home)?.repositories.into_iter().collect())
}

/// Forgets what was said of a repository, and the rules that were kept for it;
/// says whether there was anything.
///
/// # Errors
/// If it cannot be read or written.
pub fn revoke(home: &Home, root: &Path) -> Result<bool, Error> {
    let known = read(home)?;
    if !known.repositories.contains_key(root) && !known.rules.contains_key(root) {
        return Ok(false);
    }
    change(home, |all| {
        all.repositories.remove(root);
        all.rules.remove(root);
    })?;
    Ok(true)
}

/// Permission rules that were kept for the person, by the roots of trees.
///
/// # Errors
/// If they are there and cannot be read.
pub fn own_rules(home: &Home) -> Result<BTreeMap<PathBuf, BTreeSet<String>>, Error> {
    Ok(read(home)?.rules)
}

/// Notes a permission rule that is written into a tree for its person.
///
/// # Errors
/// If it cannot be written.
pub fn keep_own_rule(home: &Home, root: &Path, rule: &str) -> Result<(), Error> {
    change(home, |all| {
        all.rules.entry(root.to_owned()).or_default().insert(rule.to_owned());
    })
}

/// Forgets a permission rule that was written into a tree for its person.
///
/// # Errors
/// If it cannot be written.
pub fn drop_own_rule(home: &Home, root: &Path, rule: &str) -> Result<(), Error> {
    change(home, |all| {
        if let Some(rules) = all.rules.get_mut(root) {
            rules.remove(rule);
        }
    })
}

pub(super) fn read(home: &Home) -> Result<Records, Error> {
    let path = file(home);
    let Some(bytes) = read_capped(&path)? else { return Ok(Records::default()) };
    let records: Records = serde_json::from_slice(&bytes).map_err(|error| Error::Syntax {
        place: path.display().to_string(),
        line: error.line(),
        column: error.column(),
        reason: error.to_string(),
    })?;
    if records.version > FORMAT {
        return Err(Error::NewerRecord { path, version: records.version });
    }
    Ok(records)
}

pub(super) fn change(home: &Home, change: impl FnOnce(&mut Records)) -> Result<(), Error> {
    home.ensure()?;
    let path = file(home);
    let failed = |source| Error::Trust { path: path.clone(), source: Box::new(source) };
    let _lock = lock(&home.root().join("trust.lock")).map_err(failed)?;
    let mut records = read(home)?;
    change(&mut records);
    records.version = FORMAT;
    let mut text = serde_json::to_vec_pretty(&records).unwrap_or_default();
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
