//! The transcripts of one project on the disk (Q4, C3): one JSONL file for
//! each session, and beside it a directory with the session's other files.
//!
//! A session's name becomes a file name, so only letters, digits and `-` are
//! taken; nothing else reaches the disk.

use crate::claims::{self, Exclusion, Writers};
use crate::error::Error;
use crate::jsonl::{self, LinesSeen};
use crate::root::Root;
use everfold_kernel::ids::SessionId;
use everfold_kernel::limits::Limits;
use everfold_kernel::ports::{
    BoxFuture, Expect, FileError, FileRead, FileVersion, Glimpse, LoadedTranscript, SessionClaim,
    SessionHolder, TranscriptError, TranscriptPart, Transcripts,
};
use jiff::Timestamp;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// How much of each end of a transcript a list is made from.
const GLIMPSE_BYTES: u64 = 64 << 10;
/// Longer names are refused; with the ending, file systems take 255.
const MAX_NAME_BYTES: usize = 200;
pub(crate) const EXTENSION: &str = "jsonl";

/// The transcripts in one project's directory.
#[derive(Debug)]
pub struct DiskTranscripts {
    dir: PathBuf,
    max_line: u64,
    exclusion: Exclusion,
    writers: Arc<Mutex<Writers>>,
}

impl DiskTranscripts {
    /// The transcripts of a directory, which is made by the first append.
    #[must_use]
    pub fn new(project_dir: PathBuf) -> Self {
        Self {
            dir: project_dir,
            max_line: Limits::default().transcript_line_bytes,
            exclusion: Exclusion::BySession,
            writers: Arc::default(),
        }
    }

    /// Sets the longest line that is written and read, in bytes.
    #[must_use]
    pub fn with_max_line(mut self, bytes: u64) -> Self {
        self.max_line = bytes;
        self
    }

    fn append_now(&self, session: &SessionId, line: &[u8]) -> Result<(), TranscriptError> {
        let path = self.path(session);
        let failed = |message: String| TranscriptError::Write { path: path.clone(), message };
        if let Some(flaw) = flaw(session) {
            return Err(failed(flaw));
        }
        if line.len() as u64 > self.max_line {
            let (has, max) = (line.len(), self.max_line);
            return Err(failed(format!(
                "a line of {has} bytes is over the {max} that can be read back"
            )));
        }
        let mut writers = claims::lock(&self.writers);
        let appender = writers.appender(session, &path, self.exclusion)?;
        appender.append(line).map_err(|error| failed(error.to_string()))
    }

    fn load_now(
        &self,
        session: &SessionId,
        sink: &mut (dyn FnMut(&[u8]) + Send),
    ) -> Result<LoadedTranscript, TranscriptError> {
        let all = TranscriptPart::default();
        self.read(session, |path| {
            jsonl::read_part(path, self.max_line, &all, &mut |_, line| sink(line)).map(loaded)
        })
    }

    fn read<T>(
        &self,
        session: &SessionId,
        read: impl FnOnce(&Path) -> Result<T, Error>,
    ) -> Result<T, TranscriptError> {
        let path = self.path(session);
        if let Some(message) = flaw(session) {
            return Err(TranscriptError::Read { path, message });
        }
        read(&path).map_err(|error| match error {
            Error::NotFound { path } => {
                TranscriptError::NotFound { session: session.clone(), path }
            }
            error => TranscriptError::Read { path, message: error.to_string() },
        })
    }
}

fn loaded(seen: LinesSeen) -> LoadedTranscript {
    LoadedTranscript { lines: seen.lines, torn_bytes: seen.torn_bytes, skipped: seen.skipped }
}

