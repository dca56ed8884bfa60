//! Tasks, a person who stops one, watchers that come and go, and the end of
//! the session, in orders that a scheduler may choose.
//!
//! What runs is the real life of a task and the real drain; time is a number
//! of turns that others may have meanwhile.

use super::tests::background;
use super::{Background, TaskHandle, TaskStatus, TaskView, life};
use crate::event::Event;
use everfold_kernel::QuerySource;
use shuttle::future::{block_on, spawn, yield_now};
use std::future::Future;
use tokio::sync::mpsc;

const LINES: usize = 3;

async fn turns(number: usize) {
    for _ in 0..number {
        yield_now().await;
    }
}

/// As [`Background::start`], on shuttle's scheduler.
fn start<F>(
    background: &Background,
    name: &str,
    too_late: impl Future<Output = ()> + Send + 'static,
    work: impl FnOnce(TaskHandle) -> F,
) -> String
where
    F: Future<Output = Result<(), &'static str>> + Send + 'static,
{
    let task = background.enter(None, name, QuerySource::Extract);
    let id = task.id().to_owned();
    let running = work(task.clone());
    let tracked = background.0.tracker.track_future(life(task, running, too_late, turns(2)));
    drop(spawn(tracked));
    id
}

async fn speak(task: &TaskHandle) {
    for number in 0..LINES {
        task.say(format!("line {number}"));
        yield_now().await;
    }
}

/// Waits to be stopped, and only then starts one more that does the same.
async fn heir(task: TaskHandle, background: Background) -> Result<(), &'static str> {
    task.cancel().cancelled().await;
    start(&background, "heir", std::future::pending(), |task| async move {
        task.cancel().cancelled().await;
        Ok(())
    });
    Ok(())
}

/// Starts one task of each kind, and gives the name of the one that hangs.
fn start_all(background: &Background) -> String {
    start(background, "done", std::future::pending(), |task| async move {
        speak(&task).await;
        Ok(())
    });
    start(background, "failed", std::future::pending(), |task| async move {
        speak(&task).await;
        Err("broken")
    });
    start(background, "late", turns(3), |_| std::future::pending());
    let owner = background.clone();
    start(background, "parent", std::future::pending(), |task| heir(task, owner));
    start(background, "hangs", std::future::pending(), |task| async move {
        speak(&task).await;
        std::future::pending().await
    })
}

/// Everything that was told, over two watchers and what nobody saw.
async fn watch(background: Background) -> Vec<TaskView> {
    let mut seen = Vec::new();
    for patience in [2, 4] {
        let (events, mut receiver) = mpsc::unbounded_channel();
        background.watch(events);
        turns(patience).await;
        receiver.close();
        while let Ok(event) = receiver.try_recv() {
            seen.extend(of_task(event));
        }
        yield_now().await;
    }
    seen
}

fn of_task(event: Event) -> Option<TaskView> {
    match event {
        Event::Task(view) => Some(*view),
        _ => None,
    }
}

fn one_session() {
    let background = background();
    let watching = spawn(watch(background.clone()));
    let hangs = start_all(&background);
    let person = {
        let background = background.clone();
        spawn(async move {
            yield_now().await;
            let stopped = background.stop(&hangs);
            turns(1).await;
            (stopped, hangs)
        })
    };
    block_on(background.drain_until(turns(6)));
    let tasks = background.list();
    let mut seen = block_on(watching).unwrap();
    let (stopped, hangs) = block_on(person).unwrap();
    let (events, mut receiver) = mpsc::unbounded_channel();
    background.watch(events);
    while let Ok(event) = receiver.try_recv() {
        seen.extend(of_task(event));
    }
    assert_eq!(tasks.len(), 6, "{tasks:?}");
    for task in &tasks {
        holds(task, &seen);
    }
    let hung = tasks.iter().find(|task| task.id == hangs).unwrap();
    assert_eq!(hung.status, TaskStatus::Killed, "stopped by the person: {stopped}");
}

/// Whether a task ended as it may, and was told whole and in order.
fn holds(task: &TaskView, seen: &[TaskView]) {
    let legal = match task.name.as_str() {
        "done" => matches!(task.status, TaskStatus::Completed | TaskStatus::Killed),
        "failed" => matches!(task.status, TaskStatus::Failed { .. } | TaskStatus::Killed),
        _ => task.status == TaskStatus::Killed,
    };
    assert!(legal && task.ended.is_some(), "{task:?}");
    let told: Vec<_> = seen.iter().filter(|view| view.id == task.id).collect();
    assert_eq!(told.last(), Some(&task), "the end is told last");
    let running = told.iter().filter(|view| view.status == TaskStatus::Running).count();
    assert_eq!(running, told.len() - 1, "the end is told once: {told:?}");
    for (number, view) in told.iter().enumerate() {
        let said = number.min(task.lines.len());
        assert_eq!(view.lines.len(), said, "nothing is told twice or left out: {told:?}");
    }
}

#[test]
fn l6_6_q2_tasks_end_once_and_are_told_in_order_in_any_interleaving() {
    shuttle::check_random(one_session, 2_000);
    shuttle::check_pct(one_session, 2_000, 3);
}

#[test]
#[ignore = "the full figure, for soak runs"]
fn l6_6_q2_tasks_end_once_soak() {
    shuttle::check_random(one_session, 200_000);
}
