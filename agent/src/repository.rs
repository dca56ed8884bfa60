//! The repository under a person's feet: whether it is trusted (S7), and what
//! instructions it has (I5). [`crate::Builder::repository`] makes one; it needs
//! no provider and no key.

use crate::error::Error;
use crate::memory_dirs::MemoryDirs;
use everfold_engine::config::InstructionSources;
use everfold_kernel::ports::{Clock, Files, Memories, MemoryIndex, MemoryPlace, MemoryScope};
use everfold_kernel::{Limits, Timestamp};
use everfold_memory_service::{Here, Service, ServiceConfig};
use everfold_memory_store::StoreScope;
use everfold_rules::{
    CandidateKind, FileFate, InstructionCandidate, Instructions, Reason, Touch, directory,
};
use everfold_settings::trust::{TrustDecision, TrustState, revoke};
use everfold_settings::{Home, Resolved, Trust};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Most folders that are looked at for instruction files.
const MAX_FOLDERS: usize = 20_000;
/// How deep folders are looked into.
const MAX_DEPTH: usize = 12;
/// Folders of others' work, where nobody keeps instructions of their own.
const OTHERS: [&str; 4] = ["node_modules", "target", "vendor", "dist"];

/// What a repository was seen with.
pub(crate) struct Seen {
    pub(crate) home: Home,
    pub(crate) trust: Trust,
    pub(crate) resolved: Resolved,
    pub(crate) sources: InstructionSources,
    /// None where settings put them where they cannot be.
    pub(crate) memories: Option<MemoryDirs>,
    pub(crate) files: Arc<dyn Files>,
    pub(crate) clock: Arc<dyn Clock>,
}

/// A repository, or a directory that is in none.
pub struct Repository {
    seen: Seen,
}

/// The instructions of a session that would start now.
#[derive(Clone, Debug)]
pub struct InstructionChain {
    /// What it starts with.
    pub start: Instructions,
    /// What joins it by the files that were asked about.
    pub touched: Instructions,
    /// The memory indexes that come after them.
    pub indexes: Vec<MemoryIndex>,
}

impl Repository {
    pub(crate) fn new(seen: Seen) -> Self {
        Self { seen }
    }

    /// What it brings that could act, and what a person said of it.
    #[must_use]
    pub fn trust(&self) -> &Trust {
        &self.seen.trust
    }

    /// Settings with their origins.
    #[must_use]
    pub fn settings(&self) -> &Resolved {
        &self.seen.resolved
    }

    /// Where Everfold keeps its files.
    #[must_use]
    pub fn home(&self) -> &Home {
        &self.seen.home
    }

    fn limits(&self) -> &Limits {
        &self.seen.resolved.settings.everfold.limits
    }

    /// The instructions of a session that would start now, and what would join
    /// them when these files are read.
    ///
    /// # Errors
    /// If memories are there and cannot be read.
    pub async fn chain(&self, touched: &[PathBuf]) -> Result<InstructionChain, Error> {
        let Seen { sources, files, .. } = &self.seen;
        let start = sources.start(&**files, self.limits()).await;
        let cwd = &sources.places.cwd;
        let touched: Vec<(PathBuf, Touch)> =
            touched.iter().map(|path| (cwd.join(path), Touch::Read)).collect();
        let touched = sources.touched(&start, &touched, &**files, self.limits()).await;
        Ok(InstructionChain { start, touched, indexes: self.indexes().await? })
    }

    /// The memory indexes. Looking makes no directory.
    async fn indexes(&self) -> Result<Vec<MemoryIndex>, Error> {
        let is_off = self.seen.resolved.settings.auto_memory_enabled == Some(false);
        let Some(memories) = self.seen.memories.as_ref().filter(|_| !is_off) else {
            return Ok(Vec::new());
        };
        let tiers = [
            (MemoryScope::Global, StoreScope::Global),
            (MemoryScope::Project, StoreScope::Project),
            (MemoryScope::Team, StoreScope::Team),
        ];
        let places = tiers.map(|(scope, tier)| {
            let is_shown = memories.is_used(tier) && memories.is_there(tier);
            is_shown.then(|| MemoryPlace { scope, dir: memories.dir(tier) })
        });
        let places = places.into_iter().flatten().collect();
        let service =
            Service::new(places, Here::default(), ServiceConfig::default(), &self.seen.clock);
        service.indexes().await.map_err(|error| Error::Directory {
            path: memories.dir(StoreScope::Project),
            message: error.to_string(),
        })
    }

    /// The files from outside that instructions of the repository import,
    /// wherever in it they are.
    pub async fn outside_imports(&self) -> BTreeSet<PathBuf> {
        let Seen { sources, files, trust, .. } = &self.seen;
        let mut sources = sources.clone();
        sources.tree = trust.bare_bounds();
        let mut found = BTreeSet::new();
        let mut start = sources.start(&**files, self.limits()).await;
        let folders = folders(trust.root());
        let nested = folders.iter().flat_map(|dir| directory(dir, &Reason::Nested)).collect();
        let more = sources.load(nested, start.loaded.clone(), &**files, self.limits()).await;
        start.rows.extend(more.rows);
        start.conditional.extend(more.conditional);
        // Rules that wait have imports too.
        let waiting = start.conditional.iter().map(|rule| InstructionCandidate {
            path: rule.path.clone(),
            look: CandidateKind::Rule,
            scope: rule.scope,
            reason: Reason::PathMatch { glob: String::new() },
        });
        let waiting = waiting.collect();
        let rules = sources.load(waiting, BTreeSet::new(), &**files, self.limits()).await;
        for row in start.rows.iter().chain(&rules.rows) {
            if let FileFate::NeedsApproval { real } = &row.fate {
                found.insert(real.clone());
            }
        }
        found
    }

    /// Whether a person should be asked before a conversation starts: there is
    /// something that acts and that nobody has said a word about.
    pub async fn wants_a_word(&self) -> bool {
        let Seen { sources, files, trust, .. } = &self.seen;
        if matches!(trust.standing(), TrustState::Unknown | TrustState::Changed { .. }) {
            return true;
        }
        let start = sources.start(&**files, self.limits()).await;
        let refused = start.rows.into_iter().filter_map(|row| match row.fate {
            FileFate::NeedsApproval { real } => Some(real),
            _ => None,
        });
        !trust.knows(&refused.collect())
    }

    /// Keeps what a person said of the repository as it is now, imports from
    /// outside included. Says which those are.
    ///
    /// # Errors
    /// If it cannot be written.
    pub async fn say(
        &self,
        verdict: TrustDecision,
        at: Timestamp,
    ) -> Result<BTreeSet<PathBuf>, Error> {
        let imports = self.outside_imports().await;
        self.seen.trust.keep(&self.seen.home, verdict, imports.clone(), at)?;
        Ok(imports)
    }

    /// Forgets what a person said; says whether there was anything.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn revoke(&self) -> Result<bool, Error> {
        Ok(revoke(&self.seen.home, self.seen.trust.root())?)
    }
}

/// The folders of a repository, its root left out. Links are not followed.
fn folders(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut ahead = vec![(root.to_owned(), 0)];
    while let Some((dir, depth)) = ahead.pop() {
        for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if !is_folder || name.starts_with('.') || OTHERS.contains(&&*name) {
                continue;
            }
            if found.len() < MAX_FOLDERS && depth < MAX_DEPTH {
                found.push(entry.path());
                ahead.push((entry.path(), depth + 1));
            }
        }
    }
    found.sort();
    found
}
