//! What the Rust sources define, found by their text.
//!
//! This is a search, not a compiler: it tells whether something of a name is
//! defined anywhere, which is enough to see that a document names a thing that
//! is gone.

use crate::tree::Tree;
use anyhow::Result;
use regex::Regex;
use std::collections::BTreeSet;

/// Every name that is defined in the workspace.
pub(crate) struct RustNames {
    defined: BTreeSet<String>,
    crates: BTreeSet<String>,
}

impl RustNames {
    pub(crate) fn read(tree: &Tree) -> Result<Self> {
        let item = Regex::new(
            r"\b(?:fn|struct|enum|trait|type|const|static|mod|union|macro_rules!)\s+([A-Za-z_]\w*)",
        )?;
        // Variants, and names that a macro of ours turns into types.
        let variant = Regex::new(r#"(?m)^\s*([A-Z]\w*)\s*(?:[,({="]|$)"#)?;
        let field = Regex::new(r"(?m)^\s*(?:pub(?:\([a-z]+\))?\s+)?([a-z_]\w*)\s*:[^:]")?;
        let mut defined = BTreeSet::new();
        for (_, text) in tree.with_extension("rs") {
            for pattern in [&item, &variant, &field] {
                defined.extend(names(pattern, text));
            }
        }
        let package = Regex::new(r#"(?m)^name\s*=\s*"([^"]+)""#)?;
        let crates = tree
            .with_extension("toml")
            .filter(|(path, _)| path.ends_with("Cargo.toml"))
            .flat_map(|(_, text)| names(&package, text).collect::<Vec<_>>())
            .map(|name| name.replace('-', "_"))
            .collect();
        Ok(Self { defined, crates })
    }

    /// Whether something of this name is defined.
    pub(crate) fn defines(&self, name: &str) -> bool {
        self.defined.contains(name)
    }

    /// Whether this is a crate of the workspace.
    pub(crate) fn has_crate(&self, name: &str) -> bool {
        self.crates.contains(name)
    }
}

fn names<'a>(pattern: &'a Regex, text: &'a str) -> impl Iterator<Item = String> + 'a {
    pattern
        .captures_iter(text)
        .filter_map(|found| found.get(1))
        .map(|name| name.as_str().to_owned())
}

/// A test of the workspace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TestName {
    /// Its function.
    pub(crate) name: String,
    /// The file that it is in.
    pub(crate) path: String,
}

/// The workspace's tests.
pub(crate) fn tests(tree: &Tree) -> Result<BTreeSet<TestName>> {
    /// Attributes such as `#[should_panic]` may stand between.
    const LINES_ABOVE: usize = 6;
    let function = Regex::new(r"^\s*(?:pub(?:\([a-z]+\))?\s+)?(?:async\s+)?fn\s+(\w+)")?;
    let attribute = Regex::new(r"#\[(?:\w+::)*test\b")?;
    let mut tests = BTreeSet::new();
    for (path, text) in tree.with_extension("rs") {
        let mut attribute_at = None;
        for (index, line) in text.lines().enumerate() {
            if attribute.is_match(line) {
                attribute_at = Some(index);
            }
            let Some(name) = function.captures(line).and_then(|found| found.get(1)) else {
                continue;
            };
            if attribute_at.take().is_some_and(|at| index - at <= LINES_ABOVE) {
                let name = name.as_str().to_owned();
                tests.insert(TestName { name, path: path.to_owned() });
            }
        }
    }
    Ok(tests)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::sample;

    #[test]
    fn items_variants_fields_and_crates_are_found() {
        let (_folder, tree) = sample(&[
            ("a/Cargo.toml", "[package]\nname = \"everfold-a\"\n"),
            (
                "a/src/lib.rs",
                "pub struct Log {\n    pub at: u8,\n}\nenum E {\n    One,\n    Two(u8),\n}\n\
                 impl Log {\n    pub async fn fold(&self) {}\n}\nid!(\n    SessionId\n);\n",
            ),
        ]);
        let names = RustNames::read(&tree).unwrap();
        for name in ["Log", "at", "One", "Two", "fold", "SessionId"] {
            assert!(names.defines(name), "{name}");
        }
        assert!(!names.defines("unfold"));
        assert!(names.has_crate("everfold_a") && !names.has_crate("everfold_b"));
    }

    #[test]
    fn tests_are_functions_under_a_test_attribute() {
        let (_folder, tree) = sample(&[(
            "a.rs",
            "#[test]\nfn t1_a() {}\n\nfn t2_helper() {}\n\n#[tokio::test(flavor = \"x\")]\n\
             #[should_panic]\nasync fn t3_c() {}\n",
        )]);
        let found = super::tests(&tree).unwrap();
        let names: Vec<&str> = found.iter().map(|test| test.name.as_str()).collect();
        assert_eq!(names, ["t1_a", "t3_c"]);
        assert!(found.iter().all(|test| test.path == "a.rs"));
    }
}
