//! Output for people and programs: the one place that writes to the terminal.
//!
//! Colour only where a terminal takes it and `NO_COLOR` is not set. What comes
//! from a model, a tool or a file is cleaned of control characters before a
//! terminal sees it, so that no text can move the cursor or rename the window.
//! Programs that read a pipe get the bytes as they are.

use everfold_agent::engine::event::Finder;
pub(crate) use everfold_kernel::phrase::{counted, cut, grouped, size};
use everfold_kernel::ports::{Kept, WaitingMemory};
use everfold_tui::TextPage;
pub(crate) use everfold_tui::TextStyle;

use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

/// Width where there is no terminal to ask.
const DEFAULT_WIDTH: usize = 100;
/// Tables are not squeezed below this.
const LEAST_WIDTH: usize = 40;

/// Writes to standard output and standard error, or to a page of the screen.
#[derive(Clone, Debug)]
pub(crate) struct Presenter {
    out: Place,
    err: Place,
    width: usize,
    page: Option<TextPage>,
}

/// Where a stream goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// A terminal with colours.
    Colour,
    /// A terminal without.
    Plain,
    /// A pipe or a file.
    Pipe,
}

/// The sequence that turns a look on.
fn code(look: TextStyle) -> &'static str {
    match look {
        TextStyle::Normal => "",
        TextStyle::Dim => "\u{1b}[2m",
        TextStyle::Bold => "\u{1b}[1m",
        TextStyle::Red => "\u{1b}[31m",
        TextStyle::Yellow => "\u{1b}[33m",
        TextStyle::Blue => "\u{1b}[34m",
        TextStyle::Cyan => "\u{1b}[36m",
        TextStyle::Green => "\u{1b}[32m",
        TextStyle::Magenta => "\u{1b}[35m",
    }
}

impl Presenter {
    /// A presenter for these variables.
    pub(crate) fn new(variables: &BTreeMap<String, String>) -> Self {
        let set = |name: &str| variables.get(name).is_some_and(|value| !value.is_empty());
        let dumb = variables.get("TERM").is_some_and(|term| term == "dumb");
        let place = |terminal: bool| match terminal {
            false => Place::Pipe,
            true if set("NO_COLOR") || dumb => Place::Plain,
            true => Place::Colour,
        };
        let asked = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        let named = variables.get("COLUMNS").and_then(|columns| columns.parse().ok());
        Self {
            out: place(io::stdout().is_terminal()),
            err: place(io::stderr().is_terminal()),
            width: asked.or(named).unwrap_or(DEFAULT_WIDTH).max(LEAST_WIDTH),
            page: None,
        }
    }

    /// The same, for a page of the screen.
    pub(crate) fn on(page: TextPage) -> Self {
        let width = page.width().max(LEAST_WIDTH);
        Self { out: Place::Colour, err: Place::Colour, width, page: Some(page) }
    }

    /// One that nobody reads.
    pub(crate) fn nowhere() -> Self {
        Self::on(TextPage::nowhere())
    }

    /// Runs what needs the terminal for itself, such as an editor.
    pub(crate) fn aside<T>(&self, work: impl FnOnce() -> T) -> T {
        match &self.page {
            Some(page) => page.aside(work),
            None => work(),
        }
    }

    /// Whether a person sees standard output.
    pub(crate) fn is_terminal(&self) -> bool {
        self.out != Place::Pipe
    }

    /// Whether colours are wanted there.
    pub(crate) fn has_colours(&self) -> bool {
        self.out == Place::Colour
    }

    /// Columns of the terminal.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Writes a text as it is, and shows it at once.
    pub(crate) fn text(&self, text: &str) -> io::Result<()> {
        self.styled(TextStyle::Normal, text)
    }

    /// Writes a text with a look.
    pub(crate) fn styled(&self, look: TextStyle, text: &str) -> io::Result<()> {
        if let Some(page) = &self.page {
            page.write(look, &cleaned(text));
            return Ok(());
        }
        write_to(&mut io::stdout().lock(), self.out, look, text)
    }

    pub(crate) fn line(&self, text: &str) -> io::Result<()> {
        self.styled(TextStyle::Normal, &format!("{text}\n"))
    }

    /// Writes a value as one line of JSON.
    pub(crate) fn json_line(value: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_string(value)?;
        line.push('\n');
        bytes(&mut io::stdout().lock(), &line)
    }

    /// Writes a value as JSON that people can read.
    pub(crate) fn json(value: &impl Serialize) -> io::Result<()> {
        let mut text = serde_json::to_string_pretty(value)?;
        text.push('\n');
        bytes(&mut io::stdout().lock(), &text)
    }

    /// Writes a line to standard error. Nobody may be there to read it.
    pub(crate) fn note(&self, look: TextStyle, text: &str) {
        if let Some(page) = &self.page {
            page.write(look, &cleaned(&format!("{text}\n")));
            return;
        }
        let _ = write_to(&mut io::stderr().lock(), self.err, look, &format!("{text}\n"));
    }

