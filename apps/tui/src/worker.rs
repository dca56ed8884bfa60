//! The owner of the session: runs turns and commands one after the other, away
//! from the screen, and tells what happens.

use crate::asking::Question;
use crate::host::{CommandInfo, Host, Next};
use crate::page::{Page, Said};
use crate::panel::Panel;
use crate::status::Status;
use crate::talk::Cell;
use crate::talk::history;
use futures_util::StreamExt;
use mnemon::{Block, CancellationToken, Event, SessionId, Turn, TurnEnd};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

/// Something to do with the session at rest, which ends in a panel.
pub(crate) type Looking = Box<dyn FnOnce(&mut dyn Host) -> Box<dyn Panel> + Send>;

/// What the worker is asked for.
#[expect(dead_code, reason = "panels are on their way")]
pub(crate) enum Ask {
    /// A turn with this prompt.
    Turn(Vec<Block>),
    /// A slash command, without the slash.
    Command(String),
    /// To go on with another session.
    Resume(SessionId),
    /// To look at the session and make a panel of it.
    Look(Looking),
    /// To end.
    Leave,
}

/// What the screen is told.
pub(crate) enum Told {
    /// Something happened in a turn or in the background.
    Event(Box<Event>),
    /// A command writes.
    Said(Said),
    /// A tool asks.
    Question(Question),
    /// A turn begins without a word of the person.
    WentOn,
    /// A turn ended; or it could not be run.
    TurnEnded(Result<Box<TurnEnd>, String>),
    /// A command ended, or failed with a message.
    CommandEnded(Result<Next, String>),
    /// The state of the session at rest.
    Status(Box<Status>),
    /// Another conversation is shown from here on.
    Changed(Vec<Cell>, Vec<CommandInfo>),
    /// Something to look at.
    Panel(Box<dyn Panel>),
    /// The session has ended.
    Left,
}

/// Stops what the worker is doing.
#[derive(Clone, Default)]
pub(crate) struct Brake(Arc<Mutex<CancellationToken>>);

impl Brake {
    /// Stops it.
    pub(crate) fn pull(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).cancel();
    }

    fn set(&self, token: CancellationToken) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = token;
    }
}

/// The worker.
pub(crate) struct Worker {
    pub(crate) host: Box<dyn Host>,
    pub(crate) asks: UnboundedReceiver<Ask>,
    pub(crate) telling: UnboundedSender<Told>,
    pub(crate) brake: Brake,
    /// Columns for commands that write.
    pub(crate) width: usize,
}

impl Worker {
    /// Works until it is told to leave or nobody is there to be told.
    pub(crate) async fn run(mut self) -> Box<dyn Host> {
        self.host.session_mut().open_mail().await;
        self.changed();
        // News that led to nothing are not asked for again and again.
        let mut listens = true;
        loop {
            let ask = tokio::select! {
                biased;
                ask = self.asks.recv() => ask,
                () = self.host.session().news(), if listens => {
                    self.tell(Told::WentOn);
                    listens = self.turn(None).await > 0;
                    continue;
                }
            };
            listens = true;
            match ask {
                Some(Ask::Turn(prompt)) => {
                    self.turn(Some(prompt)).await;
                }
                Some(Ask::Command(line)) => self.command(&line).await,
                Some(Ask::Resume(id)) => self.resume(id).await,
                Some(Ask::Look(look)) => {
                    let panel = look(self.host.as_mut());
                    self.tell(Told::Panel(panel));
                }
                Some(Ask::Leave) | None => break,
            }
        }
        self.leave().await;
        self.tell(Told::Left);
        self.host
    }

    fn tell(&self, told: Told) {
        // A screen that is gone needs no word.
        let _ = self.telling.send(told);
    }

    /// A turn; and how many requests it took.
    async fn turn(&mut self, prompt: Option<Vec<Block>>) -> u32 {
        let telling = self.telling.clone();
        let mut turn = match prompt {
            Some(prompt) => Turn::saying(self.host.session_mut(), prompt),
            None => Turn::go_on(self.host.session_mut()),
        };
        self.brake.set(turn.canceller());
        while let Some(event) = turn.next().await {
            let _ = telling.send(Told::Event(Box::new(event)));
        }
        let end = turn.end().await.map(Box::new).map_err(|error| error.to_string());
        let requests = end.as_ref().map_or(0, |end| end.requests);
        self.tell(Told::Status(Box::new(Status::of(self.host.as_ref()))));
        self.tell(Told::TurnEnded(end));
        self.watch_background();
        requests
    }

    /// Events of the background go on while the session rests.
    fn watch_background(&mut self) {
        let (sender, mut events) = tokio::sync::mpsc::unbounded_channel();
        self.host.session_mut().watch(sender);
        let telling = self.telling.clone();
        // It ends with the sender, which the next turn replaces.
        tokio::spawn(async move {
            while let Some(event) = events.recv().await {
                let _ = telling.send(Told::Event(Box::new(event)));
            }
        });
    }

    fn page(&self) -> (Page, CancellationToken) {
        let stop = CancellationToken::new();
        self.brake.set(stop.clone());
        (Page::new(self.telling.clone(), self.width), stop)
    }

    async fn command(&mut self, line: &str) {
        let before = self.host.session().id().clone();
        let (page, stop) = self.page();
        let done = self.host.command(line, page, stop).await;
        if *self.host.session().id() == before {
            self.tell(Told::Status(Box::new(Status::of(self.host.as_ref()))));
        } else {
            self.host.session_mut().open_mail().await;
            self.changed();
        }
        self.tell(Told::CommandEnded(done.map_err(|error| format!("{error:#}"))));
        self.watch_background();
    }

    async fn resume(&mut self, id: SessionId) {
        let (page, stop) = self.page();
        let done = self.host.resume(id, page, stop).await;
        self.host.session_mut().open_mail().await;
        self.changed();
        let done = done.map(|()| Next::GoOn).map_err(|error| format!("{error:#}"));
        self.tell(Told::CommandEnded(done));
        self.watch_background();
    }

    fn changed(&self) {
        let cells = history::cells(self.host.session());
        self.tell(Told::Status(Box::new(Status::of(self.host.as_ref()))));
        self.tell(Told::Changed(cells, self.host.commands()));
    }

    async fn leave(&mut self) {
        let (page, stop) = self.page();
        if let Err(error) = self.host.finish(page, stop).await {
            tracing::warn!(%error, "the session did not end well");
        }
    }
}
