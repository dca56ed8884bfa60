//! Breaking lines at a width, with their styles. Wide letters count as two
//! columns; a letter that is made of several characters is never torn.

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Columns of a tab.
const TAB: &str = "    ";

/// Breaks one line. What follows the first begins with `indent`.
pub(crate) fn wrap(line: &Line<'_>, width: u16, indent: &str) -> Vec<Line<'static>> {
    let mut out = Wrapping::new(usize::from(width.max(4)), indent);
    for span in &line.spans {
        for word in span.content.split_word_bounds() {
            if word == "\t" {
                out.word(TAB, span.style);
            } else if !word.chars().all(char::is_control) {
                out.word(word, span.style);
            }
        }
    }
    let style = line.style;
    out.end().into_iter().map(|line| line.style(style)).collect()
}

/// Breaks a text of one style.
pub(crate) fn text(text: &str, style: Style, width: u16, indent: &str) -> Vec<Line<'static>> {
    text.lines().flat_map(|line| wrap(&Line::styled(line, style), width, indent)).collect()
}

struct Wrapping<'a> {
    width: usize,
    indent: &'a str,
    done: Vec<Line<'static>>,
    now: Vec<Span<'static>>,
    used: usize,
}

impl<'a> Wrapping<'a> {
    fn new(width: usize, indent: &'a str) -> Self {
        Self { width, indent, done: Vec::new(), now: Vec::new(), used: 0 }
    }

    fn word(&mut self, word: &str, style: Style) {
        let columns = word.width();
        if self.used + columns <= self.width {
            self.push(word, columns, style);
            return;
        }
        if word.chars().all(char::is_whitespace) {
            // A blank at the end of a line is not seen.
            self.used = self.width;
            return;
        }
        if columns <= self.width - self.indent.width().min(self.width - 1) {
            self.turn();
            self.push(word, columns, style);
            return;
        }
        for letter in word.graphemes(true) {
            let columns = letter.width();
            if self.used + columns > self.width {
                self.turn();
            }
            self.push(letter, columns, style);
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
        self.done.push(Line::from(self.now));
        self.done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(line: &str, width: u16) -> Vec<String> {
        text(line, Style::new(), width, "  ").iter().map(ToString::to_string).collect()
    }

    #[test]
    fn q9_words_stay_whole_and_long_ones_are_cut() {
        assert_eq!(wrapped("one two three", 8), ["one two ", "  three"]);
        assert_eq!(wrapped("abcdefghijkl", 6), ["abcdef", "  ghij", "  kl"]);
    }

    #[test]
    fn q9_wide_letters_count_as_two() {
        assert_eq!(wrapped("日本語日本語", 6), ["日本語", "  日本", "  語"]);
    }

    #[test]
    fn s6_control_characters_do_not_reach_the_screen() {
        assert_eq!(wrapped("a\u{1b}[31mb\tc", 20), ["a[31mb    c"]);
    }
}
