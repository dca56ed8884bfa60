//! One directory of memories, opened when something is first asked of it.
//!
//! It stays open, so that what is slow about opening (ending what a crash left,
//! noticing changes) happens once.

use crate::ServiceConfig;
use everfold_kernel::ports::{
    Bodies, Clock, MemoryError, MemoryHead, MemoryIndex, MemoryPlace, MemoryRef, MemoryScope,
};
use everfold_kernel::{Class, Classify};
use everfold_memory_file::index::{Caps, INDEX_FILE, IndexCap};
use everfold_memory_file::{Frontmatter, Memory};
use everfold_memory_store::catalogue::{Card, Catalogue};
use everfold_memory_store::store::TopicHead;
use everfold_memory_store::usage::Count;
use everfold_memory_store::{Error, Store, StoreOptions, StoreScope, TopicPath};
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Where a session runs, for memories that hold only there (L5.25).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Here {
    /// The branch.
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

/// One directory.
pub(crate) struct Tier {
    place: MemoryPlace,
    options: StoreOptions,
    clock: Arc<dyn Clock>,
    store: Mutex<Option<Arc<Store>>>,
    /// What is known of its files.
    catalogue: Mutex<Option<Catalogue>>,
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
            ..StoreOptions::default()
        };
        Self {
            place: place.clone(),
            options,
            clock: Arc::clone(clock),
            store: Mutex::default(),
            catalogue: Mutex::default(),
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
        here: &Here,
    ) -> Result<Vec<MemoryHead>, MemoryError> {
        let store = self.store()?;
        let mut topics: Vec<TopicHead> = {
            let slot = self.fresh_cards()?;
            slot.iter().flat_map(Catalogue::cards).map(Card::head).collect()
        };
        topics.retain(|topic| here.holds(&topic.front));
        topics.sort_by(|a, b| (b.modified, &a.path).cmp(&(a.modified, &b.path)));
        topics.truncate(most);
        // Counts are a help for ranking; without them all are alike.
        let counts = store.usage().unwrap_or_default();
        let heads = topics.into_iter().map(|topic| self.head(&store, topic, bodies, &counts));
        Ok(heads.collect())
    }

    /// The cards of its files. Every file is looked at, and only what has
    /// changed is read.
    pub(crate) fn fresh_cards(&self) -> Result<MutexGuard<'_, Option<Catalogue>>, MemoryError> {
        let mut slot = self.catalogue.lock().unwrap_or_else(PoisonError::into_inner);
        let catalogue = slot.get_or_insert_with(|| Catalogue::open(&self.place.dir));
        let read = catalogue.refresh().map_err(|error| MemoryError::Unreadable {
            dir: self.place.dir.clone(),
            message: error.to_string(),
        })?;
        catalogue.keep(read);
        Ok(slot)
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
