//! `everfold memory tool` (X4).

use crate::desk::Desk;
use serde_json::json;

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
