//! `/tasks`: what runs in the background, and what did, live.

use super::rows::{self, Rows, Typing};
use super::{Panel, PanelAct};
use crate::jobs::task_of;
use crate::panel_data::{Table, TableRow};
use crate::status::Status;
use crate::style::TextStyle;
use crate::theme::Theme;
use crate::wrap;
use everfold_agent::engine::agents::Agents;
use everfold_agent::{Background, TaskStatus, TaskView};
use everfold_kernel::ports::{JobInfo, JobState, Shell};
use everfold_kernel::{QuerySource, Timestamp};
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use ratatui::layout::Rect;
use std::sync::Arc;

/// The tasks of a session.
#[derive(Clone)]
pub(crate) struct Hands {
    background: Background,
    agents: Agents,
    /// Whose commands run in the background too.
    shell: Arc<dyn Shell>,
}

impl Hands {
    /// What a person can do about tasks.
    pub(crate) fn of(status: &Status) -> Self {
        Self {
            background: status.background.clone(),
            agents: status.agents.clone(),
            shell: Arc::clone(&status.shell),
        }
    }

    /// Stops one, by its id or name.
    pub(crate) fn stop(&self, id: &str) -> bool {
        if self.background.stop(id) || self.agents.stop(id) {
            return true;
        }
        let runs = |job: &JobInfo| job.id == id && job.state == JobState::Running;
        let is_there = self.shell.jobs().iter().any(runs);
        if is_there {
            let (shell, id) = (Arc::clone(&self.shell), id.to_owned());
            // It is asked, and killed where it does not end; nobody waits here.
            tokio::spawn(async move {
                let _ = shell.stop(&id).await;
            });
        }
        is_there
    }

    /// Writes to an agent.
    pub(crate) fn say(&self, id: &str, text: &str) -> bool {
        self.agents.say(id, text)
    }

    /// Those that run first, then those that ended, newest first.
    fn list(&self) -> Vec<TaskView> {
        let mut tasks = self.background.list();
        tasks.extend(self.shell.jobs().iter().map(task_of));
        tasks.reverse();
        tasks.sort_by_key(|task| task.status != TaskStatus::Running);
        tasks
    }

    fn find(&self, id: &str) -> Option<TaskView> {
        let task = self.background.list().into_iter().find(|task| task.id == id);
        task.or_else(|| self.shell.jobs().iter().find(|job| job.id == id).map(task_of))
    }
}

pub(crate) struct TasksPanel {
    hands: Hands,
    rows: Rows,
    said: String,
}

impl TasksPanel {
    /// The tasks of a session.
    pub(crate) fn new(hands: Hands) -> Self {
        Self { hands, rows: Rows::new(Typing::AfterSlash), said: String::new() }
    }

    fn refresh(&mut self) {
        let now = Timestamp::now();
        let rows = self.hands.list().iter().map(|task| row(task, now)).collect();
        let head = ["id", "state", "for", "name", "doing"].map(str::to_owned).to_vec();
        let empty = "nothing is running in the background".to_owned();
        self.rows.set(Table { head, rows, empty });
    }
}

fn row(task: &TaskView, now: Timestamp) -> TableRow {
    let doing = match &task.status {
        TaskStatus::Failed { reason } => reason.clone(),
        _ if task.phase.is_empty() => task.lines.back().cloned().unwrap_or_default(),
        _ => task.phase.clone(),
    };
    let (word, look) = word(task);
    TableRow {
        id: task.id.clone(),
        cells: vec![task.id.clone(), word.to_owned(), since(task, now), task.name.clone(), doing],
        look,
        more: String::new(),
    }
}

fn word(task: &TaskView) -> (&'static str, TextStyle) {
    match task.status {
        TaskStatus::Running => ("running", TextStyle::Normal),
        TaskStatus::Completed => ("done", TextStyle::Dim),
        TaskStatus::Failed { .. } => ("failed", TextStyle::Red),
        TaskStatus::Killed => ("stopped", TextStyle::Dim),
    }
}

/// How long it has run, or ran.
fn since(task: &TaskView, now: Timestamp) -> String {
    let end = task.ended.unwrap_or(now);
    let seconds = end.as_second().saturating_sub(task.started.as_second()).max(0);
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        _ => format!("{} h", seconds / 3_600),
    }
}

fn is_agent(task: &TaskView) -> bool {
    matches!(task.source, QuerySource::Agent(_)) && task.status == TaskStatus::Running
}

