//! The last line: where things stand.

use crate::look::Look;
use crate::status::Status;
use crate::theme::Theme;
use mnemon::kernel::settings::PermissionMode;
use mnemon::{MemorySwitch, TaskStatus};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

/// Cells of the bar of the window.
const BAR: u64 = 16;

/// Draws it.
pub(crate) fn draw(status: &Status, area: Rect, buf: &mut Buffer, theme: Theme) {
    line(status, theme).render(area, buf);
}

/// What it says.
pub(crate) fn line(status: &Status, theme: Theme) -> Line<'static> {
    let mut parts = vec![Span::styled(status.model.clone(), theme.style(Look::Bold))];
    parts.push(Span::raw(" "));
    parts.extend(bar(status, theme));
    let percent = status.used * 100 / status.window.size.0.max(1);
    parts.push(Span::raw(format!(" {percent}%")));
    let mut said = vec![format!("${:.2}", status.cost)];
    if status.background_cost > 0.0 {
        said.push(format!("bg ${:.2}", status.background_cost));
    }
    if let Some(rate) = status.hit_rate {
        said.push(format!("cache {:.0}%", rate * 100.0));
    }
    if let Some(pill) = pill(status) {
        said.push(pill);
    }
    if status.mode != PermissionMode::Default {
        said.push(status.mode.as_str().to_owned());
    }
    if status.memory == MemorySwitch::Off {
        said.push("memory off".to_owned());
    }
    said.extend(status.branch.clone());
    parts.push(Span::styled(format!(" · {}", said.join(" · ")), theme.dim()));
    Line::from(parts)
}

/// The window as a bar, with the thresholds marked.
fn bar(status: &Status, theme: Theme) -> Vec<Span<'static>> {
    let size = status.window.size.0.max(1);
    let cell = |tokens: u64| tokens * BAR / size;
    let (used, warning, full) =
        (cell(status.used), cell(status.window.warning.0), cell(status.window.auto_compact.0));
    let look = match status.used {
        used if used > status.window.auto_compact.0 => Look::Red,
        used if used > status.window.warning.0 => Look::Yellow,
        _ => Look::Green,
    };
    let mut spans = Vec::new();
    for at in 0..BAR {
        let span = match at {
            at if at < used => Span::styled("█", theme.style(look)),
            at if at == warning => Span::styled("┊", theme.style(Look::Yellow)),
            at if at == full => Span::styled("│", theme.style(Look::Red)),
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
        [one] => Some(format!("⟳ {}", one.chars().take(20).collect::<String>())),
        many => Some(format!("⟳ {} tasks", many.len())),
    }
}
