//! Starting a command, in a session of its own.

use super::group::Group;
use super::sandbox;
use crate::ShellConfig;
use everfold_kernel::ports::{Confinement, ShellError};
use process_wrap::tokio::{CommandWrap, KillOnDrop, ProcessSession};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tokio::process::Command;

pub(super) enum Started<'a> {
    /// A script, by the shell.
    Script(&'a [u8]),
    /// A program with its arguments.
    Program(&'a str, &'a [String]),
}

/// Where a command reads from and writes to.
pub(super) struct Streams {
    pub(super) stdin: Stdio,
    pub(super) stdout: Stdio,
    pub(super) stderr: Stdio,
}

impl Streams {
    /// Nothing to read: a program that would ask a question fails at once
    /// instead of waiting. Both outputs go to the same place, so that their
    /// order is kept.
    pub(super) fn closed(stdout: Stdio, stderr: Stdio) -> Self {
        Self { stdin: Stdio::null(), stdout, stderr }
    }
}

/// Starts a command, without a terminal.
pub(super) fn launch(
    config: &ShellConfig,
    started: &Started<'_>,
    cwd: &Path,
    streams: Streams,
    confinement: &Confinement,
) -> Result<Group, ShellError> {
    let failed = |message: String| ShellError::Start { cwd: cwd.to_path_buf(), message };
    if !cwd.is_dir() {
        return Err(failed("there is no such directory".to_owned()));
    }
    let holding = match confinement {
        Confinement::Free => None,
        Confinement::Sandbox(profile) => Some(sandbox::hold(profile, cwd)?),
    };
    let mut words: Vec<OsString> =
        holding.as_ref().map(|held| held.before.clone()).unwrap_or_default();
    match started {
        Started::Script(script) => {
            let shell =
                find_shell().ok_or_else(|| failed("there is no bash and no sh".to_owned()))?;
            words.extend([shell.into(), "-c".into(), OsStr::from_bytes(script).to_owned()]);
        }
        Started::Program(program, args) => {
            words.push(program.into());
            words.extend(args.iter().map(OsString::from));
        }
    }
    let (program, args) =
        words.split_first().ok_or_else(|| failed("there is no command".to_owned()))?;
    let mut command = Command::new(program);
    command.args(args);
    command
        .current_dir(cwd)
        .env("PWD", cwd)
        .stdin(streams.stdin)
        .stdout(streams.stdout)
        .stderr(streams.stderr);
    for name in &config.scrub {
        command.env_remove(name);
    }
    command.envs(&config.env);
    let mut wrap = CommandWrap::from(command);
    wrap.wrap(ProcessSession).wrap(KillOnDrop);
    let child = match &holding {
        None => wrap.spawn(),
        Some(holding) => sandbox::spawn(wrap, holding)?,
    };
    let child = child.map_err(|source| failed(source.to_string()))?;
    Ok(Group::new(child, holding.map(|held| held.placeholders).unwrap_or_default()))
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
