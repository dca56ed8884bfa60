//! The shell on Unix.

use crate::ShellConfig;
use crate::analysis;
use everfold_kernel::ports::{
    BoxFuture, CommandOutline, CommandWatch, JobInfo, RunEnd, SandboxState, Shell, ShellCommand,
    ShellError, ShellOutput, ShellPlace,
};
use foreground::Left;
use jobs::Jobs;
use std::path::PathBuf;
use tokio_util::sync::CancellationToken;

mod bounded_output;
mod foreground;
mod group;
pub(crate) mod hook;
mod jobs;
mod launch;
mod sandbox;
mod script;

/// Becomes the command of a sandbox where the program was started for that.
/// Call it before anything else: no thread may run yet.
#[cfg(target_os = "linux")]
pub use sandbox::entrance::entered as sandbox_entered;

/// Becomes nothing: there is no sandbox here.
#[cfg(not(target_os = "linux"))]
#[must_use]
pub fn sandbox_entered() -> Option<std::process::ExitCode> {
    None
}

/// Runs commands with `bash`, or with `sh` where there is no `bash`.
#[derive(Debug)]
pub struct BashShell {
    config: ShellConfig,
    jobs: Jobs,
    /// Ends what still runs, in the foreground too.
    closing: CancellationToken,
}

impl BashShell {
    /// A shell with these settings. Nothing is started yet.
    #[must_use]
    pub fn new(config: ShellConfig) -> Self {
        let closing = CancellationToken::new();
        Self { config, jobs: Jobs::new(closing.clone()), closing }
    }

    fn must_be_open(&self, command: &ShellCommand) -> Result<(), ShellError> {
        if self.closing.is_cancelled() {
            return Err(ShellError::Start {
                cwd: command.cwd.clone(),
                message: "the shell was shut down".to_owned(),
            });
        }
        Ok(())
    }
}

impl Shell for BashShell {
    fn outline(&self, command: &str, place: &ShellPlace) -> CommandOutline {
        analysis::outline(command, place)
    }

    fn run(&self, command: ShellCommand) -> BoxFuture<'_, Result<ShellOutput, ShellError>> {
        Box::pin(async move {
            self.must_be_open(&command)?;
            match foreground::run(&self.config, &command, &self.closing, None).await? {
                Left::Ended(output) => Ok(output),
                // Nobody watched who could have sent it.
                Left::SentAway { .. } => Err(ShellError::Start {
                    cwd: command.cwd,
                    message: "it was sent to the background by nobody".into(),
                }),
            }
        })
    }

    fn run_watched<'a>(
        &'a self,
        command: ShellCommand,
        watch: &'a dyn CommandWatch,
    ) -> BoxFuture<'a, Result<RunEnd, ShellError>> {
        Box::pin(async move {
            self.must_be_open(&command)?;
            let left = foreground::run(&self.config, &command, &self.closing, Some(watch)).await?;
            Ok(match left {
                Left::Ended(output) => RunEnd::Ended(output),
                Left::SentAway { going, output } => {
                    RunEnd::WentOn(self.jobs.adopt(command, going, output)?)
                }
            })
        })
    }

    fn start(
        &self,
        command: ShellCommand,
        output: PathBuf,
    ) -> BoxFuture<'_, Result<JobInfo, ShellError>> {
        Box::pin(async move {
            self.must_be_open(&command)?;
            self.jobs.start(&self.config, command, output)
        })
    }

    fn sandbox(&self) -> SandboxState {
        sandbox::state()
    }

    fn jobs(&self) -> Vec<JobInfo> {
        self.jobs.list_info()
    }

    fn stop<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<JobInfo, ShellError>> {
        Box::pin(self.jobs.stop(id))
    }

    fn shutdown(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.closing.cancel();
            self.jobs.drain().await;
        })
    }
}

impl Drop for BashShell {
    fn drop(&mut self) {
        self.closing.cancel();
        // The tasks may never be polled again, so the groups end here.
        self.jobs.kill_all();
    }
}
