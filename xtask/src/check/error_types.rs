//! An error is an enum with a class: no `Result<_, String>` and no result in a
//! result, in the product's own code.

use super::Finding;
use crate::rust_code::{line_at, product_sources};
use crate::tree::Tree;
use anyhow::Result;

/// What is not shipped tells its errors as it likes.
const TOOLS: [&str; 3] = ["bench/", "testkit/", "xtask/"];

/// Looks at every result type.
pub(super) fn check(tree: &Tree) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for source in product_sources(tree)? {
        if TOOLS.iter().any(|folder| source.path.starts_with(folder)) {
            continue;
        }
        for (at, _) in source.code.match_indices("Result<") {
            let inside = source.code.get(at + "Result<".len()..).unwrap_or_default();
            let arguments = arguments(inside);
            let is_text = arguments.len() == 2 && arguments.last() == Some(&"String");
            let is_nested = arguments.first().is_some_and(|first| first.starts_with("Result<"));
            if !is_text && !is_nested {
                continue;
            }
            let message = "an error is an enum with a class(), and a result holds no result";
            findings.push(Finding::new(source.path, line_at(&source.code, at), message));
        }
    }
    Ok(findings)
}

/// The arguments of a type whose opening bracket stands before `code`.
fn arguments(code: &str) -> Vec<&str> {
    let (mut depth, mut start, mut found) = (0_usize, 0, Vec::new());
    let mut before = ' ';
    for (at, letter) in code.char_indices() {
        let is_end = depth == 0 && letter == '>' && before != '-';
        if is_end || depth == 0 && letter == ',' {
            found.extend(code.get(start..at).map(str::trim).filter(|one| !one.is_empty()));
            start = at + 1;
        }
        match letter {
            _ if is_end => return found,
            '<' | '(' | '[' => depth += 1,
            '>' if before != '-' => depth = depth.saturating_sub(1),
            ')' | ']' => depth = depth.saturating_sub(1),
            '{' | ';' => return Vec::new(),
            _ => {}
        }
        before = letter;
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::sample;

    #[test]
    fn k2_a_result_says_what_went_wrong_by_its_type() {
        let code = "fn a() -> Result<u8, String> {}\nfn b() -> Result<BTreeMap<u8, String>, E> {}\n\
                    fn c() -> Result<Result<u8, E>, F> {}\nfn d(f: fn() -> Result<(), String>) {}\n\
                    // Result<u8, String>\nfn e() -> Result<Vec<(u8, String)>> {}\n";
        let (_folder, tree) = sample(&[("core/x/src/a.rs", code), ("bench/src/b.rs", code)]);
        let found = check(&tree).unwrap();
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        let told = "an error is an enum with a class(), and a result holds no result";
        let told = |line: usize| format!("core/x/src/a.rs:{line}: {told}");
        assert_eq!(found, [told(1), told(3), told(4)]);
    }
}
