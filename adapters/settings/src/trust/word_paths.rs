//! What the words of commands can stand for: paths, options with their values.

use super::build_tools::{FOLDERS, OBEYED};
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

/// A short option with its value attached: `-fMakefile`, `-r./x`, `-Csub`.
pub(super) fn attached(word: &str) -> Option<(&str, &str)> {
    let (option, value) = word.split_at_checked(2)?;
    let known = option.starts_with('-') && option != "--" && !value.is_empty();
    (known && (OBEYED.contains(&option) || FOLDERS.contains(&option))).then_some((option, value))
}

/// Words after the options, numbers and assignments of a program that runs another.
pub(super) fn after_options(words: &[String]) -> &[String] {
    let is_option = |word: &String| {
        word.starts_with('-')
            || word.starts_with(|c: char| c.is_ascii_digit())
            || word.split_once('=').is_some_and(|(name, _)| is_name(name))
    };
    let start = words.iter().position(|word| !is_option(word)).unwrap_or(words.len());
    words.get(start..).unwrap_or_default()
}

/// Words after the options of a shell's own command.
pub(super) fn after_dashes(words: &[String]) -> &[String] {
    let start = words.iter().position(|word| !word.starts_with('-')).unwrap_or(words.len());
    words.get(start..).unwrap_or_default()
}

pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The name of a program without its version: `python3.12` is `python`.
pub(super) fn without_version(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
}
