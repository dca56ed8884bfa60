//! Slash commands: those that have a panel open it, whatever goes on; the
//! others are the worker's.

use super::{Act, App, Phase};
use crate::host::Next;
use crate::panel::compact::CompactPanel;
use crate::panel::context::ContextPanel;
use crate::panel::cost::CostPanel;
use crate::panel::help::HelpPanel;
use crate::panel::listing::ListPanel;
use crate::panel::rewind::RewindPanel;
use crate::panel::tasks::{Hands, TasksPanel, WatchPanel};
use crate::panel::{Panel, PanelAct, Stack};
use crate::panel_data::{Listing, granted_rule};
use crate::status::Status;
use crate::style::TextStyle;
use crate::transcript_view::Kind;
use crate::worker::Ask;
use std::sync::Arc;
use std::time::Instant;

impl App {
    /// Runs a command, or keeps it until what runs has ended.
    pub(super) fn command(&mut self, line: &str) -> Vec<Act> {
        let line = line.trim();
        if let Some(acts) = self.at_once(line) {
            return acts;
        }
        if self.phase != Phase::Rest || self.status.is_none() {
            self.waiting.push_back(format!("/{line}"));
            return Vec::new();
        }
        self.written.clear();
        self.phase = Phase::Command { line: line.to_owned(), since: Instant::now() };
        vec![Act::Ask(Ask::Command(line.to_owned()))]
    }

    /// What needs no word of the worker.
    fn at_once(&mut self, line: &str) -> Option<Vec<Act>> {
        let status = self.status.as_deref()?;
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        if let ("tasks", false) = (name, rest.is_empty()) {
            return self.about_task(rest);
        }
        let panel: Box<dyn Panel> = match (name, rest) {
            ("help" | "?", "") => Box::new(HelpPanel::new(&self.commands)),
            ("compact", "--preview") => Box::new(CompactPanel::default()),
            ("resume", words) => {
                let list = ListPanel::new(Arc::clone(&status.side), Listing::Sessions);
                Box::new(list.looking_for(words))
            }
            ("memory", "inbox") => list(status, Listing::Inbox),
            ("memory", "log") => list(status, Listing::Changes),
            (name, "") => panel(name, status)?,
            _ => return None,
        };
        Some(self.open(panel))
    }

    /// `/tasks` with more: watch, stop, write.
    fn about_task(&mut self, rest: &str) -> Option<Vec<Act>> {
        let hands = Hands::of(self.status.as_deref()?);
        let (word, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let (id, text) = rest.trim().split_once(char::is_whitespace).unwrap_or((rest.trim(), ""));
        let said = match (word, id, text.trim()) {
            ("stop", id, "") if !id.is_empty() => hands.stop(id).then(|| format!("stopping {id}")),
            ("say", id, text) if !text.is_empty() => {
                hands.say(id, text).then(|| format!("{id} will read it at its next step"))
            }
            ("stop" | "say", ..) => return None,
            (id, ..) => return Some(self.open(Box::new(WatchPanel::new(hands, id)))),
        };
        let missing = || format!("no task {id} is running; /tasks lists them");
        self.notice(TextStyle::Dim, said.unwrap_or_else(missing));
        Some(Vec::new())
    }

    pub(super) fn open(&mut self, panel: Box<dyn Panel>) -> Vec<Act> {
        let (stack, act) = Stack::new(panel);
        self.panel = Some(Box::new(stack));
        self.panel_act(act)
    }

    /// Does what a panel asks for.
    pub(super) fn panel_act(&mut self, act: PanelAct) -> Vec<Act> {
        match act {
            PanelAct::Stay => Vec::new(),
            PanelAct::Close => {
                self.panel = None;
                Vec::new()
            }
            // Only a stack is shown, and it keeps this to itself.
            PanelAct::Show(panel) => self.open(panel),
            PanelAct::Ask(ask) => vec![Act::Ask(ask)],
            PanelAct::CloseAnd(ask) => {
                self.panel = None;
                self.ask(ask)
            }
            PanelAct::Do(job) => vec![Act::Do(job)],
            PanelAct::Command(line) => self.command(&line),
            PanelAct::Send(text) => {
                self.panel = None;
                self.send(text)
            }
            PanelAct::Put(text) => {
                self.panel = None;
                self.input.set(&text);
                Vec::new()
            }
            PanelAct::Copy(text) => vec![Act::Copy(text)],
        }
    }

    /// Asks the worker for what changes the session.
    fn ask(&mut self, ask: Ask) -> Vec<Act> {
        if self.phase != Phase::Rest {
            self.notice(TextStyle::Yellow, "something is running; Esc stops it, then try again");
            return Vec::new();
        }
        self.written.clear();
        self.phase = Phase::Command { line: "resume".to_owned(), since: Instant::now() };
        vec![Act::Ask(ask)]
    }

    /// A command has ended: what it wrote is shown where it was asked for.
    pub(super) fn command_ended(&mut self, done: anyhow::Result<Next>) -> Vec<Act> {
        let phase = std::mem::replace(&mut self.phase, Phase::Rest);
        let title = match &phase {
            Phase::Command { line, .. } => line.clone(),
            _ => String::new(),
        };
        let failed = done.as_ref().err().map(|why| (TextStyle::Red, format!("error: {why:#}\n")));
        let mut acts = Vec::new();
        if let Some(panel) = &mut self.panel {
            let mut said = std::mem::take(&mut self.written);
            said.extend(failed);
            match panel.answered(said) {
                Ok(act) => acts.extend(self.panel_act(act)),
                // It waits in the conversation, behind the panel.
                Err(said) if said.is_empty() => {}
                Err(said) => self.talk.push(Kind::Notice(said)),
            }
        } else {
            self.written.extend(failed);
            self.show_written(&title);
        }
        acts.extend(match done {
            Ok(Next::Quit) => return self.leave(),
            Ok(Next::Say(prompt)) => return self.turn(&prompt),
            Ok(Next::Choose(words)) => self.at_once(&format!("resume {words}")).unwrap_or_default(),
            Ok(Next::Watch(id)) => self.at_once(&format!("tasks {id}")).unwrap_or_default(),
            Ok(Next::WentBack(text)) => {
                if let Some(text) = text.filter(|_| self.input.is_empty()) {
                    self.input.set(&text);
                }
                Vec::new()
            }
            Ok(Next::GoOn) | Err(_) => Vec::new(),
        });
        acts.extend(self.next_waiting());
        acts
    }
}

fn list(status: &Status, what: Listing) -> Box<dyn Panel> {
    Box::new(ListPanel::new(Arc::clone(&status.side), what))
}

/// The panel of a command that stands alone.
fn panel(name: &str, status: &Status) -> Option<Box<dyn Panel>> {
    Some(match name {
        "context" => Box::new(ContextPanel::new(status)),
        "tasks" => Box::new(TasksPanel::new(Hands::of(status))),
        "cost" => Box::new(CostPanel::new(status)),
        "rewind" => Box::new(RewindPanel::new()),
        "memory" => list(status, Listing::Memories),
        "config" => list(status, Listing::Settings),
        "doctor" => list(status, Listing::Findings),
        "model" => list(status, Listing::Models),
        "mcp" => list(status, Listing::Servers),
        "skills" => list(status, Listing::Skills),
        "permissions" => {
            let granted = status.live.status().map(|now| now.granted).unwrap_or_default();
            let own = granted.iter().map(|rule| granted_rule(rule)).collect();
            Box::new(ListPanel::new(Arc::clone(&status.side), Listing::Rules).with(own))
        }
        _ => return None,
    })
}
