//! Nothing is left open without a name: a note of work to do carries an id,
//! and a test that does not run says why.

use super::Finding;
use crate::tree::Tree;
use anyhow::Result;
use regex::Regex;

/// Looks at the comments and attributes of every Rust source.
pub(super) fn check(tree: &Tree) -> Result<Vec<Finding>> {
    let note = Regex::new(concat!(r"//.*?\b(TO", r"DO|FIX", r"ME)\b(\([#\w.]*\d\))?"))?;
    let ignored = Regex::new(concat!(r"^\s*#\[ign", r"ore\s*\]"))?;
    let mut findings = Vec::new();
    for (path, text) in tree.with_extension("rs") {
        for (index, line) in text.lines().enumerate() {
            let mut add = |message: String| findings.push(Finding::new(path, index + 1, message));
            if let Some(found) = note.captures(line).filter(|found| found.get(2).is_none()) {
                let word = found.get(1).map_or("", |word| word.as_str());
                add(format!("name the issue, as in {word}(#12), or do it now"));
            }
            if ignored.is_match(line) {
                add("say why the test does not run: #[ignore = \"…\"]".to_owned());
            }
        }
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::sample;

    #[test]
    fn notes_need_an_id_and_ignored_tests_a_reason() {
        let word = concat!("TO", "DO");
        let attribute = concat!("#[ign", "ore");
        let good = format!(
            "// {word}(#12): later\n// {word}(L5.3): x\nlet x = \"{word}\";\n{attribute} = \"slow\"]\n"
        );
        let (_folder, tree) = sample(&[("a.rs", &good)]);
        assert_eq!(check(&tree).unwrap(), []);
        let bad = format!("x(); // {word}: later\n/// {word}\n    {attribute}]\n");
        let (_folder, tree) = sample(&[("a.rs", &bad)]);
        let lines: Vec<usize> = check(&tree).unwrap().iter().map(|f| f.line).collect();
        assert_eq!(lines, [1, 2, 3]);
    }
}
