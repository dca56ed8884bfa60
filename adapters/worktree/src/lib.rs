//! Git worktrees for agents (L7.4): the port `Worktrees` on a real system.
//!
//! A worktree stands under the home, not in the repository, on a branch of its
//! own that starts at what is checked out. The person's checkout, its index and
//! its branch are never touched. One in which nothing was changed is removed
//! with its branch; one with changes stays until a person takes them.
//!
//! Git is asked with the repository's hooks and monitors switched off: a
//! repository must not start programs by being looked at (S2).

use everfold_kernel::ports::{BoxFuture, Left, Worktree, WorktreeError, Worktrees};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use tokio::process::Command;

/// What is set for every call.
const QUIET: &[&str] = &["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"];
/// Most changed files that are named.
const MOST_FILES: usize = 50;

/// Worktrees under one directory.
#[derive(Clone, Debug)]
pub struct GitWorktrees {
    dir: PathBuf,
}

impl GitWorktrees {
    /// Worktrees go under this directory, which is made as needed.
    #[must_use]
    pub fn new(dir: PathBuf) -> Self {
        Self { dir }
    }

    async fn create(&self, dir: &Path, name: &str) -> Result<Worktree, WorktreeError> {
        let none = || WorktreeError::NoRepository { dir: dir.to_path_buf() };
        let repo =
            git(dir, &["rev-parse", "--show-toplevel"]).await.map_err(|error| match error {
                WorktreeError::Git { .. } => none(),
                other => other,
            })?;
        let repo = PathBuf::from(repo);
        let base =
            git(&repo, &["rev-parse", "--verify", "HEAD^{commit}"]).await.map_err(|_| none())?;
        let (path, branch) = (self.dir.join(name), format!("everfold/{name}"));
        let place = path.display().to_string();
        git(&repo, &["worktree", "add", "--quiet", "-b", &branch, &place, &base]).await?;
        Ok(Worktree { path, branch, base, repo })
    }

    async fn close(tree: &Worktree) -> Result<Left, WorktreeError> {
        let status =
            git(&tree.path, &["status", "--porcelain=v1", "--untracked-files=all"]).await?;
        let range = format!("{}..HEAD", tree.base);
        let commits = git(&tree.path, &["rev-list", "--count", &range]).await?;
        let commits = commits.parse().unwrap_or_default();
        let files: Vec<String> = status
            .lines()
            .take(MOST_FILES)
            .filter_map(|line| line.get(3..).map(str::to_owned))
            .collect();
        if !files.is_empty() || commits > 0 {
            return Ok(Left::Changes { files, commits });
        }
        let place = tree.path.display().to_string();
        // Files that git ignores go with it; they were made by the agent's own builds.
        git(&tree.repo, &["worktree", "remove", "--force", &place]).await?;
        git(&tree.repo, &["branch", "--quiet", "-D", &tree.branch]).await?;
        Ok(Left::Nothing)
    }
}

impl Worktrees for GitWorktrees {
    fn make<'a>(
        &'a self,
        dir: &'a Path,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Worktree, WorktreeError>> {
        Box::pin(self.create(dir, name))
    }

    fn finish<'a>(&'a self, tree: &'a Worktree) -> BoxFuture<'a, Result<Left, WorktreeError>> {
        Box::pin(Self::close(tree))
    }
}

/// Asks git, and gives what it printed.
async fn git(dir: &Path, args: &[&str]) -> Result<String, WorktreeError> {
    let output: Output = Command::new("git")
        .args(QUIET)
        .arg("-C")
        .arg(dir)
        .args(args)
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .env_remove("GIT_INDEX_FILE")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .map_err(|error| WorktreeError::NoGit { message: error.to_string() })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned());
    }
    Err(WorktreeError::Git {
        command: args.first().copied().unwrap_or_default().to_owned(),
        dir: dir.to_path_buf(),
        message: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(dir: &Path, args: &[&str]) -> String {
        let output = std::process::Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@example.org", "-C"])
            .arg(dir)
            .args(args)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// A repository with one commit, a change that is not committed, and a
    /// hook that would leave a trace.
    fn repository(root: &Path) -> PathBuf {
        let repo = root.join("repo");
        std::fs::create_dir(&repo).unwrap();
        run(&repo, &["init", "-q", "-b", "trunk"]);
        std::fs::write(repo.join("a.txt"), "one\n").unwrap();
        run(&repo, &["add", "."]);
        run(&repo, &["commit", "-q", "-m", "first"]);
        std::fs::write(repo.join("a.txt"), "mine, not committed\n").unwrap();
        let hook = repo.join(".git/hooks/post-checkout");
        std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
        std::fs::write(&hook, format!("#!/bin/sh\ntouch {}\n", root.join("ran").display()))
            .unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        repo
    }

    fn seen(repo: &Path) -> (String, String, String) {
        let head = run(repo, &["symbolic-ref", "HEAD"]);
        let status = run(repo, &["status", "--porcelain"]);
        (head, status, std::fs::read_to_string(repo.join("a.txt")).unwrap())
    }

    #[tokio::test]
    async fn l7_4_a_worktree_without_changes_leaves_nothing_behind() {
        let root = tempfile::tempdir().unwrap();
        let repo = repository(root.path());
        let before = seen(&repo);
        let trees = GitWorktrees::new(root.path().join("worktrees"));
        let tree = trees.make(&repo, "agent-1").await.unwrap();
        assert_eq!(std::fs::read_to_string(tree.path.join("a.txt")).unwrap(), "one\n");
        assert_eq!(trees.finish(&tree).await.unwrap(), Left::Nothing);
        assert!(!tree.path.exists());
        assert!(!run(&repo, &["branch", "--list"]).contains("everfold"));
        assert_eq!(seen(&repo), before, "the person's checkout is as it was");
        assert!(!root.path().join("ran").exists(), "no hook was run");
    }

    #[tokio::test]
    async fn l7_4_changes_and_commits_stay_and_are_told() {
        let root = tempfile::tempdir().unwrap();
        let repo = repository(root.path());
        let before = seen(&repo);
        let trees = GitWorktrees::new(root.path().join("worktrees"));
        let tree = trees.make(&repo, "agent-2").await.unwrap();
        std::fs::write(tree.path.join("new file.txt"), "x").unwrap();
        let left = trees.finish(&tree).await.unwrap();
        let Left::Changes { files, commits: 0 } = left else { panic!("{left:?}") };
        assert!(files[0].contains("new file.txt"), "{files:?}");
        run(&tree.path, &["add", "."]);
        run(&tree.path, &["commit", "-q", "-m", "second"]);
        let left = trees.finish(&tree).await.unwrap();
        assert_eq!(left, Left::Changes { files: Vec::new(), commits: 1 });
        assert!(tree.path.exists());
        assert_eq!(seen(&repo), before, "the person's checkout is as it was");
    }

    #[tokio::test]
    async fn l7_4_outside_of_a_repository_it_says_so() {
        let root = tempfile::tempdir().unwrap();
        let trees = GitWorktrees::new(root.path().join("worktrees"));
        let error = trees.make(root.path(), "agent-3").await.unwrap_err();
        assert!(matches!(error, WorktreeError::NoRepository { .. }), "{error}");
    }
}
