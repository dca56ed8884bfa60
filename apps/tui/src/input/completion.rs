//! What could be meant: commands after a slash, files after an `@`.

use crate::host::CommandInfo;
use crate::theme::Theme;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

/// Choices that are shown at once.
const SHOWN: usize = 8;

/// What is being completed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// A command; what follows the slash.
    Command(String),
    /// A file; what follows the `@`.
    File(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    /// What is put in.
    pub(crate) text: String,
    /// What is shown beside it.
    pub(crate) about: String,
    /// Whether more is to be typed after it.
    pub(crate) takes: bool,
}

/// What could be meant, and which one is chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Choices {
    all: Vec<Choice>,
    at: usize,
}

/// What is completed at the end of a text: a command where it is the only
/// word, or the last word where that begins with `@`.
pub(crate) fn wanted(before: &str) -> Option<Wanted> {
    if let Some(name) = before.strip_prefix('/')
        && !name.contains(char::is_whitespace)
    {
        return Some(Wanted::Command(name.to_owned()));
    }
    let at = before.rfind('@')?;
    let (head, name) = before.split_at_checked(at)?;
    let begins = head.is_empty() || head.ends_with(char::is_whitespace);
    let name = name.strip_prefix('@')?;
    let plain = !name.contains(char::is_whitespace) && !name.starts_with('"');
    (begins && plain).then(|| Wanted::File(name.to_owned()))
}

/// How well a name fits what was typed: its letters in their order, the fewer
/// gaps the better, the end of a path before its start. None does not fit.
fn fit(name: &str, typed: &str) -> Option<usize> {
    if typed.is_empty() {
        return Some(name.len());
    }
    let (name, typed) = (name.to_lowercase(), typed.to_lowercase());
    if let Some(at) = name.rfind(&typed) {
        return Some(name.len() - at - typed.len());
    }
    let mut gaps = 0;
    let mut letters = name.chars().rev();
    for wanted in typed.chars().rev() {
        gaps += letters.by_ref().take_while(|letter| *letter != wanted).count();
        if gaps >= name.len() {
            return None;
        }
    }
    let found = typed.chars().count() + gaps + letters.count() == name.chars().count();
    found.then_some(1_000 + gaps)
}

/// The commands that fit.
pub(crate) fn commands(commands: &[CommandInfo], typed: &str) -> Choices {
    let mut found: Vec<(usize, Choice)> = commands
        .iter()
        .filter_map(|command| {
            let best = command.names.iter().filter(|name| name.starts_with(typed)).count();
            let name = command.names.first()?;
            let by_word = !typed.is_empty() && name.contains(typed);
            let rank = if best > 0 {
                0
            } else if by_word {
                1
            } else {
                return None;
            };
            let takes = !command.takes.is_empty();
            let text = format!("/{name}");
            Some((rank, Choice { text, about: command.about.clone(), takes }))
        })
        .collect();
    found.sort_by_key(|(rank, _)| *rank);
    Choices { all: found.into_iter().map(|(_, choice)| choice).collect(), at: 0 }
}

/// The files that fit, the best first.
pub(crate) fn files(paths: &[String], typed: &str) -> Choices {
    let mut found: Vec<(usize, &String)> =
        paths.iter().filter_map(|path| Some((fit(path, typed)?, path))).collect();
    found.sort_by_key(|(fit, _)| *fit);
    let choice = |path: &String| {
        let plain = !path.contains(char::is_whitespace);
        let text = if plain { format!("@{path}") } else { format!("@\"{path}\"") };
        Choice { text, about: String::new(), takes: true }
    };
    let all = found.into_iter().take(SHOWN * 4).map(|(_, path)| choice(path)).collect();
    Choices { all, at: 0 }
}

impl Choices {
    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(crate) fn chosen(&self) -> Option<&Choice> {
        self.all.get(self.at)
    }

    /// Chooses the one before or after.
    pub(crate) fn step(&mut self, step: isize) {
        let count = isize::try_from(self.all.len().max(1)).unwrap_or(1);
        let at = isize::try_from(self.at).unwrap_or(0);
        self.at = usize::try_from((at + step).rem_euclid(count)).unwrap_or(0);
    }

    /// Its lines.
    pub(crate) fn lines(&self, width: u16, theme: Theme) -> Vec<Line<'static>> {
        let first = self.at.saturating_sub(SHOWN - 1);
        let shown = self.all.iter().enumerate().skip(first).take(SHOWN);
        let column = shown.clone().map(|(_, choice)| choice.text.width()).max().unwrap_or(0);
        let room = usize::from(width).saturating_sub(column + 4);
        shown
            .map(|(at, choice)| {
                let style = if at == self.at { theme.chosen() } else { theme.accent() };
                let gap = " ".repeat(column.saturating_sub(choice.text.width()));
                let about: String = choice.about.chars().take(room).collect();
                Line::from(vec![
                    Span::styled(format!(" {}{gap} ", choice.text), style),
                    Span::styled(format!(" {about}"), theme.dim()),
                ])
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(choices: &Choices) -> Vec<&str> {
        choices.all.iter().map(|choice| choice.text.as_str()).collect()
    }

    #[test]
    fn q9_commands_are_completed_by_their_start_and_then_by_a_part() {
        let info = |names: &[&str], takes: &str| CommandInfo {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            takes: takes.to_owned(),
            about: "what it does".to_owned(),
        };
        let all = [info(&["unpin"], "N"), info(&["pin"], "N"), info(&["quit", "exit"], "")];
        assert_eq!(texts(&commands(&all, "pin")), ["/pin", "/unpin"]);
        assert_eq!(texts(&commands(&all, "ex")), ["/quit"]);
        assert_eq!(texts(&commands(&all, "")), ["/unpin", "/pin", "/quit"]);
    }

    #[test]
    fn q9_files_are_completed_by_letters_in_their_order() {
        let paths: Vec<String> = ["src/main.rs", "src/app/main_loop.rs", "a b.txt", "docs/map.md"]
            .map(str::to_owned)
            .to_vec();
        assert_eq!(texts(&files(&paths, "main.rs")).first(), Some(&"@src/main.rs"));
        assert_eq!(texts(&files(&paths, "saml")), ["@src/app/main_loop.rs"]);
        assert_eq!(texts(&files(&paths, "a b")), ["@\"a b.txt\""]);
        assert!(files(&paths, "zzz").is_empty());
    }

    #[test]
    fn q9_what_is_completed_is_the_last_word() {
        assert_eq!(wanted("/co"), Some(Wanted::Command("co".into())));
        assert_eq!(wanted("/compact now"), None);
        assert_eq!(wanted("look at @src/m"), Some(Wanted::File("src/m".into())));
        assert_eq!(wanted("mail me@home"), None);
        assert_eq!(wanted("@a done"), None);
    }
}
