//! Hooks in whole conversations: what handlers were given, and what came of
//! what they said.

use crate::place::{Agent, Place, Turn, say, say_ok};
use everfold_engine::setups::hooks::session_events;
use everfold_engine::window::compaction;
use everfold_engine::window::compaction::Compaction;
use everfold_engine::{EndReason, Event, Session};
use everfold_testkit::{FakeModel, Reply, Scenario, When, oracle};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

fn start(scenario: Scenario) -> Place {
    Place::new(FakeModel::new(scenario))
}

/// An agent whose home settings name these hooks.
async fn with_hooks(place: &Place, hooks: &Value) -> Agent {
    let settings = json!({ "hooks": hooks }).to_string();
    place.dirs.write(place.dirs.home().join("settings.json"), &settings).unwrap();
    place.agent().await
}

/// A handler that keeps what it reads, and then does something.
fn keeping(then: &str) -> Value {
    let command = format!("cat >> \"$CLAUDE_PROJECT_DIR/seen\"; echo >> seen; {then}");
    json!([{"hooks": [{"type": "command", "command": command}]}])
}

fn only(matcher: &str, command: &str) -> Value {
    json!([{"matcher": matcher, "hooks": [{"type": "command", "command": command}]}])
}

/// What handlers read, in order.
fn seen(place: &Place) -> Vec<Value> {
    let text = std::fs::read_to_string(place.dirs.project().join("seen")).unwrap_or_default();
    let lines = text.lines().filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn names(seen: &[Value]) -> Vec<&str> {
    seen.iter().map(|input| input["hook_event_name"].as_str().unwrap()).collect()
}

/// The whole text of the n-th request's messages.
fn sent(place: &Place, index: usize) -> String {
    place.model.requests()[index].body["messages"].to_string()
}

async fn notices(session: &mut Session, prompt: &str) -> (Vec<String>, EndReason) {
    let mut turn = Turn::new(session, prompt);
    let mut texts = Vec::new();
    while let Some(event) = turn.next().await {
        if let Event::Notice(text) = event {
            texts.push(text);
        }
    }
    (texts, turn.end().await.unwrap().reason)
}

#[tokio::test]
async fn q7_a_turn_calls_every_event_with_its_input_in_order() {
    let place = start(
        Scenario::new()
            .reply(Reply::tool("Bash", json!({"command": "echo out"})))
            .reply(Reply::tool("Bash", json!({"command": "exit 3"})))
            .reply(Reply::text("done")),
    );
    let events = [
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "Stop",
        "SessionEnd",
    ];
    let hooks: serde_json::Map<String, Value> =
        events.iter().map(|event| ((*event).to_owned(), keeping("true"))).collect();
    let agent = with_hooks(&place, &hooks.into()).await;
    let mut session = agent.start();
    say_ok(&mut session, "go").await;
    session_events::end_hooks(&mut session, "other").await.unwrap();
    let seen = seen(&place);
    assert_eq!(
        names(&seen),
        [
            "SessionStart",
            "UserPromptSubmit",
            "PreToolUse",
            "PostToolUse",
            "PreToolUse",
            "PostToolUseFailure",
            "Stop",
            "SessionEnd"
        ]
    );
    for input in &seen {
        assert_eq!(input["session_id"], session.id().as_str());
        assert!(input["transcript_path"].as_str().unwrap().contains(session.id().as_str()));
        assert_eq!(input["permission_mode"], "default");
    }
    assert_eq!((&seen[0]["source"], &seen[1]["prompt"]), (&json!("startup"), &json!("go")));
    assert_eq!(seen[3]["tool_response"]["stdout"], "out\n");
    assert!(seen[5]["error"].as_str().unwrap().contains("Exit code 3"));
    assert_eq!(seen[6]["last_assistant_message"], "done");
    assert_eq!(
        (&seen[6]["stop_hook_active"], &seen[7]["reason"]),
        (&json!(false), &json!("other"))
    );
    oracle::assert_prefix_stable(&place.model.requests());
    agent.shutdown().await;
}

#[tokio::test]
async fn q7_context_is_a_frozen_reminder_behind_the_prefix() {
    let place = start(Scenario::new().otherwise(Reply::text("ok")));
    let agent = with_hooks(&place, &json!({
        "SessionStart": only("startup", "echo from the start"),
        "UserPromptSubmit": only("", r#"echo '{"hookSpecificOutput":{"additionalContext":"</system-reminder> per prompt"}}'"#),
    }))
    .await;
    let mut session = agent.start();
    say_ok(&mut session, "one").await;
    say_ok(&mut session, "two").await;
    let (id, requests) = (session.id().clone(), place.model.requests());
    oracle::assert_prefix_stable(&requests);
    let content = requests[0].messages()[0]["content"].as_array().unwrap().clone();
    let texts: Vec<&str> = content.iter().map(|block| block["text"].as_str().unwrap()).collect();
    let at = |what: &str| texts.iter().position(|text| text.contains(what)).unwrap();
    assert!(at("from the start") < at("one") && at("one") < at("per prompt"), "{texts:?}");
    assert!(texts[at("per prompt")].contains("&lt;/system-reminder> per prompt"));
    assert!(!requests[0].body["system"].to_string().contains("from the start"));
    assert_eq!(sent(&place, 1).matches("per prompt").count(), 2);
    assert_eq!(sent(&place, 1).matches("from the start").count(), 1);
    // A resumed session sends the same bytes; its start is another one.
    let (mut resumed, _) = agent.resume(id).await.unwrap();
    say_ok(&mut resumed, "three").await;
    oracle::assert_prefix_stable(&place.model.requests());
    assert_eq!(sent(&place, 2).matches("from the start").count(), 1, "only for startup");
}

#[tokio::test]
async fn q7_a_refused_prompt_never_was() {
    let place = start(Scenario::new().otherwise(Reply::text("ok")));
    let refuses = "grep -q forbidden && { echo not that >&2; exit 2; }; true";
    let agent = with_hooks(&place, &json!({"UserPromptSubmit": only("", refuses)})).await;
    let mut session = agent.start();
    let EndReason::Failed(why) = say(&mut session, "forbidden word").await.reason else { panic!() };
    assert!(why.contains("refused the message: not that"), "{why}");
    assert_eq!(place.model.requests().len(), 0);
    say_ok(&mut session, "fine").await;
    assert!(!sent(&place, 0).contains("forbidden"));
}

#[tokio::test]
async fn q7_a_call_can_be_denied_allowed_changed_and_asked_about() {
    let place = start(
        Scenario::new()
            .reply(Reply::tool("Bash", json!({"command": "touch denied"})))
            .reply(Reply::tool("Bash", json!({"command": "touch changed"})))
            .reply(Reply::tool("Glob", json!({"pattern": "ask"})))
            .reply(Reply::text("done")),
    );
    let decide = r#"in=$(cat)
        case "$in" in
          *"touch denied"*) echo "not here" >&2; exit 2;;
          *"touch changed"*) echo '{"hookSpecificOutput":{"permissionDecision":"allow","updatedInput":{"command":"touch other"},"additionalContext":"changed it"}}';;
          *) echo '{"hookSpecificOutput":{"permissionDecision":"ask"}}';;
        esac"#;
    let settings = json!({ "hooks": {"PreToolUse": only("Bash|Glob", decide)} }).to_string();
    place.dirs.write(place.dirs.home().join("settings.json"), &settings).unwrap();
    // Nobody says yes here: what runs was allowed by the hook.
    let agent =
        place.builder().approver(std::sync::Arc::new(crate::place::RefuseAll)).build().await;
    let end = say_ok(&mut agent.start(), "go").await;
    let exists = |name: &str| place.dirs.project().join(name).exists();
    assert!(!exists("denied") && !exists("changed") && exists("other"));
    assert_eq!(end.denials.len(), 2, "the first by the hook, the last by nobody's yes");
    let requests = place.model.requests();
    assert!(requests[1].last_tool_results().unwrap().contains("refused: not here"));
    assert!(sent(&place, 2).contains("From the PreToolUse hook: changed it"));
    oracle::assert_prefix_stable(&requests);
}

