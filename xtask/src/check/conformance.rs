//! `docs/CONFORMANCE.md` tells the truth: every requirement has a row, and
//! every test that a row names exists.

use super::Finding;
use crate::conformance::{PAGE, Row, rows};
use crate::rust_names;
use crate::spec::{Spec, is_id};
use crate::tree::Tree;
use anyhow::Result;
use regex::Regex;
use std::collections::BTreeMap;

/// Compares the page with the specification, where there is one, and with the
/// tests of the workspace.
pub(super) fn check(tree: &Tree, spec: Option<&Spec>) -> Result<Vec<Finding>> {
    let Some(text) = tree.text(PAGE) else {
        return Ok(vec![Finding::new(PAGE, 1, "is missing")]);
    };
    let rows = rows(text);
    let tests = rust_names::test_names(tree)?;
    let mut findings = Vec::new();
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for row in &rows {
        let mut add = |message: String| findings.push(Finding::new(PAGE, row.line, message));
        for id in &row.ids {
            if !is_id(id)? {
                add(format!("`{id}` is not an id"));
            } else if spec.is_some_and(|spec| !spec.has(id)) {
                add(format!("{id} is not in the specification; drop the row"));
            } else if let Some(first) = seen.insert(id, row.line) {
                add(format!("{id} has a row already, in line {first}"));
            }
        }
        state_findings(row)?.into_iter().for_each(&mut add);
        for name in row.tests.iter().filter(|name| !tests.contains(*name)) {
            add(format!("there is no test `{name}`; correct the name, or open the row"));
        }
    }
    for id in spec.iter().flat_map(|spec| spec.ids()) {
        if !seen.contains_key(id) {
            findings.push(Finding::new(PAGE, 1, format!("{id} has no row; add one")));
        }
    }
    Ok(findings)
}

fn state_findings(row: &Row) -> Result<Option<String>> {
    let state = Regex::new(r"^(?:(done)|partial(?: \(issue \d+\))?|(open) \(issue \d+\))$")?;
    let Some(found) = state.captures(&row.state) else {
        let message = format!(
            "`{}` is no state; write `done`, `partial`, `partial (issue N)` or `open (issue N)`",
            row.state
        );
        return Ok(Some(message));
    };
    let is_open = found.get(2).is_some();
    Ok(match (is_open, row.tests.is_empty()) {
        (true, false) => Some("an open row names no test; call it partial".to_owned()),
        (false, true) => Some("name the tests that hold it, or open the row".to_owned()),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::sample;

    const HEAD: &str = "| id | state | tests |\n|---|---|---|\n";
    const SOURCE: &str = "#[test]\nfn t1_a() {}\nfn t2_no_test() {}\n";

    fn found(table: &str, spec: Option<&str>) -> Vec<String> {
        let page = format!("{HEAD}{table}");
        let (_folder, tree) = sample(&[(PAGE, &page), ("core/a.rs", SOURCE)]);
        let spec = spec.map(|text| Spec::parse(text).unwrap());
        let findings = check(&tree, spec.as_ref()).unwrap();
        findings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_true_table_passes() {
        let table = "| T1 | partial (issue 2) | `a::t1_a` |\n| T2, L5.23 | open (issue 4) | |\n";
        let spec = "- T1 a\n- T2 b\n- L5.23 c\n";
        assert_eq!(found(table, Some(spec)), Vec::<String>::new());
        assert_eq!(found("| T1 | done | `t1_a` |\n", None), Vec::<String>::new());
    }

    #[test]
    fn what_is_not_true_is_found() {
        let table = "| T1 | done | `t9_gone` |\n| T1 | partial | `t1_a` |\n| T3 | open (issue 2) | |\n\
                     | T4 | soon | |\n| T5 | done | |\n| T6 | open (issue 2) | `t1_a` |\n| hm | partial | `t1_a` |\n";
        let spec = "- T1 a\n- T2 b\n- T4 c\n- T5 d\n- T6 e\n";
        let found = found(table, Some(spec));
        for part in [
            ":3: there is no test `t9_gone`",
            ":4: T1 has a row already, in line 3",
            ":5: T3 is not in the specification",
            ":6: `soon` is no state",
            ":7: name the tests",
            ":8: an open row names no test",
            ":9: `hm` is not an id",
            ":1: T2 has no row",
        ] {
            assert!(found.iter().any(|f| f.contains(part)), "{part}: {found:#?}");
        }
        assert_eq!(found.len(), 8, "{found:#?}");
    }
}
