//! What the journals of memory tell.

use crate::memory_dirs::MemoryDirs;
use everfold_memory_store::{Action, Author, Store, StoreScope};
use jiff::Timestamp;
use serde_json::{Value, json};

/// How things are with memories.
#[derive(Debug, Default)]
pub(super) struct Memories {
    total: usize,
    used: usize,
    never_used: usize,
    /// Changes by agents.
    by_agents: usize,
    /// Changes that were taken back.
    undone: usize,
}

impl Memories {
    /// Those of this directory and of the person. A store that cannot be read
    /// tells nothing.
    pub(super) fn of(dirs: &MemoryDirs, since: Option<Timestamp>) -> Self {
        let mut memories = Self::default();
        for scope in [StoreScope::Global, StoreScope::Project] {
            if let Ok(Some(store)) = dirs.existing(scope) {
                memories.add(&store, since);
            }
        }
        memories
    }

    fn add(&mut self, store: &Store, since: Option<Timestamp>) {
        let usage = store.usage().unwrap_or_default();
        let topics = store.scan(usize::MAX).unwrap_or_default();
        let counts = topics.iter().filter_map(|topic| usage.get(&topic.path));
        let used = counts.filter(|count| count.used > 0).count();
        self.total += topics.len();
        self.used += used;
        self.never_used += topics.len() - used;
        for entry in store.log(None, usize::MAX).unwrap_or_default() {
            if since.is_some_and(|since| entry.at < since) {
                continue;
            }
            self.undone += if entry.action == Action::Undo { entry.undoes.len() } else { 0 };
            self.by_agents += usize::from(matches!(entry.author, Author::Agent { .. }));
        }
    }

    pub(super) fn rows(&self) -> Vec<(&'static str, String)> {
        if self.total == 0 && self.by_agents == 0 {
            return Vec::new();
        }
        vec![
            ("memories", format!("{}, {} used, {} never", self.total, self.used, self.never_used)),
            ("changes", format!("{} by agents, {} undone", self.by_agents, self.undone)),
        ]
    }

    pub(super) fn to_json(&self) -> Value {
        json!({
            "total": self.total,
            "used": self.used,
            "never_used": self.never_used,
            "changes_by_agents": self.by_agents,
            "undone": self.undone,
        })
    }
}
