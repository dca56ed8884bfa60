//! What the words of commands can stand for as paths.

use super::shell_words::UNKNOWN;
use std::path::PathBuf;

/// Most files that a pattern stands for.
pub(super) const MAX_MATCHES: usize = 100;

/// `NAME` or `{NAME…}`, and what follows.
pub(super) fn variable_name(text: &str) -> (&str, &str) {
    if let Some(inner) = text.strip_prefix('{') {
        let (inside, after) = inner.split_once('}').unwrap_or((inner, ""));
        let end = inside.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(inside.len());
        return (inside.get(..end).unwrap_or_default(), after);
    }
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// What is unknown at the start of a path is taken for a folder of the tree.
pub(super) fn after_unknown(text: &str) -> String {
    match text.rsplit_once(UNKNOWN) {
        Some((_, rest)) => rest.trim_start_matches('/').to_owned(),
        None => text.to_owned(),
    }
}

/// The files that a path with a pattern in its last part stands for.
pub(super) fn matches(path: PathBuf) -> Vec<PathBuf> {
    let wild = ['*', '?', '['];
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    let Some(name) = name.filter(|name| name.contains(wild)) else { return vec![path] };
    let start = name.split(wild).next().unwrap_or_default();
    let end = name.rsplit(['*', '?', ']']).next().unwrap_or_default();
    let entries = path.parent().and_then(|dir| std::fs::read_dir(dir).ok());
    let fits = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        name.is_some_and(|name| name.starts_with(start) && name.ends_with(end)) && path.is_file()
    };
    let mut found: Vec<PathBuf> =
        entries.into_iter().flatten().flatten().map(|entry| entry.path()).filter(fits).collect();
    found.sort();
    found.truncate(MAX_MATCHES);
    found
}
