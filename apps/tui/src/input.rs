//! Where the person types: lines, history, completion, pastes.

use crate::host::CommandInfo;
use crate::theme::Theme;
use crate::wrap;
use everfold_agent::{Pasted, Waiting};
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;
use ratatui_textarea::{CursorMove, TextArea, WrapMode};
use unicode_width::UnicodeWidthStr;

mod completion;
pub(crate) mod history;
mod pastes;

use completion::{Choices, Wanted};
use history::History;
use pastes::Pastes;

/// Rows that it may take.
const MOST_ROWS: u16 = 10;
/// Columns of the mark before the text.
const MARK: u16 = 2;
/// What a key led to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    /// The text changed, or the cursor moved.
    Nothing,
    /// The person sent it.
    Sent(String),
    /// Names of files are needed for completion.
    Files,
    /// The key means nothing here.
    Passed,
}

/// The text that is being typed.
pub(crate) struct Input {
    area: TextArea<'static>,
    history: History,
    /// A search in the history: the words, and how many finds are left out.
    searching: Option<(String, usize)>,
    choices: Choices,
    commands: Vec<CommandInfo>,
    files: Option<Vec<String>>,
    pastes: Pastes,
    /// What of the lines was pasted, the words that stand for pastes included.
    pasted: Pasted,
    /// What was sent last, with what of it was pasted.
    sent: Waiting,
}

impl Default for Input {
    fn default() -> Self {
        Self {
            area: fresh(""),
            history: History::default(),
            searching: None,
            choices: Choices::default(),
            commands: Vec::new(),
            files: None,
            pastes: Pastes::default(),
            pasted: Pasted::default(),
            sent: Waiting::default(),
        }
    }
}

fn fresh(text: &str) -> TextArea<'static> {
    let mut area = TextArea::new(text.split('\n').map(str::to_owned).collect());
    area.set_wrap_mode(WrapMode::WordOrGlyph);
    area.set_cursor_line_style(Style::new());
    area.set_placeholder_style(Style::new().add_modifier(ratatui::style::Modifier::DIM));
    area.set_placeholder_text("what shall we do?  / commands  @ files  ! shell  # remember");
    area.move_cursor(CursorMove::Bottom);
    area.move_cursor(CursorMove::End);
    area
}

impl Input {
    /// What is typed, pastes in full.
    pub(crate) fn text(&self) -> String {
        self.pastes.in_full(self.area.lines().join("\n"))
    }

    /// Takes what was sent last, with what of it was pasted.
    pub(crate) fn take_sent(&mut self) -> Waiting {
        std::mem::take(&mut self.sent)
    }

    /// Takes note of what changed.
    fn follow(&mut self) {
        self.pasted.edited(&self.area.lines().join("\n"));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.area.is_empty()
    }

    /// Puts a text in the place of what is typed.
    pub(crate) fn set(&mut self, text: &str) {
        self.put(text);
        self.pastes = Pastes::default();
        self.choices = Choices::default();
        self.follow();
    }

    fn put(&mut self, text: &str) {
        self.area = fresh(text);
    }

    /// What was typed before, oldest first.
    pub(crate) fn remember(&mut self, entries: Vec<String>) {
        self.history = History::new(entries);
    }

    /// The commands that can be completed.
    pub(crate) fn know(&mut self, commands: Vec<CommandInfo>) {
        self.commands = commands;
    }

    /// The files that can be completed.
    pub(crate) fn know_files(&mut self, files: Vec<String>) {
        self.files = Some(files);
        let _ = self.complete();
    }

    /// Adds a text at the cursor; a long one as a word that stands for it.
    pub(crate) fn paste(&mut self, text: &str) {
        let shown = self.pastes.take(text);
        self.follow();
        self.area.insert_str(shown);
        self.pasted.pasted(&self.area.lines().join("\n"));
        self.pasted.know(&text.replace("\r\n", "\n").replace('\r', "\n"));
        let _ = self.complete();
    }

    pub(crate) fn key(&mut self, key: KeyEvent) -> Typed {
        let typed = self.pressed(key);
        self.follow();
        typed
    }

    fn pressed(&mut self, key: KeyEvent) -> Typed {
        if self.searching.is_some() {
            return self.search_key(key);
        }
        let control = key.modifiers == KeyModifiers::CONTROL;
        let open = !self.choices.is_empty();
        match key.code {
            KeyCode::Tab if open => self.accept(),
            KeyCode::Up if open => self.chosen(-1),
            KeyCode::Down if open => self.chosen(1),
            KeyCode::Esc if open => {
                self.choices = Choices::default();
                Typed::Nothing
            }
            KeyCode::Enter if key.modifiers.is_empty() => self.enter(),
            KeyCode::Enter => self.edit(TextArea::insert_newline),
            KeyCode::Char('j') if control => self.edit(TextArea::insert_newline),
            KeyCode::Char('r') if control => {
                self.searching = Some((String::new(), 0));
                Typed::Nothing
            }
            KeyCode::Char('u') if control => self.edit(|area| {
                area.delete_line_by_head();
            }),
            KeyCode::Up if self.area.cursor().0 == 0 => self.older(),
            KeyCode::Down if self.area.cursor().0 + 1 == self.area.lines().len() => self.newer(),
            KeyCode::Esc
            | KeyCode::PageUp
            | KeyCode::PageDown
            | KeyCode::Tab
            | KeyCode::BackTab => Typed::Passed,
            KeyCode::Char('b' | 'g' | 'l' | 'o' | 's' | 't' | 'z') if control => Typed::Passed,
            _ => self.edit(|area| {
                area.input(key);
            }),
        }
    }

