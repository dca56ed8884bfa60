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
    "takes it back",
    "take it back",
    "where nothing is said",
    "not taken over",
    "the dearest",
    "The dearest",
    "which is not there",
    "nothing is wrong",
    "is wanted",
    "in so many words",
    "for want of",
    "cannot be listened on",
];

/// Where people read what stands in the code.
const PLACES: &[&str] = &[
    "adapters/",
    "apps/",
    "core/",
    GUIDE,
    "engine/src/",
    "layers/",
    "memory/",
    "replay/src/",
    "sdk/src/",
    "tools/src/",
    "window/src/",
];
/// Pages for people.
const GUIDE: &str = "docs/guide/";
const README: &str = "README.md";
/// Where comments are the help of the command line.
const HELP: &str = "apps/cli/src/args";
/// The page that names them.
const LIST: &str = "docs/guide/words.md";

/// Looks for retired words in texts for people.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let is_text = |path: &str| {
        let is_test = path.contains("/tests/") || path.ends_with("tests.rs");
        PLACES.iter().any(|place| path.starts_with(place)) && path != LIST && !is_test
    };
    let files = tree.files().filter(|(path, _)| is_text(path) || *path == README);
    files.flat_map(|(path, text)| found(path, text)).collect()
}

fn found(path: &str, text: &str) -> Vec<Finding> {
    let (_, ending) = path.rsplit_once('.').unwrap_or_default();
    let is_code = ending == "rs";
    // Elsewhere Markdown is for models, or for those who read the code.
    let is_page = ending == "md" && (path.starts_with(GUIDE) || path == README);
    if !is_code && !is_page {
        return Vec::new();
    }
    let is_help = path.starts_with(HELP);
    let mut findings = Vec::new();
    let mut goes_on = false;
    for (number, line) in (1..).zip(text.lines()) {
        // Tests say what they like.
        if is_code && line.starts_with("#[cfg(test)]") {
            break;
        }
        let said = if is_code { said(line, goes_on, is_help) } else { line };
        goes_on = line.ends_with('\\');
        for word in RETIRED.iter().filter(|word| said.contains(**word)) {
            let message = format!("{word:?} is retired; {LIST} has the word to use");
            findings.push(Finding::new(path, number, message));
        }
    }
    findings
}

/// What of a line of code people read: its text, or its help.
fn said(line: &str, goes_on: bool, is_help: bool) -> &str {
    match line.trim_start() {
        help if help.starts_with("///") && is_help => help,
        comment if comment.starts_with("//") => "",
        text if goes_on => text,
        code => code.split_once('"').map_or("", |(_, text)| text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn u11_a_retired_word_is_found_in_texts_and_left_alone_elsewhere() {
        let code = "// mend it here\nlet said = \"mend it there\";\n#[cfg(test)]\n\"mend it\"";
        let lines: Vec<usize> = found("apps/cli/src/a.rs", code).iter().map(|f| f.line).collect();
        assert_eq!(lines, [2]);
        let long = "let said = \"to \\\n    mend it\";";
        assert_eq!(found("engine/src/a.rs", long).len(), 1, "a text of two lines");
        assert_eq!(found("apps/cli/src/args/a.rs", "/// To mend it").len(), 1, "help");
        assert_eq!(found("docs/guide/a.md", "To mend it, run").len(), 1);
        assert!(found("docs/guide/a.svg", "mend it").is_empty());
    }
}
