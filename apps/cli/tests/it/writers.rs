//! One writer a session, among processes (S13, U9, C1's exit code 5).

use crate::desk::{Desk, Ran, Running};
use crate::screen::Terminal;
use everfold_testkit::{Reply, Scenario};
use serde_json::Value;

const ID: &str = "0192f0c1-1111-7000-8000-000000000001";

/// A desk with one session, whose second turn waits for `free`.
fn desk() -> Desk {
    let slow = Reply::text("Done at last.").gate("free");
    let desk = Desk::with(Scenario::new().reply(Reply::text("One.")).reply(slow));
    desk.run(&["-p", "--session-id", ID, "one"]).ok();
    desk
}

/// A process that has the session open, in the middle of a turn.
fn holder(desk: &Desk) -> Running {
    let running = Running::start(&mut desk.command(&["-p", "--resume", ID, "two"]), None);
    desk.server().wait_for_requests_blocking(2).unwrap();
    running
}

fn quickly(desk: &Desk, args: &[&str]) -> Ran {
    let mut command = desk.command(args);
    command.env("EVERFOLD_LIMIT_SESSION_WAIT_S", "1");
    Running::start(&mut command, None).end()
}

fn files(desk: &Desk) -> Vec<String> {
    let entries = std::fs::read_dir(desk.project_dir()).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| name != "memory");
    names.sort();
    names
}

#[test]
fn s13_no_answered_turn_is_invisible_after_six_at_once() {
    let desk = Desk::with(Scenario::new());
    desk.run(&["-p", "--session-id", ID, "begin"]).ok();
    let prompts: Vec<String> = (1..=6).map(|number| format!("task number {number}")).collect();
    let running: Vec<Running> = prompts
        .iter()
        .map(|prompt| {
            let mut command = desk.command(&["-p", "--resume", ID, prompt]);
            Running::start(command.env("EVERFOLD_LIMIT_SESSION_WAIT_S", "25"), None)
        })
        .collect();
    let ended: Vec<Ran> = running.into_iter().map(Running::end).collect();
    assert!(ended.iter().all(|ran| ran.code == Some(0)), "{ended:#?}");
    desk.run(&["-p", "--resume", ID, "what was done?"]).ok();
    let requests = desk.server().requests();
    let last = String::from_utf8_lossy(&requests.last().unwrap().raw).into_owned();
    for prompt in &prompts {
        assert!(last.contains(&format!("{prompt}\"")), "{prompt} is not in the next request");
        assert!(last.contains(&format!("You said: {prompt}")), "nor what was answered");
    }
    assert_eq!(files(&desk), [format!("{ID}.jsonl")], "no lock is left");
}

#[test]
fn s13_a_session_that_stays_open_is_exit_5_with_its_holder() {
    let desk = desk();
    let running = holder(&desk);
    let ran = quickly(&desk, &["-p", "--resume", ID, "paint the shed"]).failed(5);
    assert!(ran.out.is_empty(), "{ran:#?}");
    let pid = format!("pid {}", running.id());
    assert!(ran.err.contains(&pid) && ran.err.contains("since 20"), "{}", ran.err);
    assert!(ran.err.contains("waiting up to 1 s") && ran.err.contains("--fork-session"), "{ran:?}");
    // A copy is made at once, and leaves the session alone.
    let forked = quickly(&desk, &["-p", "--resume", ID, "--fork-session", "mow the lawn"]).ok();
    assert!(!forked.err.contains("waiting"), "{}", forked.err);
    desk.server().release("free");
    assert_eq!(running.end().ok().out, "Done at last.\n");
    let log = std::fs::read_to_string(desk.project_dir().join(format!("{ID}.jsonl"))).unwrap();
    assert!(
        log.contains("Done at last.")
            && !log.contains("paint the shed")
            && !log.contains("mow the lawn")
    );
}

#[test]
fn s13_a_killed_process_holds_nothing() {
    let desk = desk();
    holder(&desk).kill();
    assert!(files(&desk).contains(&format!("{ID}.lock")), "it could not clean up");
    let ran = quickly(&desk, &["-p", "--resume", ID, "three"]).ok();
    assert!(!ran.err.contains("open in"), "{}", ran.err);
    assert_eq!(files(&desk), [format!("{ID}.jsonl")]);
}

