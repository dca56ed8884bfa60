//! Git worktrees for agents (L7.4): the port `Worktrees` on a real system.
//!
//! A worktree stands under the home, not in the repository, on a branch of its
//! own that starts at what is checked out. The person's checkout, its index and
//! its branch are never touched. One in which nothing was changed is removed
//! with its branch; one with changes stays until a person takes them.
//!
//! Git is asked with everything switched off by which a repository could start
//! programs (see `git.rs`).

mod git;

use everfold_kernel::ports::{BoxFuture, Left, Worktree, WorktreeError, Worktrees};
use git::Git;
use std::path::{Path, PathBuf};

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
        let git = Git::around(dir).await?;
        let repo =
            git.ask(dir, &["rev-parse", "--show-toplevel"]).await.map_err(|error| match error {
                WorktreeError::Git { .. } => none(),
                other => other,
            })?;
        let repo = PathBuf::from(repo);
        let head = git.ask(&repo, &["rev-parse", "--verify", "HEAD^{commit}"]).await;
        let base = head.map_err(|_| none())?;
        let (path, branch) = (self.dir.join(name), format!("everfold/{name}"));
        let place = path.display().to_string();
        git.ask(&repo, &["worktree", "add", "--quiet", "-b", &branch, &place, &base]).await?;
        let common = ["rev-parse", "--path-format=absolute", "--git-common-dir"];
        let git_dir = PathBuf::from(git.ask(&path, &common).await?);
        Ok(Worktree { path, branch, base, repo, git_dir })
    }

    async fn close(tree: &Worktree) -> Result<Left, WorktreeError> {
        let git = Git::around(&tree.repo).await?;
        // A submodule has a configuration of its own, which would be obeyed.
        let status =
            ["status", "--porcelain=v1", "--untracked-files=all", "--ignore-submodules=all"];
        let status = git.ask(&tree.path, &status).await?;
        let range = format!("{}..HEAD", tree.base);
        let commits = git.ask(&tree.path, &["rev-list", "--count", &range]).await?;
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
        git.ask(&tree.repo, &["worktree", "remove", "--force", &place]).await?;
        git.ask(&tree.repo, &["branch", "--quiet", "-D", &tree.branch]).await?;
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

    #[cfg(unix)]
    #[tokio::test]
    async fn s14_a_hostile_configuration_runs_nothing() {
        let root = tempfile::tempdir().unwrap();
        let repo = repository(root.path());
        std::fs::write(repo.join(".gitattributes"), "* filter=evil diff=evil merge=evil\n")
            .unwrap();
        run(&repo, &["add", "."]);
        run(&repo, &["commit", "-q", "-m", "attributes"]);
        let ran = root.path().join("ran");
        let touch = format!("touch {}; cat", ran.display());
        for key in [
            "filter.evil.clean",
            "filter.evil.smudge",
            "filter.evil.process",
            "core.fsmonitor",
            "core.pager",
            "core.sshCommand",
            "core.editor",
            "core.alternateRefsCommand",
            "diff.external",
            "diff.evil.command",
            "diff.evil.textconv",
            "merge.evil.driver",
            "gpg.program",
            "credential.helper",
        ] {
            run(&repo, &["config", key, &touch]);
        }
        run(&repo, &["config", "filter.evil.required", "true"]);
        run(&repo, &["config", "core.hooksPath", ".git/hooks"]);
        std::fs::write(repo.join(".git/info/attributes"), "* filter=evil\n").unwrap();
        std::fs::remove_file(&ran).ok();
        let trees = GitWorktrees::new(root.path().join("worktrees"));
        let tree = trees.make(&repo, "agent-4").await.unwrap();
        assert!(!ran.exists(), "made without running anything");
        std::fs::write(tree.path.join("a.txt"), "changed\n").unwrap();
        let left = trees.finish(&tree).await.unwrap();
        assert!(matches!(left, Left::Changes { .. }), "{left:?}");
        std::fs::write(tree.path.join("a.txt"), "mine, not committed\n").unwrap();
        assert_eq!(trees.finish(&tree).await.unwrap(), Left::Nothing);
        assert!(!ran.exists(), "and ended so");
    }
}
