//! One memory behind every door (L5.32).
//!
//! There is one [`Service::keep`] and one [`Service::recall`] in the program.
//! Sessions reach them through the kernel's port, hooks, servers and commands
//! directly; what a door says to its own people about the outcome is all that
//! is left to it.
//!
//! Everything here blocks, but for the port, which moves each call to a thread
//! for blocking work.

pub mod edit;
mod embedder;
mod foresight;
mod forget;
mod inbox_offer;
mod index;
mod keep;
mod port;
mod recall;
mod team;
mod tier;

pub use embedder::{EmbedderSource, Pace, WeighedEmbedder};
pub use foresight::{Foreseen, foreseen};
pub use recall::HitFilter;
pub use team::TeamLink;
pub use tier::Here;

use everfold_kernel::limits::{ExtractLimits, RecallLimits};
use everfold_kernel::ports::{Clock, MemoryError, MemoryPlace, MemoryRef, MemoryScope};
use everfold_kernel::settings;
use everfold_memory_file::index::Caps;
pub use everfold_memory_store::Notice;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tier::Tier;

/// What bounds memories and who is asked about them.
#[derive(Clone, Default)]
pub struct ServiceConfig {
    /// What bounds a memory.
    pub extract: ExtractLimits,
    pub recall: RecallLimits,
    /// When a person is asked first (L5.24).
    pub review: settings::MemorySettings,
    /// How much of what was changed from outside is noticed at first.
    pub notice: Notice,
    /// Where catalogues are kept of directories that we do not write (R16).
    pub cache: Option<PathBuf>,
    /// What reads memories by meaning.
    pub embedders: Vec<WeighedEmbedder>,
    /// What keeps the team's in step, where there is a team.
    pub team: Option<Arc<dyn TeamLink>>,
}

/// The memories of one working directory: the person's own, the project's, and
/// a team's. Clones are the same.
#[derive(Clone)]
pub struct Service {
    places: Arc<[MemoryPlace]>,
    tiers: Vec<Arc<Tier>>,
    here: Arc<Here>,
    clock: Arc<dyn Clock>,
    terms: Arc<ServiceConfig>,
    caps: Caps,
}

impl Service {
    /// Memories in these directories, links resolved; the indexes are shown in
    /// this order. Nothing is made on disk before something is asked of it.
    #[must_use]
    pub fn new(
        places: Vec<MemoryPlace>,
        here: Here,
        terms: ServiceConfig,
        clock: &Arc<dyn Clock>,
    ) -> Self {
        let tiers = places.iter().map(|place| Arc::new(Tier::new(place, &terms, clock))).collect();
        Self {
            places: places.into(),
            tiers,
            here: Arc::new(here),
            clock: Arc::clone(clock),
            terms: Arc::new(terms),
            caps: Caps::default(),
        }
    }

    /// The directories, in the order in which their indexes are shown.
    #[must_use]
    pub fn places(&self) -> &[MemoryPlace] {
        &self.places
    }

    fn tier(&self, scope: MemoryScope) -> Option<&Arc<Tier>> {
        self.tiers.iter().find(|tier| tier.scope() == scope)
    }

    /// The tier that a path is in, the innermost, and where.
    fn tier_of(&self, path: &Path) -> Option<(&Arc<Tier>, String)> {
        let inside = self.tiers.iter().filter_map(|tier| Some((tier, tier.inside(path)?)));
        inside.max_by_key(|(tier, _)| tier.dir().components().count())
    }

    /// A memory by its absolute path.
    ///
    /// # Errors
    /// If it is in none of the directories.
    pub fn locate(&self, path: &Path) -> Result<MemoryRef, MemoryError> {
        let (tier, file) = self.tier_of(path).ok_or_else(|| MemoryError::Refused {
            path: path.to_owned(),
            reason: format!("{} is in no memory directory", path.display()),
        })?;
        Ok(tier.memory(&file))
    }
}
