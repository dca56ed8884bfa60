//! The value that stands after a name or a flag: up to its closing quote, or
//! up to the end of the word.

use std::ops::Range;

/// The longest value that is looked at. Longer ones are files, not passwords.
const LONGEST_BYTES: usize = 1024;

/// A value and how it stood there.
pub(super) struct Value<'a> {
    pub(super) at: Range<usize>,
    pub(super) text: &'a str,
    pub(super) dress: Dress,
    /// What follows it on its line.
    pub(super) rest: &'a str,
}

/// Whether a value stood in quotes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Dress {
    Bare,
    Quoted,
}

impl Value<'_> {
    /// Without what cannot be in a token: `@host`, a closing bracket.
    pub(super) fn cut_to_token(mut self) -> Self {
        if self.dress == Dress::Bare
            && let Some(end) = self.text.find(['@', '"', '\'', '`', ')', '<', '}', '|'])
            && let Some((text, _)) = self.text.split_at_checked(end)
        {
            self.text = text;
            self.at.end = self.at.start + end;
        }
        self
    }
}

/// The value that starts at a place of the text.
pub(super) fn after(text: &str, at: usize) -> Option<Value<'_>> {
    // Cut first: a text may be one long line with many names in it.
    let line = text.get(at..)?;
    let line = line.get(..line.floor_char_boundary(LONGEST_BYTES))?;
    let line = line.get(..line.find(['\n', '\r']).unwrap_or(line.len()))?;
    // `**Password:** value`
    let marked = line.trim_start_matches("**");
    let inner =
        if marked.len() < line.len() { marked.trim_start_matches([' ', '\t']) } else { line };
    let inner =
        ["!!str ", "!!binary "].iter().find_map(|tag| inner.strip_prefix(tag)).unwrap_or(inner);
    // `b'…'`, `r"…"`: how a language marks a string.
    let string = inner.strip_prefix("<<").unwrap_or_else(|| unwrapped(inner));
    let string =
        string.strip_prefix(['b', 'r', 'f', 'u', 'B', 'R', '@', 'N', 'L']).unwrap_or(string);
    let inner = if string.starts_with(['"', '\'']) { string } else { inner };
    let start = line.len() - inner.len();
    let (open, dress) = match inner.chars().next()? {
        '\\' if inner.starts_with("\\\"") => ("\\\"", Dress::Quoted),
        '"' if inner.starts_with("\"\"\"") => ("\"\"\"", Dress::Quoted),
        '"' => ("\"", Dress::Quoted),
        '\'' => ("'", Dress::Quoted),
        '`' => ("`", Dress::Quoted),
        _ => ("", Dress::Bare),
    };
    let inner = inner.strip_prefix(open)?;
    let quoted_end = if dress == Dress::Quoted { inner.find(open) } else { None };
    let (len, dress) = match quoted_end {
        Some(end) => (end, Dress::Quoted),
        None => (bare_len(inner), Dress::Bare),
    };
    let value = inner.get(..len)?;
    // `« … »` has blanks inside.
    let padding = value.len() - value.trim_start().len();
    let value = value.trim();
    let (begin, len) = (at + start + open.len() + padding, value.len());
    (!value.is_empty()).then(|| Value {
        at: begin..begin + len,
        text: value,
        dress,
        rest: text.get(begin + len..at + line.len()).unwrap_or_default(),
    })
}

/// `Some("…")`, `SecretStr("…")`: what is in the wrapping.
fn unwrapped(text: &str) -> &str {
    const WRAPPERS: &str =
        "some of from string str secretstr secretstring secret sensitive bytes byte new";
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':');
    let inner = text.strip_prefix("[]").unwrap_or(text).trim_start_matches(is_part);
    let name = text.get(..text.len() - inner.len()).unwrap_or_default().to_ascii_lowercase();
    let own = name.rsplit(['.', ':', ']']).next().unwrap_or_default();
    match inner.strip_prefix('(') {
        Some(inner) if WRAPPERS.split_ascii_whitespace().any(|wrapper| wrapper == own) => inner,
        _ => text,
    }
}

/// Up to a space, or to a sign after which something else begins.
fn bare_len(text: &str) -> usize {
    let is_ascii = text.chars().next().is_some_and(|c| c.is_ascii());
    let mut end = text.len();
    for (at, c) in text.char_indices() {
        let rest = text.get(at + c.len_utf8()..).unwrap_or_default();
        let stops = match c {
            ';' | '&' | ',' => starts_a_pair(rest) || rest.starts_with(['"', '\'']),
            '<' => rest.starts_with('/'),
            '"' | '\'' | '`' => rest.starts_with([',', '}', ')', ']', ';', ':', '/']),
            '。' | '，' | '、' | '；' | '！' | '—' | '…' | '\u{1b}' => true,
            // How a terminal is told a colour.
            '\\' => ["x1b[", "033[", "e[", "u001b["].iter().any(|code| rest.starts_with(code)),
            // Letters of another script after a word of plain letters: in
            // Chinese, Japanese and Korean the sentence goes on without a space.
            c if is_ascii => c > '\u{590}' && c.is_alphabetic() || c.is_whitespace(),
            c => c.is_whitespace(),
        };
        if stops {
            end = at;
            break;
        }
    }
    let word = text.get(..end).unwrap_or_default();
    let mut cut = word.trim_end_matches(['.', ',', ';', ':', '\'', '"', '`', '*', '>', '\\']);
    for (open, close) in [('(', ')'), ('[', ']'), ('{', '}')] {
        while cut.ends_with(close) && !cut.contains(open) {
            cut = cut.trim_end_matches(close).trim_end_matches(['.', ',', ';', '\'', '"', '`']);
        }
    }
    cut.len()
}

/// `name=`, `User Id=`: the next part of a connection string or a query.
fn starts_a_pair(rest: &str) -> bool {
    let name = rest.trim_start_matches(|c: char| {
        c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ' ' | '.')
    });
    name.len() < rest.len() && name.starts_with('=')
        || rest.is_empty()
        || rest.starts_with([' ', ';'])
}
