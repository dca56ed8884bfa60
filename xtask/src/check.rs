//! All checks, and what they find.
//!
//! Each check is one file: it takes the tree and answers with findings. None
//! changes anything.

mod cycles;
mod dependencies;
mod doc_examples;
mod docs;
mod edges;
mod error_types;
mod files;
mod layers;
mod leaks;
mod module_names;
mod open_ends;
mod packages;
mod retired_words;
mod spec_ids;
mod struct_sizes;
mod type_names;

use crate::exceptions::{EXCEPTIONS, SHARED_NAMES};
use crate::tree::Tree;
use anyhow::Result;
use std::fmt;
use std::io::Write;
use std::process::ExitCode;

/// Something that a rule forbids.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    path: String,
    /// The line, counted from 1.
    line: usize,
    /// What is wrong, and what to do.
    message: String,
}

impl Finding {
    fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// Runs every check and prints what it finds, in path order.
pub(crate) fn report(tree: &Tree, out: &mut dyn Write) -> Result<ExitCode> {
    let mut findings = Vec::new();
    findings.extend(edges::check(tree)?);
    findings.extend(files::check(tree, EXCEPTIONS));
    findings.extend(layers::check(tree));
    findings.extend(doc_examples::check(tree));
    findings.extend(docs::check(tree)?);
    findings.extend(dependencies::check(tree)?);
    findings.extend(open_ends::check(tree)?);
    findings.extend(retired_words::check(tree));
    findings.extend(leaks::check(tree)?);
    findings.extend(spec_ids::check(tree)?);
    findings.extend(packages::check(tree)?);
    findings.extend(error_types::check(tree)?);
    findings.extend(type_names::check(tree, SHARED_NAMES)?);
    findings.extend(cycles::check(tree, cycles::FOLDERS)?);
    findings.extend(struct_sizes::check(tree, struct_sizes::FOLDERS)?);
    findings.sort();
    findings.dedup();
    for finding in &findings {
        writeln!(out, "{finding}")?;
    }
    if findings.is_empty() {
        writeln!(out, "check: {} files, nothing to fix", tree.files().count())?;
        Ok(ExitCode::SUCCESS)
    } else {
        writeln!(out, "check: {} to mend", findings.len())?;
        Ok(ExitCode::FAILURE)
    }
}

/// The line of a file in which a text first stands, counted from 1.
fn line_of(text: &str, wanted: impl Fn(&str) -> bool) -> usize {
    text.lines().position(wanted).map_or(1, |index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::sample;

    #[test]
    fn a_finding_names_file_line_and_what_to_do() {
        let finding = Finding::new("core/x.rs", 3, "split it");
        assert_eq!(finding.to_string(), "core/x.rs:3: split it");
    }

    #[test]
    fn findings_make_the_run_fail() {
        let manifest = "[workspace]\nmembers = []\n";
        let crates = "| crate | for | licence | turned down |\n|---|---|---|---|\n";
        let mut good = vec![("Cargo.toml", manifest), ("docs/DEPENDENCIES.md", crates)];
        // An exception wants its file to be there.
        good.extend(EXCEPTIONS.iter().map(|one| (one.path, "")));
        let (_folder, tree) = sample(&good);
        let mut out = Vec::new();
        let code = report(&tree, &mut out).unwrap();
        assert_eq!(code, ExitCode::SUCCESS, "{}", String::from_utf8_lossy(&out));

        let (_folder, tree) = sample(&[good.as_slice(), &[("core/src/utils.rs", "")]].concat());
        let mut out = Vec::new();
        assert_eq!(report(&tree, &mut out).unwrap(), ExitCode::FAILURE);
        assert!(String::from_utf8_lossy(&out).starts_with("core/src/utils.rs:1: "));
    }
}
