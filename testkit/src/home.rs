//! A home and a project that vanish with the test.

use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A temporary directory with a home and a project beside each other.
#[derive(Debug)]
pub struct TempHome {
    dir: TempDir,
}

impl TempHome {
    /// Makes both directories.
    ///
    /// # Errors
    ///
    /// No temporary directory can be made.
    pub fn new() -> io::Result<Self> {
        let dir = tempfile::tempdir()?;
        std::fs::create_dir(dir.path().join("home"))?;
        std::fs::create_dir(dir.path().join("project"))?;
        Ok(Self { dir })
    }

    /// The directory to use as `HOME`.
    #[must_use]
    pub fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    /// The project to work in.
    #[must_use]
    pub fn project(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    /// The directory that holds both.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.dir.path()
    }

    /// Writes a file of the project, making its directories.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn write(&self, path: impl AsRef<Path>, text: &str) -> io::Result<PathBuf> {
        let path = self.project().join(path);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(&path, text)?;
        Ok(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn home_and_project_go_with_the_test() {
        let home = TempHome::new().unwrap();
        let path = home.write("src/a.rs", "fn a() {}").unwrap();
        assert!(home.home().is_dir() && path.starts_with(home.project()));
        let root = home.root().to_owned();
        drop(home);
        assert!(!root.exists());
    }
}
