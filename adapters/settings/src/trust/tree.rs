//! A working tree: where its root is, which `.claude` folders are its own, and
//! what a path in it really is. Nothing here asks git, or believes a name (S9).

use crate::layout::Home;
use everfold_kernel::TreeBounds;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Where a person stands.
#[derive(Clone, Copy, Debug)]
pub struct TreeInputs<'a> {
    pub home: &'a Home,
    /// The person's home directory.
    pub user_home: Option<&'a Path>,
    /// The root of the repository, else the working directory; links resolved.
    pub root: &'a Path,
    /// The working directory, links resolved.
    pub cwd: &'a Path,
}

/// The folder in which a tree, or a person, keeps what is for agents.
const AGENT_DIR: &str = ".claude";

/// Whose a `.claude` folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AgentDirOwner {
    Tree,
    Home,
    /// It is another home of the person, or a link to one: nothing is taken
    /// from it on behalf of a tree.
    Person,
}

/// A tree that is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tree {
    pub(crate) root: PathBuf,
    pub(crate) cwd: PathBuf,
    /// Our home as it is named, and where it really is.
    pub(crate) own_home: Home,
    home: PathBuf,
    user_home: Option<PathBuf>,
}

impl Tree {
    pub(crate) fn new(inputs: &TreeInputs<'_>) -> Self {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        Self {
            root: inputs.root.to_owned(),
            cwd: inputs.cwd.to_owned(),
            own_home: inputs.home.clone(),
            home: real(inputs.home.root()),
            user_home: inputs.user_home.map(real),
        }
    }

    /// The `.claude` folders from the working directory up to the root that
    /// are the tree's.
    pub(crate) fn agent_dirs(&self) -> Vec<PathBuf> {
        let dirs = self.cwd.ancestors().take_while(|dir| dir.starts_with(&self.root));
        let dirs = dirs.map(|dir| dir.join(AGENT_DIR));
        dirs.filter(|dir| dir.is_dir() && self.owner(dir) == AgentDirOwner::Tree).collect()
    }

    /// The one of the root, there or not.
    pub(crate) fn agent_dir(&self) -> PathBuf {
        self.root.join(AGENT_DIR)
    }

    /// Whose a `.claude` folder is, by its real path.
    pub(crate) fn owner(&self, dir: &Path) -> AgentDirOwner {
        let Ok(real) = dir.canonicalize() else { return AgentDirOwner::Tree };
        let persons = self.user_home.as_ref().map(|home| home.join(AGENT_DIR));
        if real == self.home {
            let is_link = real != dir;
            if is_link { AgentDirOwner::Person } else { AgentDirOwner::Home }
        } else if persons.is_some_and(|persons| persons == real) {
            AgentDirOwner::Person
        } else {
            AgentDirOwner::Tree
        }
    }

    /// Where a path of the tree leads, if that is out of it.
    pub(crate) fn outside(&self, path: &Path) -> Option<PathBuf> {
        let real = path.canonicalize().ok()?;
        (!self.bounds(BTreeSet::new()).holds(&real)).then_some(real)
    }

    /// What belongs to the tree, with what a person approved besides.
    pub(crate) fn bounds(&self, approved: BTreeSet<PathBuf>) -> TreeBounds {
        TreeBounds { root: self.root.clone(), approved, user_home: self.user_home.clone() }
    }

    /// A path as it is named in records: from the root on, with slashes.
    pub(crate) fn name(&self, path: &Path) -> String {
        let inside = path.strip_prefix(&self.root).unwrap_or(path);
        inside.to_string_lossy().replace('\\', "/")
    }
}
