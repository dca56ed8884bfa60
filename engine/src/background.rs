//! What goes on beside the conversation: who runs, since when, and how it can
//! be stopped.
//!
//! Every task has an owner (this), a name, a deadline and an end: it is done,
//! it fails, it is stopped by a person, or it is stopped when the session ends
//! ([`Background::drain`]). What a task has to tell goes to whoever watches the
//! session; while nobody does, it waits for the next one.

use crate::event::Event;
use crate::session::Events;
use mnemon_kernel::ports::Clock;
use mnemon_kernel::{QuerySource, Timestamp};
use std::collections::VecDeque;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Lines of a task that are kept, the newest (L6.6).
const KEPT_LINES: usize = 30;
/// Tasks that have ended and are still listed.
const KEPT_TASKS: usize = 50;
/// Events that wait for somebody to watch.
const WAITING_EVENTS: usize = 100;
/// How long stopped tasks have to clean up.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// The tasks of a session. Clones are the same tasks.
#[derive(Clone)]
pub struct Background(Arc<Inner>);

struct Inner {
    clock: Arc<dyn Clock>,
    tracker: TaskTracker,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    tasks: Vec<Task>,
    started: u64,
    events: Option<Events>,
    waiting: VecDeque<Event>,
}

struct Task {
    view: TaskView,
    cancel: CancellationToken,
}

/// A task, as a person sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskView {
    /// Its name in commands, such as `t3`.
    pub id: String,
    /// What it is, such as `notes` or `dream`.
    pub name: String,
    /// Under which source its requests are booked.
    pub source: QuerySource,
    /// Where it stands.
    pub status: TaskStatus,
    /// What it is about to do, in a word.
    pub phase: String,
    /// What it said, the newest lines.
    pub lines: VecDeque<String>,
    /// When it started.
    pub started: Timestamp,
    /// When it ended.
    pub ended: Option<Timestamp>,
}

/// Where a task stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskStatus {
    /// It runs.
    Running,
    /// It came to its end.
    Completed,
    /// It failed.
    Failed {
        /// Why.
        reason: String,
    },
    /// It was stopped.
    Killed,
}

/// What a task holds of itself.
#[derive(Clone)]
pub struct TaskHandle {
    id: String,
    owner: Background,
    cancel: CancellationToken,
}

