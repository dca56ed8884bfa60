//! Walking a tree, with ignore files honoured.

use crate::ignored::Ignored;
use everfold_kernel::ports::{BarredFiles, PathGuard, SearchError};
use ignore::{DirEntry, Walk, WalkBuilder};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Directories that are looked into only when they are named: git's own files,
/// and Everfold's transcripts where the home directory is the working directory.
const PRIVATE: [&str; 2] = [".git", ".everfold"];

/// Tells a search that nobody waits for it any more.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Something that sets it when it is dropped.
    pub(crate) fn when_dropped(&self) -> StopGuard {
        StopGuard(self.clone())
    }
}

/// Sets a [`Stop`] when it is dropped.
pub(crate) struct StopGuard(Stop);

impl Drop for StopGuard {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

/// The root as an absolute path, if something is there.
pub(crate) fn existing(root: &Path) -> Result<PathBuf, SearchError> {
    let failed = |source: std::io::Error| match source.kind() {
        std::io::ErrorKind::NotFound => SearchError::NotFound { root: root.to_path_buf() },
        _ => SearchError::Io { root: root.to_path_buf(), message: source.to_string() },
    };
    let absolute = std::path::absolute(root).map_err(failed)?;
    std::fs::metadata(&absolute).map_err(failed)?;
    Ok(absolute)
}

/// One step of a walk.
pub(crate) enum Found {
    File(DirEntry),
    /// Something that could not be read.
    Unreadable,
}

/// The regular files below a directory, in the order of their paths.
pub(crate) fn files<'a>(root: &Path, stop: &'a Stop) -> impl Iterator<Item = Found> + 'a {
    let ignored = Ignored::new(root);
    let mut builder = WalkBuilder::new(root);
    builder.standard_filters(false).follow_links(false).sort_by_file_name(Ord::cmp).filter_entry(
        move |entry| {
            let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
            let is_private = || PRIVATE.iter().any(|name| entry.file_name() == *name);
            entry.depth() == 0 || !(is_private() || ignored.has(entry.path(), is_dir))
        },
    );
    let walk: Walk = builder.build();
    walk.take_while(|_| !stop.is_set()).filter_map(|step| match step {
        Ok(entry) if is_file(&entry) => Some(Found::File(entry)),
        Ok(_) => None,
        Err(_) => Some(Found::Unreadable),
    })
}

/// A guard for the files of a walk, which have the root's links in their paths.
pub(crate) struct Guarded<'a> {
    guard: &'a PathGuard,
    root: &'a Path,
    real: PathBuf,
}

impl<'a> Guarded<'a> {
    pub(crate) fn new(guard: &'a PathGuard, root: &'a Path) -> Self {
        let real = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        Self { guard, root, real }
    }

    /// Whether a file of the walk may not be read.
    pub(crate) fn bars(&self, path: &Path) -> bool {
        match path.strip_prefix(self.root) {
            Ok(inside) if inside.as_os_str().is_empty() => self.guard.bars(&self.real),
            Ok(inside) => self.guard.bars(&self.real.join(inside)),
            Err(_) => self.guard.bars(path),
        }
    }
}

/// What takes longer is not known: a person waits for the answer before a
/// command that goes through `/` is so much as asked about (S16).
const MOST_WALK: Duration = Duration::from_secs(10);

/// What is barred below some directories, whatever ignore files say. What is
/// below something barred is not looked at.
pub(crate) fn barred(
    roots: Vec<PathBuf>,
    guard: &PathGuard,
    max_entries: usize,
    stop: &Stop,
) -> BarredFiles {
    let mut found = Vec::new();
    let mut seen = 0_usize;
    let end = Instant::now() + MOST_WALK;
    let mut open: Vec<PathBuf> =
        roots.into_iter().filter_map(|root| root.canonicalize().ok()).collect();
    while let Some(path) = open.pop() {
        if guard.bars(&path) {
            found.push(path);
            continue;
        }
        if Instant::now() > end {
            return BarredFiles::Unknown;
        }
        let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
        for entry in entries {
            seen += 1;
            if seen > max_entries || stop.is_set() {
                return BarredFiles::Unknown;
            }
            let path = entry.path();
            if guard.bars(&path) {
                found.push(path);
            } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(path);
            }
        }
    }
    found.sort();
    BarredFiles::Found(found)
}

fn is_file(entry: &DirEntry) -> bool {
    entry.file_type().is_some_and(|kind| kind.is_file())
}