impl Transcripts for DiskTranscripts {
    fn append<'a>(
        &'a self,
        session: &'a SessionId,
        line: &'a [u8],
    ) -> BoxFuture<'a, Result<(), TranscriptError>> {
        // Done right here and not on another thread: it is one write into the
        // page cache, and a future that was dropped half-way writes nothing.
        Box::pin(async move { self.append_now(session, line) })
    }

    fn load<'a>(
        &'a self,
        session: &'a SessionId,
        sink: &'a mut (dyn FnMut(&[u8]) + Send),
    ) -> BoxFuture<'a, Result<LoadedTranscript, TranscriptError>> {
        // The sink is borrowed and cannot go to another thread. A session is
        // loaded before it does anything else, so nothing waits meanwhile.
        Box::pin(async move { self.load_now(session, sink) })
    }

    fn newest<'a>(
        &'a self,
        session: &'a SessionId,
        opening: &'a [u8],
    ) -> BoxFuture<'a, Result<Option<Vec<u8>>, TranscriptError>> {
        let find = |path: &Path| jsonl::newest(path, self.max_line, opening);
        Box::pin(async move { self.read(session, find) })
    }

    fn load_part<'a>(
        &'a self,
        session: &'a SessionId,
        part: &'a TranscriptPart,
        sink: &'a mut (dyn FnMut(u64, &[u8]) + Send),
    ) -> BoxFuture<'a, Result<Option<LoadedTranscript>, TranscriptError>> {
        Box::pin(async move {
            let mut sink = |start: u64, line: &[u8]| sink(start, line);
            let read = |path: &Path| jsonl::read_part(path, self.max_line, part, &mut sink);
            Ok(Some(loaded(self.read(session, read)?)))
        })
    }

    fn glimpse(&self) -> BoxFuture<'_, Result<Vec<Glimpse>, TranscriptError>> {
        let dir = self.dir.clone();
        Box::pin(async move {
            let path = dir.clone();
            let done = tokio::task::spawn_blocking(move || glimpse(&dir)).await;
            done.unwrap_or_else(|failed| {
                let message = failed.to_string();
                Err(TranscriptError::Read { path, message })
            })
        })
    }

    fn touched(&self) -> BoxFuture<'_, Result<Vec<(SessionId, Timestamp)>, TranscriptError>> {
        let dir = self.dir.clone();
        Box::pin(async move {
            let path = dir.clone();
            let done = tokio::task::spawn_blocking(move || touched(&dir)).await;
            done.unwrap_or_else(|failed| {
                let message = failed.to_string();
                Err(TranscriptError::Read { path, message })
            })
        })
    }

    fn keep<'a>(
        &'a self,
        session: &'a SessionId,
        place: &'a Path,
        bytes: &'a [u8],
    ) -> BoxFuture<'a, Result<PathBuf, FileError>> {
        Box::pin(async move {
            let dir = self.session_dir(session);
            let root = Root::create(&dir)?;
            let path = dir.join(place);
            match root.create_new(place, bytes) {
                Ok(()) => Ok(path),
                // A file in the place of the directory is there too, and keeps nothing.
                Err(Error::Exists { .. }) if path.is_file() => Ok(path),
                Err(error) => Err(error.into()),
            }
        })
    }

    fn subagents(&self, session: &SessionId) -> Option<Arc<dyn Transcripts>> {
        let own = Self::new(self.session_dir(session).join("subagents"));
        let own = Self { exclusion: Exclusion::None, ..own };
        Some(Arc::new(own.with_max_line(self.max_line)))
    }

    fn claim(&self, session: &SessionId) -> Result<SessionClaim, TranscriptError> {
        if self.exclusion == Exclusion::None || flaw(session).is_some() {
            return Ok(SessionClaim::default());
        }
        claims::claim(&self.writers, session, &self.path(session))
    }

    fn holder(&self, session: &SessionId) -> Option<SessionHolder> {
        claims::holder(&self.path(session))
    }

    fn beside<'a>(
        &'a self,
        session: &'a SessionId,
        place: &'a Path,
        max_bytes: u64,
    ) -> BoxFuture<'a, Result<Option<FileRead>, FileError>> {
        Box::pin(async move {
            let read =
                Root::open(&self.session_dir(session)).and_then(|root| root.read(place, max_bytes));
            match read {
                Ok(bytes) => Ok(Some(FileRead { version: version(&bytes), bytes: bytes.into() })),
                Err(Error::NotFound { .. }) => Ok(None),
                Err(error) => Err(error.into()),
            }
        })
    }

    fn replace<'a>(
        &'a self,
        session: &'a SessionId,
        place: &'a Path,
        bytes: &'a [u8],
        expect: Expect,
    ) -> BoxFuture<'a, Result<(), FileError>> {
        Box::pin(async move {
            let dir = self.session_dir(session);
            let root = Root::create(&dir)?;
            match expect {
                Expect::Absent => root.create_new(place, bytes)?,
                Expect::Anything => root.write(place, bytes)?,
                Expect::Version(expected) => {
                    if version(&root.read(place, self.max_line)?) != expected {
                        return Err(FileError::Changed { path: dir.join(place) });
                    }
                    root.write(place, bytes)?;
                }
            }
            Ok(())
        })
    }

    fn session_dir(&self, session: &SessionId) -> PathBuf {
        self.dir.join(file_name(session))
    }

    fn path(&self, session: &SessionId) -> PathBuf {
        self.dir.join(format!("{}.{EXTENSION}", file_name(session)))
    }
}

