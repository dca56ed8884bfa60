//! Commands in the background, as tasks that a person can look at.

use everfold_agent::{TaskStatus, TaskView};
use everfold_kernel::ports::{Exit, JobInfo, JobState};
use everfold_kernel::{QuerySource, Timestamp};
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::time::SystemTime;

/// Bytes of an output that are read for a look: its end.
const TAIL_BYTES: u64 = 16 * 1024;

/// A command in the background, with the end of what it has printed.
#[must_use]
pub fn task_of(job: &JobInfo) -> TaskView {
    let status = match job.state {
        JobState::Running => TaskStatus::Running,
        JobState::Ended(Exit::Code(0)) => TaskStatus::Completed,
        JobState::Ended(Exit::Code(code)) => {
            TaskStatus::Failed { reason: format!("exit code {code}") }
        }
        JobState::Ended(Exit::Signal(_)) => TaskStatus::Killed,
        JobState::Ended(Exit::TimedOut) => {
            TaskStatus::Failed { reason: "it ran too long".to_owned() }
        }
    };
    let times = std::fs::metadata(&job.output);
    let at = |time: Option<SystemTime>| time.and_then(|time| Timestamp::try_from(time).ok());
    let began = at(times.as_ref().ok().and_then(|times| times.created().ok()));
    let ended = at(times.ok().and_then(|times| times.modified().ok()));
    let printed = tail(job).unwrap_or_default();
    TaskView {
        id: job.id.clone(),
        name: job.command.lines().next().unwrap_or_default().to_owned(),
        source: QuerySource::Main,
        phase: String::new(),
        lines: printed.lines().map(str::to_owned).collect(),
        started: began.unwrap_or_else(Timestamp::now),
        ended: ended.filter(|_| status != TaskStatus::Running),
        status,
    }
}

fn tail(job: &JobInfo) -> std::io::Result<String> {
    let mut file = File::open(&job.output)?;
    let bytes = file.metadata()?.len();
    file.seek(SeekFrom::Start(bytes.saturating_sub(TAIL_BYTES)))?;
    let mut text = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
