//! Quotations in typed text: more than a few words in marks are somebody
//! else's.

use crate::phrase::{part, weight};
use std::ops::Range;

/// Most words that a person puts in marks for emphasis or as a name.
const NAMED_WORDS: usize = 4;

/// Long quotations in a text, marks included. Every mark is looked at once.
pub(super) fn long(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut open: Option<(usize, char)> = None;
    let mut before = None;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        match open {
            Some((start, close)) if c == close && closes(c, next) => {
                let end = at + c.len_utf8();
                if weight(part(text, start..end)) > NAMED_WORDS {
                    found.push(start..end);
                }
                open = None;
            }
            Some((start, _)) => {
                // A single mark that nobody closes soon is an apostrophe.
                let blank = c == '\n' && next == Some('\n');
                if blank || part(text, start..start + 1) == "'" && c == '\n' {
                    open = None;
                }
            }
            None => open = closing(c).filter(|_| opens(before, next)).map(|close| (at, close)),
        }
        before = Some(c);
    }
    found
}

fn closing(c: char) -> Option<char> {
    Some(match c {
        '"' => '"',
        '\'' => '\'',
        '“' => '”',
        '„' => '“',
        '«' => '»',
        '»' => '«',
        '‘' => '’',
        '「' => '」',
        '『' => '』',
        '《' => '》',
        _ => return None,
    })
}

fn opens(before: Option<char>, next: Option<char>) -> bool {
    before.is_none_or(|c| !c.is_ascii_alphanumeric())
        && next.is_some_and(|c| !c.is_whitespace() || c == '\u{a0}')
}

fn closes(mark: char, next: Option<char>) -> bool {
    mark != '\'' && mark != '’' || next.is_none_or(|c| !c.is_alphanumeric())
}
