//! Links in a directory, for programs that follow them: what they lead to is
//! as good as named.

use super::real;
use everfold_kernel::ports::{FileMention, FileTouch, Presence};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Entries that are looked at; with more, anything may be among them.
const MOST_ENTRIES: usize = 50_000;

/// Adds what links below a directory lead to.
pub(super) fn below(dir: &Path, files: &mut BTreeSet<FileMention>) {
    let mention =
        |path: PathBuf| FileMention { path, presence: Presence::There, touch: FileTouch::Tree };
    let mut open = vec![real(dir)];
    let mut seen = 0;
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
            seen += 1;
            if seen > MOST_ENTRIES {
                files.insert(mention(PathBuf::from("/")));
                return;
            }
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                open.push(entry.path());
            } else if kind.is_symlink() && entry.path().exists() {
                files.insert(mention(real(&entry.path())));
            }
        }
    }
}
