//! What stands beside the conversation: thoughts, rulers, memories.

use super::tool::time;
use crate::theme::Theme;
use crate::wrap;
use everfold_agent::engine::event::Finder;
use everfold_agent::engine::window::compaction::CompactionReport;
use everfold_agent::{TaskStatus, TaskView};
use everfold_kernel::phrase::grouped;
use everfold_kernel::ports::Kept;
use ratatui::text::Line;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use unicode_width::UnicodeWidthStr;

/// What the model thought.
pub(crate) struct Thought {
    pub(crate) text: String,
    pub(crate) time: ThinkingTime,
}

/// How long a thought took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ThinkingTime {
    /// It goes on, since then.
    Since(Instant),
    /// It took so long.
    Took(Duration),
    /// Nobody knows.
    Unknown,
}

impl Thought {
    /// It has come to its end.
    pub(crate) fn end(&mut self, now: Instant) {
        if let ThinkingTime::Since(start) = self.time {
            self.time = ThinkingTime::Took(now.saturating_duration_since(start));
        }
    }

    /// Its lines.
    pub(crate) fn lines(&self, open: bool, width: u16, theme: Theme) -> Vec<Line<'static>> {
        let head = match self.time {
            ThinkingTime::Since(_) => "∴ thinking".to_owned(),
            ThinkingTime::Took(took) => format!("∴ thought for {}", time(took)),
            ThinkingTime::Unknown => "∴ thought".to_owned(),
        };
        let mut lines = wrap::text(&head, theme.dim(), width, "");
        if open {
            for line in self.text.lines() {
                let line = Line::styled(format!("  {line}"), theme.dim());
                lines.extend(wrap::wrap(&line, width, "  "));
            }
        }
        lines
    }
}

pub(crate) struct Ruler {
    /// What was done, in a line.
    pub(crate) title: String,
    /// What went and what stays, for one that was seen.
    pub(crate) report: Option<Box<CompactionReport>>,
    /// What stands in its place.
    pub(crate) summary: String,
}

impl Ruler {
    /// One that happens now.
    pub(crate) fn of(report: Box<CompactionReport>, title: String) -> Self {
        Self { title, report: Some(report), summary: String::new() }
    }

    /// One that the log tells of.
    pub(crate) fn told(way: &str, before: u64, after: Option<u64>) -> Self {
        let before = grouped(before);
        let title = match after.map(grouped) {
            Some(after) => format!("compacted ({way}): {before} → {after} tokens"),
            None => format!("compacted ({way}): {before} tokens before"),
        };
        Self { title, report: None, summary: String::new() }
    }

    pub(crate) fn words(&self) -> String {
        let lines: Vec<String> = self.said().collect();
        format!("{}\n{}", self.title, lines.join("\n"))
    }

    /// What went and what stays, line by line.
    fn said(&self) -> impl Iterator<Item = String> {
        let report = self.report.as_deref();
        let spans = report.into_iter().flat_map(|report| &report.dropped);
        let kept = report.into_iter().flat_map(|report| &report.kept);
        let files = report.into_iter().flat_map(|report| &report.restored);
        let out = report.into_iter().flat_map(|report| &report.left_out);
        spans
            .map(|span| format!("− {} ({} tokens, /expand {})", span.words, span.tokens, span.from))
            .chain(kept.map(|kept| {
                format!("{} {}", if kept.pinned { "pinned:" } else { "stays:" }, kept.words)
            }))
            .chain(files.map(|file| format!("came back: {file}")))
            .chain(out.map(|name| format!("did not fit: {name}")))
            .chain(self.summary.lines().map(str::to_owned))
    }

    /// Its lines.
    pub(crate) fn lines(&self, open: bool, width: u16, theme: Theme) -> Vec<Line<'static>> {
        let title = format!(" {} ", self.title);
        let mut lines = match usize::from(width).checked_sub(title.width()) {
            Some(room) => {
                let (left, right) = ("─".repeat(room / 2), "─".repeat(room - room / 2));
                vec![Line::styled(format!("{left}{title}{right}"), theme.dim())]
            }
            // Tokens and money are read on a narrow screen, too.
            None => wrap::text(&format!("─ {}", self.title), theme.dim(), width, "  "),
        };
        if open {
            for line in self.said() {
                lines.extend(wrap::text(&format!("  {line}"), theme.dim(), width, "    "));
            }
        }
        lines
    }
}

pub(crate) fn lines(text: &str, width: u16, theme: Theme) -> Vec<Line<'static>> {
    wrap::text(&format!("· {text}"), theme.dim(), width, "  ")
}

/// What is said of memories that were kept.
pub(crate) fn remembered(kept: &[Kept], how: Finder) -> String {
    let notices: Vec<String> = kept.iter().filter_map(Kept::notice).collect();
    let by = match how {
        Finder::Model => "",
        Finder::Rule => " (by rule)",
    };
    format!("memory: {}{by} (/memory)", notices.join("; "))
}

/// The names of files.
pub(crate) fn names(paths: &[PathBuf]) -> String {
    let names = paths.iter().filter_map(|path| path.file_name());
    names.map(|name| name.to_string_lossy().into_owned()).collect::<Vec<_>>().join(", ")
}

/// What is said of a task that came to its end.
pub(crate) fn task_ended(task: &TaskView) -> Option<String> {
    let how = match &task.status {
        TaskStatus::Running => return None,
        TaskStatus::Completed => "is done".to_owned(),
        TaskStatus::Failed { reason } => format!("failed: {reason}"),
        TaskStatus::Killed => "was stopped".to_owned(),
    };
    Some(format!("{} ({}) {how}", task.name, task.id))
}
