//! The files below a directory.

use crate::error::Error;
use everfold_kernel::ports::FileError;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Links are followed, and a real directory is entered once: a link to a
/// directory above ends there. What cannot be entered is left out.
pub(super) fn below(dir: &Path, most: usize) -> Result<Vec<PathBuf>, FileError> {
    let mut found = Vec::new();
    let mut entered = BTreeSet::new();
    let mut open = vec![dir.to_path_buf()];
    while let Some(next) = open.pop() {
        let entries = match fs::read_dir(&next) {
            Ok(entries) => entries,
            Err(source) if next == dir => return Err(Error::io(dir, source).into()),
            Err(_) => continue,
        };
        if !next.canonicalize().is_ok_and(|real| entered.insert(real)) {
            continue;
        }
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        let (below, files): (Vec<_>, Vec<_>) = paths.into_iter().partition(|path| path.is_dir());
        found.extend(files);
        open.extend(below.into_iter().rev());
        if found.len() >= most {
            break;
        }
    }
    found.sort();
    found.truncate(most);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s6_a_directory_is_listed_once_whatever_links_say() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("b/c")).unwrap();
        for name in ["b/c/2.md", "b/1.md", "a.md"] {
            fs::write(dir.path().join(name), "x").unwrap();
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink(dir.path(), dir.path().join("b/up")).unwrap();
        let found = below(dir.path(), 10).unwrap();
        let names: Vec<_> =
            found.iter().map(|path| path.strip_prefix(dir.path()).unwrap()).collect();
        assert_eq!(names, ["a.md", "b/1.md", "b/c/2.md"].map(Path::new));
        assert_eq!(below(dir.path(), 2).unwrap().len(), 2);
        assert!(below(&dir.path().join("none"), 2).is_err());
    }
}
