//! Which requirement is held by which tests: `cargo xtask conformance`.
//!
//! A test names the ids that it covers, so the report is made from the sources
//! and the specification, and cannot drift from either. An id without a test is
//! listed; it is no error.

use crate::rust_names;
use crate::spec::{Spec, ids_of_test};
use crate::tree::Tree;
use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet};

/// Which ids are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listed {
    /// Those that no test names.
    Open,
    /// All, with their tests.
    All,
}

pub(crate) fn report(
    tree: &Tree,
    spec: Option<&Spec>,
    listed: Listed,
    out: &mut dyn std::io::Write,
) -> Result<()> {
    let Some(spec) = spec else {
        writeln!(out, "no specification beside the repository; name one with --spec FILE")?;
        return Ok(());
    };
    let mut held: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for name in rust_names::test_names(tree)? {
        for id in ids_of_test(&name) {
            held.entry(id).or_default().insert(name.clone());
        }
    }
    let (mut all, mut open) = (0, 0);
    for id in spec.ids() {
        all += 1;
        match held.remove(id) {
            None => {
                open += 1;
                writeln!(out, "{id}  no test")?;
            }
            Some(tests) if listed == Listed::All => {
                let tests: Vec<&str> = tests.iter().map(String::as_str).collect();
                writeln!(out, "{id}  {}", tests.join(", "))?;
            }
            Some(_) => {}
        }
    }
    for (id, tests) in held {
        let tests: Vec<&str> = tests.iter().map(String::as_str).collect();
        writeln!(out, "{id}  is not in the specification: {}", tests.join(", "))?;
    }
    writeln!(out, "{} of {all} requirements have a test", all - open)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::sample;

    fn told(listed: Listed) -> String {
        let source = "#[test]\nfn t2_b() {}\n#[test]\nfn e3_t2_a() {}\n#[test]\nfn x7_gone() {}\n";
        let (_folder, tree) = sample(&[("core/x.rs", source)]);
        let spec = Spec::parse("- T1 a\n- T2 b\n- E3 c\n").unwrap();
        let mut out = Vec::new();
        report(&tree, Some(&spec), listed, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn ids_without_a_test_and_tests_without_an_id_are_listed() {
        assert_eq!(
            told(Listed::Open),
            "T1  no test\nX7  is not in the specification: x7_gone\n2 of 3 requirements have a test\n"
        );
        assert!(told(Listed::All).contains("T2  e3_t2_a, t2_b\nE3  e3_t2_a\n"));
    }
}
