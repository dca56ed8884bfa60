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

/// Rows from which on there is room for what is not needed.
const ROOMY: u16 = 16;

const SPINNER: [&str; 6] = ["⠋", "⠙", "⠸", "⠴", "⠦", "⠇"];

impl App {
    pub(crate) fn draw(&mut self, frame: &mut Frame<'_>) {
        let area = frame.area();
        let buf = frame.buffer_mut();
        self.render(area, buf, Instant::now());
    }

    /// Draws everything as it is at a moment.
    pub(crate) fn render(&mut self, area: Rect, buf: &mut Buffer, now: Instant) {
        let theme = self.theme;
        self.look_at_running();
        let below = self.below(area.width, theme, now);
        if !self.questions.is_empty() {
            return self.render_question(area, buf, now);
        }
        let most = area.height / 2;
        let rows = |lines: usize| u16::try_from(lines).unwrap_or(most).min(most);
        let input = self.input.rows(area.width);
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
        self.input.draw(typing, buf, theme);
        self.draw_foot(own, foot, buf);
    }

    /// The question in front: as much of the screen as it needs, and below it
    /// what the person typed meanwhile.
    fn render_question(&mut self, area: Rect, buf: &mut Buffer, now: Instant) {
        let theme = self.theme;
        let typed = !self.input.is_empty();
        let (input, hint) = if typed { (self.input.rows(area.width).min(3), 1) } else { (0, 0) };
        let own = u16::from(self.own_line.is_some() && area.height >= ROOMY);
        let fixed = 2 + input + hint + own;
        let room = area.height.saturating_sub(fixed);
        let wanted = self.questions.front().map_or(0, |asked| asked.rows(area.width, theme));
        let [main, rule, question, told, typing, own, foot] = Layout::vertical([
            Constraint::Min(0),
            Constraint::Length(1),
            Constraint::Length(wanted.min(room)),
            Constraint::Length(hint),
            Constraint::Length(input),
            Constraint::Length(own),
            Constraint::Length(1),
        ])
        .areas(area);
        self.draw_main(main, buf, theme);
        Line::styled("─".repeat(usize::from(rule.width)), theme.dim()).render(rule, buf);
        if let Some(asked) = self.questions.front_mut() {
            asked.draw(question, buf, theme, now);
        }
        if typed {
            let hint = "Your keys go to the line below. Tab sets it aside, then you can answer.";
            let hint = wrap::cut(hint, usize::from(told.width));
            Line::styled(hint, theme.style(TextStyle::Yellow)).render(told, buf);
            self.input.draw(typing, buf, theme);
        }
        self.draw_foot(own, foot, buf);
    }

    /// Shows what commands have printed so far (U5).
    fn look_at_running(&mut self) {
        let Some(status) = &self.status else { return };
        for (id, printed) in status.running.all_printed() {
            if let Some(call) = self.talk.tool_of(id.as_str())
                && call.live != printed
                && let Some(call) = self.talk.tool_mut(id.as_str())
            {
                call.live = printed;
            }
        }
    }

    fn draw_foot(&self, own: Rect, foot: Rect, buf: &mut Buffer) {
        let theme = self.theme;
        if let Some(line) = &self.own_line {
            Line::styled(line.clone(), theme.dim()).render(own, buf);
        }
        if let Some(status) = &self.status {
            footer::draw(status, foot, buf, theme);
        }
    }

    fn draw_main(&mut self, area: Rect, buf: &mut Buffer, theme: Theme) {
        if area.height == 0 {
            return;
        }
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
        if self.panel.is_none() {
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
