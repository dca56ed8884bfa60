//! Agents as a person and a program see them.

use crate::desk::{Desk, Running};
use everfold_testkit::{Reply, Scenario, When};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

fn order(name: &str, background: bool) -> Value {
    json!({"description": "a task", "prompt": "do it", "name": name, "run_in_background": background})
}

#[test]
fn l7_4_a_headless_run_waits_for_its_background_agents_and_streams_them() {
    let desk = Desk::with(
        Scenario::new()
            .on(When::user("go"), Reply::tool("Agent", order("worker", true)))
            .on(When::source("agent:general"), Reply::text("It is 42."))
            .on(When::user("has ended"), Reply::text("The answer is 42."))
            .otherwise(Reply::text("Started.")),
    );
    let ran = desk.run(&["-p", "go", "--output-format", "stream-json"]).ok();
    let lines = ran.lines();
    let statuses: Vec<&str> = lines
        .iter()
        .filter(|line| line["subtype"] == "everfold_task")
        .map(|line| line["status"].as_str().unwrap())
        .collect();
    assert_eq!(statuses.first(), Some(&"running"), "{}", ran.out);
    assert_eq!(statuses.last(), Some(&"completed"), "{}", ran.out);
    let result = lines.last().unwrap();
    assert_eq!(result["type"], "result");
    assert_eq!(result["result"], "The answer is 42.", "{}", ran.out);
}

#[test]
fn l7_4_tasks_are_listed_written_to_and_stopped() {
    let desk = Desk::with(
        Scenario::new()
            .on(When::user("go"), Reply::tool("Agent", order("worker", true)))
            .on(When::source("agent:general"), Reply::text("never").gate("never"))
            .otherwise(Reply::text("ok")),
    );
    let lines = "go\n/tasks\n/tasks say worker be quick\n/tasks say nobody x\n/tasks stop worker\n/plan\n/plan off\n/quit\n";
    let ran = desk.run_with(&[], lines).ok();
    for part in [
        "running",
        "general: a task",
        "worker will read it at its next step",
        "no task nobody is running",
        "stopping worker",
        "plan mode is on; the plan goes to",
        "plan mode is off",
    ] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
}

#[cfg(unix)]
#[test]
fn l7_4_no_process_is_left_behind_when_a_session_is_ended() {
    let marker = format!("9{}", std::process::id());
    let command = format!("touch started && sleep {marker}");
    let desk = Desk::with(
        Scenario::new()
            .on(When::user("go"), Reply::tool("Agent", order("worker", false)))
            .on(When::source("agent:general"), Reply::tool("Bash", json!({"command": command})))
            .otherwise(Reply::text("ok")),
    );
    let mut run = desk.command(&["-p", "go", "--permission-mode", "bypassPermissions"]);
    let running = Running::start(&mut run, None);
    let until = Instant::now() + Duration::from_secs(20);
    while !desk.files.project().join("started").exists() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(5));
    }
    running.signal("-TERM");
    let ran = running.end();
    assert_ne!(ran.code, Some(0), "{ran:?}");
    let left =
        std::process::Command::new("pgrep").args(["-f", &format!("sleep {marker}")]).output();
    let left = String::from_utf8_lossy(&left.unwrap().stdout).into_owned();
    assert!(left.is_empty(), "left behind: {left}");
    let home = desk.files.home().join(".everfold");
    let sockets = std::fs::read_dir(home.join("run")).map_or(0, Iterator::count);
    assert_eq!(sockets, 0, "no socket either");
}

#[test]
fn l7_5_the_flags_of_a_team_belong_together() {
    let desk = Desk::offline();
    desk.run(&["-p", "x", "--team", "crew"]).failed(2);
    let ran = desk.run(&["-p", "x", "--team", "../crew", "--agent-name", "ada"]).failed(2);
    assert!(ran.err.contains("cannot be a name"), "{}", ran.err);
    desk.run(&["-p", "hello", "--team", "crew", "--agent-name", "ada"]).ok();
    assert!(desk.files.home().join(".everfold/teams/crew/members/ada.json").exists());
}

#[cfg(unix)]
#[test]
fn l7_5_a_letter_by_socket_outlives_a_session_that_is_killed() {
    use std::io::{BufRead as _, Write as _};
    let id = "0192f0c1-1111-7000-8000-000000000007";
    let desk = Desk::with(
        Scenario::new()
            .on(When::user("go"), Reply::text("never").gate("never"))
            .otherwise(Reply::text("ok")),
    );
    let mut run = desk.command(&["-p", "go", "--session-id", id]);
    let running = Running::start(&mut run, None);
    let until = Instant::now() + Duration::from_secs(20);
    while desk.server().requests().is_empty() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(5));
    }
    let socket = desk.files.home().join(format!(".everfold/run/{id}.sock"));
    let mut stream = std::os::unix::net::UnixStream::connect(socket).unwrap();
    let letter = json!({"id": "l1", "from": "ada", "seq": 0, "sent": "2026-11-15T11:00:00Z",
                        "body": {"type": "message", "text": "The build is red."}});
    writeln!(stream, "{letter}").unwrap();
    let mut answer = String::new();
    std::io::BufReader::new(stream).read_line(&mut answer).unwrap();
    assert_eq!(answer, "ok\n");
    running.kill();
    for _ in 0..2 {
        desk.run(&["-p", "on", "--resume", id]).ok();
        let body = desk.server().requests().pop().unwrap().body["messages"].to_string();
        assert_eq!(body.matches("The build is red.").count(), 1, "once: {body}");
    }
}