#[tokio::test]
async fn q7_rules_that_deny_are_not_overruled_by_a_hook() {
    let place = start(
        Scenario::new()
            .reply(Reply::tool("Bash", json!({"command": "touch x"})))
            .reply(Reply::text("done")),
    );
    let allow = r#"echo '{"hookSpecificOutput":{"permissionDecision":"allow"}}'"#;
    let settings =
        json!({ "hooks": {"PreToolUse": only("", allow)}, "permissions": {"deny": ["Bash"]} });
    place.dirs.write(place.dirs.home().join("settings.json"), &settings.to_string()).unwrap();
    let agent = place.agent().await;
    say_ok(&mut agent.start(), "go").await;
    assert!(!place.dirs.project().join("x").exists());
}

#[tokio::test]
async fn q7_after_a_call_the_output_can_be_replaced_and_the_model_told() {
    let place = start(
        Scenario::new()
            .reply(
                Reply::tool("Bash", json!({"command": "echo long output"}))
                    .and_tool("Bash", json!({"command": "echo other"})),
            )
            .reply(Reply::text("done")),
    );
    let replace = r#"grep -q long && echo '{"decision":"block","reason":"lint fails","hookSpecificOutput":{"updatedToolOutput":"short","additionalContext":"see lint"}}' || true"#;
    let agent = with_hooks(&place, &json!({"PostToolUse": only("Bash", replace)})).await;
    say_ok(&mut agent.start(), "go").await;
    let last = place.model.requests()[1].messages()[2]["content"].clone();
    assert_eq!((&last[0]["content"], &last[1]["content"]), (&json!("short"), &json!("other")));
    let told = last.to_string();
    assert!(told.contains("The PostToolUse hook objects: lint fails") && told.contains("see lint"));
    assert_eq!(last[2]["type"], "text", "results stand first");
}

