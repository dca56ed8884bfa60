//! The shell on Unix.

use crate::ShellConfig;
use crate::analysis::{CommandCaller, ReadOnlyVerdict, is_read_only};
use everfold_kernel::ports::{BoxFuture, JobInfo, Shell, ShellCommand, ShellError, ShellOutput};
use jobs::Jobs;
use std::path::PathBuf;
use tokio_util::sync::CancellationToken;

mod bounded_output;
mod foreground;
mod group;
pub(crate) mod hook;
mod jobs;
mod launch;
pub(crate) mod sandbox;
mod script;

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
    fn only_reads(&self, command: &str) -> Result<(), String> {
        match is_read_only(command, CommandCaller::BackgroundAgent) {
            ReadOnlyVerdict::ReadOnly => Ok(()),
            ReadOnlyVerdict::Refused { reason } => Err(reason),
        }
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
