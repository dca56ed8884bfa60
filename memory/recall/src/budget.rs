//! What of a memory is shown, and when a session has had enough (R1, R5).

use everfold_kernel::UserOrigin;
use everfold_kernel::limits::RecallLimits;

use crate::text;

/// Whether a message is one to recall for: a person wrote it, in more than one
/// word (R1).
#[must_use]
pub fn is_worth_recalling(message: &str, origin: UserOrigin) -> bool {
    origin == UserOrigin::Human && text::count_words(message) > 1
}

/// The part of a file that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryExcerpt<'a> {
    /// Whole lines, or of a long first line as much as fits.
    pub text: &'a str,
    /// Whether something is missing at the end.
    pub extent: Extent,
}

/// How much of a file is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    Whole,
    Cut,
}

/// The beginning of a file within the limits for one (R5).
///
/// ```
/// use everfold_kernel::limits::RecallLimits;
/// use everfold_memory_recall::budget::{Extent, shown};
///
/// let limits = RecallLimits { file_lines: 1, ..RecallLimits::default() };
/// let part = shown("one\ntwo\n", &limits);
/// assert_eq!((part.text, part.extent), ("one\n", Extent::Cut));
/// ```
#[must_use]
pub fn shown<'a>(text: &'a str, limits: &RecallLimits) -> MemoryExcerpt<'a> {
    let mut bytes = 0;
    for line in text.split_inclusive('\n').take(limits.file_lines) {
        if bytes + line.len() > limits.file_bytes {
            break;
        }
        bytes += line.len();
    }
    // A cut between lines that leaves out most of what there is room for goes
    // inside the line.
    let room = limits.file_bytes.min(text.len());
    let lines_left =
        text.split_inclusive('\n').take(limits.file_lines).map(str::len).sum::<usize>();
    if bytes < room / 2 && lines_left > bytes {
        bytes = text.floor_char_boundary(room);
    }
    let extent = if bytes == text.len() { Extent::Whole } else { Extent::Cut };
    MemoryExcerpt { text: text.get(..bytes).unwrap_or_default(), extent }
}

/// The start and the end of what a program printed, at most so many bytes: what
/// failed is said in one of them (R17).
#[must_use]
pub fn both_ends(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let half = most / 2;
    let start = text.get(..text.floor_char_boundary(half)).unwrap_or_default();
    let end = text.get(text.ceil_char_boundary(text.len() - half)..).unwrap_or_default();
    format!("{start}\n{end}")
}

/// Whether so many more bytes of memories still fit into the session (R5).
/// `injected` is the sum over the messages that are still shown.
#[must_use]
pub fn fits_session(injected: usize, more: usize, limits: &RecallLimits) -> bool {
    injected.saturating_add(more) <= limits.session_bytes
}

/// Whether there is any use in looking for memories (R5).
#[must_use]
pub fn has_room(injected: usize, limits: &RecallLimits) -> bool {
    injected < limits.session_bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn r1_injected_and_one_word_messages_are_skipped() {
        assert!(is_worth_recalling("fix it", UserOrigin::Human));
        assert!(is_worth_recalling("東京へ", UserOrigin::Human));
        for text in ["", "  ", "yes", "ok!", "…", "/compact"] {
            assert!(!is_worth_recalling(text, UserOrigin::Human), "{text}");
        }
        for origin in [UserOrigin::Meta, UserOrigin::ToolResult, UserOrigin::CompactSummary] {
            assert!(!is_worth_recalling("fix the build", origin));
        }
    }

    #[test]
    fn r5_two_hundred_lines_or_4096_bytes_of_a_file() {
        let limits = RecallLimits::default();
        let lines = "x\n".repeat(300);
        assert_eq!(shown(&lines, &limits).text.lines().count(), 200);
        let wide = format!("{}\n", "y".repeat(99)).repeat(100);
        assert_eq!(shown(&wide, &limits).text.len(), 4_000);
        assert_eq!(shown("short", &limits).extent, Extent::Whole);
        assert_eq!(shown("", &limits).extent, Extent::Whole);
        assert_eq!(shown(&"é".repeat(4_000), &limits).text.len(), 4_096);
    }

    #[test]
    fn r5_a_session_ends_at_61440_bytes() {
        let limits = RecallLimits::default();
        assert!(fits_session(61_000, 440, &limits) && !fits_session(61_000, 441, &limits));
        assert!(has_room(61_439, &limits) && !has_room(61_440, &limits));
        assert!(!fits_session(usize::MAX, 1, &limits));
    }

    proptest! {
        #[test]
        fn r5_what_is_shown_is_a_beginning_within_the_limits(
            text in "[a-zé\n]{0,200}", file_lines in 0_usize..20, file_bytes in 0_usize..100,
        ) {
            let limits = RecallLimits { file_lines, file_bytes, ..RecallLimits::default() };
            let part = shown(&text, &limits);
            prop_assert!(text.starts_with(part.text) && part.text.len() <= file_bytes);
            prop_assert_eq!(part.extent == Extent::Whole, part.text == text);
        }
    }
}
