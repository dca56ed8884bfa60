//! Whose words a file holds (L5.33).

use crate::ToolContext;
use everfold_kernel::ToolUseId;
use everfold_kernel::provenance::{Carrier, Provenance, Source};
use everfold_memory_file::Memory;
use everfold_memory_file::frontmatter::{Fence, fence};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Lines at the start of a memory in which it says what it rests on.
const HEAD_LINES: u64 = 200;
/// Most bytes that are looked through for them.
const HEAD_BYTES: u64 = 1 << 20;

/// The directories that say whose words their files hold.
struct Places {
    session: [PathBuf; 2],
    memories: Vec<PathBuf>,
}

impl ToolContext {
    /// Whose words a file holds, by where it lies. A memory says it itself; a
    /// result that was put aside is what its tool said it is.
    pub(crate) async fn origin(&self, path: &Path) -> Provenance {
        self.origin_in(&self.places().await, path).await
    }

    /// The least trusted of several files.
    pub(crate) async fn origin_of_all(&self, paths: BTreeSet<PathBuf>) -> Provenance {
        let places = self.places().await;
        let mut lowest = None;
        for path in paths {
            lowest = lowest.max(Some(self.origin_in(&places, &path).await));
        }
        lowest.unwrap_or(Source::Repository.into())
    }

    async fn origin_in(&self, places: &Places, path: &Path) -> Provenance {
        let lies_in = |dir: &PathBuf| path.starts_with(dir);
        if places.session.iter().any(lies_in) {
            return self.spilled_origin(path);
        }
        if !places.memories.iter().any(lies_in) {
            return Source::Repository.into();
        }
        let head = self.world.files.read_lines(path, 1, HEAD_LINES, HEAD_BYTES).await;
        let head = head.map(|read| String::from_utf8_lossy(&read.bytes).into_owned());
        let source = head.map_or(Source::Model, |text| memory_source(&text));
        Provenance::through(Carrier::Memory, source)
    }

    /// Each by both of its names, where it is a link.
    async fn places(&self) -> Places {
        let files = &self.world.files;
        let mut memories = Vec::new();
        for place in self.world.memories.iter().flat_map(|memories| memories.places()) {
            memories.push(files.resolve(&place.dir).await);
            memories.push(place.dir.clone());
        }
        let session = [files.resolve(&self.session_dir).await, self.session_dir.clone()];
        Places { session, memories }
    }

    fn spilled_origin(&self, path: &Path) -> Provenance {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        self.result_origin(&ToolUseId::new(stem)).unwrap_or(Source::Command.into())
    }
}

/// On whose words a memory rests. One that names nobody rests on the person's;
/// what is no memory, such as an index, was put together by a model.
fn memory_source(text: &str) -> Source {
    match fence(text) {
        Fence::Closed { .. } => {
            Memory::parse(text).front.provenance.map_or(Source::Person, |own| own.source)
        }
        _ => Source::Model,
    }
}
