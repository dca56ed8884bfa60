//! Commands on a real system, and what they leave behind: nothing.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "tests"
)]

mod analysis;
mod background;
mod foreground;
mod hook;
mod sandbox;

use everfold_kernel::ports::{Confinement, ShellCommand};
use std::path::Path;
use std::time::{Duration, Instant};

/// No test may run longer, whatever breaks.
const LIMIT: Duration = Duration::from_secs(30);

fn command(text: &str, cwd: &Path) -> ShellCommand {
    ShellCommand {
        command: text.to_owned(),
        cwd: cwd.to_path_buf(),
        timeout: Some(Duration::from_secs(20)),
        output_bytes: 1 << 20,
        confinement: Confinement::Free,
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap()
        .block_on(async { tokio::time::timeout(LIMIT, future).await.unwrap() })
}

/// Waits until something holds, and fails if it never does.
async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(10);
    while !holds() {
        assert!(Instant::now() < end, "{what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Whether a process runs (one that only waits to be buried does not).
fn runs(pid: &str) -> bool {
    let asked = std::process::Command::new("ps").args(["-o", "stat=", "-p", pid]).output().unwrap();
    let state = String::from_utf8_lossy(&asked.stdout).trim().to_owned();
    !state.is_empty() && !state.starts_with('Z')
}

/// A number that a command wrote to a file, once it did.
async fn pid_in(file: &Path) -> String {
    let read = || std::fs::read_to_string(file).unwrap_or_default();
    eventually("the command writes its number", || read().ends_with('\n')).await;
    read().trim().to_owned()
}
