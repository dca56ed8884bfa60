//! A text in pages: numbered lines, none too long, as many as there is room
//! for and always at least one, so that reading on comes to the end.

use everfold_kernel::Limits;
use regex::Regex;

use crate::lines::{push_numbered, without_ending};

/// Characters that the note after a page may take.
const NOTE_CHARS: usize = 160;

/// Characters that the number of a line and its ends take.
const NUMBER_CHARS: usize = 8;

/// How much may be given at once.
pub(super) struct Room {
    /// Characters of a page.
    page: usize,
    /// Characters of a line.
    line: usize,
}

impl Room {
    pub(super) fn new(limits: &Limits) -> Self {
        let cap = usize::try_from(limits.offload.recall_chars).unwrap_or(usize::MAX);
        let page = cap.saturating_sub(NOTE_CHARS);
        let line = limits.read_line_chars.min(page.saturating_sub(NUMBER_CHARS)).max(1);
        Self { page, line }
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Page {
    /// Its lines, numbered.
    pub(super) text: String,
    /// The number of its first line.
    pub(super) first: u64,
    /// The number of its last line.
    pub(super) last: u64,
    /// How many lines it has.
    pub(super) count: u64,
    /// Where to go on, if there is more.
    pub(super) next: Option<u64>,
}

/// A text by its lines, overlong ones broken.
pub(super) struct Pages<'a> {
    lines: Vec<Vec<&'a str>>,
    total: u64,
}

impl<'a> Pages<'a> {
    pub(super) fn new(text: &'a str, room: &Room) -> Self {
        let lines: Vec<Vec<&str>> = text
            .split_inclusive('\n')
            .map(|line| broken(without_ending(line), room.line))
            .collect();
        let total = lines.iter().map(|pieces| pieces.len() as u64).sum();
        Self { lines, total }
    }

    /// How many lines there are.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// The lines from a number on.
    pub(super) fn page(&self, offset: u64, limit: Option<u64>, room: &Room) -> Page {
        let numbered = (1..).zip(self.lines.iter().flatten().copied());
        fill(numbered.filter(|(number, _)| *number >= offset), limit, room)
    }

    /// The lines from a number on in which a pattern begins to match.
    pub(super) fn search(
        &self,
        pattern: &Regex,
        offset: u64,
        limit: Option<u64>,
        room: &Room,
    ) -> Page {
        let mut before = 0;
        let numbered = self.lines.iter().flat_map(|pieces| {
            let first = before + 1;
            before += pieces.len() as u64;
            let hits = if before < offset { Vec::new() } else { matching(pieces, pattern) };
            (first..)
                .zip(pieces.iter().copied())
                .zip(hits)
                .filter_map(|(one, hit)| hit.then_some(one))
        });
        fill(numbered.filter(|(number, _)| *number >= offset), limit, room)
    }
}

/// A line in pieces of at most so many characters; an empty line is one piece.
fn broken(line: &str, max_chars: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = line;
    // Fewer bytes than the limit are never more characters.
    while rest.len() > max_chars {
        let split =
            rest.char_indices().nth(max_chars).and_then(|(at, _)| rest.split_at_checked(at));
        let Some((piece, tail)) = split else { break };
        pieces.push(piece);
        rest = tail;
    }
    pieces.push(rest);
    pieces
}

/// For each piece of a line, whether a match begins in it. The line is
/// searched whole: a match may go over the edge of a piece.
fn matching(pieces: &[&str], pattern: &Regex) -> Vec<bool> {
    let line = pieces.concat();
    let ends: Vec<usize> = pieces
        .iter()
        .scan(0, |end, piece| {
            *end += piece.len();
            Some(*end)
        })
        .collect();
    let mut hits = vec![false; pieces.len()];
    let last = pieces.len().saturating_sub(1);
    for found in pattern.find_iter(&line) {
        let at = ends.partition_point(|end| *end <= found.start()).min(last);
        if let Some(hit) = hits.get_mut(at) {
            *hit = true;
        }
    }
    hits
}

fn fill<'a>(lines: impl Iterator<Item = (u64, &'a str)>, limit: Option<u64>, room: &Room) -> Page {
    let mut page = Page::default();
    let mut used = 0;
    for (number, line) in lines {
        let digits = number.checked_ilog10().unwrap_or(0) as usize;
        let chars = NUMBER_CHARS.max(digits + 3) + line.chars().count();
        let is_full = page.count > 0 && used + chars > room.page;
        if is_full || limit.is_some_and(|limit| page.count >= limit) {
            page.next = Some(number);
            break;
        }
        if page.count == 0 {
            page.first = number;
        }
        push_numbered(&mut page.text, number, line, usize::MAX);
        (page.last, page.count, used) = (number, page.count + 1, used + chars);
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn room(page: usize, line: usize) -> Room {
        Room { page, line }
    }

    /// The lines of a page without their numbers.
    fn said(page: &Page) -> Vec<&str> {
        page.text.split('\n').map(|line| line.split_once('\t').unwrap().1).collect()
    }

    #[test]
    fn l1_8_a_match_over_the_edge_of_a_piece_is_found_where_it_begins() {
        let room = room(1_000, 4);
        let pages = Pages::new("abcdefgh\nxx\nDEF", &room);
        assert_eq!(pages.total(), 4);
        let pattern = Regex::new("(?i)def").unwrap();
        let page = pages.search(&pattern, 1, None, &room);
        assert_eq!(page.text, "     1\tabcd\n     4\tDEF");
        assert_eq!(pages.search(&pattern, 2, None, &room).first, 4);
        assert_eq!(pages.search(&pattern, 1, Some(1), &room).next, Some(4));
        let end = Regex::new("$").unwrap();
        assert_eq!(pages.search(&end, 1, None, &room).count, 3);
    }

    proptest! {
        #[test]
        fn l1_8_reading_on_gives_every_line_once(
            text in "[a-zé漢🦀\n\r]{0,300}", size in 12_usize..80, limit in 1_u64..9,
        ) {
            let room = room(size, (size - NUMBER_CHARS).max(1));
            let pages = Pages::new(&text, &room);
            let (mut lines, mut next) = (Vec::new(), Some(1));
            while let Some(offset) = next.filter(|_| pages.total() > 0) {
                let page = pages.page(offset, Some(limit), &room);
                prop_assert!(page.text.chars().count() <= size, "{page:?}");
                prop_assert!(page.first == offset && page.count >= 1 && page.count <= limit);
                lines.extend(said(&page).into_iter().map(str::to_owned));
                next = page.next;
            }
            prop_assert_eq!(lines.len() as u64, pages.total());
            let whole: String = text.split_inclusive('\n').map(without_ending).collect();
            prop_assert_eq!(lines.concat(), whole);
        }
    }
}
