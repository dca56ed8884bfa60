//! The loop: waits for keys, for the engine, for the next frame; hands each to
//! the [`App`], and does what it asks for.

use crate::app::{Act, App, MouseUse};
use crate::files;
use crate::host::{Host, Welcome};
use crate::input::history::HistoryFile;
use crate::page::{PageWrite, TextPage};
use crate::panel::Job;
use crate::panel::text::TextPanel;
use crate::question;
use crate::questions::Question;
use crate::terminal::{self, Keys, Screen};
use crate::theme::Theme;
use crate::worker::{Ask, Brake, Worker, WorkerEvent};
use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use everfold_agent::Agent;
use everfold_kernel::ports::{GlobQuery, PathGuard};
use everfold_kernel::settings::Bell;
use ratatui::crossterm::event::{Event as TermEvent, MouseEventKind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{JoinError, JoinHandle, JoinSet};
use tokio::time::Instant;

/// The shortest time between two frames.
const FRAME: Duration = Duration::from_millis(16);
/// How often something that moves by itself is drawn.
const TICK: Duration = Duration::from_millis(120);
/// Files that are offered for completion.
const MOST_FILES: usize = 20_000;
/// Messages of the engine that are taken before a frame is drawn.
const BATCH: usize = 512;
/// Rows for a turn of the wheel.
const WHEEL_ROWS: isize = 3;

/// Opens the person's editor on a text, and gives back what they made of it.
pub type Editor = Box<dyn Fn(&str) -> anyhow::Result<String> + Send>;

pub struct ScreenStart {
    /// The program around it.
    pub host: Box<dyn Host>,
    pub questions: UnboundedReceiver<Question>,
    /// The first prompt.
    pub prompt: Option<String>,
    /// What the first screen says.
    pub welcome: Welcome,
    /// Whether colours are wanted.
    pub colours: bool,
    /// Lets the person edit a text in their own editor.
    pub editor: Editor,
    /// Where what was typed is kept; nowhere in a private session.
    pub history: Option<PathBuf>,
}

/// Shows a conversation until the person leaves; gives the host back.
///
/// # Errors
/// If the terminal cannot be used.
pub async fn run(start: ScreenStart) -> anyhow::Result<Box<dyn Host>> {
    let terminal = start.host.agent().settings().settings.everfold.terminal;
    let mouse = if terminal.mouse { MouseUse::Ours } else { MouseUse::Terminals };
    let mut screen = Screen::take(mouse)?;
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
    let agent = worker.host.agent();
    let cwd = worker.host.session().config().surroundings.cwd.clone();
    let session = worker.host.session().id().to_string();
    let working = tokio::spawn(worker.run());
    let mut app = App::new(Theme::new(start.colours), start.welcome).with_terminal(terminal);
    let history = start.history.map(|path| HistoryFile::new(&path, &cwd));
    app.remember(history.as_ref().map(HistoryFile::read).unwrap_or_default());
    let mut driver = Driver {
        app,
        keys: Keys::start(),
        asks,
        brake,
        tolds,
        telling: telling.clone(),
        jobs: JoinSet::new(),
        agent,
        cwd: PathBuf::from(cwd),
        session,
        history,
        editor: start.editor,
        bell: terminal.bell,
        end: None,
    };
    let mut questions = start.questions;
    let here = driver.cwd.clone();
    tokio::spawn(async move {
        while let Some(question) = questions.recv().await {
            let change = question::change(&question, &here);
            let _ = telling.send(WorkerEvent::Question(question, change));
        }
    });
    if let Some(prompt) = start.prompt {
        let acts = driver.app.send(prompt);
        driver.perform(acts, &mut screen).await?;
    }
    let mut working = working;
    let shown = driver.drive(&mut screen, &mut working).await;
    drop(screen);
    drop(driver);
    match shown? {
        Some(host) => Ok(host),
        None => ended(working.await),
    }
}

/// What the worker gives back at its end. Where it broke off, the log has all
/// that was said.
fn ended(ended: Result<Box<dyn Host>, JoinError>) -> anyhow::Result<Box<dyn Host>> {
    ended.context("the session ended unexpectedly; this is a bug. `everfold --continue` resumes it")
}

struct Driver {
    app: App,
    keys: Keys,
    asks: UnboundedSender<Ask>,
    brake: Brake,
    tolds: UnboundedReceiver<WorkerEvent>,
    telling: UnboundedSender<WorkerEvent>,
    /// What panels wait for; it ends with the screen.
    jobs: JoinSet<()>,
    agent: Arc<Agent>,
    cwd: PathBuf,
    session: String,
    history: Option<HistoryFile>,
    editor: Editor,
    bell: Bell,
    /// The session has ended, or nobody is there any more.
    end: Option<()>,
}

impl Driver {
    /// Until the person leaves, or the worker has ended.
    async fn drive(
        &mut self,
        screen: &mut Screen,
        working: &mut JoinHandle<Box<dyn Host>>,
    ) -> anyhow::Result<Option<Box<dyn Host>>> {
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
                host = &mut *working => return ended(host).map(Some),
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
        Ok(None)
    }

    fn key(&mut self, event: TermEvent) -> Vec<Act> {
        match event {
            TermEvent::Key(key) if key.is_press() || key.is_repeat() => self.app.key(key),
            TermEvent::Paste(text) => self.app.paste(&text),
            TermEvent::Mouse(mouse) => {
                match mouse.kind {
                    MouseEventKind::ScrollUp => self.app.wheel(-WHEEL_ROWS),
                    MouseEventKind::ScrollDown => self.app.wheel(WHEEL_ROWS),
                    _ => {}
                }
                Vec::new()
            }
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
                Act::Do(job) => self.begin(job, usize::from(screen.terminal.size()?.width)),
                Act::Stop => {
                    self.brake.pull();
                    self.app.stopped();
                }
                Act::Copy(text) => terminal::copy(&STANDARD.encode(text))?,
                Act::Said(PageWrite::Leave(free)) => {
                    self.keys.pause().await;
                    Screen::leave();
                    let _ = free.send(());
                }
                Act::Said(PageWrite::Return) => {
                    screen.come_back()?;
                    self.keys.go_on();
                }
                Act::Said(PageWrite::Text(..)) => {}
                Act::Files => self.look_for_files(),
                Act::Keep(text) => {
                    if let Some(history) = &self.history {
                        history.add(&text, &self.session);
                    }
                }
                Act::Editor(text) => {
                    self.keys.pause().await;
                    Screen::leave();
                    let edited = (self.editor)(&text);
                    screen.come_back()?;
                    self.keys.go_on();
                    self.app.edited(edited);
                }
                Act::Suspend => {
                    self.keys.pause().await;
                    Screen::leave();
                    terminal::suspend();
                    screen.come_back()?;
                    self.keys.go_on();
                }
                Act::Open(files) => {
                    let panel = TextPanel::new("", files::shown(&files));
                    let _ = self.telling.send(WorkerEvent::Panel(Box::new(panel)));
                }
                Act::KeepRule(rule) => self.keep_rule(&rule),
                Act::Ring(text) => terminal::ring(self.bell, &text)?,
                Act::Mouse(wanted) => terminal::mouse(wanted)?,
                Act::Redraw => screen.terminal.clear()?,
                Act::End => self.end = Some(()),
            }
        }
        Ok(())
    }
}

