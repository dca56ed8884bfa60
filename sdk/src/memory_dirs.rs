//! Memories from outside of a conversation: where they are (L5.1, L5.25),
//! opening them, and which of them a text calls for (R9).
//!
//! [`crate::Builder::memory_dirs`] makes a [`MemoryDirs`]. Looking at memories
//! that are not there makes no directory; only [`MemoryDirs::open`] does.
//! Everything here blocks.

mod called;
mod shelf;

pub use called::{Called, Recall, recall, recall_in};
pub use shelf::{Shelved, shelf};

use crate::error::Error;
use crate::memory_place::{Named, SETTING};
use crate::repo::Repo;
use jiff::Timestamp;
use mnemon_kernel::limits::RecallLimits;
use mnemon_memdir::location::{self, Location, Source};
use mnemon_memdir::{Options, Scope, Store};
use mnemon_settings::{Home, Resolved};
use std::path::{Path, PathBuf};

/// What the places follow from.
pub(crate) struct Ground<'a> {
    pub(crate) user_home: Option<&'a Path>,
    pub(crate) home: &'a Home,
    pub(crate) resolved: &'a Resolved,
    pub(crate) repo: Option<&'a Repo>,
    pub(crate) cwd: &'a Path,
}

/// The memory directories that belong to a working directory: the project's,
/// and the person's own.
#[derive(Clone, Debug)]
pub struct MemoryDirs {
    project: Location,
    global: PathBuf,
    root: PathBuf,
    named_after: PathBuf,
    branch: Option<String>,
    limits: RecallLimits,
    refused: Option<String>,
}

impl MemoryDirs {
    pub(crate) fn locate(ground: &Ground<'_>) -> Result<Self, Error> {
        let resolved = ground.resolved;
        let home = ground.home.root();
        let project = Named::by(resolved).resolve(home, ground.user_home, ground.cwd)?;
        // Settings of a repository lose the key before anybody sees it; who
        // looks for the directory should hear of it all the same.
        let refused = resolved.refused.iter().find(|refused| refused.pointer == SETTING);
        Ok(Self {
            global: location::global_dir(home),
            root: ground.repo.map_or(ground.cwd, |repo| &repo.root).to_owned(),
            named_after: location::git_root(ground.cwd).unwrap_or_else(|| ground.cwd.to_owned()),
            branch: ground.repo.and_then(|repo| repo.branch.clone()),
            limits: resolved.settings.mnemon.limits.recall.clone(),
            refused: refused.map(|refused| format!("{} ({})", refused.reason, refused.origin)),
            project,
        })
    }

    /// Where memories of a scope are. A team's are inside the project's.
    #[must_use]
    pub fn dir(&self, scope: Scope) -> PathBuf {
        match scope {
            Scope::Project => self.project.dir.clone(),
            Scope::Global => self.global.clone(),
            Scope::Team => location::team_dir(&self.project.dir),
        }
    }

    /// Who says that the project's are there.
    #[must_use]
    pub fn source(&self) -> Source {
        self.project.source
    }

    /// A place that was not taken over because a repository named it (S2).
    #[must_use]
    pub fn refused(&self) -> Option<&str> {
        self.refused.as_deref()
    }

    /// The root of the work tree, else the working directory: what paths in
    /// memories are seen from.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What the project's memories are named after: the root of the repository,
    /// shared by its work trees, else the working directory.
    #[must_use]
    pub fn project(&self) -> &Path {
        &self.named_after
    }

    /// The branch that is checked out.
    #[must_use]
    pub fn branch(&self) -> Option<&str> {
        self.branch.as_deref()
    }

    /// How much of memories is shown to a model.
    #[must_use]
    pub fn limits(&self) -> &RecallLimits {
        &self.limits
    }

    /// Opens the memories of a scope, making their directory as needed.
    ///
    /// # Errors
    /// If it cannot be made or read.
    pub fn open(&self, scope: Scope) -> Result<Store, Error> {
        let options = Options { scope, ..Options::default() };
        Ok(Store::open_with(&self.dir(scope), options, Timestamp::now())?)
    }

    /// Opens the memories of a scope, if there are any yet.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn existing(&self, scope: Scope) -> Result<Option<Store>, Error> {
        if self.dir(scope).is_dir() { self.open(scope).map(Some) } else { Ok(None) }
    }
}
