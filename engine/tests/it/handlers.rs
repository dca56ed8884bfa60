//! Handlers of hooks that are no programs, those that wake the conversation,
//! and what hooks leave for later.

use crate::place::{Agent, Place, Turn, say, say_ok};
use everfold_engine::agents::letters;
use everfold_engine::{EndReason, Event, Session};
use everfold_testkit::{FakeModel, Received, Reply, Scenario, When};
use serde_json::{Value, json};
use std::time::Duration;

const SOON: Duration = Duration::from_secs(30);

fn start(scenario: Scenario) -> Place {
    Place::new(FakeModel::new(scenario))
}

async fn with(place: &Place, settings: &Value) -> Agent {
    let path = place.dirs.home().join("settings.json");
    place.dirs.write(path, &settings.to_string()).unwrap();
    place.agent().await
}

async fn with_hook(place: &Place, event: &str, handler: Value) -> Agent {
    with(place, &json!({"hooks": {event: [{"hooks": [handler]}]}})).await
}

fn sent(place: &Place, index: usize) -> String {
    place.model.requests_of("main")[index].body["messages"].to_string()
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
async fn q7_a_model_judges_whether_the_work_is_done() {
    let place = start(
        Scenario::new()
            .on(
                When::source("agent:hook"),
                Reply::text("I think so: {\"ok\": false, \"reason\": \"the tests are missing\"}"),
            )
            .on(When::source("agent:hook"), Reply::text("{\"ok\": true}"))
            .otherwise(Reply::text("done")),
    );
    let handler = json!({"type": "prompt", "prompt": "Are there tests? $ARGUMENTS"});
    let agent = with_hook(&place, "Stop", handler).await;
    let mut session = agent.start();
    say_ok(&mut session, "write it").await;
    let asked = place.model.requests_of("agent:hook");
    assert_eq!(asked.len(), 2);
    let first = asked[0].last_user_text();
    assert!(
        first.starts_with("Are there tests? {") && first.contains("\"hook_event_name\":\"Stop\"")
    );
    assert!(asked[0].body.get("tools").is_none(), "it judges by what it is told");
    assert!(sent(&place, 1).contains("The Stop hook objects: the tests are missing"));
    let booked = session.ledger().lines().filter(|(source, ..)| *source == "agent:hook");
    assert_eq!(booked.map(|(_, _, line)| line.requests).sum::<u64>(), 2);
}

#[tokio::test]
async fn q7_a_judge_that_says_nothing_useful_or_fails_has_no_say() {
    for reply in [Reply::text("perhaps"), Reply::error(400, "no"), Reply::text("{\"ok\": 1}")] {
        let place = start(
            Scenario::new()
                .always(When::source("agent:hook"), reply)
                .otherwise(Reply::text("done")),
        );
        let agent = with_hook(&place, "Stop", json!({"type": "prompt", "prompt": "ok?"})).await;
        let told = notices(&mut agent.start(), "go").await.join("\n");
        assert!(told.contains("the Stop hook \"ok?\" failed"), "{told}");
        assert_eq!(place.model.requests_of("main").len(), 1);
    }
}

#[tokio::test]
async fn q7_a_judge_that_hangs_is_ended_by_its_time() {
    let place = start(
        Scenario::new()
            .always(When::source("agent:hook"), Reply::text("{\"ok\": false}").gate("never"))
            .otherwise(Reply::text("done")),
    );
    for kind in ["prompt", "agent"] {
        let handler = json!({"type": kind, "prompt": format!("{kind}?"), "timeout": 1});
        let agent = with_hook(&place, "Stop", handler).await;
        let mut session = agent.start();
        let told = notices(&mut session, "go").await.join("\n");
        assert!(told.contains("it timed out"), "{kind}: {told}");
        everfold_engine::finish(&mut session).await.unwrap();
        assert!(letters::agents(&session).running().is_empty(), "nothing is left running");
    }
}

#[tokio::test]
async fn q7_an_agent_judges_by_looking_and_calls_no_hooks_itself() {
    let place = start(
        Scenario::new()
            .on(When::source("agent:hook"), Reply::tool("Read", json!({"file_path": "a.txt"})))
            .on(
                When::source("agent:hook"),
                Reply::text("{\"ok\": false, \"reason\": \"a.txt says no\"}"),
            )
            .on(When::user("go"), Reply::tool("Bash", json!({"command": "touch made"})))
            .otherwise(Reply::text("done")),
    );
    place.write("a.txt", "no");
    let handler = json!({"type": "agent", "prompt": "Look at a.txt. $ARGUMENTS", "model": "haiku"});
    let agent = with_hook(&place, "PreToolUse", handler).await;
    say_ok(&mut agent.start(), "go").await;
    let asked = place.model.requests_of("agent:hook");
    assert_eq!(asked.len(), 2, "its own call of Read called no hook");
    assert!(asked[0].model().contains("haiku"));
    let tools = asked[0].body["tools"].to_string();
    assert!(
        tools.contains("\"Read\"") && !tools.contains("\"Write\"") && !tools.contains("\"Agent\"")
    );
    assert!(sent(&place, 1).contains("a.txt says no"));
    assert!(!place.dirs.project().join("made").exists());
}

#[tokio::test]
async fn q7_a_handler_beside_the_conversation_wakes_it_where_it_blocks() {
    let place = start(
        Scenario::new()
            .on(When::user("go"), Reply::tool("Bash", json!({"command": "true"})))
            .otherwise(Reply::text("done")),
    );
    let handlers = json!([
        {"type": "command", "command": "echo 'the build broke' >&2; exit 2", "asyncRewake": true},
        {"type": "command", "command": "echo fine; exit 0", "asyncRewake": true},
        {"type": "command", "command": "echo unheard >&2; exit 2", "async": true},
    ]);
    let agent = with(&place, &json!({"hooks": {"PostToolUse": [{"hooks": handlers}]}})).await;
    let mut session = agent.start();
    say_ok(&mut session, "go").await;
    session.background().drain(SOON).await;
    Turn::go_on(&mut session).end().await.unwrap();
    let all = place.model.requests_of("main").pop().unwrap().body["messages"].to_string();
    assert_eq!(all.matches("The PostToolUse hook objects: the build broke").count(), 1, "{all}");
    assert!(!all.contains("unheard") && !all.contains("fine"));
    agent.shutdown().await;
}

#[tokio::test]
async fn q7_variables_that_a_start_hook_left_are_there_for_commands_and_agents() {
    let place = start(
        Scenario::new()
            .on(When::user("go"), Reply::tool("Bash", json!({"command": "echo \"[$GREETING]\""})))
            .on(
                When::tool_result("[hi there]"),
                Reply::tool("Agent", json!({"description": "d", "prompt": "ask"})),
            )
            .on(When::user("ask"), Reply::tool("Bash", json!({"command": "echo \"<$GREETING>\""})))
            .otherwise(Reply::text("done")),
    );
    let command = "echo \"export GREETING='hi there'\" >> \"$CLAUDE_ENV_FILE\"";
    let agent =
        with_hook(&place, "SessionStart", json!({"type": "command", "command": command})).await;
    say_ok(&mut agent.start(), "go").await;
    let results: Vec<String> =
        place.model.requests().iter().filter_map(Received::last_tool_results).collect();
    assert!(results.iter().any(|result| result.contains("[hi there]")), "{results:?}");
    assert!(results.iter().any(|result| result.contains("<hi there>")), "{results:?}");
}

#[tokio::test]
async fn q7_a_start_hook_names_the_conversation_and_speaks_first() {
    let place = start(Scenario::new().otherwise(Reply::text("ok")));
    let answer = json!({"hookSpecificOutput": {"hookEventName": "SessionStart",
        "sessionTitle": "The long refactoring", "initialUserMessage": "Read NOTES.md first."}});
    let handler = json!({"type": "command", "command": format!("echo '{answer}'")});
    let agent = with_hook(&place, "SessionStart", handler).await;
    let mut session = agent.start();
    say_ok(&mut session, "go").await;
    say_ok(&mut session, "on").await;
    let lines = place.transcript();
    let title = lines.iter().find(|line| line["type"] == "custom-title").unwrap();
    assert_eq!(title["customTitle"], "The long refactoring");
    let content = place.model.requests()[0].messages()[0]["content"].clone();
    let texts: Vec<&str> =
        content.as_array().unwrap().iter().filter_map(|block| block["text"].as_str()).collect();
    assert_eq!(texts[texts.len() - 2..], ["Read NOTES.md first.", "go"]);
    assert_eq!(sent(&place, 1).matches("NOTES.md").count(), 1, "once");
}

#[tokio::test]
async fn q7_a_stop_hook_is_told_what_still_runs() {
    let place = start(
        Scenario::new()
            .on(
                When::user("go"),
                Reply::tool("Bash", json!({"command": "sleep 100", "run_in_background": true})),
            )
            .otherwise(Reply::text("done")),
    );
    let agent =
        with_hook(&place, "Stop", json!({"type": "command", "command": "cat > seen"})).await;
    say(&mut agent.start(), "go").await;
    let seen = std::fs::read_to_string(place.dirs.project().join("seen")).unwrap();
    let seen: Value = serde_json::from_str(&seen).unwrap();
    let task = &seen["background_tasks"][0];
    assert_eq!((&task["type"], &task["status"]), (&json!("shell"), &json!("running")));
    assert_eq!(task["description"], "sleep 100");
    agent.shutdown().await;
}
