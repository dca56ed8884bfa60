//! How much of an index a model sees, and whether it is all of it (L5.3).

use crate::frontmatter::{Fence, fence};
use std::fmt;

/// The most that is loaded of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caps {
    /// Lines.
    pub lines: usize,
    /// Bytes, after the lines were counted.
    pub bytes: usize,
}

impl Default for Caps {
    fn default() -> Self {
        Self { lines: 200, bytes: 25_000 }
    }
}

/// One of the two caps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexCap {
    /// Too many lines.
    Lines,
    /// Too many bytes.
    Bytes,
}

/// An index as a model sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedIndex {
    /// The text, with a warning at its end where it was cut.
    pub text: String,
    /// Which cap cut it, if any did; the first, where both would.
    pub cut: Option<IndexCap>,
}

/// What is over a cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Breach {
    /// Lines that there are.
    pub lines: usize,
    /// Bytes that there are.
    pub bytes: usize,
    pub caps: Caps,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { lines, bytes, caps } = self;
        write!(
            f,
            "the index would have {lines} lines and {bytes} bytes, and only its first {} lines and {} bytes are read; \
             move lines of one theme into a topic file of pointers, and point to that",
            caps.lines, caps.bytes
        )
    }
}

/// The text that counts: without frontmatter and block comments.
fn counted(text: &str) -> String {
    let body = match fence(text) {
        Fence::Closed { body, .. } => text.get(body..).unwrap_or_default(),
        _ => text.trim_start_matches('\u{feff}'),
    };
    let mut out = String::with_capacity(body.len());
    let mut rest = body;
    while let Some((before, behind)) = block_comment(rest) {
        out.push_str(before);
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// What is before and behind the first comment that starts a line.
fn block_comment(text: &str) -> Option<(&str, &str)> {
    let starts_line = |at: usize| text.get(..at).is_some_and(|b| b.is_empty() || b.ends_with('\n'));
    let start = text.match_indices("<!--").map(|(at, _)| at).find(|at| starts_line(*at))?;
    let inner = text.get(start + 4..)?;
    let end = start + 4 + inner.find("-->")? + 3;
    let behind = text.get(end..)?;
    let line_end = behind.find('\n').map_or(behind.len(), |at| at + 1);
    // What shares the last line with a comment is not part of it.
    let skip = if behind.get(..line_end)?.trim().is_empty() { line_end } else { 0 };
    Some((text.get(..start)?, behind.get(skip..)?))
}

/// An index within its caps, with a warning where that is not all of it.
#[must_use]
pub fn load(text: &str, caps: Caps) -> LoadedIndex {
    load_part(text, text.len() as u64, caps)
}

/// As [`load`], for the first part of an index that has `total` bytes: nobody
/// reads a gigabyte to show its first lines.
#[must_use]
pub fn load_part(part: &str, total: u64, caps: Caps) -> LoadedIndex {
    let missing = total.saturating_sub(part.len() as u64);
    let text = counted(part);
    let lines = text.lines().count();
    let mut kept = text.as_str();
    let mut cut = None;
    if lines > caps.lines {
        let end =
            text.match_indices('\n').nth(caps.lines.saturating_sub(1)).map_or(0, |(at, _)| at + 1);
        kept = if caps.lines == 0 { "" } else { text.get(..end).unwrap_or_default() };
        cut = Some(IndexCap::Lines);
    }
    if kept.len() > caps.bytes {
        let head = kept.get(..kept.floor_char_boundary(caps.bytes)).unwrap_or_default();
        // One endless line is cut in its middle rather than dropped.
        kept = head.rfind('\n').and_then(|at| head.get(..=at)).unwrap_or(head);
        cut = Some(cut.unwrap_or(IndexCap::Bytes));
    }
    if missing > 0 {
        cut = Some(cut.unwrap_or(IndexCap::Bytes));
    }
    let Some(cap) = cut else {
        return LoadedIndex { text, cut: None };
    };
    let bytes = text.len() as u64 + missing;
    let least = if missing > 0 { "at least " } else { "" };
    let why = match cap {
        IndexCap::Lines => {
            format!("it has {least}{lines} lines, and at most {} are read", caps.lines)
        }
        IndexCap::Bytes => format!("it has {bytes} bytes, and at most {} are read", caps.bytes),
    };
    let gap = if kept.is_empty() || kept.ends_with('\n') { "" } else { "\n" };
    let warning = format!(
        "{kept}{gap}\n> WARNING: this index was cut here: {why}. Entries below are not shown. \
         Keep one short line a memory, and move lines of one theme into a topic file of pointers.\n"
    );
    LoadedIndex { text: warning, cut }
}

/// What of an index is over its caps, if anything.
#[must_use]
pub fn breach(text: &str, caps: Caps) -> Option<Breach> {
    let text = counted(text);
    let (lines, bytes) = (text.lines().count(), text.len());
    (lines > caps.lines || bytes > caps.bytes).then_some(Breach { lines, bytes, caps })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn l5_3_within_the_caps_nothing_changes() {
        let text = "x\n".repeat(200);
        assert_eq!(load(&text, Caps::default()), LoadedIndex { text: text.clone(), cut: None });
        assert_eq!(breach(&text, Caps::default()), None);
    }

    #[test]
    fn l5_3_the_warning_says_which_cap_applied() {
        let many = load(&"x\n".repeat(214), Caps::default());
        assert_eq!(many.cut, Some(IndexCap::Lines));
        assert!(many.text.starts_with(&"x\n".repeat(200)));
        assert!(many.text.contains("it has 214 lines, and at most 200 are read"), "{}", many.text);
        let line = format!("{}\n", "y".repeat(299));
        let wide = load(&line.repeat(100), Caps::default());
        assert_eq!(wide.cut, Some(IndexCap::Bytes));
        assert!(wide.text.starts_with(&line.repeat(83)) && !wide.text.contains(&line.repeat(84)));
        assert!(wide.text.contains("at most 25000 are read"));
        assert!(breach(&line.repeat(100), Caps::default()).is_some());
    }

    #[test]
    fn l5_3_frontmatter_and_comments_are_not_counted() {
        let text = "---\nname: x\n---\n<!--\nlong\nnote\n-->\n- [A](a.md)\ntext <!-- stays -->\n";
        let loaded = load(text, Caps { lines: 2, bytes: 100 });
        assert_eq!(loaded.text, "- [A](a.md)\ntext <!-- stays -->\n");
        assert_eq!(loaded.cut, None);
    }

    #[test]
    fn s6_an_endless_line_is_cut_between_characters() {
        let loaded = load(&"é".repeat(20_000), Caps::default());
        assert_eq!(loaded.cut, Some(IndexCap::Bytes));
        assert!(loaded.text.starts_with(&"é".repeat(12_500)));
    }

    #[test]
    fn s6_the_first_part_of_a_huge_index_is_enough() {
        let loaded = load_part("a\nb\nc\n", 1 << 30, Caps { lines: 2, bytes: 100 });
        assert!(loaded.text.contains("it has at least 3 lines, and at most 2"), "{}", loaded.text);
        let loaded = load_part("a\n", 1 << 30, Caps::default());
        assert!(loaded.text.contains("it has 1073741824 bytes"), "{}", loaded.text);
    }

    proptest! {
        #[test]
        fn l5_3_what_is_kept_starts_the_text_and_fits(
            text in "([a-zé]{0,12}\n){0,30}", lines in 0_usize..12, bytes in 0_usize..80,
        ) {
            let loaded = load(&text, Caps { lines, bytes });
            let kept = loaded.text.split("\n> WARNING").next().unwrap_or_default();
            prop_assert_eq!(loaded.cut.is_none(), breach(&text, Caps { lines, bytes }).is_none());
            prop_assert!(kept.lines().count() <= lines);
            prop_assert!(kept.trim_end_matches('\n').len() <= bytes);
            prop_assert!(text.starts_with(kept.trim_end_matches('\n')));
        }
    }
}
