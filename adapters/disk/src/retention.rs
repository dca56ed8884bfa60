//! Sessions that nobody has touched for long (Q11).
//!
//! A session is its transcript and the directory beside it: spilled results,
//! notes, the transcripts of its agents, checkpoints. It is as old as the
//! newest of them, and goes whole or not at all. Everything else in a project's
//! directory stays, memory above all. Links are not followed, and a session
//! that a process has open stays, however long it was silent.

use crate::claims::{self, LOCKED};
use crate::error::Error;
use crate::transcripts::{EXTENSION, is_plain};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// How deep a session's directory is looked into.
const DEPTH: usize = 8;

/// A session on the disk, with all that belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSession {
    pub session: String,
    pub project: PathBuf,
    /// Its transcript and its directory, as far as they are there.
    pub paths: Vec<PathBuf>,
    /// When something in it was last written.
    pub modified: SystemTime,
    /// The size of all of it.
    pub bytes: u64,
}

/// The sessions of all projects in a directory that were last written before
/// a time, oldest first. What cannot be read is left out.
#[must_use]
pub fn older_than(projects: &Path, before: SystemTime) -> Vec<StoredSession> {
    let mut old: Vec<StoredSession> = directories(projects)
        .flat_map(|project| sessions(&project))
        .filter(|session| session.modified < before)
        .collect();
    old.sort_by(|a, b| (a.modified, &a.paths).cmp(&(b.modified, &b.paths)));
    old
}

/// Removes a session, unless it was written to meanwhile or is open: says
/// whether it went.
///
/// # Errors
/// If the operating system says no. What was removed by then stays removed.
pub fn remove(session: &StoredSession, before: SystemTime) -> Result<bool, Error> {
    let now = sessions(&session.project).find(|now| now.session == session.session);
    let Some(now) = now.filter(|now| now.modified < before) else { return Ok(false) };
    let log = now.project.join(format!("{}.{EXTENSION}", now.session));
    if claims::holder(&log).is_some() {
        return Ok(false);
    }
    for path in &now.paths {
        let failed = |source| Error::io(path, source);
        if path.is_dir() {
            std::fs::remove_dir_all(path).map_err(failed)?;
        } else {
            if is_open(path) {
                return Ok(false);
            }
            std::fs::remove_file(path).map_err(failed)?;
        }
    }
    Ok(true)
}

/// Whether a process has a transcript open for appending.
fn is_open(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| file.try_lock().is_err())
}

/// The sessions of a project. Transcripts come before directories, so that one
/// that is open is found out before anything is gone.
fn sessions(project: &Path) -> impl Iterator<Item = StoredSession> + use<> {
    let mut found: BTreeMap<String, StoredSession> = BTreeMap::new();
    for (path, metadata) in entries(project) {
        let Some(name) = session_name(&path, metadata.is_dir()) else { continue };
        let (modified, bytes) = extent(&path, &metadata, DEPTH);
        let kept = found.entry(name.clone()).or_insert_with(|| StoredSession {
            session: name,
            project: project.to_owned(),
            paths: Vec::new(),
            modified,
            bytes: 0,
        });
        kept.modified = kept.modified.max(modified);
        kept.bytes += bytes;
        let at = if metadata.is_dir() { kept.paths.len() } else { 0 };
        kept.paths.insert(at, path);
    }
    // A directory without a transcript counts only where its name is certain.
    let certain = |kept: &StoredSession| {
        kept.paths.iter().any(|path| !path.is_dir()) || is_uuid(&kept.session)
    };
    found.into_values().filter(certain).collect::<Vec<_>>().into_iter()
}

fn session_name(path: &Path, is_dir: bool) -> Option<String> {
    let stem = if is_dir { path.file_name() } else { path.file_stem() };
    let stem = stem?.to_str()?;
    let ours = |ending: &std::ffi::OsStr| ending == EXTENSION || ending == LOCKED;
    let fits = is_dir || path.extension().is_some_and(ours);
    (fits && is_plain(stem) && stem != "memory").then(|| stem.to_owned())
}

fn is_uuid(name: &str) -> bool {
    let parts: Vec<usize> = name.split('-').map(str::len).collect();
    parts == [8, 4, 4, 4, 12] && name.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
}

