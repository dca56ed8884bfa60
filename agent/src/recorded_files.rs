//! The files of tools, with an eye on what acts by itself: a change that was
//! made here with permission is recorded with it (S9), so that the next start
//! does not ask about what the person has just allowed.

use everfold_kernel::ports::{
    BoxFuture, Clock, Expect, FileError, FileRead, FileStat, FileVersion, Files, LinesRead,
};
use everfold_settings::Trust;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files of which some are part of what a person trusts.
pub(crate) struct RecordedFiles {
    inner: Arc<dyn Files>,
    trust: Arc<Trust>,
    clock: Arc<dyn Clock>,
}

impl RecordedFiles {
    pub(crate) fn new(inner: &Arc<dyn Files>, trust: Trust, clock: &Arc<dyn Clock>) -> Self {
        Self { inner: Arc::clone(inner), trust: Arc::new(trust), clock: Arc::clone(clock) }
    }

    /// The tree as it is before a change of something that acts in it; none
    /// where the file is none of that.
    async fn before(&self, path: &Path) -> Option<Trust> {
        if !path.starts_with(self.trust.root()) || !self.trust.is_part(path) {
            return None;
        }
        let trust = Arc::clone(&self.trust);
        tokio::task::spawn_blocking(move || trust.look_again()).await.ok()
    }

    async fn keep(&self, before: Option<Trust>) {
        let Some(before) = before else { return };
        let at = self.clock.now();
        let kept = tokio::task::spawn_blocking(move || before.keep_edit(at)).await;
        if let Ok(Err(error)) = kept {
            tracing::warn!(%error, "a change that was allowed is not recorded; it asks again");
        }
    }
}

impl Files for RecordedFiles {
    fn stat<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<FileStat, FileError>> {
        self.inner.stat(path)
    }

    fn resolve<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, PathBuf> {
        self.inner.resolve(path)
    }

    fn find<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<PathBuf, FileError>> {
        self.inner.find(path)
    }

    fn read<'a>(
        &'a self,
        path: &'a Path,
        max_bytes: u64,
    ) -> BoxFuture<'a, Result<FileRead, FileError>> {
        self.inner.read(path, max_bytes)
    }

    fn read_lines<'a>(
        &'a self,
        path: &'a Path,
        first: u64,
        count: u64,
        max_bytes: u64,
    ) -> BoxFuture<'a, Result<LinesRead, FileError>> {
        self.inner.read_lines(path, first, count, max_bytes)
    }

    fn list<'a>(
        &'a self,
        dir: &'a Path,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<PathBuf>, FileError>> {
        self.inner.list(dir, most)
    }

    fn write<'a>(
        &'a self,
        path: &'a Path,
        bytes: &'a [u8],
        expect: Expect,
    ) -> BoxFuture<'a, Result<FileVersion, FileError>> {
        Box::pin(async move {
            let before = self.before(path).await;
            let written = self.inner.write(path, bytes, expect).await?;
            self.keep(before).await;
            Ok(written)
        })
    }

    fn remove<'a>(
        &'a self,
        path: &'a Path,
        version: FileVersion,
    ) -> BoxFuture<'a, Result<(), FileError>> {
        Box::pin(async move {
            let before = self.before(path).await;
            self.inner.remove(path, version).await?;
            self.keep(before).await;
            Ok(())
        })
    }
}
