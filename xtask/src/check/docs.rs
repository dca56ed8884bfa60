//! The documents name only what exists.
//!
//! Looked at in every Markdown file: where relative links lead, down to the
//! heading; code spans that look like a path of the repository; code spans
//! that look like a Rust path of ours. Prompts are left out. A path with a hole (`<crate>`, `*`, `~`)
//! is a pattern, and nobody's promise.

use super::Finding;
use crate::markdown::Document;
use crate::rust_code::is_test_file;
use crate::rust_names::RustNames;
use crate::tree::{Tree, folder_of, resolve};
use anyhow::Result;
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};

/// The rooms of the house; a span that starts with one is a path, even when
/// the room itself is gone.
const ROOMS: &[&str] = &[
    "core", "layers", "window", "engine", "tools", "replay", "adapters", "agent", "sdk", "apps",
    "testkit", "xtask", "bench", "docs", "fuzz", "plugins", ".ci", ".cargo",
];
/// Endings that make a span with a slash a path of the repository.
const ENDINGS: &[&str] = &[".md", ".rs", ".toml", ".json"];
/// History may name what is gone.
const HISTORY: &str = "CHANGELOG.md";
/// Copies of what stands beside the repository: they name what shall be.
const COPIES: &str = "docs/spec/";

/// Looks at every Markdown file that is written for the people of this project.
pub(super) fn check(tree: &Tree) -> Result<Vec<Finding>> {
    let documents: BTreeMap<&str, Document> = tree
        .with_extension("md")
        .filter(|(path, _)| !is_test_file(path) && !is_prompt(path) && !path.starts_with(COPIES))
        .map(|(path, text)| (path, Document::parse(text)))
        .collect();
    let names = RustNames::read(tree)?;
    let rust_path = Regex::new(r"^(\w+)((?:::\w+)+)(?:\(.*\)|!)?$")?;
    let mut rooms: BTreeSet<&str> = tree.top_folders().collect();
    rooms.extend(ROOMS);
    let mut findings = Vec::new();
    for (path, document) in &documents {
        for link in &document.links {
            if let Some(message) = link_finding(tree, &documents, path, &link.text) {
                findings.push(Finding::new(path, link.line, message));
            }
        }
        if *path == HISTORY {
            continue;
        }
        for span in &document.spans {
            let message = match rust_path.captures(&span.text) {
                Some(found) => {
                    let part = |n| found.get(n).map_or("", |part: regex::Match<'_>| part.as_str());
                    rust_finding(&names, part(1), part(2))
                }
                None => path_finding(tree, &rooms, folder_of(path), &span.text),
            };
            if let Some(message) = message {
                findings.push(Finding::new(path, span.line, message));
            }
        }
    }
    Ok(findings)
}

/// Prompts are for a model, and speak of anyone's repository.
fn is_prompt(path: &str) -> bool {
    path.split('/').any(|part| part == "src" || part.starts_with("prompt"))
}

fn link_finding(
    tree: &Tree,
    documents: &BTreeMap<&str, Document>,
    from: &str,
    target: &str,
) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    if target.starts_with('/') {
        return Some(format!("link to `{target}`: write it relative to this file"));
    }
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let file = file.replace("%20", " ");
    let resolved = match file.as_str() {
        "" => Some(from.to_owned()),
        file => resolve(folder_of(from), file),
    };
    let Some(resolved) = resolved.filter(|path| tree.exists(path)) else {
        return Some(format!("link to `{target}`: there is no such file"));
    };
    let document = documents.get(resolved.as_str())?;
    if anchor.is_empty() || document.anchors.iter().any(|known| known == anchor) {
        return None;
    }
    Some(format!("link to `{target}`: {resolved} has no such heading"))
}

fn path_finding(tree: &Tree, rooms: &BTreeSet<&str>, folder: &str, span: &str) -> Option<String> {
    let path = without_line(span);
    let (first, _) = path.split_once('/')?;
    let is_pattern = path.contains(|c: char| c.is_whitespace() || "<>*?~$…|\\\"'(:".contains(c));
    let is_ours = rooms.contains(first) || ENDINGS.iter().any(|ending| path.ends_with(ending));
    if is_pattern || !is_ours || first.is_empty() || path.starts_with(".claude/") {
        return None;
    }
    let missing = expand(path).into_iter().find(|path| {
        !tree.exists(path) && !resolve(folder, path).is_some_and(|beside| tree.exists(&beside))
    })?;
    Some(format!(
        "`{missing}` does not exist; correct the path, or mark what varies, as in `<crate>/src`"
    ))
}

