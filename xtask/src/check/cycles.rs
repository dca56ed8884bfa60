//! The folders of a crate do not import each other in a circle, so that one
//! can be read, and tested, before the next.
//!
//! A folder or a file directly under a source root is a node; `crate::x`,
//! `super::x` and what the root re-exports of `x` are edges. The root itself
//! is none: it names them all.

use super::Finding;
use crate::rust_code::{Source, line_at, product_sources, until_closed};
use crate::tree::Tree;
use anyhow::Result;
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};

/// The source roots for which this holds: `engine/src`, when it is in folders.
pub(super) const FOLDERS: &[&str] = &["engine/src"];

/// One import of a node by another.
#[derive(Debug)]
struct Import<'a> {
    from: &'a str,
    to: String,
    path: &'a str,
    line: usize,
}

/// Looks at every root.
pub(super) fn check(tree: &Tree, roots: &[&str]) -> Result<Vec<Finding>> {
    let sources = product_sources(tree)?;
    let patterns = Patterns::new()?;
    Ok(roots.iter().flat_map(|root| circles(&patterns.imports(&sources, root))).collect())
}

/// The imports that are part of a circle, as findings.
fn circles(imports: &[Import<'_>]) -> Vec<Finding> {
    let mut edges: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for import in imports {
        edges.entry(import.from).or_default().insert(&import.to);
    }
    let reach: BTreeMap<&str, BTreeSet<&str>> =
        edges.keys().map(|node| (*node, reached(&edges, node))).collect();
    let reaches = |from: &str, to: &str| reach.get(from).is_some_and(|all| all.contains(to));
    imports
        .iter()
        .filter(|import| reaches(&import.to, import.from))
        .map(|import| {
            let circle: Vec<&str> = reach
                .keys()
                .copied()
                .filter(|node| reaches(import.from, node) && reaches(node, import.from))
                .collect();
            let message = format!(
                "`{}` imports `{}`, which leads back to it ({}); move what both need below them",
                import.from,
                import.to,
                shortened(&circle)
            );
            Finding::new(import.path, import.line, message)
        })
        .collect()
}

/// The nodes of a circle; of a large one the first, and how many there are.
fn shortened(circle: &[&str]) -> String {
    /// More names than this tell no more than their number.
    const NAMED: usize = 6;
    let first: Vec<&str> = circle.iter().copied().take(NAMED).collect();
    let more = circle.len().saturating_sub(NAMED);
    if more == 0 { first.join(", ") } else { format!("{} and {more} more", first.join(", ")) }
}

/// Every node that a node leads to, itself only by a circle.
fn reached<'a>(edges: &BTreeMap<&str, BTreeSet<&'a str>>, node: &str) -> BTreeSet<&'a str> {
    let mut seen = BTreeSet::new();
    let mut open: Vec<&'a str> = edges.get(node).into_iter().flatten().copied().collect();
    while let Some(next) = open.pop() {
        if seen.insert(next) {
            open.extend(edges.get(next).into_iter().flatten().copied());
        }
    }
    seen
}

struct Patterns {
    /// The head of a path into the crate.
    head: Regex,
    /// The first name of a path.
    name: Regex,
    /// What a root re-exports: a module, and a name or a group of them.
    reexport: Regex,
}

impl Patterns {
    fn new() -> Result<Self> {
        Ok(Self {
            head: Regex::new(r"\b(?:(crate)|(super(?:::super)*))::(?:(\w+)|\{)")?,
            name: Regex::new(r"^\s*(\w+)")?,
            reexport: Regex::new(r"\bpub use (?:crate::|self::)?(\w+)::([^;]*);")?,
        })
    }

