//! Empty directories in the place of what a command must not make.
//!
//! A mount needs something to be mounted on. Where a directory such as
//! `.claude` is not there, an empty one is, as long as a command runs that
//! could make it.

use everfold_kernel::ports::SandboxProfile;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many commands need which placeholder.
static USED: Mutex<BTreeMap<PathBuf, usize>> = Mutex::new(BTreeMap::new());

fn used() -> MutexGuard<'static, BTreeMap<PathBuf, usize>> {
    USED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Placeholders that are taken away with the last command that needs them.
#[derive(Debug, Default)]
pub(in crate::unix) struct Placeholders(Vec<PathBuf>);

impl Placeholders {
    /// Puts placeholders where a profile names something that is not there.
    pub(super) fn put(profile: &SandboxProfile) -> Self {
        let mut put = Vec::new();
        let mut used = used();
        for path in &profile.read_only {
            let inside = path.parent().is_some_and(|dir| writable(profile, dir));
            let count = used.get(path).copied().unwrap_or_default();
            if inside && (count > 0 || std::fs::create_dir(path).is_ok()) {
                used.insert(path.clone(), count + 1);
                put.push(path.clone());
            }
        }
        Self(put)
    }
}

fn writable(profile: &SandboxProfile, dir: &Path) -> bool {
    profile.writable.iter().any(|root| dir.starts_with(root))
}

impl Drop for Placeholders {
    fn drop(&mut self) {
        let mut used = used();
        for path in &self.0 {
            let left = used.get(path).copied().unwrap_or(1).saturating_sub(1);
            if left == 0 {
                used.remove(path);
                // What is not empty is somebody's.
                let _ = std::fs::remove_dir(path);
            } else {
                used.insert(path.clone(), left);
            }
        }
    }
}
