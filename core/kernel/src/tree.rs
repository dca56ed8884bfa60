//! A working tree, and what from outside of it may be taken as part of it (S9).

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// What belongs to a working tree. Asked with real paths: a link counts as
/// what it leads to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeBounds {
    /// The root of the repository, or the working directory where there is
    /// none, links resolved.
    pub root: PathBuf,
    /// Files and folders elsewhere that a person approved, links resolved.
    pub approved: BTreeSet<PathBuf>,
    /// The person's home directory. Where the tree contains it, its hidden
    /// folders (keys, profiles) are still no part of the tree.
    pub user_home: Option<PathBuf>,
}

/// The folder whose instructions are meant for agents, also in a home directory.
const AGENT_DIR: &str = ".claude";

impl TreeBounds {
    /// Whether a real path is in the tree, or approved.
    #[must_use]
    pub fn holds(&self, real: &Path) -> bool {
        self.holds_for(&self.root, real)
    }

    /// The same for a file that was reached from this directory: what lies
    /// above the root belongs to the tree of its own directory.
    #[must_use]
    pub fn holds_for(&self, dir: &Path, real: &Path) -> bool {
        // A repository around a whole home directory makes no tree of all that
        // lies there: what was unpacked in it is a tree of its own.
        let is_home = self.user_home.as_ref().is_some_and(|home| home.starts_with(&self.root));
        let tree = if dir.starts_with(&self.root) && !is_home { &self.root } else { dir };
        (real.starts_with(tree) && !self.is_hidden_from(tree, real)) || self.approves(real)
    }

    /// Whether a person approved this path, or a folder that it is in.
    #[must_use]
    pub fn approves(&self, real: &Path) -> bool {
        self.approved.iter().any(|path| real.starts_with(path))
    }

    fn is_hidden_from(&self, tree: &Path, real: &Path) -> bool {
        let Some(home) = self.user_home.as_deref().filter(|home| home.starts_with(tree)) else {
            return false;
        };
        let first = real.strip_prefix(home).ok().and_then(|below| below.components().next());
        let Some(Component::Normal(name)) = first else { return false };
        name != AGENT_DIR && name.to_string_lossy().starts_with('.')
    }
}

/// A path without `.` and `..`, by its text alone: links are not looked at.
#[must_use]
pub fn without_dots(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(out.pop()),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(root: &str) -> TreeBounds {
        TreeBounds {
            root: root.into(),
            approved: ["/srv/shared".into()].into(),
            user_home: Some("/home/ada".into()),
        }
    }

    #[test]
    fn s9_what_leaves_the_tree_needs_approval() {
        let tree = bounds("/home/ada/work/repo");
        let holds = |path: &str| tree.holds(Path::new(path));
        assert!(holds("/home/ada/work/repo/a/b.md") && holds("/srv/shared/x.md"));
        assert!(!holds("/home/ada/work/repo2/b.md") && !holds("/srv/shared2"));
        assert!(!holds("/home/ada/.ssh/id_rsa") && !holds("/etc/passwd"));
    }

    #[test]
    fn s9_above_the_root_each_directory_is_a_tree_of_its_own() {
        let tree = bounds("/w/outer/sub");
        let holds = |dir: &str, path: &str| tree.holds_for(Path::new(dir), Path::new(path));
        assert!(holds("/w/outer", "/w/outer/notes.md"));
        assert!(!holds("/w/outer", "/home/ada/notes.md"));
        assert!(holds("/w/outer/sub/deep", "/w/outer/sub/x.md"));
        assert!(!holds("/w/outer/sub/deep", "/w/outer/x.md"));
    }

    #[test]
    fn s9_a_home_directory_as_a_tree_does_not_contain_its_hidden_folders() {
        let tree = bounds("/home/ada");
        let holds = |path: &str| tree.holds(Path::new(path));
        assert!(holds("/home/ada/notes.md") && holds("/home/ada/.claude/rules/x.md"));
        assert!(!holds("/home/ada/.ssh/id_rsa") && !holds("/home/ada/.env"));
        assert!(!tree.holds_for(Path::new("/home"), Path::new("/home/ada/.netrc")));
        let below = |path: &str| tree.holds_for(Path::new("/home/ada/x"), Path::new(path));
        assert!(below("/home/ada/x/a.md") && !below("/home/ada/notes.md"));
    }

    #[test]
    fn dots_are_taken_out_of_a_path_by_its_text() {
        assert_eq!(without_dots(Path::new("/a/./b/../c")), Path::new("/a/c"));
        assert_eq!(without_dots(Path::new("/../../a")), Path::new("/a"));
    }
}