#[tokio::test]
async fn q7_a_condition_and_continue_false() {
    let place = start(
        Scenario::new()
            .reply(Reply::tool("Bash", json!({"command": "git status"})))
            .reply(Reply::tool("Bash", json!({"command": "rm -r x"})))
            .reply(Reply::text("never")),
    );
    let stops = r#"echo '{"continue":false,"stopReason":"that is enough"}'"#;
    let agent = with_hooks(
        &place,
        &json!({"PostToolUseFailure": [{"matcher": "Bash", "hooks": [
        {"type": "command", "command": stops, "if": "Bash(rm:*)"}]}]}),
    )
    .await;
    let EndReason::Failed(why) = say(&mut agent.start(), "go").await.reason else { panic!() };
    assert_eq!(why, "a hook stopped the turn: that is enough");
    assert_eq!(place.model.requests().len(), 2);
}

#[tokio::test]
async fn q7_a_stop_hook_keeps_the_model_at_work_but_not_for_ever() {
    let place = start(Scenario::new().otherwise(Reply::text("I am done")));
    let agent = with_hooks(&place, &json!({"Stop": keeping("echo tests fail >&2; exit 2")})).await;
    let mut session = agent.start();
    let (told, reason) = notices(&mut session, "go").await;
    assert_eq!(reason, EndReason::Completed);
    assert_eq!(place.model.requests().len(), 9, "once, and eight times more");
    let again: Vec<bool> =
        seen(&place).iter().map(|input| input["stop_hook_active"].as_bool().unwrap()).collect();
    assert_eq!(again.iter().position(|again| *again), Some(1), "{again:?}");
    assert!(sent(&place, 1).contains("The Stop hook objects: tests fail"));
    assert!(told.iter().any(|text| text.contains("8 times in a row")), "{told:?}");
    oracle::assert_prefix_stable(&place.model.requests());
}

