//! Breaking lines at a width, with their styles. Wide letters count as two
//! columns; a letter that is made of several characters is never torn; no line
//! gets wider than asked for, whatever the text. What could steer a terminal
//! does not get through (S6).

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::borrow::Cow;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Columns of a tab.
const TAB: &str = "    ";

/// Breaks one line. What follows the first begins with `indent`.
pub(crate) fn wrap(line: &Line<'_>, width: u16, indent: &str) -> Vec<Line<'static>> {
    let width = usize::from(width.max(1));
    // An indent that leaves no room for text is none.
    let indent = if indent.width().saturating_mul(2) > width { "" } else { indent };
    let mut out = Wrapping::new(width, indent);
    for span in &line.spans {
        for part in clean(&span.content).split_word_bounds() {
            out.part(part, span.style);
        }
    }
    let style = line.style;
    out.end().into_iter().map(|line| line.style(style)).collect()
}

/// Breaks a text of one style.
pub(crate) fn text(text: &str, style: Style, width: u16, indent: &str) -> Vec<Line<'static>> {
    text.lines().flat_map(|line| wrap(&Line::styled(line, style), width, indent)).collect()
}

/// The start of a text in one line, with a mark where something is missing.
pub(crate) fn cut(text: &str, width: usize) -> String {
    // What is not seen need not be looked at: a letter takes a few bytes.
    let head = text.floor_char_boundary(text.len().min(width.saturating_mul(16).max(64)));
    let clean = clean(text.get(..head).unwrap_or_default());
    let whole = head == text.len();
    let (mut out, mut used) = (String::new(), 0);
    for letter in clean.graphemes(true) {
        let columns = letter.width();
        if used + columns > width {
            return shortened(out, width);
        }
        out.push_str(if letter == "\n" || letter == "\r\n" { " " } else { letter });
        used += columns;
    }
    if whole { out } else { shortened(out, width) }
}

fn shortened(mut text: String, width: usize) -> String {
    while !text.is_empty() && text.width() + 1 > width {
        let last = text.grapheme_indices(true).next_back().map_or(0, |(at, _)| at);
        text.truncate(last);
    }
    if width > 0 {
        text.push('…');
    }
    text
}

/// A text without what could steer a terminal; a tab becomes blanks, and a
/// line's end stays.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|letter| letter != '\n' && steers(letter)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\t' => out.push_str(TAB),
            '\n' => out.push('\n'),
            letter if steers(letter) => {}
            letter => out.push(letter),
        }
    }
    Cow::Owned(out)
}

/// Control characters, and those that turn the direction of what follows.
fn steers(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

struct Wrapping<'a> {
    width: usize,
    indent: &'a str,
    done: Vec<Line<'static>>,
    now: Vec<Span<'static>>,
    used: usize,
    /// The word that is not complete yet, whatever its styles.
    word: Vec<(String, Style)>,
}

impl<'a> Wrapping<'a> {
    fn new(width: usize, indent: &'a str) -> Self {
        Self { width, indent, done: Vec::new(), now: Vec::new(), used: 0, word: Vec::new() }
    }

    /// A part of a word, or what is between words. Wide letters stand alone:
    /// their languages need no blanks.
    fn part(&mut self, part: &str, style: Style) {
        if part.chars().all(char::is_whitespace) {
            self.end_word();
            let columns = part.width();
            if self.used + columns <= self.width {
                self.push(part, columns, style);
            } else {
                // A blank at the end of a line is not seen.
                self.used = self.width;
            }
            return;
        }
        let is_wide = part.width() > part.chars().count();
        if is_wide {
            self.end_word();
        }
        match self.word.last_mut() {
            Some((text, last)) if *last == style => text.push_str(part),
            _ => self.word.push((part.to_owned(), style)),
        }
        if is_wide {
            self.end_word();
        }
    }

    fn end_word(&mut self) {
        let word = std::mem::take(&mut self.word);
        let columns: usize = word.iter().map(|(part, _)| part.width()).sum();
        if self.used + columns > self.width && columns <= self.width - self.indent.width() {
            self.turn();
        }
        if self.used + columns <= self.width {
            for (part, style) in &word {
                self.push(part, part.width(), *style);
            }
            return;
        }
        for (part, style) in &word {
            self.letters(part, *style);
        }
    }

    /// A word that is longer than a line.
    fn letters(&mut self, word: &str, style: Style) {
        for letter in word.graphemes(true) {
            // A letter that is wider than the screen cannot be shown.
            let (letter, columns) = match letter.width() {
                columns if columns > self.width => ("?", 1),
                columns => (letter, columns),
            };
            if self.used + columns > self.width {
                self.turn();
            }
            if self.used + columns <= self.width {
                self.push(letter, columns, style);
            }
        }
    }

    fn push(&mut self, word: &str, columns: usize, style: Style) {
        self.used += columns;
        match self.now.last_mut() {
            Some(last) if last.style == style => last.content.to_mut().push_str(word),
            _ => self.now.push(Span::styled(word.to_owned(), style)),
        }
    }

    fn turn(&mut self) {
        self.done.push(Line::from(std::mem::take(&mut self.now)));
        self.used = 0;
        if !self.indent.is_empty() {
            let columns = self.indent.width();
            self.push(self.indent, columns, Style::new());
        }
    }

    fn end(mut self) -> Vec<Line<'static>> {
        self.end_word();
        self.done.push(Line::from(self.now));
        self.done
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wrapped(line: &str, width: u16) -> Vec<String> {
        text(line, Style::new(), width, "  ").iter().map(ToString::to_string).collect()
    }

    #[test]
    fn q9_words_stay_whole_and_long_ones_are_cut() {
        assert_eq!(wrapped("one two three", 8), ["one two ", "  three"]);
        assert_eq!(wrapped("abcdefghijkl", 6), ["abcdef", "  ghij", "  kl"]);
        assert_eq!(wrapped("call(a, b), or", 9), ["call(a, ", "  b), or"]);
    }

    #[test]
    fn q9_wide_letters_count_as_two() {
        assert_eq!(wrapped("日本語日本語", 6), ["日本語", "  日本", "  語"]);
        assert_eq!(wrapped("日本", 1), ["?", "?"]);
    }

    #[test]
    fn s6_control_characters_do_not_reach_the_screen() {
        assert_eq!(wrapped("a\u{1b}[31mb\tc\u{202e}d", 20), ["a[31mb    cd"]);
        assert_eq!(cut("a\u{1b}\u{200d}b\u{7}", 9), "a\u{200d}b");
    }

    #[test]
    fn q9_what_is_cut_says_so() {
        assert_eq!(cut("one\ntwo", 20), "one two");
        assert_eq!(cut("one two", 4), "one…");
        assert_eq!(cut("日本語", 4), "日…");
        assert_eq!(cut(&"a".repeat(5000), 10), "aaaaaaaaa…");
    }

    proptest! {
        #[test]
        fn q9_no_line_is_wider_than_asked(text in ".{0,80}", width in 1u16..200, indent in " {0,9}") {
            for line in wrap(&Line::raw(text.as_str()), width, &indent) {
                prop_assert!(line.width() <= usize::from(width), "{line:?}");
            }
            prop_assert!(cut(&text, usize::from(width)).width() <= usize::from(width));
        }
    }
}