/// When something in it was last written, and how large it is.
fn extent(path: &Path, metadata: &std::fs::Metadata, depth: usize) -> (SystemTime, u64) {
    let modified = metadata.modified().unwrap_or_else(|_| SystemTime::now());
    if !metadata.is_dir() {
        return (modified, metadata.len());
    }
    // A directory too deep to be looked into is taken for new: it stays.
    let Some(depth) = depth.checked_sub(1) else { return (SystemTime::now(), 0) };
    let inside = entries(path).map(|(path, metadata)| extent(&path, &metadata, depth));
    inside.fold((modified, 0), |(newest, all), (at, bytes)| (newest.max(at), all + bytes))
}

fn directories(dir: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    entries(dir).filter(|(_, metadata)| metadata.is_dir()).map(|(path, _)| path)
}

fn entries(dir: &Path) -> impl Iterator<Item = (PathBuf, std::fs::Metadata)> + use<> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some((entry.path(), entry.metadata().ok()?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonl::Appender;
    use std::time::Duration;

    const OLD: &str = "0192f0c1-1111-7000-8000-000000000001";

    struct Home(tempfile::TempDir);

    impl Home {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn file(&self, path: &str, days_old: u64) -> PathBuf {
            let path = self.0.path().join("p").join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "0123456789\n").unwrap();
            age(&path, days_old);
            let mut dir = path.parent().unwrap();
            while dir != self.0.path() {
                age(dir, days_old);
                dir = dir.parent().unwrap();
            }
            path
        }

        fn old(&self) -> Vec<String> {
            older_than(self.0.path(), limit()).into_iter().map(|kept| kept.session).collect()
        }
    }

    fn age(path: &Path, days: u64) {
        let then = SystemTime::now() - Duration::from_hours(24 * days);
        File::open(path).unwrap().set_modified(then).unwrap();
    }

    fn limit() -> SystemTime {
        SystemTime::now() - Duration::from_hours(24 * 30)
    }

    #[test]
    fn q11_an_old_session_goes_whole_and_memory_never() {
        let home = Home::new();
        let transcript = home.file(&format!("{OLD}.jsonl"), 40);
        let spill = home.file(&format!("{OLD}/tool-results/a.txt"), 40);
        let memory = home.file("memory/a.md", 400);
        let other = home.file("notes/a.md", 400);
        let fresh = home.file("0192f0c1-2222-7000-8000-000000000001.jsonl", 3);
        let old = older_than(home.0.path(), limit());
        assert_eq!(old.len(), 1);
        assert_eq!((old[0].session.as_str(), old[0].bytes), (OLD, 22));
        assert!(remove(&old[0], limit()).unwrap());
        assert!(!transcript.exists() && !spill.parent().unwrap().parent().unwrap().exists());
        assert!(memory.exists() && other.exists() && fresh.exists());
    }

    #[test]
    fn q11_a_session_is_as_new_as_its_newest_file() {
        let home = Home::new();
        home.file(&format!("{OLD}.jsonl"), 40);
        home.file(&format!("{OLD}/session-memory/summary.md"), 1);
        assert!(home.old().is_empty());
    }

    #[test]
    fn q11_what_was_written_meanwhile_or_is_open_stays() {
        let home = Home::new();
        let path = home.file(&format!("{OLD}.jsonl"), 40);
        let old = older_than(home.0.path(), limit());
        let mut open = Appender::open(&path).unwrap();
        assert!(!remove(&old[0], limit()).unwrap(), "a process has it open");
        open.append(b"{}").unwrap();
        drop(open);
        assert!(!remove(&old[0], limit()).unwrap(), "it was written to");
        age(&path, 40);
        assert!(remove(&old[0], limit()).unwrap());
        assert!(!remove(&old[0], limit()).unwrap(), "it is gone");
    }

    #[cfg(unix)]
    #[test]
    fn q11_links_are_not_followed() {
        let home = Home::new();
        let outside = tempfile::tempdir().unwrap();
        let file = outside.path().join("a.txt");
        std::fs::write(&file, "x").unwrap();
        std::fs::create_dir_all(home.0.path().join("p")).unwrap();
        std::os::unix::fs::symlink(outside.path(), home.0.path().join("p").join(OLD)).unwrap();
        std::os::unix::fs::symlink(outside.path(), home.0.path().join("linked")).unwrap();
        for kept in older_than(home.0.path(), SystemTime::now() + Duration::from_hours(1)) {
            let _ = remove(&kept, SystemTime::now() + Duration::from_hours(1));
        }
        assert!(file.exists());
    }
}
