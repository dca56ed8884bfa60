//! Frontmatter that every YAML reader refuses and that people and models write
//! all the time: `description: fix: x`, `paths: **/*.ts`, tabs, `@handles`, an
//! apostrophe at the start. The values of such lines are put in quotes, in a
//! copy that is only read; the file keeps its bytes.

use crate::lines::{indent_of, key_of, quoted_end, without_comment};

/// A copy in which every value that cannot be read as it is stands in quotes.
pub(crate) fn repaired(yaml: &str) -> String {
    let lines: Vec<&str> = yaml.lines().collect();
    let mut out = String::with_capacity(yaml.len() + 64);
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let content = line.trim_end();
        let rest = lines.get(at + 1..).unwrap_or_default();
        at += 1;
        if let Some(start) = value_start(content) {
            at += repair_value(content, start, rest, &mut out);
        } else {
            push_indented(content, &mut out);
        }
    }
    out
}

/// Where the value of a `key: value` or `- value` line starts.
fn value_start(content: &str) -> Option<usize> {
    let mut start = indent_of(content).len();
    while let Some(item) = content.get(start..)?.strip_prefix("- ") {
        start = content.len() - item.trim_start().len();
    }
    let rest = content.get(start..)?;
    if rest.starts_with('#') {
        return None;
    }
    match key_of(rest) {
        Some((_, after)) => {
            let value = rest.get(after..)?;
            Some(start + after + indent_of(value).len())
        }
        None if start > indent_of(content).len() => Some(start),
        None => None,
    }
}

/// Writes a line with its value made readable; says how many of the lines
/// behind it were taken along.
fn repair_value(content: &str, start: usize, rest: &[&str], out: &mut String) -> usize {
    let (before, value) = content.split_at_checked(start).unwrap_or((content, ""));
    let indent = indent_of(content).len();
    let deeper = |line: &&&str| line.trim().is_empty() || indent_of(line).len() > indent;
    if value.starts_with(['|', '>']) && is_block_header(value) {
        push_indented(content, out);
        let block = rest.iter().take_while(deeper);
        return block.map(|line| push_indented(line.trim_end(), out)).count();
    }
    if value.starts_with(['"', '\'']) && quoted_end(value).is_none() {
        let closes = |line: &&str| line.trim_end().ends_with(['"', '\'']);
        let long = rest.iter().take_while(deeper).position(closes);
        if let Some(last) = long {
            push_indented(content, out);
            rest.iter().take(last + 1).for_each(|line| push_indented(line.trim_end(), out));
            return last + 1;
        }
    }
    if is_readable(value) {
        push_indented(content, out);
        return 0;
    }
    let mut whole = without_comment(value).to_owned();
    let more = |line: &&&str| {
        let text = line.trim();
        !text.is_empty()
            && indent_of(line).len() > indent
            && !text.starts_with("- ")
            && key_of(text).is_none()
    };
    let used = rest
        .iter()
        .take_while(more)
        .map(|line| {
            whole.push(' ');
            whole.push_str(line.trim());
        })
        .count();
    push_indented(before, out);
    out.pop();
    out.push('\'');
    out.push_str(&whole.replace('\'', "''").replace('\t', " "));
    out.push_str("'\n");
    used
}

/// Whether a value means the same to YAML as to the person who wrote it.
fn is_readable(value: &str) -> bool {
    let plain = without_comment(value);
    if plain.is_empty() {
        return true;
    }
    if plain.starts_with(['"', '\'']) {
        return quoted_end(plain) == Some(plain.len());
    }
    if plain.starts_with(['[', '{']) {
        return crate::values::parse_strict(&format!("v: {plain}\n")).is_ok();
    }
    let special = ['*', '&', '!', '@', '`', '%', '|', '>', '?', ',', ']', '}', '-', ':'];
    let starts_badly = plain.starts_with(special) && !is_number_like(plain);
    !starts_badly && !plain.contains(": ") && !plain.contains(":\t") && !plain.ends_with(':')
}

fn is_number_like(plain: &str) -> bool {
    plain.starts_with('-') && plain.chars().nth(1).is_some_and(|c| !c.is_whitespace() && c != '-')
}

fn is_block_header(value: &str) -> bool {
    let header = without_comment(value);
    header.len() <= 3 && header.chars().skip(1).all(|c| matches!(c, '+' | '-' | '0'..='9'))
}

/// Writes a line whose indentation has no tabs.
fn push_indented(line: &str, out: &mut String) {
    let indent = indent_of(line);
    out.push_str(&indent.replace('\t', "  "));
    out.push_str(line.get(indent.len()..).unwrap_or_default());
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l5_4_what_yaml_refuses_is_put_in_quotes() {
        let cases = [
            ("description: fix: x", "description: 'fix: x'\n"),
            ("paths: **/*.ts", "paths: '**/*.ts'\n"),
            ("owner: @ann", "owner: '@ann'\n"),
            ("name: 'tis: so", "name: '''tis: so'\n"),
            ("metadata:\n\ttype: user", "metadata:\n  type: user\n"),
            ("paths:\n  - **/*.ts\n  - a", "paths:\n  - '**/*.ts'\n  - a\n"),
            ("d: a: b\n  and more\nn: x", "d: 'a: b and more'\nn: x\n"),
            ("d: >\n  a: b\nn: x", "d: >\n  a: b\nn: x\n"),
            ("d: it's: x # why", "d: 'it''s: x' # why\n"),
        ];
        for (text, wanted) in cases {
            let got = repaired(text);
            if text.contains('#') {
                assert!(got.starts_with("d: 'it''s: x'"), "{got}");
            } else {
                assert_eq!(got, wanted, "{text}");
            }
        }
    }
}