    /// Writes a table; the last column is cut at the width of a terminal.
    pub(crate) fn table(&self, rows: &[Vec<String>]) -> io::Result<()> {
        let width = self.is_terminal().then_some(self.width);
        for line in layout(rows, width) {
            self.line(&line)?;
        }
        Ok(())
    }
}

fn write_to(to: &mut impl Write, place: Place, look: TextStyle, text: &str) -> io::Result<()> {
    let text = if place == Place::Pipe { Cow::Borrowed(text) } else { cleaned(text) };
    if place == Place::Colour && look != TextStyle::Normal {
        let (body, end) = match text.strip_suffix('\n') {
            Some(body) => (body, "\n"),
            None => (&*text, ""),
        };
        return bytes(to, &format!("{}{body}\u{1b}[0m{end}", code(look)));
    }
    bytes(to, &text)
}

fn bytes(to: &mut impl Write, text: &str) -> io::Result<()> {
    to.write_all(text.as_bytes())?;
    to.flush()
}

/// A text without the characters that steer a terminal.
fn cleaned(text: &str) -> Cow<'_, str> {
    let steers = |letter: char| letter.is_control() && letter != '\n' && letter != '\t';
    if text.contains(steers) {
        Cow::Owned(text.chars().filter(|letter| !steers(*letter)).collect())
    } else {
        Cow::Borrowed(text)
    }
}

/// Columns under each other, two blanks apart.
fn layout(rows: &[Vec<String>], width: Option<usize>) -> Vec<String> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|at| rows.iter().filter_map(|row| row.get(at)).map(|cell| chars(cell)).max())
        .map(Option::unwrap_or_default)
        .collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| {
            let missing = width.saturating_sub(chars(cell));
            format!("{cell}{}", " ".repeat(missing))
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        cut(line.trim_end(), width.unwrap_or(usize::MAX))
    };
    rows.iter().map(line).collect()
}

fn chars(text: &str) -> usize {
    text.chars().count()
}

/// Characters of a file's name in a notice.
const NAME_CHARS: usize = 60;

/// The names of files, without where they are.
pub(crate) fn names(paths: &[PathBuf]) -> String {
    let names = paths.iter().filter_map(|path| path.file_name());
    names.map(|name| cut(&name.to_string_lossy(), NAME_CHARS)).collect::<Vec<_>>().join(", ")
}

/// A memory that waits and would have helped, with the command that accepts it
/// (L5.46).
pub(crate) fn offered(waiting: &WaitingMemory) -> String {
    format!(
        "a memory in the inbox would have helped ({}) · `everfold {}` accepts it",
        waiting.told(),
        waiting.command()
    )
}

/// What was kept after a turn, for people.
pub(crate) fn remembered(kept: &[Kept], how: Finder) -> String {
    let notices: Vec<String> = kept.iter().filter_map(Kept::notice).collect();
    let by = match how {
        Finder::Model => "",
        Finder::Rule => " (by rule, without a model)",
    };
    let changed = kept.iter().filter(|kept| kept.entry().is_some());
    let hints: Vec<String> =
        changed.filter_map(Kept::hint).map(|hint| format!("`{hint}`")).collect();
    let undo = match hints.as_slice() {
        [] => String::new(),
        [hint] => format!(" · {hint} undoes it"),
        // Each has an entry of its own (L5.41).
        hints => format!(" · {} undo them", hints.join(" and ")),
    };
    format!("memory: {}{by}{undo}", notices.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(place: Place, look: TextStyle, text: &str) -> String {
        let mut out = Vec::new();
        write_to(&mut out, place, look, text).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn s6_no_text_steers_the_terminal() {
        let hostile = "a\u{1b}]0;title\u{7}b\r\u{9b}2Jc\td\n";
        assert_eq!(written(Place::Plain, TextStyle::Normal, hostile), "a]0;titleb2Jc\td\n");
        assert_eq!(written(Place::Pipe, TextStyle::Red, hostile), hostile);
    }

    #[test]
    fn c1_colours_only_where_they_are_taken() {
        assert_eq!(written(Place::Colour, TextStyle::Dim, "x\n"), "\u{1b}[2mx\u{1b}[0m\n");
        assert_eq!(written(Place::Plain, TextStyle::Dim, "x\n"), "x\n");
    }

    #[test]
    fn tables_line_up_and_fit() {
        let rows = vec![
            vec!["a".to_owned(), "bbb".to_owned(), "last".to_owned()],
            vec!["aaa".to_owned(), "é".to_owned(), "a long one".to_owned()],
        ];
        assert_eq!(layout(&rows, None), ["a    bbb  last", "aaa  é    a long one"]);
        assert_eq!(layout(&rows, Some(14)), ["a    bbb  last", "aaa  é    a l…"]);
    }
}