/// What a person does about a task, in the list and while watching.
fn about(hands: &Hands, id: &str, letter: char, said: &mut String) -> PanelAct {
    let Some(task) = hands.find(id) else { return PanelAct::Stay };
    match letter {
        'x' if hands.stop(id) => *said = format!("stopping {id}"),
        'x' => *said = format!("{id} has already ended"),
        'm' if is_agent(&task) => return PanelAct::Put(format!("/tasks say {id} ")),
        'm' => {
            *said = format!("{id} is not a running agent; you can only write to running agents");
        }
        _ => {}
    }
    PanelAct::Stay
}

impl Panel for TasksPanel {
    fn title(&self) -> String {
        let running = |task: &&TaskView| task.status == TaskStatus::Running;
        let tasks = self.hands.list();
        let count = tasks.iter().filter(running).count();
        format!("tasks · {count} running, {} ended", tasks.len() - count)
    }

    fn keys(&self) -> String {
        "Enter watches · x stops · m writes to an agent · / search · Esc back".to_owned()
    }

    fn update(&mut self, status: &Status) {
        self.hands = Hands::of(status);
    }

    fn draw(&mut self, area: Rect, buf: &mut Buffer, theme: Theme) {
        self.refresh();
        let list = Rect { height: area.height.saturating_sub(1), ..area };
        self.rows.draw(list, buf, theme);
        let mut rest = Rect { y: list.bottom(), height: area.height - list.height, ..area };
        rows::line(&self.said, theme.style(TextStyle::Yellow), &mut rest, buf);
    }

    fn key(&mut self, key: KeyEvent) -> PanelAct {
        self.refresh();
        let Some(key) = self.rows.key(key) else { return PanelAct::Stay };
        let id = self.rows.chosen().map(|row| row.id.clone());
        match (key.code, id) {
            (KeyCode::Enter, Some(id)) => {
                PanelAct::Show(Box::new(WatchPanel::new(self.hands.clone(), &id)))
            }
            (KeyCode::Char(letter @ ('x' | 'm')), Some(id)) => {
                about(&self.hands, &id, letter, &mut self.said)
            }
            _ => rows::closes(key),
        }
    }
}

/// One task, as it goes.
pub(crate) struct WatchPanel {
    hands: Hands,
    id: String,
    said: String,
}

impl WatchPanel {
    /// A task by its id or name.
    pub(crate) fn new(hands: Hands, name: &str) -> Self {
        let tasks = hands.list();
        let found = tasks.iter().find(|task| task.id == name || task.name == name);
        let id = found.map_or(name, |task| &task.id).to_owned();
        Self { hands, id, said: String::new() }
    }
}

impl Panel for WatchPanel {
    fn title(&self) -> String {
        match self.hands.find(&self.id) {
            Some(task) => {
                let (word, since) = (word(&task).0, since(&task, Timestamp::now()));
                format!("{} {} · {word} · {since}", task.id, task.name)
            }
            None => self.id.clone(),
        }
    }

    fn keys(&self) -> String {
        "x stops · m writes to an agent · Esc back".to_owned()
    }

    fn draw(&mut self, area: Rect, buf: &mut Buffer, theme: Theme) {
        let mut area = area;
        let Some(task) = self.hands.find(&self.id) else {
            let text = format!("no task {} is running; /tasks lists them", self.id);
            return rows::line(&text, theme.dim(), &mut area, buf);
        };
        if !task.phase.is_empty() {
            rows::line(&task.phase, theme.accent(), &mut area, buf);
        }
        if let TaskStatus::Failed { reason } = &task.status {
            rows::line(reason, theme.style(TextStyle::Red), &mut area, buf);
        }
        let lines: Vec<_> = task
            .lines
            .iter()
            .flat_map(|line| wrap::text(line, theme.style(TextStyle::Normal), area.width, "  "))
            .collect();
        let room = usize::from(area.height.saturating_sub(1));
        for line in lines.iter().skip(lines.len().saturating_sub(room)) {
            rows::styled_line(line, &mut area, buf);
        }
        if lines.is_empty() {
            rows::line("no output yet", theme.dim(), &mut area, buf);
        }
        rows::line(&self.said, theme.style(TextStyle::Yellow), &mut area, buf);
    }

    fn key(&mut self, key: KeyEvent) -> PanelAct {
        match key.code {
            KeyCode::Char(letter @ ('x' | 'm')) => {
                about(&self.hands, &self.id, letter, &mut self.said)
            }
            KeyCode::Enter => PanelAct::Close,
            _ => rows::closes(key),
        }
    }
}
