//! What a person can trust the terminal with (SPEC section 17), in a real one.

use crate::desk::Desk;
use crate::screen::Terminal;
use everfold_testkit::{Reply, ServerRules, TempHome, TestServer};
use serde_json::json;
use std::fmt::Write as _;
use std::time::Duration;

/// Sizes at which people work.
const SIZES: [(u16, u16); 3] = [(80, 24), (40, 10), (120, 40)];

/// A model that calls a tool at its first word, and then is done.
fn calling(tool: &'static str, input: serde_json::Value) -> Desk {
    calling_after(Duration::ZERO, tool, input)
}

/// The same, with time to type ahead.
fn calling_after(pause: Duration, tool: &'static str, input: serde_json::Value) -> Desk {
    let server = TestServer::with_handler(ServerRules::default(), move |request| {
        match request.last_tool_results() {
            Some(_) => Reply::text("All done."),
            None if request.last_user_text().contains("go") => {
                std::thread::sleep(pause);
                Reply::tool(tool, input.clone())
            }
            None => Reply::text("Yes?"),
        }
    });
    Desk { files: TempHome::new().unwrap(), server: Some(server.unwrap()) }
}

fn long_file() -> serde_json::Value {
    let mut content = String::new();
    for at in 1..=80 {
        let _ = writeln!(content, "entry {at}");
    }
    json!({"file_path": "long.txt", "content": content})
}

#[test]
fn u1_what_is_typed_ahead_never_answers_in_a_real_terminal() {
    let desk = calling("Bash", json!({"command": "touch made"}));
    let Some(terminal) = Terminal::start(&desk, "") else { return };
    terminal.sees("what shall we do?");
    terminal.says("go");
    // A person who goes on writing, through the moment in which it is asked.
    for part in ["a", "nd ", "y", "et ", "a", "nother ", "y", "ear"] {
        terminal.types(part);
        std::thread::sleep(Duration::from_millis(60));
    }
    let asked = terminal.sees("Run this command?");
    assert!(asked.contains("y  Yes, once"), "{asked}");
    terminal.types(" a");
    let screen = terminal.sees("and yet another year a");
    assert!(screen.contains("Your keys go to the line below"), "{screen}");
    std::thread::sleep(Duration::from_millis(800));
    terminal.types("y");
    terminal.sees("another year ay");
    assert!(!desk.files.project().join("made").exists(), "nothing ran");
    // Set aside, the answer is given; then the line is there again.
    terminal.press(&["Tab"]);
    terminal.sees_no("Your keys go");
    terminal.answers("y");
    terminal.sees("All done.");
    assert!(desk.files.project().join("made").exists());
    terminal.sees("› and yet another year ay");
}

/// What is typed before a question, line by line, and then a yes of one's own.
fn plain_question(ahead: &str) {
    let desk = calling_after(Duration::from_secs(2), "Bash", json!({"command": "touch made"}));
    let Some(terminal) = Terminal::start_sized(&desk, "--plain", (100, 100)) else { return };
    terminal.sees("Ctrl-D leaves");
    terminal.types("go\n");
    terminal.types(ahead);
    terminal.sees("[y/a/p/n]");
    if !ahead.ends_with('\n') {
        terminal.types("\n");
    }
    std::thread::sleep(Duration::from_millis(500));
    let made = desk.files.project().join("made");
    assert!(!made.exists(), "{ahead:?} was typed before the question:\n{}", terminal.screen());
    terminal.types("y\n");
    terminal.sees("All done.");
    assert!(made.exists(), "a yes is one");
}

#[test]
fn u1_line_by_line_a_line_typed_ahead_is_no_answer() {
    plain_question("y\n");
}

#[test]
fn u1_line_by_line_a_line_behind_a_command_is_no_answer() {
    plain_question("/help\ny\n");
}

#[test]
fn u1_line_by_line_a_line_that_was_begun_is_no_answer() {
    plain_question("y");
}

