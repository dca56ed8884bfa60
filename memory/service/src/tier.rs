//! One directory of memories, opened when something is first asked of it.
//!
//! It stays open, so that what is slow about opening (ending what a crash left,
//! noticing changes) happens once.

use crate::ServiceConfig;
use crate::embedder::Reading;
use everfold_kernel::ports::{
    Bodies, Clock, MemoryError, MemoryHead, MemoryIndex, MemoryPlace, MemoryRef, MemoryScope,
    Urgency,
};
use everfold_kernel::{Class, Classify};
use everfold_memory_file::index::{Caps, INDEX_FILE, IndexCap};
use everfold_memory_file::{Frontmatter, Memory};
use everfold_memory_store::catalogue::{Card, Catalogue, Patience};
use everfold_memory_store::store::TopicHead;
use everfold_memory_store::usage::Count;
use everfold_memory_store::{Error, Store, StoreOptions, StoreScope, TopicPath};
use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Where a session runs, for memories that hold only there (L5.25).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Here {
    pub branch: Option<String>,
    /// The root of the work tree.
    pub worktree: Option<PathBuf>,
}

impl Here {
    /// Whether a memory holds here.
    pub(crate) fn is_meant(&self, branch: Option<&str>, worktree: Option<&str>) -> bool {
        let branch = branch.is_none_or(|wanted| Some(wanted) == self.branch.as_deref());
        let worktree = worktree.is_none_or(|wanted| {
            let root = self.worktree.as_deref();
            let name = root.and_then(Path::file_name);
            root == Some(Path::new(wanted)) || name.is_some_and(|name| name == wanted)
        });
        branch && worktree
    }

    fn holds(&self, front: &Frontmatter) -> bool {
        self.is_meant(front.branch.as_deref(), front.worktree.as_deref())
    }
}

/// How long vectors are made between two times that they are written.
const SLICE: Duration = Duration::from_secs(5);

/// What is known of a directory's files, and how many of them are not known yet.
pub(crate) type Cards<'a> = (MutexGuard<'a, Option<Catalogue>>, usize);

pub(crate) struct Tier {
    place: MemoryPlace,
    options: StoreOptions,
    clock: Arc<dyn Clock>,
    store: Mutex<Option<Arc<Store>>>,
    /// What is known of its files.
    catalogue: Mutex<Option<Catalogue>>,
    cache: Option<PathBuf>,
    /// How long a prompt waits for files that were never read.
    look: Duration,
    /// Who reads on what prompts left.
    reader: Mutex<Option<JoinHandle<()>>>,
}

impl Tier {
    pub(crate) fn new(place: &MemoryPlace, terms: &ServiceConfig, clock: &Arc<dyn Clock>) -> Self {
        let scope = match place.scope {
            MemoryScope::Global => StoreScope::Global,
            MemoryScope::Project => StoreScope::Project,
            MemoryScope::Team => StoreScope::Team,
        };
        let options = StoreOptions {
            scope,
            notice: terms.notice,
            inbox_entries: terms.extract.inbox_entries,
            inbox_days: terms.extract.inbox_days,
            head_lines: terms.recall.head_lines,
            ..StoreOptions::default()
        };
        Self {
            place: place.clone(),
            options,
            clock: Arc::clone(clock),
            store: Mutex::default(),
            catalogue: Mutex::default(),
            cache: terms.cache.clone(),
            look: Duration::from_millis(terms.recall.look_ms),
            reader: Mutex::default(),
        }
    }

    pub(crate) fn scope(&self) -> MemoryScope {
        self.place.scope
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.place.dir
    }

    /// Where in it a path is, with `/` between the parts.
    pub(crate) fn inside(&self, path: &Path) -> Option<String> {
        let inside = path.strip_prefix(&self.place.dir).ok()?;
        let parts: Option<Vec<&str>> = inside
            .components()
            .map(|part| match part {
                Component::Normal(name) => name.to_str(),
                _ => None,
            })
            .collect();
        parts.map(|parts| parts.join("/"))
    }

    pub(crate) fn memory(&self, file: &str) -> MemoryRef {
        MemoryRef { scope: self.scope(), file: file.to_owned(), path: self.dir().join(file) }
    }

    /// Whether it is there. A folder of the project's own memories may be called
    /// as a team's is; it is none before it has an index.
    pub(crate) fn is_there(&self) -> bool {
        match self.scope() {
            MemoryScope::Team => self.dir().join(INDEX_FILE).exists(),
            _ => self.dir().is_dir(),
        }
    }

    pub(crate) fn store(&self) -> Result<Arc<Store>, MemoryError> {
        let mut slot = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = &*slot {
            return Ok(Arc::clone(store));
        }
        let store = Store::open_with(&self.place.dir, self.options.clone(), self.clock.now())
            .map_err(|error| self.failed(&error))?;
        let store = Arc::new(store);
        *slot = Some(Arc::clone(&store));
        Ok(store)
    }

    /// What a store's error means to whoever asked.
    pub(crate) fn failed(&self, error: &Error) -> MemoryError {
        let (dir, message) = (self.place.dir.clone(), error.to_string());
        match error.class() {
            Class::Refuse => MemoryError::Refused { path: dir, reason: message },
            _ => MemoryError::Unreadable { dir, message },
        }
    }

