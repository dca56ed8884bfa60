//! Files, with the memory directories kept in order.
//!
//! Tools write memories like any other file. Here such a write becomes a
//! proposal, whoever writes: it passes the same gate (L5.39), and becomes one
//! change with its line in the index, its entry in the history and where it
//! came from. A refusal reaches the model as the tool's error.

use crate::session::memory_keeper::Keeper;
use everfold_kernel::ports::{
    AGENT_MEMORY_LOCAL, BoxFuture, Expect, FileError, FileRead, FileStat, FileVersion, Files,
    Haste, Kept, LinesRead, Memories, MemoryAuthor, MemoryBefore, MemoryPlacement, MemoryProposal,
    MemoryWriter,
};
use everfold_kernel::testimony::Testimony;
use everfold_kernel::{QuerySource, RecordId, SessionId};
use everfold_memory_judge::secrets;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What the main agent reads where a memory is only proposed.
const WAITS: &str = "it is not saved yet: it does not rest on what the person typed, so it waits \
    for their word in the inbox (everfold memory inbox); leave it there";
/// The folder of a memory directory that holds no topics but days (L5.22).
const LOGS: &str = "logs";

/// The files of a session that has memories.
pub(crate) struct MemoryFiles {
    inner: Arc<dyn Files>,
    memories: Arc<dyn Memories>,
    writer: Writer,
}

pub(crate) enum Writer {
    /// The main agent, in front of the person.
    Main(Main),
    /// An agent that reviews the conversation, and the gate before it.
    Reviewer(Arc<Keeper>),
}

#[derive(Clone)]
pub(crate) struct Main {
    pub(crate) session: SessionId,
    pub(crate) at_work: AtWork,
}

/// What the main agent works on. Clones are the same one.
#[derive(Clone, Default)]
pub(crate) struct AtWork(Arc<Mutex<Work>>);

#[derive(Default)]
struct Work {
    prompt: Option<RecordId>,
    /// What a memory that it writes can rest on.
    heard: Testimony,
}

impl AtWork {
    /// Another message of the person came.
    pub(crate) fn on(&self, prompt: RecordId) {
        self.work().prompt = Some(prompt);
    }

    /// What a memory that it writes next can rest on.
    pub(crate) fn hear(&self, testimony: Testimony) {
        self.work().heard = testimony;
    }

    fn work(&self) -> MutexGuard<'_, Work> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MemoryFiles {
    pub(crate) fn new(inner: Arc<dyn Files>, memories: Arc<dyn Memories>, writer: Writer) -> Self {
        Self { inner, memories, writer }
    }

