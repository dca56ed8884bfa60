//! `/help`: keys and commands, with a search.

use super::rows::{self, Rows, Typing};
use super::{Panel, PanelAct};
use crate::host::CommandInfo;
use crate::panel_data::{Table, TableRow};
use crate::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use ratatui::layout::Rect;

/// What keys do.
const KEYS: &[(&str, &str)] = &[
    ("Enter", "send; Shift-Enter, Alt-Enter, Ctrl-J or a backslash before it: new line"),
    ("?", "this list, if nothing is typed"),
    ("Esc", "stop what runs"),
    ("Esc Esc", "clear the line; if it is empty, go back to an earlier message"),
    ("Ctrl-C", "close, stop or clear; twice to leave"),
    ("Ctrl-D", "leave, if nothing is typed"),
    ("Up, Down", "earlier input; Ctrl-R searches it"),
    ("Tab", "complete: commands after /, files after @"),
    ("Shift-Tab", "switch mode: ask, accept edits, plan"),
    ("Ctrl-Y", "accept the memory that was offered from the inbox"),
    ("Ctrl-G", "continue typing in your editor"),
    ("Ctrl-O", "walk through the conversation: fold, search, copy"),
    ("Ctrl-T", "fold and unfold thinking"),
    ("Ctrl-B", "send the running command to the background; otherwise show what runs there"),
    ("PgUp, PgDn, wheel", "scroll"),
    ("Ctrl-S", "switch the mouse between scrolling and selecting text"),
    ("Ctrl-L, Ctrl-Z", "redraw; suspend"),
    ("@PATH", "attach a file to the message"),
    ("!COMMAND", "run it in your shell"),
    ("#SENTENCE", "save it as a memory"),
];

/// Keys and commands.
pub(crate) struct HelpPanel {
    rows: Rows,
}

impl HelpPanel {
    /// With the commands that there are.
    pub(crate) fn new(commands: &[CommandInfo]) -> Self {
        let key = |(name, about): &(&str, &str)| TableRow {
            cells: vec!["key".to_owned(), (*name).to_owned(), (*about).to_owned()],
            ..TableRow::default()
        };
        let command = |command: &CommandInfo| {
            let name = command.names.first().cloned().unwrap_or_default();
            let usage = format!("/{name} {}", command.takes);
            let more = command.names.iter().skip(1).map(|name| format!("/{name}"));
            TableRow {
                id: format!("/{name} "),
                cells: vec![
                    "command".to_owned(),
                    usage.trim_end().to_owned(),
                    command.about.clone(),
                ],
                more: more.collect::<Vec<_>>().join(" "),
                ..TableRow::default()
            }
        };
        let rows = commands.iter().map(command).chain(KEYS.iter().map(key)).collect();
        let mut list = Rows::new(Typing::Always);
        list.set(Table { head: Vec::new(), rows, empty: String::new() });
        Self { rows: list }
    }
}

impl Panel for HelpPanel {
    fn title(&self) -> String {
        "commands and keys".to_owned()
    }

    fn keys(&self) -> String {
        "Enter uses a command · type to search · Esc back".to_owned()
    }

    fn draw(&mut self, area: Rect, buf: &mut Buffer, theme: Theme) {
        self.rows.draw(area, buf, theme);
    }

    fn key(&mut self, key: KeyEvent) -> PanelAct {
        let Some(key) = self.rows.key(key) else { return PanelAct::Stay };
        match (key.code, self.rows.chosen()) {
            (KeyCode::Enter, Some(row)) if !row.id.is_empty() => PanelAct::Put(row.id.clone()),
            _ => rows::closes(key),
        }
    }
}