impl Driver {
    /// Begins what a panel waits for.
    fn begin(&mut self, job: Job, width: usize) {
        let done = job(TextPage::new(self.telling.clone(), width));
        let telling = self.telling.clone();
        while self.jobs.try_join_next().is_some() {}
        self.jobs.spawn(async move {
            done.await;
            let _ = telling.send(WorkerEvent::Looked);
        });
    }

    /// Allows what a rule covers in this project from now on.
    fn keep_rule(&mut self, rule: &str) {
        let kept = self.agent.keep_rule(rule);
        self.app.rule_kept(rule, kept);
    }

    /// Looks for files that can be mentioned, the newest first.
    fn look_for_files(&self) {
        let (agent, telling, root) =
            (Arc::clone(&self.agent), self.telling.clone(), self.cwd.clone());
        tokio::spawn(async move {
            let (pattern, limit, guard) = ("**/*".to_owned(), MOST_FILES, PathGuard::default());
            let query = GlobQuery { pattern, root: root.clone(), limit, guard };
            let found = agent.world().search.glob(query).await.unwrap_or_default();
            let name = |path: &PathBuf| {
                path.strip_prefix(&root).unwrap_or(path).to_string_lossy().into_owned()
            };
            let _ = telling.send(WorkerEvent::Files(found.paths.iter().map(name).collect()));
        });
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
