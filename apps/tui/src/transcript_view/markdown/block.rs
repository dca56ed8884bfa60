//! One block of Markdown as lines.

use super::table::Table;
use super::{Page, code, gap, options};
use crate::style::TextStyle;
use crate::wrap;
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Parser, Tag, TagEnd};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

/// Lays a block out; says whether code in it waits for its colours.
pub(super) fn lay(text: &str, lines: &mut Vec<Line<'static>>, page: Page) -> bool {
    if text.trim().is_empty() {
        return false;
    }
    let mut block = Block::new(page);
    for event in Parser::new_ext(text, options()) {
        block.event(event);
    }
    block.flush();
    if !block.lines.is_empty() {
        gap(lines);
        lines.append(&mut block.lines);
    }
    block.waits
}

/// What stands before the lines of a quote or an item.
struct Before {
    /// Before the first line, once.
    first: Option<Span<'static>>,
    /// Before the others.
    rest: Span<'static>,
}

struct Block {
    page: Page,
    lines: Vec<Line<'static>>,
    before: Vec<Before>,
    spans: Vec<Span<'static>>,
    styles: Vec<Style>,
    /// The next number of each list that is open; none for dots.
    lists: Vec<Option<u64>>,
    table: Option<Table>,
    /// Language and text of the code that is open.
    code: Option<(String, String)>,
    /// Where the link or picture leads that is open.
    links: Vec<String>,
    /// The next block has an empty line before it.
    apart: bool,
    waits: bool,
}

