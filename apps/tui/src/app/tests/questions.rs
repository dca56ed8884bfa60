//! Questions of tools: what answers them, and what is seen of them.

use crate::app::harness::shown;
use crate::app::{Act, App, Phase};
use crate::host::Welcome;
use crate::question::GUARD;
use crate::questions::{OpenQuestion, Question};
use crate::theme::Theme;
use crate::transcript_view::Diff;
use crate::worker::WorkerEvent;
use everfold_agent::Event;
use everfold_kernel::ToolUseId;
use everfold_kernel::ports::{PermissionAnswer, PermissionAsk};
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use ratatui::layout::Rect;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::time::{Duration, Instant};
use tokio::sync::oneshot::Receiver;

struct Scene {
    app: App,
    answer: Receiver<PermissionAnswer>,
    now: Instant,
}

impl Scene {
    fn asking(tool: &str, summary: &str, input: Value) -> Self {
        let now = Instant::now();
        let mut app = App::new(Theme::new(false), Welcome::default());
        app.phase = Phase::Turn { since: now, doing: "thinking".to_owned() };
        let diff = Diff::of_call(tool, &input);
        let ask = PermissionAsk {
            tool: tool.to_owned(),
            input,
            summary: summary.to_owned(),
            rule: format!("{tool}({summary})"),
        };
        let (open, answer) = OpenQuestion::new(ask);
        app.told(WorkerEvent::Question(Question::Call(open), diff));
        Self { app, answer, now }
    }

    fn command() -> Self {
        Self::asking("Bash", "rm -rf build", json!({"command": "rm -rf build"}))
    }

    fn write(lines: usize) -> Self {
        let mut content = String::new();
        for at in 1..=lines {
            let _ = writeln!(content, "line number {at}");
        }
        let input = json!({"file_path": "notes.txt", "content": content});
        Self::asking("Write", "Write notes.txt", input)
    }

    fn draw(&mut self, width: u16, height: u16) -> String {
        let area = Rect::new(0, 0, width, height);
        let mut buf = Buffer::empty(area);
        self.app.render(area, &mut buf, self.now);
        shown(&buf)
    }

    fn wait(&mut self, time: Duration) {
        self.now += time;
    }

    fn press(&mut self, code: KeyCode) -> Vec<Act> {
        self.app.key_at(KeyEvent::from(code), self.now)
    }

    fn types(&mut self, text: &str) {
        for letter in text.chars() {
            self.press(KeyCode::Char(letter));
            self.wait(Duration::from_millis(90));
        }
    }
}

#[test]
fn u1_what_is_typed_on_never_answers_and_is_not_lost() {
    let mut scene = Scene::command();
    scene.types("a");
    scene.draw(80, 24);
    scene.types("y about the parser");
    assert!(scene.answer.try_recv().is_err(), "nothing was answered");
    assert_eq!(scene.app.input.text(), "ay about the parser");
    // However long it takes: the line holds text.
    scene.wait(Duration::from_mins(1));
    let screen = scene.draw(80, 24);
    assert!(screen.contains("Your keys go to the line below"), "{screen}");
    assert!(screen.contains("ay about the parser"), "{screen}");
    scene.types("a");
    scene.press(KeyCode::Enter);
    scene.types("n");
    assert!(scene.answer.try_recv().is_err());
    assert_eq!(scene.app.waiting, ["ay about the parsera"], "Enter sends it to the turn");
}

#[test]
fn u1_a_draft_is_set_aside_for_the_answer_and_comes_back() {
    let mut scene = Scene::command();
    scene.draw(80, 24);
    scene.types("and then");
    scene.press(KeyCode::Tab);
    scene.wait(GUARD);
    scene.press(KeyCode::Char('y'));
    assert_eq!(scene.answer.try_recv().unwrap(), PermissionAnswer::Allow);
    assert_eq!(scene.app.input.text(), "and then");
}

#[test]
fn u1_a_key_answers_once_the_question_could_be_read() {
    let mut scene = Scene::command();
    scene.draw(80, 24);
    scene.wait(GUARD / 2);
    scene.press(KeyCode::Enter);
    assert!(scene.answer.try_recv().is_err(), "too soon, and the line is empty");
    scene.wait(GUARD);
    scene.press(KeyCode::Enter);
    assert_eq!(scene.answer.try_recv().unwrap(), PermissionAnswer::Allow);
    // One that was never drawn is never answered.
    let mut scene = Scene::command();
    scene.wait(Duration::from_mins(1));
    scene.press(KeyCode::Char('y'));
    assert!(scene.answer.try_recv().is_err());
}

