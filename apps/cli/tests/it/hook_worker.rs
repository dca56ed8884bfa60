//! What hooks leave to a worker: a review by a model, in the background (X1).

use crate::desk::{Desk, Running};
use everfold_testkit::{Reply, ServerRules, TempHome, TestServer};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

const SESSION: &str = "0192f0c1-1111-7000-8000-000000000002";
const FIRST: &str = "Use a real database in the integration tests, not mocks.";
const SECOND: &str = "Deploys of the shop wait for Thursday, when support is there.";

/// A model that keeps what the person said about databases or deploys. Its
/// first answers wait, where that is asked for.
fn desk(waiting: usize) -> Desk {
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let server = TestServer::with_handler(ServerRules::default(), move |request| {
        let text = request.last_user_text();
        let Some((_, said)) = text.split_once("What was said:") else {
            return Reply::text("I will.");
        };
        let (name, words) = if said.contains(SECOND) {
            ("Deploys", "deploys of the shop wait for Thursday, when support is there")
        } else {
            ("Real db", "integration tests use a real database, not mocks")
        };
        let memory = json!({
            "name": name, "description": words, "type": "feedback", "global": false,
            "evidence": "", "body": format!("The rule: {words}."),
        });
        let reply = Reply::text(json!({"memories": [memory]}).to_string());
        let at = asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        if at < waiting { reply.gate("held") } else { reply }
    });
    Desk { files: TempHome::new().unwrap(), server: Some(server.unwrap()) }
}

/// Adds what was said to the host's transcript.
fn says(desk: &Desk, at: usize, text: &str) {
    let line = |id: usize, kind: &str, message: Value| {
        json!({
            "type": kind, "uuid": format!("00000000-0000-4000-8000-{id:012}"),
            "parentUuid": null, "sessionId": SESSION, "timestamp": "2026-11-01T10:00:00.000Z",
            "cwd": "/p", "version": "2.1.325", "userType": "external", "isSidechain": false,
            "message": message,
        })
    };
    let user = line(2 * at, "user", json!({"role": "user", "content": text}));
    let answer = json!({"role": "assistant", "id": format!("msg_{at}"), "type": "message",
        "model": "claude-opus-5", "stop_reason": "end_turn", "stop_sequence": null,
        "usage": {"input_tokens": 1, "output_tokens": 1},
        "content": [{"type": "text", "text": "Understood."}]});
    let answer = line(2 * at + 1, "assistant", answer);
    let path = desk.files.root().join("host.jsonl");
    let mut file = std::fs::File::options().create(true).append(true).open(path).unwrap();
    writeln!(file, "{user}\n{answer}").unwrap();
}

/// Adds one line to the host's transcript.
fn writes(desk: &Desk, id: usize, who: &str, text: &str) {
    let message = match who {
        "user" => json!({"role": "user", "content": text}),
        _ => json!({"role": "assistant", "id": format!("msg_{id}"), "type": "message",
            "model": "claude-opus-5", "stop_reason": "end_turn", "stop_sequence": null,
            "usage": {"input_tokens": 1, "output_tokens": 1},
            "content": [{"type": "text", "text": text}]}),
    };
    let line = json!({
        "type": who, "uuid": format!("00000000-0000-4000-8000-{id:012}"), "parentUuid": null,
        "sessionId": SESSION, "timestamp": "2026-11-01T10:00:00.000Z", "cwd": "/p",
        "version": "2.1.325", "userType": "external", "isSidechain": false, "message": message,
    });
    let path = desk.files.root().join("host.jsonl");
    let mut file = std::fs::File::options().create(true).append(true).open(path).unwrap();
    writeln!(file, "{line}").unwrap();
}

fn start(desk: &Desk, event: &str, more: &[(&str, &str)]) -> Running {
    let input = json!({
        "session_id": SESSION, "transcript_path": desk.files.root().join("host.jsonl"),
        "cwd": desk.files.project(), "hook_event_name": event, "reason": "other",
    });
    let mut command = desk.command(&["hook", event]);
    command
        .env("EVERFOLD_FLAG_EXTRACT", "1")
        .env("EVERFOLD_LOG", "info")
        .envs(more.iter().copied());
    Running::start(&mut command, Some(input.to_string().into_bytes()))
}

