//! Commands in texts: what `$(…)`, backquotes and `<(…)` hold, found by
//! reading along. The grammar of the tree passes over some of them, and what
//! stands in single quotes is carried out where a variable is worked out later.

/// How quotes of the text are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quotes {
    /// As a shell does: nothing in single quotes is carried out.
    Shell,
    /// As characters: the text was quoted already, or is a document.
    Plain,
}

/// What a script carries out inside of its words.
pub(super) fn of_script(source: &str) -> Vec<String> {
    found(&without_quoted_documents(source), Quotes::Shell)
}

/// A script without the documents in it of which nothing is carried out.
fn without_quoted_documents(source: &str) -> String {
    let mut kept = String::new();
    let mut end: Option<String> = None;
    for line in source.lines() {
        match &end {
            Some(word) if line.trim() == word => end = None,
            Some(_) => continue,
            None => end = quoted_end(line),
        }
        kept.push_str(line);
        kept.push('\n');
    }
    kept
}

/// The word that ends a document which starts in a line, if it is quoted.
fn quoted_end(line: &str) -> Option<String> {
    let (_, rest) = line.split_once("<<")?;
    let rest = rest.strip_prefix('-').unwrap_or(rest).trim_start();
    let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"' | '\\'))?;
    let rest = rest.strip_prefix(quote)?;
    let is_end = |c: char| if quote == '\\' { c.is_whitespace() } else { c == quote };
    rest.split(is_end).next().filter(|word| !word.is_empty()).map(str::to_owned)
}

/// What a text would carry out if it were worked out.
pub(super) fn inside(text: &str) -> Vec<String> {
    found(text, Quotes::Plain)
}

fn found(source: &str, quotes: Quotes) -> Vec<String> {
    let mut all = Vec::new();
    let mut rest = source.chars().peekable();
    let (mut doubled, mut before) = (false, '\n');
    while let Some(c) = rest.next() {
        match c {
            '\\' => drop(rest.next()),
            '\'' if quotes == Quotes::Shell && !doubled => {
                let _ = rest.by_ref().find(|c| *c == '\'');
            }
            '"' if quotes == Quotes::Shell => doubled = !doubled,
            '#' if quotes == Quotes::Shell && !doubled && before.is_whitespace() => {
                let _ = rest.by_ref().find(|c| *c == '\n');
            }
            '`' => {
                let mut inner = String::new();
                while let Some(c) = rest.next().filter(|c| *c != '`') {
                    match c {
                        '\\' => inner.extend(rest.next()),
                        c => inner.push(c),
                    }
                }
                all.push(inner);
            }
            '$' | '<' | '>' if rest.peek() == Some(&'(') => {
                rest.next();
                all.push(balanced(&mut rest));
            }
            _ => {}
        }
        before = c;
    }
    all.retain(|inner| !inner.trim().is_empty());
    all
}

/// Up to the parenthesis that closes.
fn balanced(rest: &mut impl Iterator<Item = char>) -> String {
    let (mut depth, mut inner) = (0_usize, String::new());
    for c in rest {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => break,
            ')' => depth -= 1,
            _ => {}
        }
        inner.push(c);
    }
    // `$((…))` is a sum, whose parts are looked at as words.
    inner.trim_start_matches('(').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s11_substitutions_are_found_in_any_text() {
        assert_eq!(
            of_script("a $(b c) \"$(d)\" `e f` '$(g)' <(h) # $(i)\n$(j)"),
            ["b c", "d", "e f", "h", "j"]
        );
        assert_eq!(inside("a[$(b)] don't `c`"), ["b", "c"]);
        assert_eq!(of_script("${x#$(a (b) c)}"), ["a (b) c"]);
        assert_eq!(of_script("cat <<'E'; $(a)\n`b` $(c)\nE\n$(d)"), ["a", "d"]);
        assert!(of_script("plain \\$(x) \\`y").is_empty());
    }
}
