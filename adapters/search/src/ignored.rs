//! What ignore files leave out of a walk.
//!
//! A repository brings them, and a walk reads them unasked. So they are read as
//! what somebody else put there: regular files of bounded size (S14), no links,
//! which git does not follow either.

use everfold_disk::read_regular_text;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Most bytes of an ignore file; a larger one is not obeyed.
const MAX_BYTES: u64 = 256 << 10;

/// What the files of one directory say.
struct Rules {
    dir: PathBuf,
    ignore: Gitignore,
    git: Gitignore,
    /// `.git/info/exclude`.
    exclude: Gitignore,
    /// Whether a repository begins here: git's files above it do not count.
    is_repository: bool,
}

impl Rules {
    fn of(dir: &Path) -> Self {
        let git_dir = dir.join(".git");
        Self {
            ignore: read(dir, &dir.join(".ignore")),
            git: read(dir, &dir.join(".gitignore")),
            exclude: read(dir, &git_dir.join("info").join("exclude")),
            is_repository: git_dir.symlink_metadata().is_ok(),
            dir: dir.to_owned(),
        }
    }
}

fn read(dir: &Path, file: &Path) -> Gitignore {
    if !file.symlink_metadata().is_ok_and(|about| about.is_file()) {
        return Gitignore::empty();
    }
    let mut builder = GitignoreBuilder::new(dir);
    for line in read_regular_text(file, MAX_BYTES).unwrap_or_default().lines() {
        // What is no pattern leaves nothing out.
        let _ = builder.add_line(None, line);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

/// The rules on the way from the top of the file system to where a walk is.
pub(crate) struct Ignored {
    way: Mutex<Vec<Rules>>,
    /// The person's own, for all repositories.
    global: Gitignore,
}

impl Ignored {
    pub(crate) fn new(root: &Path) -> Self {
        let (global, _) = GitignoreBuilder::new(root).build_global();
        Self { way: Mutex::default(), global }
    }

    /// Whether something that a walk came upon is left out.
    pub(crate) fn has(&self, path: &Path, is_dir: bool) -> bool {
        let Some(parent) = path.parent() else { return false };
        let mut way = self.way.lock().unwrap_or_else(PoisonError::into_inner);
        go_to(&mut way, parent);
        let (mut ignore, mut git, mut exclude) = (Match::None, Match::None, Match::None);
        let mut is_within = true;
        for rules in way.iter().rev() {
            ignore = ignore.or(rules.ignore.matched(path, is_dir));
            if is_within {
                git = git.or(rules.git.matched(path, is_dir));
                exclude = exclude.or(rules.exclude.matched(path, is_dir));
            }
            is_within = is_within && !rules.is_repository;
        }
        ignore.or(git).or(exclude).or(self.global.matched(path, is_dir)).is_ignore()
    }
}

/// The rules of a directory and of those above it, the topmost first. A walk
/// goes down one step at a time, so nearly all of them are known already.
fn go_to(way: &mut Vec<Rules>, dir: &Path) {
    while way.last().is_some_and(|rules| !dir.starts_with(&rules.dir)) {
        way.pop();
    }
    let known = way.last().map(|rules| rules.dir.clone());
    let new: Vec<&Path> =
        dir.ancestors().take_while(|above| known.as_deref() != Some(above)).collect();
    way.extend(new.into_iter().rev().map(Rules::of));
}