impl Background {
    /// No tasks yet.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        let state = Mutex::new(State::default());
        Self(Arc::new(Inner { clock, tracker: TaskTracker::new(), state }))
    }

    /// Starts a task. Its future says how it ended: with an error, why. After
    /// the deadline it is stopped as by a person.
    pub fn start<W, F>(
        &self,
        name: &str,
        source: QuerySource,
        deadline: Duration,
        work: W,
    ) -> String
    where
        W: FnOnce(TaskHandle) -> F,
        F: Future<Output = Result<(), String>> + Send + 'static,
    {
        let id = self.next_id();
        self.start_as(id.clone(), name, source, deadline, work);
        id
    }

    /// The same under an id that the caller has for it already.
    pub fn start_as<W, F>(
        &self,
        id: String,
        name: &str,
        source: QuerySource,
        deadline: Duration,
        work: W,
    ) where
        W: FnOnce(TaskHandle) -> F,
        F: Future<Output = Result<(), String>> + Send + 'static,
    {
        let cancel = CancellationToken::new();
        self.enter(&id, name, source, cancel.clone());
        let handle = TaskHandle { id: id.clone(), owner: self.clone(), cancel: cancel.clone() };
        let (running, owner, task) = (work(handle), self.clone(), id);
        self.0.tracker.spawn(async move {
            let mut running = std::pin::pin!(running);
            let ended = tokio::select! {
                ended = &mut running => Some(ended),
                () = stopped(&cancel, deadline) => {
                    cancel.cancel();
                    tokio::time::timeout(LAST_WORDS, running).await.ok()
                }
            };
            let status = match ended {
                _ if cancel.is_cancelled() => TaskStatus::Killed,
                Some(Ok(())) => TaskStatus::Completed,
                Some(Err(reason)) => TaskStatus::Failed { reason },
                None => TaskStatus::Killed,
            };
            owner.leave(&task, status);
        });
    }

    fn next_id(&self) -> String {
        let mut state = self.state();
        state.started += 1;
        format!("t{}", state.started)
    }

    /// All tasks, those that ended lately included, oldest first.
    #[must_use]
    pub fn list(&self) -> Vec<TaskView> {
        self.state().tasks.iter().map(|task| task.view.clone()).collect()
    }

    /// Whether a task of this source runs.
    #[must_use]
    pub fn is_running(&self, source: &QuerySource) -> bool {
        let state = self.state();
        state.tasks.iter().any(|task| task.is_running() && task.view.source == *source)
    }

    /// Stops a task. False where none of this id runs.
    #[must_use]
    pub fn stop(&self, id: &str) -> bool {
        let state = self.state();
        let found = state.tasks.iter().find(|task| task.view.id == id && task.is_running());
        if let Some(task) = found {
            task.cancel.cancel();
        }
        found.is_some()
    }

    /// Waits for what runs, at most so long; what is not done by then is
    /// stopped. Nothing runs any more after it.
    pub async fn drain(&self, at_most: Duration) {
        self.0.tracker.close();
        if tokio::time::timeout(at_most, self.0.tracker.wait()).await.is_err() {
            for task in self.state().tasks.iter().filter(|task| task.is_running()) {
                tracing::warn!(task = task.view.name, "stopped: the session ends");
                task.cancel.cancel();
            }
            self.0.tracker.wait().await;
        }
        self.0.tracker.reopen();
    }

    /// Tells whoever watches, now or later.
    pub fn tell(&self, event: Event) {
        let mut state = self.state();
        let untold = match &state.events {
            Some(events) => events.send(event).err().map(|unsent| unsent.0),
            None => Some(event),
        };
        if let Some(event) = untold {
            state.waiting.push_back(event);
            if state.waiting.len() > WAITING_EVENTS {
                state.waiting.pop_front();
            }
        }
    }

    /// Sends what tasks tell to a watcher, from what the last one missed on.
    pub(crate) fn watch(&self, events: Events) {
        let mut state = self.state();
        for event in std::mem::take(&mut state.waiting) {
            let _ = events.send(event);
        }
        state.events = Some(events);
    }

    fn enter(&self, id: &str, name: &str, source: QuerySource, cancel: CancellationToken) {
        let started = self.0.clock.now();
        let mut state = self.state();
        let view = TaskView {
            id: id.to_owned(),
            name: name.to_owned(),
            source,
            status: TaskStatus::Running,
            phase: String::new(),
            lines: VecDeque::new(),
            started,
            ended: None,
        };
        let shown = view.clone();
        state.tasks.push(Task { view, cancel });
        while state.tasks.len() > KEPT_TASKS {
            let Some(at) = state.tasks.iter().position(|task| !task.is_running()) else { break };
            state.tasks.remove(at);
        }
        drop(state);
        self.tell(Event::Task(Box::new(shown)));
    }

    fn leave(&self, id: &str, status: TaskStatus) {
        if let TaskStatus::Failed { reason } = &status {
            tracing::warn!(task = id, reason, "a background task failed");
        }
        let ended = self.0.clock.now();
        self.change(id, |view| {
            view.status = status;
            view.ended = Some(ended);
        });
    }

    fn change(&self, id: &str, change: impl FnOnce(&mut TaskView)) {
        let mut state = self.state();
        let Some(task) = state.tasks.iter_mut().find(|task| task.view.id == id) else { return };
        change(&mut task.view);
        let shown = task.view.clone();
        drop(state);
        self.tell(Event::Task(Box::new(shown)));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Task {
    fn is_running(&self) -> bool {
        self.view.status == TaskStatus::Running
    }
}

impl TaskHandle {
    /// Its name in commands.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Is cancelled when the task is to stop.
    #[must_use]
    pub fn cancel(&self) -> &CancellationToken {
        &self.cancel
    }

    /// Says what it is about to do, in a word.
    pub fn phase(&self, phase: &str) {
        self.owner.change(&self.id, |view| phase.clone_into(&mut view.phase));
    }

    /// Says what it did, in a line.
    pub fn say(&self, line: impl Into<String>) {
        self.owner.change(&self.id, |view| {
            view.lines.push_back(line.into());
            if view.lines.len() > KEPT_LINES {
                view.lines.pop_front();
            }
        });
    }

    /// Tells whoever watches the session.
    pub fn tell(&self, event: Event) {
        self.owner.tell(event);
    }
}

async fn stopped(cancel: &CancellationToken, deadline: Duration) {
    let _ = tokio::time::timeout(deadline, cancel.cancelled()).await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::mpsc;

    struct Still;

    impl Clock for Still {
        fn now(&self) -> Timestamp {
            Timestamp::UNIX_EPOCH
        }

        fn fresh_uuid(&self) -> String {
            String::new()
        }
    }

    const LONG: Duration = Duration::from_hours(1);

    fn background() -> Background {
        Background::new(Arc::new(Still))
    }

    fn statuses(background: &Background) -> Vec<TaskStatus> {
        background.list().into_iter().map(|task| task.status).collect()
    }

    #[tokio::test]
    async fn l6_6_a_task_is_seen_from_start_to_end() {
        let background = background();
        background.start("dream", QuerySource::Dream, LONG, |task| async move {
            task.phase("updating");
            for number in 0..40 {
                task.say(format!("line {number}"));
            }
            Ok(())
        });
        assert!(background.is_running(&QuerySource::Dream));
        background.drain(LONG).await;
        let task = background.list().pop().unwrap();
        assert_eq!((task.status, task.phase.as_str()), (TaskStatus::Completed, "updating"));
        assert_eq!(task.lines.len(), KEPT_LINES);
        assert_eq!(task.lines.back().map(String::as_str), Some("line 39"));
        assert!(!background.is_running(&QuerySource::Dream));
    }

    #[tokio::test]
    async fn l6_6_a_person_stops_a_task() {
        let background = background();
        let id = background.start("dream", QuerySource::Dream, LONG, |task| async move {
            task.cancel().cancelled().await;
            Err("stopped".into())
        });
        assert!(background.stop(&id));
        background.drain(LONG).await;
        assert_eq!(statuses(&background), [TaskStatus::Killed]);
        assert!(!background.stop(&id), "it does not run any more");
    }

    #[tokio::test(start_paused = true)]
    async fn q2_what_hangs_ends_by_its_deadline_or_with_the_session() {
        let background = background();
        let hang = |_| std::future::pending();
        background.start("a", QuerySource::Extract, Duration::from_secs(1), hang);
        background.start("b", QuerySource::Extract, LONG, hang);
        background.start("c", QuerySource::Extract, LONG, |_| async { Err("broken".into()) });
        background.drain(Duration::from_mins(1)).await;
        let failed = TaskStatus::Failed { reason: "broken".into() };
        assert_eq!(statuses(&background), [TaskStatus::Killed, TaskStatus::Killed, failed]);
    }

    #[tokio::test]
    async fn l5_15_what_was_told_while_nobody_watched_is_told_to_the_next() {
        let background = background();
        let (first, receiver) = mpsc::unbounded_channel();
        background.watch(first);
        drop(receiver);
        background.tell(Event::Notice("saved".into()));
        let (second, mut receiver) = mpsc::unbounded_channel();
        background.watch(second);
        assert_eq!(receiver.recv().await, Some(Event::Notice("saved".into())));
    }
}
