//! Examples in docs are run.
//!
//! Looking for examples takes a second or two for each crate, so a crate that
//! has none says so (`doctest = false`). One that says so may have none.

use super::Finding;
use crate::tree::Tree;

/// Looks at every crate that says that it has no examples.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let crates = tree.files().filter_map(|(path, text)| {
        let folder = path.strip_suffix("Cargo.toml")?;
        text.lines().any(|line| line.trim() == "doctest = false").then(|| format!("{folder}src/"))
    });
    crates.flat_map(|folder| examples(tree, &folder)).collect()
}

fn examples(tree: &Tree, folder: &str) -> Vec<Finding> {
    let sources = tree.with_extension("rs").filter(|(path, _)| path.starts_with(folder));
    sources
        .filter_map(|(path, text)| {
            let line = text.lines().position(is_example)?;
            let message = "an example that is never run: take `doctest = false` out of Cargo.toml";
            Some(Finding::new(path, line + 1, message))
        })
        .collect()
}

/// Whether a line opens a block of Rust in a doc comment.
fn is_example(line: &str) -> bool {
    let line = line.trim_start();
    let doc = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
    let fence = doc.and_then(|doc| doc.trim_start().strip_prefix("```"));
    fence.is_some_and(|language| matches!(language.trim(), "" | "rust" | "no_run" | "should_panic"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::sample;

    #[test]
    fn an_example_in_a_crate_that_runs_none_is_found() {
        let example = "/// ```\n/// assert!(true);\n/// ```\nfn a() {}\n";
        let text = "/// ```text\n/// a drawing\n";
        let (_folder, tree) = sample(&[
            ("a/Cargo.toml", "[lib]\ndoctest = false\n"),
            ("a/src/lib.rs", example),
            ("a/src/text.rs", text),
            ("b/Cargo.toml", "[lib]\n"),
            ("b/src/lib.rs", example),
        ]);
        let found: Vec<String> = check(&tree).iter().map(ToString::to_string).collect();
        let wanted = "a/src/lib.rs:1: an example that is never run: take `doctest = false` out of \
                      Cargo.toml";
        assert_eq!(found, [wanted]);
    }
}
