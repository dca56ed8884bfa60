//! Lists that the host makes: memories, sessions, settings and others. One
//! panel shows them all; what differs is what can be done with a row.

use super::rows::{self, Rows, Typing};
use super::text::TextPanel;
use super::{Panel, PanelAct, Slot, Written, job};
use crate::panel_data::{Listing, PanelData, Table, TableRow};
use crate::style::TextStyle;
use crate::theme::Theme;
use crate::worker::Ask;
use crate::wrap;
use everfold_agent::SessionId;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use ratatui::style::Style;
use std::sync::Arc;

mod kinds;

use kinds::{Does, Enter, Kind};

/// Rows below a list that say more of what is chosen, at most.
const MORE_ROWS: u16 = 8;
/// The least height that has room for them.
const ROOM: u16 = 14;

/// What came of a look.
type Found = (Written, anyhow::Result<Table>);

/// A list and what can be done with it.
pub(crate) struct ListPanel {
    side: Arc<dyn PanelData>,
    what: Listing,
    kind: Kind,
    rows: Rows,
    found: Slot<Found>,
    state: State,
    /// What the last thing that was done said.
    said: Written,
    /// A command that waits for a yes, and what is asked.
    sure: Option<(String, String)>,
    /// Rows of this session, below the others.
    own: Vec<TableRow>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    Looking,
    There,
    Failed(String),
}

impl ListPanel {
    /// A list; nothing is in it before it begins.
    pub(crate) fn new(side: Arc<dyn PanelData>, what: Listing) -> Self {
        let kind = kinds::kind(what);
        Self {
            side,
            what,
            rows: Rows::new(kind.typing),
            kind,
            found: Slot::default(),
            state: State::Looking,
            said: Vec::new(),
            sure: None,
            own: Vec::new(),
        }
    }

    /// The same, with words to look for.
    pub(crate) fn looking_for(mut self, words: &str) -> Self {
        if !words.is_empty() {
            self.rows.look_for(words);
        }
        self
    }

    /// The same, with rows that are not the agent's but this session's.
    pub(crate) fn with(mut self, own: Vec<TableRow>) -> Self {
        self.own = own;
        self
    }

    /// Makes the list anew.
    fn load(&mut self) -> PanelAct {
        let table = self.side.table(self.what);
        job(&self.found, |_| Box::pin(async move { (Vec::new(), table.await) }))
    }

    /// Runs a command, and makes the list anew.
    fn run(&mut self, line: String) -> PanelAct {
        let (side, what) = (Arc::clone(&self.side), self.what);
        self.said = vec![(TextStyle::Dim, "…".to_owned())];
        job(&self.found, move |page| {
            Box::pin(async move {
                let (page, kept) = page.keeping();
                let done = side.run(&line, page).await;
                let mut said = kept.take();
                said.extend(done.err().map(|error| (TextStyle::Red, format!("{error:#}\n"))));
                (said, side.table(what).await)
            })
        })
    }

    /// What a command writes, to read.
    fn read(&self, title: &str, line: String) -> PanelAct {
        let (side, slot) = (Arc::clone(&self.side), Slot::default());
        let bringing = job(&slot, move |page| {
            Box::pin(async move {
                let (page, kept) = page.keeping();
                let done = side.run(&line, page).await;
                let mut said = kept.take();
                said.extend(done.err().map(|error| (TextStyle::Red, format!("{error:#}\n"))));
                said
            })
        });
        PanelAct::Show(Box::new(TextPanel::coming(title, slot, bringing)))
    }

    fn settle(&mut self) {
        let Some((said, table)) = self.found.take() else { return };
        if !said.is_empty() {
            self.said = said;
        }
        match table {
            Ok(mut table) => {
                table.rows.extend(self.own.iter().cloned());
                self.rows.set(table);
                self.state = State::There;
            }
            Err(why) => self.state = State::Failed(format!("{why:#}")),
        }
    }

    fn enter(&mut self) -> PanelAct {
        let Some(row) = self.rows.chosen() else { return PanelAct::Stay };
        let title = row.cells.first().cloned().unwrap_or_default();
        match self.kind.enter {
            Enter::More if row.more.is_empty() => PanelAct::Stay,
            Enter::More => {
                let text = vec![(TextStyle::Normal, row.more.clone())];
                PanelAct::Show(Box::new(TextPanel::new(title, text)))
            }
            Enter::Read(line) => self.read(&title, with(line, row)),
            Enter::Send(line) => PanelAct::Send(with(line, row)),
            Enter::Put(line) => PanelAct::Put(with(line, row)),
            Enter::Resume if row.id.contains(' ') => {
                // It belongs to another directory, and is resumed there.
                self.said = vec![(TextStyle::Yellow, format!("copied: {}", row.id))];
                PanelAct::Copy(row.id.clone())
            }
            Enter::Resume => PanelAct::CloseAnd(Ask::Resume(SessionId::new(&row.id))),
        }
    }

