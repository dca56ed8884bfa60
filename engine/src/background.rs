//! What goes on beside the conversation: who runs, since when, and how it can
//! be stopped.
//!
//! Every task has an owner (this), a name, a deadline and an end: it is done,
//! it fails, it is stopped by a person, or it is stopped when the session ends
//! ([`Background::drain`]). What a task has to tell goes to whoever watches the
//! session; while nobody does, it waits for the next one.

pub mod budget;
#[cfg(test)]
mod interleaving;
mod register;
pub mod scheduler;

use crate::event::{Event, Events};
pub use crate::event::{TaskStatus, TaskView};
use everfold_kernel::QuerySource;
use everfold_kernel::ports::Clock;
use register::Register;
use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Lines of a task that are kept, the newest (L6.6).
const KEPT_LINES: usize = 30;
/// How long stopped tasks have to clean up.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// The tasks of a session. Clones are the same tasks.
#[derive(Clone)]
pub struct Background(Arc<Inner>);

struct Inner {
    clock: Arc<dyn Clock>,
    tracker: TaskTracker,
    register: Mutex<Register>,
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
        let register = Mutex::new(Register::default());
        Self(Arc::new(Inner { clock, tracker: TaskTracker::new(), register }))
    }

    /// Starts a task. Its future says how it ended: with an error, why. After
    /// the deadline it is stopped as by a person.
    pub fn start<W, F, E>(
        &self,
        name: &str,
        source: QuerySource,
        deadline: Duration,
        work: W,
    ) -> String
    where
        W: FnOnce(TaskHandle) -> F,
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: fmt::Display + Send + 'static,
    {
        let task = self.enter(None, name, source);
        let id = task.id.clone();
        self.spawn(task, deadline, work);
        id
    }

    /// The same under an id that the caller has for it already.
    pub fn start_as<W, F, E>(
        &self,
        id: String,
        name: &str,
        source: QuerySource,
        deadline: Duration,
        work: W,
    ) where
        W: FnOnce(TaskHandle) -> F,
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: fmt::Display + Send + 'static,
    {
        let task = self.enter(Some(id), name, source);
        self.spawn(task, deadline, work);
    }

    fn enter(&self, id: Option<String>, name: &str, source: QuerySource) -> TaskHandle {
        let started = self.0.clock.now();
        let (id, cancel) = self.register().enter(id, name, source, started);
        TaskHandle { id, owner: self.clone(), cancel }
    }

    fn spawn<W, F, E>(&self, task: TaskHandle, deadline: Duration, work: W)
    where
        W: FnOnce(TaskHandle) -> F,
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: fmt::Display + Send + 'static,
    {
        let running = work(task.clone());
        let too_late = async move { tokio::time::sleep(deadline).await };
        let last_words = async { tokio::time::sleep(LAST_WORDS).await };
        self.0.tracker.spawn(life(task, running, too_late, last_words));
    }

    /// All tasks, those that ended lately included, oldest first.
    #[must_use]
    pub fn list(&self) -> Vec<TaskView> {
        self.register().views()
    }

    /// Whether a task of this source runs.
    #[must_use]
    pub fn is_running(&self, source: &QuerySource) -> bool {
        self.register().is_running(source)
    }

    /// Stops a task. False where none of this id runs.
    #[must_use]
    pub fn stop(&self, id: &str) -> bool {
        self.register().stop(id)
    }

    /// Waits for what runs, at most so long; what is not done by then is
    /// stopped. Nothing runs any more after it.
    pub async fn drain(&self, at_most: Duration) {
        self.drain_until(tokio::time::sleep(at_most)).await;
    }

    async fn drain_until(&self, time_is_up: impl Future<Output = ()>) {
        self.0.tracker.close();
        tokio::select! {
            biased;
            () = self.0.tracker.wait() => {}
            () = time_is_up => {
                self.register().stop_all();
                self.0.tracker.wait().await;
            }
        }
        self.register().open();
        self.0.tracker.reopen();
    }

    /// Tells whoever watches, now or later.
    pub fn tell(&self, event: Event) {
        self.register().tell(event);
    }

    /// Sends what tasks tell to a watcher, from what the last one missed on.
    pub(crate) fn watch(&self, events: Events) {
        self.register().watch(events);
    }

    fn register(&self) -> MutexGuard<'_, Register> {
        self.0.register.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A task from its start to its end, which is entered however it comes: also
