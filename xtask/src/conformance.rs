//! Which requirement is held by which tests: `cargo xtask conformance`.
//!
//! A test names the ids that it covers, so the report is made from the sources
//! and the specification, and cannot drift from either. An id without a test is
//! listed; it is no error. But what defines the system (**seed**) has to have a
//! scenario: a test that drives the built program and looks at what leaves it.

use crate::rust_names::{self, TestName};
use crate::spec::{Spec, ids_of_test};
use crate::tree::Tree;
use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;

/// Where the tests are that drive the built program.
const SCENARIOS: &str = "apps/cli/tests/";

/// Which ids are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listed {
    /// Those that no test names.
    Open,
    /// All, with their tests.
    All,
    /// Those that define the system, with their scenarios.
    Seeds,
}

/// Prints the report. It fails where an id that defines the system has no
/// scenario, if those were asked for.
pub(crate) fn report(
    tree: &Tree,
    spec: Option<&Spec>,
    listed: Listed,
    out: &mut dyn std::io::Write,
) -> Result<ExitCode> {
    let Some(spec) = spec else {
        writeln!(out, "no specification beside the repository; name one with --spec FILE")?;
        // What could not be looked at has not been found right.
        return Ok(ExitCode::from(u8::from(listed == Listed::Seeds)));
    };
    if listed == Listed::Seeds {
        return seeds(tree, spec, out);
    }
    let mut held = by_id(tree, |_| true)?;
    let (mut all, mut open) = (0, 0);
    for id in spec.ids() {
        all += 1;
        match held.remove(id) {
            None => {
                open += 1;
                writeln!(out, "{id}  no test")?;
            }
            Some(tests) if listed == Listed::All => writeln!(out, "{id}  {}", list(&tests))?,
            Some(_) => {}
        }
    }
    for (id, tests) in held {
        writeln!(out, "{id}  is not in the specification: {}", list(&tests))?;
    }
    writeln!(out, "{} of {all} requirements have a test", all - open)?;
    Ok(ExitCode::SUCCESS)
}

fn seeds(tree: &Tree, spec: &Spec, out: &mut dyn std::io::Write) -> Result<ExitCode> {
    let held = by_id(tree, |test| test.path.starts_with(SCENARIOS))?;
    let (mut all, mut open) = (0, 0);
    for id in spec.seeds() {
        all += 1;
        if let Some(tests) = held.get(id) {
            writeln!(out, "{id}  {}", list(tests))?;
        } else {
            open += 1;
            writeln!(out, "{id}  NO SCENARIO")?;
        }
    }
    let found = all - open;
    writeln!(out, "{found} of {all} requirements that define the system have a scenario")?;
    Ok(ExitCode::from(u8::from(open > 0)))
}

/// The names of tests by the ids that they cover.
fn by_id(
    tree: &Tree,
    is_wanted: impl Fn(&TestName) -> bool,
) -> Result<BTreeMap<String, BTreeSet<String>>> {
    let mut held: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for test in rust_names::tests(tree)?.into_iter().filter(is_wanted) {
        for id in ids_of_test(&test.name) {
            held.entry(id).or_default().insert(test.name.clone());
        }
    }
    Ok(held)
}

fn list(tests: &BTreeSet<String>) -> String {
    tests.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::sample;

    fn told(listed: Listed) -> String {
        let source = "#[test]\nfn t2_b() {}\n#[test]\nfn e3_t2_a() {}\n#[test]\nfn x7_gone() {}\n";
        let scenario = "#[test]\nfn t2_from_outside() {}\n";
        let (_folder, tree) = sample(&[("core/x.rs", source), ("apps/cli/tests/y.rs", scenario)]);
        let spec = Spec::parse("- T1 a\n- T2 seed. b\n- E3 seed, c\n").unwrap();
        let mut out = Vec::new();
        let code = report(&tree, Some(&spec), listed, &mut out).unwrap();
        assert_eq!(code == ExitCode::SUCCESS, listed != Listed::Seeds);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_defines_the_system_needs_a_test_that_drives_the_program() {
        assert_eq!(
            told(Listed::Seeds),
            "T2  t2_from_outside\nE3  NO SCENARIO\n\
             1 of 2 requirements that define the system have a scenario\n"
        );
        let (_folder, tree) = sample(&[]);
        let unknown = report(&tree, None, Listed::Seeds, &mut Vec::new()).unwrap();
        assert_ne!(unknown, ExitCode::SUCCESS);
    }

    #[test]
    fn ids_without_a_test_and_tests_without_an_id_are_listed() {
        assert_eq!(
            told(Listed::Open),
            "T1  no test\nX7  is not in the specification: x7_gone\n2 of 3 requirements have a test\n"
        );
        assert!(told(Listed::All).contains("T2  e3_t2_a, t2_b, t2_from_outside\nE3  e3_t2_a\n"));
    }
}
