//! Memories as a session reads them: the person's own and the project's (L5.25).
//!
//! A directory is opened when something is first asked of it, and stays open.
//! So nothing is made on disk before a conversation starts, and what is slow
//! about opening (ending what a crash left, noticing changes) happens once.
//! Each call runs on a thread for blocking work.

use crate::catalogue::{Card, Catalogue};
use crate::error::Error;
use crate::path::TopicPath;
use crate::store::{Options, Scope, Store, TopicHead};
use crate::usage::Count;
use everfold_kernel::ports::{
    Bodies, BoxFuture, Clock, Memories, MemoryAuthor, MemoryError, MemoryHead, MemoryIndex,
    MemoryPlace, MemoryScope, MemoryText, MemoryUse, MemoryWrite, MemoryWritten,
};
use everfold_memfile::index::{Cap, Caps, INDEX_FILE};
use everfold_memfile::{Frontmatter, Memory};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

mod write;

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
    fn is_meant(&self, front: &Frontmatter) -> bool {
        let branch =
            front.branch.as_ref().is_none_or(|wanted| Some(wanted) == self.branch.as_ref());
        let worktree = front.worktree.as_ref().is_none_or(|wanted| {
            let root = self.worktree.as_deref();
            let name = root.and_then(Path::file_name);
            root == Some(Path::new(wanted)) || name.is_some_and(|name| name == wanted.as_str())
        });
        branch && worktree
    }
}

/// Memories in directories.
pub struct DirMemories {
    places: Vec<MemoryPlace>,
    tiers: Vec<Arc<Tier>>,
    caps: Caps,
    here: Arc<Here>,
}

/// One directory, opened when it is first needed.
struct Tier {
    place: MemoryPlace,
    clock: Arc<dyn Clock>,
    store: Mutex<Option<Arc<Store>>>,
    /// What is known of its files.
    catalogue: Mutex<Option<Catalogue>>,
}

impl DirMemories {
    /// Memories in these directories, links resolved; the indexes are shown in
    /// this order.
    #[must_use]
    pub fn new(places: Vec<MemoryPlace>, here: Here, clock: &Arc<dyn Clock>) -> Self {
        let tier = |place: &MemoryPlace| {
            let (place, clock) = (place.clone(), Arc::clone(clock));
            Arc::new(Tier { place, clock, store: Mutex::default(), catalogue: Mutex::default() })
        };
        let tiers = places.iter().map(tier).collect();
        Self { places, tiers, caps: Caps::default(), here: Arc::new(here) }
    }
}

impl Tier {
    fn store(&self) -> Result<Arc<Store>, MemoryError> {
        let mut slot = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = &*slot {
            return Ok(Arc::clone(store));
        }
        let scope = match self.place.scope {
            MemoryScope::Global => Scope::Global,
            MemoryScope::Project => Scope::Project,
            MemoryScope::Team => Scope::Team,
        };
        let options = Options { scope, ..Options::default() };
        let store = Store::open_with(&self.place.dir, options, self.clock.now())
            .map_err(|error| self.unreadable(&error))?;
        let store = Arc::new(store);
        *slot = Some(Arc::clone(&store));
        Ok(store)
    }

    fn unreadable(&self, error: &Error) -> MemoryError {
        MemoryError::Unreadable { dir: self.place.dir.clone(), message: error.to_string() }
    }

    fn heads(
        &self,
        most: usize,
        bodies: Bodies,
        here: &Here,
    ) -> Result<Vec<MemoryHead>, MemoryError> {
        let store = self.store()?;
        let topics = self.topics(most, here)?.into_iter();
        // Counts are a help for ranking; without them all are alike.
        let counts = store.usage().unwrap_or_default();
        Ok(topics.map(|topic| self.head(&store, topic, bodies, &counts)).collect())
    }