/// when the work breaks off, or the runtime ends under it.
async fn life<E: fmt::Display>(
    task: TaskHandle,
    running: impl Future<Output = Result<(), E>>,
    too_late: impl Future<Output = ()>,
    last_words: impl Future<Output = ()>,
) {
    let cancel = task.cancel.clone();
    let mut end = End { task, status: TaskStatus::Failed { reason: "it broke off".into() } };
    let mut running = std::pin::pin!(running);
    let ended = tokio::select! {
        biased;
        ended = &mut running => Some(ended),
        () = stopped(&cancel, too_late) => tokio::select! {
            biased;
            ended = running => Some(ended),
            () = last_words => None,
        },
    };
    end.status = match ended {
        Some(Ok(())) if !cancel.is_cancelled() => TaskStatus::Completed,
        Some(Err(error)) if !cancel.is_cancelled() => {
            TaskStatus::Failed { reason: error.to_string() }
        }
        _ => TaskStatus::Killed,
    };
}

async fn stopped(cancel: &CancellationToken, too_late: impl Future<Output = ()>) {
    tokio::select! {
        biased;
        () = cancel.cancelled() => {}
        () = too_late => cancel.cancel(),
    }
}

/// How a task ends, once it is dropped.
struct End {
    task: TaskHandle,
    status: TaskStatus,
}

impl Drop for End {
    fn drop(&mut self) {
        if let TaskStatus::Failed { reason } = &self.status {
            tracing::warn!(task = self.task.id, reason, "a background task failed");
        }
        let owner = &self.task.owner;
        let ended = owner.0.clock.now();
        owner.register().change(&self.task.id, |view| {
            view.status = self.status.clone();
            view.ended = Some(ended);
        });
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
        self.owner.register().change(&self.id, |view| phase.clone_into(&mut view.phase));
    }

    /// Says what it did, in a line.
    pub fn say(&self, line: impl Into<String>) {
        self.owner.register().change(&self.id, |view| {
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

#[cfg(test)]
mod tests {
    use super::*;
    use everfold_kernel::Timestamp;
    use std::convert::Infallible;
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

    pub(super) fn background() -> Background {
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
            Ok::<(), Infallible>(())
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
            Err("stopped")
        });
        assert!(background.stop(&id));
        background.drain(LONG).await;
        assert_eq!(statuses(&background), [TaskStatus::Killed]);
        assert!(!background.stop(&id), "it does not run any more");
    }

    #[tokio::test(start_paused = true)]
    async fn q2_what_hangs_ends_by_its_deadline_or_with_the_session() {
        let background = background();
        let hang = |_| std::future::pending::<Result<(), Infallible>>();
        background.start("a", QuerySource::Extract, Duration::from_secs(1), hang);
        background.start("b", QuerySource::Extract, LONG, hang);
        background.start("c", QuerySource::Extract, LONG, |_| async { Err("broken") });
        background.drain(Duration::from_mins(1)).await;
        let failed = TaskStatus::Failed { reason: "broken".into() };
        assert_eq!(statuses(&background), [TaskStatus::Killed, TaskStatus::Killed, failed]);
    }

    #[tokio::test]
    async fn s6_a_task_that_breaks_off_has_failed_and_the_next_may_start() {
        let background = background();
        background.start("dream", QuerySource::Dream, LONG, |_| async {
            assert!(LONG.is_zero(), "a bug");
            Ok::<(), Infallible>(())
        });
        background.drain(LONG).await;
        let failed = TaskStatus::Failed { reason: "it broke off".into() };
        assert_eq!(statuses(&background), [failed]);
        assert!(!background.is_running(&QuerySource::Dream));
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
