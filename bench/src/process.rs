//! The `everfold` program as a process: where it is, how it is started, what it
//! holds.

use anyhow::{Context, Result, bail};
use everfold_testkit::TempHome;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// The program beside this one.
pub(crate) fn everfold() -> Result<PathBuf> {
    let own = std::env::current_exe().context("this program does not know where it is")?;
    let path = own.with_file_name("everfold");
    if !path.is_file() {
        let flag = if cfg!(debug_assertions) { "" } else { "--release " };
        bail!(
            "there is no everfold beside {}; build it with `cargo build {flag}-p everfold-cli`",
            own.display()
        );
    }
    Ok(path)
}

/// `everfold -p` in an empty project, with a server at this address.
pub(crate) fn headless(place: &TempHome, server: SocketAddr) -> Result<Command> {
    let mut command = Command::new(everfold()?);
    command
        .env_clear()
        .env("HOME", place.home())
        .env("EVERFOLD_HOME", place.home())
        .env("ANTHROPIC_BASE_URL", format!("http://{server}"))
        .env("ANTHROPIC_API_KEY", "sk-bench-0123456789")
        .current_dir(place.project())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .arg("-p");
    Ok(command)
}

/// Ends a child that this program started.
pub(crate) fn end(mut child: Child) -> Result<()> {
    // It may have ended by itself.
    let _ = child.kill();
    child.wait().context("a process could not be waited for")?;
    Ok(())
}

/// What a process holds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Held {
    /// Resident now, in KiB.
    pub(crate) now: u64,
    /// The most that was resident, in KiB.
    pub(crate) most: u64,
}

/// What a process holds, by its id or `self`.
pub(crate) fn held(process: &str) -> Result<Held> {
    let path = format!("/proc/{process}/status");
    let text = std::fs::read_to_string(&path).with_context(|| format!("failed to read {path}"))?;
    let figure = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name))?;
        line.split_whitespace().nth(1)?.parse().ok()
    };
    match (figure("VmRSS:"), figure("VmHWM:")) {
        (Some(now), Some(most)) => Ok(Held { now, most }),
        _ => bail!("{path} does not say what is resident"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_holds_something() {
        let held = held("self").unwrap();
        assert!(held.now > 0 && held.most >= held.now);
    }
}
