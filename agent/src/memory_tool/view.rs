//! How files and folders are shown to a model: with line numbers and sizes, in
//! the tool's own form.

use super::error::Refused;
use super::path::shown_name;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// A file with more lines is not shown.
const MAX_LINES: usize = 999_999;
/// Columns of a line's number.
const NUMBER_WIDTH: usize = 6;
/// Lines around a change that are shown.
const AROUND: usize = 2;
/// How deep a listing goes.
const DEPTH: usize = 2;

/// A file with line numbers.
///
/// # Errors
/// What the model is told of one that is too long.
pub(super) fn numbered(path: &str, text: &str, range: Option<&[i64]>) -> Result<String, Refused> {
    let lines: Vec<&str> = text.split('\n').collect();
    if lines.len() > MAX_LINES {
        return Err(Refused::TooLong(path.to_owned()));
    }
    let (first, end) = match range {
        Some([first, last]) => {
            let first = usize::try_from((*first).max(1)).unwrap_or(usize::MAX);
            (first, usize::try_from(*last).unwrap_or(lines.len()).min(lines.len()))
        }
        _ => (1, lines.len()),
    };
    let head = format!("Here's the content of {path} with line numbers:\n");
    Ok(head + &rows(&lines, first, end))
}

/// The lines around a changed one.
pub(super) fn snippet(text: &str, line: usize) -> String {
    let lines: Vec<&str> = text.split('\n').collect();
    rows(&lines, line.saturating_sub(AROUND).max(1), (line + AROUND).min(lines.len()))
}

/// Lines `first` to `last`, from 1, each with its number.
fn rows(lines: &[&str], first: usize, last: usize) -> String {
    let shown = lines.iter().enumerate().take(last).skip(first.saturating_sub(1));
    let rows = shown.map(|(at, line)| format!("{:>NUMBER_WIDTH$}\t{line}", at + 1));
    rows.collect::<Vec<_>>().join("\n")
}

/// The lines, from 1, on which a text starts.
pub(super) fn lines_of(text: &str, wanted: &str) -> Vec<usize> {
    if wanted.is_empty() {
        return Vec::new();
    }
    let (mut lines, mut from) = (Vec::new(), 0);
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(wanted)) {
        let start = from + at;
        lines.push(text.get(..start).unwrap_or_default().matches('\n').count() + 1);
        from = text.ceil_char_boundary(start + 1);
    }
    lines
}

/// Where files are whose sizes are shown.
#[derive(Clone, Copy)]
pub(super) struct Shelf<'a> {
    /// The directory of memories.
    pub(super) dir: &'a Path,
    /// What waits, by its path, and how many bytes it has.
    pub(super) waiting: &'a BTreeMap<String, usize>,
}

impl Shelf<'_> {
    fn size_of(self, path: &Path) -> String {
        let waiting = path.to_str().and_then(|path| self.waiting.get(path));
        let on_disk = || std::fs::symlink_metadata(self.dir.join(path)).map_or(0, |at| at.len());
        size(waiting.map_or_else(on_disk, |bytes| *bytes as u64))
    }
}

/// What is in a folder, two levels deep, each with its size.
pub(super) fn listing<'a>(
    shown: &str,
    shelf: Shelf<'_>,
    folder: &str,
    files: impl Iterator<Item = &'a str>,
) -> String {
    // By parts, so that what is in a folder follows it.
    let mut entries: BTreeMap<Vec<&str>, &str> = BTreeMap::new();
    for file in files {
        let inside = file.strip_prefix(folder).unwrap_or(file).trim_start_matches('/');
        let parts: Vec<&str> = inside.split('/').collect();
        for depth in 1..=parts.len().min(DEPTH) {
            let ending = if depth < parts.len() { "/" } else { "" };
            entries.insert(parts.iter().take(depth).copied().collect(), ending);
        }
    }
    let top = Path::new(folder);
    let shown = shown.trim_end_matches('/');
    let mut text = format!(
        "Here're the files and directories up to 2 levels deep in {shown}, excluding hidden \
         items:\n{}\t{shown}",
        shelf.size_of(top)
    );
    for (parts, ending) in entries {
        let name = parts.join("/");
        let size = shelf.size_of(&top.join(&name));
        let name = if ending.is_empty() { shown_name(&name) } else { &name };
        let _ = write!(text, "\n{size}\t{shown}/{name}{ending}");
    }
    text
}

/// Bytes as the tool writes them: `0B`, `512B`, `1.5K`, `4K`.
#[expect(clippy::cast_precision_loss, reason = "one digit after the point is shown")]
fn size(bytes: u64) -> String {
    const STEP: u64 = 1024;
    let (mut unit, mut step) = ("B", 1);
    for (name, size) in [("K", STEP), ("M", STEP.pow(2)), ("G", STEP.pow(3))] {
        if bytes >= size {
            (unit, step) = (name, size);
        }
    }
    if bytes.is_multiple_of(step) {
        format!("{}{unit}", bytes / step)
    } else {
        format!("{:.1}{unit}", bytes as f64 / step as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x4_sizes_have_one_decimal_where_they_need_it() {
        for (bytes, text) in [
            (0, "0B"),
            (1, "1B"),
            (1023, "1023B"),
            (1024, "1K"),
            (1536, "1.5K"),
            (4096, "4K"),
            (1_572_864, "1.5M"),
            (5 << 30, "5G"),
            (3 << 40, "3072G"),
        ] {
            assert_eq!(size(bytes), text);
        }
    }

    #[test]
    fn x4_ranges_are_within_the_file() {
        let shown = |range: &[i64]| numbered("/memories/a", "a\nb\nc\n", Some(range)).unwrap();
        let head = "Here's the content of /memories/a with line numbers:\n";
        assert_eq!(shown(&[2, 3]), format!("{head}     2\tb\n     3\tc"));
        assert_eq!(shown(&[3, -1]), format!("{head}     3\tc\n     4\t"));
        assert_eq!(shown(&[-4, 1]), format!("{head}     1\ta"));
        assert_eq!(shown(&[9, 99]), head);
        assert_eq!(shown(&[1]), format!("{head}     1\ta\n     2\tb\n     3\tc\n     4\t"));
        let long = "\n".repeat(MAX_LINES);
        assert!(numbered("/memories/a", &long, None).is_err());
    }

    #[test]
    fn x4_places_of_a_text_overlap() {
        assert_eq!(lines_of("aaa\naa", "aa"), [1, 1, 2]);
        assert_eq!(lines_of("é\né", "é"), [1, 2]);
        assert!(lines_of("abc", "").is_empty());
    }
}
