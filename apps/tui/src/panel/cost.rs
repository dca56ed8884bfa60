//! `/cost`: what this session used, by source and model, and what today and
//! this project did (T6).

use super::rows;
use super::scroll::Scroll;
use super::{Panel, PanelAct, Slot, job};
use crate::panel_data::PanelData;
use crate::status::Status;
use crate::style::TextStyle;
use crate::theme::Theme;
use everfold_kernel::Ledger;
use everfold_kernel::phrase::grouped;
use everfold_kernel::usage::LedgerLine;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use ratatui::layout::Rect;
use std::sync::Arc;

/// Sums with their names, or why there are none.
type Spent = anyhow::Result<Vec<(String, Ledger)>>;

pub(crate) struct CostPanel {
    side: Arc<dyn PanelData>,
    session: Ledger,
    found: Slot<Spent>,
    others: Option<Spent>,
    scroll: Scroll,
}

impl CostPanel {
    /// What a session spent.
    pub(crate) fn new(status: &Status) -> Self {
        Self {
            side: Arc::clone(&status.side),
            session: status.ledger.clone(),
            found: Slot::default(),
            others: None,
            scroll: Scroll::default(),
        }
    }

    fn text(&self, width: u16) -> Vec<(TextStyle, String)> {
        let mut out = vec![(TextStyle::Bold, "this session".to_owned())];
        table(&self.session, width, &mut out);
        out.push((TextStyle::Dim, background(&self.session)));
        match &self.others {
            None => out.push((TextStyle::Dim, "today and this project: looking…".to_owned())),
            Some(Err(why)) => out.push((TextStyle::Red, format!("{why:#}"))),
            Some(Ok(sums)) => {
                for (name, ledger) in sums {
                    out.push((TextStyle::Normal, String::new()));
                    out.push((TextStyle::Bold, name.clone()));
                    table(ledger, width, &mut out);
                    out.push((TextStyle::Dim, background(ledger)));
                }
            }
        }
        out
    }
}

/// Columns of each figure, and of all of them.
const FIGURE: usize = 8;
const FIGURES: usize = 6 * FIGURE;

/// Tokens in a few letters.
#[expect(clippy::cast_precision_loss, reason = "one digit after the point is shown")]
fn few(tokens: u64) -> String {
    match tokens {
        0..10_000 => grouped(tokens),
        10_000..10_000_000 => format!("{:.1}k", tokens as f64 / 1e3),
        _ => format!("{:.1}M", tokens as f64 / 1e6),
    }
}

fn table(ledger: &Ledger, width: u16, out: &mut Vec<(TextStyle, String)>) {
    let room = usize::from(width).saturating_sub(FIGURES).clamp(12, 48);
    let row = |name: &str, cells: [&str; 6]| {
        let name = rows::cut(name, room);
        let missing = room.saturating_sub(unicode_width::UnicodeWidthStr::width(&*name));
        let cells = cells.map(|cell| format!("{cell:>FIGURE$}")).concat();
        format!("{name}{}{cells}", " ".repeat(missing))
    };
    let head = ["calls", "input", "cached", "written", "output", "USD"];
    out.push((TextStyle::Dim, row("", head)));
    let figures = |name: &str, line: &LedgerLine| {
        let dollars = if line.unpriced > 0 && line.unpriced == line.requests {
            "no price".to_owned()
        } else {
            format!("{:.4}", line.cost.0)
        };
        row(
            name,
            [
                &grouped(line.requests),
                &few(line.usage.input),
                &few(line.usage.cache_read),
                &few(line.usage.cache_write()),
                &few(line.usage.output),
                &dollars,
            ],
        )
    };
    for (source, model, line) in ledger.lines() {
        out.push((TextStyle::Normal, figures(&format!("{source} · {model}"), line)));
    }
    out.push((TextStyle::Normal, figures("total", &ledger.total())));
}

/// How much of it was for what runs beside the conversation.
fn background(ledger: &Ledger) -> String {
    let total = ledger.total();
    let beside = ledger.background().cost.0;
    let share = if total.cost.0 > 0.0 { beside * 100.0 / total.cost.0 } else { 0.0 };
    let hit = total.usage.hit_rate() * 100.0;
    format!("background ${beside:.4} ({share:.0}%) · {hit:.0}% of the input came from the cache")
}

impl Panel for CostPanel {
    fn title(&self) -> String {
        format!("cost · ${:.4} this session", self.session.total().cost.0)
    }

    fn keys(&self) -> String {
        "↑↓ PgUp PgDn scroll · Esc back".to_owned()
    }

    fn begin(&mut self) -> PanelAct {
        let spent = self.side.spent();
        job(&self.found, |_| spent)
    }

    fn update(&mut self, status: &Status) {
        self.session = status.ledger.clone();
    }

    fn draw(&mut self, area: Rect, buf: &mut Buffer, theme: Theme) {
        if let Some(found) = self.found.take() {
            self.others = Some(found);
        }
        let text = self.text(area.width);
        self.scroll.draw(&text, area, buf, theme);
    }

    fn key(&mut self, key: KeyEvent) -> PanelAct {
        match self.scroll.key(key) {
            Some(key) if key.code == KeyCode::Enter => PanelAct::Close,
            Some(key) => rows::closes(key),
            None => PanelAct::Stay,
        }
    }
}
