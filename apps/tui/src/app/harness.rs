//! A screen without a terminal, for tests: keys go in, a picture comes out.
//! Behind it is a real session of an agent without a model, and a side that
//! answers with what it was given.

mod listings;
mod window;

pub(crate) use listings::{TestSide, ledger};
pub(crate) use window::window_of;

use super::{Act, App};
use crate::host::{BoxFuture, CommandInfo, Host, Next, Welcome};
use crate::page::TextPage;
use crate::panel::Panel;
use crate::panel_data::PanelData;
use crate::status::Status;
use crate::style::TextStyle;
use crate::theme::Theme;
use crate::worker::{Ask, WorkerEvent};
use everfold_agent::engine::turn::rewind;
use everfold_agent::engine::window::compaction;
use everfold_agent::{Agent, CancellationToken, Session, SessionId, Turn};
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use std::sync::{Arc, Mutex};
use std::time::Instant;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// What was asked of the side and of the worker.
pub(crate) type Asked = Arc<Mutex<Vec<String>>>;

/// The session, and who runs commands.
pub(crate) struct TestHost {
    agent: Arc<Agent>,
    session: Session,
    asked: Asked,
}

impl Host for TestHost {
    fn agent(&self) -> Arc<Agent> {
        Arc::clone(&self.agent)
    }

    fn session(&self) -> &Session {
        &self.session
    }

    fn session_mut(&mut self) -> &mut Session {
        &mut self.session
    }

    fn model_name(&self) -> String {
        "offline".to_owned()
    }

    fn side(&self) -> Arc<dyn PanelData> {
        Arc::new(TestSide(Arc::clone(&self.asked)))
    }

    fn commands(&self) -> Vec<CommandInfo> {
        let info = |name: &str, takes: &str, about: &str| CommandInfo {
            names: vec![name.to_owned()],
            takes: takes.to_owned(),
            about: about.to_owned(),
        };
        vec![
            info("context", "", "what fills the model's window"),
            info("compact", "[--preview] [GUIDANCE]", "put a summary in place"),
        ]
    }

    fn command<'a>(
        &'a mut self,
        line: &'a str,
        page: TextPage,
        _stop: CancellationToken,
    ) -> BoxFuture<'a, anyhow::Result<Next>> {
        self.asked.lock().unwrap().push(format!("/{line}"));
        Box::pin(async move {
            match line.split_once(' ') {
                Some(("pin", id)) => compaction::pin(&mut self.session, &id.into()).await.unwrap(),
                Some(("unpin", id)) => {
                    compaction::unpin(&mut self.session, &id.into()).await.unwrap();
                }
                Some(("rewind", rest)) => {
                    let (id, _) = rest.split_once(' ').unwrap();
                    let what = everfold_agent::engine::turn::rewind::RewindWhat::Conversation;
                    let report = rewind::rewind(&mut self.session, &id.into(), what).await.unwrap();
                    return Ok(Next::WentBack(report.text));
                }
                _ => {}
            }
            page.write(TextStyle::Dim, &format!("did /{line}\n"));
            Ok(Next::GoOn)
        })
    }

    fn resume(
        &mut self,
        id: SessionId,
        _page: TextPage,
        _stop: CancellationToken,
    ) -> BoxFuture<'_, anyhow::Result<()>> {
        self.asked.lock().unwrap().push(format!("resume {id}"));
        Box::pin(async { Ok(()) })
    }

    fn finish(&mut self, _: TextPage, _: CancellationToken) -> BoxFuture<'_, anyhow::Result<()>> {
        Box::pin(async { Ok(()) })
    }
}

/// The screen and all behind it.
pub(crate) struct Bench {
    pub(crate) app: App,
    pub(crate) host: TestHost,
    pub(crate) asked: Asked,
    pub(crate) copied: Vec<String>,
    telling: TextPage,
    told: UnboundedReceiver<WorkerEvent>,
    /// Whether the worker is busy with a turn: what it is asked waits.
    pub(crate) busy: bool,
    _dir: tempfile::TempDir,
}

impl Bench {
    /// A screen with a session in which these were said.
    pub(crate) async fn with(prompts: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let work = dir.path().join("work");
        std::fs::create_dir(&work).unwrap();
        let agent = Agent::builder(&work).home(dir.path().join("home")).build().await.unwrap();
        let mut session = agent.start();
        for prompt in prompts {
            Turn::new(&mut session, *prompt).end().await.unwrap();
        }
        let asked = Asked::default();
        let host = TestHost { agent: Arc::new(agent), session, asked: Arc::clone(&asked) };
        let mut app = App::new(Theme::new(false), Welcome::default());
        let (sender, told) = unbounded_channel();
        app.told(WorkerEvent::Status(Box::new(Status::of(&host))));
        app.told(WorkerEvent::Changed(Vec::new(), host.commands()));
        let telling = TextPage::new(sender, 80);
        Self { app, host, asked, copied: Vec::new(), telling, told, busy: false, _dir: dir }
    }

