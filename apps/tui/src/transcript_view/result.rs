//! What a tool answered: as much of it as is worth showing.

use super::tool::size;
use crate::style::TextStyle;
use crate::theme::Theme;
use crate::wrap;
use ratatui::text::Line;
use serde_json::Value;

/// Bytes of a result that are kept for the screen.
const KEPT_BYTES: usize = 64 * 1024;
/// Lines of a result that an unfolded call shows.
const MOST_LINES: usize = 200;

/// The start of a result, and how large the whole is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answered {
    text: String,
    bytes: u64,
    /// Where the whole is, if it is in a file.
    spilled: Option<String>,
}

impl Answered {
    /// Takes what is shown of a result. It may be very long: no more than that
    /// is copied.
    pub(crate) fn of(content: &Value) -> Self {
        let mut answered = Self::default();
        match content {
            Value::String(text) => answered.take(text),
            Value::Array(parts) => {
                for part in parts {
                    match part.get("text").and_then(Value::as_str) {
                        Some(text) => answered.take(text),
                        None => answered.take(&format!(
                            "[{}]",
                            part.get("type").and_then(Value::as_str).unwrap_or("something")
                        )),
                    }
                }
            }
            Value::Null => {}
            other => answered.take(&other.to_string()),
        }
        answered.unwrap_preview();
        answered.pretty();
        answered
    }

    fn take(&mut self, text: &str) {
        if self.bytes > 0 {
            self.text.push('\n');
        }
        let room = KEPT_BYTES.saturating_sub(self.text.len()).min(text.len());
        let end = text.floor_char_boundary(room);
        self.text.push_str(text.get(..end).unwrap_or_default());
        self.bytes += text.len() as u64;
    }

    /// A result that was moved to a file is shown by its preview, and names it.
    fn unwrap_preview(&mut self) {
        let Some(rest) = self.text.strip_prefix("<persisted-output>\n") else { return };
        let Some((head, preview)) = rest.split_once("\n\n") else { return };
        let bytes = head
            .split_once("characters, ")
            .and_then(|(_, rest)| rest.split(' ').next().and_then(|bytes| bytes.parse().ok()));
        let saved = head.split_once("saved to: ").and_then(|(_, rest)| rest.lines().next());
        let preview = preview.split_once('\n').map_or(preview, |(_, preview)| preview);
        let preview = preview.trim_end().trim_end_matches("</persisted-output>").trim_end();
        self.spilled = saved.map(str::to_owned);
        self.bytes = bytes.unwrap_or(self.bytes);
        self.text = preview.to_owned();
    }

    /// JSON in one line is hard to read.
    fn pretty(&mut self) {
        let whole = self.bytes == self.text.len() as u64;
        if !(whole && self.text.starts_with(['{', '[']) && self.text.lines().count() == 1) {
            return;
        }
        let value = serde_json::from_str::<Value>(&self.text).ok();
        if let Some(text) = value.and_then(|value| serde_json::to_string_pretty(&value).ok()) {
            self.text = text;
        }
    }

    /// The whole is in this file, as a decision about it says.
    pub(crate) fn moved(&mut self, replacement: &str) {
        let mut preview = Self { text: replacement.to_owned(), ..Self::default() };
        preview.unwrap_preview();
        self.spilled = preview.spilled;
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Bytes of the whole.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Where the whole is.
    pub(crate) fn spilled(&self) -> Option<&str> {
        self.spilled.as_deref()
    }

    /// Its lines, up to the most, and what is missing.
    pub(crate) fn lines(&self, width: u16, theme: Theme) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        let mut rows = self.text.lines();
        for row in rows.by_ref().take(MOST_LINES) {
            lines.extend(row_lines(row, width, theme));
        }
        let (left, cut) = (rows.count(), self.bytes.saturating_sub(self.text.len() as u64));
        let mut missing = match (left, cut) {
            (0, 0) => String::new(),
            (left, 0) => format!("{left} more lines"),
            (_, cut) => format!("{} more", size(cut)),
        };
        if let Some(file) = &self.spilled {
            let link = if missing.is_empty() { "" } else { " · " };
            missing = format!("{missing}{link}in full in {file}");
        }
        if !missing.is_empty() {
            lines.extend(wrap::text(&format!("    … {missing}"), theme.dim(), width, "      "));
        }
        lines
    }

    /// Its last lines, for a call that failed.
    pub(crate) fn tail(&self, most: usize, width: u16, theme: Theme) -> Vec<Line<'static>> {
        let rows: Vec<&str> = self.text.lines().filter(|row| !row.trim().is_empty()).collect();
        let room = usize::from(width).saturating_sub(4);
        let style = theme.style(TextStyle::Red);
        rows.iter()
            .skip(rows.len().saturating_sub(most))
            .flat_map(|row| wrap::text(&format!("    {}", wrap::cut(row, room)), style, width, ""))
            .collect()
    }
}

fn row_lines(row: &str, width: u16, theme: Theme) -> Vec<Line<'static>> {
    wrap::wrap(&Line::styled(format!("    {row}"), theme.dim()), width, "    ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shown(answered: &Answered) -> Vec<String> {
        answered.lines(60, Theme::new(false)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn q9_results_are_shown_as_text() {
        let blocks = json!([{"type": "text", "text": "one"}, {"type": "image", "source": {}}]);
        assert_eq!(shown(&Answered::of(&blocks)), ["    one", "    [image]"]);
        let object = json!(r#"{"a":1}"#);
        assert_eq!(shown(&Answered::of(&object)), ["    {", "      \"a\": 1", "    }"]);
    }

    #[test]
    fn q9_a_long_result_says_what_is_missing_and_where_it_is() {
        let long = "line\n".repeat(300);
        let answered = Answered::of(&Value::String(long));
        assert_eq!(shown(&answered).last().map(String::as_str), Some("    … 100 more lines"));
        let huge = Answered::of(&Value::String("x".repeat(3_000_000)));
        assert_eq!(huge.bytes(), 3_000_000);
        assert!(huge.text().len() <= KEPT_BYTES);
        let moved = "<persisted-output>\nOutput too large (70 characters, 5000000 bytes). \
            Full output saved to: /s/tool-results/1.txt\nRead it.\n\nPreview (first 6 bytes):\n\
            line 1\n</persisted-output>";
        let answered = Answered::of(&Value::String(moved.to_owned()));
        assert_eq!(answered.bytes(), 5_000_000);
        let last = "    … 5.0 MB more · in full in /s/tool-results/1.txt";
        assert_eq!(shown(&answered), ["    line 1", last]);
    }
}
