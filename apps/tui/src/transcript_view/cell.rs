//! One thing of the conversation: something said, a call, a notice.

use super::asides::{self, Ruler, Thought};
use super::highlight;
use super::markdown::{Flow, Markdown, Page};
use super::tool::ToolCall;
use crate::style::TextStyle;
use crate::theme::Theme;
use crate::wrap;
use everfold_agent::engine::event::Finder;
use everfold_kernel::ports::Kept;
use ratatui::text::{Line, Span};
use std::path::PathBuf;

/// What a cell shows.
pub(crate) enum Kind {
    /// What the person said.
    Person(String),
    /// What the model said.
    Answer(Box<Markdown>),
    /// What the model thought.
    Thinking(Thought),
    /// A call of a tool.
    Tool(Box<ToolCall>),
    Compacted(Box<Ruler>),
    /// Memories that were brought in.
    Recalled(Vec<PathBuf>),
    /// Memories that were kept.
    Remembered(Vec<Kept>, Finder),
    /// Something beside the conversation.
    Aside(String),
    /// What a command or the program says.
    Notice(Vec<(TextStyle, String)>),
}

/// A cell, and its lines at the width that was asked for last.
pub(crate) struct Cell {
    kind: Kind,
    open: bool,
    /// Whether it stands right below the one before.
    close: bool,
    laid: Option<Laid>,
}

struct Laid {
    page: Page,
    lines: Vec<Line<'static>>,
    /// Something was added since.
    stale: bool,
    /// Code waits for colours that were not known at this generation.
    waits: Option<u64>,
}

impl Cell {
    /// A cell, folded where it can be.
    pub(crate) fn new(kind: Kind) -> Self {
        Self { kind, open: false, close: false, laid: None }
    }

    /// The answer that this text is.
    pub(crate) fn answer(text: impl Into<String>) -> Self {
        Self::new(Kind::Answer(Box::new(Markdown::new(text, Flow::Ended))))
    }

    /// The same after another one: small things in a row stand close.
    pub(crate) fn after(mut self, before: Option<&Self>) -> Self {
        self.close = match before {
            None => true,
            Some(before) => before.is_small() && self.is_small(),
        };
        self
    }

    fn is_small(&self) -> bool {
        !matches!(
            self.kind,
            Kind::Person(_) | Kind::Answer(_) | Kind::Compacted(_) | Kind::Notice(_)
        )
    }

    pub(crate) fn kind(&self) -> &Kind {
        &self.kind
    }

    /// What it shows, to change it.
    pub(crate) fn change(&mut self) -> &mut Kind {
        if let Some(laid) = &mut self.laid {
            laid.stale = true;
        }
        &mut self.kind
    }

    /// Whether it is unfolded.
    pub(crate) fn is_open(&self) -> bool {
        self.open
    }

    /// Folds or unfolds it.
    pub(crate) fn set_open(&mut self, open: bool) {
        if self.open != open {
            self.open = open;
            self.forget();
        }
    }

    /// Forgets its lines; they are made again when they are seen.
    pub(crate) fn forget(&mut self) {
        self.laid = None;
        if let Kind::Answer(text) = &mut self.kind {
            text.forget();
        }
    }

    /// Whether its lines are there.
    #[cfg(test)]
    pub(crate) fn is_laid(&self) -> bool {
        self.laid.is_some()
    }

    /// Whether it is the call of this id.
    pub(crate) fn is_tool(&self, id: &str) -> bool {
        matches!(&self.kind, Kind::Tool(call) if call.id == id)
    }

    /// Its lines at a width, with an empty one before them where it stands apart.
    pub(crate) fn lines(&mut self, width: u16, theme: Theme) -> &[Line<'static>] {
        let page = Page { width, theme };
        let fresh = self.laid.as_ref().is_some_and(|laid| {
            laid.page == page
                && !laid.stale
                && laid.waits.is_none_or(|generation| generation == highlight::generation())
        });
        if !fresh {
            self.lay(page);
        }
        self.laid.as_ref().map_or(&[], |laid| &laid.lines)
    }

    fn lay(&mut self, page: Page) {
        let generation = highlight::generation();
        let before = self.laid.take();
        let mut waits = false;
        let first = usize::from(!self.close);
        let mut lines = match &mut self.kind {
            Kind::Answer(text) => {
                let coloured = before.as_ref().is_some_and(|laid| laid.waits != Some(generation));
                let mut lines = match before {
                    // The empty line before is not the text's.
                    Some(laid) if laid.page == page => laid.lines.into_iter().skip(first).collect(),
                    _ => Vec::new(),
                };
                if lines.is_empty() || (text.waits() && coloured) {
                    text.forget();
                }
                text.lay(&mut lines, page);
                waits = text.waits();
                lines
            }
            kind => lay(kind, self.open, page),
        };
        if !self.close {
            lines.insert(0, Line::default());
        }
        self.laid = Some(Laid { page, lines, stale: false, waits: waits.then_some(generation) });
    }

