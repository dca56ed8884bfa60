//! Turns, with their events where a test wants them.

use everfold_engine::{EndReason, Error, Event, Prompt, Session, TurnEnd};
use std::pin::Pin;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio_util::sync::CancellationToken;

type Running<'a> = Pin<Box<dyn Future<Output = Result<TurnEnd, Error>> + Send + 'a>>;

/// A turn that goes on while its events are asked for.
pub(crate) struct Turn<'a> {
    running: Option<Running<'a>>,
    events: UnboundedReceiver<Event>,
    cancel: CancellationToken,
    end: Option<Result<TurnEnd, Error>>,
}

impl<'a> Turn<'a> {
    pub(crate) fn new(session: &'a mut Session, prompt: impl Into<Prompt>) -> Self {
        let prompt = prompt.into();
        Self::run(session, |session, cancel| {
            Box::pin(async move { everfold_engine::turn(session, prompt, &cancel).await })
        })
    }

    /// The same for what a person typed, with the files that it names.
    pub(crate) fn saying(session: &'a mut Session, prompt: impl Into<Prompt>) -> Self {
        let prompt = prompt.into();
        Self::run(session, |session, cancel| {
            Box::pin(async move { everfold_engine::say(session, prompt, &cancel).await })
        })
    }

    /// A turn without a word of the person.
    pub(crate) fn go_on(session: &'a mut Session) -> Self {
        Self::run(session, |session, cancel| {
            Box::pin(async move {
                Ok(everfold_engine::go_on(session, &cancel).await?.unwrap_or_default())
            })
        })
    }

    fn run(
        session: &'a mut Session,
        turn: impl FnOnce(&'a mut Session, CancellationToken) -> Running<'a>,
    ) -> Self {
        let (sender, events) = unbounded_channel();
        session.watch(sender);
        let cancel = CancellationToken::new();
        let running = Some(turn(session, cancel.clone()));
        Self { running, events, cancel, end: None }
    }

    /// Stops the turn when it is cancelled.
    pub(crate) fn canceller(&self) -> CancellationToken {
        self.cancel.clone()
    }

    /// The next event; none once the turn has ended.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        let Some(running) = &mut self.running else { return self.events.try_recv().ok() };
        tokio::select! {
            biased;
            Some(event) = self.events.recv() => return Some(event),
            end = running => self.end = Some(end),
        }
        self.running = None;
        self.events.try_recv().ok()
    }

    /// Runs the turn to its end.
    pub(crate) async fn end(mut self) -> Result<TurnEnd, Error> {
        match (self.end.take(), self.running.take()) {
            (Some(end), _) => end,
            (None, Some(running)) => running.await,
            (None, None) => Ok(TurnEnd::default()),
        }
    }
}

pub(crate) async fn say(session: &mut Session, prompt: &str) -> TurnEnd {
    everfold_engine::turn(session, prompt, &CancellationToken::new()).await.unwrap()
}

pub(crate) async fn say_ok(session: &mut Session, prompt: &str) -> TurnEnd {
    let end = say(session, prompt).await;
    assert_eq!(end.reason, EndReason::Completed);
    end
}