#[test]
fn u2_the_choices_are_on_the_screen_at_every_size() {
    for size in SIZES {
        let desk = calling("Write", long_file());
        let Some(terminal) = Terminal::start_sized(&desk, "", size) else { return };
        terminal.sees("what shall we do?");
        terminal.says("go");
        // A look may fall into the middle of a drawing.
        for choice in
            ["y  Yes, once", "a  Always in this session", "p  Always in this project", "n  No"]
        {
            terminal.sees(choice);
        }
        for _ in 0..100 {
            terminal.press(&["PPage"]);
        }
        terminal.sees("Write");
        // The last line of the change can be reached.
        for _ in 0..100 {
            terminal.press(&["NPage"]);
        }
        let end = terminal.until("the last line", |screen| {
            screen.contains("entry 80") || screen.contains("always” allows")
        });
        assert!(end.contains("n  No"), "{end}");
        // "Always" is for this session, is listed, and is taken back.
        terminal.answers("a");
        terminal.sees("done.");
    }
}

#[test]
fn u3_what_was_granted_for_the_project_is_listed_and_taken_back() {
    let desk = calling("Bash", json!({"command": "touch made"}));
    let Some(terminal) = Terminal::start_sized(&desk, "", (120, 40)) else { return };
    terminal.sees("what shall we do?");
    terminal.says("go");
    terminal.sees("Run this command?");
    terminal.answers("p");
    terminal.sees("is allowed in this project from now on");
    terminal.sees("All done.");
    drop(terminal);
    let Some(again) = Terminal::start_sized(&desk, "", (120, 40)) else { return };
    again.sees("what shall we do?");
    std::fs::remove_file(desk.files.project().join("made")).unwrap();
    again.says("go");
    again.sees("All done.");
    assert!(desk.files.project().join("made").exists(), "it was not asked again");
    again.says("/permissions forget Bash(touch made)");
    again.sees("removed Bash(touch made) from");
    again.says("go");
    again.sees("Run this command?");
}

#[test]
fn u3_what_was_granted_for_the_session_is_in_the_panel_and_taken_back_there() {
    let desk = calling("Bash", json!({"command": "touch made"}));
    let Some(terminal) = Terminal::start_sized(&desk, "", (120, 40)) else { return };
    terminal.sees("what shall we do?");
    terminal.says("go");
    terminal.sees("Run this command?");
    terminal.answers("a");
    terminal.sees("All done.");
    terminal.says("/permissions");
    let panel = terminal.sees("you, for this session");
    assert!(panel.contains("Bash(touch made)") && panel.contains("f remove it"), "{panel}");
    terminal.press(&["End", "f"]);
    terminal.sees("removed Bash(touch made) from this session");
    terminal.says("go");
    terminal.sees("Run this command?");
}

#[test]
fn u4_a_refused_call_stays_on_the_screen_with_its_reason_and_after_a_resume() {
    let desk = calling("Bash", json!({"command": "touch made"}));
    let Some(terminal) = Terminal::start(&desk, "") else { return };
    terminal.sees("what shall we do?");
    terminal.says("go");
    terminal.sees("Run this command?");
    terminal.answers("n");
    terminal.types("not on a Friday");
    terminal.press(&["Enter"]);
    let screen = terminal.sees("All done.");
    assert!(screen.contains("⊘ Bash touch made"), "{screen}");
    assert!(screen.contains("you said no: not on a Friday"), "{screen}");
    assert!(screen.contains("not run"), "{screen}");
    terminal.press(&["C-d"]);
    terminal.sees("left with 0");
    drop(terminal);
    let Some(again) = Terminal::start(&desk, "--continue") else { return };
    let resumed = again.sees("⊘ Bash touch made");
    assert!(resumed.contains("you said no: not on a Friday"), "{resumed}");
}

#[test]
fn u4_esc_at_a_question_stops_the_turn_as_it_says() {
    let desk = calling("Bash", json!({"command": "touch made"}));
    let Some(terminal) = Terminal::start(&desk, "") else { return };
    terminal.sees("what shall we do?");
    terminal.says("go");
    terminal.sees("Esc stops the turn");
    terminal.press(&["Escape"]);
    terminal.sees("stopped");
    assert_eq!(desk.server().requests().len(), 1, "the model was not asked again");
    assert!(!desk.files.project().join("made").exists());
}

