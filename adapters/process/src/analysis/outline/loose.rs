//! What a command may name and run where parts of it are not known, or where
//! our grammar and a shell differ.

use super::words::{ansi, braced};
use super::{Findings, wrapper};
use everfold_kernel::ports::{CallWord, FileTouch, ShellPlace, WordKind};
use std::collections::BTreeSet;

/// How a shell may read a text that a grammar reads in another way.
pub(super) fn readings(source: &str) -> Vec<String> {
    // A newline that a backslash takes away joins what is around it, but for
    // the end of a comment.
    let mut all = vec![source.replace("\\\n", "")];
    if source.contains('#') && source.contains("\\\n") {
        all.push(source.replace("\\\n", "\n"));
    }
    for plain in [without_dollars, without_arguments, without_marks, without_ranges] {
        let more: Vec<String> = all.iter().map(|text| plain(text)).collect();
        all.extend(more);
        let mut seen = BTreeSet::new();
        all.retain(|text| seen.insert(text.clone()));
    }
    all
}

/// `$"x"` is `"x"`, and a dollar at the end of a line is only that.
fn without_dollars(text: &str) -> String {
    text.replace("$\"", "\"").replace("$\n", "\n")
}

/// A line that is carried out has no arguments of its own.
fn without_arguments(text: &str) -> String {
    ["$@", "$*", "${@}", "${*}"].iter().fold(text.to_owned(), |text, name| text.replace(name, ""))
}

/// In the middle of a word a `#` begins no comment.
fn without_marks(text: &str) -> String {
    text.replace("=#", "=")
}

/// `{r..r}` is `r`.
fn without_ranges(text: &str) -> String {
    let mut out = text.to_owned();
    for (at, _) in text.match_indices("..") {
        let before = text.get(..at).and_then(|start| start.chars().next_back());
        let after = text.get(at + 2..).and_then(|end| end.chars().next());
        if let Some(letter) = before.filter(|before| after == Some(*before)) {
            out = out.replace(&format!("{{{letter}..{letter}}}"), &letter.to_string());
        }
    }
    out
}

/// Words with nothing in the places that are only known when it runs: most
/// variables that nobody set are empty. Once with words of which nothing is
/// known, once without them; neither where there is no such place.
pub(super) fn emptied(words: &[CallWord]) -> Vec<Vec<CallWord>> {
    // What is below a directory that is not known stays there.
    let is_open = |word: &CallWord| {
        word.kind == WordKind::Open && word.text.contains('*') && !word.text.starts_with("*/")
    };
    if !words.iter().any(is_open) {
        return Vec::new();
    }
    let is_unknown = |word: &CallWord| is_open(word) && word.text.chars().all(|c| c == '*');
    let closed = words.iter().flat_map(|word| {
        if is_open(word) && !is_unknown(word) {
            let made = braced(&word.text.replace('*', ""));
            made.iter().map(|text| CallWord::exact(text)).collect()
        } else {
            vec![word.clone()]
        }
    });
    let with: Vec<CallWord> = closed.collect();
    let without = with.iter().filter(|word| !is_unknown(word)).cloned().collect();
    vec![with, without]
}

/// Whatever may be a word in a text of which not all can be told: however
/// deeply it is quoted, a file that it names is named.
pub(super) fn words(text: &str, place: &ShellPlace) -> Vec<(String, FileTouch)> {
    let mut found = Vec::new();
    for text in [text.to_owned(), ansi(text), ansi(&text.replace(['\'', '"'], ""))] {
        let mut plain = without_arguments(&text.replace(['\'', '"', '\\'], ""));
        let cwd = place.cwd.display().to_string();
        for name in ["${PWD}", "$PWD"] {
            plain = plain.replace(name, &cwd);
        }
        let splits = |c: char| c.is_whitespace() || ";&|()<>`$".contains(c);
        for token in plain.split(splits).filter(|token| !token.is_empty()) {
            let made = braced(token).into_iter().flat_map(|word| {
                let bare = word.trim_matches(['{', '}']).to_owned();
                [word, bare]
            });
            found.extend(made.map(|word| (word, FileTouch::Named)));
        }
    }
    found
}

impl Findings {
    /// What a text that does not parse may run: whatever its pieces say.
    pub(super) fn by_pieces(&mut self, source: &str) {
        let home = self.home();
        let source = source.replace("${HOME}", &home).replace("$HOME", &home);
        for piece in source.split([';', '&', '|', '`', '$', '(', ')', '{', '}', '\n', '<', '>']) {
            let words: Vec<CallWord> = piece
                .split_whitespace()
                .map(|word| CallWord::exact(&word.replace(['\'', '"', '\\'], "")))
                .collect();
            if words.is_empty() {
                continue;
            }
            self.mentions.extend(words.iter().map(|word| (word.text.clone(), FileTouch::Named)));
            let listed = wrapper::unwrapped(&words).listed;
            self.runs.extend(listed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s11_a_text_is_read_as_a_shell_would() {
        assert_eq!(readings("a \\\nb"), ["a b"]);
        assert_eq!(readings("#\\\nrm x"), ["#rm x", "#\nrm x"]);
        assert_eq!(readings("''$\"rm\" x"), ["''$\"rm\" x", "''\"rm\" x"]);
        assert_eq!(readings("a$@b=#c"), ["a$@b=#c", "ab=#c", "a$@b=c", "ab=c"]);
        assert_eq!(readings("{r..r}m {1..2}"), ["{r..r}m {1..2}", "rm {1..2}"]);
    }

    #[test]
    fn s11_what_is_not_known_may_be_nothing() {
        let open = |text: &str| CallWord { text: text.into(), kind: WordKind::Open };
        let words = [CallWord::exact("find"), open("-ex*ec"), open("*"), open("*/x")];
        let texts = |words: &[CallWord]| words.iter().map(|word| word.text.clone()).collect();
        let made: Vec<Vec<String>> = emptied(&words).iter().map(|words| texts(words)).collect();
        assert_eq!(made, [vec!["find", "-exec", "*", "*/x"], vec!["find", "-exec", "*/x"]]);
        assert!(emptied(&[CallWord::exact("a*")]).is_empty());
    }

    #[test]
    fn s11_words_are_found_however_deeply_they_are_quoted() {
        let place = ShellPlace { cwd: "/repo".into(), home: None };
        let text = r#"a='eval '\''cat "$PWD"/x $'\''\'\'''\''\x61.t'\''; b{c,d}'"#;
        let found: Vec<String> = words(text, &place).into_iter().map(|(word, _)| word).collect();
        for word in ["/repo/x", "a.t", "bc", "bd"] {
            assert!(found.iter().any(|known| known == word), "{word}: {found:?}");
        }
    }
}