/// `engine/src/turn.rs:12` is about the file.
fn without_line(span: &str) -> &str {
    match span.rsplit_once(':') {
        Some((path, line)) if line.bytes().all(|byte| byte.is_ascii_digit()) => path,
        _ => span,
    }
}

/// `adapters/{disk,web}` is two paths.
fn expand(path: &str) -> Vec<String> {
    let parts = path
        .split_once('{')
        .and_then(|(head, rest)| rest.split_once('}').map(|(list, tail)| (head, list, tail)));
    match parts {
        Some((head, list, tail)) => list
            .split(',')
            .flat_map(|word| expand(&format!("{head}{}{tail}", word.trim())))
            .collect(),
        None => vec![path.to_owned()],
    }
}

fn rust_finding(names: &RustNames, first: &str, rest: &str) -> Option<String> {
    let is_type = first.starts_with(|c: char| c.is_ascii_uppercase());
    let is_crate = first == "everfold" || first.starts_with("everfold_");
    if is_crate && !names.has_crate(first) {
        return Some(format!("there is no crate `{first}`"));
    }
    if !is_type && !is_crate {
        return None;
    }
    let missing = std::iter::once(first)
        .filter(|_| is_type)
        .chain(rest.rsplit("::").next())
        .find(|name| !names.defines(name))?;
    Some(format!(
        "`{first}{rest}`: nothing in the sources defines `{missing}`; correct it (a path of another crate starts with that crate)"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::sample;

    const SOURCE: &str = "pub struct Log;\nimpl Log {\n    pub fn fold(&self) {}\n}\n";

    fn found(readme: &str) -> Vec<String> {
        let (_folder, tree) = sample(&[
            ("README.md", readme),
            ("docs/guide.md", "# A heading\n\n`../README.md` [up](../README.md)\n"),
            ("core/kernel/Cargo.toml", "name = \"everfold-kernel\"\n"),
            ("core/kernel/src/log.rs", SOURCE),
            ("core/kernel/tests/broken.md", "[x](nowhere.md)"),
            ("core/kernel/src/tasks.md", "`src/anyone.rs`"),
            ("layers/1-offload/prompt.md", "`src/anyone.rs`"),
        ]);
        check(&tree).unwrap().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_exists_may_be_named() {
        let good = "# Top\n\n[a](docs/guide.md#a-heading) [b](#top) [c](https://example.com/x.md)\n\
                    [d](core/kernel) `core/kernel/src/log.rs:2` `core/{kernel}` `docs/`\n\
                    `Log::fold` `Log::fold()` `everfold_kernel::log::Log` `std::fs::File`\n\
                    `<crate>/src/lib.rs` `layers/*` `~/.everfold/settings.json` `.claude/agents/a.md`\n\
                    `and/or` `/etc/everfold/settings.json`\n\n```\ncore/nothing\n```\n";
        assert_eq!(found(good), Vec::<String>::new());
    }

    #[test]
    fn what_does_not_exist_is_found() {
        let bad = "[a](docs/none.md)\n[b](docs/guide.md#none)\n[c](../outside.md)\n`core/none`\n\
                   `layers/9-none`\n`src/none.rs`\n`core/{kernel,none}`\n`Log::unfold`\n`Gone::fold`\n\
                   `everfold_gone::Log`\n`everfold_kernel::Gone`\n[d](/docs/guide.md)\n";
        let found = found(bad);
        let lines: Vec<String> = (1..=12).map(|line| format!("README.md:{line}: ")).collect();
        for line in &lines {
            assert!(found.iter().any(|f| f.starts_with(line)), "{line} {found:#?}");
        }
        assert_eq!(found.len(), lines.len(), "{found:#?}");
    }

    #[test]
    fn history_may_name_what_is_gone() {
        let (_folder, tree) = sample(&[("CHANGELOG.md", "`core/gone` [x](gone.md)\n")]);
        assert_eq!(check(&tree).unwrap().len(), 1);
    }
}
