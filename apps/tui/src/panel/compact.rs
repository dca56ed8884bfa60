//! `/compact --preview`: what a compaction would take, and what it would leave
//! (L4.7, L4.16).

use super::rows;
use super::scroll::Scroll;
use super::{Panel, PanelAct, Slot, look};
use crate::style::TextStyle;
use crate::theme::Theme;
use everfold_agent::engine::window::compaction;
use everfold_agent::engine::window::compaction::{
    CompactionError, CompactionPreview, CompactionScope,
};
use everfold_kernel::phrase::grouped;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use ratatui::layout::Rect;

#[derive(Default)]
pub(crate) struct CompactPanel {
    found: Slot<Result<CompactionPreview, CompactionError>>,
    preview: Option<Result<CompactionPreview, CompactionError>>,
    scroll: Scroll,
}

impl CompactPanel {
    fn text(&self, width: u16) -> Vec<(TextStyle, String)> {
        match &self.preview {
            None => vec![(TextStyle::Dim, "looking…".to_owned())],
            Some(Err(why)) => vec![(TextStyle::Yellow, why.to_string())],
            Some(Ok(preview)) => written(preview, width),
        }
    }
}

fn written(preview: &CompactionPreview, width: u16) -> Vec<(TextStyle, String)> {
    let (before, after) = (preview.before, preview.after_at_most);
    let cells = u64::from(width.saturating_sub(2));
    let bar = |tokens: u64, sign: &str| {
        let count = tokens.saturating_mul(cells) / before.max(after).max(1);
        sign.repeat(usize::try_from(count).unwrap_or(0))
    };
    let mut out = vec![
        (TextStyle::Normal, format!("{} tokens now", grouped(before))),
        (TextStyle::Yellow, bar(before, "█")),
        (TextStyle::Normal, format!("at most about {} after a compaction", grouped(after))),
        (TextStyle::Green, bar(after, "█")),
        (TextStyle::Normal, String::new()),
        (TextStyle::Dim, format!("{:<24}{:>12}{:>12}", "", "goes", "stays")),
    ];
    let used = preview.categories.iter().filter(|category| category.goes + category.stays > 0);
    out.extend(used.map(|category| {
        let (goes, stays) = (grouped(category.goes), grouped(category.stays));
        (TextStyle::Normal, format!("{:<24}{goes:>12}{stays:>12}", category.name))
    }));
    let mut part = |title: &str, look, lines: Vec<String>| {
        if !lines.is_empty() {
            out.push((TextStyle::Normal, String::new()));
            out.push((TextStyle::Bold, title.to_owned()));
            out.extend(lines.into_iter().map(|line| (look, line)));
        }
    };
    let gone = preview.dropped.iter();
    let gone = gone.map(|span| format!("{:>9}  {}", grouped(span.tokens), span.words));
    part("goes", TextStyle::Red, gone.collect());
    let kept = preview.kept.iter().map(|kept| {
        let pinned = if kept.pinned { "pinned: " } else { "" };
        format!("{pinned}{}", kept.words)
    });
    part("stays", TextStyle::Green, kept.collect());
    part("comes back", TextStyle::Green, preview.files.clone());
    out
}

impl Panel for CompactPanel {
    fn title(&self) -> String {
        "compact · what would go and what would stay".to_owned()
    }

    fn keys(&self) -> String {
        match &self.preview {
            Some(Ok(_)) => "Enter compacts · ↑↓ PgUp PgDn scroll · Esc back".to_owned(),
            _ => "Esc back".to_owned(),
        }
    }

    fn begin(&mut self) -> PanelAct {
        look(&self.found, |session| compaction::preview_compaction(session, CompactionScope::All))
    }

    fn draw(&mut self, area: Rect, buf: &mut Buffer, theme: Theme) {
        if let Some(found) = self.found.take() {
            self.preview = Some(found);
        }
        let text = self.text(area.width);
        self.scroll.draw(&text, area, buf, theme);
    }

    fn key(&mut self, key: KeyEvent) -> PanelAct {
        match self.scroll.key(key) {
            Some(key) if key.code == KeyCode::Enter && matches!(self.preview, Some(Ok(_))) => {
                PanelAct::Send("/compact".to_owned())
            }
            Some(key) => rows::closes(key),
            None => PanelAct::Stay,
        }
    }
}
