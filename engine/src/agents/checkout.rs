//! The checkout of an agent: a worktree of ours, or a place that a hook made.

use super::{Agents, Parent};
use crate::tools::StartError;
use everfold_hooks::Occasion;
use everfold_kernel::ports::{FileKind, Left, Worktree};
use std::path::{Path, PathBuf};

/// Changed files that are named.
const NAMED_FILES: usize = 10;

/// Where an agent works for itself.
pub(super) struct Checkout {
    place: Place,
    /// How permissions were decided where it was made, as hooks are told.
    mode: &'static str,
}

enum Place {
    Ours(Worktree),
    /// What a hook made, and alone can take away.
    Given(PathBuf),
}

impl Checkout {
    pub(super) fn path(&self) -> &Path {
        match &self.place {
            Place::Ours(tree) => &tree.path,
            Place::Given(path) => path,
        }
    }

    pub(super) fn branch(&self) -> Option<&str> {
        match &self.place {
            Place::Ours(tree) => Some(&tree.branch),
            Place::Given(_) => None,
        }
    }

    /// Where its commits are kept, if that is ours to know.
    pub(super) fn git_dir(&self) -> Option<&Path> {
        match &self.place {
            Place::Ours(tree) => Some(&tree.git_dir),
            Place::Given(_) => None,
        }
    }

    /// Where it is, for people and models.
    pub(super) fn place(&self) -> String {
        let path = self.path().display();
        match self.branch() {
            Some(branch) => format!("{path} on branch {branch}"),
            None => path.to_string(),
        }
    }
}

impl Agents {
    /// Makes a checkout, unless a hook does or refuses to.
    pub(super) async fn check_out(
        &self,
        parent: &Parent,
        name: &str,
    ) -> Result<Checkout, StartError> {
        let mode = parent.permit.mode().as_str();
        let verdict = self.fire_beside(mode, &Occasion::WorktreeCreate { name }).await;
        if let Some(why) = verdict.blocked.or(verdict.stop) {
            return Err(StartError::Hook(why));
        }
        let seat = self.seat();
        if let Some(path) = verdict.wanted.place {
            let found = seat.world.files.stat(&path).await;
            if !found.is_ok_and(|found| found.kind == FileKind::Directory) {
                return Err(StartError::NoDirectory(path));
            }
            return Ok(Checkout { place: Place::Given(path), mode });
        }
        let trees = seat.world.worktrees.as_ref().ok_or(StartError::NoWorktrees)?;
        let dir = seat.config.workplace.roots.first().cloned().unwrap_or_default();
        let tree = trees.make(&dir, name).await?;
        Ok(Checkout { place: Place::Ours(tree), mode })
    }

    /// Says where changes are; a worktree without any is gone.
    pub(super) async fn check_in(&self, checkout: &Checkout) -> String {
        let place = checkout.place();
        let removed = Occasion::WorktreeRemove { path: checkout.path() };
        let tree = match &checkout.place {
            Place::Given(_) => {
                self.fire_beside(checkout.mode, &removed).await;
                return format!("It worked in {place}.");
            }
            Place::Ours(tree) => tree,
        };
        let Some(trees) = self.seat().world.worktrees.clone() else { return String::new() };
        match trees.finish(tree).await {
            Ok(Left::Nothing) => {
                self.fire_beside(checkout.mode, &removed).await;
                "It changed no files; its worktree is gone.".to_owned()
            }
            Ok(Left::Changes { files, commits }) => {
                let named: Vec<&str> = files.iter().take(NAMED_FILES).map(String::as_str).collect();
                let list = if named.is_empty() {
                    String::new()
                } else {
                    format!(": {}", named.join(", "))
                };
                format!(
                    "Its changes are in {place} ({commits} commits, {} files not committed{list}).",
                    files.len()
                )
            }
            Err(error) => format!("Its worktree is {place}, and was left as it is: {error}."),
        }
    }
}
