//! `/rewind`: the points that one can go back to, and what goes back (Q12).

use super::rows::{self, Rows, Typing};
use super::{Panel, PanelAct, Slot};
use crate::panel_data::{Table, TableRow};
use crate::style::TextStyle;
use crate::theme::Theme;
use crate::worker::Ask;
use everfold_agent::engine::turn::rewind;
use everfold_agent::engine::turn::rewind::{ChangedFile, Point, PointKind, Standing};
use jiff::tz::TimeZone;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use ratatui::layout::Rect;

/// What was found, or why nothing was.
type Found = anyhow::Result<Vec<Point>>;

pub(crate) struct RewindPanel {
    found: Slot<Found>,
    points: Option<Found>,
    rows: Rows,
}

impl RewindPanel {
    /// No points before it begins.
    pub(crate) fn new() -> Self {
        Self { found: Slot::default(), points: None, rows: Rows::new(Typing::Always) }
    }

    fn settle(&mut self) {
        let Some(found) = self.found.take() else { return };
        if let Ok(points) = &found {
            // The newest is where most people want to go.
            let rows = points.iter().rev().map(row).collect();
            let head = ["#", "when", "files since", "message"].map(str::to_owned).to_vec();
            let empty = "nothing to go back to yet".to_owned();
            self.rows.set(Table { head, rows, empty });
        }
        self.points = Some(found);
    }

    fn chosen(&self) -> Option<&Point> {
        let row = self.rows.chosen()?;
        let points = self.points.as_ref()?.as_ref().ok()?;
        points.iter().find(|point| point.id.as_str() == row.id)
    }
}

fn row(point: &Point) -> TableRow {
    let words = match point.kind {
        PointKind::Message => point.text.clone(),
        PointKind::WentBack => "(you went back here)".to_owned(),
    };
    let files = match point.files.as_slice() {
        [] => "-".to_owned(),
        files => {
            let (added, removed) = lines(files);
            format!("{} (+{added} -{removed})", files.len())
        }
    };
    let at = point.at.to_zoned(TimeZone::system()).strftime("%m-%d %H:%M").to_string();
    TableRow {
        id: point.id.to_string(),
        cells: vec![format!("{:>3}", point.number), at, files, words],
        look: if point.kind == PointKind::WentBack { TextStyle::Dim } else { TextStyle::Normal },
        more: point.files.iter().map(said).collect::<Vec<_>>().join("\n"),
    }
}

fn lines(files: &[ChangedFile]) -> (usize, usize) {
    let added = files.iter().map(|file| file.added).sum();
    (added, files.iter().map(|file| file.removed).sum())
}

fn said(file: &ChangedFile) -> String {
    let standing = match &file.standing {
        Standing::AsWritten => String::new(),
        Standing::ByHand => "  edited by hand since; a copy of it is kept".to_owned(),
        Standing::Stuck(why) => format!("  stays as it is: {why}"),
    };
    format!("{}  +{} -{}{standing}", file.path.display(), file.added, file.removed)
}

impl Panel for RewindPanel {
    fn title(&self) -> String {
        match &self.points {
            None => "rewind · looking…".to_owned(),
            Some(_) => "rewind · go back to before a message".to_owned(),
        }
    }

    fn keys(&self) -> String {
        "Enter chooses what goes back · type to search · Esc back".to_owned()
    }

    fn begin(&mut self) -> PanelAct {
        let slot = self.found.clone();
        PanelAct::Ask(Ask::Look(Box::new(move |host| {
            let session = host.session();
            Box::pin(async move {
                slot.put(rewind::rewind_points(session).await.map_err(anyhow::Error::from));
            })
        })))
    }

    fn draw(&mut self, area: Rect, buf: &mut Buffer, theme: Theme) {
        const FILES: u16 = 4;
        self.settle();
        let mut rest = area;
        if let Some(Err(why)) = &self.points {
            return rows::line(&why.to_string(), theme.style(TextStyle::Red), &mut rest, buf);
        }
        let files = self.chosen().map(|point| point.files.clone()).unwrap_or_default();
        let below = u16::try_from(files.len()).unwrap_or(FILES).min(FILES).min(area.height / 3);
        let list = Rect { height: area.height.saturating_sub(below), ..area };
        if self.points.is_some() {
            self.rows.draw(list, buf, theme);
        }
        rest.y = list.bottom();
        rest.height = below;
        for file in files.iter().take(usize::from(below)) {
            rows::line(&said(file), theme.dim(), &mut rest, buf);
        }
    }

