//! What of a line that is being edited was pasted (L5.33).
//!
//! A surface tells the text after every change, and which changes were pastes.
//! What changed is found by comparing: the surface need not know how its editor
//! moves, deletes, undoes and yanks.

use crate::session::queue::Waiting;
use std::collections::VecDeque;
use std::ops::Range;

/// Pastes that are known again when they come back, by a yank or from the
/// history.
const KNOWN: usize = 64;
/// A paste within a longer text is known again from so many bytes on.
const KNOWN_BYTES: usize = 8;

/// Follows a line that is being edited.
///
/// ```
/// use everfold_engine::Pasted;
///
/// let mut line = Pasted::default();
/// line.edited("fix: ");
/// line.pasted("fix: boom");
/// line.edited("do fix: boom");
/// assert_eq!(line.ranges(), [8..12]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Pasted {
    text: String,
    /// In order and apart.
    ranges: Vec<Range<usize>>,
    known: VecDeque<String>,
}

/// A change of a text: bytes that went, and bytes that stand there now.
struct Change {
    gone: Range<usize>,
    come: Range<usize>,
}

impl Pasted {
    /// The person typed, deleted, or brought back something: the line is this
    /// now. A change inside of what was pasted leaves it pasted.
    pub fn edited(&mut self, text: &str) {
        let Some(change) = self.follow(text) else { return };
        let come = text.get(change.come.clone()).unwrap_or_default();
        // One character is a key; more may have been pasted before.
        if come.chars().nth(1).is_none() {
            return;
        }
        if self.known.iter().any(|paste| paste.contains(come)) {
            self.add(change.come);
            return;
        }
        let long = self.known.iter().filter(|paste| paste.len() >= KNOWN_BYTES);
        let found: Vec<Range<usize>> = long
            .flat_map(|paste| come.match_indices(paste.as_str()))
            .map(|(at, paste)| change.come.start + at..change.come.start + at + paste.len())
            .collect();
        for range in found {
            self.add(range);
        }
    }

    /// Something was pasted: the line is this now.
    pub fn pasted(&mut self, text: &str) {
        if let Some(change) = self.follow(text) {
            self.know(text.get(change.come.clone()).unwrap_or_default());
            self.add(change.come);
        }
    }

    /// Remembers a text that was pasted, whatever the line shows of it.
    pub fn know(&mut self, paste: &str) {
        let paste = paste.trim();
        if paste.is_empty() || self.known.iter().any(|known| known == paste) {
            return;
        }
        self.known.push_back(paste.to_owned());
        if self.known.len() > KNOWN {
            self.known.pop_front();
        }
    }

    /// The bytes that were pasted, in order.
    #[must_use]
    pub fn ranges(&self) -> &[Range<usize>] {
        &self.ranges
    }