#[test]
fn s13_an_id_is_given_to_one_of_several() {
    let desk = Desk::with(Scenario::new());
    let running: Vec<Running> = (0..4)
        .map(|number| {
            let prompt = format!("begin {number}");
            Running::start(&mut desk.command(&["-p", "--session-id", ID, &prompt]), None)
        })
        .collect();
    let codes: Vec<Option<i32>> = running.into_iter().map(|running| running.end().code).collect();
    assert_eq!(codes.iter().filter(|code| **code == Some(0)).count(), 1, "{codes:?}");
    assert_eq!(codes.iter().filter(|code| **code == Some(2)).count(), 3, "{codes:?}");
    assert_eq!(desk.server().requests().len(), 1);
}

#[test]
fn s13_lines_from_a_pipe_wait_as_a_headless_run_does() {
    let desk = desk();
    let running = holder(&desk);
    let mut command = desk.command(&["--plain", "--resume", ID]);
    command.env("EVERFOLD_LIMIT_SESSION_WAIT_S", "1");
    let ran = Running::start(&mut command, Some(b"three\n".to_vec())).end().failed(5);
    assert!(ran.err.contains("is open in another process"), "{}", ran.err);
    assert_eq!(desk.server().requests().len(), 2);
    running.kill();
}

#[test]
fn u9_the_terminal_asks_before_the_first_word_and_forks() {
    let desk = desk();
    let running = holder(&desk);
    for args in [format!("--resume {ID}"), format!("--plain --resume {ID}")] {
        let Some(terminal) = Terminal::start(&desk, &args) else { return };
        // The end of an id tells it from others of the same minute.
        let screen = terminal.sees("wait for it, or fork it into a new session?");
        assert!(screen.contains("session 000000000001 is open in another process"), "{screen}");
        assert!(screen.contains(&format!("pid {}", running.id())), "{screen}");
        terminal.says("perhaps");
        terminal.sees_twice("wait for it, or fork it");
        terminal.says("f");
        terminal.sees(if args.starts_with("--plain") { "/help for commands" } else { "› two" });
        terminal.says("a word in the copy");
        terminal.sees_twice("a word in the copy");
    }
    let log = std::fs::read_to_string(desk.project_dir().join(format!("{ID}.jsonl"))).unwrap();
    assert!(!log.contains("a word in the copy"));
    running.kill();
}

#[test]
fn u9_the_terminal_waits_until_the_session_is_free() {
    let desk = desk();
    let running = holder(&desk);
    let Some(terminal) = Terminal::start(&desk, &format!("--resume {ID}")) else { return };
    terminal.sees("wait for it, or fork it into a new session?");
    terminal.says("w");
    terminal.sees("waiting; Ctrl-C leaves");
    desk.server().release("free");
    running.end().ok();
    terminal.sees("Done at last.");
    terminal.says("and on");
    terminal.sees("You said: and on");
    let listed = desk.run(&["sessions", "list", "--json"]).ok().json();
    assert_eq!(listed[0]["session_id"], ID);
    assert_eq!(listed[0]["open_in"]["pid"].as_u64().map(|pid| pid > 0), Some(true), "{listed}");
    assert_eq!(listed.as_array().map(Vec::len), Some(1), "nothing was copied");
}

#[test]
fn u9_resume_on_the_screen_asks_as_well() {
    let desk = desk();
    let running = holder(&desk);
    let Some(terminal) = Terminal::start(&desk, "") else { return };
    terminal.sees("directory");
    terminal.says("/resume 000000000001");
    terminal.sees("search: 000000000001");
    terminal.press(&["Enter"]);
    let screen = terminal.sees("is open in another process");
    assert!(screen.contains("f (fork it into a"), "{screen}");
    terminal.answers("f");
    terminal.sees("What now?: f");
    terminal.press(&["Enter"]);
    terminal.sees("› two");
    terminal.says("in a copy");
    terminal.sees_twice("in a copy");
    running.kill();
    let listed: Value = desk.run(&["sessions", "list", "--json"]).ok().json();
    assert_eq!(listed.as_array().map(Vec::len), Some(2));
}
