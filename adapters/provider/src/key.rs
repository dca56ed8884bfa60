//! Where a key comes from: a value, or a command that prints one (S5).

use everfold_kernel::{Class, Classify, Secret};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::process::Command;

/// What a person gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySource {
    Value(Secret),
    /// A command of the shell that prints it (`apiKeyHelper`).
    Command(String),
}

/// Why there is no key. The command's output is never repeated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The value is empty.
    #[error("the key is empty; set it or remove it")]
    Empty,
    /// The command could not be started.
    #[error("the key command could not be started ({message}); check apiKeyHelper")]
    NotStarted {
        /// What the operating system said.
        message: String,
    },
    #[error("the key command failed with {status}; run it by hand to see why")]
    Failed { status: String },
    /// The command took too long.
    #[error("the key command took longer than {seconds} s; it must not wait for input")]
    TimedOut { seconds: u64 },
    /// The command printed nothing, or more than a key.
    #[error("the key command printed {what}; it must print the key and nothing else")]
    NotAKey {
        /// What it printed, in general terms.
        what: &'static str,
    },
}

impl Classify for KeyError {
    fn class(&self) -> Class {
        Class::Stop
    }
}

/// Gets the key. A command runs in the shell, without input, and is ended when
/// `limit` is over or the future is dropped.
///
/// # Errors
/// When there is no key; the message never holds what a command printed.
pub async fn resolve_key(source: &KeySource, limit: Duration) -> Result<Secret, KeyError> {
    match source {
        KeySource::Value(secret) => match secret.expose().trim() {
            "" => Err(KeyError::Empty),
            key => Ok(Secret::new(key)),
        },
        KeySource::Command(line) => run(line, limit).await,
    }
}

/// Most bytes that a key command may print.
const KEY_BYTES: u64 = 64 * 1024;

async fn run(line: &str, limit: Duration) -> Result<Secret, KeyError> {
    let not_started =
        |error: std::io::Error| KeyError::NotStarted { message: error.kind().to_string() };
    let mut child = shell(line).spawn().map_err(not_started)?;
    let group = Group::of(&child);
    let printed = async {
        let mut bytes = Vec::new();
        if let Some(stdout) = child.stdout.take() {
            stdout.take(KEY_BYTES).read_to_end(&mut bytes).await?;
        }
        Ok((bytes, child.wait().await?))
    };
    let (bytes, status) = tokio::time::timeout(limit, printed)
        .await
        .map_err(|_| KeyError::TimedOut { seconds: limit.as_secs() })?
        .map_err(not_started)?;
    group.let_go();
    if !status.success() {
        return Err(KeyError::Failed { status: status.to_string() });
    }
    let what = match std::str::from_utf8(&bytes).map(str::trim) {
        Ok("") => "nothing",
        Ok(key) if key.contains(char::is_whitespace) => "more than one word",
        Ok(key) => return Ok(Secret::new(key)),
        Err(_) => "bytes that are not text",
    };
    Err(KeyError::NotAKey { what })
}

/// The processes of a command; ended with it when it is dropped before its end.
pub(crate) struct Group(Option<u32>);

impl Group {
    /// Those of a child that leads a group.
    pub(crate) fn of(child: &tokio::process::Child) -> Self {
        Self(child.id())
    }

    /// The command ended by itself: an agent that it started may stay.
    pub(crate) fn let_go(mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(pid) =
            self.0.and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw)
        {
            rustix::process::kill_process_group(pid, rustix::process::Signal::KILL).ok();
        }
    }
}

fn shell(line: &str) -> Command {
    let (program, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("/bin/sh", "-c") };
    let mut command = Command::new(program);
    command
        .arg(flag)
        .arg(line)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    #[cfg(unix)]
    command.process_group(0);
    command
}
