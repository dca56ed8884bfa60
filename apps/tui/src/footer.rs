//! The last line: where things stand.

use crate::status::Status;
use crate::style::TextStyle;
use crate::theme::Theme;
use everfold_agent::{MemorySwitch, TaskStatus};
use everfold_kernel::settings::PermissionMode;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

/// Cells of the bar of the window.
const BAR: u64 = 16;

pub(crate) fn draw(status: &Status, area: Rect, buf: &mut Buffer, theme: Theme) {
    line(status, area.width, theme).render(area, buf);
}

/// What it says; where there is no room, what matters least is left out.
pub(crate) fn line(status: &Status, width: u16, theme: Theme) -> Line<'static> {
    let mut parts = said(status);
    let mut line = fitted(status, &parts, theme);
    while line.width() > usize::from(width) && !parts.is_empty() {
        let least = parts.iter().map(|(weight, _, _)| *weight).min().unwrap_or_default();
        parts.retain(|(weight, _, _)| *weight != least);
        line = fitted(status, &parts, theme);
    }
    line
}

/// What stands behind the bar: how much it matters, how it looks, what it says.
fn said(status: &Status) -> Vec<(u8, TextStyle, String)> {
    let (cost, background) = (status.ledger.total().cost.0, status.ledger.background().cost.0);
    let mut parts = vec![(7, TextStyle::Normal, format!("${cost:.2}"))];
    if background > 0.0 {
        parts.push((3, TextStyle::Dim, format!("background ${background:.2}")));
    }
    if let Some(rate) = status.hit_rate {
        parts.push((4, TextStyle::Dim, format!("cache {:.0}%", rate * 100.0)));
    }
    parts.extend(pill(status).map(|pill| (6, TextStyle::Cyan, pill)));
    match status.mode {
        PermissionMode::Default => {}
        PermissionMode::BypassPermissions => {
            parts.push((9, TextStyle::Red, "everything is allowed".to_owned()));
        }
        PermissionMode::AcceptEdits => {
            parts.push((8, TextStyle::Magenta, "edits are accepted".to_owned()));
        }
        PermissionMode::Plan => parts.push((8, TextStyle::Blue, "planning".to_owned())),
    }
    if status.memory == MemorySwitch::Off {
        parts.push((5, TextStyle::Yellow, "memory off".to_owned()));
    }
    parts.extend(status.branch.clone().map(|branch| (2, TextStyle::Dim, branch)));
    parts
}

fn fitted(status: &Status, parts: &[(u8, TextStyle, String)], theme: Theme) -> Line<'static> {
    let mut spans = vec![Span::styled(status.model.clone(), theme.style(TextStyle::Bold))];
    spans.push(Span::raw(" "));
    spans.extend(bar(status, theme));
    let percent = status.used * 100 / status.window.size.0.max(1);
    spans.push(Span::raw(format!(" {percent}%")));
    for (_, look, text) in parts {
        spans.push(Span::styled(" · ", theme.dim()));
        spans.push(Span::styled(text.clone(), theme.style(*look)));
    }
    Line::from(spans)
}

/// The window as a bar, with the thresholds marked.
fn bar(status: &Status, theme: Theme) -> Vec<Span<'static>> {
    let size = status.window.size.0.max(1);
    let cell = |tokens: u64| tokens * BAR / size;
    let (used, warning, full) =
        (cell(status.used), cell(status.window.warning.0), cell(status.window.auto_compact.0));
    let look = match status.used {
        used if used > status.window.auto_compact.0 => TextStyle::Red,
        used if used > status.window.warning.0 => TextStyle::Yellow,
        _ => TextStyle::Green,
    };
    let mut spans = Vec::new();
    for at in 0..BAR {
        let span = match at {
            at if at < used => Span::styled("█", theme.style(look)),
            at if at == full => Span::styled("│", theme.style(TextStyle::Red)),
            at if at == warning => Span::styled("┊", theme.style(TextStyle::Yellow)),
            _ => Span::styled("░", theme.dim()),
        };
        spans.push(span);
    }
    spans
}

/// What runs in the background.
fn pill(status: &Status) -> Option<String> {
    let tasks = status.background.list();
    let running: Vec<String> = tasks
        .into_iter()
        .filter(|task| task.status == TaskStatus::Running)
        .map(|task| task.name)
        .collect();
    match running.as_slice() {
        [] => None,
        [one] => Some(format!("⟳ {} (Ctrl-B)", one.chars().take(20).collect::<String>())),
        many => Some(format!("⟳ {} tasks (Ctrl-B)", many.len())),
    }
}
