//! Checkouts of their own for agents (L7.4).

use super::BoxFuture;
use crate::error::{Class, Classify};
use std::path::{Path, PathBuf};

/// Makes checkouts beside the person's, which is never touched.
pub trait Worktrees: Send + Sync {
    /// Makes a checkout of what the repository around `dir` has committed,
    /// under a name that nothing else has.
    fn make<'a>(
        &'a self,
        dir: &'a Path,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Worktree, WorktreeError>>;

    /// Removes the checkout if nothing was changed or committed in it, and
    /// says what is left.
    fn finish<'a>(&'a self, tree: &'a Worktree) -> BoxFuture<'a, Result<Left, WorktreeError>>;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worktree {
    pub path: PathBuf,
    pub branch: String,
    /// The commit that it started from.
    pub base: String,
    /// The repository that it belongs to.
    pub repo: PathBuf,
    /// Where that keeps its commits, which is outside of the checkout.
    pub git_dir: PathBuf,
}

/// What an agent left in its checkout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Left {
    /// Nothing: the checkout and its branch are gone.
    Nothing,
    Changes {
        /// Files that differ from the last commit.
        files: Vec<String>,
        /// Commits since the base.
        commits: usize,
    },
}

/// Why there is no checkout.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WorktreeError {
    /// There is no repository, or it has no commit.
    #[error("{dir} is not in a git repository with a commit; use the agent without isolation")]
    NoRepository { dir: PathBuf },
    #[error("git could not be started: {message}; install it, or use the agent without isolation")]
    NoGit { message: String },
    #[error("git {command} failed in {dir}: {message}")]
    Git {
        /// What was asked of it.
        command: String,
        dir: PathBuf,
        message: String,
    },
}

impl Classify for WorktreeError {
    fn class(&self) -> Class {
        Class::Refuse
    }
}
