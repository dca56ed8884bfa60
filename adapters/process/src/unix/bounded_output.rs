//! The start and the end of an output, with the middle dropped.

use std::collections::VecDeque;

/// Bytes of an output, as many as are kept.
#[derive(Debug)]
pub(super) struct BoundedOutput {
    head: Vec<u8>,
    head_room: usize,
    tail: VecDeque<u8>,
    tail_room: usize,
    dropped: u64,
}

impl BoundedOutput {
    /// Keeps at most `cap` bytes: half of them from the start.
    pub(super) fn new(cap: u64) -> Self {
        let cap = usize::try_from(cap).unwrap_or(usize::MAX);
        Self {
            head: Vec::new(),
            head_room: cap / 2,
            tail: VecDeque::new(),
            tail_room: cap - cap / 2,
            dropped: 0,
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        let room = self.head_room - self.head.len();
        let (head, rest) = bytes.split_at_checked(room).unwrap_or((bytes, &[]));
        self.head.extend_from_slice(head);
        self.tail.extend(rest);
        let over = self.tail.len().saturating_sub(self.tail_room);
        self.tail.drain(..over);
        self.dropped += over as u64;
    }

    /// The first line, once it is whole.
    pub(super) fn first_line(&self) -> Option<&[u8]> {
        let end = self.head.iter().position(|byte| *byte == b'\n')?;
        self.head.get(..end)
    }

    /// The text, with a note where the middle was, and how much that was.
    /// Characters that the cut went through go with the middle.
    pub(super) fn into_text(mut self) -> (String, u64) {
        let mut tail = Vec::from(self.tail);
        if self.dropped == 0 {
            self.head.append(&mut tail);
            return (String::from_utf8_lossy(&self.head).into_owned(), 0);
        }
        let torn = torn_end(&self.head);
        self.head.truncate(self.head.len() - torn);
        let inner = |byte: &&u8| (**byte & 0b1100_0000) == 0b1000_0000;
        let rest = tail.iter().take(3).take_while(inner).count();
        tail.drain(..rest);
        let dropped = self.dropped + (torn + rest) as u64;
        let text = format!(
            "{}\n[... {dropped} bytes dropped ...]\n{}",
            String::from_utf8_lossy(&self.head),
            String::from_utf8_lossy(&tail)
        );
        (text, dropped)
    }
}

/// The bytes of a character that was begun but not finished.
fn torn_end(bytes: &[u8]) -> usize {
    let last = bytes.utf8_chunks().last();
    let torn = last.map_or(0, |chunk| chunk.invalid().len());
    let begun =
        |tail: &[u8]| matches!(std::str::from_utf8(tail), Err(e) if e.error_len().is_none());
    let end = bytes.split_at_checked(bytes.len() - torn);
    match end {
        Some((_, tail)) if torn > 0 && begun(tail) => torn,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keep(cap: u64, pieces: &[&[u8]]) -> (String, u64) {
        let mut kept = BoundedOutput::new(cap);
        for piece in pieces {
            kept.push(piece);
        }
        kept.into_text()
    }

    #[test]
    fn q5_what_fits_is_whole() {
        assert_eq!(keep(10, &[b"abc", b"defg", b"hij"]), ("abcdefghij".into(), 0));
        assert_eq!(keep(0, &[]), (String::new(), 0));
        assert_eq!(keep(10, &[b"a\xffb"]), ("a\u{fffd}b".into(), 0));
    }

    #[test]
    fn q5_the_middle_is_dropped_and_counted() {
        let (text, dropped) = keep(4, &[b"abc", b"defg", b"hij"]);
        assert_eq!(text, "ab\n[... 6 bytes dropped ...]\nij");
        assert_eq!(dropped, 6);
        let (_, dropped) = keep(0, &[b"abc"]);
        assert_eq!(dropped, 3);
    }

    #[test]
    fn s6_characters_are_not_cut() {
        let (text, dropped) = keep(8, &["xxä€ä€ä€".as_bytes()]);
        assert!(!text.contains('\u{fffd}'), "{text}");
        let kept: usize = text.len() - format!("\n[... {dropped} bytes dropped ...]\n").len();
        assert_eq!(kept as u64 + dropped, "xxä€ä€ä€".len() as u64);
        let (text, _) = keep(4, &[b"a\xe2\x82zzzzz"]);
        assert!(text.starts_with("a\n"), "{text}");
    }
}
