//! Finding files and lines in a tree: the port `Search` on a real disk.
//!
//! Ignore files (`.gitignore`, `.ignore`) are honoured, in a git repository
//! or not. Hidden files are searched, `.git` never is. Links are not
//! followed, so a loop of them does not matter. All paths that come back are
//! absolute: whoever gets one can open it.
//!
//! The work is done on a thread where it may block, and stops soon after its
//! future was dropped. Transcripts are searched by words: [`TranscriptSearch`].

mod glob;
mod grep;
mod ignored;
mod references;
mod transcripts;
mod tree;

pub use references::missing;

use everfold_kernel::ports::{
    BarredFiles, BoxFuture, GlobFound, GlobQuery, GrepFound, GrepQuery, Names, PathGuard, Search,
    SearchError,
};
use std::path::PathBuf;
use tree::Stop;

pub use transcripts::{TranscriptSearch, mask_known};

/// Searches the file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct TreeSearch;

impl Search for TreeSearch {
    fn glob(&self, query: GlobQuery) -> BoxFuture<'_, Result<GlobFound, SearchError>> {
        blocking(query.root.clone(), move |stop| glob::find(&query, stop))
    }

    fn grep(&self, query: GrepQuery) -> BoxFuture<'_, Result<GrepFound, SearchError>> {
        blocking(query.root.clone(), move |stop| grep::search(&query, stop))
    }

    fn missing(
        &self,
        root: PathBuf,
        names: Names,
        max_bytes: u64,
    ) -> BoxFuture<'_, Result<Names, SearchError>> {
        blocking(root.clone(), move |stop| Ok(references::find(&root, names, max_bytes, stop)))
    }

    fn barred(
        &self,
        roots: Vec<PathBuf>,
        guard: PathGuard,
        max_entries: usize,
    ) -> BoxFuture<'_, BarredFiles> {
        let looked = blocking(PathBuf::new(), move |stop| {
            Ok(tree::barred(roots, &guard, max_entries, stop))
        });
        Box::pin(async move { looked.await.unwrap_or(BarredFiles::Unknown) })
    }
}

fn blocking<T: Send + 'static>(
    root: PathBuf,
    work: impl FnOnce(&Stop) -> Result<T, SearchError> + Send + 'static,
) -> BoxFuture<'static, Result<T, SearchError>> {
    Box::pin(async move {
        let stop = Stop::default();
        let guard = stop.when_dropped();
        let done = tokio::task::spawn_blocking(move || work(&stop)).await;
        drop(guard);
        done.unwrap_or_else(|failed| {
            let message = failed.to_string();
            Err(SearchError::Io { root, message })
        })
    })
}
