//! Markdown as lines of the screen, while it still arrives.
//!
//! A text is laid out block by block. A block that another one follows cannot
//! change any more, however the text goes on: its lines stay as they are, and
//! only what comes after it is laid out again with the next piece. In an open
//! block of code that holds for each line. Each block is read by itself, so
//! that the lines do not depend on the pieces in which the text came.

use crate::theme::Theme;
use fence::Fence;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use ratatui::text::Line;

mod block;
mod code;
mod fence;
mod mend;
mod table;

pub(crate) use code::lines as code_lines;
pub(crate) use code::spans as code_spans;

/// Whether more of a text is to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// More may come: what is not closed yet is shown as if it were.
    Open,
    Ended,
}

/// How a text is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Page {
    pub(crate) width: u16,
    pub(crate) theme: Theme,
}

/// Code by itself, in its colours as soon as they are known.
pub(crate) fn code_block(
    language: &str,
    text: &str,
    width: u16,
    theme: Theme,
) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    code::lay(language, text, &mut lines, Page { width, theme });
    lines
}

/// A text, and how far it is laid out for good.
pub(crate) struct Markdown {
    text: String,
    flow: Flow,
    page: Option<Page>,
    /// Bytes whose lines stay.
    settled: usize,
    /// How many lines those are.
    solid: usize,
    /// The block of code that is open there.
    fence: Option<Fence>,
    /// Whether code waits for its colours.
    waits: bool,
}

impl Markdown {
    pub(crate) fn new(text: impl Into<String>, flow: Flow) -> Self {
        let text = text.into();
        Self { text, flow, page: None, settled: 0, solid: 0, fence: None, waits: false }
    }

    /// The text as it came.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn push(&mut self, more: &str) {
        self.text.push_str(more);
    }

    /// No more will come.
    pub(crate) fn end(&mut self) {
        self.flow = Flow::Ended;
    }

    /// Whether it is to be laid out anew when colours are there.
    pub(crate) fn waits(&self) -> bool {
        self.waits
    }

    /// The code in it, if there is some.
    pub(crate) fn code(&self) -> Option<String> {
        let mut code: Option<String> = None;
        let mut inside = false;
        for event in Parser::new_ext(&self.text, options()) {
            match event {
                Event::Start(Tag::CodeBlock(_)) => inside = true,
                Event::End(TagEnd::CodeBlock) => inside = false,
                Event::Text(text) if inside => code.get_or_insert_default().push_str(&text),
                _ => {}
            }
        }
        code
    }

    /// Everything is laid out anew the next time.
    pub(crate) fn forget(&mut self) {
        self.page = None;
    }

    /// Brings `lines`, which nobody else changes, up to date.
    pub(crate) fn lay(&mut self, lines: &mut Vec<Line<'static>>, page: Page) {
        if self.page != Some(page) {
            self.page = Some(page);
            (self.settled, self.solid, self.fence, self.waits) = (0, 0, None, false);
        }
        lines.truncate(self.solid);
        self.settle(lines, page);
        self.solid = lines.len();
        self.tail(lines, page);
    }

    /// Lays out what cannot change any more.
    fn settle(&mut self, lines: &mut Vec<Line<'static>>, page: Page) {
        loop {
            self.settle_code(lines, page);
            if self.fence.is_some() {
                return;
            }
            let Some(rest) = self.text.get(self.settled..) else { return };
            // A line that is not complete may turn out to be anything.
            let complete = rest.rfind('\n').map_or(0, |end| end + 1);
            let starts = starts(rest.get(..complete).unwrap_or_default());
            let mut from = 0;
            let mut opened = None;
            for (at, start) in starts.iter().enumerate() {
                let block = rest.get(*start..complete).unwrap_or_default();
                if let Some((fence, length)) = Fence::open(block) {
                    opened = Some((fence, start + length));
                    break;
                }
                let Some(next) = starts.get(at + 1) else { break };
                let block = rest.get(from..*next).unwrap_or_default();
                self.waits |= block::lay(block, lines, page);
                from = *next;
            }
            let Some((fence, length)) = opened else {
                self.settled += from;
                return;
            };
            self.settled += length;
            gap(lines);
            self.fence = Some(fence.begins_at(lines.len()));
        }
    }

    /// Lays out the complete lines of the block of code that is open.
    fn settle_code(&mut self, lines: &mut Vec<Line<'static>>, page: Page) {
        while let Some(fence) = &mut self.fence {
            let Some(rest) = self.text.get(self.settled..) else { return };
            let Some(end) = rest.find('\n') else { return };
            let line = rest.get(..end).unwrap_or_default();
            self.settled += end + 1;
            if fence.closes(line) {
                // Now that it is whole it gets its colours.
                lines.truncate(fence.first_line());
                self.waits |= fence.lay(lines, page);
                self.fence = None;
            } else {
                lines.extend(code_lines(fence.push(line), None, page));
            }
        }
    }

    /// Lays out what may still change.
    fn tail(&mut self, lines: &mut Vec<Line<'static>>, page: Page) {
        let rest = self.text.get(self.settled..).unwrap_or_default();
        if let Some(fence) = &self.fence {
            if self.flow == Flow::Ended {
                let mut fence = fence.clone();
                if !fence.closes(rest) && !rest.is_empty() {
                    fence.push(rest);
                }
                lines.truncate(fence.first_line());
                self.solid = lines.len();
                self.waits |= fence.lay(lines, page);
                // The next time begins with the whole block again.
                self.page = None;
            } else if !fence.may_close(rest) && !rest.is_empty() {
                lines.extend(code_lines(fence.line(rest), None, page));
            }
            return;
        }
        match self.flow {
            Flow::Ended => self.waits |= lay_blocks(rest, lines, page),
            Flow::Open => {
                lay_blocks(&mend::mended(rest), lines, page);
            }
        }
    }
}

/// Lays out blocks one by one; says whether code waits for colours.
fn lay_blocks(text: &str, lines: &mut Vec<Line<'static>>, page: Page) -> bool {
    let mut waits = false;
    let starts = starts(text);
    let mut from = 0;
    for next in starts.iter().skip(1).copied().chain([text.len()]) {
        waits |= block::lay(text.get(from..next).unwrap_or_default(), lines, page);
        from = next;
    }
    waits
}

/// An empty line between blocks.
fn gap(lines: &mut Vec<Line<'static>>) {
    if !lines.is_empty() {
        lines.push(Line::default());
    }
}

fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS
}

/// Where the blocks of a text begin, at the start of a line each.
fn starts(text: &str) -> Vec<usize> {
    let mut starts: Vec<usize> = Vec::new();
    let mut depth = 0_usize;
    for (event, range) in Parser::new_ext(text, options()).into_offset_iter() {
        let begins = match event {
            Event::Start(_) => {
                depth += 1;
                depth == 1
            }
            Event::End(_) => {
                depth = depth.saturating_sub(1);
                false
            }
            _ => depth == 0,
        };
        if begins {
            let before = text.get(..range.start).unwrap_or_default();
            starts.push(before.rfind('\n').map_or(0, |at| at + 1));
        }
    }
    starts.dedup();
    starts
}

#[cfg(test)]
mod tests;
