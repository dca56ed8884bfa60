//! Reviews without a key of our own (X7): by the host's own program, or by its
//! model, which is asked to save.
#![cfg(unix)]

use crate::desk::{Desk, Ran, Running};
use crate::opencode_db::{self, Speaker};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

const SESSION: &str = "0192f0c1-1111-7000-8000-000000000009";
const SAID: &str = "Deploys of the shop wait for Thursday, when support is there.";

/// What stands in the place of a host's program: it notes how it was called, calls
/// our hook as the host would, and answers.
const PROGRAM: &str = r#"#!/bin/sh
dir=$(dirname "$0")
printf '%s\n' "$@" > "$dir/arguments"
env > "$dir/environment"
pwd > "$dir/place"
cat > "$dir/input"
echo run >> "$dir/runs"
printf '%s' '{"session_id":"inner","hook_event_name":"UserPromptSubmit","prompt":"remember that x"}' \
  | EVERFOLD hook UserPromptSubmit > "$dir/hook"
cat "$dir/answer"
"#;

/// A place with a program of the host's, whose folder is first in the path.
struct Place {
    desk: Desk,
    programs: PathBuf,
}

impl Place {
    fn new(name: &str, answer: &str) -> Self {
        let desk = Desk::offline();
        let programs = desk.files.root().join("programs");
        std::fs::create_dir_all(&programs).unwrap();
        let script = PROGRAM.replace("EVERFOLD", env!("CARGO_BIN_EXE_everfold"));
        let path = programs.join(name);
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        std::fs::write(programs.join("answer"), answer).unwrap();
        Self { desk, programs }
    }

    fn transcript(&self, folder: &str) -> PathBuf {
        self.desk.files.home().join(folder).join(format!("{SESSION}.jsonl"))
    }

    /// What was said to the host, and its answer.
    fn says(&self, folder: &str, id: usize, text: &str) {
        let line = |id: usize, who: &str, message: Value| {
            json!({
                "type": who, "uuid": format!("00000000-0000-4000-8000-{id:012}"),
                "parentUuid": null, "sessionId": SESSION, "cwd": "/p", "version": "2.1.325",
                "timestamp": "2026-11-01T10:00:00.000Z", "userType": "external",
                "isSidechain": false, "message": message,
            })
        };
        let answer = json!({"role": "assistant", "id": format!("msg_{id}"), "type": "message",
            "model": "claude-opus-5", "stop_reason": "end_turn", "stop_sequence": null,
            "usage": {"input_tokens": 200_000, "output_tokens": 2_000},
            "content": [{"type": "text", "text": "Understood."}]});
        let text = format!(
            "{}\n{}\n",
            line(2 * id, "user", json!({"role": "user", "content": text})),
            line(2 * id + 1, "assistant", answer)
        );
        let path = self.transcript(folder);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let before = std::fs::read_to_string(&path).unwrap_or_default();
        std::fs::write(path, before + &text).unwrap();
    }

    fn stops(&self, folder: &str, more: &Value) -> Ran {
        let mut input = json!({
            "session_id": SESSION, "transcript_path": self.transcript(folder),
            "cwd": self.desk.files.project(), "hook_event_name": "Stop",
        });
        for (name, value) in more.as_object().unwrap() {
            input[name] = value.clone();
        }
        let mut command = self.desk.command(&["hook", "Stop"]);
        let path = format!("{}:/usr/bin:/bin", self.programs.display());
        command.env("EVERFOLD_FLAG_EXTRACT", "1").env("EVERFOLD_LOG", "info").env("PATH", path);
        command.env("CLAUDECODE", "1");
        Running::start(&mut command, Some(input.to_string().into_bytes())).end().ok()
    }

    fn noted(&self, name: &str) -> String {
        std::fs::read_to_string(self.programs.join(name)).unwrap_or_default()
    }