    /// Does what the screen asks for, until it asks for no more.
    pub(crate) async fn follow(&mut self, acts: Vec<Act>) {
        let mut acts = std::collections::VecDeque::from(acts);
        while let Some(act) = acts.pop_front() {
            match act {
                Act::Do(job) => job(self.telling.clone()).await,
                Act::Copy(text) => self.copied.push(text),
                Act::Ask(_) if self.busy => {}
                Act::Ask(Ask::Look(look)) => look(&mut self.host).await,
                Act::Ask(Ask::Command(line)) => {
                    let stop = CancellationToken::new();
                    let done = self.host.command(&line, self.telling.clone(), stop).await;
                    while let Ok(told) = self.told.try_recv() {
                        acts.extend(self.app.told(told));
                    }
                    acts.extend(self.app.told(WorkerEvent::CommandEnded(done)));
                }
                Act::Ask(Ask::Resume(id)) => {
                    let stop = CancellationToken::new();
                    self.host.resume(id, self.telling.clone(), stop).await.unwrap();
                    acts.extend(self.app.told(WorkerEvent::CommandEnded(Ok(Next::GoOn))));
                }
                _ => {}
            }
        }
    }

    /// Types a line and sends it.
    pub(crate) async fn send(&mut self, text: &str) {
        let acts = self.app.send(text.to_owned());
        self.follow(acts).await;
    }

    /// Presses keys: letters as they are, others by name in angle brackets.
    pub(crate) async fn press(&mut self, keys: &str) {
        for key in keys_of(keys) {
            self.draw(80, 24);
            let acts = self.app.key(key);
            self.follow(acts).await;
        }
    }

    /// The screen as text.
    pub(crate) fn draw(&mut self, width: u16, height: u16) -> String {
        let area = Rect::new(0, 0, width, height);
        let mut buf = Buffer::empty(area);
        self.app.render(area, &mut buf, Instant::now());
        shown(&buf)
    }

    /// What was asked, and forgets it.
    pub(crate) fn asked(&mut self) -> Vec<String> {
        let all = std::mem::take(&mut *self.asked.lock().unwrap());
        all.into_iter().filter(|line| !line.starts_with("table")).collect()
    }
}

/// A panel alone: its title, its keys, and what is between them.
pub(crate) fn alone(panel: &mut dyn Panel, width: u16, height: u16) -> String {
    let area = Rect::new(0, 0, width, height);
    let mut buf = Buffer::empty(area);
    panel.draw(area, &mut buf, Theme::new(false));
    format!("--- {width}×{height}\n{}\n{}{}\n", panel.title(), shown(&buf), panel.keys())
}

/// A buffer as lines.
pub(crate) fn shown(buf: &Buffer) -> String {
    let mut out = String::new();
    for y in 0..buf.area.height {
        let mut line = String::new();
        let mut x = 0;
        while x < buf.area.width {
            let symbol = buf[(x, y)].symbol();
            line.push_str(symbol);
            x += u16::try_from(unicode_width::UnicodeWidthStr::width(symbol)).unwrap().max(1);
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

fn keys_of(text: &str) -> Vec<KeyEvent> {
    let mut keys = Vec::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        let (code, modifiers) = if letter == '<' {
            code(&letters.by_ref().take_while(|letter| *letter != '>').collect::<String>())
        } else {
            (KeyCode::Char(letter), KeyModifiers::NONE)
        };
        keys.push(KeyEvent::new(code, modifiers));
    }
    keys
}

fn code(name: &str) -> (KeyCode, KeyModifiers) {
    let plain = |code| (code, KeyModifiers::NONE);
    match name {
        "enter" => plain(KeyCode::Enter),
        "esc" => plain(KeyCode::Esc),
        "up" => plain(KeyCode::Up),
        "down" => plain(KeyCode::Down),
        "pgdn" => plain(KeyCode::PageDown),
        "end" => plain(KeyCode::End),
        "back" => plain(KeyCode::Backspace),
        "c-a" => (KeyCode::Char('a'), KeyModifiers::CONTROL),
        "c-b" => (KeyCode::Char('b'), KeyModifiers::CONTROL),
        "c-y" => (KeyCode::Char('y'), KeyModifiers::CONTROL),
        other => panic!("no key {other}"),
    }
}
