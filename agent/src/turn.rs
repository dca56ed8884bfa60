//! A turn as a stream of events.

use everfold_engine::{Error, Event, Prompt, Session, TurnEnd};
use futures_core::Stream;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio_util::sync::CancellationToken;

type Running<'a> = Pin<Box<dyn Future<Output = Result<TurnEnd, Error>> + Send + 'a>>;

/// A turn that is running. It goes on while it is polled: read its events,
/// then take its [`end`](Self::end).
pub struct Turn<'a> {
    running: Option<Running<'a>>,
    events: UnboundedReceiver<Event>,
    cancel: CancellationToken,
    end: Option<Result<TurnEnd, Error>>,
}

impl<'a> Turn<'a> {
    /// Starts a turn with a text.
    pub fn new(session: &'a mut Session, prompt: impl Into<String>) -> Self {
        let prompt: String = prompt.into();
        Self::with_blocks(session, prompt)
    }

    /// Starts a turn with blocks: text, pictures, documents.
    pub fn with_blocks(session: &'a mut Session, prompt: impl Into<Prompt>) -> Self {
        let prompt = prompt.into();
        let (sender, events) = unbounded_channel();
        session.watch(sender);
        let cancel = CancellationToken::new();
        let stop = cancel.clone();
        let running: Running<'a> =
            Box::pin(async move { everfold_engine::turn(session, prompt, &stop).await });
        Self { running: Some(running), events, cancel, end: None }
    }

    /// The same with a message that a person typed: files that it names
    /// (`@path`) come along, if they may be read (Q13).
    pub fn saying(session: &'a mut Session, prompt: impl Into<Prompt>) -> Self {
        let prompt = prompt.into();
        let (sender, events) = unbounded_channel();
        session.watch(sender);
        let cancel = CancellationToken::new();
        let stop = cancel.clone();
        let running: Running<'a> =
            Box::pin(async move { everfold_engine::say(session, prompt, &stop).await });
        Self { running: Some(running), events, cancel, end: None }
    }

    /// Starts a turn without a word of the person: letters have come, or
    /// agents have ended. Where neither is so, it ends at once.
    pub fn go_on(session: &'a mut Session) -> Self {
        let (sender, events) = unbounded_channel();
        session.watch(sender);
        let cancel = CancellationToken::new();
        let stop = cancel.clone();
        let running: Running<'a> = Box::pin(async move {
            Ok(everfold_engine::go_on(session, &stop).await?.unwrap_or_default())
        });
        Self { running: Some(running), events, cancel, end: None }
    }

    /// Stops the turn when it is cancelled; what had come is kept.
    #[must_use]
    pub fn canceller(&self) -> CancellationToken {
        self.cancel.clone()
    }

    /// Runs the turn to its end and says how it ended.
    ///
    /// # Errors
    /// If the log cannot be written.
    pub async fn end(mut self) -> Result<TurnEnd, Error> {
        if let Some(end) = self.end.take() {
            return end;
        }
        match self.running.take() {
            Some(running) => running.await,
            None => Ok(TurnEnd::default()),
        }
    }
}

impl Stream for Turn<'_> {
    type Item = Event;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        if let Poll::Ready(Some(event)) = self.events.poll_recv(cx) {
            return Poll::Ready(Some(event));
        }
        if let Some(running) = &mut self.running
            && let Poll::Ready(end) = running.as_mut().poll(cx)
        {
            self.end = Some(end);
            self.running = None;
        }
        match self.events.poll_recv(cx) {
            Poll::Ready(Some(event)) => Poll::Ready(Some(event)),
            _ if self.running.is_none() => Poll::Ready(None),
            _ => Poll::Pending,
        }
    }
}