fn hook(desk: &Desk, event: &str) {
    let ran = start(desk, event, &[]).end();
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "", ""), "{ran:?}");
}

fn names(desk: &Desk) -> Vec<String> {
    let list = desk.run(&["memory", "list", "--json"]).ok().json();
    let name = |one: &Value| one["path"].as_str().unwrap().to_owned();
    let mut names: Vec<String> = list.as_array().unwrap().iter().map(name).collect();
    names.sort();
    names
}

/// Workers of this desk that run: those that have its home.
fn workers(desk: &Desk) -> Vec<u32> {
    let home = format!("HOME={}", desk.files.home().display()).into_bytes();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(id) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        let read = |name: &str| std::fs::read(entry.path().join(name)).unwrap_or_default();
        // Who starts a program goes on before the system has its arguments.
        let is_ours = || {
            let program = entry.path().join("exe").read_link();
            program.is_ok_and(|program| program == Path::new(env!("CARGO_BIN_EXE_everfold")))
        };
        wait_for("the arguments", || !read("cmdline").is_empty() || !is_ours());
        let is_worker = read("cmdline").split(|byte| *byte == 0).any(|word| word == b"--worker");
        if is_worker && read("environ").split(|byte| *byte == 0).any(|line| line == home) {
            found.push(id);
        }
    }
    found
}

#[track_caller]
fn wait_for(what: &str, done: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !done() {
        assert!(Instant::now() < deadline, "{what} did not come about");
        std::thread::yield_now();
    }
}

fn no_worker(desk: &Desk) {
    wait_for("the end of the worker", || workers(desk).is_empty());
}

fn log(desk: &Desk) -> String {
    let path = desk.files.home().join(".everfold/logs/everfold.log");
    std::fs::read_to_string(path).unwrap_or_default()
}

#[test]
fn x1_l5_9_with_a_key_a_worker_has_a_model_review_what_is_new() {
    let desk = desk(0);
    says(&desk, 0, FIRST);
    hook(&desk, "Stop");
    no_worker(&desk);
    assert_eq!(names(&desk), ["real-db.md"], "{}", log(&desk));
    let entry = desk.run(&["memory", "log", "--json"]).ok().json()[0].clone();
    assert_eq!(entry["author"]["source"], "extract", "{entry}");
    assert_eq!(entry["session"], SESSION, "{entry}");
    assert_eq!(desk.server().requests().len(), 1);

    // Nothing new, nothing asked.
    for event in ["Stop", "SubagentStop", "SessionEnd"] {
        hook(&desk, event);
        no_worker(&desk);
    }
    assert_eq!(desk.server().requests().len(), 1);

    // Only what is new is looked at (L5.10).
    says(&desk, 1, SECOND);
    hook(&desk, "SessionEnd");
    no_worker(&desk);
    assert_eq!(names(&desk), ["deploys.md", "real-db.md"]);
    let requests = desk.server().requests();
    let last = Value::from(requests.last().unwrap().messages().to_vec()).to_string();
    assert!(requests.len() == 2 && last.contains(SECOND) && !last.contains(FIRST), "{last}");
    let file = std::fs::read_to_string(desk.files.root().join("host.jsonl")).unwrap();
    assert_eq!(file.lines().count(), 4, "the host's file is the host's");
}

#[test]
fn x11_a_review_begins_with_the_person_and_has_the_answer_that_comes_late() {
    for reviewer in ["auto", "fork"] {
        let desk = desk(0);
        let settings = json!({"everfold": {"memory": {"reviewer": reviewer}}}).to_string();
        std::fs::create_dir_all(desk.files.home().join(".everfold")).unwrap();
        std::fs::write(desk.files.home().join(".everfold/settings.json"), settings).unwrap();
        // The end of something that was reviewed before, as after an update.
        writes(&desk, 1, "assistant", "Leftover.");
        writes(&desk, 2, "user", FIRST);
        hook(&desk, "Stop");
        // The host writes its answer after the hook was called.
        std::thread::sleep(Duration::from_millis(300));
        writes(&desk, 3, "assistant", "A real one it is.");
        no_worker(&desk);
        let requests = desk.server().requests();
        let first = requests.first().unwrap();
        let messages = Value::from(first.messages().to_vec());
        assert_eq!(messages[0]["role"], "user", "{reviewer}: {messages}");
        let text = messages.to_string();
        assert!(text.contains("A real one it is.") && text.contains(FIRST), "{reviewer}: {text}");
        assert!(!text.contains("Leftover."), "{reviewer}: {text}");
    }
}

