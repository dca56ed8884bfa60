//! Which files are left out of what searches find.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// Says which files may not be read (S10, S11).
pub trait ReadGuard: Send + Sync {
    /// Whether a file may not be read. The path has no links in it.
    fn bars(&self, path: &Path) -> bool;
}

/// A guard that can be handed on; the default bars nothing.
#[derive(Clone, Default)]
pub struct PathGuard(Option<Arc<dyn ReadGuard>>);

impl PathGuard {
    #[must_use]
    pub fn new(guard: Arc<dyn ReadGuard>) -> Self {
        Self(Some(guard))
    }

    /// Whether a file may not be read. The path has no links in it.
    #[must_use]
    pub fn bars(&self, path: &Path) -> bool {
        self.0.as_ref().is_some_and(|guard| guard.bars(path))
    }

    /// Whether nothing is barred at all.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.0.is_none()
    }
}

impl fmt::Debug for PathGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_open() { "PathGuard(open)" } else { "PathGuard(..)" })
    }
}

/// Guards are the same where they are one.
impl PartialEq for PathGuard {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(own), Some(other)) => Arc::ptr_eq(own, other),
            _ => false,
        }
    }
}

impl Eq for PathGuard {}