/// A command that prints, and goes on until a file is there.
const WAITS: &str = "for i in 1 2 3 4 5 6 7 8; do echo step $i; done; \
    while [ ! -e stop ]; do sleep 0.05; done; echo ended";

#[test]
fn u5_a_running_command_shows_its_last_lines_and_keeps_them_when_it_is_stopped() {
    let desk = calling("Bash", json!({"command": WAITS}));
    let args = "--permission-mode bypassPermissions";
    let Some(terminal) = Terminal::start(&desk, args) else { return };
    terminal.sees("what shall we do?");
    terminal.says("go");
    let live = terminal.sees("step 8");
    assert!(live.contains("running Bash") && live.contains("step 4"), "{live}");
    assert!(!live.contains("ended"), "{live}");
    terminal.press(&["Escape"]);
    let stopped = terminal.sees("stopped");
    assert!(stopped.contains("step 8"), "{stopped}");
    terminal.says("go on");
    terminal.sees("All done.");
    let requests = desk.server().requests();
    let told = String::from_utf8_lossy(&requests.last().unwrap().raw).into_owned();
    assert!(told.contains("It had printed") && told.contains("step 8"), "{told}");
}

#[test]
fn u5_a_running_command_is_sent_to_the_background_and_ends_there() {
    let desk = calling("Bash", json!({"command": WAITS}));
    let args = "--permission-mode bypassPermissions";
    let Some(terminal) = Terminal::start(&desk, args) else { return };
    terminal.sees("what shall we do?");
    terminal.says("go");
    terminal.sees("step 8");
    terminal.press(&["C-b"]);
    terminal.sees("continues in the background");
    terminal.sees("All done.");
    // It is among the tasks, with what it prints.
    terminal.says("/tasks");
    terminal.sees("1 running");
    terminal.press(&["Enter"]);
    terminal.sees("step 8");
    terminal.press(&["Escape"]);
    terminal.sees("tasks ·");
    terminal.press(&["Escape"]);
    std::fs::write(desk.files.project().join("stop"), "").unwrap();
    let requests = desk.server().requests();
    let told = requests[1].last_tool_results().unwrap();
    assert!(told.contains("sent this command to the background") && told.contains("step 8"));
    // Its output goes on in the file that the model was told of.
    let path = told.split("goes to ").nth(1).unwrap().split(": use Read").next().unwrap();
    let text = || std::fs::read_to_string(path).unwrap();
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    while !text().contains("ended") {
        assert!(std::time::Instant::now() < deadline, "{}", text());
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(text().starts_with("step 1\n"), "{}", text());
}

#[test]
fn u6_the_wheel_scrolls_and_leaves_the_history_alone() {
    let server = TestServer::with_handler(ServerRules::default(), |_| {
        let mut lines = String::new();
        for at in 1..=60 {
            let _ = writeln!(lines, "- item {at}");
        }
        Reply::text(lines)
    });
    let desk = Desk { files: TempHome::new().unwrap(), server: Some(server.unwrap()) };
    let Some(terminal) = Terminal::start(&desk, "") else { return };
    terminal.sees("what shall we do?");
    terminal.says("hello");
    terminal.sees("item 60");
    for _ in 0..6 {
        terminal.types("\u{1b}[<64;10;5M");
    }
    let up = terminal.sees_no("item 60");
    assert!(up.contains("more lines") && up.contains("what shall we do?"), "{up}");
    for _ in 0..9 {
        terminal.types("\u{1b}[<65;10;5M");
    }
    terminal.sees("item 60");
}

#[test]
fn u7_line_breaks_of_an_answer_are_kept_and_wide_letters_leave_no_ghosts() {
    let server = TestServer::with_handler(ServerRules::default(), |_| {
        Reply::text("first line\nsecond line\n\n👩‍👩‍👧 🇩🇪 日本語|\n")
    });
    let desk = Desk { files: TempHome::new().unwrap(), server: Some(server.unwrap()) };
    let Some(terminal) = Terminal::start(&desk, "") else { return };
    terminal.sees("what shall we do?");
    terminal.says("hello");
    let screen = terminal.sees("second line");
    assert!(!screen.contains("first line second"), "{screen}");
    assert_eq!(screen.matches('|').count(), 1, "{screen}");
    // What was scrolled, and what a panel covered, leaves nothing behind.
    for _ in 0..4 {
        terminal.says("/nonsense");
        terminal.says("/cost");
        terminal.sees("scroll · Esc back");
        terminal.press(&["Escape"]);
        terminal.sees_no("scroll · Esc back");
    }
    let screen = terminal.sees("unknown command /nonsense");
    assert_eq!(
        screen.matches('\u{1f1e9}').count(),
        screen.matches('\u{1f1ea}').count(),
        "{screen}"
    );
}

/// Presses Esc; another key at once would be read as one with Alt.
fn escape(terminal: &Terminal) {
    terminal.press(&["Escape"]);
    std::thread::sleep(Duration::from_millis(400));
}

#[test]
fn u8_what_is_not_known_is_answered_with_the_nearest() {
    let desk = Desk::offline();
    let Some(terminal) = Terminal::start_sized(&desk, "", (120, 40)) else { return };
    terminal.sees("what shall we do?");
    terminal.says("/memry");
    terminal.sees("did you mean /memory?");
    terminal.says("/model claude-sonet-5-5");
    terminal.sees("did you mean claude-sonnet-5-5?");
    terminal.press(&["?"]);
    terminal.sees("commands and keys");
    escape(&terminal);
    for (command, told) in [
        ("/hooks", "none; they are set"),
        ("/agents", "explore"),
        ("/add-dir nowhere", "is not a directory"),
    ] {
        terminal.says(command);
        terminal.sees(told);
        escape(&terminal);
    }
    std::fs::create_dir(desk.files.root().join("beside")).unwrap();
    terminal.says(&format!("/add-dir {}", desk.files.root().join("beside").display()));
    terminal.sees("tools may now work in");
}

#[test]
fn u8_u10_commands_are_done_or_named_and_never_sent_to_the_model() {
    let desk = calling("Bash", json!({"command": "true"}));
    let near = desk.run(&["confg"]);
    assert_eq!(near.code, Some(2), "{}", near.err);
    assert!(near.err.contains("did you mean `everfold config`?"), "{}", near.err);
    let unknown = desk.run(&["-p", "/compct"]);
    assert_eq!(unknown.code, Some(2), "{}", unknown.err);
    assert!(unknown.err.contains("did you mean /compact?"), "{}", unknown.err);
    let only = desk.run(&["-p", "/resume"]);
    assert_eq!(only.code, Some(2), "{}", only.err);
    assert!(desk.server().requests().is_empty(), "none of these is for a model");
    let context = desk.run(&["-p", "/context", "--output-format", "json"]).ok().json();
    assert_eq!(context["subtype"], "success", "{context}");
    assert!(context["result"].as_str().unwrap().contains("tokens"), "{context}");
    assert!(desk.server().requests().is_empty());
    // A conversation is summed up without one on the screen.
    for _ in 0..2 {
        desk.run(&["-p", "hello", "--continue"]);
    }
    desk.run(&["-p", "hello"]).ok();
    let before = desk.server().requests().len();
    let compacted = desk.run(&["-p", "/compact", "--continue"]).ok();
    assert!(!compacted.out.trim().is_empty(), "{}", compacted.err);
    assert!(desk.server().requests().len() > before, "the summary was asked for");
    let help = desk.run(&["--help"]).ok().out;
    for code in ["  5  ", "  6  "] {
        assert!(help.contains(code), "{help}");
    }
}

#[test]
fn u9_the_short_ids_of_one_hour_are_told_apart() {
    let desk = Desk::offline();
    for _ in 0..3 {
        desk.run(&["-p", "help"]).ok();
    }
    let list = desk.run(&["sessions", "list"]).ok().out;
    let ids: std::collections::BTreeSet<&str> =
        list.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(ids.len(), 3, "{list}");
}