#[test]
fn x11_a_message_without_an_answer_is_reviewed_with_it_or_at_the_end() {
    let desk = desk(0);
    says(&desk, 0, FIRST);
    writes(&desk, 10, "user", SECOND);
    let soon = [("EVERFOLD_LIMIT_BESIDE_ANSWER_WAIT_MS", "100")];
    start(&desk, "Stop", &soon).end().ok();
    no_worker(&desk);
    let asked =
        |at: usize| Value::from(desk.server().requests()[at].messages().to_vec()).to_string();
    assert!(asked(0).contains(FIRST) && !asked(0).contains(SECOND), "{}", asked(0));
    start(&desk, "SessionEnd", &soon).end().ok();
    no_worker(&desk);
    assert!(asked(1).contains(SECOND) && !asked(1).contains(FIRST), "{}", asked(1));
    assert_eq!(names(&desk), ["deploys.md", "real-db.md"]);
}

#[test]
fn x11_what_is_new_is_told_by_its_place_and_not_by_ids() {
    let desk = desk(0);
    for text in [FIRST, SECOND] {
        // Transcripts of Codex name no messages; their reader counts.
        writes(&desk, 1, "user", text);
        writes(&desk, 2, "assistant", "Understood.");
        hook(&desk, "Stop");
        no_worker(&desk);
    }
    assert_eq!(names(&desk), ["deploys.md", "real-db.md"], "{}", log(&desk));
}

#[test]
fn x11_a_refused_review_is_not_sent_again_as_it_is() {
    let server = TestServer::with_handler(ServerRules::default(), |_| {
        Reply::error(400, "messages: this cannot be read")
    });
    let desk = Desk { files: TempHome::new().unwrap(), server: Some(server.unwrap()) };
    let said = |at: usize| desk.server().requests()[at].last_user_text().clone();
    let third = "Release notes are written in German, as the customers are.";
    for (at, (text, requests)) in [(FIRST, 1), (SECOND, 2), (third, 3)].into_iter().enumerate() {
        says(&desk, at, text);
        for event in ["Stop", "SessionEnd", "SessionEnd"] {
            hook(&desk, event);
            no_worker(&desk);
        }
        assert_eq!(desk.server().requests().len(), requests, "{}", log(&desk));
    }
    assert!(said(1).contains(FIRST) && said(1).contains(SECOND), "with what came after it");
    assert!(!said(2).contains(FIRST) && said(2).contains(third), "then without it: {}", said(2));
}

#[test]
fn x1_l5_27_what_it_cost_is_shown_apart_and_stays_within_the_budget() {
    let desk = desk(0);
    says(&desk, 0, FIRST);
    hook(&desk, "Stop");
    no_worker(&desk);
    for args in [&["cost", "--json"][..], &["cost", "--json", "--session", SESSION]] {
        let cost = desk.run(args).ok().json();
        assert_eq!(cost["lines"], json!([]), "{cost}");
        assert_eq!(cost["beside"]["lines"][0]["source"], "extract", "{cost}");
        assert_eq!(cost["beside"]["total"]["requests"], 1, "{cost}");
    }
    let told = desk.run(&["cost", "--day", "today"]).ok().out;
    assert!(told.contains("beside other agents, by hooks\n"), "{told}");
    let csv = desk.run(&["cost", "--csv"]).ok().out;
    assert!(csv.contains("beside:extract,"), "{csv}");

    says(&desk, 1, &format!("Remember this. {SECOND}"));
    for (name, value) in [("session_tokens", 1), ("daily_tokens", 0)] {
        let settings = json!({"everfold": {"budget": {name: value}}}).to_string();
        std::fs::write(desk.files.home().join(".everfold/settings.json"), settings).unwrap();
        hook(&desk, "Stop");
        hook(&desk, "SessionEnd");
        no_worker(&desk);
        assert_eq!(desk.server().requests().len(), 1, "{name}");
    }
    assert!(log(&desk).contains("no review by a model"), "{}", log(&desk));
    assert!(log(&desk).contains("background budget is spent"), "{}", log(&desk));
    // What was not reviewed is reviewed when there is a budget again.
    std::fs::write(desk.files.home().join(".everfold/settings.json"), "{}").unwrap();
    hook(&desk, "SessionEnd");
    wait_for("the second review", || desk.server().requests().len() > 1);
    no_worker(&desk);
    assert_eq!(desk.server().requests().len(), 2);
}

