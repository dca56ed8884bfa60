//! Numbered lines, as Read and Edit show them.

use everfold_kernel::phrase::counted;
use std::fmt::Write as _;

/// Writes one line with its number, cut where it is too long.
pub(crate) fn push_numbered(out: &mut String, number: u64, line: &str, max_chars: usize) {
    if !out.is_empty() {
        out.push('\n');
    }
    let (shown, rest_chars) = cut(line, max_chars);
    // Writing to a String cannot fail.
    let _ = write!(out, "{number:>6}\t{shown}");
    if rest_chars > 0 {
        let _ = write!(out, "… [{rest_chars} more characters]");
    }
}

/// The start of a text, and how many characters are left out.
pub(crate) fn cut(text: &str, max_chars: usize) -> (&str, usize) {
    // Fewer bytes than the limit are never more characters.
    if text.len() <= max_chars {
        return (text, 0);
    }
    let split = text.char_indices().nth(max_chars).and_then(|(at, _)| text.split_at_checked(at));
    match split {
        Some((start, rest)) => (start, rest.chars().count()),
        None => (text, 0),
    }
}

/// A line without its ending, be it `\n` or `\r\n`.
pub(crate) fn without_ending(line: &str) -> &str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    line.strip_suffix('\r').unwrap_or(line)
}

/// How many lines a text has.
pub(crate) fn count(text: &str) -> usize {
    text.split_inclusive('\n').count()
}

/// Says how many files permissions left out of what was found (S10).
pub(crate) fn left_out(barred: usize) -> String {
    if barred == 0 {
        return String::new();
    }
    let files = counted(barred as u64, "file");
    format!("\n\n[{files} left out: a rule denies reading them, or credentials are kept there.]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q5_a_long_line_is_cut_between_characters() {
        let mut out = String::new();
        push_numbered(&mut out, 7, "éèàüö", 3);
        assert_eq!(out, "     7\téèà… [2 more characters]");
        assert_eq!(cut("éèà", 3), ("éèà", 0));
        assert_eq!(cut("", 0), ("", 0));
    }

    #[test]
    fn lines_are_counted_as_people_count_them() {
        assert_eq!(count(""), 0);
        assert_eq!(count("a"), 1);
        assert_eq!(count("a\n"), 1);
        assert_eq!(count("a\n\n"), 2);
        assert_eq!(without_ending("a\r\n"), "a");
    }
}
