//! Screens as they are met: each is compared with its snapshot in two sizes,
//! and some are the pictures of the documentation.

use super::App;
use super::tests::pictures::standing;
use crate::host::Welcome;
use crate::questions::{OpenQuestion, Question};
use crate::status::Status;
use crate::theme::Theme;
use crate::transcript_view::{Diff, Kind, ThinkingTime, Thought, highlight};
use crate::worker::WorkerEvent;
use everfold_agent::engine::event::Finder;
use everfold_agent::engine::window::compaction::CompactionReport;
use everfold_agent::{Event, TaskStatus, TaskView};
use everfold_kernel::models::Usd;
use everfold_kernel::ports::PermissionAsk;
use everfold_kernel::ports::{Kept, MemoryRef, MemoryScope};
use everfold_kernel::record::Spilled;
use everfold_kernel::usage::{Booking, Usage};
use everfold_kernel::{
    Block, Decision, Entry, QuerySource, Record, RecordId, Timestamp, ToolUseId, UserEntry,
    UserOrigin,
};
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use ratatui::style::Style;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

mod svg;

/// A screen at a moment, without a footer: that is of a session.
struct Scene {
    app: App,
    began: Instant,
}

impl Scene {
    fn new(colours: bool) -> Self {
        let welcome = Welcome { version: "0.1.0".to_owned(), ..Welcome::default() };
        Self { began: Instant::now(), app: App::new(Theme::new(colours), welcome) }
    }

    fn tell(&mut self, event: Event) {
        self.app.told(WorkerEvent::Event(Box::new(event)));
    }

    fn keys(&mut self, keys: &str) {
        self.draw(80, 24);
        for letter in keys.chars() {
            let (code, modifiers) = match letter {
                '\n' => (KeyCode::Enter, KeyModifiers::NONE),
                '^' => (KeyCode::Char('o'), KeyModifiers::CONTROL),
                letter => (KeyCode::Char(letter), KeyModifiers::NONE),
            };
            self.app.key(KeyEvent::new(code, modifiers));
        }
    }

    /// A call and its result.
    fn call(&mut self, name: &str, input: Value, result: Result<&str, &str>, structured: Value) {
        let id = ToolUseId::from(format!("toolu_{name}"));
        self.tell(Event::ToolStarted { id: id.clone(), name: name.to_owned(), input });
        let (Ok(text) | Err(text)) = result;
        let entry = UserEntry {
            content: vec![Block::tool_result(&id, json!(text))],
            origin: UserOrigin::ToolResult,
            tool_use_result: Some(structured),
            provenance: Vec::new(),
        };
        self.tell(recorded(Entry::User(entry)));
        let duration = Duration::from_millis(1_240);
        let preview = String::new();
        self.tell(Event::ToolEnded { id, is_error: result.is_err(), preview, duration });
    }

    fn thought(&mut self, text: &str) {
        let time = ThinkingTime::Took(Duration::from_millis(3_400));
        self.app.talk.push(Kind::Thinking(Thought { text: text.to_owned(), time }));
    }

    fn draw(&mut self, width: u16, height: u16) -> Buffer {
        let area = Rect::new(0, 0, width, height);
        for _ in 0..2 {
            let mut buf = Buffer::empty(area);
            self.app.render(area, &mut buf, self.began);
            // Code is coloured by a thread: the second time it is there.
            highlight::wait();
        }
        let mut buf = Buffer::empty(area);
        self.app.render(area, &mut buf, self.began);
        buf
    }
}

fn recorded(entry: Entry) -> Event {
    let at = Timestamp::UNIX_EPOCH;
    Event::Recorded(Box::new(Record { id: RecordId::from("r"), parent: None, at, entry }))
}

const ANSWER: &str = "\
The parser took the **29th of February** for a mistake. Two things were wrong:

1. `is_leap` forgot the centuries
2. the table of days was counted from 1

| year | before | now |
|-----:|:------:|:---:|
| 1900 | leap   | no  |
| 2000 | leap   | leap |

