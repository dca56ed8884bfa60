//! A tree of files that exists only in the test.

use everfold_kernel::limits::RulesLimits;
use everfold_kernel::{Limits, TreeBounds};
use everfold_rules::{
    Bounds, FileFate, Given, InstructionCandidate, InstructionDirs, Instructions, LoadRequest,
    Loader, Patterns, plan,
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Files by path, and links by path.
#[derive(Default)]
pub(crate) struct Tree {
    files: BTreeMap<PathBuf, Vec<u8>>,
    links: BTreeMap<PathBuf, PathBuf>,
    pub(crate) excludes: Vec<&'static str>,
    pub(crate) approved: BTreeSet<PathBuf>,
    pub(crate) limits: Limits,
}

impl Tree {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let mut tree = Self::default();
        for (path, text) in files {
            tree.files.insert(path.into(), text.as_bytes().to_vec());
        }
        tree
    }

    pub(crate) fn with_bytes(mut self, path: &str, bytes: Vec<u8>) -> Self {
        self.files.insert(path.into(), bytes);
        self
    }

    pub(crate) fn with_link(mut self, path: &str, to: &str) -> Self {
        self.links.insert(path.into(), to.into());
        self
    }

    /// What a session in `/w/p`, a repository of its own, starts with.
    pub(crate) fn start(&self) -> Instructions {
        let places = InstructionDirs {
            managed: Some("/etc/claude-code/CLAUDE.md".into()),
            home: "/home/a/.claude".into(),
            cwd: "/w/p".into(),
        };
        self.load(plan(&places), BTreeSet::new())
    }

    pub(crate) fn load(
        &self,
        candidates: Vec<InstructionCandidate>,
        seen: BTreeSet<PathBuf>,
    ) -> Instructions {
        let bounds = Bounds {
            tree: TreeBounds {
                root: "/w/p".into(),
                approved: self.approved.clone(),
                user_home: Some("/home/a".into()),
            },
            user_dir: "/home/a".into(),
            excludes: Patterns::new(&self.excludes, &RulesLimits::default()),
            own_excludes: Patterns::new(&self.excludes, &RulesLimits::default()),
        };
        let mut loader = Loader::new(candidates, seen, &bounds, &self.limits);
        for _ in 0..100_000 {
            let Some(need) = loader.need() else { return loader.finish() };
            let (LoadRequest::File(path) | LoadRequest::Listing(path)) = &need;
            let real = self.real(path);
            let given =
                if loader.admits(&real) { self.answer(need) } else { Given::Outside { real } };
            loader.give(given);
        }
        panic!("the loader does not end");
    }

    fn real(&self, path: &Path) -> PathBuf {
        self.links.get(path).map_or_else(|| path.to_owned(), Clone::clone)
    }

    fn answer(&self, need: LoadRequest) -> Given {
        match need {
            LoadRequest::File(path) => {
                let real = self.real(&path);
                match self.files.get(&real) {
                    Some(bytes) => Given::File { real, bytes: bytes.clone() },
                    None => Given::Missing,
                }
            }
            LoadRequest::Listing(dir) => {
                let all = self.files.keys().chain(self.links.keys());
                Given::Listing(all.filter(|path| path.starts_with(&dir)).cloned().collect())
            }
        }
    }
}

/// The paths of the texts, in order.
pub(crate) fn paths(instructions: &Instructions) -> Vec<String> {
    instructions.texts.iter().map(|text| text.path.display().to_string()).collect()
}

/// What became of a path.
pub(crate) fn fate<'a>(instructions: &'a Instructions, path: &str) -> Option<&'a FileFate> {
    let row = instructions.rows.iter().find(|row| row.path == Path::new(path));
    row.map(|row| &row.fate)
}
