//! The owner of the session: runs turns and commands one after the other, away
//! from the screen, and tells what happens.

use crate::host::{BoxFuture, CommandInfo, Host, Next};
use crate::page::{PageWrite, TextPage};
use crate::panel::Panel;
use crate::questions::Question;
use crate::status::Status;
use crate::statusline;
use crate::style::TextStyle;
use crate::transcript_view::Cell;
use crate::transcript_view::Diff;
use crate::transcript_view::history;
use anyhow::anyhow;
use everfold_agent::engine::agents::letters;
use everfold_agent::engine::memory::extraction::statement;
use everfold_agent::engine::setups::plan_mode;
use everfold_agent::{CancellationToken, Event, SessionId, Turn, TurnEnd, Waiting};
use everfold_kernel::ToolUseId;
use everfold_kernel::ports::Kept;
use everfold_kernel::ports::{Confinement, Exit, RunEnd, ShellCommand};
use everfold_kernel::provenance::Source;
use everfold_kernel::settings::PermissionMode;
use futures_util::StreamExt;
use serde_json::json;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

/// A look at the session at rest, for a panel that waits for it.
pub(crate) type Looking = Box<dyn for<'a> FnOnce(&'a mut dyn Host) -> BoxFuture<'a, ()> + Send>;

/// What the worker is asked for.
pub(crate) enum Ask {
    /// A turn with this prompt.
    Turn(Waiting),
    /// A slash command, without the slash.
    Command(String),
    /// To go on with another session.
    Resume(SessionId),
    /// To look at the session.
    Look(Looking),
    /// A command for the shell, by the person.
    Shell {
        id: String,
        command: String,
    },
    /// Something to remember, by the person.
    Remember(String),
    /// What tools may do from here on.
    Mode(PermissionMode),
    Leave,
}

/// What the screen is told.
pub(crate) enum WorkerEvent {
    /// Something happened in a turn or in the background.
    Event(Box<Event>),
    Said(PageWrite),
    /// A tool asks, and would change this.
    Question(Question, Option<Diff>),
    /// A turn begins without a word of the person.
    WentOn,
    /// A turn ended; or it could not be run.
    TurnEnded(anyhow::Result<Box<TurnEnd>>),
    /// A command ended, or failed with a message.
    CommandEnded(anyhow::Result<Next>),
    /// The state of the session at rest.
    Status(Box<Status>),
    /// Another conversation is shown from here on.
    Changed(Vec<Cell>, Vec<CommandInfo>),
    /// Something to look at.
    Panel(Box<dyn Panel>),
    /// What a panel waits for is there.
    Looked,
    /// Files that can be mentioned.
    Files(Vec<String>),
    /// A command of the person's shell is done.
    Shell {
        id: String,
        text: String,
        failed: bool,
        took: Duration,
    },
    /// What the person's own status line says.
    StatusLine(String),
    /// The session has ended.
    Left,
}

/// Stops what the worker is doing.
#[derive(Clone, Default)]
pub(crate) struct Brake(Arc<Mutex<CancellationToken>>);

impl Brake {
    pub(crate) fn pull(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).cancel();
    }

    fn set(&self, token: CancellationToken) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = token;
    }
}

pub(crate) struct Worker {
    pub(crate) host: Box<dyn Host>,
    pub(crate) asks: UnboundedReceiver<Ask>,
    pub(crate) telling: UnboundedSender<WorkerEvent>,
    pub(crate) brake: Brake,
    /// Columns for commands that write.
    pub(crate) width: usize,
}

impl Worker {
    /// Works until it is told to leave or nobody is there to be told.
    pub(crate) async fn run(mut self) -> Box<dyn Host> {
        letters::open_mail(self.host.session_mut()).await;
        self.changed().await;
        self.watch_background();
        // News that led to nothing are not asked for again and again.
        let mut listens = true;
        loop {
            let ask = tokio::select! {
                biased;
                ask = self.asks.recv() => ask,
                () = letters::news(self.host.session()), if listens => {
                    self.tell(WorkerEvent::WentOn);
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
                    look(self.host.as_mut()).await;
                    self.tell(WorkerEvent::Looked);
                }
                Some(Ask::Shell { id, command }) => self.shell(&id, &command).await,
                Some(Ask::Remember(text)) => self.remember(&text).await,
                Some(Ask::Mode(mode)) => self.mode(mode),
                Some(Ask::Leave) | None => break,
            }
        }
        self.leave().await;
        self.tell(WorkerEvent::Left);
        self.host
    }

    fn tell(&self, told: WorkerEvent) {
        // A screen that is gone needs no word.
        let _ = self.telling.send(told);
    }