fn version(bytes: &[u8]) -> FileVersion {
    FileVersion(blake3::hash(bytes).to_hex().to_string())
}

pub(crate) fn is_plain(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    (1..=MAX_NAME_BYTES).contains(&name.len()) && name.bytes().all(plain)
}

/// What is wrong with the name of a session, if anything is.
fn flaw(session: &SessionId) -> Option<String> {
    let name = session.as_str();
    let told = || format!("{name:?} cannot name a session; use letters, digits and '-'");
    (!is_plain(name)).then(told)
}

/// The session's name as one part of a path. For a name that is refused
/// anyway it still stays in the directory.
fn file_name(session: &SessionId) -> String {
    let plain = |c: char| match c {
        '-' => '-',
        c if c.is_ascii_alphanumeric() => c,
        _ => '_',
    };
    let name: String = session.as_str().chars().map(plain).collect();
    if name.is_empty() { "_".into() } else { name }
}

fn failed(dir: &Path, source: &std::io::Error) -> TranscriptError {
    TranscriptError::Read { path: dir.to_path_buf(), message: source.to_string() }
}

/// Every transcript of a directory; none where there is no directory.
fn each<T>(
    dir: &Path,
    look: impl Fn(&std::fs::DirEntry, SessionId) -> Option<T>,
) -> Result<Vec<T>, TranscriptError> {
    let items = match std::fs::read_dir(dir) {
        Ok(items) => items,
        Err(source) if source.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(failed(dir, &source)),
    };
    let mut found = Vec::new();
    for item in items {
        let item = item.map_err(|source| failed(dir, &source))?;
        // One that cannot be read must not hide the others.
        found.extend(session_of(&item.path()).and_then(|session| look(&item, session)));
    }
    Ok(found)
}

fn touched(dir: &Path) -> Result<Vec<(SessionId, Timestamp)>, TranscriptError> {
    each(dir, |item, session| {
        let modified = item.metadata().ok()?.modified().ok()?;
        Some((session, Timestamp::try_from(modified).ok()?))
    })
}

fn glimpse(dir: &Path) -> Result<Vec<Glimpse>, TranscriptError> {
    let mut found = each(dir, |item, session| one_glimpse(&item.path(), session))?;
    found.sort_by(|a, b| (b.modified, &a.session).cmp(&(a.modified, &b.session)));
    Ok(found)
}

/// The session of a transcript's path. Files of agents, which an older layout
/// kept here too, are not sessions.
fn session_of(path: &Path) -> Option<SessionId> {
    let is_jsonl = path.extension().is_some_and(|ending| ending == EXTENSION);
    let stem = path.file_stem()?.to_str()?;
    (is_jsonl && is_plain(stem) && !stem.starts_with("agent-")).then(|| SessionId::new(stem))
}

fn one_glimpse(path: &Path, session: SessionId) -> Option<Glimpse> {
    let ends = jsonl::head_and_tail(path, GLIMPSE_BYTES).ok()?;
    Some(Glimpse {
        session,
        modified: Timestamp::try_from(ends.modified).ok()?,
        bytes: ends.bytes,
        head: ends.head,
        tail: ends.tail,
    })
}
