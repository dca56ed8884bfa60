//! Hooks as settings name them and as processes run: whose are called, who is
//! waited for, and tools of servers as handlers.

use crate::place::{Place, say_ok};
use everfold_agent::{Agent, EndReason, Event, Session, Turn};
use everfold_testkit::mcp::script;
use everfold_testkit::{Reply, Scenario, TestServer};
use futures_util::StreamExt;
use serde_json::{Value, json};

fn start(scenario: Scenario) -> Place {
    Place::new(TestServer::start(scenario).unwrap())
}

/// An agent with these settings in its home.
async fn with(place: &Place, settings: &Value) -> Agent {
    let path = place.dirs.home().join("settings.json");
    place.dirs.write(path, &settings.to_string()).unwrap();
    place.agent().await
}

/// A handler that keeps what it reads, and then does something.
fn keeping(then: &str) -> Value {
    let command = format!("cat >> \"$CLAUDE_PROJECT_DIR/seen\"; echo >> seen; {then}");
    json!([{"hooks": [{"type": "command", "command": command}]}])
}

/// What handlers read, in order.
fn seen(place: &Place) -> Vec<Value> {
    let text = std::fs::read_to_string(place.dirs.project().join("seen")).unwrap_or_default();
    let lines = text.lines().filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn exists(place: &Place, name: &str) -> bool {
    place.dirs.project().join(name).exists()
}

async fn notices(session: &mut Session, prompt: &str) -> Vec<String> {
    let mut turn = Turn::new(session, prompt);
    let mut texts = Vec::new();
    while let Some(event) = turn.next().await {
        if let Event::Notice(text) = event {
            texts.push(text);
        }
    }
    assert_eq!(turn.end().await.unwrap().reason, EndReason::Completed);
    texts
}

#[tokio::test]
async fn q7_handlers_run_side_by_side_and_unheard_ones_are_not_waited_for() {
    let place = start(Scenario::new().otherwise(Reply::text("ok")));
    // Each of the two waits for the other: one after the other would never end.
    let meet = |own: &str, other: &str| {
        let command = format!("touch {own}; until [ -e {other} ]; do sleep 0.01; done");
        json!({"type": "command", "command": command, "timeout": 20})
    };
    let agent = with(&place, &json!({"hooks": {
        "SessionStart": [{"hooks": [meet("a", "b"), meet("b", "a")]}],
        "Stop": [{"hooks": [{"type": "command", "command": "echo $$ > pid; sleep 300", "async": true}]}],
        "InstructionsLoaded": keeping("true"),
    }}))
    .await;
    place.write("CLAUDE.md", "be brief");
    let told = notices(&mut agent.start(), "go").await;
    assert!(told.is_empty(), "{told:?}");
    let read = || std::fs::read_to_string(place.dirs.project().join("pid")).unwrap_or_default();
    for _ in 0..1_000 {
        if read().ends_with('\n') && !seen(&place).is_empty() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    let loaded = &seen(&place)[0];
    assert_eq!(
        (&loaded["memory_type"], &loaded["load_reason"]),
        (&json!("Project"), &json!("session_start"))
    );
    agent.shutdown().await;
    let pid = read().trim().to_owned();
    let state = || {
        let asked = std::process::Command::new("ps").args(["-o", "stat=", "-p", &pid]).output();
        String::from_utf8_lossy(&asked.unwrap().stdout).trim().to_owned()
    };
    for _ in 0..1_000 {
        if state().is_empty() || state().starts_with('Z') {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    panic!("what nobody waits for ends with the agent");
}

#[tokio::test]
async fn s7_hooks_of_a_repository_are_off_and_without_setups_all_are() {
    let place = start(Scenario::new().otherwise(Reply::text("ok")));
    place.write(".claude/settings.json", &json!({"hooks": {"Stop": keeping("true")}}).to_string());
    let agent = place.agent().await;
    say_ok(&mut agent.start(), "go").await;
    assert!(seen(&place).is_empty());
    assert!(agent.settings().refused.iter().any(|refused| refused.pointer == "/hooks"));
    let settings = json!({"hooks": {"Stop": keeping("true")}}).to_string();
    place.dirs.write(place.dirs.home().join("settings.json"), &settings).unwrap();
    let bare = place.builder().without_setups().build().await.unwrap();
    say_ok(&mut bare.start(), "go").await;
    assert!(seen(&place).is_empty());
}

#[tokio::test]
async fn q7_a_handler_that_says_async_first_is_not_waited_for() {
    let place = start(Scenario::new().otherwise(Reply::text("ok")));
    // It goes on until somebody lets it, and what it says then is not heard.
    let waits = r#"echo '{"async":true,"asyncTimeout":30000}'; until [ -e go ]; do sleep 0.02; done
        echo late > late.txt; echo no >&2; exit 2"#;
    let hooks = json!({"UserPromptSubmit": [{"hooks": [{"type": "command", "command": waits}]}]});
    let agent = with(&place, &json!({ "hooks": hooks })).await;
    let mut session = agent.start();
    say_ok(&mut session, "one").await;
    assert!(!exists(&place, "late.txt"));
    place.write("go", "");
    for _ in 0..1_000 {
        if exists(&place, "late.txt") {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    assert!(exists(&place, "late.txt"));
    say_ok(&mut session, "two").await;
    agent.shutdown().await;
}

#[tokio::test]
async fn q7_a_tool_of_a_server_answers_for_a_hook() {
    let place = start(Scenario::new().otherwise(Reply::text("ok")));
    let path = place.dirs.write(place.dirs.root().join("server.sh"), &script(0)).unwrap();
    let tool = |tool: &str, more: Value| {
        let mut handler = json!({"type": "mcp_tool", "server": "s", "tool": tool});
        handler.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        handler
    };
    let handlers = [
        tool("echo", json!({"input": {"text": "you said ${prompt} in ${nothing}mode"}})),
        tool("hang", json!({"timeout": 1})),
        tool("die", json!({"server": "t"})),
        tool("echo", json!({"server": "nowhere"})),
        json!({"type": "mcp_tool", "server": "s", "tool": "echo", "input": 3}),
    ];
    let agent = with(
        &place,
        &json!({
            "mcpServers": {"s": {"command": "bash", "args": [path]},
                "t": {"command": "bash", "args": [path]}},
            "hooks": {"UserPromptSubmit": [{"hooks": handlers}]},
        }),
    )
    .await;
    let problems = &agent.config().setups.hooks.problems;
    assert_eq!(problems.len(), 1);
    assert!(problems[0].reason.contains("\"input\" is not an object"));
    let told = notices(&mut agent.start(), "hello").await.join("\n");
    let sent = place.server.requests_of("main")[0].body["messages"].to_string();
    assert!(sent.contains("From the UserPromptSubmit hook: you said hello in mode"));
    assert!(told.contains("\"hang\" failed: it timed out"), "{told}");
    assert!(told.contains("unknown server \"nowhere\""), "{told}");
    assert!(told.contains("the server \"t\" ended during the call"), "{told}");
    agent.shutdown().await;
}
