//! The screen, drawn: the conversation or a panel, what goes on, the input,
//! the footer.

use super::{App, Phase};
use crate::footer;
use crate::style::TextStyle;
use crate::theme::Theme;
use crate::wrap;
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;
use std::time::Instant;

const SPINNER: [&str; 6] = ["⠋", "⠙", "⠸", "⠴", "⠦", "⠇"];

impl App {
    /// Draws everything.
    pub(crate) fn draw(&mut self, frame: &mut Frame<'_>) {
        let area = frame.area();
        let buf = frame.buffer_mut();
        self.render(area, buf, Instant::now());
    }

    /// Draws everything as it is at a moment.
    pub(crate) fn render(&mut self, area: Rect, buf: &mut Buffer, now: Instant) {
        let theme = self.theme;
        let below = self.below(area.width, theme, now);
        let asked = self.questions.front_mut().map(|asked| asked.lines(area.width, theme));
        let most = area.height / 2;
        let rows = |lines: usize| u16::try_from(lines).unwrap_or(most).min(most);
        let input = match &asked {
            Some(lines) => rows(lines.len()),
            None => self.input.rows(area.width),
        };
        let [main, doing, rule, typing, own, foot] = Layout::vertical([
            Constraint::Min(1),
            Constraint::Length(rows(below.len())),
            Constraint::Length(1),
            Constraint::Length(input),
            Constraint::Length(u16::from(self.own_line.is_some())),
            Constraint::Length(1),
        ])
        .areas(area);
        self.draw_main(main, buf, theme);
        draw_lines(&below, doing, buf);
        Line::styled("─".repeat(usize::from(rule.width)), theme.dim()).render(rule, buf);
        match &asked {
            Some(lines) => draw_lines(lines, typing, buf),
            None => self.input.draw(typing, buf, theme),
        }
        if let Some(line) = &self.own_line {
            Line::styled(line.clone(), theme.dim()).render(own, buf);
        }
        if let Some(status) = &self.status {
            footer::draw(status, foot, buf, theme);
        }
    }

    fn draw_main(&mut self, area: Rect, buf: &mut Buffer, theme: Theme) {
        if let Some(panel) = &mut self.panel {
            if let Some(status) = &self.status {
                panel.update(status);
            }
            let [head, body, keys] = Layout::vertical([
                Constraint::Length(1),
                Constraint::Min(1),
                Constraint::Length(1),
            ])
            .areas(area);
            Line::styled(panel.title(), theme.title()).render(head, buf);
            panel.draw(body, buf, theme);
            Line::styled(panel.keys(), theme.dim()).render(keys, buf);
        } else if self.talk.is_empty() {
            self.draw_welcome(area, buf, theme);
        } else {
            let keys = u16::from(self.browsing.is_some());
            let [body, keys] =
                Layout::vertical([Constraint::Min(1), Constraint::Length(keys)]).areas(area);
            self.talk.draw(body, buf, theme);
            self.draw_browsing(keys, buf);
        }
    }

    fn draw_welcome(&self, area: Rect, buf: &mut Buffer, theme: Theme) {
        let mut lines = vec![Line::from(vec![
            Span::styled("everfold ", theme.title()),
            Span::styled(self.welcome.version.clone(), theme.dim()),
        ])];
        lines.push(Line::default());
        for (name, said) in &self.welcome.found {
            let line = Line::from(vec![
                Span::styled(format!("{name:<14}"), theme.dim()),
                Span::raw(said.clone()),
            ]);
            lines.extend(wrap::wrap(&line, area.width, &" ".repeat(14)));
        }
        lines.push(Line::default());
        for note in &self.welcome.notes {
            lines.extend(wrap::text(note, theme.style(TextStyle::Yellow), area.width, ""));
        }
        draw_lines(&lines, area, buf);
    }

    /// What stands between the conversation and the input.
    fn below(&self, width: u16, theme: Theme, now: Instant) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        match &self.phase {
            Phase::Rest => {}
            Phase::Turn { since, doing } => {
                lines.push(working(doing, *since, "Esc stops", theme, now));
            }
            Phase::Command { line, since } => {
                let last = self.written.last().map(|(_, text)| text.trim()).unwrap_or_default();
                let doing = format!("/{line} {last}");
                lines.push(working(&doing, *since, "Esc stops", theme, now));
            }
            Phase::Leaving => {
                let text = "finishing background work; Ctrl-C leaves now";
                lines.push(Line::styled(text, theme.dim()));
            }
        }
        for text in &self.waiting {
            let line = Line::styled(format!("⋯ {}", text.replace('\n', " ")), theme.dim());
            lines.extend(wrap::wrap(&line, width, "").into_iter().take(1));
        }
        if self.leaving_once {
            lines.push(Line::styled("Ctrl-C again leaves", theme.dim()));
        }
        if self.escaped_once {
            let does =
                if self.input.is_empty() { "goes back to an earlier message" } else { "clears" };
            lines.push(Line::styled(format!("Esc again {does}"), theme.dim()));
        }
        if self.panel.is_none() && self.questions.is_empty() {
            lines.extend(self.input.above(width, theme));
        }
        lines
    }
}

fn working(doing: &str, since: Instant, hint: &str, theme: Theme, now: Instant) -> Line<'static> {
    let past = now.saturating_duration_since(since);
    let at = usize::try_from(past.as_millis() / 120).unwrap_or(0) % SPINNER.len();
    let mark = SPINNER.get(at).copied().unwrap_or("·");
    Line::from(vec![
        Span::styled(format!("{mark} "), theme.accent()),
        Span::raw(doing.to_owned()),
        Span::styled(format!("  {} s · {hint}", past.as_secs()), theme.dim()),
    ])
}

fn draw_lines(lines: &[Line<'_>], area: Rect, buf: &mut Buffer) {
    for (row, line) in (area.y..area.bottom()).zip(lines) {
        line.render(Rect { y: row, height: 1, ..area }, buf);
    }
}
