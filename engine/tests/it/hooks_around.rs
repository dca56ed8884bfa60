//! Hooks that answer in the person's place, and those that hear of what
//! changes around a conversation.

use crate::place::{Agent, Place, RefuseAll, say, say_ok};
use everfold_engine::EndReason;
use everfold_engine::setups::hooks::model_switch;
use everfold_testkit::{FakeModel, Reply, Scenario, When, oracle};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

fn start(scenario: Scenario) -> Place {
    Place::new(FakeModel::new(scenario))
}

async fn with(place: &Place, settings: &Value) -> Agent {
    let path = place.dirs.home().join("settings.json");
    place.dirs.write(path, &settings.to_string()).unwrap();
    place.builder().approver(Arc::new(RefuseAll)).build().await
}

fn command(matcher: &str, command: &str) -> Value {
    json!([{"matcher": matcher, "hooks": [{"type": "command", "command": command}]}])
}

/// A handler that keeps what it reads, and then does something.
fn keeping(then: &str) -> Value {
    // One write, because another handler may write at the same time.
    let keep = r#"seen="$CLAUDE_PROJECT_DIR/seen"; in=$(cat); printf '%s\n' "$in" >> "$seen""#;
    let text = format!("{keep}; {then}");
    command("", &text)
}

fn seen(place: &Place) -> Vec<Value> {
    let text = std::fs::read_to_string(place.dirs.project().join("seen")).unwrap_or_default();
    let lines = text.lines().filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn bash(command: &str) -> Reply {
    Reply::tool("Bash", json!({ "command": command }))
}

fn exists(place: &Place, name: &str) -> bool {
    place.dirs.project().join(name).exists()
}

#[tokio::test]
async fn q7_a_permission_request_is_answered_by_a_hook_where_nobody_is_there() {
    let place = start(
        Scenario::new()
            .reply(bash("touch yes"))
            .reply(bash("touch changed"))
            .reply(bash("touch no"))
            .reply(bash("touch unsaid"))
            .reply(bash("touch exit"))
            .reply(Reply::text("done")),
    );
    let decide = r#"in=$(cat); echo "$in" >> "$CLAUDE_PROJECT_DIR/seen"
        say() { echo "{\"hookSpecificOutput\":{\"hookEventName\":\"PermissionRequest\",\"decision\":$1}}"; }
        case "$in" in
          *"touch yes"*) say '{"behavior":"allow"}';;
          *"touch changed"*) say '{"behavior":"allow","updatedInput":{"command":"touch other"}}';;
          *"touch no"*) say '{"behavior":"deny","message":"not that one"}';;
          *"touch exit"*) echo never >&2; exit 2;;
        esac"#;
    let agent =
        with(&place, &json!({"hooks": {"PermissionRequest": command("Bash", decide)}})).await;
    let end = say_ok(&mut agent.start(), "go").await;
    let there: Vec<bool> = ["yes", "changed", "other", "no", "unsaid", "exit"]
        .map(|name| exists(&place, name))
        .to_vec();
    assert_eq!(there, [true, false, true, false, false, false]);
    assert_eq!(end.denials.len(), 3);
    let results = |at: usize| place.model.requests()[at].last_tool_results().unwrap();
    assert!(results(3).contains("refused: not that one"));
    assert!(results(5).contains("nobody is there to be asked"), "exit code 2 says nothing");
    let first = &seen(&place)[0];
    assert_eq!(first["tool_input"]["command"], "touch yes");
    assert_eq!(
        first["permission_suggestions"],
        json!([{"type": "addRules", "behavior": "allow", "destination": "session",
            "rules": [{"toolName": "Bash", "ruleContent": "touch yes"}]}])
    );
    oracle::assert_prefix_stable(&place.model.requests());
}

#[tokio::test]
async fn q7_rules_that_deny_win_over_a_permission_request() {
    let place = start(
        Scenario::new().reply(bash("touch fine")).reply(bash("touch x")).reply(Reply::text("done")),
    );
    // What it was changed to is denied, too.
    let change = r#"grep -q fine && c='touch secret' || c='touch y'
        echo "{\"hookSpecificOutput\":{\"decision\":{\"behavior\":\"allow\",\"updatedInput\":{\"command\":\"$c\"}}}}""#;
    let settings = json!({
        "hooks": {"PermissionRequest": command("", change)},
        "permissions": {"deny": ["Bash(touch secret:*)", "Bash(touch x:*)"]},
    });
    let agent = with(&place, &settings).await;
    let end = say_ok(&mut agent.start(), "go").await;
    assert_eq!(end.denials.len(), 2);
    for name in ["fine", "secret", "x", "y"] {
        assert!(!exists(&place, name), "{name}");
    }
}

