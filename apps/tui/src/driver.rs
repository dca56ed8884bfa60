//! The loop: waits for keys, for the engine, for the next frame; hands each to
//! the [`App`], and does what it asks for.

use crate::app::{Act, App};
use crate::asking::Question;
use crate::host::{Host, Welcome};
use crate::page::{Page, Said};
use crate::term::{self, Keys, Screen};
use crate::theme::Theme;
use crate::worker::{Ask, Brake, Told, Worker};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ratatui::crossterm::event::Event as TermEvent;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;
use tokio::time::Instant;

/// The shortest time between two frames.
const FRAME: Duration = Duration::from_millis(16);
/// How often something that moves by itself is drawn.
const TICK: Duration = Duration::from_millis(120);
/// Messages of the engine that are taken before a frame is drawn.
const BATCH: usize = 512;

/// What a screen starts with.
pub struct Start {
    /// The program around it.
    pub host: Box<dyn Host>,
    /// Questions of tools.
    pub questions: UnboundedReceiver<Question>,
    /// The first prompt.
    pub prompt: Option<String>,
    /// What the first screen says.
    pub welcome: Welcome,
    /// Whether colours are wanted.
    pub colours: bool,
    /// The environment, for programs that are started.
    pub variables: BTreeMap<String, String>,
    /// Where what was typed is kept; nowhere in a private session.
    pub history: Option<std::path::PathBuf>,
}

/// Shows a conversation until the person leaves; gives the host back.
///
/// # Errors
/// If the terminal cannot be used.
pub async fn run(start: Start) -> anyhow::Result<Box<dyn Host>> {
    let mut screen = Screen::take()?;
    let size = screen.terminal.size()?;
    let (asks, asked) = unbounded_channel();
    let (telling, tolds) = unbounded_channel();
    let brake = Brake::default();
    let worker = Worker {
        host: start.host,
        asks: asked,
        telling: telling.clone(),
        brake: brake.clone(),
        width: usize::from(size.width),
    };
    let working = tokio::spawn(worker.run());
    let app = App::new(Theme::new(start.colours), start.welcome);
    let mut driver = Driver {
        app,
        keys: Keys::start(),
        asks,
        brake,
        tolds,
        telling: telling.clone(),
        jobs: JoinSet::new(),
        end: None,
    };
    let mut questions = start.questions;
    tokio::spawn(async move {
        while let Some(question) = questions.recv().await {
            let _ = telling.send(Told::Question(question));
        }
    });
    if let Some(prompt) = start.prompt {
        let acts = driver.app.send(prompt);
        driver.perform(acts, &mut screen).await?;
    }
    let shown = driver.drive(&mut screen).await;
    drop(screen);
    drop(driver);
    let host = working.await?;
    shown.map(|()| host)
}

struct Driver {
    app: App,
    keys: Keys,
    asks: UnboundedSender<Ask>,
    brake: Brake,
    tolds: UnboundedReceiver<Told>,
    telling: UnboundedSender<Told>,
    /// What panels wait for; it ends with the screen.
    jobs: JoinSet<()>,
    /// The session has ended, or nobody is there any more.
    end: Option<()>,
}

impl Driver {
    async fn drive(&mut self, screen: &mut Screen) -> anyhow::Result<()> {
        let mut signals = Signals::take()?;
        let mut drawn = Instant::now().checked_sub(FRAME).unwrap_or_else(Instant::now);
        let mut fresh = true;
        while self.end.is_none() {
            let due = drawn + if fresh { FRAME } else { TICK };
            tokio::select! {
                biased;
                key = self.keys.next() => {
                    let Some(key) = key else { self.leave(); continue };
                    let mut acts = self.key(key);
                    while let Some(key) = self.keys.ready() {
                        acts.extend(self.key(key));
                    }
                    self.perform(acts, screen).await?;
                    fresh = true;
                }
                () = signals.next() => self.leave(),
                () = tokio::time::sleep_until(due), if fresh || self.app.moves() => {
                    screen.terminal.draw(|frame| self.app.draw(frame))?;
                    drawn = Instant::now();
                    fresh = false;
                }
                Some(told) = self.tolds.recv() => {
                    let mut acts = self.app.told(told);
                    for _ in 0..BATCH {
                        let Ok(told) = self.tolds.try_recv() else { break };
                        acts.extend(self.app.told(told));
                    }
                    self.perform(acts, screen).await?;
                    fresh = true;
                }
            }
        }
        Ok(())
    }

    fn key(&mut self, event: TermEvent) -> Vec<Act> {
        match event {
            TermEvent::Key(key) if key.is_press() || key.is_repeat() => self.app.key(key),
            TermEvent::Paste(text) => self.app.paste(&text),
            _ => Vec::new(),
        }
    }

    /// The terminal is gone, or another program wants this one to end.
    fn leave(&mut self) {
        self.brake.pull();
        let _ = self.asks.send(Ask::Leave);
        self.end = Some(());
    }

    async fn perform(&mut self, acts: Vec<Act>, screen: &mut Screen) -> anyhow::Result<()> {
        for act in acts {
            match act {
                Act::Ask(ask) => {
                    let _ = self.asks.send(ask);
                }
                Act::Do(job) => {
                    let width = usize::from(screen.terminal.size()?.width);
                    let done = job(Page::new(self.telling.clone(), width));
                    let telling = self.telling.clone();
                    while self.jobs.try_join_next().is_some() {}
                    self.jobs.spawn(async move {
                        done.await;
                        let _ = telling.send(Told::Looked);
                    });
                }
                Act::Stop => self.brake.pull(),
                Act::Copy(text) => term::copy(&STANDARD.encode(text))?,
                Act::Said(Said::Leave(free)) => {
                    self.keys.pause().await;
                    Screen::leave();
                    let _ = free.send(());
                }
                Act::Said(Said::Return) => {
                    screen.come_back()?;
                    self.keys.go_on();
                }
                Act::Said(Said::Text(..)) => {}
                Act::End => self.end = Some(()),
            }
        }
        Ok(())
    }
}

/// Signals that ask the program to end. Ctrl-C is a key here.
struct Signals {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    hangup: tokio::signal::unix::Signal,
}

impl Signals {
    fn take() -> std::io::Result<Self> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            Ok(Self {
                terminate: signal(SignalKind::terminate())?,
                hangup: signal(SignalKind::hangup())?,
            })
        }
        #[cfg(not(unix))]
        Ok(Self {})
    }

    async fn next(&mut self) {
        #[cfg(unix)]
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.hangup.recv() => {}
        }
        #[cfg(not(unix))]
        std::future::pending::<()>().await;
    }
}