    fn imports<'a>(&self, sources: &'a [Source<'_>], root: &str) -> Vec<Import<'a>> {
        let within = |source: &'a Source<'_>| {
            let path = source.path.strip_prefix(root)?.strip_prefix('/')?;
            Some((source, path.trim_end_matches(".rs")))
        };
        let files: Vec<(&Source<'_>, &str)> = sources.iter().filter_map(within).collect();
        let nodes: BTreeSet<&str> = files.iter().map(|(_, path)| node_of(path)).collect();
        let lib = files.iter().find(|(_, path)| *path == "lib").map(|(source, _)| source);
        let lent = lib.map_or_else(BTreeMap::new, |lib| self.reexports(&lib.code));
        let mut imports = Vec::new();
        for (source, path) in files.iter().filter(|(_, path)| *path != "lib") {
            let from = node_of(path);
            for (name, line) in self.names(&source.code, path.split('/').count()) {
                let to = lent.get(&name).cloned().unwrap_or(name);
                if to != from && nodes.contains(to.as_str()) {
                    imports.push(Import { from, to, path: source.path, line });
                }
            }
        }
        imports
    }

    /// Names directly under the root that a file of this depth uses.
    fn names(&self, code: &str, depth: usize) -> Vec<(String, usize)> {
        let mut names = Vec::new();
        for found in self.head.captures_iter(code) {
            let Some(whole) = found.get(0) else { continue };
            let ups = found.get(2).map_or(depth, |ups| ups.as_str().split("::").count());
            if ups != depth {
                continue;
            }
            let line = line_at(code, whole.start());
            if let Some(name) = found.get(3) {
                names.push((name.as_str().to_owned(), line));
                continue;
            }
            let rest = code.split_at_checked(whole.end()).map_or("", |(_, rest)| rest);
            names.extend(self.group(until_closed(rest)).map(|name| (name, line)));
        }
        names
    }

    /// The first names of the parts of a group, such as `a` and `b` of
    /// `a::{X, Y}, b`.
    fn group<'a>(&'a self, group: &'a str) -> impl Iterator<Item = String> + 'a {
        let mut depth = 0_usize;
        let parts = group.split(move |letter| {
            match letter {
                '{' => depth += 1,
                '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            letter == ',' && depth == 0
        });
        parts
            .filter_map(|part| self.name.captures(part).and_then(|found| found.get(1)))
            .map(|name| name.as_str().to_owned())
    }

    /// Which node a name of the root belongs to.
    fn reexports(&self, code: &str) -> BTreeMap<String, String> {
        let mut owners = BTreeMap::new();
        for found in self.reexport.captures_iter(code) {
            let (Some(owner), Some(what)) = (found.get(1), found.get(2)) else { continue };
            let names =
                what.as_str().split(|letter: char| !letter.is_alphanumeric() && letter != '_');
            owners.extend(
                names
                    .filter(|name| name.starts_with(|c: char| c.is_alphabetic()))
                    .map(|name| (name.to_owned(), owner.as_str().to_owned())),
            );
        }
        owners
    }
}

/// The folder or file of a path within a root.
fn node_of(path: &str) -> &str {
    path.split('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::sample;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let (_folder, tree) = sample(files);
        check(&tree, &["engine/src"]).unwrap().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn imports_that_go_one_way_pass() {
        let files = [
            ("engine/src/lib.rs", "mod session;\nmod turn;\npub use session::Log;\n"),
            ("engine/src/session.rs", "mod log;\nuse self::log::Log;\n"),
            ("engine/src/session/log.rs", "use super::Session;\nuse crate::session::Session;\n"),
            ("engine/src/turn.rs", "use crate::session::Session;\n// use crate::turn_end;\n"),
            ("engine/src/turn/step.rs", "use super::Turn;\nuse crate::Log;\n"),
            ("engine/src/turn/tests.rs", "use crate::window::Window;\n"),
            ("engine/src/window.rs", "use crate::turn::Turn;\n"),
            ("sdk/src/a.rs", "use crate::b::B;\n"),
            ("sdk/src/b.rs", "use crate::a::A;\n"),
        ];
        assert_eq!(found(&files), Vec::<String>::new());
    }

    #[test]
    fn a_circle_is_found_with_every_import_that_makes_it() {
        let files = [
            ("engine/src/lib.rs", "pub use turn::{Turn, end::End};\npub use window::Window;\n"),
            ("engine/src/session.rs", "fn f() {\n    crate::window::open();\n}\n"),
            (
                "engine/src/turn/step.rs",
                "use crate::{\n    prompt::Prompt,\n    session::{A, B},\n};\n",
            ),
            ("engine/src/window/ladder.rs", "use super::super::End;\n"),
            ("engine/src/prompt.rs", "use std::fmt;\n"),
        ];
        let found = found(&files);
        assert_eq!(found.len(), 3, "{found:#?}");
        assert!(found.iter().all(|one| one.contains("(session, turn, window)")), "{found:#?}");
        assert!(found[0].starts_with("engine/src/session.rs:2: `session` imports `window`"));
        assert!(found[1].starts_with("engine/src/turn/step.rs:1: `turn` imports `session`"));
        assert!(found[2].starts_with("engine/src/window/ladder.rs:1: `window` imports `turn`"));
    }

    #[test]
    fn a_large_circle_is_named_by_its_size() {
        assert_eq!(shortened(&["a", "b"]), "a, b");
        assert_eq!(
            shortened(&["a", "b", "c", "d", "e", "f", "g", "h"]),
            "a, b, c, d, e, f and 2 more"
        );
    }

    #[test]
    fn two_files_beside_the_root_can_make_a_circle_too() {
        let files =
            [("engine/src/a.rs", "use super::b::B;\n"), ("engine/src/b.rs", "use crate::a;\n")];
        assert_eq!(found(&files).len(), 2);
    }
}
