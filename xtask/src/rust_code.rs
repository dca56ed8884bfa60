//! The product's own code: sources without tests, comments and the insides of
//! texts, every line where it was.
//!
//! Rules about imports and definitions look at this, so that an example in a
//! comment or a fake in a test is not taken for the thing itself.

use crate::tree::{Tree, folder_of};
use anyhow::Result;
use regex::{Captures, Regex};
use std::collections::BTreeSet;

/// One source file of the product.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Source<'a> {
    pub(crate) path: &'a str,
    pub(crate) code: String,
}

/// Every Rust source that is no test, in path order.
pub(crate) fn product_sources(tree: &Tree) -> Result<Vec<Source<'_>>> {
    let patterns = Patterns::new()?;
    let sources: Vec<Source<'_>> = tree
        .with_extension("rs")
        .filter(|(path, _)| !is_test_file(path))
        .map(|(path, text)| Source { path, code: patterns.code(text) })
        .collect();
    let tests: BTreeSet<String> =
        sources.iter().flat_map(|source| patterns.test_modules(source)).collect();
    let is_test = |path: &str| {
        let stem = path.trim_end_matches(".rs");
        tests.iter().any(|test| {
            stem.strip_prefix(test.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    };
    Ok(sources.into_iter().filter(|source| !is_test(source.path)).collect())
}

/// Whether a source is a test, an example or a benchmark as a whole.
pub(crate) fn is_test_file(path: &str) -> bool {
    let folders = ["tests", "benches", "examples"];
    path.split('/').any(|part| folders.contains(&part)) || path.ends_with("/tests.rs")
}

/// The line of a place in a text, counted from 1.
pub(crate) fn line_at(code: &str, at: usize) -> usize {
    code.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

/// What stands between a brace that was opened before `code` and its partner.
pub(crate) fn until_closed(code: &str) -> &str {
    let mut depth = 1_usize;
    for (at, letter) in code.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return code.split_at_checked(at).map_or(code, |(inside, _)| inside);
        }
    }
    code
}

struct Patterns {
    /// Comments and texts.
    quiet: Regex,
    /// The head of a module of tests in a file.
    test_block: Regex,
    /// A module of tests that is a file.
    test_file: Regex,
}

impl Patterns {
    fn new() -> Result<Self> {
        let quiet = [
            r"//[^\n]*",
            r"/\*[\s\S]*?\*/",
            // A quotation mark by its number, so that this file can be read too.
            r"\br##\x22[\s\S]*?\x22##",
            r"\br#\x22[\s\S]*?\x22#",
            r"\br\x22[^\x22]*\x22",
            r"\x22(?:\\[\s\S]|[^\x22\\])*\x22",
            r"'(?:\\[^\n']+'?|[^'\\\n])'",
        ];
        let test = r"#\[cfg\((?:all\()?test\b[^\]]*\]\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*";
        Ok(Self {
            quiet: Regex::new(&quiet.join("|"))?,
            test_block: Regex::new(&format!(r"{test}\{{"))?,
            test_file: Regex::new(&format!("{test};"))?,
        })
    }

    fn code(&self, text: &str) -> String {
        let mut code = self.quiet.replace_all(text, |found: &Captures<'_>| {
            found.get(0).map_or_else(String::new, |found| blank(found.as_str()))
        });
        while let Some(found) = self.test_block.find(&code) {
            let Some((before, rest)) = code.split_at_checked(found.start()) else { break };
            let Some((head, body)) = rest.split_at_checked(found.len()) else { break };
            let inside = until_closed(body);
            let after = body.strip_prefix(inside).unwrap_or_default();
            let after = after.strip_prefix('}').unwrap_or(after);
            code = format!("{before}{}{} {after}", blank(head), blank(inside)).into();
        }
        code.into_owned()
    }

    /// The modules of tests that a source names, as paths without an ending.
    fn test_modules(&self, source: &Source<'_>) -> Vec<String> {
        let stem = source.path.trim_end_matches(".rs");
        let is_root = ["/lib", "/main"].iter().any(|root| stem.ends_with(root));
        let folder = if is_root { folder_of(source.path) } else { stem };
        self.test_file
            .captures_iter(&source.code)
            .filter_map(|found| found.get(1))
            .map(|name| format!("{folder}/{}", name.as_str()))
            .collect()
    }
}

/// As many lines and bytes, with nothing on them.
fn blank(text: &str) -> String {
    text.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::sample;

    fn code(text: &str) -> String {
        let (_folder, tree) = sample(&[("core/a/src/x.rs", text)]);
        product_sources(&tree).unwrap().remove(0).code
    }

    #[test]
    fn comments_texts_and_tests_are_blank_and_lines_stay() {
        let text = "/// `crate::a::B`\nuse crate::c::D; // crate::e\nlet x = \"crate::f\\\" {\";\n\
                    let y = r#\"crate::g \"quoted\" {\"#;\nlet z = ('{', '\\'', '\\u{7b}', &'a str);\n\
                    #[cfg(test)]\nmod tests {\n    use crate::h;\n    fn t() {}\n}\nfn after() {}\n";
        let code = code(text);
        assert_eq!(code.lines().count(), text.lines().count());
        assert_eq!(code.matches("crate::").count(), 1, "{code}");
        assert!(code.contains("&'a str") && code.contains("fn after"), "{code}");
        assert!(!code.contains("mod tests") && !code.contains("fn t"), "{code}");
        assert_eq!(line_at(&code, code.find("fn after").unwrap()), 11);
        assert_eq!(code.matches('{').count(), code.matches('}').count(), "{code}");
    }

    #[test]
    fn files_of_tests_are_left_out() {
        let (_folder, tree) = sample(&[
            ("core/a/src/lib.rs", "#[cfg(test)]\nmod harness;\nmod fold;\n"),
            ("core/a/src/harness.rs", ""),
            ("core/a/src/harness/window.rs", ""),
            ("core/a/src/harnesses.rs", ""),
            ("core/a/src/fold.rs", "#[cfg(test)]\nmod tests;\n#[cfg(test)]\nmod properties;\n"),
            ("core/a/src/fold/tests.rs", ""),
            ("core/a/src/fold/properties.rs", ""),
            ("core/a/tests/it/main.rs", ""),
        ]);
        let sources = product_sources(&tree).unwrap();
        let paths: Vec<&str> = sources.iter().map(|source| source.path).collect();
        assert_eq!(paths, ["core/a/src/fold.rs", "core/a/src/harnesses.rs", "core/a/src/lib.rs"]);
    }

    #[test]
    fn a_block_ends_at_its_own_brace() {
        assert_eq!(until_closed("a { b } c } d"), "a { b } c ");
        assert_eq!(until_closed("a"), "a");
    }
}
