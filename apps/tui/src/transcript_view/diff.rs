//! A change of a file, line by line.

use super::highlight;
use super::markdown::code_spans;
use crate::style::TextStyle;
use crate::theme::Theme;
use crate::wrap;
use ratatui::text::{Line, Span};
use serde_json::Value;
use similar::{ChangeTag, TextDiff};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Rows that are kept of a change; the others are only counted.
const MOST_ROWS: usize = 500;
/// Lines that are shown around a change.
const AROUND: usize = 3;
/// How long a comparison may think; then it gives a coarser one.
const DIFF_TIME: Duration = Duration::from_millis(20);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Diff {
    rows: Vec<Row>,
    /// Rows that were not kept.
    more: usize,
    added: usize,
    removed: usize,
    /// The language of the file, by the end of its name.
    language: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    /// Its line in the file, where that is known.
    number: Option<u64>,
    sign: Sign,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Same,
    Added,
    Removed,
    /// Lines are left out here.
    Gap,
}

impl Diff {
    /// What a call would change, as its arguments tell.
    pub(crate) fn of_call(tool: &str, input: &Value) -> Option<Self> {
        let text = |name: &str| input.get(name).and_then(Value::as_str);
        match tool {
            "Edit" => Some(Self::between(text("old_string")?, text("new_string")?)),
            "Write" => Some(Self::between("", text("content")?)),
            _ => None,
        }
    }

    /// The change in the colours of the file that it is of.
    pub(crate) fn in_file(mut self, path: &str) -> Self {
        let ending = Path::new(path).extension().map(|ending| ending.to_string_lossy());
        self.language = ending.unwrap_or_default().into_owned();
        self
    }

    /// The colours of each row that is there after the change.
    fn painted(&self, theme: Theme) -> Option<Arc<highlight::Painted>> {
        if !theme.has_colours() || self.language.is_empty() {
            return None;
        }
        let kept = |row: &Row| match row.sign {
            Sign::Same | Sign::Added => format!("{}\n", row.text),
            // A row of its own, so that they can be counted.
            Sign::Removed | Sign::Gap => "\n".to_owned(),
        };
        highlight::of(&self.language, &self.rows.iter().map(kept).collect::<String>()).0
    }

    /// What a tool says that it changed (`structuredPatch`); none where it
    /// says nothing.
    pub(crate) fn of_patch(patch: &Value) -> Option<Self> {
        let hunks = patch.as_array().filter(|hunks| !hunks.is_empty())?;
        let mut diff = Self::default();
        for (at, hunk) in hunks.iter().enumerate() {
            if at > 0 {
                diff.push(None, Sign::Gap, "");
            }
            let start = |name: &str| hunk.get(name).and_then(Value::as_u64).unwrap_or(1);
            let (mut old, mut new) = (start("oldStart"), start("newStart"));
            for line in hunk.get("lines").and_then(Value::as_array).into_iter().flatten() {
                let line = line.as_str().unwrap_or_default();
                let mut letters = line.chars();
                match letters.next() {
                    Some('+') => {
                        diff.push(Some(new), Sign::Added, letters.as_str());
                        new += 1;
                    }
                    Some('-') => {
                        diff.push(Some(old), Sign::Removed, letters.as_str());
                        old += 1;
                    }
                    Some('\\') => {}
                    _ => {
                        diff.push(Some(new), Sign::Same, letters.as_str());
                        (old, new) = (old + 1, new + 1);
                    }
                }
            }
        }
        Some(diff)
    }

    /// What takes the place of a file: what changes, and a little around it.
    pub(crate) fn of_file(old: &str, new: &str) -> Self {
        let mut diff = Self::default();
        let compared = TextDiff::configure().timeout(DIFF_TIME).diff_lines(old, new);
        for (at, group) in compared.grouped_ops(AROUND).iter().enumerate() {
            if at > 0 {
                diff.push(None, Sign::Gap, "");
            }
            for change in group.iter().flat_map(|op| compared.iter_changes(op)) {
                let (sign, at) = match change.tag() {
                    ChangeTag::Equal => (Sign::Same, change.new_index()),
                    ChangeTag::Insert => (Sign::Added, change.new_index()),
                    ChangeTag::Delete => (Sign::Removed, change.old_index()),
                };
                let line = change.value();
                let number = at.map(|at| at as u64 + 1);
                diff.push(number, sign, line.strip_suffix('\n').unwrap_or(line));
            }
        }
        diff
    }

    fn between(old: &str, new: &str) -> Self {
        let mut diff = Self::default();
        let compared = TextDiff::configure().timeout(DIFF_TIME).diff_lines(old, new);
        for change in compared.iter_all_changes() {
            let sign = match change.tag() {
                ChangeTag::Equal => Sign::Same,
                ChangeTag::Insert => Sign::Added,
                ChangeTag::Delete => Sign::Removed,
            };
            let line = change.value();
            diff.push(None, sign, line.strip_suffix('\n').unwrap_or(line));
        }
        diff
    }

