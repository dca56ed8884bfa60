//! What the person types, and what it means: a prompt, `/` a command, `!` a
//! command for the shell, `#` something to remember.

use super::{Act, App, MouseUse, Phase};
use crate::input::Typed;
use crate::style::TextStyle;
use crate::transcript_view::Kind;
use crate::worker::Ask;
use everfold_agent::Waiting;
use everfold_kernel::settings::PermissionMode;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::time::Instant;

impl App {
    /// A key for the input.
    pub(super) fn typed(&mut self, key: KeyEvent) -> Vec<Act> {
        let escaped = std::mem::take(&mut self.escaped_once);
        if key.code == KeyCode::Char('y')
            && key.modifiers == KeyModifiers::CONTROL
            && let Some(waiting) = self.offered.take()
        {
            return self.command(&waiting.command());
        }
        if key.code == KeyCode::Char('?') && self.input.is_empty() {
            return self.command("help");
        }
        match self.input.key(key) {
            Typed::Nothing => Vec::new(),
            Typed::Files => vec![Act::Files],
            Typed::Sent(text) => {
                let sent = self.input.take_sent().trimmed();
                if sent.pasted.is_empty() {
                    self.pasted.remove(&sent.text);
                } else {
                    self.pasted.insert(sent.text, sent.pasted);
                }
                let mut acts = vec![Act::Keep(text.clone())];
                acts.extend(self.send(text));
                acts
            }
            Typed::Passed => self.passed(key, escaped),
        }
    }

    /// Takes a text that was pasted.
    pub(crate) fn paste(&mut self, text: &str) -> Vec<Act> {
        if self.panel.is_none() && self.questions.is_empty() {
            self.input.paste(text);
        }
        Vec::new()
    }

    /// What was typed before, oldest first.
    pub(crate) fn remember(&mut self, entries: Vec<String>) {
        self.input.remember(entries);
    }

    /// The person comes back from their editor.
    pub(crate) fn edited(&mut self, text: anyhow::Result<String>) {
        match text {
            Ok(text) => self.input.set(text.trim_end()),
            Err(why) => self.notice(TextStyle::Red, format!("{why:#}")),
        }
    }

    /// A key that means nothing to the input.
    fn passed(&mut self, key: KeyEvent, escaped: bool) -> Vec<Act> {
        match key.code {
            KeyCode::Esc if self.phase != Phase::Rest => return self.stop(),
            KeyCode::Esc if escaped && self.input.is_empty() => return self.command("rewind"),
            KeyCode::Esc if escaped => self.input.set(""),
            KeyCode::Esc => self.escaped_once = true,
            KeyCode::BackTab => return self.next_mode(),
            KeyCode::PageUp => self.talk.page(-1, self.theme),
            KeyCode::PageDown => self.talk.page(1, self.theme),
            KeyCode::Char('b') => return self.send_away(),
            KeyCode::Char('g') => return vec![Act::Editor(self.input.text())],
            KeyCode::Char('l') => return vec![Act::Redraw],
            KeyCode::Char('s') => return self.turn_mouse(),
            KeyCode::Char('o') => self.begin_browsing(),
            KeyCode::Char('t') => self.talk.fold_thoughts(self.theme),
            KeyCode::Char('z') => return vec![Act::Suspend],
            _ => {}
        }
        Vec::new()
    }

    /// Sends the command that runs to the background; where none does, shows
    /// what runs there.
    fn send_away(&mut self) -> Vec<Act> {
        let sent = self.status.as_ref().map_or(0, |status| status.running.send_away());
        if sent == 0 {
            return self.command("tasks");
        }
        self.notice(TextStyle::Dim, "the command continues in the background; /tasks shows it");
        Vec::new()
    }

    /// Lets the terminal select text, or scrolls by the wheel again.
    fn turn_mouse(&mut self) -> Vec<Act> {
        let (mouse, told) = match self.mouse {
            MouseUse::Ours => {
                (MouseUse::Terminals, "the mouse selects text now; Ctrl-S: the wheel scrolls again")
            }
            MouseUse::Terminals => {
                (MouseUse::Ours, "the wheel scrolls now; Ctrl-S: the mouse selects text again")
            }
        };
        self.mouse = mouse;
        self.notice(TextStyle::Dim, told);
        vec![Act::Mouse(mouse)]
    }

