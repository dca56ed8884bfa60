//! An index over its caps: lines of one theme move into a sub-index (L5.28).
//!
//! The theme of a line is the heading above it, where there are headings, else
//! the first word of its file's name (`feedback_tests.md`, `db-timeouts.md`).
//! The largest theme moves first, until there is room to grow again.

use super::load::{Caps, breach};
use super::{Index, Pointer};
use crate::error::Error;
use crate::slug::slugify;
use std::collections::BTreeMap;

/// A theme with fewer lines is not worth a file of its own.
const LEAST_LINES: usize = 3;
/// Once over the caps, lines move until the index is at this share of them.
const ROOM_PERCENT: usize = 70;

/// A sub-index that is to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    pub path: String,
    pub text: String,
}

/// What becomes of an index that was over its caps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// The index, within them.
    pub index: Index,
    /// The sub-indexes that lines moved to.
    pub moved: Vec<Moved>,
}

/// Brings an index within its caps. `read` gives the text of a file of the
/// directory, so that a sub-index that is there already grows.
///
/// # Errors
/// If there are not enough pointers that could move.
pub fn split(
    index: &Index,
    caps: Caps,
    mut read: impl FnMut(&str) -> Option<String>,
) -> Result<Split, Error> {
    let mut result = Split { index: index.clone(), moved: Vec::new() };
    let goal =
        Caps { lines: caps.lines * ROOM_PERCENT / 100, bytes: caps.bytes * ROOM_PERCENT / 100 };
    while breach(&result.index.to_string(), goal).is_some() {
        let Some((theme, pointers)) = largest_theme(&result.index) else {
            break;
        };
        move_theme(&mut result, &theme, &pointers, &mut read);
    }
    match breach(&result.index.to_string(), caps) {
        Some(over) => Err(Error::IndexFull { lines: over.lines, bytes: over.bytes }),
        None => Ok(result),
    }
}

fn move_theme(
    result: &mut Split,
    theme: &str,
    pointers: &[Pointer],
    read: &mut impl FnMut(&str) -> Option<String>,
) {
    let path = sub_index_path(theme);
    let at = result.moved.iter().position(|moved| moved.path == path);
    let old = at.map(|at| result.moved.remove(at).text).or_else(|| read(&path));
    let text = old.unwrap_or_else(|| new_sub_index(theme));
    let mut sub = Index::parse(&text);
    for pointer in pointers {
        result.index.remove(&pointer.target);
        sub.set(pointer);
    }
    let count = sub.pointers().count();
    let titles: Vec<&str> = sub.pointers().take(3).map(|pointer| pointer.title.as_str()).collect();
    let hook = format!("{count} memories: {}, …", titles.join(", "));
    result.index.set(&Pointer { title: title_of(theme), target: path.clone(), hook });
    result.moved.push(Moved { path, text: sub.to_string() });
}

/// The file of a theme's sub-index.
fn sub_index_path(theme: &str) -> String {
    format!("index-{}.md", slugify(theme))
}

/// Whether a pointer leads to a sub-index of ours; those do not move.
fn is_sub(pointer: &Pointer) -> bool {
    pointer.target.starts_with("index-")
}

fn new_sub_index(theme: &str) -> String {
    let title = title_of(theme);
    let name = format!("index-{}", slugify(theme));
    format!(
        "---\nname: {name}\ndescription: \"Memories about {title}\"\nmetadata:\n  node_type: index\n---\n\n# {title}\n\n"
    )
}

fn title_of(theme: &str) -> String {
    let words = slugify(theme).replace('-', " ");
    let mut chars = words.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

fn largest_theme(index: &Index) -> Option<(String, Vec<Pointer>)> {
    let mut by_heading: BTreeMap<String, Vec<Pointer>> = BTreeMap::new();
    let mut by_word: BTreeMap<String, Vec<Pointer>> = BTreeMap::new();
    let mut heading = String::new();
    for line in &index.lines {
        if let Some(title) = line.text.trim().strip_prefix("##") {
            title.trim_start_matches('#').trim().clone_into(&mut heading);
        }
        let Some(pointer) = line.pointer.as_ref().filter(|pointer| !is_sub(pointer)) else {
            continue;
        };
        by_word.entry(first_word(&pointer.target)).or_default().push(pointer.clone());
        if !heading.is_empty() {
            by_heading.entry(heading.clone()).or_default().push(pointer.clone());
        }
    }
    let largest = |themes: BTreeMap<String, Vec<Pointer>>| {
        let found = themes
            .into_iter()
            .max_by_key(|(name, lines)| (lines.len(), std::cmp::Reverse(name.clone())));
        found.filter(|(_, lines)| lines.len() >= LEAST_LINES)
    };
    let all: Vec<Pointer> = by_word.values().flatten().cloned().collect();
    // With no theme left, what remains is a theme of its own.
    let rest = (all.len() >= LEAST_LINES).then(|| ("more".to_owned(), all));
    largest(by_heading).or_else(|| largest(by_word)).or(rest)
}

fn first_word(target: &str) -> String {
    let name = target.rsplit('/').next().unwrap_or(target);
    let folder = target.strip_suffix(name).unwrap_or_default().trim_end_matches('/');
    if !folder.is_empty() {
        return folder.to_owned();
    }
    let stem = name.strip_suffix(".md").unwrap_or(name);
    stem.split(['-', '_', ' ']).next().unwrap_or(stem).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{is_sub_index, reach};

    fn crowded(lines: usize) -> String {
        let line = |n: usize| {
            let theme = ["db", "ui", "ops", "team"].get(n % 4).unwrap();
            format!("- [Topic {n}]({theme}-topic-{n}.md) — about {theme} number {n}\n")
        };
        format!("# Memory\n\n{}", (0..lines).map(line).collect::<String>())
    }

    #[test]
    fn l5_28_lines_of_one_theme_move_and_all_stay_reachable() {
        let index = Index::parse(&crowded(230));
        let split = split(&index, Caps::default(), |_| None).unwrap();
        assert_eq!(breach(&split.index.to_string(), Caps::default()), None);
        assert!(split.moved.iter().all(|moved| is_sub_index(&moved.text)), "{:?}", split.moved);
        let files: BTreeMap<_, _> =
            split.moved.iter().map(|m| (m.path.clone(), m.text.clone())).collect();
        let found = reach(&split.index.to_string(), |path| {
            files.get(path).cloned().or_else(|| Some("body".to_owned()))
        });
        assert!(index.pointers().all(|pointer| found.reached.contains(&pointer.target)));
        assert!(split.index.to_string().starts_with("# Memory\n\n"));
    }

    #[test]
    fn l5_28_a_sub_index_that_is_there_grows() {
        let old = new_sub_index("db") + "- [Old](db-old.md) — kept\n";
        let split = split(&Index::parse(&crowded(230)), Caps::default(), |path| {
            (path == "index-db.md").then(|| old.clone())
        })
        .unwrap();
        let db = split.moved.iter().find(|moved| moved.path == "index-db.md").unwrap();
        assert!(db.text.starts_with(&old), "{}", db.text);
    }

    #[test]
    fn l5_28_without_pointers_nothing_can_move() {
        let prose = Index::parse(&"words\n".repeat(300));
        let error = split(&prose, Caps::default(), |_| None).unwrap_err();
        assert!(matches!(error, Error::IndexFull { lines: 300, .. }));
    }
}
