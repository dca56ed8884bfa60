//! Going back to an earlier point of a session (Q12): its files, its
//! conversation, or both.
//!
//! Nothing is removed. The conversation goes on from an earlier record, and
//! what came after it stays in the log as a branch; files are copied before
//! they are put back. So every step back is a point that one can go back to.
//! What is sent next starts with bytes that were sent before: the cache still
//! has them.

pub(crate) mod fork;
pub(crate) mod points;
pub(crate) mod restore;

pub use everfold_kernel::record::RewindWhat;
pub(crate) use fork::Changes;
pub use points::{ChangedFile, Point, PointKind, Standing};

use crate::session::{Error, Session};
use crate::turn::resume;
use crate::window::notes;
use everfold_kernel::record::Rewound;
use everfold_kernel::{Class, Classify, Decision, Entry, Prelude, RecordId};
use everfold_transcript::trace::{Stop, StopKind};
use everfold_transcript::{Trace, bookkeeping};
use std::path::PathBuf;

/// The kind of the reminder that tells the model of files that went back.
pub const FILES_REWOUND: &str = "files_rewound";

/// What a step back did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RewindReport {
    /// The step, as a point to go back to.
    pub record: RecordId,
    /// The text of the message that was gone back to, to be said again or
    /// differently.
    pub text: Option<String>,
    /// Files that are again what they were.
    pub restored: Vec<PathBuf>,
    /// Files that were not there then, and are gone.
    pub removed: Vec<PathBuf>,
    /// Those of them that somebody had changed since a tool last wrote them;
    /// how they were is kept, and comes back by going back to this step.
    pub by_hand: Vec<PathBuf>,
    /// Files that stay as they are, and why.
    pub failed: Vec<(PathBuf, String)>,
}

/// The points that one can go back to, oldest first: each message of the
/// person, across compactions, and each earlier step back.
///
/// # Errors
/// If the log cannot be read.
pub async fn rewind_points(session: &Session) -> Result<Vec<Point>, Error> {
    let Some(leaf) = &session.log.last else { return Ok(Vec::new()) };
    let trace = trace(session).await?;
    let stops = trace.stops(leaf);
    let skipped = stops.len().saturating_sub(session.config.limits.rewind.points);
    let mut looks = points::Looks::new(session);
    let mut found = Vec::new();
    for (number, stop) in (1..).zip(stops).skip(skipped) {
        let files = looks.since(&trace, stop).await;
        found.push(Point::of(number, stop, files, &session.config.limits));
    }
    Ok(found)
}

/// Why one cannot go back.
#[derive(Debug, thiserror::Error)]
pub enum RewindError {
    #[error("no such point in this conversation; see /rewind")]
    UnknownPoint,
    /// The log does not hold what came before.
    #[error("what came before that point is not in the log")]
    NotInLog,
    #[error(transparent)]
    Session(#[from] Error),
}

impl Classify for RewindError {
    fn class(&self) -> Class {
        match self {
            Self::UnknownPoint | Self::NotInLog => Class::Refuse,
            Self::Session(error) => error.class(),
        }
    }
}

/// Goes back to before a message, or to before an earlier step back.
///
/// # Errors
/// If there is no such point, or the log cannot be read or written.
pub async fn rewind(
    session: &mut Session,
    point: &RecordId,
    what: RewindWhat,
) -> Result<RewindReport, RewindError> {
    let trace = trace(session).await?;
    let leaf = session.log.last.clone().ok_or(RewindError::UnknownPoint)?;
    let stop = trace.stops(&leaf).into_iter().find(|stop| stop.id == *point).cloned();
    let stop = stop.ok_or(RewindError::UnknownPoint)?;
    let rewound = Rewound { point: point.clone(), what, left: leaf };
    let record = if what.conversation() {
        let target = target(&trace, &stop).ok_or(RewindError::NotInLog)?;
        go_back(session, target, rewound).await?
    } else {
        session.append(Entry::Decision(Decision::Rewound(rewound))).await?
    };
    session.crew.agents.seat().history.message(record.clone());
    let text = match &stop.kind {
        StopKind::Said(text) => Some(text.clone()),
        StopKind::WentBack(_) => None,
    };
    let mut report = RewindReport {
        record,
        text,
        restored: Vec::new(),
        removed: Vec::new(),
        by_hand: Vec::new(),
        failed: Vec::new(),
    };
    if what.files() {
        restore::restore_files(session, &trace.changed_since(stop.line), &mut report).await;
    }
    if !what.conversation() {
        tell_restored(session, &report).await?;
    }
    Ok(report)
}

/// Goes on from an earlier record. What the person chose meanwhile (model,
/// effort) stays chosen.
async fn go_back(
    session: &mut Session,
    target: RecordId,
    rewound: Rewound,
) -> Result<RecordId, Error> {
    let noted = session.state.fold.noted().cloned();
    let params = session.state.fold.prelude().map(|prelude| prelude.params.clone());
    // For programs that do not know our own line.
    let line = bookkeeping::rewound(&session.log.id, &target);
    session.log.note(&line).await?;
    let left = session.log.last.replace(target);
    let written = session.append(Entry::Decision(Decision::Rewound(rewound))).await;
    let record = match written {
        Ok(record) => record,
        Err(error) => {
            session.log.last = left;
            return Err(error);
        }
    };
    resume::change_branch(session).await?;
    if let (Some(params), Some(prelude)) = (params, session.state.fold.prelude())
        && params != prelude.params
    {
        let prelude = Prelude { params, ..prelude.clone() };
        session.append(Entry::Decision(Decision::Prelude(Box::new(prelude)))).await?;
    }
    if noted.as_ref() != session.state.fold.noted()
        && let Err(error) = notes::set_notes_aside(session, &record).await
    {
        tracing::warn!(%error, "the notes still tell of what was left");
    }
    Ok(record)
}

/// The model is told of files that are not what it made of them.
async fn tell_restored(session: &mut Session, report: &RewindReport) -> Result<(), Error> {
    let list = |paths: &[PathBuf]| {
        let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        paths
    };
    let (restored, removed) = (list(&report.restored), list(&report.removed));
    if restored.is_empty() && removed.is_empty() {
        return Ok(());
    }
    let mut text = vec!["The user took back changes to files.".to_owned()];
    for (what, paths) in [("As they were before", &restored), ("Removed", &removed)] {
        if !paths.is_empty() {
            text.push(format!("{what}: {}", paths.join(", ")));
        }
    }
    text.push("Read a file again before you rely on what it says.".to_owned());
    let data = serde_json::json!({"restored": restored, "removed": removed});
    session.attach(FILES_REWOUND, &text.join("\n"), data).await
}

pub(crate) async fn trace(session: &Session) -> Result<Trace, Error> {
    let mut trace = Trace::default();
    if session.log.last.is_some() {
        let mut sink = |line: &[u8]| trace.push(line);
        session.world.transcripts.load(&session.log.id, &mut sink).await?;
    }
    Ok(trace)
}

/// The record that the conversation goes on from.
fn target(trace: &Trace, stop: &Stop) -> Option<RecordId> {
    let target = match &stop.kind {
        StopKind::Said(_) => stop.before.clone()?,
        StopKind::WentBack(rewound) => rewound.left.clone(),
    };
    trace.has(&target).then_some(target)
}