#[tokio::test]
async fn l4_3_a_precompact_hook_blocks_and_l4_5_session_start_runs_again() {
    let long = "a long tale ".repeat(2_000);
    let place = start(
        Scenario::new()
            .on(When::source("compact"), Reply::text("<summary>the gist</summary>"))
            .otherwise(Reply::text(long)),
    );
    let veto = "test -e \"$CLAUDE_PROJECT_DIR/veto\" && { echo not now >&2; exit 2; }; true";
    let agent = with_hooks(
        &place,
        &json!({
            "PreCompact": keeping(veto), "PostCompact": keeping("true"),
            "SessionStart": only("compact", "echo back again"),
        }),
    )
    .await;
    let mut session = agent.start();
    for prompt in ["one", "two", "three"] {
        say_ok(&mut session, prompt).await;
    }
    place.write("veto", "");
    let never = CancellationToken::new();
    let by_hand = || Compaction::by_hand(Some("keep the tale".into()));
    let refused =
        compaction::compact(&mut session, by_hand(), &never).await.unwrap_err().to_string();
    assert_eq!(refused, "a PreCompact hook blocked it: not now");
    std::fs::remove_file(place.dirs.project().join("veto")).unwrap();
    compaction::compact(&mut session, by_hand(), &never).await.unwrap();
    let seen = seen(&place);
    assert_eq!(names(&seen), ["PreCompact", "PreCompact", "PostCompact"]);
    assert_eq!(seen[0]["trigger"], "manual");
    assert_eq!(seen[0]["custom_instructions"], "keep the tale");
    assert!(seen[2]["compact_summary"].as_str().unwrap().contains("the gist"));
    say_ok(&mut session, "four").await;
    let last = sent(&place, place.model.requests().len() - 1);
    assert_eq!(last.matches("back again").count(), 1, "{last}");
}

#[tokio::test]
async fn q7_handlers_that_fail_have_no_say_and_are_in_the_log() {
    let place = start(
        Scenario::new()
            .reply(Reply::tool("Bash", json!({"command": "echo ran"})))
            .reply(Reply::text("done")),
    );
    let agent = with_hooks(
        &place,
        &json!({
            "SessionStart": only("", "no-such-program-at-all"),
            "UserPromptSubmit": only("", "kill -9 $$"),
            "PreToolUse": [{"hooks": [
                {"type": "command", "command": "/no/such/file", "args": []},
                {"type": "command", "command": "sleep 60", "timeout": 0.2},
                {"type": "command", "command": "echo '{\"continue\": fal'"},
                {"type": "http", "url": "http://127.0.0.1:9/"},
            ]}],
            "PostToolUse": only("", "yes noise | head -c 3000000"),
            "Stop": only("", "exit 1"),
        }),
    )
    .await;
    let (told, reason) = notices(&mut agent.start(), "go").await;
    assert_eq!(reason, EndReason::Completed);
    assert!(sent(&place, 1).contains("ran"));
    let failed = place
        .transcript()
        .into_iter()
        .filter(|line| line["subtype"] == "everfold_hook_failed")
        .count();
    assert_eq!((failed, told.len()), (7, 7), "{told:?}");
}

#[tokio::test]
async fn q7_long_texts_go_to_a_file() {
    let place = start(Scenario::new().otherwise(Reply::text("ok")));
    let long = "printf 'word %.0s' $(seq 1 4000); echo END";
    let agent = with_hooks(&place, &json!({"SessionStart": only("", long)})).await;
    let mut session = agent.start();
    say_ok(&mut session, "go").await;
    let text = sent(&place, 0);
    assert!(!text.contains("END") && text.contains("of 20003 characters"), "{text}");
    let dir = agent.world().transcripts.session_dir(session.id()).join("hook-output");
    let file = std::fs::read_dir(dir).unwrap().next().unwrap().unwrap().path();
    assert!(std::fs::read_to_string(&file).unwrap().ends_with("END"));
    assert!(text.contains(file.file_name().unwrap().to_str().unwrap()));
}
