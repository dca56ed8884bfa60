//! Words that people stumble over do not come back (U11). What to say instead
//! is in docs/guide/words.md.

use super::Finding;
use crate::tree::Tree;

/// What the program does not say any more.
const RETIRED: &[&str] = &[
    "mend it",
    "mend the",
    "mend its",
    "mend:",
    "mends it",
    "wants to run",
    "answers instead of",
    "is used up",
    "nobody knows the",
    "wait for your word",
    "waits for your word",
    "memories were looked at",
    "compacted by {",
    "Most requests of one turn",
    "brings nothing that acts",
    "nobody is there to be asked",
    "is tried again",
    "join copies",
];

/// Where people read what stands in the code.
const PLACES: &[&str] =
    &["apps/cli/src/", "apps/tui/src/", "apps/mcp/src/", "apps/web/src/", "docs/guide/"];
/// The page that names them.
const LIST: &str = "docs/guide/words.md";

/// Looks for retired words in texts for people.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let is_text = |path: &str| PLACES.iter().any(|place| path.starts_with(place)) && path != LIST;
    let files = tree.files().filter(|(path, _)| is_text(path) || *path == "README.md");
    files.flat_map(|(path, text)| found(path, text)).collect()
}

fn found(path: &str, text: &str) -> Vec<Finding> {
    let (_, ending) = path.rsplit_once('.').unwrap_or_default();
    let is_code = ending == "rs";
    if !is_code && ending != "md" {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        // Tests say what they like.
        if is_code && line.starts_with("#[cfg(test)]") {
            break;
        }
        for word in RETIRED.iter().filter(|word| is_said(line, word, is_code)) {
            let message = format!("{word:?} is retired; {LIST} has the word to use");
            findings.push(Finding::new(path, number, message));
        }
    }
    findings
}

/// Whether a line says it: in code inside of a text or of help.
fn is_said(line: &str, word: &str, is_code: bool) -> bool {
    let Some((before, _)) = line.split_once(word) else { return false };
    let is_comment = line.trim_start().starts_with("//");
    !is_code || (!is_comment && before.contains('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn u11_a_retired_word_is_found_in_texts_and_left_alone_elsewhere() {
        let code = "// mend it here\nlet said = \"mend it there\";\n#[cfg(test)]\n\"mend it\"";
        let lines: Vec<usize> = found("apps/cli/src/a.rs", code).iter().map(|f| f.line).collect();
        assert_eq!(lines, [2]);
        assert_eq!(found("docs/guide/a.md", "To mend it, run").len(), 1);
        assert!(found("docs/guide/a.svg", "mend it").is_empty());
    }
}