    fn key(&mut self, key: KeyEvent) -> PanelAct {
        self.settle();
        let Some(key) = self.rows.key(key) else { return PanelAct::Stay };
        match (key.code, self.chosen()) {
            (KeyCode::Enter, Some(point)) => {
                PanelAct::Show(Box::new(ChoicePanel { point: point.clone(), at: 0 }))
            }
            _ => rows::closes(key),
        }
    }
}

/// What can be done at a point: a letter, what it is called, the command.
const CHOICES: [(&str, &str); 5] = [
    ("conversation and files", "/rewind {} both"),
    ("conversation only", "/rewind {} conversation"),
    ("files only", "/rewind {} files"),
    ("summarise what follows", "/compact from {}"),
    ("summarise what came before", "/compact up-to {}"),
];

/// What goes back to a point.
struct ChoicePanel {
    point: Point,
    at: usize,
}

impl ChoicePanel {
    fn take(&self) -> PanelAct {
        let Some((_, line)) = CHOICES.get(self.at) else { return PanelAct::Stay };
        PanelAct::Send(line.replace("{}", self.point.id.as_str()))
    }
}

impl Panel for ChoicePanel {
    fn title(&self) -> String {
        format!("rewind · before message {}", self.point.number)
    }

    fn keys(&self) -> String {
        "Enter or 1–5 does it · ↑↓ choose · Esc back".to_owned()
    }

    fn draw(&mut self, area: Rect, buf: &mut Buffer, theme: Theme) {
        let mut area = area;
        rows::line(&self.point.text, theme.dim(), &mut area, buf);
        rows::line("", theme.dim(), &mut area, buf);
        for (at, (name, _)) in CHOICES.iter().enumerate() {
            let style = if at == self.at { theme.chosen() } else { theme.style(TextStyle::Normal) };
            rows::line(&format!("{}  {name}", at + 1), style, &mut area, buf);
        }
        rows::line("", theme.dim(), &mut area, buf);
        if self.point.files.is_empty() {
            rows::line("no file changed since", theme.dim(), &mut area, buf);
        }
        for file in &self.point.files {
            rows::line(&said(file), theme.dim(), &mut area, buf);
        }
    }

    fn key(&mut self, key: KeyEvent) -> PanelAct {
        match key.code {
            KeyCode::Up | KeyCode::Char('k') => self.at = self.at.saturating_sub(1),
            KeyCode::Down | KeyCode::Char('j') => self.at = (self.at + 1).min(CHOICES.len() - 1),
            KeyCode::Enter => return self.take(),
            KeyCode::Char(digit @ '1'..='5') => {
                let digit = digit.to_digit(10).and_then(|digit| digit.checked_sub(1));
                self.at = digit.and_then(|digit| usize::try_from(digit).ok()).unwrap_or(self.at);
                return self.take();
            }
            _ => return rows::closes(key),
        }
        PanelAct::Stay
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::harness::alone;
    use everfold_kernel::Timestamp;

    fn point(number: usize, kind: PointKind, text: &str, files: Vec<ChangedFile>) -> Point {
        let at = Timestamp::from_second(1_790_000_000).unwrap();
        Point { number, id: format!("r-{number}").into(), kind, text: text.to_owned(), at, files }
    }

    fn file(path: &str, standing: Standing) -> ChangedFile {
        ChangedFile { path: path.into(), added: 12, removed: 3, standing }
    }

    #[test]
    fn q12_points_say_what_changed_since() {
        let files = vec![
            file("src/parser.rs", Standing::AsWritten),
            file("README.md", Standing::ByHand),
            file("big.bin", Standing::Stuck("it was too large to keep".to_owned())),
        ];
        let points = vec![
            point(1, PointKind::Message, "mend the parser", files),
            point(2, PointKind::WentBack, "", Vec::new()),
            point(3, PointKind::Message, "now the docs", Vec::new()),
        ];
        let mut panel = RewindPanel::new();
        panel.found.put(Ok(points));
        panel.settle();
        panel.rows.choose("r-1");
        let at = Timestamp::from_second(1_790_000_000).unwrap();
        let at = at.to_zoned(TimeZone::system()).strftime("%m-%d %H:%M").to_string();
        let mut picture = alone(&mut panel, 80, 20) + &alone(&mut panel, 120, 36);
        picture = picture.replace(&at, "MM-DD HH:MM");
        let PanelAct::Show(mut choice) = panel.key(KeyCode::Enter.into()) else {
            panic!("Enter chooses what goes back")
        };
        picture += &(alone(choice.as_mut(), 80, 20) + &alone(choice.as_mut(), 120, 36));
        insta::assert_snapshot!(picture);
    }
}
