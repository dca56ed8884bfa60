//! Platforms without process groups, where no command is run (C7).

use crate::{FirstLine, ShellConfig};
use everfold_kernel::ports::{
    BoxFuture, CommandOutline, HookCall, HookRun, JobInfo, Shell, ShellCommand, ShellError,
    ShellOutput, ShellPlace,
};
use std::path::PathBuf;

/// A shell that says that there is none.
#[derive(Debug)]
pub struct BashShell;

impl BashShell {
    /// Takes the settings, for the same shape as elsewhere.
    #[must_use]
    pub fn new(_config: ShellConfig) -> Self {
        Self
    }
}

/// Says that no handler of a hook is run here.
pub async fn run_hook(
    _config: &ShellConfig,
    _call: HookCall,
    _first: Option<FirstLine>,
) -> HookRun {
    HookRun::not_run("programs are not run on this platform yet")
}

/// Becomes nothing: there is no sandbox here.
#[must_use]
pub fn sandbox_entered() -> Option<std::process::ExitCode> {
    None
}

fn unsupported<T>(cwd: PathBuf) -> Result<T, ShellError> {
    let message = "shell commands are not supported on this platform yet".to_owned();
    Err(ShellError::Start { cwd, message })
}

impl Shell for BashShell {
    fn outline(&self, _command: &str, _place: &ShellPlace) -> CommandOutline {
        CommandOutline::unreadable("shell commands are not supported on this platform yet")
    }

    fn run(&self, command: ShellCommand) -> BoxFuture<'_, Result<ShellOutput, ShellError>> {
        Box::pin(async move { unsupported(command.cwd) })
    }

    fn start(
        &self,
        command: ShellCommand,
        _output: PathBuf,
    ) -> BoxFuture<'_, Result<JobInfo, ShellError>> {
        Box::pin(async move { unsupported(command.cwd) })
    }

    fn jobs(&self) -> Vec<JobInfo> {
        Vec::new()
    }

    fn stop<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<JobInfo, ShellError>> {
        let id = id.to_owned();
        Box::pin(async move { Err(ShellError::NoSuchJob { id }) })
    }

    fn shutdown(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }
}
