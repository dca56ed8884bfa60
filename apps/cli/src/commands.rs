//! A conversation and all that a person can do about it, whichever face it
//! has: line by line, or on a screen.
//!
//! Commands write through the presenter and never read: what needs more of
//! the person is handed back to the face as a [`Flow`].

use crate::interactive::turn_view::Show;
use crate::presenter::{Presenter, TextStyle};
use crate::session_picker::Opened;
use crate::setup::{self, ProcessEnv};
use anyhow::Result;
use everfold_agent::engine::setups::hooks::session_events;
use everfold_agent::{Agent, CancellationToken, Session, SessionId, TaskStatus, TaskView};
use std::sync::Arc;

pub(crate) mod compact;
mod context;
mod dream;
pub(crate) mod memory;
mod messages;
mod model;
mod notes;
mod permissions;
mod preferences;
mod project;
pub(crate) mod registry;
mod rewind;
pub(crate) mod slash;
pub(crate) mod tables;
pub(crate) mod tasks;

/// How a conversation goes on after a command, on the screen and line by line.
pub(crate) use everfold_tui::Next as Flow;

/// Whether the person's hands are at the terminal, so that an editor can be
/// opened there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hands {
    Here,
    Elsewhere,
}

/// A conversation, and what its commands need.
pub(crate) struct CommandContext {
    pub(crate) env: ProcessEnv,
    pub(crate) agent: Arc<Agent>,
    pub(crate) session: Session,
    pub(crate) presenter: Presenter,
    pub(crate) hands: Hands,
    /// Stops the command that is running.
    pub(crate) stop: CancellationToken,
}

impl CommandContext {
    /// What a person should know before the first word.
    pub(crate) fn notes(&self, opened: Option<String>) -> Vec<String> {
        opened.into_iter().chain(setup::notes(&self.agent, &self.session)).collect()
    }

    /// Goes on with another session.
    pub(crate) async fn resume(&mut self, id: SessionId) -> Result<()> {
        let (session, resumed) = Box::pin(self.agent.resume(id)).await?;
        self.enter(Opened { session, resumed }).await
    }

    /// Goes on with a copy of another session.
    pub(crate) async fn fork(&mut self, id: &SessionId) -> Result<()> {
        let (session, resumed) = Box::pin(self.agent.fork(id)).await?;
        self.enter(Opened { session, resumed }).await
    }

    async fn enter(&mut self, opened: Opened) -> Result<()> {
        if let Some(damage) = opened.damage() {
            self.presenter.note(TextStyle::Yellow, &format!("note: {damage}"));
        }
        self.finish("resume").await?;
        self.session = opened.session;
        for note in self.notes(None) {
            self.presenter.note(TextStyle::Yellow, &format!("note: {note}"));
        }
        Ok(())
    }

    /// Ends this session and begins with another.
    async fn change(&mut self, session: Session, reason: &'static str) -> Result<()> {
        self.finish(reason).await?;
        self.session = session;
        session_events::began_by(&mut self.session, reason);
        Ok(())
    }

    /// Lets what runs in the background come to its end before the session is
    /// left; a stop ends the wait.
    pub(crate) async fn finish(&mut self, reason: &str) -> Result<()> {
        session_events::end_hooks(&mut self.session, reason).await?;
        let running = |task: &TaskView| task.status == TaskStatus::Running;
        if self.session.background().list().iter().any(running) {
            self.presenter
                .styled(TextStyle::Dim, "finishing background work; Ctrl-C leaves now\n")?;
        }
        let (sender, mut events) = tokio::sync::mpsc::unbounded_channel();
        self.session.watch(sender);
        let done = tokio::select! {
            done = everfold_agent::engine::finish(&mut self.session) => done,
            () = self.stop.cancelled() => Ok(()),
        };
        let mut show = Show::new(self.presenter.clone());
        while let Ok(event) = events.try_recv() {
            show.event(&event)?;
        }
        Ok(done?)
    }
}
