//! Files of another program as they are and as they are to be: all of them are
//! written, or none is.

use crate::failure::Refusal;
use anyhow::{Context, Result};
use everfold_agent::disk::atomic::{self, FileReaders};
use std::path::{Path, PathBuf};

/// Largest file that is changed, in bytes.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// A file as it is and as it is to be; none is not a file.
pub(super) struct Change {
    pub(super) path: PathBuf,
    pub(super) now: Option<String>,
    pub(super) then: Option<String>,
    /// What it held before anything of ours was in it.
    pub(super) before: Option<String>,
}

impl Change {
    pub(super) fn is_none(&self) -> bool {
        self.now == self.then
    }
}

/// Writes all changes. Where one fails, those before it are taken back.
pub(super) fn write(changes: &[Change]) -> Result<()> {
    let mut done: Vec<&Change> = Vec::new();
    for change in changes.iter().filter(|change| !change.is_none()) {
        let path = &change.path;
        let written = match read(path) {
            Ok(now) if now != change.now => {
                let message = format!("{} changed in the meantime", path.display());
                Err(Refusal::new(message, "try again").into())
            }
            Ok(_) => set(path, change.then.as_deref()),
            Err(error) => Err(error),
        };
        if let Err(error) = written {
            for change in done.into_iter().rev() {
                set(&change.path, change.now.as_deref())?;
            }
            return Err(error);
        }
        done.push(change);
    }
    Ok(())
}

fn set(path: &Path, text: Option<&str>) -> Result<()> {
    match text {
        Some(text) => atomic::write(path, text.as_bytes(), FileReaders::Private)
            .with_context(|| format!("{} cannot be written", path.display())),
        // A link stays; what it leads to goes.
        None => std::fs::remove_file(path.canonicalize().as_deref().unwrap_or(path))
            .with_context(|| format!("{} cannot be removed", path.display())),
    }
}

/// The text of a file; none where there is none.
pub(super) fn read(path: &Path) -> Result<Option<String>> {
    match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            return Err(error).with_context(|| format!("{} cannot be read", path.display()));
        }
        Ok(about) if !about.is_file() || about.len() > MAX_BYTES => {
            let message = format!("{} is not a file that can be changed", path.display());
            return Err(Refusal::new(message, "check what it is").into());
        }
        Ok(_) => {}
    }
    match std::fs::read(path).map(String::from_utf8) {
        Ok(Ok(text)) => Ok(Some(text)),
        Ok(Err(_)) => {
            let message = format!("{} is not UTF-8; nothing was changed", path.display());
            Err(Refusal::new(message, "convert it, then try again").into())
        }
        Err(error) => Err(error).with_context(|| format!("{} cannot be read", path.display())),
    }
}

/// That a file, or the folder that it would be made in, is not locked against
/// changes: replacing it would not be what its owner meant.
pub(super) fn check_writable(path: &Path) -> Result<()> {
    let there = path.ancestors().find(|path| path.exists()).unwrap_or(path);
    if std::fs::metadata(there).is_ok_and(|about| about.permissions().readonly()) {
        let message = format!("{} is read-only; nothing was changed", there.display());
        return Err(Refusal::new(message, "make it writable (`chmod u+w`), then try again").into());
    }
    Ok(())
}

/// The folders that have to be made for a file, the innermost first.
pub(super) fn missing_folders(path: &Path) -> Vec<PathBuf> {
    let above = path.ancestors().skip(1).take_while(|dir| !dir.exists());
    above.filter(|dir| !dir.as_os_str().is_empty()).map(Path::to_owned).collect()
}