    fn edit(&mut self, change: impl FnOnce(&mut TextArea<'static>)) -> Typed {
        change(&mut self.area);
        self.complete()
    }

    fn chosen(&mut self, step: isize) -> Typed {
        self.choices.step(step);
        Typed::Nothing
    }

    fn enter(&mut self) -> Typed {
        // What is typed out needs no completion.
        let typed = match completion::wanted(&self.before()) {
            Some(Wanted::Command(name)) => format!("/{name}"),
            Some(Wanted::File(name)) => format!("@{name}"),
            None => String::new(),
        };
        if let Some(choice) = self.choices.chosen()
            && choice.text != typed
        {
            let ready = choice.text.starts_with('/') && !choice.takes;
            let accepted = self.accept();
            if !ready {
                return accepted;
            }
        }
        let text = self.text();
        if let Some(start) = text.strip_suffix('\\') {
            self.put(&format!("{start}\n"));
            return Typed::Nothing;
        }
        if text.trim().is_empty() {
            return Typed::Nothing;
        }
        self.history.add(&text);
        self.follow();
        self.sent = self.pasted.in_full(self.pastes.words());
        self.set("");
        Typed::Sent(text)
    }

    /// Puts the choice in the place of what was typed of it.
    fn accept(&mut self) -> Typed {
        let Some(choice) = self.choices.chosen().cloned() else { return Typed::Nothing };
        let typed = match completion::wanted(&self.before()) {
            Some(Wanted::Command(name) | Wanted::File(name)) => name.chars().count() + 1,
            None => return Typed::Nothing,
        };
        for _ in 0..typed {
            self.area.delete_char();
        }
        let space = if choice.takes { " " } else { "" };
        self.area.insert_str(format!("{}{space}", choice.text));
        self.choices = Choices::default();
        Typed::Nothing
    }

    /// The line before the cursor.
    fn before(&self) -> String {
        let cursor = self.area.cursor();
        let line = self.area.lines().get(cursor.0).map(String::as_str).unwrap_or_default();
        line.chars().take(cursor.1).collect()
    }

    /// Looks what could be meant.
    fn complete(&mut self) -> Typed {
        let wanted = completion::wanted(&self.before());
        self.choices = match (&wanted, &self.files) {
            (Some(Wanted::Command(name)), _) if self.area.cursor().0 == 0 => {
                completion::commands(&self.commands, name)
            }
            (Some(Wanted::File(name)), Some(files)) => completion::files(files, name),
            (Some(Wanted::File(_)), None) => return Typed::Files,
            _ => {
                self.files = None;
                Choices::default()
            }
        };
        Typed::Nothing
    }

    fn older(&mut self) -> Typed {
        let typed = self.text();
        if let Some(entry) = self.history.older(&typed).map(str::to_owned) {
            self.put(&entry);
        }
        Typed::Nothing
    }

    fn newer(&mut self) -> Typed {
        if let Some(entry) = self.history.newer() {
            self.put(&entry);
        }
        Typed::Nothing
    }

    fn search_key(&mut self, key: KeyEvent) -> Typed {
        let Some((words, skip)) = &mut self.searching else { return Typed::Nothing };
        match key.code {
            KeyCode::Char('r') if key.modifiers == KeyModifiers::CONTROL => *skip += 1,
            KeyCode::Char(letter)
                if key.modifiers.is_empty() || key.modifiers == KeyModifiers::SHIFT =>
            {
                words.push(letter);
                *skip = 0;
            }
            KeyCode::Backspace => {
                words.pop();
                *skip = 0;
            }
            KeyCode::Enter | KeyCode::Tab | KeyCode::Right => {
                let found = self.history.search(words, *skip).map(str::to_owned);
                self.searching = None;
                if let Some(found) = found {
                    self.put(&found);
                }
            }
            _ => self.searching = None,
        }
        Typed::Nothing
    }

    /// What stands above it: choices, or a search.
    pub(crate) fn above(&self, width: u16, theme: Theme) -> Vec<Line<'static>> {
        if let Some((words, skip)) = &self.searching {
            let found = self.history.search(words, *skip).unwrap_or("nothing found");
            let line = format!("search: {words}▏ {}", found.replace('\n', " "));
            return wrap::text(&line, theme.accent(), width, "").into_iter().take(1).collect();
        }
        self.choices.lines(width, theme)
    }

    /// Rows that it takes at a width.
    pub(crate) fn rows(&self, width: u16) -> u16 {
        let room = usize::from(width.saturating_sub(MARK).max(1));
        let rows = self.area.lines().iter().map(|line| line.width() / room + 1);
        u16::try_from(rows.sum::<usize>()).unwrap_or(MOST_ROWS).clamp(1, MOST_ROWS)
    }

    pub(crate) fn draw(&self, area: Rect, buf: &mut Buffer, theme: Theme) {
        let mark = match self.area.lines().first().and_then(|line| line.chars().next()) {
            Some('!') => "!",
            Some('#') => "#",
            _ => "›",
        };
        Span::styled(mark, theme.title()).render(area, buf);
        let inner =
            Rect { x: area.x.saturating_add(MARK), width: area.width.saturating_sub(MARK), ..area };
        (&self.area).render(inner, buf);
    }
}

#[cfg(test)]
mod tests;
