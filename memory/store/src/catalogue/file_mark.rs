//! Looking at every file of a directory, unread: by what each is known again.

use crate::journal::nanoseconds;
use std::fs::{DirEntry, Metadata};

/// Files that are worth a thread of their own.
const THREAD_FILES: usize = 200;
/// Most threads: the disk is what they share.
const MAX_THREADS: usize = 8;

/// By what a file is known again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) number: u64,
    pub(super) bytes: u64,
    pub(super) modified: u64,
    pub(super) changed: u64,
}

impl Mark {
    fn of(about: &Metadata) -> Self {
        let modified = nanoseconds(about.modified().ok());
        #[cfg(unix)]
        let (number, changed) = {
            use std::os::unix::fs::MetadataExt;
            let changed = about.ctime().wrapping_mul(1_000_000_000) + about.ctime_nsec();
            (about.ino(), changed.unsigned_abs())
        };
        #[cfg(not(unix))]
        let (number, changed) = (0, modified);
        Self { number, bytes: about.len(), modified, changed }
    }
}

/// The marks of files, in the order in which they are listed. One that is gone
/// since is left out.
pub(super) fn look(files: Vec<(String, DirEntry)>) -> Vec<(String, Mark)> {
    let mark = |(_, entry): &(String, DirEntry)| Some(Mark::of(&entry.metadata().ok()?));
    let mut marks = share_out(&files, |part| part.iter().map(mark).collect());
    if marks.len() != files.len() {
        // A thread died, and nobody knows whose marks these are.
        marks = files.iter().map(mark).collect();
    }
    let marked = files.into_iter().zip(marks);
    marked.filter_map(|((path, _), mark)| Some((path, mark?))).collect()
}

/// Does a part of the work on each core, where there is enough of it.
pub(super) fn share_out<T: Sync, U: Send>(
    all: &[T],
    work: impl Fn(&[T]) -> Vec<U> + Sync,
) -> Vec<U> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = (all.len() / THREAD_FILES).clamp(1, cores.min(MAX_THREADS));
    if threads == 1 {
        return work(all);
    }
    let work = &work;
    std::thread::scope(|scope| {
        let parts = all.chunks(all.len().div_ceil(threads));
        let running: Vec<_> = parts.map(|part| scope.spawn(move || work(part))).collect();
        // A thread that died took its files with it; the others still count.
        running.into_iter().filter_map(|part| part.join().ok()).flatten().collect()
    })
}
