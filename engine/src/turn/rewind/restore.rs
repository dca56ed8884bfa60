//! Putting files back. One that cannot be put back stays as it is, and the
//! others go on.

use super::RewindReport;
use crate::session::Session;
use crate::session::file_history::CheckpointError;
use crate::turn::rewind::points;
use everfold_kernel::ports::{Expect, FileError, FileRead};
use everfold_transcript::Checkpoint;
use std::path::Path;

/// What became of a file.
enum Done {
    Nothing,
    Restored,
    Removed,
}

/// Makes files what they were at their checkpoints.
pub(super) async fn restore_files(
    session: &Session,
    checkpoints: &[Checkpoint],
    report: &mut RewindReport,
) {
    for checkpoint in checkpoints {
        let path = &checkpoint.path;
        let now = match points::file_now(session, path).await {
            Ok(now) => now,
            Err(reason) => {
                report.failed.push((path.clone(), reason.to_string()));
                continue;
            }
        };
        let version = now.as_ref().map(|now| now.version.0.as_str());
        let by_hand = version != checkpoint.wrote.as_deref();
        match put_back(session, checkpoint, now.as_ref()).await {
            Ok(Done::Nothing) => continue,
            Ok(Done::Restored) => report.restored.push(path.clone()),
            Ok(Done::Removed) => report.removed.push(path.clone()),
            Err(reason) => {
                report.failed.push((path.clone(), reason.to_string()));
                continue;
            }
        }
        if by_hand {
            report.by_hand.push(path.clone());
        }
    }
}

async fn put_back(
    session: &Session,
    checkpoint: &Checkpoint,
    now: Option<&FileRead>,
) -> Result<Done, CheckpointError> {
    let path = &checkpoint.path;
    let then = points::file_then(session, &checkpoint.before).await?;
    if then.as_deref() == now.map(|now| now.bytes.as_ref()) {
        return Ok(Done::Nothing);
    }
    may_be_made(session, path, now).await?;
    session.crew.agents.seat().history.keep(path, now, then.as_deref()).await?;
    let files = &session.world.files;
    match (then, now) {
        (Some(bytes), now) => {
            let expect = now.map_or(Expect::Absent, |now| Expect::Version(now.version.clone()));
            files.write(path, &bytes, expect).await?;
            Ok(Done::Restored)
        }
        (None, Some(now)) => {
            files.remove(path, now.version.clone()).await?;
            Ok(Done::Removed)
        }
        (None, None) => Ok(Done::Nothing),
    }
}

/// A directory of the person's that is gone is made again only where tools
/// may work.
async fn may_be_made(
    session: &Session,
    path: &Path,
    now: Option<&FileRead>,
) -> Result<(), FileError> {
    let inside = session.config.workplace.roots.iter().any(|root| path.starts_with(root));
    let Some(parent) = path.parent().filter(|_| now.is_none() && !inside) else {
        return Ok(());
    };
    session.world.files.stat(parent).await.map(|_| ())
}