    pub(crate) fn heads(
        &self,
        most: usize,
        bodies: Bodies,
        here: Option<&Here>,
    ) -> Result<Vec<MemoryHead>, MemoryError> {
        let store = self.store()?;
        let mut topics: Vec<TopicHead> = {
            let (slot, _) = self.fresh_cards(Urgency::Prompt)?;
            slot.iter().flat_map(Catalogue::cards).map(Card::head).collect()
        };
        topics.retain(|topic| here.is_none_or(|here| here.holds(&topic.front)));
        topics.sort_by(|a, b| (b.modified, &a.path).cmp(&(a.modified, &b.path)));
        topics.truncate(most);
        // Counts are a help for ranking; without them all are alike.
        let counts = store.usage().unwrap_or_default();
        let heads = topics.into_iter().map(|topic| self.head(&store, topic, bodies, &counts));
        Ok(heads.collect())
    }

    /// The cards of its files, and how many files have none yet. Every file is
    /// looked at, and only what has changed is read.
    pub(crate) fn fresh_cards(&self, urgency: Urgency) -> Result<Cards<'_>, MemoryError> {
        let mut slot = self.catalogue.lock().unwrap_or_else(PoisonError::into_inner);
        let catalogue = slot.get_or_insert_with(|| self.open_catalogue());
        let patience = match urgency {
            Urgency::Thorough => Patience::Whole,
            Urgency::Prompt => Patience::Within(self.look),
        };
        let look = catalogue.refresh(patience).map_err(|error| self.unreadable(&error))?;
        catalogue.keep(look);
        Ok((slot, look.left))
    }

    fn open_catalogue(&self) -> Catalogue {
        let cards = Catalogue::open(&self.place.dir, self.cache.as_deref());
        cards.of_first_lines(self.options.head_lines)
    }

    fn unreadable(&self, error: &io::Error) -> MemoryError {
        MemoryError::Unreadable { dir: self.place.dir.clone(), message: error.to_string() }
    }

    /// Reads what has no card, and makes the vectors that are missing, apart from
    /// those who ask meanwhile; then they have it.
    pub(crate) fn read_on(&self, readings: &[Reading]) -> Result<(), MemoryError> {
        let apart = || -> Result<Catalogue, MemoryError> {
            let mut apart = self.open_catalogue();
            let look = apart.refresh(Patience::Whole).map_err(|error| self.unreadable(&error))?;
            apart.keep(look);
            Ok(apart)
        };
        let known = |catalogue| {
            *self.catalogue.lock().unwrap_or_else(PoisonError::into_inner) = Some(catalogue);
        };
        known(apart()?);
        let mut read = apart()?;
        for reading in readings {
            // Each time they are written: who is ended meanwhile goes on there.
            while read.make_vectors(&reading.embedder, Some(Instant::now() + SLICE)) > 0 {}
        }
        known(read);
        Ok(())
    }

    /// The same in the background, by one thread at a time. It ends with the
    /// process; what it wrote by then is whole.
    pub(crate) fn read_on_beside(self: &Arc<Self>, readings: &[Reading]) {
        let mut slot = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        if slot.as_ref().is_some_and(|running| !running.is_finished()) {
            return;
        }
        let (tier, readings) = (Arc::clone(self), readings.to_vec());
        let work = move || {
            if let Err(error) = tier.read_on(&readings) {
                tracing::info!(%error, "memories were not read in the background");
            }
        };
        // Without a thread the next prompt reads a part of it.
        *slot = std::thread::Builder::new().name("catalogue".to_owned()).spawn(work).ok();
    }

    fn head(
        &self,
        store: &Store,
        topic: TopicHead,
        bodies: Bodies,
        counts: &BTreeMap<TopicPath, Count>,
    ) -> MemoryHead {
        let used = counts.get(&topic.path).map_or(0, |count| count.used);
        let body = match bodies {
            Bodies::Left => String::new(),
            // One that went away since is found by what it said of itself.
            Bodies::Read => store
                .read(&topic.path)
                .map(|read| Memory::parse(&read.text).body.to_owned())
                .unwrap_or_default(),
        };
        MemoryHead {
            scope: self.place.scope,
            path: self.place.dir.join(topic.path.as_path()),
            file: topic.path.as_str().to_owned(),
            name: topic.front.name.unwrap_or_default(),
            description: topic.front.description.unwrap_or_default(),
            kind: topic.front.kind.map(|kind| kind.as_str().to_owned()),
            basis: topic.front.basis.map(|basis| basis.as_str().to_owned()),
            used: u32::try_from(used).unwrap_or(u32::MAX),
            modified: topic.modified,
            body,
        }
    }

    /// What the index says, and how many lines and bytes that took.
    pub(crate) fn index(&self, caps: Caps) -> Result<Option<(MemoryIndex, Caps)>, MemoryError> {
        let loaded = self.store()?.load_index_within(caps).map_err(|error| self.failed(&error))?;
        if loaded.text.trim().is_empty() {
            return Ok(None);
        }
        let took = Caps { lines: loaded.text.lines().count(), bytes: loaded.text.len() };
        let path = self.place.dir.join(INDEX_FILE);
        let cut = loaded.cut.map(|cap| match cap {
            IndexCap::Lines => format!("cut after {} lines", caps.lines),
            IndexCap::Bytes => format!("cut after {} bytes", caps.bytes),
        });
        let (scope, text) = (self.place.scope, loaded.text);
        Ok(Some((MemoryIndex { scope, path, text, cut }, took)))
    }
}
