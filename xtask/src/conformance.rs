//! `docs/CONFORMANCE.md`: which requirement is held by which tests.
//!
//! The page is a table `id | state | tests`. This module reads it, and serves
//! `cargo xtask conformance`; whether it is right is looked at by the check of
//! the same name.

use crate::markdown;
use crate::rust_names;
use crate::spec::{Spec, ids_of_test};
use crate::tree::Tree;
use anyhow::{Context, Result};
use std::collections::{BTreeMap, BTreeSet};

/// Where the table is.
pub(crate) const PAGE: &str = "docs/CONFORMANCE.md";
const HEADER: [&str; 3] = ["id", "state", "tests"];

/// Whether the page is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Write {
    /// It is only read.
    No,
    /// Tests that no row names are put in.
    Yes,
}

/// One row: one id or several that are held by the same tests.
pub(crate) struct Row {
    /// Counted from 1.
    pub(crate) line: usize,
    /// The words of the first cell.
    pub(crate) ids: Vec<String>,
    /// The second cell.
    pub(crate) state: String,
    /// The tests that the third cell names.
    pub(crate) tests: Vec<String>,
}

/// The rows of the page.
pub(crate) fn rows(text: &str) -> Vec<Row> {
    markdown::table_rows(text, &HEADER)
        .into_iter()
        .map(|row| Row {
            line: row.line,
            ids: words(row.cell(0)),
            state: row.cell(1).to_owned(),
            tests: markdown::code_spans(row.cell(2))
                .map(|path| path.rsplit("::").next().unwrap_or(path).to_owned())
                .collect(),
        })
        .collect()
}

fn words(cell: &str) -> Vec<String> {
    cell.split([',', ' ']).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Prints what is open, and with `Write::Yes` fills in tests named by an id.
pub(crate) fn report(
    tree: &Tree,
    spec: Option<&Spec>,
    write: Write,
    out: &mut dyn std::io::Write,
) -> Result<()> {
    let text = tree.text(PAGE).with_context(|| format!("{PAGE} is missing"))?;
    let rows = rows(text);
    let unlisted = unlisted(&rows, &rust_names::test_names(tree)?);
    for row in rows.iter().filter(|row| row.tests.is_empty()) {
        writeln!(out, "{}  {}", row.ids.join(", "), row.state)?;
    }
    for id in spec.iter().flat_map(|spec| spec.ids()) {
        if !rows.iter().any(|row| row.ids.iter().any(|known| known == id)) {
            writeln!(out, "{id}  has no row")?;
        }
    }
    for (id, tests) in &unlisted {
        let tests: Vec<&str> = tests.iter().map(String::as_str).collect();
        writeln!(out, "{id}  not in the table: {}", tests.join(", "))?;
    }
    let held = rows.iter().filter(|row| !row.tests.is_empty()).count();
    writeln!(out, "{held} of {} rows name a test", rows.len())?;
    if write == Write::Yes && !unlisted.is_empty() {
        let path = tree.root().join(PAGE);
        std::fs::write(&path, fill(text, &rows, &unlisted))
            .with_context(|| format!("failed to write {}", path.display()))?;
        writeln!(out, "{PAGE} was filled in; read the states of the rows it changed")?;
    }
    Ok(())
}

/// Tests whose name starts with an id, and that the id's row does not name.
fn unlisted(rows: &[Row], tests: &BTreeSet<String>) -> BTreeMap<String, BTreeSet<String>> {
    let mut unlisted: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for name in tests {
        for id in ids_of_test(name) {
            let named = rows.iter().any(|row| row.ids.contains(&id) && row.tests.contains(name));
            if !named {
                unlisted.entry(id).or_default().insert(name.clone());
            }
        }
    }
    unlisted
}

/// The page with the tests put into their rows. A row that was open becomes
/// partial: that it is done is for a person to say.
fn fill(text: &str, rows: &[Row], unlisted: &BTreeMap<String, BTreeSet<String>>) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for row in rows {
        let mut tests: BTreeSet<&str> = row.tests.iter().map(String::as_str).collect();
        let before = tests.len();
        let more = row.ids.iter().filter_map(|id| unlisted.get(id)).flatten();
        tests.extend(more.map(String::as_str));
        if tests.len() == before {
            continue;
        }
        let state = row.state.replacen("open", "partial", 1);
        let tests: Vec<String> = tests.iter().map(|name| format!("`{name}`")).collect();
        if let Some(line) = lines.get_mut(row.line - 1) {
            *line = format!("| {} | {state} | {} |", row.ids.join(", "), tests.join(", "));
        }
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::sample;

    const TABLE: &str = "| id | state | tests |\n|---|---|---|\n| T1, T2 | open (issue 2) | |\n\
                         | T3 | done | `it::t3_a` |\n";

    #[test]
    fn rows_name_ids_and_tests() {
        let rows = rows(TABLE);
        assert_eq!(rows[0].ids, ["T1", "T2"]);
        assert_eq!((rows[1].line, rows[1].state.as_str()), (4, "done"));
        assert_eq!(rows[1].tests, ["t3_a"]);
    }

    #[test]
    fn tests_by_name_are_listed_and_filled_in() {
        let source = "#[test]\nfn t2_b() {}\n#[test]\nfn t3_a() {}\n";
        let (folder, tree) = sample(&[(PAGE, TABLE), ("core/x.rs", source)]);
        let spec = Spec::parse("- T1 a\n- T2 b\n- T3 c\n- T9 d\n").unwrap();
        let mut out = Vec::new();
        report(&tree, Some(&spec), Write::Yes, &mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        assert!(out.contains("T1, T2  open (issue 2)"), "{out}");
        assert!(out.contains("T9  has no row"), "{out}");
        assert!(out.contains("T2  not in the table: t2_b"), "{out}");
        let page = std::fs::read_to_string(folder.path().join(PAGE)).unwrap();
        assert!(page.contains("| T1, T2 | partial (issue 2) | `t2_b` |"), "{page}");
        assert!(page.contains("| T3 | done | `it::t3_a` |"), "{page}");
    }
}
