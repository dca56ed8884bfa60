//! What is recorded of a thing: a hash of its words and of every file that it
//! names as program or script, there or not (S9).

use super::tree::Tree;
use everfold_disk::open_regular;
use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Largest file whose content is checked at each start. What is made of a
/// larger one stays off.
const FILE_BYTES: u64 = 64 * 1024 * 1024;
/// Most files of one folder.
const MAX_FILES: usize = 2_000;
/// How deep folders are looked into.
const MAX_DEPTH: usize = 12;
const BUFFER_BYTES: usize = 64 * 1024;

/// A hash that stands for a content; none where it cannot be checked.
pub(super) type Seal = Option<String>;

pub(super) fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// The seal of words together with the files that they name. Words that name
/// none have the seal that records of the first format have for them.
pub(super) fn with_files(tree: &Tree, words: Seal, named: &BTreeSet<PathBuf>) -> Seal {
    let words = words?;
    if named.is_empty() {
        return Some(words);
    }
    let mut hasher = blake3::Hasher::new();
    hasher.update(words.as_bytes());
    for path in named {
        hasher.update(tree.name(path).as_bytes());
        hasher.update(&[0]);
        add_file(tree, path, &mut hasher)?;
    }
    Some(hasher.finalize().to_hex().to_string())
}

/// One seal for the names and contents of some files below a folder.
pub(super) fn of_folder(tree: &Tree, dir: &Path, files: &Files) -> Seal {
    if files.is_too_many {
        return None;
    }
    let mut hasher = blake3::Hasher::new();
    for file in &files.paths {
        let name = file.strip_prefix(dir).unwrap_or(file);
        hasher.update(name.to_string_lossy().replace('\\', "/").as_bytes());
        hasher.update(&[0]);
        add_file(tree, file, &mut hasher)?;
    }
    Some(hasher.finalize().to_hex().to_string())
}

/// Adds a file; none if it is too large to be checked.
fn add_file(tree: &Tree, path: &Path, hasher: &mut blake3::Hasher) -> Option<()> {
    let Ok((file, size)) = open_regular(path) else {
        hasher.update(b"none");
        return Some(());
    };
    if size > FILE_BYTES {
        return None;
    }
    // A link that leads elsewhere now is a change, whatever is there.
    if let Some(real) = tree.outside(path) {
        hasher.update(real.to_string_lossy().as_bytes());
        hasher.update(&[0]);
    }
    hasher.update(&size.to_le_bytes());
    let mut file = file.take(FILE_BYTES);
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Some(()),
            Ok(read) => {
                hasher.update(buffer.get(..read).unwrap_or_default());
            }
            Err(_) => return None,
        }
    }
}

/// Files below a folder.
#[derive(Debug, Default)]
pub(super) struct Files {
    /// By name. Links are followed, and a real folder is entered once.
    pub(super) paths: Vec<PathBuf>,
    /// Links among them, and among folders, that lead out of the tree.
    pub(super) leaving: Vec<PathBuf>,
    is_too_many: bool,
}

impl Files {
    pub(super) fn one(path: PathBuf) -> Self {
        Self { paths: vec![path], ..Self::default() }
    }

    /// All below a folder.
    pub(super) fn below(tree: &Tree, dir: &Path) -> Self {
        let mut files = Self::default();
        let mut entered = BTreeSet::new();
        let mut ahead = vec![(dir.to_owned(), 0)];
        while let Some((dir, depth)) = ahead.pop() {
            if !dir.canonicalize().is_ok_and(|real| entered.insert(real)) {
                continue;
            }
            for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
                let path = entry.path();
                if files.paths.len() + ahead.len() > MAX_FILES {
                    files.is_too_many = true;
                    break;
                }
                let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
                if is_link && tree.outside(&path).is_some() {
                    files.leaving.push(path.clone());
                }
                if !path.is_dir() {
                    files.paths.push(path);
                } else if depth < MAX_DEPTH {
                    ahead.push((path, depth + 1));
                } else {
                    files.is_too_many = true;
                }
            }
        }
        files.paths.sort();
        files.leaving.sort();
        files
    }
}