impl Block {
    fn new(page: Page) -> Self {
        Self {
            page,
            lines: Vec::new(),
            before: Vec::new(),
            spans: Vec::new(),
            styles: vec![Style::new()],
            lists: Vec::new(),
            table: None,
            code: None,
            links: Vec::new(),
            apart: false,
            waits: false,
        }
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some((_, code)) => code.push_str(&text),
                None => self.say(&text, self.style()),
            },
            Event::Code(text) => self.inline_code(&text),
            Event::Html(text) | Event::InlineHtml(text) => self.say(&text, self.page.theme.dim()),
            // Models break lines where they mean it.
            Event::SoftBreak | Event::HardBreak => {
                if self.table.is_none() {
                    self.flush();
                }
            }
            Event::Rule => {
                self.open_block();
                let rule = "─".repeat(usize::from(self.room()));
                self.spans.push(Span::styled(rule, self.page.theme.dim()));
                self.close_block();
            }
            Event::TaskListMarker(done) => {
                let (mark, look) =
                    if done { ("[x] ", TextStyle::Green) } else { ("[ ] ", TextStyle::Normal) };
                self.spans.push(Span::styled(mark, self.page.theme.style(look)));
            }
            Event::FootnoteReference(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.say(&text, self.style());
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        let theme = self.page.theme;
        match tag {
            Tag::Heading { level, .. } => {
                self.open_block();
                let style = match level {
                    HeadingLevel::H1 => theme.title().add_modifier(Modifier::UNDERLINED),
                    HeadingLevel::H2 => theme.title(),
                    _ => theme.style(TextStyle::Bold),
                };
                self.styles.push(style);
            }
            Tag::BlockQuote(_) => {
                self.open_block();
                let bar = Span::styled("│ ", theme.dim());
                self.before.push(Before { first: None, rest: bar });
            }
            Tag::CodeBlock(kind) => {
                self.open_block();
                let language = match kind {
                    CodeBlockKind::Fenced(info) => {
                        info.split_whitespace().next().unwrap_or_default().to_owned()
                    }
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some((language, String::new()));
            }
            Tag::List(number) => {
                self.flush();
                if self.lists.is_empty() {
                    self.open_block();
                }
                self.lists.push(number);
            }
            Tag::Item => self.item(),
            Tag::Table(alignments) => {
                self.open_block();
                self.table = Some(Table::new(alignments));
            }
            Tag::Emphasis => self.add(Modifier::ITALIC),
            Tag::Strong => self.add(Modifier::BOLD),
            Tag::Strikethrough => self.add(Modifier::CROSSED_OUT),
            Tag::Link { dest_url, .. } => {
                self.links.push(dest_url.into_string());
                self.styles.push(self.style().patch(theme.link()));
            }
            Tag::Image { dest_url, .. } => {
                self.links.push(dest_url.into_string());
                self.say("[picture] ", theme.dim());
                self.styles.push(self.style().patch(theme.link()));
            }
            Tag::Paragraph | Tag::HtmlBlock => self.open_block(),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.close_block(),
            TagEnd::Heading(_) => {
                self.close_block();
                self.styles.pop();
            }
            TagEnd::BlockQuote(_) => {
                self.close_block();
                self.before.pop();
            }
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::List(_) => {
                self.flush();
                self.lists.pop();
                self.apart |= self.lists.is_empty();
            }
            TagEnd::Item => {
                if self.before.last().is_some_and(|before| before.first.is_some()) {
                    // An item without words still has its mark.
                    self.spans.push(Span::raw(""));
                }
                self.flush();
                self.before.pop();
            }
            TagEnd::Table => self.end_table(),
            TagEnd::TableCell => {
                let spans = std::mem::take(&mut self.spans);
                if let Some(table) = &mut self.table {
                    table.cell(spans);
                }
            }
            TagEnd::TableHead | TagEnd::TableRow => {
                if let Some(table) = &mut self.table {
                    table.end_row();
                }
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.styles.pop();
            }
            TagEnd::Link | TagEnd::Image => self.end_link(),
            _ => {}
        }
    }

    fn item(&mut self) {
        self.flush();
        if self.apart {
            self.empty_line();
        }
        let nested = self.lists.len() > 1;
        let mark = match self.lists.last_mut() {
            Some(Some(number)) => {
                let mark = format!("{number}. ");
                *number += 1;
                mark
            }
            _ if nested => "◦ ".to_owned(),
            _ => "• ".to_owned(),
        };
        let rest = Span::raw(" ".repeat(mark.width()));
        let first = Some(Span::styled(mark, self.page.theme.accent()));
        self.before.push(Before { first, rest });
    }

    fn end_code(&mut self) {
        let Some((language, text)) = self.code.take() else { return };
        let mut lines = Vec::new();
        let page = Page { width: self.room(), ..self.page };
        self.waits |= code::lay(&language, &text, &mut lines, page);
        for line in lines {
            self.put(line);
        }
        self.apart = true;
    }

    fn end_table(&mut self) {
        let Some(table) = self.table.take() else { return };
        for line in table.lines(self.room(), self.page.theme) {
            self.put(line);
        }
        self.apart = true;
    }

    fn end_link(&mut self) {
        self.styles.pop();
        let Some(url) = self.links.pop() else { return };
        let shown = self.spans.last().is_some_and(|span| {
            span.content == url || url.strip_prefix("mailto:") == Some(&*span.content)
        });
        if !shown && !url.is_empty() {
            self.say(&format!(" ({url})"), self.page.theme.dim());
        }
    }

    fn inline_code(&mut self, text: &str) {
        let theme = self.page.theme;
        if theme.has_colours() {
            self.say(text, self.style().patch(theme.inline_code()));
        } else {
            self.say(&format!("`{text}`"), self.style());
        }
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or_default()
    }

    fn add(&mut self, modifier: Modifier) {
        self.styles.push(self.style().add_modifier(modifier));
    }

    fn say(&mut self, text: &str, style: Style) {
        for (at, part) in text.split('\n').enumerate() {
            if at > 0 {
                self.flush();
            }
            if !part.is_empty() {
                self.spans.push(Span::styled(part.to_owned(), style));
            }
        }
    }

    /// Columns that are left beside what stands before a line.
    fn room(&self) -> u16 {
        let taken: usize = self.before.iter().map(|before| before.rest.width()).sum();
        let taken = u16::try_from(taken).unwrap_or(u16::MAX);
        // Where nesting leaves no room, what stands before gives way.
        match self.page.width.saturating_sub(taken) {
            0..4 => self.page.width,
            room => room,
        }
    }

    fn open_block(&mut self) {
        self.flush();
        if std::mem::take(&mut self.apart) {
            self.empty_line();
        }
    }

    fn close_block(&mut self) {
        self.flush();
        self.apart = true;
    }

    fn empty_line(&mut self) {
        self.apart = false;
        let inside = self.before.iter().map(|before| before.rest.clone()).collect::<Vec<_>>();
        let line = Line::from(inside);
        let blank = line.spans.iter().all(|span| span.content.trim().is_empty());
        let fits = line.width() <= usize::from(self.page.width);
        self.lines.push(if blank || !fits { Line::default() } else { line });
    }

    /// Breaks what was said since the last line.
    fn flush(&mut self) {
        if self.spans.is_empty() || self.table.is_some() {
            return;
        }
        let line = Line::from(std::mem::take(&mut self.spans));
        for line in wrap::wrap(&line, self.room(), "") {
            self.put(line);
        }
    }

    /// Adds a line, with what stands before it.
    fn put(&mut self, mut line: Line<'static>) {
        let mut spans: Vec<Span<'static>> = Vec::new();
        for before in &mut self.before {
            spans.push(before.first.take().unwrap_or_else(|| before.rest.clone()));
        }
        let taken: usize = spans.iter().map(Span::width).sum();
        if taken + line.width() <= usize::from(self.page.width) {
            spans.append(&mut line.spans);
            line.spans = spans;
        }
        self.lines.push(line);
    }
}