    /// The memories that hold here, newest first. Every file is looked at, and
    /// only what has changed is read.
    fn topics(&self, most: usize, here: &Here) -> Result<Vec<TopicHead>, MemoryError> {
        let mut slot = self.catalogue.lock().unwrap_or_else(PoisonError::into_inner);
        let catalogue = slot.get_or_insert_with(|| Catalogue::open(&self.place.dir));
        let read = catalogue.refresh().map_err(|error| MemoryError::Unreadable {
            dir: self.place.dir.clone(),
            message: error.to_string(),
        })?;
        catalogue.keep(read);
        let mut topics: Vec<TopicHead> = catalogue.cards().iter().map(Card::head).collect();
        topics.retain(|topic| here.is_meant(&topic.front));
        topics.sort_by(|a, b| (b.modified, &a.path).cmp(&(a.modified, &b.path)));
        topics.truncate(most);
        Ok(topics)
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
    fn index(&self, caps: Caps) -> Result<Option<(MemoryIndex, Caps)>, MemoryError> {
        let loaded =
            self.store()?.load_index_within(caps).map_err(|error| self.unreadable(&error))?;
        if loaded.text.trim().is_empty() {
            return Ok(None);
        }
        let took = Caps { lines: loaded.text.lines().count(), bytes: loaded.text.len() };
        let path = self.place.dir.join(INDEX_FILE);
        let cut = loaded.cut.map(|cap| match cap {
            Cap::Lines => format!("cut after {} lines", caps.lines),
            Cap::Bytes => format!("cut after {} bytes", caps.bytes),
        });
        let (scope, text) = (self.place.scope, loaded.text);
        Ok(Some((MemoryIndex { scope, path, text, cut }, took)))
    }
}

impl Memories for DirMemories {
    fn places(&self) -> &[MemoryPlace] {
        &self.places
    }