    #[track_caller]
    fn waits_for(&self, what: &str, done: impl Fn() -> bool) {
        let deadline = Instant::now() + Duration::from_secs(30);
        while !done() {
            let log = self.desk.files.home().join(".everfold/logs/everfold.log");
            let log = std::fs::read_to_string(log).unwrap_or_default();
            assert!(Instant::now() < deadline, "{what} did not come about: {log}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn memories(&self) -> Vec<String> {
        let list = self.desk.run(&["memory", "list", "--json"]).ok().json();
        let name = |one: &Value| one["path"].as_str().unwrap().to_owned();
        list.as_array().unwrap().iter().map(name).collect()
    }
}

fn list() -> String {
    json!({"memories": [{
        "name": "Deploys", "type": "project", "global": false, "evidence": SAID,
        "description": "deploys of the shop wait for Thursday, when support is there",
        "body": "Deploys of the shop wait for Thursday, when support is there.",
    }]})
    .to_string()
}

#[test]
fn x7_claude_codes_own_program_reviews_what_was_said() {
    let answer = json!({
        "type": "result", "subtype": "success", "is_error": false, "result": list(),
        "usage": {"input_tokens": 900, "output_tokens": 80},
        "modelUsage": {"claude-haiku-5-5": {}},
    });
    let place = Place::new("claude", &answer.to_string());
    place.says(".claude/projects/-p", 0, SAID);
    assert_eq!(place.stops(".claude/projects/-p", &json!({})).out, "");
    place.waits_for("a memory", || place.memories() == ["deploys.md"]);
    let input = place.noted("input");
    assert!(input.contains(SAID) && input.contains("assistant: Understood."), "{input}");
    let arguments = place.noted("arguments");
    for wanted in ["-p\n", "disableAllHooks", "--system-prompt=You look through", "--tools="] {
        assert!(arguments.contains(wanted), "{wanted}: {arguments}");
    }
    let environment = place.noted("environment");
    assert!(environment.contains("EVERFOLD_INSIDE=1") && !environment.contains("CLAUDECODE="));
    assert_eq!(place.noted("hook"), "", "a hook that sees the mark answers nothing");
    let notes = place.desk.files.home().join(".everfold/beside/inner.jsonl");
    assert!(!notes.exists(), "and notes nothing");
    let project = place.desk.files.project();
    assert!(!place.noted("place").starts_with(&*project.to_string_lossy()), "not in the project");
    let cost = place.desk.run(&["cost", "--json"]).ok().json();
    assert_eq!(cost["beside"]["total"]["requests"], 1, "what it used is booked: {cost}");
    assert_eq!(place.noted("runs"), "run\n");
}

#[test]
fn x7_codex_does_the_same() {
    let events = [
        json!({"type": "thread.started", "thread_id": "t"}),
        json!({"type": "item.completed", "item": {"type": "agent_message", "text": list()}}),
        json!({"type": "turn.completed", "usage": {"input_tokens": 900, "output_tokens": 80}}),
    ];
    let place = Place::new("codex", &events.map(|event| format!("{event}\n")).concat());
    place.says(".codex/sessions", 0, SAID);
    place.stops(".codex/sessions", &json!({}));
    place.waits_for("a memory", || place.memories() == ["deploys.md"]);
    assert!(place.noted("input").starts_with("You look through"), "{}", place.noted("input"));
    assert!(place.noted("arguments").contains("--disable=hooks"));
}

/// opencode keeps no file for a session: its database is read, and what it has not
/// answered yet is left for the next time.
#[test]
fn x7_opencode_does_the_same_with_its_database() {
    let events = [
        json!({"type": "step_start", "part": {"type": "step-start"}}),
        json!({"type": "text", "part": {"type": "text", "text": list()}}),
        json!({"type": "step_finish", "part": {"tokens": {"input": 900, "output": 80}}}),
    ];
    let place = Place::new("opencode", &events.map(|event| format!("{event}\n")).concat());
    let (home, session) = (place.desk.files.home(), "ses_e1a7ce957ffe");
    let quoted = format!("\"{SAID}\"");
    let open = [(Speaker::Person, "and then?"), (Speaker::ModelAtWork, "Well")];
    opencode_db::says(
        &home,
        session,
        &[(Speaker::Person, &quoted), (Speaker::Model, "Understood.")],
    );
    opencode_db::says(&home, session, &open);
    let path = opencode_db::session_path(&home, session);
    let more = json!({"session_id": session, "transcript_path": path});
    assert_eq!(place.stops(".none", &more).out, "");
    place.waits_for("a memory", || place.memories() == ["deploys.md"]);
    let input = place.noted("input");
    assert!(input.contains(SAID) && input.contains("assistant: Understood."), "{input}");
    assert!(!input.contains(&quoted) && !input.contains("and then?"), "{input}");
    assert!(place.noted("arguments").starts_with("run\n--pure\n"), "{}", place.noted("arguments"));
    let environment = place.noted("environment");
    assert!(environment.contains("OPENCODE_DB=:memory:"), "no session of it stays: {environment}");
    assert!(environment.contains("You look through"), "{environment}");
    let cost = place.desk.run(&["cost", "--json"]).ok().json();
    assert_eq!(cost["beside"]["total"]["requests"], 1, "what it used is booked: {cost}");
}

#[test]
fn x7_pi_does_the_same() {
    let said = |role: &str, text: &str| {
        json!({"type": "message_end", "message": {"role": role, "usage": {"input": 900, "output": 80},
            "content": [{"type": "text", "text": text}]}})
    };
    let events = [said("user", "?"), said("assistant", &list())];
    let place = Place::new("pi", &events.map(|event| format!("{event}\n")).concat());
    place.says(".pi/agent/sessions/--p--", 0, SAID);
    place.stops(".pi/agent/sessions/--p--", &json!({}));
    place.waits_for("a memory", || place.memories() == ["deploys.md"]);
    assert!(place.noted("input").contains(SAID), "{}", place.noted("input"));
    let arguments = place.noted("arguments");
    for wanted in ["--no-session\n", "--no-extensions\n", "--system-prompt\nYou look through"] {
        assert!(arguments.contains(wanted), "{wanted}: {arguments}");
    }
}

#[test]
fn x7_runs_in_a_day_are_bounded_and_can_be_switched_off() {
    let place = Place::new("claude", "{}");
    place.says(".claude/projects/-p", 0, SAID);
    let home = place.desk.files.home().join(".everfold");
    std::fs::create_dir_all(&home).unwrap();
    for settings in [
        json!({"everfold": {"memory": {"host_review": "rules"}}}),
        json!({"everfold": {"limits": {"beside": {"headless_reviews": 0}}}}),
        json!({"everfold": {"budget": {"daily_tokens": 0}}}),
    ] {
        std::fs::write(home.join("settings.json"), settings.to_string()).unwrap();
        place.stops(".claude/projects/-p", &json!({}));
        place.says(".claude/projects/-p", 1, SAID);
    }
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(place.noted("runs"), "");
}

#[test]
fn x7_without_a_program_the_hosts_model_is_asked_to_save() {
    let place = Place::new("no-program", "");
    let folder = ".claude/projects/-p";
    place.says(folder, 0, "thanks, that is all");
    assert_eq!(place.stops(folder, &json!({})).out, "", "nothing could last");
    place.says(folder, 1, SAID);
    let asked: Value = serde_json::from_str(&place.stops(folder, &json!({})).out).unwrap();
    assert_eq!(asked["decision"], "block");
    assert!(asked["reason"].as_str().unwrap().contains("memory_save"), "{asked}");
    place.says(folder, 2, "The office is closed on Fridays in August.");
    assert_eq!(place.stops(folder, &json!({"stop_hook_active": true})).out, "", "never twice over");
    place.says(folder, 3, "Backups of the shop wait for Sunday, when nobody is there.");
    assert_ne!(place.stops(folder, &json!({})).out, "");
    place.says(folder, 4, "The budget of the team is decided in December.");
    assert_eq!(place.stops(folder, &json!({})).out, "", "twice in a session");
}

/// The real programs, from the package registry: what each host's guide promises.
#[test]
#[ignore = "installs programs; cargo xtask soak hosts"]
fn x8_the_real_hosts_soak() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = std::env::var_os("CARGO_TARGET_DIR");
    let target = target.map_or_else(|| root.join("target"), std::path::PathBuf::from);
    let programs = target.join("interop/hosts");
    std::fs::create_dir_all(&programs).unwrap();
    let output = std::process::Command::new("node")
        .arg(root.join("bench/hosts/try.mjs"))
        .arg(env!("CARGO_BIN_EXE_everfold"))
        .arg(programs)
        .output();
    let Ok(output) = output else {
        eprintln!("skipped: there is no node here");
        return;
    };
    let told = String::from_utf8_lossy(&output.stdout);
    println!("{told}");
    assert!(output.status.success(), "{told}\n{}", String::from_utf8_lossy(&output.stderr));
}
