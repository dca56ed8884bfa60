//! Where the log is kept.

use super::{BoxFuture, Expect, FileError, FileRead};
use crate::error::{Class, Classify};
use crate::ids::SessionId;
use jiff::Timestamp;
use std::any::Any;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The transcripts of one project.
pub trait Transcripts: Send + Sync {
    /// Appends one line (without its newline). When the future is done the
    /// line survives the end of the process, whatever ends it.
    fn append<'a>(
        &'a self,
        session: &'a SessionId,
        line: &'a [u8],
    ) -> BoxFuture<'a, Result<(), TranscriptError>>;

    /// Hands every whole line to `sink`, in order. A torn last line is left
    /// out and counted, never an error.
    fn load<'a>(
        &'a self,
        session: &'a SessionId,
        sink: &'a mut (dyn FnMut(&[u8]) + Send),
    ) -> BoxFuture<'a, Result<LoadedTranscript, TranscriptError>>;

    /// The newest line that begins with these bytes, looked for from the end
    /// (E11); none where there is none, or where lines have no places.
    fn newest<'a>(
        &'a self,
        session: &'a SessionId,
        opening: &'a [u8],
    ) -> BoxFuture<'a, Result<Option<Vec<u8>>, TranscriptError>> {
        let _ = (session, opening);
        Box::pin(async { Ok(None) })
    }

    /// Hands on a part of the lines, each with where it begins: single ones,
    /// as they are named, and then all from a place on. A single one that is
    /// not there is left out. None where lines have no places (E11).
    fn load_part<'a>(
        &'a self,
        session: &'a SessionId,
        part: &'a TranscriptPart,
        sink: &'a mut (dyn FnMut(u64, &[u8]) + Send),
    ) -> BoxFuture<'a, Result<Option<LoadedTranscript>, TranscriptError>> {
        let _ = (session, part, sink);
        Box::pin(async { Ok(None) })
    }

    /// All transcripts, newest first, with as much of each as a list needs.
    fn glimpse(&self) -> BoxFuture<'_, Result<Vec<Glimpse>, TranscriptError>>;

    /// All transcripts with when they were last written, in no order. Nothing
    /// of them is read: thousands take milliseconds.
    fn touched(&self) -> BoxFuture<'_, Result<Vec<(SessionId, Timestamp)>, TranscriptError>> {
        Box::pin(async move {
            let all = self.glimpse().await?;
            Ok(all.into_iter().map(|one| (one.session, one.modified)).collect())
        })
    }

    /// Keeps a file beside the transcript: written whole, once, for its owner
    /// alone. One that is there already stays as it is. Gives its path.
    fn keep<'a>(
        &'a self,
        session: &'a SessionId,
        place: &'a Path,
        bytes: &'a [u8],
    ) -> BoxFuture<'a, Result<PathBuf, FileError>>;

    /// Where the logs of a session's agents are kept, each under the name
    /// `agent-<id>`; none where they lie beside the session's own.
    fn subagents(&self, session: &SessionId) -> Option<Arc<dyn Transcripts>> {
        let _ = session;
        None
    }

    /// A file beside the transcript as it is now, at most so many bytes; none
    /// where there is none. A link that leads out of the session's directory
    /// is refused (S1). Where such files are not known, there are none.
    fn beside<'a>(
        &'a self,
        session: &'a SessionId,
        place: &'a Path,
        max_bytes: u64,
    ) -> BoxFuture<'a, Result<Option<FileRead>, FileError>> {
        let _ = (session, place, max_bytes);
        Box::pin(async { Ok(None) })
    }

    /// Writes a file beside the transcript whole or not at all, for its owner
    /// alone, if what is there is as expected. A link that leads out of the
    /// session's directory is refused (S1).
    fn replace<'a>(
        &'a self,
        session: &'a SessionId,
        place: &'a Path,
        bytes: &'a [u8],
        expect: Expect,
    ) -> BoxFuture<'a, Result<(), FileError>> {
        let _ = (bytes, expect);
        let path = self.session_dir(session).join(place);
        Box::pin(async move { Err(FileError::Denied { path }) })
    }

    /// Takes a session for this process alone, until what is given is dropped
    /// (S13). Where no other process could write it, nothing has to be taken.
    ///
    /// # Errors
    /// If another process has it.
    fn claim(&self, session: &SessionId) -> Result<SessionClaim, TranscriptError> {
        let _ = session;
        Ok(SessionClaim::default())
    }

    /// Who has a session open, if that is another process.
    fn holder(&self, session: &SessionId) -> Option<SessionHolder> {
        let _ = session;
        None
    }

    /// The directory of a session's other files (spills, jobs, notes).
    fn session_dir(&self, session: &SessionId) -> PathBuf;

    /// The file of a session's transcript.
    fn path(&self, session: &SessionId) -> PathBuf;
}

/// A session that nobody else writes before this is dropped.
#[derive(Default)]
pub struct SessionClaim {
    _held: Option<Box<dyn Any + Send + Sync>>,
}

impl SessionClaim {
    /// One that is given back by dropping this.
    pub fn of(held: impl Any + Send + Sync) -> Self {
        Self { _held: Some(Box::new(held)) }
    }
}

/// The process that has a session open, as far as it said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionHolder {
    pub pid: Option<u32>,
    pub since: Option<Timestamp>,
}

impl fmt::Display for SessionHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("another process")?;
        let since = self.since.map(|since| since.strftime("since %Y-%m-%d %H:%M:%SZ").to_string());
        let known: Vec<String> =
            self.pid.map(|pid| format!("pid {pid}")).into_iter().chain(since).collect();
        if known.is_empty() { Ok(()) } else { write!(f, " ({})", known.join(", ")) }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoadedTranscript {
    /// Whole lines.
    pub lines: u64,
    /// Bytes of a torn last line.
    pub torn_bytes: u64,
    /// Lines that were too long to be read.
    pub skipped: u64,
}

/// Where a line stands in its file, its newline left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineSpan {
    /// Its first byte, from the start of the file.
    pub start: u64,
    /// How many bytes it has.
    pub bytes: u64,
}

/// What is read of a transcript. The default is all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TranscriptPart {
    /// Single lines.
    pub lines: Vec<LineSpan>,
    /// Where the line begins from which on all are read.
    pub from: u64,
}

/// The start and the end of a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glimpse {
    pub session: SessionId,
    /// When the file was last written.
    pub modified: Timestamp,
    pub bytes: u64,
    /// Its first bytes, in whole lines.
    pub head: Vec<u8>,
    /// Its last bytes, in whole lines; empty where the head is the whole file.
    pub tail: Vec<u8>,
}

/// Why a transcript could not be read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TranscriptError {
    /// There is none.
    #[error("no session {session} in this project (looked in {path})")]
    NotFound { session: SessionId, path: PathBuf },
    /// Another process writes it (S13).
    #[error("session {session} is open in {holder}")]
    InUse { session: SessionId, holder: SessionHolder },
    /// Nothing can be written.
    #[error("the transcript {path} cannot be written: {message}; nothing more would be saved")]
    Write { path: PathBuf, message: String },
    /// Nothing can be read.
    #[error("the transcript {path} cannot be read: {message}")]
    Read { path: PathBuf, message: String },
}

impl Classify for TranscriptError {
    fn class(&self) -> Class {
        match self {
            Self::InUse { .. } => Class::Refuse,
            Self::NotFound { .. } | Self::Write { .. } | Self::Read { .. } => Class::Stop,
        }
    }
}
