//! Searching the conversation, folded things too.

use super::TranscriptView;
use crate::theme::Theme;
use std::ops::Range;

/// A search that goes on.
pub(super) struct Search {
    /// In lower case, if it has no upper case.
    needle: String,
    /// Where the last one was found.
    at: Option<(usize, usize)>,
    from: usize,
}

impl Search {
    pub(super) fn needle(&self) -> &str {
        &self.needle
    }
}

impl TranscriptView {
    /// Begins a search, or changes what is searched for: the nearest before
    /// here is shown. Says whether there is one.
    pub(crate) fn search(&mut self, needle: &str, theme: Theme) -> bool {
        let from = match &self.search {
            Some(search) => search.from,
            None => self.chosen.unwrap_or(self.cells.len().saturating_sub(1)),
        };
        self.search = Some(Search { needle: needle.to_owned(), at: None, from });
        needle.is_empty() || self.find(-1, theme)
    }

    pub(crate) fn searched(&self) -> Option<&str> {
        self.search.as_ref().map(Search::needle)
    }

    pub(crate) fn end_search(&mut self) {
        self.search = None;
    }

    /// Shows the next one before or after; says whether there is one.
    pub(crate) fn find(&mut self, step: isize, theme: Theme) -> bool {
        let Some(search) = self.search.take() else { return false };
        let found = self.find_line(&search, step, theme);
        if let Some((cell, line)) = found {
            self.chosen = Some(cell);
            self.show_line(cell, line, theme);
        }
        self.search = Some(Search { at: found.or(search.at), ..search });
        found.is_some()
    }

    fn find_line(&mut self, search: &Search, step: isize, theme: Theme) -> Option<(usize, usize)> {
        let count = self.cells.len();
        let (start, line) =
            search.at.map_or((search.from, None), |(cell, line)| (cell, Some(line)));
        // First the rest of the cell where the last one was, then the others,
        // and in the end that cell again.
        for distance in 0..=count {
            let at = if step < 0 { start + count - distance } else { start + distance };
            let at = at.checked_rem(count)?;
            let after = if distance == 0 { line } else { None };
            if let Some(found) = self.find_in(at, &search.needle, step, after, theme) {
                return Some((at, found));
            }
        }
        None
    }

    /// A line of a cell that has the needle; the first line where it is not
    /// seen because a line was broken in it.
    fn find_in(
        &mut self,
        at: usize,
        needle: &str,
        step: isize,
        after: Option<usize>,
        theme: Theme,
    ) -> Option<usize> {
        let width = self.area.width;
        let cell = self.cells.get_mut(at)?;
        if !cell.has(&|text| find(text, needle, 0).is_some()) {
            return None;
        }
        let mut found = lines_with(cell.lines(width, theme), needle);
        if found.is_empty() && after.is_none() {
            cell.set_open(true);
            found = lines_with(cell.lines(width, theme), needle);
            if found.is_empty() {
                return Some(0);
            }
        }
        match (after, step < 0) {
            (None, true) => found.last().copied(),
            (None, false) => found.first().copied(),
            (Some(last), true) => found.iter().rev().copied().find(|line| *line < last),
            (Some(last), false) => found.iter().copied().find(|line| *line > last),
        }
    }
}

fn lines_with(lines: &[ratatui::text::Line<'_>], needle: &str) -> Vec<usize> {
    let with = |(at, line): (usize, &ratatui::text::Line<'_>)| {
        find(&line.to_string(), needle, 0).map(|_| at)
    };
    lines.iter().enumerate().filter_map(with).collect()
}

/// Finds a needle from a byte on. Without a capital in it, capitals do not
/// matter; letters outside of ASCII have to be as they are.
pub(super) fn find(text: &str, needle: &str, from: usize) -> Option<Range<usize>> {
    if needle.is_empty() {
        return None;
    }
    let rest = text.as_bytes().get(from..)?;
    let exact = needle.chars().any(char::is_uppercase);
    let at = if exact {
        text.get(from..)?.find(needle)?
    } else {
        rest.windows(needle.len()).position(|part| part.eq_ignore_ascii_case(needle.as_bytes()))?
    };
    let start = from + at;
    let range = start..start + needle.len();
    // Bytes that match are whole letters, as the needle is.
    text.is_char_boundary(range.start).then_some(range)
}

#[cfg(test)]
mod tests {
    use super::find;

    #[test]
    fn q9_a_search_minds_capitals_only_where_it_has_some() {
        assert_eq!(find("The End, the end", "the", 0), Some(0..3));
        assert_eq!(find("The End, the end", "the", 3), Some(9..12));
        assert_eq!(find("The End, the end", "End", 0), Some(4..7));
        assert_eq!(find("über Über", "über", 5), None);
        assert_eq!(find("abc", "", 0), None);
    }
}
