//! The messages of a kind, the largest first, and what can be done with them
//! (L4.14–16).

use crate::panel::rows::{self, Rows, Typing};
use crate::panel::text::TextPanel;
use crate::panel::{Panel, PanelAct, Slot, Written, look};
use crate::panel_data::{Table, TableRow};
use crate::style::TextStyle;
use crate::theme::Theme;
use everfold_agent::Session;
use everfold_agent::engine::window::in_view::InView;
use everfold_kernel::RecordId;
use everfold_kernel::phrase::{counted, grouped};
use everfold_prefix::{Message, Showing};
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use ratatui::layout::Rect;

/// The messages of one kind.
pub(super) struct MessagesPanel {
    category: &'static str,
    name: &'static str,
    messages: Vec<InView>,
    found: Slot<Vec<InView>>,
    known: bool,
    rows: Rows,
    said: Written,
}

impl MessagesPanel {
    pub(super) fn new(
        category: &'static str,
        name: &'static str,
        messages: Option<Vec<InView>>,
    ) -> Self {
        let mut panel = Self {
            category,
            name,
            known: messages.is_some(),
            messages: Vec::new(),
            found: Slot::default(),
            rows: Rows::new(Typing::AfterSlash),
            said: Vec::new(),
        };
        panel.fill(messages.unwrap_or_default());
        panel
    }

    fn fill(&mut self, all: Vec<InView>) {
        self.messages = all.into_iter().filter(|one| one.category == self.category).collect();
        self.messages.sort_by_key(|message| std::cmp::Reverse(message.tokens));
        let head = ["#", "tokens", "state", "words"].map(str::to_owned).to_vec();
        let row = |message: &InView| TableRow {
            id: message.record.to_string(),
            cells: vec![
                format!("{:>4}", message.number),
                format!("{:>8}", grouped(message.tokens.0)),
                state(message),
                message.words.clone(),
            ],
            ..TableRow::default()
        };
        let rows = self.messages.iter().map(row).collect();
        let empty = if self.known {
            "no messages of this kind: it comes before the conversation"
        } else {
            "the messages are shown when the turn has ended"
        };
        self.rows.set(Table { head, rows, empty: empty.to_owned() });
    }

    fn settle(&mut self) {
        if let Some(all) = self.found.take() {
            self.known = true;
            self.fill(all);
        }
    }

    fn chosen(&self) -> Option<&InView> {
        let row = self.rows.chosen()?;
        self.messages.iter().find(|message| message.record.as_str() == row.id)
    }

    fn act(&mut self, letter: char) -> PanelAct {
        let Some(message) = self.chosen() else { return PanelAct::Stay };
        let (id, stands_in) = (message.record.to_string(), message.shown == Showing::StandsIn);
        let line = match letter {
            'p' if message.pinned => format!("unpin {id}"),
            'p' => format!("pin {id}"),
            's' if stands_in => format!("unsnip {id}"),
            's' => format!("snip {id}"),
            _ => format!("expand {id}"),
        };
        PanelAct::Command(line)
    }

    fn text(&self) -> PanelAct {
        let Some(message) = self.chosen() else { return PanelAct::Stay };
        let (record, slot) = (message.record.clone(), Slot::default());
        let bringing = look(&slot, move |session| text(session, &record));
        let title = format!("message {}", message.number);
        PanelAct::Show(Box::new(TextPanel::coming(title, slot, bringing)))
    }
}

fn state(message: &InView) -> String {
    let shown = match message.shown {
        Showing::Whole => "",
        Showing::Spilled => "spilled",
        Showing::Cleared => "cleared",
        Showing::StandsIn => "stand-in",
    };
    let pinned = if message.pinned { "pinned" } else { "" };
    [pinned, shown].into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(", ")
}

/// What a record says to the model.
fn text(session: &Session, record: &RecordId) -> Written {
    let messages = session.fold().messages().iter().flat_map(Message::pieces);
    let of_record = messages.filter(|piece| piece.record == *record);
    of_record.map(|piece| (TextStyle::Normal, format!("{}\n", piece.block.plain_text()))).collect()
}

impl Panel for MessagesPanel {
    fn title(&self) -> String {
        format!("context · {} · {}", self.name, counted(self.messages.len() as u64, "message"))
    }

    fn keys(&self) -> String {
        "Enter text · p pin · s snip · e expand · / search · Esc back".to_owned()
    }

    fn begin(&mut self) -> PanelAct {
        look(&self.found, everfold_agent::engine::window::in_view::in_view)
    }

    fn answered(&mut self, said: Written) -> Result<PanelAct, Written> {
        self.said = said;
        Ok(self.begin())
    }

    fn draw(&mut self, area: Rect, buf: &mut Buffer, theme: Theme) {
        self.settle();
        let list = Rect { height: area.height.saturating_sub(1), ..area };
        self.rows.draw(list, buf, theme);
        let mut rest = Rect { y: list.bottom(), height: area.height - list.height, ..area };
        if let Some((look, text)) = self.said.last() {
            rows::line(text, theme.style(*look), &mut rest, buf);
        }
    }

    fn key(&mut self, key: KeyEvent) -> PanelAct {
        self.settle();
        let Some(key) = self.rows.key(key) else { return PanelAct::Stay };
        match key.code {
            KeyCode::Enter => self.text(),
            KeyCode::Char(letter @ ('p' | 's' | 'e')) => self.act(letter),
            _ => rows::closes(key),
        }
    }
}
