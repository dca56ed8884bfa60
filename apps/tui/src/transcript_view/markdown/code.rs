//! Code as lines of the screen: never joined, in colours where they are known.

use super::Page;
use crate::theme::Theme;
use crate::transcript_view::highlight::{self, Kind};
use crate::wrap;
use ratatui::text::{Line, Span};

/// What stands before each line.
const MARGIN: &str = "  ";

/// Lays code out; says whether it waits for its colours.
pub(super) fn lay(language: &str, text: &str, lines: &mut Vec<Line<'static>>, page: Page) -> bool {
    let (painted, waits) =
        if page.theme.has_colours() { highlight::of(language, text) } else { (None, false) };
    for (at, line) in text.lines().enumerate() {
        let kinds = painted.as_ref().and_then(|painted| painted.get(at));
        lines.extend(self::lines(line, kinds.map(Vec::as_slice), page));
    }
    waits
}

/// The pieces of a line of code.
pub(crate) fn spans(text: &str, kinds: &[(usize, Kind)], theme: Theme) -> Vec<Span<'static>> {
    let mut spans = Vec::new();
    let mut from = 0;
    for (bytes, kind) in kinds {
        let part = text.get(from..from + bytes).unwrap_or_default();
        spans.push(Span::styled(part.to_owned(), theme.code(*kind)));
        from += bytes;
    }
    let rest = text.get(from..).unwrap_or_default();
    spans.push(Span::styled(rest.to_owned(), theme.code(Kind::Plain)));
    spans
}

/// One line of code, which may need several of the screen.
pub(crate) fn lines(text: &str, kinds: Option<&[(usize, Kind)]>, page: Page) -> Vec<Line<'static>> {
    let spans = spans(text, kinds.unwrap_or_default(), page.theme);
    let narrow = usize::from(page.width) < MARGIN.len() * 4;
    let margin = if narrow { "" } else { MARGIN };
    let room = page.width.saturating_sub(u16::try_from(margin.len()).unwrap_or(0));
    let mut lines = wrap::wrap(&Line::from(spans), room, "");
    for line in &mut lines {
        line.spans.insert(0, Span::raw(margin));
    }
    lines
}
