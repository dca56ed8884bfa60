//! Searching small trees.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod glob;
mod grep;
mod ignored;
mod missing;

use std::path::{Path, PathBuf};

/// A directory with these files.
fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let root = std::fs::canonicalize(dir.path()).unwrap();
    for (path, text) in files {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    (dir, root)
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

/// Paths relative to the root, for short comparisons.
fn short(root: &Path, lines: &[String]) -> Vec<String> {
    let prefix = format!("{}/", root.display());
    lines.iter().map(|line| line.replace(&prefix, "")).collect()
}
