//! Every third-party crate is accounted for in `docs/DEPENDENCIES.md`.

use super::Finding;
use crate::markdown::{code_spans, table_rows};
use crate::tree::Tree;
use anyhow::{Context, Result};
use std::collections::BTreeMap;

const PAGE: &str = "docs/DEPENDENCIES.md";
const MANIFEST: &str = "Cargo.toml";

/// Compares the page with `[workspace.dependencies]`, both ways.
pub(super) fn check(tree: &Tree) -> Result<Vec<Finding>> {
    let manifest = tree.text(MANIFEST).context("there is no Cargo.toml")?;
    let declared = declared(manifest);
    let Some(page) = tree.text(PAGE) else {
        return Ok(vec![Finding::new(PAGE, 1, "is missing")]);
    };
    let mut findings = Vec::new();
    let mut described = BTreeMap::new();
    for row in table_rows(page, &["crate", "for", "licence"]) {
        for name in code_spans(row.cell(0)) {
            if described.insert(name.to_owned(), row.line).is_some() {
                findings.push(Finding::new(PAGE, row.line, format!("`{name}` has two rows")));
            }
        }
        if row.cell(1).is_empty() || row.cell(2).is_empty() {
            let message = "say what the crate is for and its licence";
            findings.push(Finding::new(PAGE, row.line, message));
        }
    }
    for (name, line) in &declared {
        if !described.contains_key(name) {
            let message = format!("`{name}` has no row in {PAGE}; add one, or drop the crate");
            findings.push(Finding::new(MANIFEST, *line, message));
        }
    }
    for (name, line) in &described {
        if !declared.contains_key(name) {
            let message = format!("`{name}` is no dependency of the workspace; drop its row");
            findings.push(Finding::new(PAGE, *line, message));
        }
    }
    Ok(findings)
}

/// The third-party crates of `[workspace.dependencies]` and their lines. Ours
/// are those with a path.
fn declared(manifest: &str) -> BTreeMap<String, usize> {
    const SECTION: &str = "[workspace.dependencies";
    let mut declared = BTreeMap::new();
    let mut inside = false;
    for (index, line) in manifest.lines().enumerate() {
        let line = line.trim();
        if let Some(section) = line.strip_prefix(SECTION) {
            inside = section == "]";
            if let Some(name) = section.strip_prefix('.') {
                declared.insert(name.trim_end_matches(']').to_owned(), index + 1);
            }
        } else if line.starts_with('[') {
            inside = false;
        } else if let Some((name, value)) = line.split_once('=').filter(|_| inside) {
            let name = name.trim().trim_end_matches(".workspace");
            let is_name = name.chars().all(|c| c.is_alphanumeric() || "-_".contains(c));
            if is_name && !value.contains("path =") {
                declared.insert(name.to_owned(), index + 1);
            }
        }
    }
    declared
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::sample;

    const WORKSPACE: &str = "[workspace]\nmembers = []\n[workspace.dependencies]\n\
                             everfold = { path = \"sdk\" }\nbytes = \"1\"\n# note = x\n\
                             serde = { version = \"1\" }\n[profile.dev]\ndebug = false\n";

    #[test]
    fn a_row_for_each_crate_passes() {
        let page = "| crate | for | licence | turned down |\n|---|---|---|---|\n\
                    | `bytes`, `serde` | buffers | MIT | |\n";
        let (_folder, tree) = sample(&[("Cargo.toml", WORKSPACE), (PAGE, page)]);
        assert_eq!(check(&tree).unwrap(), []);
    }

    #[test]
    fn missing_and_stale_rows_are_found() {
        let page = "| crate | for | licence | turned down |\n|---|---|---|---|\n\
                    | `bytes` | | MIT | |\n| `gone` | x | MIT | |\n";
        let (_folder, tree) = sample(&[("Cargo.toml", WORKSPACE), (PAGE, page)]);
        let found: Vec<String> = check(&tree).unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(found.len(), 3, "{found:#?}");
        assert!(found.iter().any(|f| f.starts_with("Cargo.toml:7: `serde` has no row")));
        assert!(found.iter().any(|f| f.starts_with("docs/DEPENDENCIES.md:4: `gone` is no")));
        let (_folder, tree) = sample(&[("Cargo.toml", WORKSPACE)]);
        assert_eq!(check(&tree).unwrap().len(), 1);
    }
}
