//! What is never changed: code, addresses, tags, links and quotations.

use std::ops::Range;

/// Quotation marks and what closes them. Some languages close with the mark
/// that others open with.
const QUOTES: &[(char, &[char])] = &[
    ('"', &['"']),
    ('“', &['”', '“']),
    ('„', &['“', '”', '"']),
    ('”', &['”']),
    ('«', &['»']),
    ('»', &['«', '»']),
    ('‹', &['›']),
    ('›', &['‹']),
    ('‘', &['’']),
    ('‚', &['‘', '’']),
    ('\'', &['\'']),
    ('「', &['」']),
    ('『', &['』']),
    ('《', &['》']),
    ('〈', &['〉']),
    ('＂', &['＂']),
];

/// The shielded byte ranges, in order and apart.
pub(super) fn ranges(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let has_address = text.contains("://") || text.contains('@') || text.contains("www.");
    let mut at = 0;
    let mut line = Line::Blank;
    let mut is_line_start = true;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        if is_line_start {
            let (kind, length) = line_kind(rest, line);
            line = kind;
            if matches!(kind, Line::Shielded) {
                found.push(at..at + length);
                at += length;
                continue;
            }
        }
        let Some(first) = rest.chars().next() else { break };
        let before = text.get(..at).and_then(|head| head.chars().next_back());
        let starts_word =
            first.is_ascii_alphanumeric() && !before.is_some_and(char::is_alphanumeric);
        let length = match first {
            _ if starts_word && has_address => address(rest),
            _ if first.is_alphanumeric() || first == ' ' => None,
            _ => span(rest, first, before),
        };
        if let Some(length) = length {
            found.push(at..at + length);
        }
        at += length.unwrap_or(first.len_utf8());
        is_line_start = text.get(..at).is_some_and(|head| head.ends_with('\n'));
    }
    found
}

#[derive(Clone, Copy)]
enum Line {
    Blank,
    Prose,
    Shielded,
}

/// A quoted line (`>`), and an indented one that Markdown takes for code.
fn line_kind(rest: &str, before: Line) -> (Line, usize) {
    let line = rest.split_inclusive('\n').next().unwrap_or(rest);
    let trimmed = line.trim();
    if trimmed.is_empty() {
        return (if matches!(before, Line::Prose) { Line::Blank } else { before }, line.len());
    }
    if trimmed.starts_with('>') {
        return (Line::Shielded, line.len());
    }
    let is_indented = line.starts_with("    ") || line.starts_with('\t');
    let is_item = trimmed.starts_with(['-', '*', '+', '•'])
        || trimmed.starts_with(|sign: char| sign.is_ascii_digit());
    let is_code = is_indented && !is_item && !matches!(before, Line::Prose);
    (if is_code { Line::Shielded } else { Line::Prose }, line.len())
}

/// The length of what is shielded from here on.
fn span(rest: &str, first: char, before: Option<char>) -> Option<usize> {
    match first {
        '`' => Some(ticks(rest)),
        '~' if rest.starts_with("~~~") => Some(fence(rest, "~~~")),
        '<' => tag(rest),
        ']' if rest.starts_with("](") => until(rest, ")", 2),
        '[' if rest.starts_with("[[") => until(rest, "]]", 2),
        _ => quotation(rest, first, before),
    }
}

fn ticks(rest: &str) -> usize {
    let count = rest.len() - rest.trim_start_matches('`').len();
    let (mark, inner) = rest.split_at_checked(count).unwrap_or((rest, ""));
    match inner.find(mark) {
        Some(at) => count + at + count,
        None if count >= 3 => rest.len(),
        // A lone tick is not code.
        None => count,
    }
}

fn fence(rest: &str, mark: &str) -> usize {
    let inner = rest.get(mark.len()..).unwrap_or_default();
    inner.find(mark).map_or(rest.len(), |at| at + 2 * mark.len())
}

fn tag(rest: &str) -> Option<usize> {
    let next = rest.chars().nth(1)?;
    (next.is_ascii_alphabetic() || matches!(next, '/' | '!')).then(|| until(rest, ">", 1)).flatten()
}

/// To the end of the closing mark, on the same line.
fn until(rest: &str, close: &str, skip: usize) -> Option<usize> {
    let line = rest.lines().next()?;
    let at = line.get(skip..)?.find(close)?;
    Some(skip + at + close.len())
}

/// `https://…`, `www.…` and mail addresses, to the next blank.
fn address(rest: &str) -> Option<usize> {
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let word = rest.get(..end)?;
    let is_address = word.contains("://")
        || word.starts_with("www.")
        || word.split_once('@').is_some_and(|(name, host)| {
            !name.is_empty() && host.contains('.') && !host.ends_with('.')
        });
    is_address.then_some(end)
}

/// A quotation ends within its paragraph; a mark that nothing closes is none.
fn quotation(rest: &str, first: char, before: Option<char>) -> Option<usize> {
    let (_, closing) = QUOTES.iter().find(|(open, _)| *open == first)?;
    let may_be_apostrophe = matches!(first, '\'' | '’' | '‘' | '‚');
    if before.is_some_and(char::is_alphanumeric) && (may_be_apostrophe || first == '"') {
        return None;
    }
    let inner = rest.get(first.len_utf8()..)?;
    if may_be_apostrophe && inner.starts_with(char::is_whitespace) {
        return None;
    }
    let paragraph = inner.find("\n\n").map_or(inner, |at| inner.get(..at).unwrap_or(inner));
    let mut previous = first;
    for (at, sign) in paragraph.char_indices() {
        if closing.contains(&sign) {
            let end = first.len_utf8() + at + sign.len_utf8();
            let is_inside = may_be_apostrophe
                && (rest.get(end..)?.starts_with(char::is_alphanumeric)
                    || previous.is_whitespace());
            if !is_inside {
                return Some(end);
            }
        }
        previous = sign;
    }
    None
}
