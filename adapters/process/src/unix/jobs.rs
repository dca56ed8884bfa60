//! Commands that go on in the background.
//!
//! Each has a task that waits for it; the tracker owns the tasks, and
//! [`Jobs::drain`] waits for them. A job ends with its shell: what that left
//! running in its group is ended too.

use super::foreground::{DRAIN, Going, after, each_piece, live};
use super::group::GroupId;
use super::launch::{Started, Streams, launch};
use crate::ShellConfig;
use everfold_kernel::ports::{JobInfo, JobState, ShellCommand, ShellError};
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Longer than asking, killing and waiting take together.
const END_WAIT: Duration = Duration::from_secs(4);

/// All background commands of a shell.
#[derive(Debug)]
pub(super) struct Jobs {
    list: Mutex<Vec<Job>>,
    tasks: TaskTracker,
    closing: CancellationToken,
}

#[derive(Debug)]
struct Job {
    info: JobInfo,
    group: GroupId,
    stop: CancellationToken,
    state: watch::Receiver<JobState>,
}

/// What the task of a job has in hand.
struct Telling {
    told: watch::Sender<JobState>,
    stop: CancellationToken,
}

impl Job {
    fn info(&self) -> JobInfo {
        JobInfo { state: *self.state.borrow(), ..self.info.clone() }
    }
}

impl Jobs {
    pub(super) fn new(closing: CancellationToken) -> Self {
        Self { list: Mutex::default(), tasks: TaskTracker::new(), closing }
    }

    pub(super) fn start(
        &self,
        config: &ShellConfig,
        command: ShellCommand,
        output: PathBuf,
    ) -> Result<JobInfo, ShellError> {
        let streams = streams(&output).map_err(|source| ShellError::Output {
            path: output.clone(),
            message: source.to_string(),
        })?;
        let started = Started::Script(command.command.as_bytes());
        let mut group = launch(config, &started, &command.cwd, streams, &command.confinement)?;
        let timeout = command.timeout;
        let (info, Telling { told, stop }) = self.enter(command.command, group.id(), output);
        self.tasks.spawn(async move {
            let exit = live(&mut group, after(timeout), &stop).await;
            drop(group);
            told.send_replace(JobState::Ended(exit));
        });
        Ok(info)
    }

    /// Takes over a command that ran in the foreground: what it has printed
    /// goes to a file, and so does the rest (U5). Its time limit is over.
    pub(super) fn adopt(
        &self,
        command: ShellCommand,
        going: Going,
        output: PathBuf,
    ) -> Result<JobInfo, ShellError> {
        let failed = |source: io::Error| ShellError::Output {
            path: output.clone(),
            message: source.to_string(),
        };
        let mut file = file(&output).map_err(failed)?;
        let Going { mut group, output: mut pipe, printed, note } = going;
        file.write_all(printed.into_text().0.as_bytes()).map_err(failed)?;
        let (info, Telling { told, stop }) = self.enter(command.command, group.id(), output);
        self.tasks.spawn(async move {
            let exit = {
                let mut life = pin!(live(&mut group, std::future::pending(), &stop));
                let mut copied = pin!(each_piece(&mut pipe, |bytes| {
                    // A full disk costs the rest of the output, not the command.
                    let _ = file.write_all(bytes);
                }));
                let mut open = true;
                let exit = loop {
                    tokio::select! {
                        exit = &mut life => break exit,
                        () = &mut copied, if open => open = false,
                    }
                };
                if open {
                    let _ = timeout(DRAIN, &mut copied).await;
                }
                exit
            };
            drop((group, note));
            told.send_replace(JobState::Ended(exit));
        });
        Ok(info)
    }

    /// A new entry of the list.
    fn enter(&self, command: String, group: GroupId, output: PathBuf) -> (JobInfo, Telling) {
        let (told, state) = watch::channel(JobState::Running);
        let stop = self.closing.child_token();
        let mut list = self.list();
        let job = Job {
            info: JobInfo {
                id: format!("b{}", list.len() + 1),
                pid: group.number(),
                command,
                output,
                state: JobState::Running,
            },
            group,
            stop: stop.clone(),
            state,
        };
        let info = job.info();
        list.push(job);
        (info, Telling { told, stop })
    }

    pub(super) fn list_info(&self) -> Vec<JobInfo> {
        self.list().iter().map(Job::info).collect()
    }

    pub(super) async fn stop(&self, id: &str) -> Result<JobInfo, ShellError> {
        let mut state = self.with(id, |job| {
            job.stop.cancel();
            job.state.clone()
        })?;
        let ended = |state: &JobState| matches!(state, JobState::Ended(_));
        let _ = timeout(END_WAIT, state.wait_for(ended)).await;
        self.with(id, Job::info)
    }

    /// Waits for all tasks, once they were told to end.
    pub(super) async fn drain(&self) {
        self.tasks.close();
        if timeout(END_WAIT, self.tasks.wait()).await.is_err() {
            self.kill_all();
        }
    }

    /// Kills every group that still runs, without waiting.
    pub(super) fn kill_all(&self) {
        for job in self.list().iter() {
            if *job.state.borrow() == JobState::Running {
                job.group.kill();
            }
        }
    }

    fn with<T>(&self, id: &str, look: impl FnOnce(&Job) -> T) -> Result<T, ShellError> {
        let list = self.list();
        let job = list.iter().find(|job| job.info.id == id);
        job.map(look).ok_or_else(|| ShellError::NoSuchJob { id: id.to_owned() })
    }

    fn list(&self) -> MutexGuard<'_, Vec<Job>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The output file, made for its owner only (S5).
fn file(path: &Path) -> io::Result<File> {
    if let Some(parent) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
    }
    OpenOptions::new().append(true).create(true).mode(0o600).open(path)
}

/// The output file for both streams.
fn streams(path: &Path) -> io::Result<Streams> {
    let file = file(path)?;
    Ok(Streams::closed(file.try_clone()?.into(), file.into()))
}
