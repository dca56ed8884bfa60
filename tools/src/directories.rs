//! Directories in which tools may work.

use crate::ToolContext;
use std::path::PathBuf;
use std::sync::Arc;

impl ToolContext {
    /// The same context with another directory in which tools may work.
    #[must_use]
    pub fn with_root(&self, dir: PathBuf) -> Self {
        let past = self.world.past.clone();
        let mut context = self.under(Arc::clone(&self.limits), self.snipping, past);
        context.roots.push(dir);
        context
    }
}