#[tokio::test]
async fn q7_a_permission_request_can_end_the_turn_and_a_denial_can_be_retried() {
    let place = start(Scenario::new().reply(bash("touch a")).reply(Reply::text("never")));
    let interrupt = r#"echo '{"hookSpecificOutput":{"decision":{"behavior":"deny","message":"stop it","interrupt":true}}}'"#;
    let agent =
        with(&place, &json!({"hooks": {"PermissionRequest": command("", interrupt)}})).await;
    let EndReason::Failed(why) = say(&mut agent.start(), "go").await.reason else { panic!() };
    assert_eq!(why, "a hook stopped the turn: stop it");
    assert_eq!(place.model.requests().len(), 1);

    let place = start(Scenario::new().reply(bash("touch a")).reply(Reply::text("done")));
    let retry = r#"echo '{"hookSpecificOutput":{"retry":true}}'"#;
    let agent = with(&place, &json!({"hooks": {"PermissionDenied": command("Bash", retry)}})).await;
    say_ok(&mut agent.start(), "go").await;
    let told = place.model.requests()[1].last_tool_results().unwrap();
    assert!(told.contains("refused: ") && told.contains("may try this call again"), "{told}");
}

#[tokio::test]
async fn q7_all_calls_of_an_answer_are_told_together_and_can_end_the_turn() {
    let reads = Reply::tool("Bash", json!({"command": "echo one"}))
        .and_tool("Glob", json!({"pattern": "*.none"}));
    let place =
        start(Scenario::new().reply(reads).reply(bash("echo two")).reply(Reply::text("no")));
    let batch = keeping(
        r#"grep -q 'echo two' $seen && { echo "enough is enough" >&2; exit 2; }
        echo '{"hookSpecificOutput":{"additionalContext":"seen both"}}'"#,
    );
    let settings = json!({"hooks": {"PostToolBatch": batch}, "permissions": {"allow": ["Bash"]}});
    let agent = with(&place, &settings).await;
    let EndReason::Failed(why) = say(&mut agent.start(), "go").await.reason else { panic!() };
    assert_eq!(why, "a hook stopped the turn: enough is enough");
    let calls = seen(&place)[0]["tool_calls"].clone();
    let names: Vec<&str> =
        calls.as_array().unwrap().iter().map(|call| call["tool_name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Bash", "Glob"]);
    assert_eq!(calls[0]["tool_response"]["stdout"], "one\n");
    let second = place.model.requests()[1].body["messages"].to_string();
    assert!(second.contains("From the PostToolBatch hook: seen both"));
    oracle::assert_prefix_stable(&place.model.requests());
}

