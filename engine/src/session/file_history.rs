//! Files as they were before tools changed them (Q12).
//!
//! Before the first change of a file after a message of the person, what it
//! holds is copied beside the transcript, under the name of its hash, and a
//! line of the transcript says so. Every later change adds a line that tells
//! what was written, so that work of a person's own hands is known as such.
//!
//! A copy that cannot be made is said, and the tool goes on: going back is a
//! convenience, and no reason to stop work. Commands are not followed.

use crate::background::Background;
use crate::config::Config;
use crate::event::Event;
use crate::session::log::{LineWriter, Log};
use crate::tools::FileCheckpoints;
use everfold_kernel::ports::{
    BoxFuture, Clock, FileError, FileRead, FileVersion, TranscriptError, Transcripts, World,
};
use everfold_kernel::{Limits, RecordId, SessionId};
use everfold_mail::Isolation;
use everfold_transcript::Checkpoint;
use everfold_transcript::checkpoint::{CheckpointLine, FileBefore};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Where copies are, in the session's directory.
const DIR: &str = "file-history";

/// Why a file cannot be kept or brought back.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CheckpointError {
    #[error("file copies are off (fileCheckpointingEnabled)")]
    Off,
    #[error("{0}")]
    NotKept(String),
    #[error("its copy is gone")]
    Gone,
    #[error("its copy was changed")]
    Changed,
    #[error("it now leads to {}", .0.display())]
    Elsewhere(PathBuf),
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Log(#[from] TranscriptError),
}

/// Keeps files of a session. Clones are the same.
#[derive(Clone)]
pub(crate) struct FileHistory(Arc<Inner>);

struct Inner {
    session: SessionId,
    /// The log that says what was kept.
    lines: LineWriter,
    transcripts: Arc<dyn Transcripts>,
    clock: Arc<dyn Clock>,
    limits: Mutex<Arc<Limits>>,
    background: Background,
    /// Directories that have a history of their own, or none.
    aside: Vec<PathBuf>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The message that is worked on; none before the first.
    message: Option<RecordId>,
    /// What files were at that message.
    before: BTreeMap<PathBuf, FileBefore>,
}

impl FileCheckpoints for FileHistory {
    fn keep<'a>(
        &'a self,
        path: &'a Path,
        old: Option<&'a FileRead>,
        new: Option<&'a [u8]>,
    ) -> BoxFuture<'a, ()> {
        // Whoever watches was told of a copy that could not be made.
        Box::pin(async move { drop(self.keep(path, old, new).await) })
    }
}

impl FileHistory {
    pub(crate) fn new(log: &Log, world: &World, config: &Config, background: &Background) -> Self {
        let session = &log.id;
        let memories = world.memories.iter().flat_map(|memories| memories.places());
        let mut aside: Vec<PathBuf> = memories.map(|place| place.dir.clone()).collect();
        aside.push(world.transcripts.session_dir(session));
        Self(Arc::new(Inner {
            session: session.clone(),
            lines: log.lines().clone(),
            transcripts: Arc::clone(&world.transcripts),
            clock: Arc::clone(&world.clock),
            limits: Mutex::new(Arc::clone(&config.limits)),
            background: background.clone(),
            aside,
            state: Mutex::default(),
        }))
    }

    /// What an agent changes belongs to the message that the main thread works
    /// on, unless it has a checkout of its own.
    pub(crate) fn for_agent(&self, isolation: Isolation) -> Option<Arc<dyn FileCheckpoints>> {
        (isolation == Isolation::None).then(|| Arc::new(self.clone()) as _)
    }

    pub(crate) fn follow(&self, limits: &Arc<Limits>) {
        *self.0.limits.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(limits);
    }