    /// Its words, to be copied.
    pub(crate) fn words(&self) -> String {
        match &self.kind {
            Kind::Person(text) | Kind::Aside(text) => text.clone(),
            Kind::Answer(text) => text.text().to_owned(),
            Kind::Thinking(thought) => thought.text.clone(),
            Kind::Tool(call) => call.words(),
            Kind::Notice(parts) => parts.iter().map(|(_, text)| text.as_str()).collect(),
            Kind::Compacted(ruler) => ruler.words(),
            Kind::Recalled(paths) => asides::names(paths),
            Kind::Remembered(kept, _) => asides::names(&paths_of(kept)),
        }
    }

    /// What a program would want of it: code, a result, or all of it.
    pub(crate) fn matter(&self) -> String {
        match &self.kind {
            Kind::Answer(text) => text.code().unwrap_or_else(|| text.text().to_owned()),
            Kind::Tool(call) => call.answer().to_owned(),
            _ => self.words(),
        }
    }

    /// Whether one of its texts, folded ones too, is what is looked for.
    pub(crate) fn has(&self, found: &dyn Fn(&str) -> bool) -> bool {
        match &self.kind {
            Kind::Person(text) | Kind::Aside(text) => found(text),
            Kind::Answer(text) => found(text.text()),
            Kind::Thinking(thought) => found(&thought.text),
            Kind::Tool(call) => call.has(found),
            Kind::Notice(parts) => parts.iter().any(|(_, text)| found(text)),
            _ => found(&self.words()),
        }
    }

    /// The files that it names.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        match &self.kind {
            Kind::Recalled(paths) => paths.clone(),
            Kind::Remembered(kept, _) => paths_of(kept),
            Kind::Tool(call) => call.file().into_iter().collect(),
            _ => Vec::new(),
        }
    }
}

fn lay(kind: &Kind, open: bool, Page { width, theme }: Page) -> Vec<Line<'static>> {
    match kind {
        Kind::Person(text) => person(text, width, theme),
        // Its lines grow with it, and are not made here.
        Kind::Answer(_) => Vec::new(),
        Kind::Thinking(thought) => thought.lines(open, width, theme),
        Kind::Tool(call) => call.lines(open, width, theme),
        Kind::Compacted(ruler) => ruler.lines(open, width, theme),
        Kind::Recalled(paths) => {
            asides::lines(&format!("recalled {}", asides::names(paths)), width, theme)
        }
        Kind::Remembered(kept, how) => asides::lines(&asides::remembered(kept, *how), width, theme),
        Kind::Aside(text) => asides::lines(text, width, theme),
        Kind::Notice(parts) => {
            let lines = styled(parts, theme);
            lines.iter().flat_map(|line| wrap::wrap(line, width, "")).collect()
        }
    }
}

fn person(text: &str, width: u16, theme: Theme) -> Vec<Line<'static>> {
    let room = width.saturating_sub(2);
    if room < 2 {
        return wrap::text(text, theme.style(TextStyle::Bold), width, "");
    }
    let mut lines = wrap::text(text, theme.style(TextStyle::Bold), room, "");
    for (at, line) in lines.iter_mut().enumerate() {
        line.spans.insert(0, Span::styled(if at == 0 { "› " } else { "  " }, theme.title()));
    }
    lines
}

/// Lines of a text that came in parts.
pub(crate) fn styled(parts: &[(TextStyle, String)], theme: Theme) -> Vec<Line<'static>> {
    let mut lines = vec![Line::default()];
    for (look, text) in parts {
        for (at, piece) in text.split('\n').enumerate() {
            if at > 0 {
                lines.push(Line::default());
            }
            if let Some(line) = lines.last_mut()
                && !piece.is_empty()
            {
                line.spans.push(Span::styled(piece.to_owned(), theme.style(*look)));
            }
        }
    }
    if lines.last().is_some_and(|line| line.spans.is_empty()) {
        lines.pop();
    }
    lines
}

/// The files of what was kept.
fn paths_of(kept: &[Kept]) -> Vec<PathBuf> {
    kept.iter().filter_map(Kept::memory).map(|memory| memory.path.clone()).collect()
}
