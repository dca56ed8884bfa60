//! Starting a command, in a session of its own.

use super::group::Group;
use crate::ShellConfig;
use mnemon_kernel::ports::ShellError;
use process_wrap::tokio::{CommandWrap, KillOnDrop, ProcessSession};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tokio::process::Command;

/// Where a command's output goes; both streams to the same place, so that
/// their order is kept.
pub(super) struct Sink {
    pub(super) stdout: Stdio,
    pub(super) stderr: Stdio,
}

/// Starts a script. Its input is empty, and it has no terminal: a program
/// that would ask a question fails at once instead of waiting.
pub(super) fn launch(
    config: &ShellConfig,
    script: &[u8],
    cwd: &Path,
    sink: Sink,
) -> Result<Group, ShellError> {
    let failed = |message: String| ShellError::Start { cwd: cwd.to_path_buf(), message };
    if !cwd.is_dir() {
        return Err(failed("there is no such directory".to_owned()));
    }
    let shell = find_shell().ok_or_else(|| failed("there is no bash and no sh".to_owned()))?;
    let mut command = Command::new(shell);
    command
        .arg("-c")
        .arg(OsStr::from_bytes(script))
        .current_dir(cwd)
        .env("PWD", cwd)
        .stdin(Stdio::null())
        .stdout(sink.stdout)
        .stderr(sink.stderr);
    for name in &config.scrub {
        command.env_remove(name);
    }
    command.envs(&config.env);
    let mut wrap = CommandWrap::from(command);
    wrap.wrap(ProcessSession).wrap(KillOnDrop);
    let child = wrap.spawn().map_err(|source| failed(source.to_string()))?;
    Ok(Group::new(child))
}

/// The first `bash` on the search path, else the first `sh`.
fn find_shell() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut dirs: Vec<_> = std::env::split_paths(&path).collect();
    dirs.extend(["/bin", "/usr/bin"].map(PathBuf::from));
    let find = |name: &str| {
        let mut found = dirs.iter().map(|dir| dir.join(name));
        found.find(|path| path.is_absolute() && path.is_file())
    };
    find("bash").or_else(|| find("sh"))
}
