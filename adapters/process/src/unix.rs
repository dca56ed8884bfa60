//! The shell on Unix.

use crate::ShellConfig;
use crate::analysis;
use everfold_kernel::ports::{
    BoxFuture, CommandOutline, JobInfo, SandboxState, Shell, ShellCommand, ShellError, ShellOutput,
    ShellPlace,
};
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
            foreground::run(&self.config, &command, &self.closing).await
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
        match sandbox::available() {
            Ok(()) => SandboxState::Ready,
            Err(reason) => SandboxState::Missing(reason),
        }
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