#[test]
fn u2_choices_are_seen_at_every_size_and_the_rest_scrolls() {
    for (width, height) in [(80, 24), (40, 10), (200, 60), (30, 6)] {
        let mut scene = Scene::write(80);
        let first = scene.draw(width, height);
        for choice in ["y  Yes", "a  Always in", "p  Always in", "n  No"] {
            assert!(first.contains(choice), "{width}×{height} {choice}:\n{first}");
        }
        // All of it can be seen, page by page.
        let mut seen = first;
        for _ in 0..100 {
            scene.press(KeyCode::PageDown);
            seen.push_str(&scene.draw(width, height));
        }
        let has_room = height > 8;
        for at in (1..=80).filter(|_| has_room) {
            assert!(seen.contains(&format!("line number {at}\n")), "{width}×{height}: {at}");
        }
    }
    let tall = Scene::write(80).draw(200, 60);
    let rows = (1..=80).filter(|at| tall.contains(&format!("line number {at}\n"))).count();
    assert!(rows > 45, "a tall screen shows much of it: {rows}\n{tall}");
}

#[test]
fn u2_a_long_rule_is_read_whole() {
    let rule = format!("cargo test --package {}", "very-long-name-".repeat(6));
    let mut scene = Scene::asking("Bash", &rule, json!({"command": rule}));
    let screen = scene.draw(40, 24).replace(['\n', ' '], "");
    assert!(screen.contains(&format!("Bash({rule})").replace(' ', "")), "{screen}");
}

#[test]
fn u3_always_says_for_how_long_and_keeps_the_rule_where_it_says() {
    let mut scene = Scene::command();
    let screen = scene.draw(80, 24);
    assert!(screen.contains("Always in this session: Bash(rm -rf build)"), "{screen}");
    assert!(screen.contains("Always in this project: Bash(rm -rf build)"), "{screen}");
    scene.wait(GUARD);
    let acts = scene.press(KeyCode::Char('p'));
    assert!(matches!(acts.as_slice(), [Act::KeepRule(rule)] if rule == "Bash(rm -rf build)"));
    assert_eq!(scene.answer.try_recv().unwrap(), PermissionAnswer::AllowAlways);
}

#[test]
fn u4_esc_stops_the_turn_as_the_line_says() {
    let mut scene = Scene::command();
    let screen = scene.draw(80, 24);
    assert!(screen.contains("Esc stops the turn"), "{screen}");
    let acts = scene.press(KeyCode::Esc);
    assert!(matches!(acts.as_slice(), [Act::Stop]), "a stop needs no guard");
    assert!(scene.answer.try_recv().is_err(), "the turn is stopped before it is refused");
    scene.app.stopped();
    assert!(matches!(scene.answer.try_recv().unwrap(), PermissionAnswer::Deny { .. }));
}

#[test]
fn u4_a_refused_call_stays_with_its_reason() {
    let mut scene = Scene::command();
    scene.draw(80, 24);
    scene.wait(GUARD);
    scene.types("n");
    scene.types("use cargo clean");
    let typed = scene.draw(80, 24);
    assert!(typed.contains("No, because: use cargo clean"), "{typed}");
    scene.press(KeyCode::Enter);
    let PermissionAnswer::Deny { reason } = scene.answer.try_recv().unwrap() else {
        panic!("not denied")
    };
    let id = ToolUseId::from("t".to_owned());
    let input = json!({"command": "rm -rf build"});
    let name = "Bash".to_owned();
    let told = Event::ToolRefused { id: id.clone(), name, input, reason };
    scene.app.told(WorkerEvent::Event(Box::new(told)));
    let preview = String::new();
    let ended = Event::ToolEnded { id, is_error: true, preview, duration: Duration::ZERO };
    scene.app.told(WorkerEvent::Event(Box::new(ended)));
    let screen = scene.draw(80, 24);
    assert!(screen.contains("⊘ Bash rm -rf build"), "{screen}");
    assert!(screen.contains("use cargo clean") && screen.contains("not run"), "{screen}");
}

#[test]
fn u6_the_wheel_scrolls_what_is_asked_about_and_the_conversation() {
    let mut scene = Scene::write(80);
    assert!(scene.draw(80, 24).contains("line number 1\n"));
    scene.app.wheel(3);
    assert!(!scene.draw(80, 24).contains("line number 1\n"));
    scene.app.wheel(-3);
    assert!(scene.draw(80, 24).contains("line number 1\n"));
    let mut app = App::new(Theme::new(false), Welcome::default());
    let mut text = String::new();
    for at in 1..=80 {
        let _ = writeln!(text, "- item {at}");
    }
    app.told(WorkerEvent::Event(Box::new(Event::Text(text))));
    let mut scene = Scene { app, ..Scene::command() };
    assert!(scene.draw(80, 24).contains("item 80"));
    scene.app.wheel(-30);
    assert!(!scene.draw(80, 24).contains("item 80"));
    assert_eq!(scene.app.input.text(), "", "no prompt of the history came up");
}