    /// The line, in which words stand for texts that were pasted.
    #[must_use]
    pub fn in_full<'a>(&self, words: impl IntoIterator<Item = (&'a str, &'a str)>) -> Waiting {
        let mut full = Self { known: VecDeque::new(), ..self.clone() };
        for (word, paste) in words {
            let mut from = 0;
            while let Some(at) = full.text.get(from..).and_then(|rest| rest.find(word)) {
                let (start, end) = (from + at, from + at + word.len());
                full.text.replace_range(start..end, paste);
                from = start + paste.len();
                full.shift(&Change { gone: start..end, come: start..from });
                full.add(start..from);
            }
        }
        Waiting { text: full.text, pasted: full.ranges }
    }

    /// Takes the text over, and says what changed of it.
    fn follow(&mut self, text: &str) -> Option<Change> {
        if self.text == text {
            return None;
        }
        let same = |(a, b): &(char, char)| a == b;
        let start: usize =
            self.text.chars().zip(text.chars()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
        let (old, new) = (self.text.get(start..)?, text.get(start..)?);
        let both = old.chars().rev().zip(new.chars().rev());
        let end: usize = both.take_while(same).map(|(c, _)| c.len_utf8()).sum();
        let change = Change { gone: start..self.text.len() - end, come: start..text.len() - end };
        text.clone_into(&mut self.text);
        self.shift(&change);
        Some(change)
    }

    /// Moves the ranges along with a change.
    fn shift(&mut self, change: &Change) {
        let Change { gone, come } = change;
        let later = |at: usize| at - gone.end + come.end;
        let moved = self.ranges.iter().filter_map(|range| {
            let inside = gone.start > range.start && gone.end < range.end;
            let at_edge = !gone.is_empty() && gone.start >= range.start && gone.end <= range.end;
            Some(if gone.end <= range.start {
                later(range.start)..later(range.end)
            } else if gone.start >= range.end {
                range.clone()
            } else if gone.start <= range.start && gone.end >= range.end {
                return None;
            } else if inside || at_edge {
                range.start..later(range.end)
            } else if gone.start < range.start {
                come.end..later(range.end)
            } else {
                range.start..gone.start
            })
        });
        self.ranges = moved.filter(|range| !range.is_empty()).collect();
    }

    fn add(&mut self, range: Range<usize>) {
        self.ranges.push(range);
        self.ranges.sort_by_key(|range| range.start);
        let mut own: Vec<Range<usize>> = Vec::new();
        for range in self.ranges.drain(..).filter(|range| !range.is_empty()) {
            match own.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => own.push(range),
            }
        }
        self.ranges = own;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(line: &Pasted) -> Vec<&str> {
        line.ranges.iter().map(|range| line.text.get(range.clone()).unwrap()).collect()
    }

    #[test]
    fn l5_33_a_pasted_range_follows_what_is_typed_around_and_inside_it() {
        let mut line = Pasted::default();
        line.edited("see  ok");
        line.pasted("see boom ok");
        assert_eq!(shown(&line), ["boom"]);
        line.edited("sée boom ok");
        line.edited("sée bo-om ok");
        assert_eq!(shown(&line), ["bo-om"]);
        line.edited("sée bo-om! ok");
        assert_eq!(shown(&line), ["bo-om"], "what is typed behind it is typed");
        line.edited("sée o-om! ok");
        line.edited("sée o! ok");
        assert_eq!(shown(&line), ["o"]);
        line.edited("sée ! ok");
        assert!(line.ranges().is_empty());
    }

    #[test]
    fn l5_33_a_paste_that_comes_back_is_still_pasted() {
        let mut line = Pasted::default();
        line.pasted("curl it | sh");
        line.edited("");
        line.edited("curl it | sh");
        assert_eq!(shown(&line), ["curl it | sh"], "yanked back");
        line.edited("");
        line.edited("please do curl it | sh now");
        assert_eq!(shown(&line), ["curl it | sh"], "out of the history");
        line.edited("");
        line.edited("c");
        assert!(line.ranges().is_empty(), "a key is typed, whatever was pasted");
    }

    #[test]
    fn l5_33_a_word_that_stands_for_a_paste_is_pasted_in_full() {
        let mut line = Pasted::default();
        line.edited("look at  and ");
        line.pasted("look at [paste 1] and ");
        line.pasted("look at [paste 1] and this");
        let full = line.in_full([("[paste 1]", "a\nb")]);
        assert_eq!(
            full,
            Waiting { text: "look at a\nb and this".into(), pasted: vec![8..11, 16..20] }
        );
    }

    proptest! {
        #[test]
        fn l5_33_ranges_are_always_in_order_and_within_the_text(
            texts in prop::collection::vec(("[aéb ]{0,8}", any::<bool>()), 0..12)
        ) {
            let mut line = Pasted::default();
            for (text, pasted) in texts {
                if pasted { line.pasted(&text) } else { line.edited(&text) }
                let mut end = 0;
                for range in line.ranges() {
                    prop_assert!(range.start >= end && range.start < range.end);
                    prop_assert!(text.get(range.clone()).is_some(), "{:?}", line);
                    end = range.end;
                }
            }
        }
    }
}
