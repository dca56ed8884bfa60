//! What git says of a directory, read from its files: no program is started
//! in a repository that nobody has looked at yet (S2).

use everfold_settings::Tracked;
use std::path::{Path, PathBuf};

/// A repository around a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repo {
    /// The root of the work tree.
    pub root: PathBuf,
    /// The branch; none where HEAD is detached or unreadable.
    pub branch: Option<String>,
    git_dir: PathBuf,
}

impl Repo {
    /// The repository that a directory is in.
    #[must_use]
    pub fn around(directory: &Path) -> Option<Self> {
        let root = directory.ancestors().find(|dir| dir.join(".git").exists())?;
        let git_dir = git_dir(root)?;
        let head = std::fs::read_to_string(git_dir.join("HEAD")).unwrap_or_default();
        let branch = head.trim().strip_prefix("ref: refs/heads/").map(str::to_owned);
        Some(Self { root: root.to_owned(), branch, git_dir })
    }

    /// Whether git tracks a file of the work tree. Where its index cannot be
    /// read in full, the answer is the cautious one.
    #[must_use]
    pub fn tracks(&self, path: &str) -> Tracked {
        const HEADER: &[u8] = b"DIRC";
        const COMPRESSED_PATHS: u8 = 4;
        let Ok(index) = std::fs::read(self.git_dir.join("index")) else { return Tracked::No };
        let version = index.get(7).copied().unwrap_or_default();
        if !index.starts_with(HEADER) || version >= COMPRESSED_PATHS {
            return Tracked::Yes;
        }
        let needle: Vec<u8> = path.bytes().chain([0]).collect();
        if index.windows(needle.len()).any(|window| window == needle) {
            Tracked::Yes
        } else {
            Tracked::No
        }
    }
}

/// The directory of a work tree's own git files; a linked work tree names it in a file.
fn git_dir(root: &Path) -> Option<PathBuf> {
    let dot_git = root.join(".git");
    if dot_git.is_dir() {
        return Some(dot_git);
    }
    let text = std::fs::read_to_string(&dot_git).ok()?;
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
    fn s2_tracked_local_settings_are_recognised_without_starting_git() {
        let dir = tempfile::tempdir().unwrap();
        git(dir.path(), &["init", "-q", "-b", "trunk"]);
        std::fs::create_dir_all(dir.path().join(".claude")).unwrap();
        for name in ["settings.json", "settings.local.json"] {
            std::fs::write(dir.path().join(".claude").join(name), "{}").unwrap();
        }
        git(dir.path(), &["add", ".claude/settings.json"]);
        let repo = Repo::around(&dir.path().join(".claude")).unwrap();
        assert_eq!(repo.root, dir.path());
        assert_eq!(repo.branch.as_deref(), Some("trunk"));
        assert_eq!(repo.tracks(".claude/settings.json"), Tracked::Yes);
        assert_eq!(repo.tracks(".claude/settings.local.json"), Tracked::No);
        git(dir.path(), &["add", "-f", ".claude/settings.local.json"]);
        assert_eq!(repo.tracks(".claude/settings.local.json"), Tracked::Yes);
        git(dir.path(), &["update-index", "--index-version", "4"]);
        assert_eq!(repo.tracks("anything"), Tracked::Yes, "cautious where it cannot tell");
    }

    #[test]
    fn outside_git_there_is_none() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Repo::around(dir.path()), None);
    }
}
