//! What git says of a directory, read from its files: no program is started
//! in a repository that nobody has looked at yet (S2).

use everfold_disk::read_regular_text;
use std::path::{Path, PathBuf};

/// A repository around a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repo {
    /// The root of the work tree.
    pub root: PathBuf,
    /// The branch; none where HEAD is detached or unreadable.
    pub branch: Option<String>,
}

/// Largest file of git that is read.
const GIT_FILE_BYTES: u64 = 64 * 1024;

impl Repo {
    /// The repository that a directory is in.
    #[must_use]
    pub fn around(directory: &Path) -> Option<Self> {
        let root = directory.ancestors().find(|dir| dir.join(".git").exists())?;
        let git_dir = git_dir(root)?;
        let head = read_regular_text(&git_dir.join("HEAD"), GIT_FILE_BYTES).unwrap_or_default();
        let branch = head.trim().strip_prefix("ref: refs/heads/").map(str::to_owned);
        Some(Self { root: root.to_owned(), branch })
    }
}

/// The directory of a work tree's own git files; a linked work tree names it in a file.
fn git_dir(root: &Path) -> Option<PathBuf> {
    let dot_git = root.join(".git");
    if dot_git.is_dir() {
        return Some(dot_git);
    }
    let text = read_regular_text(&dot_git, GIT_FILE_BYTES).ok()?;
    let path = text.trim().strip_prefix("gitdir:")?.trim();
    Some(root.join(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn git(dir: &Path, args: &[&str]) {
        let status = Command::new("git").arg("-C").arg(dir).args(args).output().unwrap();
        assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stderr));
    }

    #[test]
    fn s2_a_repository_is_recognised_without_starting_git() {
        let dir = tempfile::tempdir().unwrap();
        git(dir.path(), &["init", "-q", "-b", "trunk"]);
        std::fs::create_dir_all(dir.path().join("a/b")).unwrap();
        let repo = Repo::around(&dir.path().join("a/b")).unwrap();
        assert_eq!(repo.root, dir.path());
        assert_eq!(repo.branch.as_deref(), Some("trunk"));
    }

    #[test]
    fn outside_git_there_is_none() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Repo::around(dir.path()), None);
    }
}
