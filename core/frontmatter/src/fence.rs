//! Where the frontmatter of a file is.
//!
//! A frontmatter is opened by a first line of `---` (a byte order mark before
//! it and spaces after it are fine) and closed by the next such line. A file
//! may also start with a rule (`---` and then prose): what follows must look
//! like a key, or it is none.

use crate::lines::{key_of, lines};
use std::ops::Range;

pub(crate) const BOM: &str = "\u{feff}";

/// What a file starts with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fence {
    /// No frontmatter: all of it is body.
    None,
    /// A frontmatter that is never closed: all of it is body.
    Unclosed {
        /// Where the text after the opening line starts.
        yaml: usize,
    },
    Closed {
        /// What is between the two lines.
        yaml: Range<usize>,
        /// Where the body starts.
        body: usize,
    },
}

/// Finds the frontmatter of a text.
#[must_use]
pub fn fence(text: &str) -> Fence {
    let start = if text.starts_with(BOM) { BOM.len() } else { 0 };
    let mut all = lines(text, start..text.len());
    let Some((open, _)) = all.next().filter(|(_, line)| line.trim_end() == "---") else {
        return Fence::None;
    };
    let mut looks_like_keys = None;
    for (range, line) in all {
        let content = line.trim_end();
        if content == "---" {
            // Two rules with nothing between them close an empty one.
            return match looks_like_keys {
                Some(false) => Fence::None,
                _ => Fence::Closed { yaml: open.end..range.start, body: range.end },
            };
        }
        let speaks = !content.is_empty() && !content.trim_start().starts_with('#');
        if looks_like_keys.is_none() && speaks {
            looks_like_keys = Some(key_of(content).is_some());
        }
    }
    match looks_like_keys {
        Some(true) => Fence::Unclosed { yaml: open.end },
        _ => Fence::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn yaml(text: &str) -> Option<&str> {
        match fence(text) {
            Fence::Closed { yaml, .. } => text.get(yaml),
            _ => None,
        }
    }

    #[test]
    fn l5_4_fences_with_marks_and_spaces_are_found() {
        assert_eq!(yaml("---\nname: x\n---\nbody"), Some("name: x\n"));
        assert_eq!(yaml("\u{feff}---  \r\nname: x\r\n--- \r\nbody"), Some("name: x\r\n"));
        assert_eq!(yaml("---\n---\nbody"), Some(""));
        assert_eq!(yaml("---\nname: x\n---"), Some("name: x\n"));
    }

    #[test]
    fn l5_4_rules_are_no_fences() {
        assert_eq!(fence("---\nSome prose here.\n---\nmore"), Fence::None);
        assert_eq!(fence("---\nSome prose, and no end"), Fence::None);
        assert_eq!(fence("# Title\n---\nname: x\n---\n"), Fence::None);
        assert_eq!(fence("----\nname: x\n---\n"), Fence::None);
        assert_eq!(fence(""), Fence::None);
        assert_eq!(fence("---"), Fence::None);
    }

    #[test]
    fn s6_an_unclosed_fence_is_told_apart() {
        assert_eq!(fence("---\nname: x\nbody"), Fence::Unclosed { yaml: 4 });
    }
}
