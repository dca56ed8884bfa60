//! What can be reached from an index, directly or through sub-indexes (L5.28).

use super::{INDEX_FILE, Index};
use crate::memory::Memory;
use std::collections::BTreeSet;

/// A pointer that leads nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenPointer {
    /// The file that it is in.
    pub from: String,
    /// Where it leads, as written there.
    pub target: String,
}

/// What an index reaches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// Files that can be reached, from the directory's top.
    pub reached: BTreeSet<String>,
    /// Files among them that are sub-indexes.
    pub sub_indexes: BTreeSet<String>,
    /// Pointers that lead nowhere.
    pub broken: Vec<BrokenPointer>,
}

/// Whether a topic file is a list of pointers: at least two, and hardly
/// anything but them and headings.
#[must_use]
pub fn is_sub_index(text: &str) -> bool {
    let memory = Memory::parse(text);
    let index = Index::parse(memory.body);
    let pointers = index.pointers().count();
    let speaks = |line: &&str| !line.trim().is_empty() && !line.starts_with('#');
    let lines = memory.body.lines().filter(speaks).count();
    let says_so = memory
        .front
        .all
        .get("metadata")
        .and_then(|m| m.get("node_type"))
        .is_some_and(|t| t == "index");
    pointers > 0 && (says_so || (pointers >= 2 && pointers * 4 >= lines * 3))
}

/// Follows the pointers of `MEMORY.md`. `read` gives the text of a file of
/// the directory, or `None` if there is none.
pub fn reach(index: &str, mut read: impl FnMut(&str) -> Option<String>) -> Reach {
    let mut found = Reach::default();
    let mut ahead = vec![(INDEX_FILE.to_owned(), index.to_owned())];
    while let Some((from, text)) = ahead.pop() {
        for pointer in Index::parse(&text).pointers() {
            let broken = || BrokenPointer { from: from.clone(), target: pointer.target.clone() };
            let Some(path) = resolve(&from, &pointer.target) else {
                found.broken.push(broken());
                continue;
            };
            if found.reached.contains(&path) {
                continue;
            }
            let Some(text) = read(&path) else {
                found.broken.push(broken());
                continue;
            };
            if is_sub_index(&text) {
                found.sub_indexes.insert(path.clone());
                ahead.push((path.clone(), text));
            }
            found.reached.insert(path);
        }
    }
    found
}

/// A target, written in an index file, from the directory's top; `None` if it
/// leads out.
#[must_use]
pub fn resolve(from: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// A memory's path as it is written in an index file: the other way round.
#[must_use]
pub fn relative(index: &str, target: &str) -> String {
    let Some((folder, _)) = index.rsplit_once('/') else {
        return target.to_owned();
    };
    let mut from: Vec<&str> = folder.split('/').collect();
    let mut to: Vec<&str> = target.split('/').collect();
    from.reverse();
    to.reverse();
    while from.last().is_some() && from.last() == to.last() && to.len() > 1 {
        from.pop();
        to.pop();
    }
    let up = from.iter().map(|_| "..");
    up.chain(to.into_iter().rev()).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_written_from_the_index() {
        for (index, target, written) in [
            ("MEMORY.md", "a/b.md", "a/b.md"),
            ("a/index.md", "a/b.md", "b.md"),
            ("a/index.md", "c/b.md", "../c/b.md"),
            ("a/b/index.md", "a/x.md", "../x.md"),
        ] {
            assert_eq!(relative(index, target), written);
            assert_eq!(resolve(index, written).as_deref(), Some(target));
        }
    }

    #[test]
    fn l5_28_topics_are_reached_through_sub_indexes() {
        let read = |path: &str| {
            let text = match path {
                "a.md" => "---\nname: a\n---\nBody with [a link](b.md).\n",
                "sub/index-db.md" => {
                    "# DB\n\n- [C](c.md) — x\n- [D](../d.md) — y\n- [Up](../MEMORY.md)\n"
                }
                "sub/c.md" | "d.md" => "body\n",
                "MEMORY.md" => "- [A](a.md)\n- [DB](sub/index-db.md)\n",
                _ => return None,
            };
            Some(text.to_owned())
        };
        let found = reach(
            "- [A](a.md)\n- [DB](sub/index-db.md)\n- [Gone](gone.md)\n- [Out](../x.md)\n",
            read,
        );
        let reached: Vec<_> = found.reached.iter().map(String::as_str).collect();
        assert_eq!(reached, ["MEMORY.md", "a.md", "d.md", "sub/c.md", "sub/index-db.md"]);
        assert!(found.sub_indexes.contains("sub/index-db.md"));
        let broken: Vec<_> = found.broken.iter().map(|b| b.target.as_str()).collect();
        assert_eq!(broken, ["gone.md", "../x.md"]);
    }
}
