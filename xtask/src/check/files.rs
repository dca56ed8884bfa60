//! How long a source file may be, and what it may be called.

use super::{Finding, module_names};
use crate::exceptions::{Exception, Rule};
use crate::rust_code::is_test_file;
use crate::tree::Tree;

/// Most lines of a source file.
const SOURCE_LINES: usize = 400;
/// Most lines of a file of tests.
const TEST_LINES: usize = 800;

/// Looks at every Rust source.
pub(super) fn check(tree: &Tree, exceptions: &[Exception]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.with_extension("rs") {
        let broken = [(Rule::Size, size(path, text)), (Rule::Name, module_names::complaint(path))];
        for (rule, message) in broken {
            let exception = exceptions
                .iter()
                .find(|exception| exception.rule == rule && exception.path == path);
            match (message, exception) {
                (Some(message), None) => findings.push(Finding::new(path, 1, message)),
                (None, Some(exception)) => {
                    let reason = exception.reason;
                    let message = format!("needs its exception no more (\"{reason}\"); remove it");
                    findings.push(Finding::new(path, 1, message));
                }
                _ => {}
            }
        }
    }
    for exception in exceptions.iter().filter(|one| !tree.exists(one.path)) {
        let message = "has an exception but is gone; remove the exception";
        findings.push(Finding::new(exception.path, 1, message));
    }
    findings
}

fn size(path: &str, text: &str) -> Option<String> {
    let limit = if is_test_file(path) { TEST_LINES } else { SOURCE_LINES };
    let lines = text.lines().count();
    (lines > limit)
        .then(|| format!("{lines} lines, at most {limit}; it is perhaps two things: split it"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::sample;

    fn found(files: &[(&str, &str)], exceptions: &[Exception]) -> Vec<String> {
        let (_folder, tree) = sample(files);
        check(&tree, exceptions).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn files_within_their_size_pass() {
        let (source, test) = ("x\n".repeat(400), "x\n".repeat(800));
        let good = [
            ("core/a/src/fold.rs", source.as_str()),
            ("core/a/src/fold/tests.rs", &test),
            ("core/a/tests/it/main.rs", &test),
            ("core/a/benches/fold.rs", &test),
        ];
        assert_eq!(found(&good, &[]), Vec::<String>::new());
    }

    #[test]
    fn long_and_badly_named_files_are_found() {
        let long = "x\n".repeat(401);
        let bad = [
            ("core/a/src/fold.rs", long.as_str()),
            ("core/a/src/fold/mod.rs", ""),
            ("core/a/src/utils.rs", ""),
            ("core/a/src/common/x.rs", ""),
        ];
        let found = found(&bad, &[]);
        assert_eq!(found.len(), 4, "{found:#?}");
        assert!(
            found.iter().any(|f| f.starts_with("core/a/src/fold.rs:1: 401 lines, at most 400"))
        );
    }

    #[test]
    fn an_exception_is_honoured_until_it_is_stale() {
        let exception = |path| Exception { rule: Rule::Size, path, reason: "one table" };
        let long = "x\n".repeat(401);
        let exceptions = [exception("a.rs")];
        assert!(found(&[("a.rs", &long)], &exceptions).is_empty());
        assert!(found(&[("a.rs", "")], &exceptions)[0].contains("needs its exception no more"));
        assert!(found(&[], &exceptions)[0].contains("is gone"));
    }
}
