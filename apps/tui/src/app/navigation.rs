//! Walking through the conversation: choosing, folding, searching, copying.

use super::{Act, App, Phase};
use crate::transcript_view::Cell;
use crate::wrap;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

/// What the line below says.
const KEYS: &str = "j/k choose · Enter unfold · z all · / search · [ ] your messages · \
    y copy · o open · Esc back";

/// A person who walks through the conversation.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Browsing {
    /// What is searched for, while it is typed.
    typing: Option<String>,
    /// What the last search came to.
    said: &'static str,
}

impl App {
    /// Begins to walk through the conversation.
    pub(super) fn begin_browsing(&mut self) {
        if !self.talk.is_empty() {
            self.browsing = Some(Browsing::default());
            self.talk.choose(0, self.theme);
        }
    }

    fn end_browsing(&mut self) {
        self.browsing = None;
        self.talk.choose_none();
        self.talk.go_to_end();
    }

    /// A key while the person walks through the conversation.
    pub(super) fn browse(&mut self, key: KeyEvent) -> Vec<Act> {
        let theme = self.theme;
        if self.browsing.as_ref().is_some_and(|browsing| browsing.typing.is_some()) {
            self.type_search(key);
            return Vec::new();
        }
        match key.code {
            KeyCode::Char('o') if key.modifiers == KeyModifiers::CONTROL => self.end_browsing(),
            KeyCode::Char('t') if key.modifiers == KeyModifiers::CONTROL => {
                self.talk.fold_thoughts(theme);
            }
            KeyCode::Esc if self.talk.searched().is_some() => self.talk.end_search(),
            KeyCode::Esc | KeyCode::Char('q' | 'i') => self.end_browsing(),
            KeyCode::Up | KeyCode::Char('k') => self.talk.choose(-1, theme),
            KeyCode::Down | KeyCode::Char('j') => self.talk.choose(1, theme),
            KeyCode::Char('[') => self.talk.choose_person(-1, theme),
            KeyCode::Char(']') => self.talk.choose_person(1, theme),
            KeyCode::Enter if self.opens() => return self.open_chosen(),
            KeyCode::Enter | KeyCode::Char(' ') => self.talk.fold(),
            KeyCode::Char('z') => self.talk.fold_all(theme),
            KeyCode::Char('o') => return self.open_chosen(),
            KeyCode::Char('e') => return self.edit_chosen(),
            KeyCode::PageUp => self.talk.page(-1, theme),
            KeyCode::PageDown => self.talk.page(1, theme),
            KeyCode::Home | KeyCode::Char('g') => self.talk.choose_first(theme),
            KeyCode::End | KeyCode::Char('G') => self.talk.choose_last(theme),
            KeyCode::Char('/') => self.set_typing(Some(String::new())),
            KeyCode::Char('n') => self.find(-1),
            KeyCode::Char('N') => self.find(1),
            KeyCode::Char('y') => return self.copy(self.talk.chosen().map(Cell::words)),
            KeyCode::Char('Y') => return self.copy(self.talk.chosen().map(Cell::matter)),
            _ => {}
        }
        Vec::new()
    }

    fn set_typing(&mut self, typing: Option<String>) {
        if let Some(browsing) = &mut self.browsing {
            browsing.typing = typing;
        }
    }

    fn say(&mut self, said: &'static str) {
        if let Some(browsing) = &mut self.browsing {
            browsing.said = said;
        }
    }

    fn find(&mut self, step: isize) {
        let found = self.talk.find(step, self.theme);
        self.say(if found { "" } else { "not found" });
    }

    /// A key while the person types what to search for: it is searched at once.
    fn type_search(&mut self, key: KeyEvent) {
        let Some(mut needle) = self.browsing.as_mut().and_then(|own| own.typing.take()) else {
            return;
        };
        match key.code {
            KeyCode::Esc => return self.talk.end_search(),
            KeyCode::Enter => {
                if needle.is_empty() {
                    self.talk.end_search();
                }
                return;
            }
            KeyCode::Backspace => {
                needle.pop();
            }
            KeyCode::Char(letter) if !key.modifiers.contains(KeyModifiers::CONTROL) => {
                needle.push(letter);
            }
            _ => {}
        }
        let found = self.talk.search(&needle, self.theme);
        self.say(if found { "" } else { "not found" });
        self.set_typing(Some(needle));
    }

    fn copy(&mut self, text: Option<String>) -> Vec<Act> {
        self.say(if text.is_some() { "copied" } else { "" });
        text.map(Act::Copy).into_iter().collect()
    }

    /// Whether the chosen cell is nothing but the files that it names.
    fn opens(&self) -> bool {
        use crate::transcript_view::Kind::{Recalled, Remembered};
        let chosen = self.talk.chosen().map(Cell::kind);
        matches!(chosen, Some(Recalled(_) | Remembered(..)))
    }

    fn open_chosen(&mut self) -> Vec<Act> {
        let files = self.talk.chosen().map(Cell::files).unwrap_or_default();
        if files.is_empty() {
            self.say("no file to open");
            return Vec::new();
        }
        vec![Act::Open(files)]
    }

    /// Lets the person edit the memory that the chosen cell names.
    fn edit_chosen(&mut self) -> Vec<Act> {
        let file = self.talk.chosen().and_then(|cell| cell.files().into_iter().next());
        let name = file.as_ref().and_then(|file| file.file_stem()).filter(|_| self.opens());
        match name.map(|name| format!("memory edit {}", name.to_string_lossy())) {
            Some(command) if self.phase == Phase::Rest => return self.command(&command),
            Some(_) => self.say("not while something is running"),
            None => self.say("no memory to edit"),
        }
        Vec::new()
    }

    /// The line below the conversation, while the person walks through it.
    pub(super) fn draw_browsing(&self, area: Rect, buf: &mut Buffer) {
        let Some(browsing) = &self.browsing else { return };
        let theme = self.theme;
        let (keys, searched) = match (&browsing.typing, self.talk.searched()) {
            (Some(needle), _) => ("Enter keep · Esc end", format!("/{needle}")),
            (None, Some(needle)) => ("n before · N after · Esc end", format!("/{needle}")),
            (None, None) => (KEYS, String::new()),
        };
        let mut parts = vec![self.talk.position()];
        parts.extend(
            [browsing.said.to_owned(), searched].into_iter().filter(|part| !part.is_empty()),
        );
        let place = parts.join(" · ");
        let room = usize::from(area.width).saturating_sub(place.chars().count() + 2);
        Line::from(vec![
            Span::styled(place, theme.title()),
            Span::styled(format!("  {}", wrap::cut(keys, room)), theme.dim()),
        ])
        .render(area, buf);
    }
}