    /// The directory of memories that a path is in, the innermost, and where.
    fn inside<'a>(&self, path: &'a Path) -> Option<(PathBuf, &'a Path)> {
        let places = self.memories.places().iter();
        let inside =
            places.filter_map(|place| Some((&place.dir, path.strip_prefix(&place.dir).ok()?)));
        let (dir, inside) = inside.max_by_key(|(dir, _)| dir.components().count())?;
        // What a kind of agent keeps is its own (L5.20).
        (!inside.starts_with(AGENT_MEMORY_LOCAL)).then(|| (dir.clone(), inside))
    }

    async fn save(
        &self,
        path: &Path,
        bytes: &[u8],
        expect: Expect,
    ) -> Result<FileVersion, FileError> {
        let refused = |reason: String| FileError::Refused { path: path.to_owned(), reason };
        let Ok(text) = std::str::from_utf8(bytes) else {
            return Err(refused("a memory is UTF-8 text".to_owned()));
        };
        let before = self.before(path, expect).await?;
        let kept = match &self.writer {
            Writer::Main(main) => self.memories.keep(main.proposal(path, text, before)).await,
            Writer::Reviewer(keeper) => keeper.write(&*self.memories, path, text, before).await,
        };
        match kept.map_err(|error| refused(error.to_string()))? {
            Kept::Refused { reason } => return Err(refused(reason)),
            // The main agent would go on as if it were there.
            Kept::Proposed { .. } if matches!(self.writer, Writer::Main(_)) => {
                return Err(refused(WAITS.to_owned()));
            }
            _ => {}
        }
        // A proposal is not there yet, and an update may have gone elsewhere.
        let read = self.inner.read(path, u64::MAX).await;
        Ok(read.map_or_else(|_| FileVersion(String::new()), |read| read.version))
    }

    /// What the store has to find, for what the tool expects to be there.
    async fn before(&self, path: &Path, expect: Expect) -> Result<MemoryBefore, FileError> {
        match expect {
            Expect::Anything => Ok(MemoryBefore::Anything),
            Expect::Absent => Ok(MemoryBefore::Absent),
            Expect::Version(version) => {
                let read = self.inner.read(path, u64::MAX).await?;
                if read.version != version {
                    return Err(FileError::Changed { path: path.to_owned() });
                }
                match String::from_utf8(read.bytes.to_vec()) {
                    Ok(text) => Ok(MemoryBefore::Text(text)),
                    Err(_) => Ok(MemoryBefore::Anything),
                }
            }
        }
    }

    /// A file of the memory directory that is no topic: only screened.
    async fn note(
        &self,
        path: &Path,
        bytes: &[u8],
        expect: Expect,
    ) -> Result<FileVersion, FileError> {
        if let Some(finding) = secrets::find(&String::from_utf8_lossy(bytes)).first() {
            let reason = format!("it holds {finding}; take it out and say where it is kept");
            return Err(FileError::Refused { path: path.to_owned(), reason });
        }
        self.inner.write(path, bytes, expect).await
    }
}

impl Main {
    fn proposal(&self, path: &Path, text: &str, before: MemoryBefore) -> MemoryProposal {
        let testimony = self.at_work.work().heard.clone();
        let place = MemoryPlacement::At { path: path.to_owned(), before };
        let (text, by, haste) = (text.to_owned(), self.author(), Haste::AtOnce);
        MemoryProposal { text, place, testimony, by, haste }
    }

    /// The main agent, as the history names it.
    pub(crate) fn author(&self) -> MemoryAuthor {
        MemoryAuthor {
            who: MemoryWriter::Agent(QuerySource::Main.to_string()),
            reason: String::new(),
            session: Some(self.session.clone()),
            messages: self.at_work.work().prompt.iter().cloned().collect(),
        }
    }
}

impl Files for MemoryFiles {
    fn stat<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<FileStat, FileError>> {
        self.inner.stat(path)
    }

    fn resolve<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, PathBuf> {
        self.inner.resolve(path)
    }

    fn read<'a>(
        &'a self,
        path: &'a Path,
        max_bytes: u64,
    ) -> BoxFuture<'a, Result<FileRead, FileError>> {
        self.inner.read(path, max_bytes)
    }

    fn read_lines<'a>(
        &'a self,
        path: &'a Path,
        first: u64,
        count: u64,
        max_bytes: u64,
    ) -> BoxFuture<'a, Result<LinesRead, FileError>> {
        self.inner.read_lines(path, first, count, max_bytes)
    }

    fn list<'a>(
        &'a self,
        dir: &'a Path,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<PathBuf>, FileError>> {
        self.inner.list(dir, most)
    }

    fn write<'a>(
        &'a self,
        path: &'a Path,
        bytes: &'a [u8],
        expect: Expect,
    ) -> BoxFuture<'a, Result<FileVersion, FileError>> {
        match self.inside(path) {
            None => self.inner.write(path, bytes, expect),
            Some((_, inside)) if inside.starts_with(LOGS) => {
                Box::pin(self.note(path, bytes, expect))
            }
            Some(_) => Box::pin(self.save(path, bytes, expect)),
        }
    }

    fn remove<'a>(
        &'a self,
        path: &'a Path,
        version: FileVersion,
    ) -> BoxFuture<'a, Result<(), FileError>> {
        match self.inside(path) {
            None => self.inner.remove(path, version),
            // Memories have a history of their own.
            Some(_) => Box::pin(async move { Err(FileError::Denied { path: path.to_owned() }) }),
        }
    }
}
