//! A screen without a terminal, for tests: keys go in, a picture comes out.
//! Behind it is a real session of an agent without a model, and a side that
//! answers with what it was given.

mod window;

pub(crate) use window::window_of;

use super::{Act, App};
use crate::host::{BoxFuture, CommandInfo, Host, Next, Welcome};
use crate::page::TextPage;
use crate::panel::Panel;
use crate::panel_data::{Listing, PanelData, Table, TableRow};
use crate::status::Status;
use crate::style::TextStyle;
use crate::theme::Theme;
use crate::worker::{Ask, WorkerEvent};
use everfold::engine::turn::rewind;
use everfold::engine::window::compaction;
use everfold::kernel::{Ledger, ModelTable, QuerySource, Usage, usage::Booking};
use everfold::{Agent, CancellationToken, Session, SessionId, Turn};
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use std::sync::{Arc, Mutex};
use std::time::Instant;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// What was asked of the side and of the worker.
pub(crate) type Asked = Arc<Mutex<Vec<String>>>;

pub(crate) struct TestSide(Asked);

impl PanelData for TestSide {
    fn table(&self, what: Listing) -> BoxFuture<'static, anyhow::Result<Table>> {
        self.0.lock().unwrap().push(format!("table {what:?}"));
        Box::pin(async move { Ok(table(what)) })
    }

    fn run(&self, line: &str, page: TextPage) -> BoxFuture<'static, anyhow::Result<()>> {
        self.0.lock().unwrap().push(line.to_owned());
        let line = line.to_owned();
        Box::pin(async move {
            anyhow::ensure!(!line.contains("broken"), "{line} cannot be done");
            page.write(TextStyle::Normal, &format!("what {line:?} says\n"));
            Ok(())
        })
    }

    fn spent(&self) -> BoxFuture<'static, anyhow::Result<Vec<(String, Ledger)>>> {
        Box::pin(async {
            let today = ledger(3);
            Ok(vec![("today, every project, 3 sessions".to_owned(), today)])
        })
    }
}

/// Some requests to two models.
pub(crate) fn ledger(times: u64) -> Ledger {
    let mut ledger = Ledger::default();
    let usage = Usage { input: 1_200 * times, output: 90, cache_read: 45_000, ..Usage::default() };
    for (source, model) in
        [(QuerySource::Main, "claude-opus-5"), (QuerySource::SessionMemory, "claude-haiku-4-5")]
    {
        let table = ModelTable::builtin();
        ledger.book(&Booking::new(source, model.into(), usage, &table));
    }
    ledger
}

fn row(id: &str, cells: &[&str], more: &str) -> TableRow {
    TableRow {
        id: id.to_owned(),
        cells: cells.iter().map(|cell| (*cell).to_owned()).collect(),
        look: TextStyle::Normal,
        more: more.to_owned(),
    }
}

#[expect(clippy::too_many_lines, reason = "a row for each list")]
fn table(what: Listing) -> Table {
    let (head, rows): (&[&str], Vec<TableRow>) = match what {
        Listing::Memories => (
            &["memory", "type", "where", "age", "used", "what it says"],
            vec![
                row(
                    "\"deploys.md\" --scope project",
                    &["deploys", "project", "project", "2d", "4", "Deploys on Friday need a word"],
                    "Deploys on Friday need a word\nbasis: stated\nrecalled 9 times, used 4",
                ),
                row(
                    "\"tabs.md\" --scope global",
                    &["tabs", "user", "global", "30d", "0", "Likes tabs, 日本語 too"],
                    "Likes tabs\nrecalled 0 times, used 0",
                ),
                row("\"broken.md\" --scope team", &["broken", "-", "team", "1h", "0", "x"], ""),
            ],
        ),
        Listing::Changes => (
            &["#", "when", "where", "who", "what", "files"],
            vec![
                row(
                    "7 --scope project",
                    &["7", "2026-11-12 09:30", "project", "person", "update", "deploys.md"],
                    "edited by hand",
                ),
                row(
                    "6 --scope project",
                    &["6", "2026-11-11 18:02", "project", "agent extract", "add", "deploys.md"],
                    "after a turn",
                ),
            ],
        ),
        Listing::Inbox => (
            &["#", "where", "age", "who", "what"],
            vec![row(
                "3 --scope project",
                &["3", "project", "1h", "agent dream", "change deploys.md"],
                "two memories say the same",
            )],
        ),
        Listing::Sessions | Listing::AllSessions => (
            &["age", "size", "branch", "title"],
            vec![
                row(
                    "0197-aa",
                    &["  2m", "  1.2 MB", "main", "Mend the parser of dates"],
                    "first: the parser fails on leap days\nnow:   Mend the parser of dates",
                ),
                row(
                    "0197-bb",
                    &["  3d", " 80.1 kB", "feature/tables", "Draw tables"],
                    "first: draw tables in the terminal\nnow:   Draw tables",
                ),
            ],
        ),
        Listing::Settings => (
            &["setting", "value", "from"],
            vec![
                row(
                    "model",
                    &["model", "\"opus\"", "home"],
                    "model = \"opus\"\nto change it: home",
                ),
                row("autoDreamEnabled", &["autoDreamEnabled", "true", "default"], "to change it"),
            ],
        ),
        Listing::Findings => (
            &[],
            vec![row(
                "no bash",
                &["warning", "platform", "there is no bash on the PATH; the Bash tool uses sh"],
                "there is no bash on the PATH; the Bash tool uses sh\nmend: install bash",
            )],
        ),
        Listing::Models => (
            &["model", "   window", "input $/M", "cached $/M", "output $/M"],
            vec![
                row("claude-haiku-4-5", &["claude-haiku-4-5", "  200,000", "1", "0.1", "5"], ""),
                row("claude-opus-5", &["claude-opus-5", "  200,000", "5", "0.5", "25"], ""),
            ],
        ),
        Listing::Servers => (&["server", "state", "from"], Vec::new()),
        Listing::Skills => (
            &["skill", "what for"],
            vec![row("review", &["/review [FILE]", "Reads a change"], "Reads a change")],
        ),
        Listing::Rules => (
            &["rule", "value", "from"],
            vec![row("permissions.deny.0", &["permissions.deny.0", "\"Bash(rm *)\"", "home"], "x")],
        ),
    };
    let head = head.iter().map(|name| (*name).to_owned()).collect();
    Table { head, rows, empty: "there are none".to_owned() }
}

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
                Some(("pin", id)) => compaction::pin(&mut self.session, &id.into()).await?.unwrap(),
                Some(("unpin", id)) => {
                    compaction::unpin(&mut self.session, &id.into()).await?.unwrap()
                }
                Some(("rewind", rest)) => {
                    let (id, _) = rest.split_once(' ').unwrap();
                    let what = everfold::engine::turn::rewind::RewindWhat::Conversation;
                    let report =
                        rewind::rewind(&mut self.session, &id.into(), what).await?.unwrap();
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
                    let done = done.map_err(|error| error.to_string());
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
        other => panic!("no key {other}"),
    }
}