    fn letter(&mut self, letter: char) -> PanelAct {
        let Some(key) = self.kind.keys.iter().find(|key| key.letter == letter) else {
            return PanelAct::Stay;
        };
        match key.does {
            Does::Open(what) => PanelAct::Show(Box::new(Self::new(Arc::clone(&self.side), what))),
            Does::Send(line) => match self.rows.chosen() {
                Some(row) => PanelAct::Send(with(line, row)),
                None => PanelAct::Stay,
            },
            Does::RunAlways(line) => self.run(line.to_owned()),
            Does::Run(line) => match self.rows.chosen().map(|row| with(line, row)) {
                Some(line) => self.run(line),
                None => PanelAct::Stay,
            },
            Does::RunIfSure(line, question) => {
                if let Some(row) = self.rows.chosen() {
                    let name = row.cells.first().map(String::as_str).unwrap_or_default();
                    self.sure = Some((with(line, row), question.replace("{}", name)));
                }
                PanelAct::Stay
            }
        }
    }

    /// From the sessions of this directory to all, and back.
    fn widen(&mut self) -> PanelAct {
        self.what = match self.what {
            Listing::Sessions => Listing::AllSessions,
            Listing::AllSessions => Listing::Sessions,
            _ => return PanelAct::Stay,
        };
        self.kind = kinds::kind(self.what);
        self.state = State::Looking;
        self.load()
    }

    /// What is said below the list: a question, or what was done.
    fn below(&self, width: u16, theme: Theme) -> Vec<(String, Style)> {
        if let Some((_, question)) = &self.sure {
            return vec![(format!("{question} y/n"), theme.style(TextStyle::Yellow))];
        }
        let mut lines = Vec::new();
        for (look, text) in &self.said {
            for line in wrap::text(text, theme.style(*look), width, "") {
                lines.push((line.to_string(), theme.style(*look)));
            }
        }
        lines.truncate(3);
        lines
    }
}

/// A line with the name of a row in it.
fn with(line: &str, row: &TableRow) -> String {
    line.replace("{}", &row.id)
}

impl Panel for ListPanel {
    fn title(&self) -> String {
        let count = self.rows.all().len();
        match &self.state {
            State::Looking => format!("{} · looking…", self.kind.title),
            State::There => format!("{} · {count}", self.kind.title),
            State::Failed(_) => self.kind.title.to_owned(),
        }
    }

    fn keys(&self) -> String {
        let mut keys = vec![format!("Enter {}", self.kind.enter.word())];
        keys.extend(self.kind.keys.iter().map(|key| format!("{} {}", key.letter, key.word)));
        if matches!(self.what, Listing::Sessions | Listing::AllSessions) {
            keys.push("Ctrl-A every project".to_owned());
        }
        keys.push(match self.kind.typing {
            Typing::Always => "type to search".to_owned(),
            Typing::AfterSlash => "/ search".to_owned(),
        });
        keys.push("Esc back".to_owned());
        keys.join(" · ")
    }

    fn begin(&mut self) -> PanelAct {
        self.load()
    }

    fn draw(&mut self, area: Rect, buf: &mut Buffer, theme: Theme) {
        self.settle();
        if let State::Failed(why) = &self.state {
            let mut area = area;
            for text in wrap::text(why, theme.style(TextStyle::Red), area.width, "") {
                rows::styled_line(&text, &mut area, buf);
            }
            return;
        }
        let below = self.below(area.width, theme);
        let more = self.rows.chosen().map(|row| row.more.clone()).unwrap_or_default();
        let lines = wrap::text(&more, Style::new(), area.width, "");
        let shown = if area.height < ROOM || more.is_empty() {
            0
        } else {
            u16::try_from(lines.len()).unwrap_or(MORE_ROWS).min(MORE_ROWS) + 1
        };
        let foot = u16::try_from(below.len()).unwrap_or(0) + shown;
        let list = Rect { height: area.height.saturating_sub(foot), ..area };
        if self.state == State::There {
            self.rows.draw(list, buf, theme);
        }
        let mut rest = Rect { y: list.bottom(), height: area.height - list.height, ..area };
        if shown > 0 {
            rows::line(&"┄".repeat(usize::from(area.width)), theme.dim(), &mut rest, buf);
            for text in lines.iter().take(usize::from(shown - 1)) {
                rows::styled_line(text, &mut rest, buf);
            }
        }
        for (text, style) in &below {
            rows::line(text, *style, &mut rest, buf);
        }
    }

    fn key(&mut self, key: KeyEvent) -> PanelAct {
        self.settle();
        if let Some((line, _)) = self.sure.take() {
            let yes = matches!(key.code, KeyCode::Char('y' | 'Y') | KeyCode::Enter);
            return if yes { self.run(line) } else { PanelAct::Stay };
        }
        let Some(key) = self.rows.key(key) else { return PanelAct::Stay };
        match key.code {
            KeyCode::Enter => self.enter(),
            KeyCode::Char('a') if key.modifiers == KeyModifiers::CONTROL => self.widen(),
            KeyCode::Char('q') => PanelAct::Close,
            KeyCode::Char(letter) if key.modifiers.is_empty() => self.letter(letter),
            _ => rows::closes(key),
        }
    }
}
