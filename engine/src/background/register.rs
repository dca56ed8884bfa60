//! The list of tasks. Every method is one step that is seen whole or not at
//! all: [`super::Background`] takes its lock for just that long.

use super::{TaskStatus, TaskView};
use crate::event::{Event, Events};
use everfold_kernel::{QuerySource, Timestamp};
use std::collections::VecDeque;
use tokio_util::sync::CancellationToken;

/// Tasks that have ended and are still listed.
const KEPT_TASKS: usize = 50;
/// Events that wait for somebody to watch.
const WAITING_EVENTS: usize = 100;

/// Who runs, who ran lately, and who is told.
#[derive(Default)]
pub(super) struct Register {
    tasks: Vec<Task>,
    started: u64,
    ending: bool,
    events: Option<Events>,
    waiting: VecDeque<Event>,
}

struct Task {
    view: TaskView,
    cancel: CancellationToken,
}

impl Register {
    /// Takes a task in, under the next free name where it has none. While
    /// everything is being stopped, so is this.
    pub(super) fn enter(
        &mut self,
        id: Option<String>,
        name: &str,
        source: QuerySource,
        started: Timestamp,
    ) -> (String, CancellationToken) {
        let id = id.unwrap_or_else(|| {
            self.started += 1;
            format!("t{}", self.started)
        });
        let view = TaskView {
            id: id.clone(),
            name: name.to_owned(),
            source,
            status: TaskStatus::Running,
            phase: String::new(),
            lines: VecDeque::new(),
            started,
            ended: None,
        };
        let cancel = CancellationToken::new();
        if self.ending {
            cancel.cancel();
        }
        self.tell(Event::Task(Box::new(view.clone())));
        self.tasks.push(Task { view, cancel: cancel.clone() });
        self.forget_the_oldest();
        (id, cancel)
    }

    fn forget_the_oldest(&mut self) {
        while self.tasks.len() > KEPT_TASKS {
            let Some(at) = self.tasks.iter().position(|task| !task.is_running()) else { break };
            self.tasks.remove(at);
        }
    }

    /// Changes what is seen of a task, and tells it.
    pub(super) fn change(&mut self, id: &str, change: impl FnOnce(&mut TaskView)) {
        let Some(task) = self.tasks.iter_mut().find(|task| task.view.id == id) else { return };
        change(&mut task.view);
        let shown = task.view.clone();
        self.tell(Event::Task(Box::new(shown)));
    }

    pub(super) fn views(&self) -> Vec<TaskView> {
        self.tasks.iter().map(|task| task.view.clone()).collect()
    }

    pub(super) fn is_running(&self, source: &QuerySource) -> bool {
        self.tasks.iter().any(|task| task.is_running() && task.view.source == *source)
    }

    /// Stops a task. False where none of this id runs.
    pub(super) fn stop(&self, id: &str) -> bool {
        let found = self.tasks.iter().find(|task| task.view.id == id && task.is_running());
        if let Some(task) = found {
            task.cancel.cancel();
        }
        found.is_some()
    }

    /// Stops what runs, and what is started until [`Register::open`].
    pub(super) fn stop_all(&mut self) {
        self.ending = true;
        for task in self.tasks.iter().filter(|task| task.is_running()) {
            tracing::warn!(task = task.view.name, "stopped: the session ends");
            task.cancel.cancel();
        }
    }

    /// Lets tasks be started again.
    pub(super) fn open(&mut self) {
        self.ending = false;
    }

    /// Tells whoever watches, now or later.
    pub(super) fn tell(&mut self, event: Event) {
        let untold = match &self.events {
            Some(events) => events.send(event).err().map(|unsent| unsent.0),
            None => Some(event),
        };
        if let Some(event) = untold {
            self.waiting.push_back(event);
            if self.waiting.len() > WAITING_EVENTS {
                self.waiting.pop_front();
            }
        }
    }

    /// Sends what tasks tell to a watcher, from what the last one missed on.
    pub(super) fn watch(&mut self, events: Events) {
        for event in std::mem::take(&mut self.waiting) {
            let _ = events.send(event);
        }
        self.events = Some(events);
    }
}

impl Task {
    fn is_running(&self) -> bool {
        self.view.status == TaskStatus::Running
    }
}