    fn push(&mut self, number: Option<u64>, sign: Sign, text: &str) {
        match sign {
            Sign::Added => self.added += 1,
            Sign::Removed => self.removed += 1,
            Sign::Same | Sign::Gap => {}
        }
        if self.rows.len() < MOST_ROWS {
            self.rows.push(Row { number, sign, text: text.to_owned() });
        } else {
            self.more += 1;
        }
    }

    /// How much changed, such as `+3 −1`.
    pub(crate) fn sum(&self, theme: Theme) -> Vec<Span<'static>> {
        let mut spans = Vec::new();
        if self.added > 0 {
            spans.push(Span::styled(format!(" +{}", self.added), theme.style(TextStyle::Green)));
        }
        if self.removed > 0 {
            spans.push(Span::styled(format!(" −{}", self.removed), theme.style(TextStyle::Red)));
        }
        spans
    }

    /// Its text, as it is copied and searched.
    pub(crate) fn words(&self) -> String {
        let row = |row: &Row| format!("{}{}\n", row.sign.mark(), row.text);
        self.rows.iter().map(row).collect()
    }

    /// Its lines, at most so many rows of it.
    pub(crate) fn lines(&self, width: u16, theme: Theme, most: usize) -> Vec<Line<'static>> {
        let digits = self.rows.iter().filter_map(|row| row.number).max();
        let digits = digits.map_or(0, |number| number.to_string().len());
        let painted = self.painted(theme);
        let mut lines = Vec::new();
        for (at, row) in self.rows.iter().take(most).enumerate() {
            let number = row.number.map(|number| number.to_string()).unwrap_or_default();
            let head = format!("    {number:>digits$} {} ", row.sign.mark());
            let style = theme.style(row.sign.look());
            let indent = " ".repeat(head.chars().count());
            let mut spans =
                vec![Span::styled(head, if row.sign == Sign::Same { theme.dim() } else { style })];
            let kinds = painted.as_ref().and_then(|painted| painted.get(at));
            match kinds.filter(|_| matches!(row.sign, Sign::Same | Sign::Added)) {
                Some(kinds) => spans.extend(code_spans(&row.text, kinds, theme)),
                None => spans.push(Span::styled(row.text.clone(), style)),
            }
            lines.extend(wrap::wrap(&Line::from(spans), width, &indent));
        }
        let more = self.more + self.rows.len().saturating_sub(most);
        if more > 0 {
            lines.extend(wrap::text(&format!("    … {more} more lines"), theme.dim(), width, ""));
        }
        lines
    }
}

impl Sign {
    fn mark(self) -> &'static str {
        match self {
            Self::Same => " ",
            Self::Added => "+",
            Self::Removed => "−",
            Self::Gap => "⋯",
        }
    }

    fn look(self) -> TextStyle {
        match self {
            Self::Same => TextStyle::Normal,
            Self::Added => TextStyle::Green,
            Self::Removed => TextStyle::Red,
            Self::Gap => TextStyle::Dim,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shown(diff: &Diff, most: usize) -> Vec<String> {
        let lines = diff.lines(40, Theme::new(false), most);
        lines.iter().map(|line| line.to_string().trim_end().to_owned()).collect()
    }

    #[test]
    fn q9_a_patch_has_the_numbers_of_the_file() {
        let diff = Diff::of_patch(&json!([
            {"oldStart": 8, "newStart": 8, "lines": [" a", "-b", "+B", "+C", " d"]},
            {"oldStart": 99, "newStart": 100, "lines": ["-z", "\\ No newline at end of file"]},
        ]));
        let diff = diff.expect("hunks are a change");
        let expected = [
            "     8   a",
            "     9 − b",
            "     9 + B",
            "    10 + C",
            "    11   d",
            "       ⋯",
            "    99 − z",
        ];
        assert_eq!(shown(&diff, 50), expected);
        assert_eq!(shown(&diff, 2).last().map(String::as_str), Some("    … 5 more lines"));
        let sum: String = diff.sum(Theme::new(false)).iter().map(|span| &*span.content).collect();
        assert_eq!(sum, " +2 −2");
    }

    #[test]
    fn q9_a_call_tells_what_it_would_change() {
        let input = json!({"file_path": "a", "old_string": "x\ny", "new_string": "x\nz"});
        let diff = Diff::of_call("Edit", &input).expect("an edit is a change");
        assert_eq!(shown(&diff, 9), ["       x", "     − y", "     + z"]);
        assert_eq!(Diff::of_call("Bash", &input), None);
    }
}
