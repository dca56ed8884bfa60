//! Where a path really leads, there or not.
//!
//! This walks the path a part at a time, as the system would, so that a link
//! to something that does not exist yet is followed too: a new file behind it
//! would be made where the link leads.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// As many links as Linux follows before it calls it a loop.
const MAX_LINKS: usize = 40;

/// The path with every link followed and every `..` taken.
pub(super) fn resolve(path: &Path) -> PathBuf {
    let start = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let mut ahead = parts(&start);
    let mut at = PathBuf::new();
    let mut links = 0;
    while let Some(part) = ahead.pop_front() {
        match part {
            Part::Start(start) => at = PathBuf::from(start),
            Part::Up => {
                at.pop();
            }
            Part::Name(name) => {
                at.push(name);
                // In a circle of links the last name stands for itself:
                // opening it fails anyway.
                if links < MAX_LINKS
                    && let Ok(to) = fs::read_link(&at)
                {
                    links += 1;
                    at.pop();
                    let mut next = parts(&to);
                    next.append(&mut ahead);
                    ahead = next;
                }
            }
        }
    }
    at
}

enum Part {
    Start(OsString),
    Up,
    Name(OsString),
}

fn parts(path: &Path) -> VecDeque<Part> {
    let mut parts = VecDeque::new();
    let mut start = OsString::new();
    for component in path.components() {
        match component {
            Component::Prefix(_) => start.push(component),
            Component::RootDir => {
                start.push(component);
                parts.push_back(Part::Start(std::mem::take(&mut start)));
            }
            Component::CurDir => {}
            Component::ParentDir => parts.push_back(Part::Up),
            Component::Normal(name) => parts.push_back(Part::Name(name.to_os_string())),
        }
    }
    parts
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn s1_links_are_followed_there_or_not() {
        let dir = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(dir.path()).unwrap();
        fs::create_dir_all(base.join("real/sub")).unwrap();
        symlink("real/sub", base.join("link")).unwrap();
        symlink("/nowhere/new", base.join("dangling")).unwrap();
        assert_eq!(resolve(&base.join("link/x/y")), base.join("real/sub/x/y"));
        assert_eq!(resolve(&base.join("dangling/f")), Path::new("/nowhere/new/f"));
        // `..` goes up from where the link leads, not from the link.
        assert_eq!(resolve(&base.join("link/../z")), base.join("real/z"));
        assert_eq!(resolve(&base.join("none/../z")), base.join("z"));
        assert_eq!(resolve(Path::new("/../../etc")), Path::new("/etc"));
    }

    #[test]
    fn s6_a_circle_of_links_ends() {
        let dir = tempfile::tempdir().unwrap();
        symlink("b", dir.path().join("a")).unwrap();
        symlink("a", dir.path().join("b")).unwrap();
        let _somewhere = resolve(&dir.path().join("a/x"));
    }
}
