//! What a change of a file was, for programs that read the transcript.

use serde_json::{Value, json};
use similar::{ChangeTag, DiffOp, TextDiff};
use std::time::Duration;

/// Lines that stay the same, around each hunk.
const CONTEXT_LINES: usize = 3;

/// How long a diff may think; then it gives a coarser one.
const DIFF_TIME: Duration = Duration::from_millis(500);

/// A file over this is not repeated in the transcript.
const ORIGINAL_BYTES: usize = 1024 * 1024;

/// The file before the change, as `originalFile`: `null` where it is too large
/// to be kept with every change.
pub(crate) fn original(old: &str) -> Value {
    if old.len() > ORIGINAL_BYTES { Value::Null } else { Value::String(old.to_owned()) }
}

/// The hunks between two texts, as `structuredPatch`.
pub(crate) fn structured_patch(old: &str, new: &str) -> Value {
    let old_lines: Vec<&str> = old.split_inclusive('\n').collect();
    let new_lines: Vec<&str> = new.split_inclusive('\n').collect();
    let diff = TextDiff::configure().timeout(DIFF_TIME).diff_slices(&old_lines, &new_lines);
    let groups = diff.grouped_ops(CONTEXT_LINES);
    let hunks = groups.iter().filter_map(|ops| hunk(&diff, ops));
    Value::Array(hunks.collect())
}

fn hunk(diff: &TextDiff<'_, '_, str>, ops: &[DiffOp]) -> Option<Value> {
    let (first, last) = (ops.first()?, ops.last()?);
    let old = first.old_range().start..last.old_range().end;
    let new = first.new_range().start..last.new_range().end;
    let mut lines = Vec::new();
    for change in ops.iter().flat_map(|op| diff.iter_changes(op)) {
        let sign = match change.tag() {
            ChangeTag::Equal => ' ',
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
        };
        let line = change.value();
        lines.push(format!("{sign}{}", line.strip_suffix('\n').unwrap_or(line)));
        if !line.ends_with('\n') {
            lines.push("\\ No newline at end of file".to_owned());
        }
    }
    Some(json!({
        "oldStart": start(&old), "oldLines": old.len(),
        "newStart": start(&new), "newLines": new.len(),
        "lines": lines,
    }))
}

/// Unified diffs count from one, and name the line before an empty range.
fn start(range: &std::ops::Range<usize>) -> usize {
    if range.is_empty() { range.start } else { range.start.saturating_add(1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q5_hunks_count_as_unified_diffs_do() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
        let new = "1\nTWO\n3\n4\n5\n6\n7\n8\n9\n10\n11\n";
        assert_eq!(
            structured_patch(old, new),
            json!([
                {"oldStart": 1, "oldLines": 5, "newStart": 1, "newLines": 5,
                 "lines": [" 1", "-2", "+TWO", " 3", " 4", " 5"]},
                {"oldStart": 9, "oldLines": 4, "newStart": 9, "newLines": 3,
                 "lines": [" 9", " 10", " 11", "-12"]},
            ])
        );
        assert_eq!(structured_patch("a\n", "a\n"), json!([]));
    }

    #[test]
    fn q5_a_missing_last_newline_is_said() {
        assert_eq!(
            structured_patch("", "a"),
            json!([{"oldStart": 0, "oldLines": 0, "newStart": 1, "newLines": 1,
                "lines": ["+a", "\\ No newline at end of file"]}])
        );
    }
}
