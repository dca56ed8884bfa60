//! The disk as callers meet it, with its faults.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod files;
mod jsonl;
mod root;
mod transcripts;

/// Runs a future to its end.
fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

/// Whether permissions bind us; root may do anything.
fn permissions_bind(dir: &std::path::Path) -> bool {
    let probe = dir.join("probe");
    std::fs::write(&probe, "").unwrap();
    let mut permissions = std::fs::metadata(&probe).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&probe, permissions).unwrap();
    let bind = std::fs::OpenOptions::new().write(true).open(&probe).is_err();
    std::fs::remove_file(&probe).unwrap();
    bind
}

/// The names in a directory.
fn names(dir: &std::path::Path) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