#[test]
fn x1_a_worker_that_is_killed_loses_nothing() {
    let desk = desk(1);
    says(&desk, 0, FIRST);
    hook(&desk, "Stop");
    desk.server().wait_for_requests_blocking(1).unwrap();
    let [worker] = workers(&desk)[..] else { panic!("there is one worker") };
    let group = std::fs::read_to_string(format!("/proc/{worker}/stat")).unwrap();
    let group = group.rsplit(')').next().unwrap().split_whitespace().nth(2).unwrap().to_owned();
    assert_eq!(group, worker.to_string(), "it has a group of its own");
    let killed = std::process::Command::new("kill").args(["-9", &worker.to_string()]).status();
    assert!(killed.unwrap().success());
    no_worker(&desk);
    assert_eq!(names(&desk), [""; 0]);
    desk.server().release("held");
    hook(&desk, "SessionEnd");
    no_worker(&desk);
    assert_eq!(names(&desk), ["real-db.md"], "{}", log(&desk));
}

#[test]
fn x1_l5_27_what_a_worker_spent_before_it_was_killed_is_booked() {
    let server = TestServer::with_handler(ServerRules::default(), move |request| {
        let text = Value::from(request.messages().to_vec()).to_string();
        let read = Reply::tool("Read", json!({"file_path": "nowhere.md"}));
        if text.contains("nowhere.md") { read.gate("held") } else { read }
    });
    let desk = Desk { files: TempHome::new().unwrap(), server: Some(server.unwrap()) };
    let settings = json!({"everfold": {"memory": {"reviewer": "fork"}}}).to_string();
    std::fs::create_dir_all(desk.files.home().join(".everfold")).unwrap();
    std::fs::write(desk.files.home().join(".everfold/settings.json"), settings).unwrap();
    says(&desk, 0, FIRST);
    hook(&desk, "Stop");
    desk.server().wait_for_requests_blocking(2).unwrap();
    // Before the first booking there is nothing to be told of.
    let booked = || {
        let told = desk.run(&["cost", "--json"]).out;
        let told: Value = serde_json::from_str(&told).unwrap_or_default();
        told["beside"]["total"]["requests"].clone()
    };
    wait_for("the first booking", || booked() == 1);
    let [worker] = workers(&desk)[..] else { panic!("there is one worker") };
    let killed = std::process::Command::new("kill").args(["-9", &worker.to_string()]).status();
    assert!(killed.unwrap().success());
    no_worker(&desk);
    assert_eq!(booked(), 1, "{}", log(&desk));
    desk.server().release("held");
}

#[test]
fn x1_l5_12_twenty_at_once_have_one_worker_and_what_came_meanwhile_is_reviewed() {
    let desk = desk(1);
    says(&desk, 0, FIRST);
    hook(&desk, "Stop");
    desk.server().wait_for_requests_blocking(1).unwrap();
    says(&desk, 1, SECOND);
    let running: Vec<Running> = (0..20)
        .map(|at| start(&desk, ["Stop", "SubagentStop", "SessionEnd"][at % 3], &[]))
        .collect();
    for ran in running {
        assert_eq!(ran.end().ok().out, "");
    }
    assert_eq!(workers(&desk).len(), 1);
    desk.server().release("held");
    no_worker(&desk);
    assert_eq!(names(&desk), ["deploys.md", "real-db.md"], "{}", log(&desk));
    assert_eq!(desk.server().requests().len(), 2, "one review each");
}

