//! Platforms without sockets between processes (C7).

use crate::mailbox::Mailbox;
use everfold_kernel::SessionId;
use everfold_kernel::limits::AgentLimits;
use everfold_kernel::ports::{Letter, PostError};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Sockets that say that there are none.
pub(crate) struct Sockets {
    dir: PathBuf,
}

impl Sockets {
    pub(crate) fn new(dir: PathBuf, _limits: &AgentLimits) -> Self {
        Self { dir }
    }

    pub(crate) fn path(&self, session: &SessionId) -> PathBuf {
        self.dir.join(format!("{session}.sock"))
    }

    #[expect(clippy::unnecessary_wraps, reason = "the shape of the other platforms")]
    pub(crate) fn listen(&self, _session: &SessionId, _inbox: &Path) -> Result<(), PostError> {
        Ok(())
    }

    #[expect(clippy::unused_async, reason = "the shape of the other platforms")]
    pub(crate) async fn send(
        &self,
        _to: &Path,
        _letter: &Letter,
    ) -> Result<Vec<String>, PostError> {
        Err(PostError::Unsupported)
    }

    pub(crate) fn inbox(&self) -> Option<Arc<Mailbox>> {
        None
    }

    pub(crate) async fn arrival(&self) {
        std::future::pending().await
    }

    #[expect(clippy::unused_async, reason = "the shape of the other platforms")]
    pub(crate) async fn close(&self) {}
}
