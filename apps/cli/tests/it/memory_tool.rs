//! `everfold memory tool` (X4).

use crate::desk::{Desk, KEY};
use everfold_testkit::{Scenario, interop};
use serde_json::json;
use std::path::Path;
use std::process::Command;

#[test]
fn x4_calls_in_answers_out() {
    let desk = Desk::offline();
    let calls = [
        json!({"command": "create", "path": "/memories/tea.md", "file_text": "Green.\n"}),
        json!({"type": "tool_use", "id": "toolu_1", "name": "memory", "input": {"command": "view", "path": "/memories/tea.md"}}),
        json!({"command": "view", "path": "/memories/../x"}),
        json!({"command": "fly"}),
    ];
    let input: Vec<String> = calls.iter().map(ToString::to_string).collect();
    let lines = desk.run_with(&["memory", "tool"], input.join("\n")).ok().lines();
    assert_eq!(
        lines[0],
        json!({"content": "File created successfully at: /memories/tea.md", "is_error": false})
    );
    assert_eq!(
        lines[1],
        json!({"type": "tool_result", "tool_use_id": "toolu_1", "is_error": false,
            "content": "Here's the content of /memories/tea.md with line numbers:\n     1\tGreen.\n     2\t"})
    );
    assert_eq!(
        (lines[2]["is_error"].as_bool(), lines[3]["is_error"].as_bool()),
        (Some(true), Some(true))
    );
    // The person did not say it: it waits for their word (L5.33), which sessions
    // wait for and the model that wrote it does not.
    assert_eq!(desk.run(&["memory", "list", "--json"]).ok().json(), json!([]));
    assert_eq!(desk.run(&["memory", "log", "--json"]).ok().json(), json!([]));
    let waiting = desk.run(&["memory", "inbox", "--json"]).ok().json();
    assert_eq!(waiting[0]["paths"], json!(["tea.md"]), "{waiting}");
    desk.run(&["memory", "inbox", "accept", "1"]).ok();
    let log = desk.run(&["memory", "log", "--json"]).ok().json();
    assert_eq!(log[0]["author"]["source"], "memory_tool");
    assert!(desk.run(&["memory", "show", "tea"]).ok().out.contains("Green."));
    desk.run_with(&["memory", "tool"], "not json").failed(2);
    desk.run_with(&["memory", "tool"], "").failed(2);
}

#[test]
fn x4_the_example_of_the_guide_runs_with_the_official_sdk() {
    let Some(python) = interop::python(&["anthropic==2.8.0"]) else { return };
    let scenario: Scenario = serde_json::from_value(json!({"steps": [
        {"when": {"tool_result": false}, "reply": {"content": [
            {"tool_use": {"name": "memory", "input": {"command": "view", "path": "/memories"}}}]}},
        {"when": {"tool_result_contains": "2 levels deep in /memories"}, "reply": {"content": [
            {"tool_use": {"name": "memory", "input": {"command": "view", "path": "/memories/deploy-day.md"}}}]}},
        {"when": {"tool_result_contains": "on Thursdays"}, "reply": {"content": [
            {"tool_use": {"name": "memory", "input": {"command": "view", "path": "/memories/none.md"}}}]}},
        {"when": {"tool_result_contains": "does not exist. Please provide a valid path."},
         "reply": {"content": [{"text": "On Thursdays."}]}},
    ]}))
    .unwrap();
    let desk = Desk::with(scenario);
    let add = ["memory", "add", "--name", "Deploy day", "--type", "project", "--description", "d"];
    desk.run_with(&add, "Deploys go out on Thursdays.").ok();
    let program = Path::new(env!("CARGO_BIN_EXE_everfold"));
    let path = std::env::join_paths(
        std::iter::once(program.parent().unwrap().to_owned())
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    )
    .unwrap();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/memory_tool.py");
    let output = Command::new(python)
        .arg(example)
        .arg("When do we deploy?")
        .env_clear()
        .env("PATH", path)
        .env("HOME", desk.files.home())
        .env("ANTHROPIC_API_KEY", KEY)
        .env("ANTHROPIC_BASE_URL", desk.server().base_url())
        .current_dir(desk.files.project())
        .output()
        .unwrap();
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(out.trim(), "On Thursdays.", "{err}");
}
