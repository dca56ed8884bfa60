//! What one file has.

use crate::tree::Stop;
use everfold_kernel::ports::GrepMode;
use grep_searcher::{Searcher, Sink, SinkContext, SinkFinish, SinkMatch};
use std::io;
use std::path::Path;

/// Longer lines are cut: a minified file would fill the answer.
const LINE_CHARS: usize = 500;

/// Collects the matches of one file.
pub(super) struct Matches<'a> {
    path: String,
    mode: GrepMode,
    room: usize,
    stop: &'a Stop,
    /// Lines of output; only for [`GrepMode::Content`].
    pub(super) lines: Vec<String>,
    /// Lines that matched.
    pub(super) count: u64,
    /// Whether the file turned out not to be text.
    pub(super) binary: bool,
}

impl<'a> Matches<'a> {
    /// Takes at most `room` lines of output.
    pub(super) fn new(path: &Path, mode: GrepMode, room: usize, stop: &'a Stop) -> Self {
        Self {
            path: path.display().to_string(),
            mode,
            room,
            stop,
            lines: Vec::new(),
            count: 0,
            binary: false,
        }
    }

    /// Adds a line, and says whether to go on.
    fn push(&mut self, mark: char, number: Option<u64>, bytes: &[u8]) -> bool {
        let text = String::from_utf8_lossy(bytes);
        let text = cut(text.trim_end_matches(['\r', '\n']));
        let number = number.unwrap_or_default();
        let path = &self.path;
        self.lines.push(format!("{path}{mark}{number}{mark}{text}"));
        self.lines.len() < self.room
    }
}

impl Sink for Matches<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.count += 1;
        let more = match self.mode {
            GrepMode::Content => self.push(':', found.line_number(), found.bytes()),
            GrepMode::Files => false,
            GrepMode::Count => true,
        };
        Ok(more && !self.stop.is_set())
    }

    fn context(&mut self, _: &Searcher, line: &SinkContext<'_>) -> io::Result<bool> {
        Ok(self.push('-', line.line_number(), line.bytes()))
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        self.lines.push("--".to_owned());
        Ok(self.lines.len() < self.room)
    }

    fn finish(&mut self, _: &Searcher, end: &SinkFinish) -> io::Result<()> {
        self.binary = end.binary_byte_offset().is_some();
        Ok(())
    }
}

/// The line, or its start and a note.
fn cut(line: &str) -> String {
    match line.char_indices().nth(LINE_CHARS) {
        Some((at, _)) => {
            let (start, rest) = line.split_at_checked(at).unwrap_or((line, ""));
            format!("{start} [... {} more characters]", rest.chars().count())
        }
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q5_long_lines_are_cut_with_a_note() {
        assert_eq!(cut("short"), "short");
        let long = "ä".repeat(LINE_CHARS + 7);
        let got = cut(&long);
        assert!(got.ends_with("ä [... 7 more characters]"), "{got}");
        assert_eq!(cut(&"ä".repeat(LINE_CHARS)).chars().count(), LINE_CHARS);
    }
}
