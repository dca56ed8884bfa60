//! What commands are held to when they run (S8, S12).
//!
//! Which files of the working directories are hidden or stay as they are
//! depends on what is there, so it is looked up before each command.

use everfold_kernel::ports::{
    BarredFiles, Confinement, PathGuard, ReadGuard, SandboxProfile, ShellError,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::ToolContext;

/// What acts later and outside of a sandbox: hooks, settings, servers; and
/// what agents are told.
const KEPT: &[&str] = &[
    ".git",
    ".claude",
    ".everfold",
    ".mcp.json",
    "CLAUDE.md",
    "CLAUDE.local.md",
    "AGENTS.md",
    "AGENTS.override.md",
    "GEMINI.md",
];

/// Those of them that a command could make where there are none.
const MADE: &[&str] = &[".git", ".claude", ".mcp.json"];

/// What is hidden, and what stays as it is.
struct Kept(PathGuard);

impl ReadGuard for Kept {
    fn bars(&self, path: &Path) -> bool {
        is_kept(path) || self.0.bars(path)
    }
}

fn is_kept(path: &Path) -> bool {
    path.file_name().is_some_and(|name| KEPT.iter().any(|kept| name.eq_ignore_ascii_case(kept)))
}

impl ToolContext {
    /// What a command is held to that runs now.
    ///
    /// # Errors
    /// If there is too much to look through: what is not known cannot be hidden.
    pub async fn confinement_now(&self) -> Result<Confinement, ShellError> {
        let Confinement::Sandbox(profile) = &self.confinement else { return Ok(Confinement::Free) };
        let guard = self.guard();
        let kept = PathGuard::new(Arc::new(Kept(guard.clone())));
        let mut roots = self.roots.clone();
        roots.extend(profile.writable.iter().cloned());
        roots.sort();
        roots.dedup();
        let most = self.limits.walked_entries;
        let found = match self.world.search.barred(roots, kept, most).await {
            BarredFiles::Found(found) => found,
            BarredFiles::Unknown => {
                let message = format!(
                    "the working directory has over {most} entries, or too many for a slow disk, to \
                     look through for what has to be hidden (limit walked_entries)"
                );
                return Err(ShellError::NoSandbox { message });
            }
        };
        let mut profile = profile.clone();
        let SandboxProfile { writable, read_only, masked } = &mut profile;
        for path in found {
            if guard.bars(&path) {
                masked.push(path);
            } else if !writable.contains(&path) {
                read_only.push(path);
            }
        }
        let made = |root: &PathBuf| MADE.iter().map(|name| root.join(name)).collect::<Vec<_>>();
        // In a `.git` itself, which an agent in a worktree may commit to, they mean nothing.
        let trees = writable.iter().filter(|root| !root.ends_with(".git"));
        let made: Vec<PathBuf> = trees.flat_map(made).collect();
        read_only.extend(made.into_iter().filter(|path| !writable.contains(path)));
        read_only.sort();
        read_only.dedup();
        Ok(Confinement::Sandbox(profile))
    }
}
