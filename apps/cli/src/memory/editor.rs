//! Texts that a person writes: from standard input, or in their editor.

use crate::failure::{Refusal, Usage};
use crate::presenter::Presenter;
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::io::{IsTerminal, Read, Write};
use std::process::Command;
use tempfile::NamedTempFile;

/// The longest text that is read, in bytes: more than a memory may have, so
/// that the store says what is too long.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// What is piped in; none where a person sits at the terminal.
pub(super) fn piped() -> Result<Option<String>> {
    let input = std::io::stdin();
    if input.is_terminal() {
        return Ok(None);
    }
    text_of(input.lock()).context("standard input could not be read").map(Some)
}

fn text_of(from: impl Read) -> Result<String> {
    let mut bytes = Vec::new();
    from.take(MAX_BYTES).read_to_end(&mut bytes)?;
    String::from_utf8(bytes)
        .map_err(|_| Usage::new("the text is not UTF-8", "convert it, and try again").into())
}

/// A text that was edited. The file stays until it was saved, so that nothing
/// that a person wrote is lost.
pub(crate) struct Edited {
    pub(crate) text: String,
    file: NamedTempFile,
}

impl Edited {
    /// Ends with an error, and tells where the text is.
    pub(crate) fn keep(self, error: anyhow::Error) -> anyhow::Error {
        if self.text.trim().is_empty() {
            return error;
        }
        match self.file.keep() {
            Ok((_, path)) => {
                let hint = format!("your text is in {}", path.display());
                Refusal::new(format!("{error:#}"), hint).into()
            }
            Err(_) => error,
        }
    }
}

/// Lets a person edit a text. The file that they edit is theirs alone (S5).
pub(crate) fn edit(
    text: &str,
    variables: &BTreeMap<String, String>,
    presenter: &Presenter,
) -> Result<Edited> {
    let set = |name: &&str| variables.get(*name).filter(|value| !value.trim().is_empty());
    let editor = ["VISUAL", "EDITOR"].iter().find_map(set).map_or("vi", String::as_str);
    let named = tempfile::Builder::new().prefix("everfold-").suffix(".md").tempfile();
    let mut file = named.context("a file to edit could not be created")?;
    file.write_all(text.as_bytes())?;
    file.flush()?;
    let hint = "set EDITOR to a program that waits until you are done";
    let status = presenter
        .aside(|| command(editor).arg(file.path()).status())
        .map_err(|error| Usage::new(format!("{editor} could not be started: {error}"), hint))?;
    if !status.success() {
        let message = format!("{editor} ended with {status}; nothing was changed");
        return Err(Refusal::new(message, hint).into());
    }
    // Many editors write a new file and give it the name of the old one.
    let written = std::fs::File::open(file.path()).context("the edited file is gone")?;
    Ok(Edited { text: text_of(written)?, file })
}

/// The editor as people set it: a program with arguments.
fn command(editor: &str) -> Command {
    if cfg!(windows) {
        let mut words = editor.split_whitespace();
        let mut command = Command::new(words.next().unwrap_or("notepad"));
        command.args(words);
        return command;
    }
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{editor} \"$@\""), editor]);
    command
}
