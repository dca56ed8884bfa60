//! Whether a project still has what somebody named (L6.8): files, branches,
//! names in code. No program is started for it (S2): git is read from its
//! files. Only what is surely not there is missing.

use crate::tree::{Found, Stop, files};
use everfold_disk::{read_regular, read_regular_text};
use everfold_kernel::ports::Names;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Larger files are data, not code.
const FILE_BYTES: u64 = 4 * 1024 * 1024;
/// Largest file of git that names another place.
const GIT_FILE_BYTES: u64 = 64 * 1024;
/// Largest list of branches.
const REFS_BYTES: u64 = 64 * 1024 * 1024;
/// Bytes in which a NUL marks a binary.
const BINARY_BYTES: usize = 1024;

/// Those of some names that a project surely does not have. Blocks.
#[must_use]
pub fn missing(root: &Path, names: Names, max_bytes: u64) -> Names {
    find(root, names, max_bytes, &Stop::default())
}

pub(crate) fn find(root: &Path, names: Names, max_bytes: u64, stop: &Stop) -> Names {
    if !root.is_dir() {
        return Names::default();
    }
    let Names { mut paths, mut symbols, mut branches } = names;
    // A name without a folder may be anywhere below.
    paths.retain(|path| path.trim_end_matches('/').contains('/') && is_gone(root, path));
    match git_dir(root) {
        Some(git) => branches.retain(|name| !has_branch(&git, name)),
        None => branches.clear(),
    }
    match words(root, &symbols, max_bytes, stop) {
        Some(known) => symbols.retain(|symbol| !parts(symbol).all(|part| known.contains(part))),
        None => symbols.clear(),
    }
    Names { paths, symbols, branches }
}

/// Whether nothing is at a path. One that leads out is none of our business.
fn is_gone(root: &Path, path: &str) -> bool {
    let leads_out = Path::new(path).components().any(|part| part.as_os_str() == "..");
    !leads_out && matches!(root.join(path).try_exists(), Ok(false))
}

/// The identifiers that a symbol is made of.
fn parts(symbol: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    symbol.split(move |c: char| !is_part(c)).filter(|part| !part.is_empty())
}

/// Those identifiers of some symbols that stand anywhere in the project; none
/// where not all of it could be looked at.
fn words(
    root: &Path,
    symbols: &BTreeSet<String>,
    max_bytes: u64,
    stop: &Stop,
) -> Option<BTreeSet<String>> {
    let mut wanted: BTreeSet<&[u8]> =
        symbols.iter().flat_map(|symbol| parts(symbol)).map(str::as_bytes).collect();
    let mut known = BTreeSet::new();
    let mut looked = 0_u64;
    for found in files(root, stop) {
        if wanted.is_empty() {
            break;
        }
        let Found::File(entry) = found else { return None };
        let bytes = entry.metadata().map_or(0, |about| about.len());
        if bytes > FILE_BYTES {
            continue;
        }
        looked += bytes;
        if looked > max_bytes {
            return None;
        }
        let Ok(text) = read_regular(entry.path(), FILE_BYTES) else { continue };
        if text.iter().take(BINARY_BYTES).any(|byte| *byte == 0) {
            continue;
        }
        let is_word =
            |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | 128..);
        for word in text.split(|byte| !is_word(byte)).filter(|word| !word.is_empty()) {
            if wanted.remove(word) {
                known.insert(String::from_utf8_lossy(word).into_owned());
            }
        }
    }
    (!stop.is_set()).then_some(known)
}

/// The folder with a repository's branches; that of the main work tree, where
/// this is another one.
fn git_dir(root: &Path) -> Option<PathBuf> {
    let dot_git = root.join(".git");
    if dot_git.is_dir() {
        return Some(dot_git);
    }
    let text = read_regular_text(&dot_git, GIT_FILE_BYTES).ok()?;
    let own = root.join(text.trim().strip_prefix("gitdir:")?.trim());
    let common = read_regular_text(&own.join("commondir"), GIT_FILE_BYTES).ok()?;
    Some(own.join(common.trim()))
}

/// Whether a repository has a branch, of its own or of a remote. Where that
/// cannot be told, it has.
fn has_branch(git: &Path, name: &str) -> bool {
    if name.split('/').any(|part| part == ".." || part.is_empty()) || git.join("reftable").exists()
    {
        return true;
    }
    let packed = read_regular_text(&git.join("packed-refs"), REFS_BYTES).unwrap_or_default();
    let packed = packed.lines().filter_map(|line| line.split_once(' ')).any(|(_, full)| {
        let full = full.trim();
        full.strip_prefix("refs/heads/") == Some(name)
            || full
                .strip_prefix("refs/remotes/")
                .and_then(|rest| rest.split_once('/'))
                .is_some_and(|(_, branch)| branch == name)
    });
    let remote = || {
        let remotes = fs::read_dir(git.join("refs/remotes")).into_iter().flatten().flatten();
        remotes.into_iter().any(|remote| remote.path().join(name).exists())
    };
    packed || git.join("refs/heads").join(name).exists() || remote()
}
