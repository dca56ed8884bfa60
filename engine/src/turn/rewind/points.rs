//! Points, and what happened to files since.

use crate::session::Session;
use crate::session::file_history::CheckpointError;
use everfold_kernel::ports::FileError;
use everfold_kernel::{Limits, RecordId, Timestamp};
use everfold_transcript::trace::{Stop, StopKind};
use everfold_transcript::{Checkpoint, Trace, checkpoint::FileBefore};
use similar::{ChangeTag, TextDiff};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// How long a diff may think; then it gives a coarser one.
const DIFF_TIME: Duration = Duration::from_millis(200);

/// A point to go back to.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Its number, from 1; it stays the same while the conversation goes on.
    pub number: usize,
    pub id: RecordId,
    pub kind: PointKind,
    /// What the person said, in its first characters; empty for a step back.
    pub text: String,
    pub at: Timestamp,
    /// Files that are not what they were then.
    pub files: Vec<ChangedFile>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointKind {
    /// A message of the person: one goes back to before it.
    Message,
    /// An earlier step back: going back to it undoes it.
    WentBack,
}

/// A file that changed since a point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    pub path: PathBuf,
    /// Lines that came since.
    pub added: usize,
    /// Lines that went since.
    pub removed: usize,
    /// What it is now.
    pub standing: Standing,
}

/// What a file is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// What a tool last wrote.
    AsWritten,
    /// Somebody changed it since a tool last wrote it.
    ByHand,
    /// It cannot be put back, for this reason.
    Stuck(String),
}

impl Point {
    pub(super) fn of(number: usize, stop: &Stop, files: Vec<ChangedFile>, limits: &Limits) -> Self {
        let (kind, text) = match &stop.kind {
            StopKind::Said(text) => (PointKind::Message, text.as_str()),
            StopKind::WentBack(_) => (PointKind::WentBack, ""),
        };
        let text = text.chars().take(limits.rewind.text_chars).collect();
        Self { number, id: stop.id.clone(), kind, text, at: stop.at, files }
    }
}

/// Looks at files, each version once for all points.
pub(super) struct Looks<'a> {
    session: &'a Session,
    seen: BTreeMap<(PathBuf, String), Option<ChangedFile>>,
}

impl<'a> Looks<'a> {
    pub(super) fn new(session: &'a Session) -> Self {
        Self { session, seen: BTreeMap::new() }
    }

    /// The files that are not what they were at a stop.
    pub(super) async fn since(&mut self, trace: &Trace, stop: &Stop) -> Vec<ChangedFile> {
        let mut found = Vec::new();
        for checkpoint in trace.changed_since(stop.line) {
            let key = (checkpoint.path.clone(), format!("{:?}", checkpoint.before));
            if !self.seen.contains_key(&key) {
                let look = look_at_change(self.session, &checkpoint).await;
                self.seen.insert(key.clone(), look);
            }
            found.extend(self.seen.get(&key).cloned().flatten());
        }
        found
    }
}

/// What happened to a file; none where it is what it was.
async fn look_at_change(session: &Session, checkpoint: &Checkpoint) -> Option<ChangedFile> {
    let stuck = |error: CheckpointError| {
        let (path, reason) = (checkpoint.path.clone(), error.to_string());
        Some(ChangedFile { path, added: 0, removed: 0, standing: Standing::Stuck(reason) })
    };
    let now = match file_now(session, &checkpoint.path).await {
        Ok(now) => now,
        Err(reason) => return stuck(reason),
    };
    let then = match file_then(session, &checkpoint.before).await {
        Ok(then) => then,
        Err(reason) => return stuck(reason),
    };
    let bytes = now.as_ref().map(|now| now.bytes.as_ref());
    if bytes == then.as_deref() {
        return None;
    }
    let (added, removed) = changed(then.as_deref(), bytes);
    let version = now.as_ref().map(|now| now.version.0.as_str());
    let standing =
        if version == checkpoint.wrote.as_deref() { Standing::AsWritten } else { Standing::ByHand };
    Some(ChangedFile { path: checkpoint.path.clone(), added, removed, standing })
}

/// What a file was; none where there was none.
pub(super) async fn file_then(
    session: &Session,
    before: &FileBefore,
) -> Result<Option<Vec<u8>>, CheckpointError> {
    match before {
        FileBefore::Absent => Ok(None),
        FileBefore::NotKept(reason) => Err(CheckpointError::NotKept(reason.clone())),
        FileBefore::Kept(name) => session.crew.agents.seat().history.copy(name).await.map(Some),
    }
}

/// What a file is; none where there is none.
pub(super) async fn file_now(
    session: &Session,
    path: &std::path::Path,
) -> Result<Option<everfold_kernel::ports::FileRead>, CheckpointError> {
    let files = &session.world.files;
    // The path was resolved when the file was changed. A link that was put
    // there since could lead anywhere (S1).
    let leads_to = files.resolve(path).await;
    if leads_to != path {
        return Err(CheckpointError::Elsewhere(leads_to));
    }
    match files.read(path, session.config.limits.read_file_bytes).await {
        Ok(read) => Ok(Some(read)),
        Err(FileError::NotFound { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Lines that came and went.
fn changed(old: Option<&[u8]>, new: Option<&[u8]>) -> (usize, usize) {
    let text =
        |bytes: Option<&[u8]>| String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned();
    let (old, new) = (text(old), text(new));
    let diff = TextDiff::configure().timeout(DIFF_TIME).diff_lines(&old, &new);
    let count = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
    (count(ChangeTag::Insert), count(ChangeTag::Delete))
}
