//! The bytes of a request, in parts.
//!
//! A long conversation is megabytes of text. It is rendered once; what is sent
//! shares those bytes instead of holding them a second time (E11).

use bytes::Bytes;
use std::fmt;
use std::ops::Range;

/// Bytes in parts, which copies and slices share.
#[derive(Clone, Default)]
pub struct RequestBody {
    parts: Vec<Bytes>,
    len: usize,
}

impl RequestBody {
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The parts in their order, none of them empty.
    #[must_use]
    pub fn parts(&self) -> &[Bytes] {
        &self.parts
    }

    /// Adds a part at the end.
    pub fn push(&mut self, part: impl Into<Bytes>) {
        let part = part.into();
        self.len += part.len();
        if !part.is_empty() {
            self.parts.push(part);
        }
    }

    /// Adds a part of another body; what is not there is left out.
    pub fn push_range(&mut self, from: &Self, range: Range<usize>) {
        let mut start = 0;
        for part in &from.parts {
            let end = start + part.len();
            let (first, last) = (range.start.max(start), range.end.min(end));
            if first < last {
                self.push(part.slice(first - start..last - start));
            }
            start = end;
        }
    }

    /// Forgets what stands behind the first bytes.
    pub fn truncate(&mut self, len: usize) {
        while self.len > len {
            let Some(mut last) = self.parts.pop() else { return };
            self.len -= last.len();
            last.truncate(len.saturating_sub(self.len));
            self.push(last);
        }
    }

    #[must_use]
    pub fn starts_with(&self, start: &[u8]) -> bool {
        self.bytes().zip(start).filter(|(own, other)| own == *other).count() == start.len()
    }

    #[must_use]
    pub fn ends_with(&self, end: &[u8]) -> bool {
        self.parts.last().is_some_and(|last| last.ends_with(end))
    }

    /// All of it in one piece: a copy, where it is in several.
    #[must_use]
    pub fn whole(&self) -> Bytes {
        match self.parts.as_slice() {
            [] => Bytes::new(),
            [one] => one.clone(),
            parts => parts.concat().into(),
        }
    }

    fn bytes(&self) -> impl Iterator<Item = u8> {
        self.parts.iter().flatten().copied()
    }
}

/// Two are the same if their bytes are, however they are cut.
impl PartialEq for RequestBody {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.bytes().eq(other.bytes())
    }
}

impl Eq for RequestBody {}

impl fmt::Debug for RequestBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.whole(), f)
    }
}

impl<T: Into<Bytes>> From<T> for RequestBody {
    fn from(part: T) -> Self {
        let mut body = Self::default();
        body.push(part);
        body
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(parts: &[&'static str]) -> RequestBody {
        let mut body = RequestBody::default();
        for part in parts {
            body.push(*part);
        }
        body
    }

    #[test]
    fn e11_parts_are_one_text() {
        let whole = body(&["one ", "", "two ", "three"]);
        assert_eq!((whole.len(), whole.parts().len()), (13, 3));
        assert_eq!(whole, RequestBody::from("one two three"));
        assert_ne!(whole, RequestBody::from("one two thrEe"));
        assert_eq!(whole.whole(), "one two three");
        assert!(whole.starts_with(b"one t") && !whole.starts_with(b"one three"));
        assert!(!RequestBody::default().starts_with(b"o") && whole.ends_with(b"ee"));
    }

    #[test]
    fn e11_every_cut_is_that_of_the_whole() {
        let text = "one two three";
        let parts = body(&["one ", "two ", "three"]);
        for end in 0..=text.len() + 1 {
            let mut cut = parts.clone();
            cut.truncate(end);
            assert_eq!(cut.whole(), text.get(..end.min(text.len())).unwrap());
            for start in 0..=end.min(text.len()) {
                let mut range = RequestBody::default();
                range.push_range(&parts, start..end);
                assert_eq!(range.whole(), text.get(start..end.min(text.len())).unwrap());
            }
        }
    }
}
