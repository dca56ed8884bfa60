//! The keys of a frontmatter, line by line, with where each of them stands.
//!
//! This is not YAML: it knows just enough to find the bytes of one key's
//! value, in files that YAML refuses as well as in those that it reads.

use std::ops::Range;

/// One key and where its parts are in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    /// The key without quotes.
    pub(crate) key: String,
    /// What the line starts with, before the key.
    pub(crate) indent: String,
    /// The line of the key with its ending.
    pub(crate) line: Range<usize>,
    /// The value on that line, without a comment.
    pub(crate) value: Range<usize>,
    /// Where the lines that belong to the value end.
    pub(crate) end: usize,
}

/// The lines of a part of a text, each with its ending.
pub(crate) fn lines(
    text: &str,
    within: Range<usize>,
) -> impl Iterator<Item = (Range<usize>, &str)> {
    let mut at = within.start;
    text.get(within).unwrap_or_default().split_inclusive('\n').map(move |line| {
        let range = at..at + line.len();
        at = range.end;
        (range, line)
    })
}

/// The spaces and tabs that a line starts with.
pub(crate) fn indent_of(line: &str) -> &str {
    let rest = line.trim_start_matches([' ', '\t']);
    line.get(..line.len() - rest.len()).unwrap_or_default()
}

/// The key of a line and where the text after its colon starts.
pub(crate) fn key_of(content: &str) -> Option<(&str, usize)> {
    let indent = indent_of(content).len();
    let rest = content.get(indent..)?;
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
    if let Some(quote) = quote {
        let inner = rest.get(1..)?;
        let close = inner.find(quote)?;
        let key = inner.get(..close)?;
        let after = inner.get(close + 1..)?;
        let colon = after.trim_start_matches([' ', '\t']).strip_prefix(':')?;
        let starts = colon.is_empty() || colon.starts_with([' ', '\t', '\r', '\n']);
        return (starts && !key.is_empty()).then(|| (key, content.len() - colon.len()));
    }
    if rest.starts_with([
        '-', '#', '[', ']', '{', '}', ',', '&', '*', '!', '|', '>', '%', '@', '`', '?', ':',
    ]) {
        return None;
    }
    let colon = rest.match_indices(':').map(|(at, _)| at).find(|at| {
        let after = rest.get(at + 1..).unwrap_or_default();
        after.is_empty() || after.starts_with([' ', '\t', '\r', '\n'])
    })?;
    let key = rest.get(..colon)?.trim_end();
    (!key.is_empty()).then_some((key, indent + colon + 1))
}

/// The keys at the level where the part starts. Keys below them are part of
/// their values: ask again with the value's own lines.
pub(crate) fn fields(text: &str, within: Range<usize>) -> Vec<Field> {
    let mut found: Vec<Field> = Vec::new();
    let mut level: Option<usize> = None;
    for (range, line) in lines(text, within) {
        let content = line.trim_end();
        if content.is_empty() {
            continue;
        }
        let indent = indent_of(content);
        let is_comment = content.trim_start().starts_with('#');
        let deeper = level.is_some_and(|level| indent.len() > level);
        if !deeper && is_comment {
            continue;
        }
        match key_of(content).filter(|_| !deeper) {
            Some((key, after)) => {
                level.get_or_insert(indent.len());
                let value = value_of(content, after);
                found.push(Field {
                    key: key.to_owned(),
                    indent: indent.to_owned(),
                    value: range.start + value.start..range.start + value.end,
                    end: range.end,
                    line: range,
                });
            }
            // An item of a list, or the next line of a long value.
            None => {
                if let Some(last) = found.last_mut() {
                    last.end = range.end;
                }
            }
        }
    }
    found
}

/// Where in a line the value is, given where the text after the colon starts.
pub(crate) fn value_of(content: &str, after: usize) -> Range<usize> {
    let rest = content.get(after..).unwrap_or_default();
    let start = after + indent_of(rest).len();
    let value = content.get(start..).unwrap_or_default();
    start..start + without_comment(value).len()
}

/// A value without the comment behind it.
pub(crate) fn without_comment(value: &str) -> &str {
    if let Some(end) = quoted_end(value) {
        let behind = value.get(end..).unwrap_or_default().trim_start();
        if behind.is_empty() || behind.starts_with('#') {
            return value.get(..end).unwrap_or(value);
        }
    }
    if value.starts_with('#') {
        return "";
    }
    let comment = value
        .match_indices('#')
        .map(|(at, _)| at)
        .find(|at| value.get(..*at).is_some_and(|before| before.ends_with([' ', '\t'])));
    match comment.and_then(|at| value.get(..at)) {
        Some(before) => before.trim_end(),
        None => value.trim_end(),
    }
}

/// Where a value in quotes ends, if it is one and is closed on its line.
pub(crate) fn quoted_end(value: &str) -> Option<usize> {
    let mut chars = value.char_indices().peekable();
    let (_, quote) = chars.next().filter(|(_, c)| matches!(c, '"' | '\''))?;
    while let Some((at, c)) = chars.next() {
        if c == '\\' && quote == '"' {
            chars.next();
        } else if c == quote {
            let doubled = quote == '\'' && chars.next_if(|(_, next)| *next == '\'').is_some();
            if !doubled {
                return Some(at + 1);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(text: &str) -> Vec<(String, &str, &str)> {
        fields(text, 0..text.len())
            .into_iter()
            .map(|f| (f.key, text.get(f.value).unwrap(), text.get(f.line.start..f.end).unwrap()))
            .collect()
    }

    #[test]
    fn keys_values_and_comments_are_told_apart() {
        let text = "name: x # why\n'my key': \"a # b\"  # c\nempty:\nurl: http://x/#y\n";
        let values: Vec<_> = seen(text).into_iter().map(|(k, v, _)| (k, v)).collect();
        assert_eq!(
            values,
            [
                ("name".into(), "x"),
                ("my key".into(), "\"a # b\""),
                ("empty".into(), ""),
                ("url".into(), "http://x/#y"),
            ]
        );
    }

    #[test]
    fn values_of_several_lines_belong_to_their_key() {
        let text =
            "a: |\n  one\n\n  # two\n# apart\nb:\n- x\n- y\nmetadata: \n  type: user\nc: 'it''s'\n";
        let spans: Vec<_> = seen(text).into_iter().map(|(_, _, all)| all).collect();
        assert_eq!(
            spans,
            [
                "a: |\n  one\n\n  # two\n",
                "b:\n- x\n- y\n",
                "metadata: \n  type: user\n",
                "c: 'it''s'\n",
            ]
        );
    }
}
