//! All files of a session: its transcript and what lies in its directory.
//!
//! Links are not followed: what they lead to is not the session's.

use crate::atomic::{self, FileReaders};
use crate::error::Error;
use std::fs::File;
use std::path::{Path, PathBuf};

/// How deep a session's directory is looked into.
const DEPTH: usize = 8;

/// The files of the session with this transcript, the transcript last: what
/// was done to the others is done when it is.
#[must_use]
pub fn session_files(transcript: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    gather(&transcript.with_extension(""), DEPTH, &mut files);
    files.sort();
    files.extend(transcript.is_file().then(|| transcript.to_owned()));
    files
}

fn gather(dir: &Path, depth: usize, into: &mut Vec<PathBuf>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    let is_dir = dir.symlink_metadata().is_ok_and(|found| found.is_dir());
    let entries = if is_dir { std::fs::read_dir(dir).ok() } else { None };
    for entry in entries.into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => gather(&entry.path(), depth, into),
            Ok(kind) if kind.is_file() => into.push(entry.path()),
            _ => {}
        }
    }
}

/// Puts other bytes into a file of ours, whole or not at all. It stays as old
/// as it is.
///
/// # Errors
/// If it cannot be written.
pub fn rewrite(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let modified = path.metadata().and_then(|found| found.modified());
    atomic::write(path, bytes, FileReaders::Private)?;
    if let Ok(modified) = modified {
        let dated =
            File::options().append(true).open(path).and_then(|file| file.set_modified(modified));
        dated.map_err(|source| Error::io(path, source))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn s15_a_session_has_its_files_and_not_those_of_links() {
        let dir = tempfile::tempdir().unwrap();
        let put = |path: &str| {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "x").unwrap();
            path
        };
        let (log, spill) = (put("s.jsonl"), put("s/tool-results/a.txt"));
        let agent = put("s/subagents/agent-1.jsonl");
        let other = put("other/a.txt");
        std::os::unix::fs::symlink(other.parent().unwrap(), dir.path().join("s/link")).unwrap();
        assert_eq!(session_files(&log), [agent, spill.clone(), log]);
        let before = spill.metadata().unwrap().modified().unwrap();
        rewrite(&spill, b"y").unwrap();
        assert_eq!(std::fs::read(&spill).unwrap(), b"y");
        assert_eq!(spill.metadata().unwrap().modified().unwrap(), before);
    }
}
