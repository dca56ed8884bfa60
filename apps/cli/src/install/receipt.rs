//! What was installed, and what files held before: the way back.

use anyhow::{Context, Result};
use everfold_agent::disk::atomic::FileReaders;
use everfold_memory_store::ContentId;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// One installation, kept under our home.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Receipt {
    /// The files that were changed.
    pub(super) files: Vec<Kept>,
    /// The folders that were made for them.
    #[serde(default)]
    pub(super) made: Vec<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Kept {
    pub(super) path: PathBuf,
    /// A copy of what it held; none where it was not there.
    pub(super) backup: Option<PathBuf>,
    /// What it holds since.
    pub(super) after: ContentId,
}

/// Where receipts and backups are.
pub(super) struct Drawer {
    dir: PathBuf,
    host: &'static str,
}

impl Drawer {
    pub(super) fn new(home: &Path, host: &'static str) -> Self {
        Self { dir: home.join("installed"), host }
    }

    fn file(&self) -> PathBuf {
        self.dir.join(format!("{}.json", self.host))
    }

    /// The folder of the backups.
    pub(super) fn backups(&self) -> PathBuf {
        self.dir.join(self.host)
    }

    /// Whether anything was installed.
    pub(super) fn exists(&self) -> bool {
        self.file().exists()
    }

    /// What was installed, if anything was. One that cannot be read is none:
    /// what is ours is found without it.
    pub(super) fn read(&self) -> Receipt {
        let text = std::fs::read_to_string(self.file()).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Keeps what a file held.
    pub(super) fn keep(&self, number: usize, path: &Path, text: &str) -> Result<PathBuf> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let backup = self.backups().join(format!("{number}-{name}"));
        write(&backup, text)?;
        Ok(backup)
    }

    pub(super) fn write(&self, receipt: &Receipt) -> Result<()> {
        write(&self.file(), &serde_json::to_string_pretty(receipt)?)
    }

    /// Forgets it, with its backups, and removes the folders that were made and
    /// that nobody else uses.
    pub(super) fn clear(&self, receipt: &Receipt) -> Result<()> {
        let gone = |done: std::io::Result<()>| match done {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        };
        gone(std::fs::remove_dir_all(self.backups()))?;
        gone(std::fs::remove_file(self.file()))?;
        // Only if nothing else was installed.
        let _ = std::fs::remove_dir(&self.dir).and_then(|()| match self.dir.parent() {
            Some(home) => std::fs::remove_dir(home),
            None => Ok(()),
        });
        let mut made = receipt.made.clone();
        made.sort_by_key(|dir| std::cmp::Reverse(dir.components().count()));
        for dir in made {
            let _ = std::fs::remove_dir(dir);
        }
        Ok(())
    }
}

impl Receipt {
    /// What was kept of a file.
    pub(super) fn of(&self, path: &Path) -> Option<&Kept> {
        self.files.iter().find(|kept| kept.path == path)
    }
}

impl Kept {
    /// What the file held before; none where it was not there.
    pub(super) fn before(&self) -> Option<String> {
        std::fs::read_to_string(self.backup.as_ref()?).ok()
    }
}

fn write(path: &Path, text: &str) -> Result<()> {
    everfold_agent::disk::atomic::write(path, text.as_bytes(), FileReaders::Private)
        .with_context(|| format!("{} cannot be written", path.display()))
}
