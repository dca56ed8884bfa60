//! Every requirement id that code or a document names can be looked up in
//! `docs/spec`, and that folder is what stands beside the repository (K4).
//!
//! An id is one where it stands in brackets, alone or with others, as in
//! "the books are closed (E7, T6)", or where the name of a test starts with it.

use super::Finding;
use crate::rust_names::{self, TestName};
use crate::spec::{ID, Spec, ids_of_test};
use crate::tree::Tree;
use anyhow::Result;
use regex::Regex;
use std::collections::BTreeSet;

/// Where the copies are.
const COPIES: &str = "docs/spec/";

/// Looks at comments, documents and names of tests, and at the copies.
pub(super) fn check(tree: &Tree) -> Result<Vec<Finding>> {
    let Some(text) = tree.text("docs/spec/SPEC.md") else { return Ok(Vec::new()) };
    let spec = Spec::parse(text)?;
    let known: BTreeSet<&str> = spec.ids().collect();
    let mut findings = copies(tree);
    let group = Regex::new(&format!(r"\({ID}(?:(?:, | to | and |; ){ID})*\)"))?;
    let id = Regex::new(ID)?;
    let code = tree.with_extension("rs").map(|file| (file, Some("//")));
    let documents = tree.with_extension("md").map(|file| (file, None));
    let named = code.chain(documents).filter(|((path, _), _)| !path.starts_with(COPIES));
    for ((path, text), comment) in named {
        for (line, number) in text.lines().zip(1..) {
            let shown = comment.map_or(Some(("", line)), |start| line.split_once(start));
            let Some((_, words)) = shown else { continue };
            for found in group.find_iter(words).flat_map(|group| id.find_iter(group.as_str())) {
                if !known.contains(found.as_str()) {
                    let message = format!("{} is not in docs/spec/SPEC.md", found.as_str());
                    findings.push(Finding::new(path, number, message));
                }
            }
        }
    }
    for TestName { name, .. } in rust_names::tests(tree)? {
        for id in ids_of_test(&name).iter().filter(|id| !known.contains(id.as_str())) {
            let message = format!("the test {name} names {id}, which is not there");
            findings.push(Finding::new("docs/spec/SPEC.md", 1, message));
        }
    }
    Ok(findings)
}

/// The copies differ from what stands beside the repository, where that is there.
fn copies(tree: &Tree) -> Vec<Finding> {
    let beside = tree.root().join("../shared");
    let differs = |path: &str, text: &str| {
        let name = path.strip_prefix(COPIES)?;
        let original = std::fs::read_to_string(beside.join(name)).ok()?;
        let message = format!("copy ../shared/{name} again: it says something else");
        (original != text).then(|| Finding::new(path, 1, message))
    };
    tree.files().filter_map(|(path, text)| differs(path, text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::sample;

    #[test]
    fn k4_an_id_that_nobody_can_look_up_is_found() {
        let code = "// kept (Q1, Q9)\nlet key = F(2);\nfn a() {} // (E7)\n// F2 is a key\n\
                    #[test]\nfn q1_q8_b() {}\n";
        let (_folder, tree) = sample(&[
            ("docs/spec/SPEC.md", "- Q1 ours.\n- E7 ours.\n"),
            ("core/x/src/a.rs", code),
            ("docs/a.md", "It is told (Q3 to Q1).\n"),
        ]);
        let found: Vec<String> = check(&tree).unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "core/x/src/a.rs:1: Q9 is not in docs/spec/SPEC.md",
                "docs/a.md:1: Q3 is not in docs/spec/SPEC.md",
                "docs/spec/SPEC.md:1: the test q1_q8_b names Q8, which is not there",
            ]
        );
    }
}