#[tokio::test]
async fn q7_another_directory_is_told_and_brings_its_variables() {
    let place = start(
        Scenario::new()
            .reply(bash("mkdir -p deep && cd deep"))
            .reply(bash("echo \"<$WHERE>\""))
            .reply(Reply::text("done")),
    );
    let moved = keeping(r#"echo "export WHERE='$PWD'" >> "$CLAUDE_ENV_FILE""#);
    let settings = json!({"hooks": {"CwdChanged": moved}, "permissions": {"allow": ["Bash"]}});
    let agent = with(&place, &settings).await;
    say_ok(&mut agent.start(), "go").await;
    let seen = seen(&place);
    assert_eq!(seen.len(), 1);
    let project = place.dirs.project().canonicalize().unwrap();
    assert_eq!(seen[0]["old_cwd"], json!(project));
    assert_eq!(seen[0]["new_cwd"], json!(project.join("deep")));
    let told = place.model.requests()[2].last_tool_results().unwrap();
    assert!(told.contains("/deep>"), "{told}");
}

#[tokio::test]
async fn q7_files_and_settings_that_changed_are_told() {
    let place = start(
        Scenario::new()
            .reply(bash("echo 1 > .envrc"))
            .reply(bash("rm notes.txt"))
            .otherwise(Reply::text("done")),
    );
    let notes = place.write("notes.txt", "x");
    let watch = format!("echo '{{\"hookSpecificOutput\":{{\"watchPaths\":[\"{notes}\"]}}}}'");
    let mut changed = keeping("");
    changed[0]["matcher"] = json!(".envrc|notes.txt");
    let settings = json!({
        "hooks": {"SessionStart": command("", &watch), "FileChanged": changed,
            "ConfigChange": keeping("")},
        "permissions": {"allow": ["Bash"]},
    });
    let agent = with(&place, &settings).await;
    let mut session = agent.start();
    say_ok(&mut session, "go").await;
    let short = |input: &Value| {
        let path = input["file_path"].as_str().unwrap();
        let name = std::path::Path::new(path).file_name().unwrap().to_str().unwrap().to_owned();
        (name, input["event"].as_str().or(input["source"].as_str()).unwrap().to_owned())
    };
    let told: Vec<(String, String)> = seen(&place).iter().map(short).collect();
    let wanted = [(".envrc", "add"), ("notes.txt", "unlink")];
    assert_eq!(told, wanted.map(|(name, event)| (name.to_owned(), event.to_owned())));
    // A settings file that is changed between two turns is told with the next.
    place.write(".claude/settings.json", "{}");
    say_ok(&mut session, "again").await;
    assert_eq!(short(&seen(&place)[2]), ("settings.json".into(), "project_settings".into()));
    say_ok(&mut session, "and again").await;
    assert_eq!(seen(&place).len(), 3, "once");
}

#[tokio::test]
async fn q7_a_change_of_the_model_is_told_and_can_be_refused() {
    let place = start(Scenario::new().otherwise(Reply::text("ok")));
    let settings = json!({"hooks": {
        "PreModelSwitch": keeping("grep -q '\"to_model\":\"claude-opus-5\"' $seen && { echo too dear >&2; exit 2; }; true"),
        "PostModelSwitch": keeping(""),
    }});
    let agent = with(&place, &settings).await;
    let mut session = agent.start();
    say_ok(&mut session, "one").await;
    let never = CancellationToken::new();
    let cheap = "claude-haiku-4-5".into();
    model_switch::change_model(&mut session, &cheap, "command", &never).await.unwrap();
    let dear = "claude-opus-5".into();
    let refused = model_switch::change_model(&mut session, &dear, "command", &never)
        .await
        .unwrap_err()
        .to_string();
    assert_eq!(refused, "a PreModelSwitch hook refused claude-opus-5: too dear");
    say_ok(&mut session, "two").await;
    assert_eq!(place.model.requests()[1].body["model"], "claude-haiku-4-5");
    let seen = seen(&place);
    let events: Vec<&str> =
        seen.iter().map(|input| input["hook_event_name"].as_str().unwrap()).collect();
    assert_eq!(events, ["PreModelSwitch", "PostModelSwitch", "PreModelSwitch"]);
    assert_eq!(seen[0]["source"], "command");
    assert!(seen[0]["context_tokens"].as_u64().unwrap() > 0);
    assert!(seen[0]["estimated_cache_write_usd"].as_f64().unwrap() > 0.0, "{}", seen[0]);
}

#[tokio::test]
async fn q7_a_hook_makes_the_checkout_of_an_agent() {
    let order =
        |prompt: &str| json!({"description": "d", "prompt": prompt, "isolation": "worktree",});
    let place = start(
        Scenario::new()
            .on(When::source("agent:general"), bash("touch made; pwd"))
            .on(When::source("agent:general"), Reply::text("done there"))
            .reply(Reply::tool("Agent", order("first")))
            .reply(Reply::tool("Agent", order("second")))
            .otherwise(Reply::text("all done")),
    );
    let create = keeping(
        r#"test -e "$CLAUDE_PROJECT_DIR/own" && { echo no room; exit 1; }
        mkdir "$CLAUDE_PROJECT_DIR/own"; echo "$CLAUDE_PROJECT_DIR/own""#,
    );
    let settings = json!({
        "hooks": {"WorktreeCreate": create, "WorktreeRemove": keeping("")},
        "permissions": {"allow": ["Bash"]},
    });
    let agent = with(&place, &settings).await;
    say_ok(&mut agent.start(), "go").await;
    assert!(exists(&place, "own/made"));
    let main: Vec<String> = place
        .model
        .requests()
        .iter()
        .filter(|request| request.source() == "main")
        .filter_map(everfold_testkit::Received::last_tool_results)
        .collect();
    assert!(main[0].contains("done there") && main[0].contains("It worked in"), "{main:?}");
    assert!(main[1].contains("a WorktreeCreate hook made no worktree: exit code 1"), "{main:?}");
    agent.shutdown().await;
    let seen = seen(&place);
    assert!(seen[0]["name"].as_str().unwrap().starts_with("agent-"));
    let removed = seen.iter().find(|input| input["hook_event_name"] == "WorktreeRemove").unwrap();
    assert!(removed["worktree_path"].as_str().unwrap().ends_with("/own"));
}

#[tokio::test]
async fn q7_a_refused_message_is_repeated_unless_the_hook_hides_it() {
    for (hide, shown) in [(false, true), (true, false)] {
        let place = start(Scenario::new().otherwise(Reply::text("ok")));
        let own = json!({"decision": "block", "reason": "no",
            "hookSpecificOutput": {"suppressOriginalPrompt": hide}});
        let hooks = json!({"UserPromptSubmit": command("", &format!("echo '{own}'"))});
        let agent = with(&place, &json!({ "hooks": hooks })).await;
        let EndReason::Failed(why) = say(&mut agent.start(), "my words").await.reason else {
            panic!()
        };
        assert_eq!(why.contains("my words"), shown, "{why}");
    }
}

#[tokio::test]
async fn q7_a_hook_of_a_skill_can_be_called_once() {
    let place = start(
        Scenario::new()
            .reply(bash("echo one"))
            .reply(bash("echo two"))
            .otherwise(Reply::text("done")),
    );
    let skill = "---\nname: watch\ndescription: d\nhooks:\n  PostToolUse:\n    - hooks:\n        \
        - command: echo x >> once.txt\n          once: true\n        \
        - command: echo x >> always.txt\n---\nWatch.";
    let path = place.dirs.home().join("skills/watch/SKILL.md");
    place.dirs.write(path, skill).unwrap();
    let agent = with(&place, &json!({"permissions": {"allow": ["Bash"]}})).await;
    say_ok(&mut agent.start(), "/watch").await;
    let lines = |name: &str| {
        std::fs::read_to_string(place.dirs.project().join(name)).unwrap().lines().count()
    };
    assert_eq!((lines("once.txt"), lines("always.txt")), (1, 2));
}

fn skill(place: &Place, name: &str, more: &str) {
    let text = format!("---\nname: {name}\ndescription: d\n{more}---\nDo it.");
    let path = place.dirs.home().join("skills").join(name).join("SKILL.md");
    place.dirs.write(path, &text).unwrap();
}

fn models(place: &Place) -> Vec<String> {
    let requests = place.model.requests();
    requests.iter().map(|request| request.body["model"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn q5_a_skills_model_goes_on_with_the_turn_and_the_next_message_has_the_own_again() {
    let place = start(
        Scenario::new()
            .reply(Reply::text("hello"))
            .reply(Reply::tool("Skill", json!({"skill": "cheap"})))
            .reply(bash("echo one"))
            .reply(Reply::text("done"))
            .otherwise(Reply::text("ok")),
    );
    skill(&place, "cheap", "model: claude-haiku-4-5\n");
    let agent =
        with(&place, &json!({"model": "claude-sonnet-4-5", "permissions": {"allow": ["Bash"]}}))
            .await;
    let mut session = agent.start();
    for words in ["hello", "use the skill", "and now"] {
        say_ok(&mut session, words).await;
    }
    let (own, cheap) = ("claude-sonnet-4-5", "claude-haiku-4-5");
    assert_eq!(models(&place), [own, own, cheap, cheap, own]);
    // What was lent is in the log: a resumed session goes back as well.
    say_ok(&mut session, "/cheap").await;
    let id = session.id().clone();
    drop(session);
    let (mut resumed, _) = agent.resume(id).await.unwrap();
    say_ok(&mut resumed, "after all").await;
    assert_eq!(models(&place)[5..], [cheap, own]);
}

#[tokio::test]
async fn q5_a_model_that_the_person_chooses_stays() {
    let place = start(Scenario::new().otherwise(Reply::text("ok")));
    skill(&place, "cheap", "model: claude-haiku-4-5\n");
    skill(&place, "same", "model: inherit\n");
    let agent = with(&place, &json!({"model": "claude-sonnet-4-5"})).await;
    let mut session = agent.start();
    say_ok(&mut session, "/cheap").await;
    let never = CancellationToken::new();
    model_switch::change_model(&mut session, &"claude-opus-5".into(), "command", &never)
        .await
        .unwrap();
    say_ok(&mut session, "/same").await;
    say_ok(&mut session, "three").await;
    assert_eq!(models(&place), ["claude-haiku-4-5", "claude-opus-5", "claude-opus-5"]);
}

#[tokio::test]
async fn q7_a_plan_is_approved_by_a_hook_where_nobody_is_there() {
    let exit = |plan: &str| Reply::tool("ExitPlanMode", json!({ "plan": plan }));
    let place = start(
        Scenario::new()
            .reply(exit("1. Everything at once"))
            .reply(exit("1. One step"))
            .otherwise(Reply::text("done")),
    );
    let decide = r#"grep -q Everything && d='{"behavior":"deny","message":"too much"}' || d='{"behavior":"allow"}'
        echo "{\"hookSpecificOutput\":{\"decision\":$d}}""#;
    let settings = json!({"permissions": {"defaultMode": "plan"},
        "hooks": {"PermissionRequest": command("ExitPlanMode", decide)}});
    let agent = with(&place, &settings).await;
    say_ok(&mut agent.start(), "plan").await;
    let result = |at: usize| place.model.requests()[at].last_tool_results().unwrap();
    assert!(result(1).contains("not approved: too much"), "{}", result(1));
    assert!(result(2).contains("A hook approved the plan"), "{}", result(2));
}