```rust
fn is_leap(year: u32) -> bool {
    // Every fourth year, but not every hundredth.
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}
```

> See [the calendar](https://example.org/calendar) for the rule.
";

/// A question, calls, a change, an answer, and what was kept of it.
fn conversation(colours: bool) -> Scene {
    let mut scene = Scene::new(colours);
    scene.app.send("Why does the parser fail on leap days? Fix it.".to_owned());
    scene.tell(Event::Recalled { paths: vec![PathBuf::from("/m/dates.md"), "/m/style.md".into()] });
    scene.thought("The dates are read in one place.");
    scene.call(
        "Grep",
        json!({"pattern": "fn is_leap", "path": "src"}),
        Ok("src/date.rs"),
        Value::Null,
    );
    let patch = json!({"structuredPatch": [{"oldStart": 11, "newStart": 11, "lines": [
        " fn is_leap(year: u32) -> bool {",
        "-    year % 4 == 0",
        "+    // Every fourth year, but not every hundredth.",
        "+    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)",
        " }"]}]});
    let input = json!({"file_path": "src/date.rs", "old_string": "a", "new_string": "b"});
    scene.call("Edit", input, Ok("done"), patch);
    let input = json!({"command": "cargo test -p dates", "description": "Runs the tests"});
    scene.call("Bash", input, Ok("running 12 tests\ntest result: ok. 12 passed"), Value::Null);
    scene.tell(Event::Text(ANSWER.to_owned()));
    let memory = kept_in("leap-years.md");
    let kept = vec![Kept::Saved { memory, entry: Some(1) }];
    scene.tell(Event::Remembered { kept, how: Finder::Model });
    scene
}

/// An answer on its way, in the middle of code.
fn streaming(colours: bool) -> Scene {
    let mut scene = Scene::new(colours);
    scene.app.send("Show me a *long* loop".to_owned());
    scene.tell(Event::Text("Here **it is**, with `code` and **bo".to_owned()));
    scene.tell(Event::Text("ld**:\n\n```python\nfor a in range(3):\n    print(a".to_owned()));
    scene
}

/// Calls of every kind, folded.
fn calls(colours: bool) -> Scene {
    let mut scene = Scene::new(colours);
    scene.app.send("do it".to_owned());
    let todos = json!({"todos": [
        {"content": "read the parser", "status": "completed", "activeForm": "reading"},
        {"content": "fix it", "status": "in_progress", "activeForm": "fixing"},
        {"content": "test it", "status": "pending", "activeForm": "testing"}]});
    scene.call("TodoWrite", todos, Ok("kept"), Value::Null);
    let input =
        json!({"description": "Find all callers", "prompt": "Find…", "subagent_type": "explore"});
    scene.call("Agent", input, Ok("there are three"), Value::Null);
    let input = json!({"file_path": "notes.txt", "content": "one\ntwo\n"});
    scene.call("Write", input, Ok("written"), json!({"structuredPatch": []}));
    let failed = "Compiling dates\nerror[E0308]: mismatched types\n  --> src/date.rs:3:5\nerror: could not compile";
    scene.call("Bash", json!({"command": "cargo build\n--release"}), Err(failed), Value::Null);
    let long = "a line of a log\n".repeat(3_000);
    scene.call("Read", json!({"file_path": "/var/log/long.log"}), Ok(&long), Value::Null);
    let replacement = "<persisted-output>\nOutput too large (48000 characters, 48000 bytes). Full \
        output saved to: /s/tool-results/1.txt\nRead it.\n\nPreview (first 5 bytes):\na line\n\
        </persisted-output>";
    scene.tell(recorded(Entry::Decision(Decision::Spilled(Spilled {
        tool_use_id: ToolUseId::from("toolu_Read"),
        replacement: replacement.to_owned(),
        file: Some("1.txt".to_owned()),
        chars: 48_000,
    }))));
    let input = json!({"pattern": "日本語 and a pattern that is longer than any line of a screen has \
        room for, so that it has to be cut somewhere in the middle of what it says"});
    let id = ToolUseId::from("toolu_run");
    scene.tell(Event::ToolStarted { id, name: "Grep".to_owned(), input });
    scene
}

/// The same, with the failed command and the long file unfolded.
fn unfolded(colours: bool) -> Scene {
    let mut scene = calls(colours);
    scene.keys("^kk k ");
    scene
}

/// A compaction, a retry, another model, an agent that came to its end.
fn asides(colours: bool) -> Scene {
    let mut scene = Scene::new(colours);
    scene.app.send("go on".to_owned());
    let (way, before, after, retention) = ("notes", 162_340, 21_008, 0.9);
    let (dropped, kept) = (Vec::new(), Vec::new());
    let (restored, left_out) = (vec!["src/date.rs".into()], vec!["src/long.rs".into()]);
    let report =
        CompactionReport { way, before, after, retention, dropped, kept, restored, left_out };
    let line =
        "compacted (notes): 162,340 → 21,008 tokens for $0.0124, $0.0424 less with each request";
    scene.tell(Event::Compacted { report: Box::new(report), line: line.to_owned() });
    scene.tell(Event::Task(Box::new(TaskView {
        id: "t3".to_owned(),
        name: "explore: find all callers".to_owned(),
        source: everfold_kernel::QuerySource::Agent("explore".to_owned()),
        status: TaskStatus::Completed,
        phase: String::new(),
        lines: std::collections::VecDeque::new(),
        started: Timestamp::UNIX_EPOCH,
        ended: Some(Timestamp::UNIX_EPOCH),
    })));
    scene.tell(Event::Text("This is going to be".to_owned()));
    scene.tell(Event::Restarted { reason: "the connection broke".to_owned() });
    scene.tell(Event::ModelSwitched {
        from: "claude-opus-5".into(),
        to: "claude-sonnet-5-5".into(),
        reason: "it is overloaded".to_owned(),
    });
    let proposed = |file, id| Kept::Proposed { memory: kept_in(file), id };
    let kept = vec![proposed("a.md", 1), proposed("b.md", 2)];
    scene.tell(Event::Remembered { kept, how: Finder::Model });
    scene.tell(Event::Notice("the disk is nearly full".to_owned()));
    scene.keys("^ggj ");
    scene
}

/// Walking through the conversation with a search.
fn searching(colours: bool) -> Scene {
    let mut scene = conversation(colours);
    scene.keys("^/hundredth\nn");
    scene
}

/// A tool that wants to run something.
fn question(colours: bool) -> Scene {
    let mut scene = conversation(colours);
    let input = json!({
        "file_path": "src/date.rs",
        "old_string": "const DAYS: [u8; 12] = [\n    31, 28, 31,",
        "new_string": "const DAYS: [u8; 12] = [\n    31, 29, 31,",
    });
    let diff = Diff::of_call("Edit", &input);
    let ask = PermissionAsk {
        tool: "Edit".to_owned(),
        input,
        summary: "src/date.rs".to_owned(),
        rule: "Edit(src/**)".to_owned(),
    };
    let (open, answer) = OpenQuestion::new(ask);
    // Somebody waits for it as long as the scene is looked at.
    std::mem::forget(answer);
    scene.app.told(WorkerEvent::Question(Question::Call(open), diff));
    scene
}

type Make = fn(bool) -> Scene;

/// All scenes by name.
const ALL: [(&str, Make); 7] = [
    ("conversation", conversation),
    ("streaming", streaming),
    ("calls", calls),
    ("unfolded", unfolded),
    ("asides", asides),
    ("searching", searching),
    ("question", question),
];

fn text(buf: &Buffer) -> String {
    let mut out = String::new();
    for row in rows(buf) {
        let line: String = row.iter().map(|(text, _)| text.as_str()).collect();
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// The runs of one style in each row.
fn rows(buf: &Buffer) -> Vec<Vec<(String, Style)>> {
    let mut rows = Vec::new();
    for y in 0..buf.area.height {
        let mut row: Vec<(String, Style)> = Vec::new();
        let mut skip = 0;
        for x in 0..buf.area.width {
            if skip > 0 {
                skip -= 1;
                continue;
            }
            let cell = &buf[(x, y)];
            skip = unicode_width::UnicodeWidthStr::width(cell.symbol()).saturating_sub(1);
            match row.last_mut() {
                Some((text, style)) if *style == cell.style() => text.push_str(cell.symbol()),
                _ => row.push((cell.symbol().to_owned(), cell.style())),
            }
        }
        rows.push(row);
    }
    rows
}

/// What is not plain: row by row, the words and their style.
fn styles(buf: &Buffer) -> String {
    let mut out = String::new();
    for (at, row) in rows(buf).iter().enumerate() {
        for (text, style) in row.iter().filter(|(text, _)| !text.trim().is_empty()) {
            let colour = style.fg.filter(|colour| *colour != ratatui::style::Color::Reset);
            if colour.is_some() || !style.add_modifier.is_empty() {
                let colour = colour.map(|colour| colour.to_string()).unwrap_or_default();
                let _ = writeln!(out, "{at}: {:?} {colour} {:?}", text.trim(), style.add_modifier);
            }
        }
    }
    out
}

#[test]
fn q9_every_screen_looks_as_it_did() {
    for (name, make) in ALL {
        for (width, height) in [(80, 24), (120, 40)] {
            let buf = make(false).draw(width, height);
            insta::assert_snapshot!(format!("{name}_{width}x{height}"), text(&buf));
        }
    }
}

#[test]
fn q9_colours_are_the_terminals_own() {
    let buf = conversation(true).draw(80, 50);
    insta::assert_snapshot!("colours", styles(&buf));
    let plain = conversation(false).draw(80, 50);
    let colours = plain.content().iter().any(|cell| cell.fg != ratatui::style::Color::Reset);
    assert!(!colours, "without colours there are none");
}

/// What the footer of a picture says.
async fn footer() -> Option<Box<Status>> {
    let mut status = standing().await.app.status.take()?;
    (status.model, status.branch) = ("claude-opus-5".to_owned(), Some("main".to_owned()));
    for (source, cost) in [(QuerySource::Main, 0.39), (QuerySource::Recall, 0.03)] {
        let (model, usage) = ("claude-opus-5".into(), Usage::default());
        status.ledger.book(&Booking { source, model, usage, cost: Some(Usd(cost)) });
    }
    status.hit_rate = Some(0.97);
    Some(status)
}

/// The pictures of the documentation.
async fn pictures() -> Vec<(&'static str, Buffer)> {
    let mut pictures = Vec::new();
    for (name, make) in [("conversation", conversation as Make), ("question", question)] {
        let mut scene = make(true);
        scene.app.status = footer().await;
        pictures.push((name, scene.draw(100, 46)));
    }
    for (name, command) in [("context", "/context"), ("memory", "/memory")] {
        let mut bench = standing().await;
        (bench.app.theme, bench.app.status) = (Theme::new(true), footer().await);
        bench.send(command).await;
        let mut scene = Scene { app: bench.app, began: Instant::now() };
        pictures.push((name, scene.draw(100, 24)));
    }
    pictures
}

#[tokio::test]
async fn q9_pictures_show_the_program_as_it_is() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pictures");
    for (name, buf) in Box::pin(pictures()).await {
        let picture = svg::picture(&buf);
        let path = dir.join(format!("{name}.svg"));
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::create_dir_all(&dir).expect("the folder can be made");
            std::fs::write(&path, &picture).expect("the picture can be written");
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(kept == picture, "{name}.svg: UPDATE_DOCS=1 cargo test -p everfold-tui pictures");
    }
}

/// A memory of the project.
fn kept_in(file: &str) -> MemoryRef {
    MemoryRef { scope: MemoryScope::Project, file: file.into(), path: format!("/m/{file}").into() }
}
