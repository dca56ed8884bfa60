//! A block of code between fences, line by line.

use super::{Page, code};
use ratatui::text::Line;

/// A fence that is open.
#[derive(Clone)]
pub(super) struct Fence {
    mark: char,
    length: usize,
    indent: usize,
    language: String,
    code: String,
    /// The line of the screen where it begins.
    first: usize,
}

impl Fence {
    /// The fence that opens with the first line of a text, and the bytes of
    /// that line.
    pub(super) fn open(text: &str) -> Option<(Self, usize)> {
        let end = text.find('\n')?;
        let line = text.get(..end)?;
        let body = line.trim_start_matches(' ');
        let indent = line.len() - body.len();
        let mark = body.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let info = body.trim_start_matches(mark);
        let length = body.len() - info.len();
        if indent > 3 || length < 3 || (mark == '`' && info.contains('`')) {
            return None;
        }
        let language = info.split_whitespace().next().unwrap_or_default().to_owned();
        Some((Self { mark, length, indent, language, code: String::new(), first: 0 }, end + 1))
    }

    /// The same at a line of the screen.
    pub(super) fn begins_at(self, first: usize) -> Self {
        Self { first, ..self }
    }

    /// The line of the screen where it begins.
    pub(super) fn first_line(&self) -> usize {
        self.first
    }

    /// Whether a line closes it.
    pub(super) fn closes(&self, line: &str) -> bool {
        let body = line.trim_start_matches(' ');
        let rest = body.trim_start_matches(self.mark);
        line.len() - body.len() <= 3
            && body.len() - rest.len() >= self.length
            && rest.trim_matches([' ', '\t', '\r']).is_empty()
    }

    /// Whether the start of a line may become one that closes it.
    pub(super) fn may_close(&self, line: &str) -> bool {
        line.trim_start_matches(' ').chars().all(|letter| letter == self.mark)
    }

    /// A line without the indent of the fence.
    pub(super) fn line<'a>(&self, line: &'a str) -> &'a str {
        let blanks = line.len() - line.trim_start_matches(' ').len();
        let line = line.get(blanks.min(self.indent)..).unwrap_or_default();
        line.strip_suffix('\r').unwrap_or(line)
    }

    /// Takes a line, and gives it as it is shown.
    pub(super) fn push<'a>(&mut self, line: &'a str) -> &'a str {
        let line = self.line(line);
        self.code.push_str(line);
        self.code.push('\n');
        line
    }

    /// Lays all of it out; says whether it waits for its colours.
    pub(super) fn lay(&self, lines: &mut Vec<Line<'static>>, page: Page) -> bool {
        code::lay(&self.language, &self.code, lines, page)
    }
}
