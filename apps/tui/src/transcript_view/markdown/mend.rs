//! The end of a text that still arrives, made to look as it most likely will:
//! so that marks do not come and go while their second half is on its way.

use std::borrow::Cow;

pub(super) fn mended(text: &str) -> Cow<'_, str> {
    let text = held_back(text);
    let paragraph = text.rfind("\n\n").map_or(0, |at| at + 2);
    let last = text.get(paragraph..).unwrap_or_default();
    if last.contains("```") || last.contains("~~~") {
        return Cow::Borrowed(text);
    }
    if let Some(row) = lone_row(last) {
        return Cow::Owned(format!("{}\n{}", text.trim_end(), "|-".repeat(row) + "|"));
    }
    // The last marks may be one half of something; what is open is closed below.
    let kept = text.trim_end_matches(['*', '_', '~']);
    let closers = open_marks(kept.get(paragraph..).unwrap_or_default());
    if closers.is_empty() {
        return Cow::Borrowed(kept);
    }
    Cow::Owned(format!("{}{closers}", kept.trim_end()))
}

/// Without a last line that has only marks yet: it may become a list, a rule,
/// a heading, a table or a fence.
fn held_back(text: &str) -> &str {
    let line = text.rfind('\n').map_or(0, |at| at + 1);
    let last = text.get(line..).unwrap_or_default().trim_start();
    // The number of an item, or marks without anything else.
    let rest = last.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let is_number = rest.len() < last.len() && matches!(rest.trim_end(), "" | "." | ")");
    let is_mark = |letter: char| letter.is_whitespace() || "-=*_+#>|:`~".contains(letter);
    if is_number || last.chars().all(is_mark) { text.get(..line).unwrap_or_default() } else { text }
}

/// The columns of a row that stands alone: the head of a table to come.
fn lone_row(last: &str) -> Option<usize> {
    let row = last.trim();
    let is_row = row.starts_with('|') && !row.contains('\n');
    is_row.then(|| row.trim_matches('|').split('|').count())
}

/// What would close the marks that are open.
fn open_marks(text: &str) -> String {
    let mut open: Vec<&'static str> = Vec::new();
    let mut code: Option<usize> = None;
    let mut link = false;
    let mut letters = text.chars().peekable();
    let mut before = ' ';
    while let Some(letter) = letters.next() {
        let mut length = 1;
        if matches!(letter, '`' | '*' | '_' | '~') {
            while letters.next_if_eq(&letter).is_some() {
                length += 1;
            }
        }
        let after = letters.peek().copied().unwrap_or(' ');
        match (letter, code) {
            ('\\', None) => {
                letters.next();
            }
            ('`', None) => code = Some(length),
            ('`', Some(opened)) if opened == length => code = None,
            ('*', None) => mark(&mut open, if length == 1 { "*" } else { "**" }, before, after),
            ('_', None) if !(before.is_alphanumeric() && after.is_alphanumeric()) => {
                mark(&mut open, if length == 1 { "_" } else { "__" }, before, after);
            }
            ('~', None) if length == 2 => mark(&mut open, "~~", before, after),
            ('(', None) if before == ']' => link = true,
            (')' | '\n', None) => link = false,
            _ => {}
        }
        before = letter;
    }
    let mut closers = "`".repeat(code.unwrap_or(0));
    if link {
        closers.push(')');
    }
    closers.extend(open.into_iter().rev());
    closers
}

fn mark(open: &mut Vec<&'static str>, mark: &'static str, before: char, after: char) {
    if let Some(at) = open.iter().rposition(|other| *other == mark)
        && !before.is_whitespace()
    {
        open.truncate(at);
    } else if !after.is_whitespace() {
        open.push(mark);
    }
}

#[cfg(test)]
mod tests {
    use super::mended;

    #[test]
    fn q9_what_is_open_is_closed_while_it_arrives() {
        for (text, shown) in [
            ("some **bold", "some **bold**"),
            ("some **", "some "),
            ("some `code", "some `code`"),
            ("a [link](http://x", "a [link](http://x)"),
            ("done **bold** and", "done **bold** and"),
            ("2 * 3 * 4", "2 * 3 * 4"),
            ("snake_case_name", "snake_case_name"),
            ("one\n-", "one\n"),
            ("| a | b |", "| a | b |\n|-|-|"),
            ("**one\n\ntwo", "**one\n\ntwo"),
        ] {
            assert_eq!(mended(text), shown, "{text:?}");
        }
    }
}
