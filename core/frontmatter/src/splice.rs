//! Changing one key of a file and nothing else.
//!
//! The bytes of the old value are cut out and the new ones put in their place;
//! comments, order, unknown keys, the quotes of others, line endings and a
//! byte order mark stay byte for byte.

use crate::error::Error;
use crate::fence::{BOM, Fence, fence};
use crate::lines::{Field, fields};
use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key<'a> {
    Top(&'a str),
    /// One in a block: `Under("metadata", "type")`.
    Under(&'a str, &'a str),
}

/// What a key is set to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A text, put in quotes where it needs them.
    Text(String),
    /// `true` or `false`.
    Flag(bool),
    /// A list, written on one line.
    List(Vec<String>),
}

/// The text with one key set. A file without frontmatter gets one.
///
/// # Errors
/// If its frontmatter is not closed, or the block is no block.
pub fn set(text: &str, key: Key<'_>, value: &Value) -> Result<String, Error> {
    let newline = newline_of(text);
    let yaml = match fence(text) {
        Fence::Closed { yaml, .. } => yaml,
        Fence::Unclosed { .. } => return Err(Error::FrontmatterUnclosed),
        Fence::None => {
            let at = if text.starts_with(BOM) { BOM.len() } else { 0 };
            let lines = new_lines(key, value, newline);
            return Ok(put(text, at..at, &format!("---{newline}{lines}---{newline}")));
        }
    };
    let top = fields(text, yaml.clone());
    match key {
        Key::Top(name) => Ok(match find(&top, name) {
            Some(field) => replace(text, field, value),
            None => put(text, yaml.end..yaml.end, &new_lines(key, value, newline)),
        }),
        Key::Under(block, name) => {
            let Some(field) = find(&top, block) else {
                return Ok(put(text, yaml.end..yaml.end, &new_lines(key, value, newline)));
            };
            if !field.value.is_empty() {
                return Err(Error::NotABlock { key: block.to_owned() });
            }
            let below = fields(text, field.line.end..field.end);
            if below.is_empty() && field.end > field.line.end {
                return Err(Error::NotABlock { key: block.to_owned() });
            }
            if let Some(inner) = find(&below, name) {
                return Ok(replace(text, inner, value));
            }
            let indent = below.first().map_or("  ", |first| first.indent.as_str());
            let line = format!("{indent}{name}: {}{newline}", render(value, Quotes::IfNeeded));
            Ok(put(text, field.end..field.end, &line))
        }
    }
}

/// The text without one key; unchanged if it has none.
///
/// # Errors
/// If its frontmatter is not closed.
pub fn remove(text: &str, key: Key<'_>) -> Result<String, Error> {
    let yaml = match fence(text) {
        Fence::Closed { yaml, .. } => yaml,
        Fence::Unclosed { .. } => return Err(Error::FrontmatterUnclosed),
        Fence::None => return Ok(text.to_owned()),
    };
    let top = fields(text, yaml);
    let found = match key {
        Key::Top(name) => find(&top, name).cloned(),
        Key::Under(block, name) => find(&top, block)
            .and_then(|field| find(&fields(text, field.line.end..field.end), name).cloned()),
    };
    Ok(found.map_or_else(|| text.to_owned(), |field| put(text, field.line.start..field.end, "")))
}

/// The last of a name, as readers see it.
fn find<'a>(fields: &'a [Field], name: &str) -> Option<&'a Field> {
    fields.iter().rev().find(|field| field.key == name)
}

fn replace(text: &str, field: &Field, value: &Value) -> String {
    let old = text.get(field.value.clone()).unwrap_or_default();
    let quotes = if old.starts_with('"') { Quotes::Always } else { Quotes::IfNeeded };
    let mut new = render(value, quotes);
    let before = text.get(..field.value.start).unwrap_or_default();
    if before.ends_with(':') {
        new.insert(0, ' ');
    }
    // `key:# x` has no comment, `key: # x` does: keep the gap before it.
    let behind = text.get(field.value.end..field.line.end).unwrap_or_default();
    if behind.starts_with('#') {
        new.push(' ');
    }
    let without_rest = put(text, field.line.end..field.end, "");
    put(&without_rest, field.value.clone(), &new)
}

fn put(text: &str, range: Range<usize>, new: &str) -> String {
    let before = text.get(..range.start).unwrap_or_default();
    let behind = text.get(range.end..).unwrap_or_default();
    [before, new, behind].concat()
}

fn new_lines(key: Key<'_>, value: &Value, newline: &str) -> String {
    let value = render(value, Quotes::IfNeeded);
    match key {
        Key::Top(name) => format!("{name}: {value}{newline}"),
        Key::Under(block, name) => format!("{block}:{newline}  {name}: {value}{newline}"),
    }
}

/// The line ending that a text uses.
#[must_use]
pub fn newline_of(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text.get(..at).is_some_and(|before| before.ends_with('\r')) => "\r\n",
        _ => "\n",
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Quotes {
    IfNeeded,
    Always,
}

fn render(value: &Value, quotes: Quotes) -> String {
    match value {
        Value::Text(text) if quotes == Quotes::IfNeeded && is_plain(text) => text.clone(),
        Value::Text(text) => quoted(text),
        Value::Flag(flag) => flag.to_string(),
        Value::List(items) => {
            let one = |item: &String| {
                if is_plain(item) && !item.contains(',') { item.clone() } else { quoted(item) }
            };
            format!("[{}]", items.iter().map(one).collect::<Vec<_>>().join(", "))
        }
    }
}

/// A text in double quotes, on one line.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{feff}' => push_escape(c, &mut out),
            c if c.is_control() => push_escape(c, &mut out),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn push_escape(c: char, out: &mut String) {
    use std::fmt::Write as _;
    // Writing to a string cannot fail.
    let _ = write!(out, "\\u{:04x}", u32::from(c));
}

/// Whether YAML reads a text without quotes as that text.
fn is_plain(text: &str) -> bool {
    let words = ["true", "false", "yes", "no", "on", "off", "null", "y", "n"];
    let starts = text.chars().next().is_some_and(|c| c.is_alphanumeric() || c == '/' || c == '_');
    let safe = |c: char| c.is_alphanumeric() || " _-/.,;:()+=@$<>|?!*&'’–—".contains(c);
    starts
        && text.chars().all(safe)
        && !text.contains(": ")
        && !text.ends_with([':', ' '])
        && !words.contains(&text.to_ascii_lowercase().as_str())
        && text.parse::<f64>().is_err()
        && !text.starts_with("0x")
        && !text.starts_with("0o")
        && !is_digits_and_marks(text)
}

/// `1_000`, `12:30:00`: numbers to some readers. A date is not.
fn is_digits_and_marks(text: &str) -> bool {
    let marks = text.chars().all(|c| c.is_ascii_digit() || "_:.+,".contains(c));
    marks && text.chars().any(|c| c.is_ascii_digit())
}
