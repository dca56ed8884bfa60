//! The window as a picture (T4, L4.16), for the screen and for lines of text.
//!
//! One letter stands for each kind of content, so that the picture is the same
//! without colours and in a pipe. Every cell shows what stands in its middle:
//! the marks below are exact, and what is smaller than a cell is in the table
//! only.

use crate::style::TextStyle;
use everfold_agent::engine::window::context_view::{
    Category, ContextView, Threshold, ThresholdKind,
};
use everfold_kernel::Tokens;
use everfold_kernel::phrase::grouped;

/// What the cells of the bar show, from left to right.
#[must_use]
pub fn runs(view: &ContextView, cells: usize) -> Vec<(Option<&Category>, usize)> {
    let whole: u64 = view.categories.iter().map(|category| category.tokens.0).sum();
    let mut runs: Vec<(Option<&Category>, usize)> = Vec::new();
    for cell in 0..cells {
        let middle = u128::from(whole) * (2 * cell as u128 + 1) / (2 * cells as u128).max(1);
        let mut end = 0_u128;
        let at = view.categories.iter().find(|category| {
            end += u128::from(category.tokens.0);
            middle < end
        });
        match runs.last_mut() {
            Some((last, count)) if last.map(|own| own.id) == at.map(|own| own.id) => *count += 1,
            _ => runs.push((at, 1)),
        }
    }
    runs
}

/// A threshold under a bar of so many cells that has a frame of one column,
/// with its words where there is room for them.
#[must_use]
pub fn mark(threshold: &Threshold, size: u64, cells: usize) -> String {
    let tokens = threshold.tokens.0;
    let at = u128::from(tokens) * cells as u128 / u128::from(size.max(1));
    let at = usize::try_from(at).unwrap_or(cells).min(cells.saturating_sub(1)) + 1;
    let words = format!("{} at {}", event(threshold.kind), grouped(tokens));
    if at + 2 + words.len() <= cells + 2 {
        format!("{}^ {words}", " ".repeat(at))
    } else {
        format!("{words:>width$} ^", width = at.saturating_sub(1))
    }
}

fn event(kind: ThresholdKind) -> &'static str {
    match kind {
        ThresholdKind::Warning => "warning",
        ThresholdKind::AutoCompact => "auto-compact",
        ThresholdKind::Refuse => "requests refused",
    }
}

/// A kind of content in a row: its letter, its name, its size, its share.
#[must_use]
pub fn cells(category: &Category, view: &ContextView) -> Vec<String> {
    vec![
        sign(category).0.to_string(),
        category.name.to_owned(),
        format!("{:>9}", grouped(category.tokens.0)),
        format!("{:>6}", percent(category.tokens, view.window.size)),
    ]
}

/// How full the window is, in words.
#[must_use]
pub fn summary(view: &ContextView, model: &str) -> String {
    let (used, size) = (view.used, view.window.size);
    let full = percent(used, size);
    format!("{model}: {} of {} tokens, {full}", grouped(used.0), grouped(size.0))
}

#[expect(clippy::cast_precision_loss, reason = "one digit after the point is shown")]
fn percent(part: Tokens, whole: Tokens) -> String {
    format!("{:.1}%", part.0 as f64 * 100.0 / whole.0.max(1) as f64)
}

/// The letter of a kind of content, and how it looks.
#[must_use]
pub fn sign(category: &Category) -> (char, TextStyle) {
    match category.id {
        "system_prompt" => ('S', TextStyle::Blue),
        "system_tools" => ('T', TextStyle::Cyan),
        "mcp_tools" => ('X', TextStyle::Cyan),
        "memory_files" => ('M', TextStyle::Magenta),
        "summary" => ('Z', TextStyle::Magenta),
        "user_messages" => ('U', TextStyle::Green),
        "answers" => ('A', TextStyle::Blue),
        "thinking" => ('H', TextStyle::Dim),
        "tool_calls" => ('C', TextStyle::Yellow),
        "tool_results" => ('R', TextStyle::Yellow),
        "injected" => ('I', TextStyle::Magenta),
        "free_space" => ('.', TextStyle::Dim),
        _ => ('~', TextStyle::Dim),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::harness::window_of;
    use everfold_agent::engine::window::context_view::CategoryKind;

    fn view() -> ContextView {
        window_of(&[
            ("system_prompt", "system_prompt", CategoryKind::Used, 10_000),
            ("user_messages", "user_messages", CategoryKind::Used, 100),
            ("tool_results", "tool_results", CategoryKind::Used, 40_000),
            ("free_space", "free_space", CategoryKind::Free, 116_900),
            ("autocompact_buffer", "autocompact_buffer", CategoryKind::Buffer, 33_000),
        ])
    }

    fn bar(cells: usize) -> String {
        let view = view();
        let runs = runs(&view, cells);
        runs.iter().map(|(one, count)| sign(one.unwrap()).0.to_string().repeat(*count)).collect()
    }

    #[test]
    fn l4_16_the_bar_is_as_wide_as_asked_and_in_proportion() {
        assert_eq!(bar(20), "SRRRR............~~~");
        for cells in [0, 1, 7, 38, 98, 500] {
            assert_eq!(bar(cells).chars().count(), cells);
        }
    }

    #[test]
    fn t4_marks_stand_under_their_cell_and_fit() {
        let view = view();
        for cells in [38, 98, 198] {
            let bar = format!("[{}]", bar(cells));
            for threshold in &view.thresholds {
                let line = mark(threshold, 200_000, cells);
                assert!(line.chars().count() <= cells + 2, "{line}");
                let at = line.find('^').unwrap();
                let buffer = bar.find('~').unwrap();
                match threshold.kind {
                    ThresholdKind::Warning => assert!(at < buffer, "{bar}\n{line}"),
                    _ => assert!(at.abs_diff(buffer) <= 1, "{bar}\n{line}"),
                }
            }
        }
    }
}