    /// Stops what runs. What was typed meanwhile is the person's again.
    pub(super) fn stop(&mut self) -> Vec<Act> {
        if let Some(status) = &self.status {
            let _ = status.queue.take();
        }
        if !self.waiting.is_empty() {
            let mut lines: Vec<String> = self.waiting.drain(..).collect();
            lines.extend(Some(self.input.text()).filter(|text| !text.is_empty()));
            self.input.set(&lines.join("\n"));
        }
        vec![Act::Stop]
    }

    /// Asks, takes edits, plans: what tools may do, in turn. Planning begins
    /// and ends between turns.
    fn next_mode(&mut self) -> Vec<Act> {
        let Some(status) = &mut self.status else { return Vec::new() };
        let rests = self.phase == Phase::Rest;
        let next = match status.mode {
            PermissionMode::Default => PermissionMode::AcceptEdits,
            PermissionMode::AcceptEdits if rests => PermissionMode::Plan,
            PermissionMode::Plan if !rests => return Vec::new(),
            _ => PermissionMode::Default,
        };
        status.mode = next;
        if rests {
            return vec![Act::Ask(Ask::Mode(next))];
        }
        status.live.set_mode(next);
        Vec::new()
    }

    /// Sends what was typed.
    pub(crate) fn send(&mut self, text: String) -> Vec<Act> {
        self.talk.go_to_end();
        let first = text.trim().chars().next();
        match (&self.phase, first) {
            (Phase::Leaving, _) => Vec::new(),
            (Phase::Rest, _) => self.begin_with(&text),
            (_, Some('/')) => self.command(text.trim().trim_start_matches('/')),
            (Phase::Turn { .. }, first) if !matches!(first, Some('/' | '!' | '#')) => {
                if let Some(status) = &self.status {
                    status.queue.add(self.with_pasted(&text));
                }
                self.waiting.push_back(text);
                Vec::new()
            }
            _ => {
                self.waiting.push_back(text);
                Vec::new()
            }
        }
    }

    fn begin_with(&mut self, text: &str) -> Vec<Act> {
        let text = text.trim();
        if let Some(command) = text.strip_prefix('/') {
            return self.command(command);
        }
        if let Some(command) = text.strip_prefix('!') {
            return self.shell(command.trim());
        }
        if let Some(said) = text.strip_prefix('#') {
            return self.keep(said.trim_start_matches('#').trim());
        }
        self.turn(text)
    }

    pub(super) fn turn(&mut self, prompt: &str) -> Vec<Act> {
        let prompt = prompt.trim();
        self.talk.push(Kind::Person(prompt.to_owned()));
        self.phase = Phase::Turn { since: Instant::now(), doing: "thinking".to_owned() };
        vec![Act::Ask(Ask::Turn(self.with_pasted(prompt)))]
    }

    /// What is said, with what of it was pasted.
    fn with_pasted(&self, text: &str) -> Waiting {
        let before = text.len() - text.trim_start().len();
        let known = self.pasted.get(text.trim()).into_iter().flatten();
        let pasted = known.map(|range| range.start + before..range.end + before).collect();
        Waiting { text: text.to_owned(), pasted }
    }

    fn shell(&mut self, command: &str) -> Vec<Act> {
        if command.is_empty() {
            return Vec::new();
        }
        self.shells += 1;
        let line = format!("!{command}");
        self.phase = Phase::Command { line, since: Instant::now() };
        let id = format!("shell-{}", self.shells);
        vec![Act::Ask(Ask::Shell { id, command: command.to_owned() })]
    }

    fn keep(&mut self, said: &str) -> Vec<Act> {
        if said.is_empty() {
            return Vec::new();
        }
        let line = "# remember".to_owned();
        self.phase = Phase::Command { line, since: Instant::now() };
        vec![Act::Ask(Ask::Remember(said.to_owned()))]
    }

    /// Goes on with what waited. Those that follow wait for the next boundary.
    pub(super) fn next_waiting(&mut self) -> Vec<Act> {
        let Some(text) = self.waiting.pop_front() else { return Vec::new() };
        let acts = self.begin_with(&text);
        if let (Phase::Turn { .. }, Some(status)) = (&self.phase, &self.status) {
            let is_prompt = |text: &&String| !text.starts_with(['/', '!', '#']);
            for text in self.waiting.iter().take_while(is_prompt) {
                status.queue.add(self.with_pasted(text));
            }
        }
        acts
    }

    /// Something that waited was taken into the turn that runs.
    pub(super) fn taken(&mut self, text: &str) {
        if let Some(at) = self.waiting.iter().position(|waiting| waiting == text) {
            self.waiting.remove(at);
            self.talk.push(Kind::Person(text.to_owned()));
        }
    }
}