    fn limits(&self) -> Arc<Limits> {
        Arc::clone(&self.0.limits.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Another message has come, or the person went back.
    pub(crate) fn message(&self, record: RecordId) {
        *self.state() = State { message: Some(record), before: BTreeMap::new() };
    }

    /// Keeps what a file is before it is changed to something else. Where
    /// there is no copy, whoever watches was told.
    pub(crate) async fn keep(
        &self,
        path: &Path,
        old: Option<&FileRead>,
        new: Option<&[u8]>,
    ) -> Result<(), CheckpointError> {
        let Inner { lines, clock, background, aside, .. } = &*self.0;
        if self.limits().rewind.file_bytes == 0 {
            return Err(CheckpointError::Off);
        }
        if aside.iter().any(|dir| path.starts_with(dir)) {
            return Ok(());
        }
        let (message, known, place) = {
            let state = self.state();
            let Some(message) = state.message.clone() else { return Ok(()) };
            let place =
                if state.before.is_empty() { CheckpointLine::First } else { CheckpointLine::Later };
            (message, state.before.get(path).cloned(), place)
        };
        let before = match known {
            Some(before) => before,
            None => self.copied(path, old).await,
        };
        let wrote = new.map(|bytes| blake3::hash(bytes).to_hex().to_string());
        let path = path.to_owned();
        self.state().before.insert(path.clone(), before.clone());
        let checkpoint = Checkpoint { message, path, before, wrote };
        let line = checkpoint.line(place, clock.now());
        let written = lines.write(&line).await;
        let failed = match (written, checkpoint.before) {
            (Err(error), _) => CheckpointError::Log(error),
            (Ok(()), FileBefore::NotKept(reason)) => CheckpointError::NotKept(reason),
            (Ok(()), _) => return Ok(()),
        };
        let told = format!("{} cannot be restored: {failed}", checkpoint.path.display());
        background.tell(Event::Notice(told));
        Err(failed)
    }

    /// What a file is, with a copy of it.
    async fn copied(&self, path: &Path, old: Option<&FileRead>) -> FileBefore {
        let Some(old) = old else { return FileBefore::Absent };
        let most = self.limits().rewind.file_bytes;
        let bytes = u64::try_from(old.bytes.len()).unwrap_or(u64::MAX);
        if bytes > most {
            return FileBefore::NotKept(format!(
                "it had {bytes} bytes, over the limit of {most} (rewind.file_bytes)"
            ));
        }
        let name = format!("{}@v1", old.version.0);
        let place = Path::new(DIR).join(&name);
        match self.0.transcripts.keep(&self.0.session, &place, &old.bytes).await {
            Ok(_) => FileBefore::Kept(name),
            Err(error) => {
                tracing::warn!(%error, path = %path.display(), "no copy was kept");
                FileBefore::NotKept(format!("no copy could be saved ({error})"))
            }
        }
    }

    /// A copy, whole and as it was made.
    pub(crate) async fn copy(&self, name: &str) -> Result<Vec<u8>, CheckpointError> {
        let read = self.read(&self.0.session, name).await?.ok_or(CheckpointError::Gone)?;
        let expected = name.split('@').next().unwrap_or_default();
        if read.version != FileVersion(expected.to_owned()) {
            return Err(CheckpointError::Changed);
        }
        Ok(read.bytes.to_vec())
    }

    /// Takes a copy along from the session that this one was forked from.
    pub(crate) async fn adopt(&self, from: &SessionId, name: &str) {
        let place = Path::new(DIR).join(name);
        let taken = match self.read(from, name).await {
            Ok(Some(read)) => {
                let kept = self.0.transcripts.keep(&self.0.session, &place, &read.bytes).await;
                kept.map(|_| ())
            }
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        if let Err(error) = taken {
            tracing::warn!(%error, "a copy of a file was not taken along");
        }
    }

    async fn read(&self, session: &SessionId, name: &str) -> Result<Option<FileRead>, FileError> {
        // A name is one part of a path, whatever the line says (S1).
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '@';
        if !name.chars().all(plain) {
            return Ok(None);
        }
        let place = Path::new(DIR).join(name);
        self.0.transcripts.beside(session, &place, self.limits().read_file_bytes).await
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