    fn indexes(&self) -> BoxFuture<'_, Result<Vec<MemoryIndex>, MemoryError>> {
        let (tiers, mut caps) = (self.tiers.clone(), self.caps);
        self.blocking(move || {
            let mut indexes = Vec::new();
            for tier in tiers {
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
        let (tiers, here) = (self.tiers.clone(), Arc::clone(&self.here));
        self.blocking(move || {
            let mut heads = Vec::new();
            for tier in tiers {
                heads.extend(tier.heads(most, bodies, &here)?);
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
        let tier = self.tiers.iter().find(|tier| tier.place.scope == memory.scope).cloned();
        let (path, file, modified) = (memory.path.clone(), memory.file.clone(), memory.modified);
        self.blocking(move || {
            let broken = |message: String| MemoryError::Memory { path: path.clone(), message };
            let tier = tier.ok_or_else(|| broken("there is no such place".into()))?;
            let read = tier.store()?.read(&TopicPath::found(file));
            let read = read.map_err(|error| broken(error.to_string()))?;
            Ok(MemoryText { text: read.text, modified })
        })
    }

    fn write(&self, write: MemoryWrite) -> BoxFuture<'_, Result<MemoryWritten, MemoryError>> {
        let tiers = self.tiers.clone();
        self.blocking(move || write::write(&tiers, &write))
    }

    fn point_to(
        &self,
        paths: Vec<PathBuf>,
        by: MemoryAuthor,
    ) -> BoxFuture<'_, Result<(), MemoryError>> {
        let tiers = self.tiers.clone();
        self.blocking(move || write::point_to(&tiers, &paths, &by))
    }

    fn count(&self, uses: Vec<(PathBuf, MemoryUse)>) -> BoxFuture<'_, Result<(), MemoryError>> {
        let tiers = self.tiers.clone();
        self.blocking(move || write::count(&tiers, &uses))
    }
}

impl DirMemories {
    fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, MemoryError> + Send + 'static,
    ) -> BoxFuture<'_, Result<T, MemoryError>> {
        Box::pin(async move {
            tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
                let dir = self.places.first().map(|place| place.dir.clone()).unwrap_or_default();
                Err(MemoryError::Unreadable { dir, message: error.to_string() })
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::Timestamp;

    struct Noon;

    impl Clock for Noon {
        fn now(&self) -> Timestamp {
            Timestamp::from_second(1_800_000_000).unwrap()
        }

        fn fresh_uuid(&self) -> String {
            String::new()
        }
    }

    fn memories(root: &Path, here: Here) -> DirMemories {
        let place = |scope, name: &str| MemoryPlace { scope, dir: root.join(name) };
        let places =
            vec![place(MemoryScope::Global, "global"), place(MemoryScope::Project, "project")];
        DirMemories::new(places, here, &(Arc::new(Noon) as Arc<dyn Clock>))
    }

    fn write(root: &Path, name: &str, text: &str) {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    #[tokio::test]
    async fn l5_25_the_global_index_comes_first_and_shares_the_caps() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), "project/MEMORY.md", &"- [P](p.md) — here\n".repeat(150));
        write(dir.path(), "global/MEMORY.md", &"- [G](g.md) — all\n".repeat(100));
        let indexes = memories(dir.path(), Here::default()).indexes().await.unwrap();
        let scopes: Vec<_> = indexes.iter().map(|index| index.scope).collect();
        assert_eq!(scopes, [MemoryScope::Global, MemoryScope::Project]);
        assert_eq!(indexes[0].text.lines().count(), 100);
        assert_eq!(indexes[1].text.matches("- [P]").count(), 100);
        assert!(indexes[1].text.contains("it has 150 lines, and at most 100 are read"));
    }

    #[tokio::test]
    async fn l5_1_nothing_is_made_before_it_is_needed() {
        let dir = tempfile::tempdir().unwrap();
        let memories = memories(dir.path(), Here::default());
        assert!(!dir.path().join("project").exists());
        assert!(memories.indexes().await.unwrap().is_empty());
        assert!(dir.path().join("project").is_dir());
        assert!(memories.scan(10, Bodies::Read).await.unwrap().is_empty());
    }

    #[tokio::test]
    async fn r2_both_places_are_scanned_and_bodies_are_read_on_demand() {
        let dir = tempfile::tempdir().unwrap();
        let text =
            "---\nname: Deploys\ndescription: when we deploy\ntype: project\n---\nFridays.\n";
        write(dir.path(), "project/deploy.md", text);
        write(dir.path(), "global/me.md", "I like tea.\n");
        let memories = memories(dir.path(), Here::default());
        let mut heads = memories.scan(10, Bodies::Left).await.unwrap();
        heads.sort_by(|a, b| a.file.cmp(&b.file));
        assert_eq!(heads.len(), 2);
        assert_eq!(
            (heads[0].name.as_str(), heads[0].kind.as_deref()),
            ("Deploys", Some("project"))
        );
        assert_eq!(heads[0].path, dir.path().join("project/deploy.md"));
        assert!(heads.iter().all(|head| head.body.is_empty()));
        assert_eq!(memories.read(&heads[1]).await.unwrap().text, "I like tea.\n");
        let full = memories.scan(10, Bodies::Read).await.unwrap();
        assert!(full.iter().any(|head| head.body == "Fridays.\n"));
        std::fs::remove_file(&heads[1].path).unwrap();
        assert!(memories.read(&heads[1]).await.is_err());
    }

    #[tokio::test]
    async fn l5_25_a_memory_of_another_branch_or_worktree_is_not_found() {
        let dir = tempfile::tempdir().unwrap();
        for (name, key) in [("a", "branch: feature"), ("b", "worktree: side"), ("c", "name: x")] {
            write(dir.path(), &format!("project/{name}.md"), &format!("---\n{key}\n---\ntext\n"));
        }
        let found = |here: Here| {
            let memories = memories(dir.path(), here);
            async move { memories.scan(10, Bodies::Left).await.unwrap().len() }
        };
        assert_eq!(found(Here::default()).await, 1);
        let here = Here { branch: Some("feature".into()), worktree: Some("/w/side".into()) };
        assert_eq!(found(here).await, 3);
    }
}
