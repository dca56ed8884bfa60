//! One thing of the conversation: something said, a call, a notice.

use super::markdown;
use super::tool::ToolCall;
use crate::look::Look;
use crate::theme::Theme;
use crate::wrap;
use mnemon::engine::compacting::Report;
use mnemon::engine::event::Kept;
use ratatui::text::{Line, Span};
use std::path::PathBuf;
use std::time::Duration;

/// What a cell shows.
pub(crate) enum Kind {
    /// What the person said.
    Person(String),
    /// What the model said, in Markdown.
    Answer(String),
    /// What the model thought.
    Thinking { text: String, took: Option<Duration> },
    /// A call of a tool.
    Tool(Box<ToolCall>),
    /// A compaction.
    Compacted(Box<Report>),
    /// Memories that were brought in.
    Recalled(Vec<PathBuf>),
    /// Memories that were kept.
    Remembered(Vec<PathBuf>, Kept),
    /// What a command or the program says.
    Notice(Vec<(Look, String)>),
}

/// A cell, and its lines at the width that was asked for last.
pub(crate) struct Cell {
    kind: Kind,
    open: bool,
    laid: Option<Laid>,
}

struct Laid {
    width: u16,
    theme: Theme,
    lines: Vec<Line<'static>>,
}

impl Cell {
    /// A cell, folded where it can be.
    pub(crate) fn new(kind: Kind) -> Self {
        Self { kind, open: false, laid: None }
    }

    /// What it shows.
    pub(crate) fn kind(&self) -> &Kind {
        &self.kind
    }

    /// What it shows, to change it.
    pub(crate) fn change(&mut self) -> &mut Kind {
        self.laid = None;
        &mut self.kind
    }

    /// Folds or unfolds it.
    pub(crate) fn fold(&mut self) {
        self.open = !self.open;
        self.laid = None;
    }

    /// Whether it is the call of this id.
    pub(crate) fn is_tool(&self, id: &str) -> bool {
        matches!(&self.kind, Kind::Tool(call) if call.id == id)
    }

    /// Its lines at a width, with an empty one after them.
    pub(crate) fn lines(&mut self, width: u16, theme: Theme) -> &[Line<'static>] {
        let fresh = |laid: &Laid| laid.width == width && laid.theme == theme;
        if !self.laid.as_ref().is_some_and(fresh) {
            let mut lines = lay(&self.kind, self.open, width, theme);
            lines.push(Line::default());
            self.laid = Some(Laid { width, theme, lines });
        }
        self.laid.as_ref().map_or(&[], |laid| &laid.lines)
    }

    /// Its words, to be searched and copied.
    pub(crate) fn words(&self) -> String {
        match &self.kind {
            Kind::Person(text) | Kind::Answer(text) | Kind::Thinking { text, .. } => text.clone(),
            Kind::Tool(call) => call.words(),
            Kind::Notice(parts) => parts.iter().map(|(_, text)| text.as_str()).collect(),
            Kind::Compacted(report) => format!("compacted: {} → {}", report.before, report.after),
            Kind::Recalled(paths) | Kind::Remembered(paths, _) => names(paths),
        }
    }
}

fn lay(kind: &Kind, open: bool, width: u16, theme: Theme) -> Vec<Line<'static>> {
    match kind {
        Kind::Person(text) => person(text, width, theme),
        Kind::Answer(text) => markdown::lines(text, width, theme),
        Kind::Thinking { text, took } => thinking(text, *took, open, width, theme),
        Kind::Tool(call) => call.lines(open, width, theme),
        Kind::Compacted(report) => ruler(report, width, theme),
        Kind::Recalled(paths) => quiet(&format!("recalled {}", names(paths)), width, theme),
        Kind::Remembered(paths, how) => quiet(&remembered(paths, *how), width, theme),
        Kind::Notice(parts) => notice(parts, width, theme),
    }
}

fn person(text: &str, width: u16, theme: Theme) -> Vec<Line<'static>> {
    let style = theme.title();
    let mut lines = wrap::text(text, theme.style(Look::Bold), width.saturating_sub(2), "");
    for (at, line) in lines.iter_mut().enumerate() {
        line.spans.insert(0, Span::styled(if at == 0 { "› " } else { "  " }, style));
    }
    lines
}

fn thinking(
    text: &str,
    took: Option<Duration>,
    open: bool,
    width: u16,
    theme: Theme,
) -> Vec<Line<'static>> {
    let time = took.map(|took| format!(" for {:.1} s", took.as_secs_f32())).unwrap_or_default();
    let mut lines = vec![Line::styled(format!("∴ thought{time}"), theme.dim())];
    if open {
        lines.extend(wrap::text(text, theme.dim(), width, "  "));
    }
    lines
}

fn ruler(report: &Report, width: u16, theme: Theme) -> Vec<Line<'static>> {
    let words =
        format!(" compacted by {}: {} → {} tokens ", report.way, report.before, report.after);
    let room = usize::from(width).saturating_sub(words.chars().count());
    let (left, right) = (room / 2, room - room / 2);
    let text = format!("{}{words}{}", "─".repeat(left), "─".repeat(right));
    vec![Line::styled(text, theme.dim())]
}

fn quiet(text: &str, width: u16, theme: Theme) -> Vec<Line<'static>> {
    wrap::text(&format!("· {text}"), theme.dim(), width, "  ")
}

fn notice(parts: &[(Look, String)], width: u16, theme: Theme) -> Vec<Line<'static>> {
    styled(parts, theme).iter().flat_map(|line| wrap::wrap(line, width, "")).collect()
}

/// Lines of a text that came in parts.
pub(crate) fn styled(parts: &[(Look, String)], theme: Theme) -> Vec<Line<'static>> {
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

fn remembered(paths: &[PathBuf], how: Kept) -> String {
    match how {
        Kept::Saved => format!("saved to memory: {}", names(paths)),
        Kept::ByRule => format!("kept by rule: {}", names(paths)),
        Kept::Proposed => format!("proposed for memory: {} (/memory)", names(paths)),
    }
}

fn names(paths: &[PathBuf]) -> String {
    let names = paths.iter().filter_map(|path| path.file_name());
    names.map(|name| name.to_string_lossy().into_owned()).collect::<Vec<_>>().join(", ")
}