    /// A turn; and how many requests it took.
    async fn turn(&mut self, prompt: Option<Waiting>) -> u32 {
        let telling = self.telling.clone();
        let mut turn = match prompt {
            Some(prompt) => Turn::saying(self.host.session_mut(), prompt.prompt()),
            None => Turn::go_on(self.host.session_mut()),
        };
        self.brake.set(turn.canceller());
        while let Some(event) = turn.next().await {
            let _ = telling.send(WorkerEvent::Event(Box::new(event)));
        }
        let end = turn.end().await.map(Box::new).map_err(anyhow::Error::from);
        let requests = end.as_ref().map_or(0, |end| end.requests);
        self.report();
        self.tell(WorkerEvent::TurnEnded(end));
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
                let _ = telling.send(WorkerEvent::Event(Box::new(event)));
            }
        });
    }

    fn page(&self) -> (TextPage, CancellationToken) {
        let stop = CancellationToken::new();
        self.brake.set(stop.clone());
        (TextPage::new(self.telling.clone(), self.width), stop)
    }

    async fn command(&mut self, line: &str) {
        let before = self.host.session().id().clone();
        let (page, stop) = self.page();
        let done = self.host.command(line, page, stop).await;
        let went_back = matches!(done, Ok(Next::WentBack(_)));
        if *self.host.session().id() == before && !went_back {
            self.report();
        } else {
            letters::open_mail(self.host.session_mut()).await;
            self.changed().await;
        }
        self.tell(WorkerEvent::CommandEnded(done));
        self.watch_background();
    }

    async fn resume(&mut self, id: SessionId) {
        let (page, stop) = self.page();
        let done = self.host.resume(id, page, stop).await;
        letters::open_mail(self.host.session_mut()).await;
        self.changed().await;
        let done = done.map(|()| Next::GoOn);
        self.tell(WorkerEvent::CommandEnded(done));
        self.watch_background();
    }

    /// Runs a command of the person, and lets the model know with the next
    /// message.
    async fn shell(&mut self, id: &str, command: &str) {
        let (_, stop) = self.page();
        let input = json!({"command": command});
        let (call, name) = (ToolUseId::new(id), "Shell".to_owned());
        self.tell(WorkerEvent::Event(Box::new(Event::ToolStarted { id: call, name, input })));
        let limits = &self.host.session().config().limits;
        let asked = ShellCommand {
            command: command.to_owned(),
            cwd: self.host.session().context().cwd(),
            timeout: None,
            output_bytes: limits.shell_output_bytes,
            confinement: Confinement::Free,
        };
        let shell = Arc::clone(&self.host.agent().world().shell);
        let context = self.host.session().context();
        let (running, began) = (context.running.clone(), Instant::now());
        let call = ToolUseId::new(id);
        let watch = running.begin(&call, context.job_file());
        let ran = tokio::select! {
            ran = shell.run_watched(asked, &watch) => ran.map_err(|error| error.to_string()),
            () = stop.cancelled() => Err("stopped".to_owned()),
        };
        let (text, failed, took) = match ran {
            Ok(RunEnd::Ended(done)) => (done.text, done.exit != Exit::Code(0), done.duration),
            Ok(RunEnd::WentOn(job)) => {
                let told = format!(
                    "it continues in the background as {}: {}",
                    job.id,
                    job.output.display()
                );
                (told, false, began.elapsed())
            }
            Err(why) => {
                let printed = running.printed(&call).unwrap_or_default();
                (format!("{printed}\n{why}").trim_start().to_owned(), true, began.elapsed())
            }
        };
        drop(watch);
        let said = format!("The person ran `{command}` in their shell. It printed:\n\n{text}");
        let data = json!({"command": command});
        let session = self.host.session_mut();
        let told = session.attach_from(Source::Command, "shell_command", &said, data).await;
        if let Err(error) = told {
            self.tell(WorkerEvent::Said(PageWrite::Text(
                TextStyle::Red,
                format!("error: {error}\n"),
            )));
        }
        self.tell(WorkerEvent::Shell { id: id.to_owned(), text, failed, took });
    }

    /// Keeps what the person wants to be remembered; where it is comes as an
    /// event.
    async fn remember(&mut self, text: &str) {
        let kept = statement::remember(self.host.session(), text).await;
        let told = kept.map_err(anyhow::Error::from).and_then(|kept| match kept {
            Kept::Refused { reason } => Err(anyhow!("nothing was saved: {reason}")),
            kept if kept.notice().is_none() => Err(anyhow!("already remembered")),
            _ => Ok(Next::GoOn),
        });
        self.tell(WorkerEvent::CommandEnded(told));
    }

    fn mode(&mut self, mode: PermissionMode) {
        let session = self.host.session_mut();
        match mode {
            PermissionMode::Plan => plan_mode::start_planning(session),
            other => {
                plan_mode::stop_planning(session);
                session.permit_mut().set_mode(other);
            }
        }
        self.report();
    }

    /// Tells where things stand, and lets the person's own line say it too.
    fn report(&self) {
        let status = Status::of(self.host.as_ref());
        if let Some((hooks, call)) = statusline::call(self.host.as_ref(), &status) {
            let telling = self.telling.clone();
            // It ends by its time limit at the latest.
            tokio::spawn(async move {
                if let Some(line) = statusline::run(hooks, call).await {
                    let _ = telling.send(WorkerEvent::StatusLine(line));
                }
            });
        }
        self.tell(WorkerEvent::Status(Box::new(status)));
    }

    async fn changed(&mut self) {
        let agent = self.host.agent();
        let cells = history::cells(&agent, self.host.session_mut()).await;
        self.report();
        self.tell(WorkerEvent::Changed(cells, self.host.commands()));
    }

    async fn leave(&mut self) {
        let (page, stop) = self.page();
        if let Err(error) = self.host.finish(page, stop).await {
            tracing::warn!(%error, "the session did not end well");
        }
    }
}