#[test]
fn x1_a_worker_ends_by_its_deadline() {
    let desk = desk(1);
    says(&desk, 0, FIRST);
    let ran = start(&desk, "Stop", &[("EVERFOLD_LIMIT_BESIDE_WORKER_S", "1")]).end();
    assert_eq!(ran.ok().out, "");
    no_worker(&desk);
    assert_eq!(names(&desk), [""; 0]);
    desk.server().release("held");
}

#[test]
fn x1_l5_19_what_the_host_writes_late_is_kept_when_the_session_ends() {
    let desk = Desk::offline();
    says(&desk, 0, "now fix the login");
    hook(&desk, "Stop");
    says(&desk, 1, "Remember that the kitchen has green tea.");
    hook(&desk, "SessionEnd");
    no_worker(&desk);
    assert_eq!(names(&desk), ["the-kitchen-has-green-tea.md"]);
}

#[test]
fn x1_sessions_of_gemini_cli_are_read_and_what_hooks_said_is_left_out() {
    let desk = Desk::offline();
    for (name, body) in [
        ("Deploy day", "Releases go out on Thursdays."),
        ("Tea", "The kitchen has a green one."),
        ("Vacations", "They are entered in the calendar of the office."),
    ] {
        let about = format!("{name} of the whole shop");
        let args = ["memory", "add", "--name", name, "--description", &about, "--type", "project"];
        desk.run_with(&args, body).ok();
    }
    let start = "<hook_context>Tea of the whole shop, Vacations of the whole shop</hook_context>";
    let said = format!("{start}\n\nRemember that Deploy day moves to Monday.");
    let lines = [
        json!({"sessionId": SESSION, "projectHash": "b1ee", "kind": "main"}),
        json!({"id": "1", "timestamp": "2026-11-15T14:35:57.169Z", "type": "user",
            "content": [{"text": said}]}),
        json!({"id": "2", "timestamp": "2026-11-15T14:35:58.169Z", "type": "gemini",
            "content": "All right.", "model": "gemini-2.5-pro"}),
    ];
    let text = lines.map(|line| format!("{line}\n")).concat();
    std::fs::write(desk.files.root().join("host.jsonl"), text).unwrap();
    let input = json!({"session_id": SESSION, "cwd": desk.files.project(), "prompt": said});
    let first = desk.run_with(&["hook", "BeforeAgent"], input.to_string()).ok().out;
    let asked = format!("{start}\n\nwhen is deploy day?");
    let input = json!({"session_id": SESSION, "cwd": desk.files.project(), "prompt": asked});
    let second = desk.run_with(&["hook", "BeforeAgent"], input.to_string()).ok().out;
    let shown = [first, second].concat();
    assert_eq!(shown.matches("## deploy-day.md").count(), 1, "{shown}");
    assert!(!shown.contains("tea.md"), "what a hook said is no prompt: {shown}");
    hook(&desk, "AfterAgent");
    assert_eq!(names(&desk).len(), 4);
    assert!(
        names(&desk).contains(&"deploy-day-moves-to-monday.md".to_owned()),
        "{:?}",
        names(&desk)
    );
}

#[test]
fn x1_without_a_key_or_when_switched_off_nothing_starts() {
    let offline = Desk::offline();
    says(&offline, 0, FIRST);
    hook(&offline, "Stop");
    assert_eq!(workers(&offline).len(), 0);
    hook(&offline, "SessionEnd");
    no_worker(&offline);
    assert!(!offline.files.home().join(".everfold/beside/books").exists());

    let desk = desk(0);
    says(&desk, 0, FIRST);
    start(&desk, "Stop", &[("EVERFOLD_FLAG_EXTRACT", "0")]).end().ok();
    let settings = json!({"everfold": {"memory": {"extract_headless": false}}}).to_string();
    let home = desk.files.home().join(".everfold");
    std::fs::create_dir_all(&home).unwrap();
    std::fs::write(home.join("settings.json"), settings).unwrap();
    hook(&desk, "SessionEnd");
    no_worker(&desk);
    assert_eq!(desk.server().requests().len(), 0);
}
