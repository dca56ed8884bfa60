//! Memories as a session sees them: the kernel's port.

use crate::{HitFilter, Service};
use everfold_kernel::ports::{
    Bodies, BoxFuture, Kept, Memories, MemoryError, MemoryHead, MemoryIndex, MemoryPlace,
    MemoryProposal, MemoryText, MemoryUse, RecallQuery, Recalled, WaitingMemory,
};
use everfold_memory_store::TopicPath;
use everfold_memory_store::usage::Use;
use std::path::PathBuf;

impl Memories for Service {
    fn places(&self) -> &[MemoryPlace] {
        Self::places(self)
    }

    fn indexes(&self) -> BoxFuture<'_, Result<Vec<MemoryIndex>, MemoryError>> {
        self.blocking(|service| {
            if let Some(team) = &service.terms.team {
                team.pull();
            }
            let mut caps = service.caps;
            let mut indexes = Vec::new();
            for tier in &service.tiers {
                if let Some((index, took)) = tier.index(caps)? {
                    caps.lines = caps.lines.saturating_sub(took.lines);
                    caps.bytes = caps.bytes.saturating_sub(took.bytes);
                    indexes.push(index);
                }
            }
            Ok(indexes)
        })
    }

    fn scan(
        &self,
        most: usize,
        bodies: Bodies,
    ) -> BoxFuture<'_, Result<Vec<MemoryHead>, MemoryError>> {
        self.blocking(move |service| {
            let mut heads = Vec::new();
            for tier in &service.tiers {
                heads.extend(tier.heads(most, bodies, Some(&*service.here))?);
            }
            heads.sort_by(|a, b| (b.modified, &a.path).cmp(&(a.modified, &b.path)));
            heads.truncate(most);
            Ok(heads)
        })
    }

    fn read<'a>(
        &'a self,
        memory: &'a MemoryHead,
    ) -> BoxFuture<'a, Result<MemoryText, MemoryError>> {
        let (scope, path) = (memory.scope, memory.path.clone());
        let (file, modified) = (memory.file.clone(), memory.modified);
        self.blocking(move |service| {
            let broken = |message: String| MemoryError::Memory { path: path.clone(), message };
            let tier = service.tier(scope).ok_or_else(|| broken("no such place".into()))?;
            let read = tier.store()?.read(&TopicPath::found(file));
            let read = read.map_err(|error| broken(error.to_string()))?;
            Ok(MemoryText { text: read.text, modified })
        })
    }

    fn keep(&self, proposal: MemoryProposal) -> BoxFuture<'_, Result<Kept, MemoryError>> {
        self.blocking(move |service| service.keep(&proposal))
    }

    fn recall(&self, query: RecallQuery) -> BoxFuture<'_, Result<Recalled, MemoryError>> {
        self.blocking(move |service| service.recall(&query, HitFilter::WorthShowing))
    }

    fn waiting_for(
        &self,
        query: RecallQuery,
    ) -> BoxFuture<'_, Result<Option<WaitingMemory>, MemoryError>> {
        self.blocking(move |service| service.waiting_for(&query))
    }

    fn count(&self, uses: Vec<(PathBuf, MemoryUse)>) -> BoxFuture<'_, Result<(), MemoryError>> {
        self.blocking(move |service| service.count_uses(&uses))
    }
}

impl Service {
    /// Every memory that is there, wherever it holds, the newest first; for a
    /// person to look at. Blocks.
    ///
    /// # Errors
    /// If a directory is there and cannot be read.
    pub fn listed(&self) -> Result<Vec<MemoryHead>, MemoryError> {
        let mut heads = Vec::new();
        for tier in self.tiers.iter().filter(|tier| tier.is_there()) {
            heads.extend(tier.heads(usize::MAX, Bodies::Left, None)?);
        }
        heads.sort_by(|a, b| (b.modified, &a.path).cmp(&(a.modified, &b.path)));
        Ok(heads)
    }

    /// Counts what became of memories; a path that is in no directory is
    /// nobody's (L5.29).
    ///
    /// # Errors
    /// If a directory cannot be written.
    pub fn count_uses(&self, uses: &[(PathBuf, MemoryUse)]) -> Result<(), MemoryError> {
        for tier in &self.tiers {
            let own = uses.iter().filter_map(|(path, what)| {
                let (found, file) = self.tier_of(path)?;
                let what = match what {
                    MemoryUse::Recalled => Use::Recalled,
                    MemoryUse::Used => Use::Used,
                };
                (found.scope() == tier.scope()).then(|| (TopicPath::found(file), what))
            });
            let own: Vec<(TopicPath, Use)> = own.collect();
            if !own.is_empty() {
                let counted = tier.store()?.count(&own, self.clock.now());
                counted.map_err(|error| tier.failed(&error))?;
            }
        }
        Ok(())
    }

    fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, MemoryError> + Send + 'static,
    ) -> BoxFuture<'_, Result<T, MemoryError>> {
        let service = self.clone();
        Box::pin(async move {
            let done = tokio::task::spawn_blocking(move || work(&service)).await;
            done.unwrap_or_else(|error| {
                let dir = self.places.first().map(|place| place.dir.clone()).unwrap_or_default();
                Err(MemoryError::Unreadable { dir, message: error.to_string() })
            })
        })
    }
}
