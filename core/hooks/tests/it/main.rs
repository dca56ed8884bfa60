//! The contract of hooks (CONTRACTS 2.7), field by field.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

use everfold_hooks::{
    Act, CallFields, CommonFields, ElicitationReply, Elicited, HandlerAnswer, HandlerExit,
    HandlerFate, HookEvent, HookVerdict, Noted, Occasion, Often, Permission, Ran, Registry,
    SideRequest, Switch, Waits, let_go,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

fn registry(hooks: &Value) -> Registry {
    Registry::read(hooks.as_object().unwrap(), &|pointer| format!("at {pointer}"))
}

fn ran(code: i32, stdout: &str, stderr: &str) -> Ran {
    Ran { ended: HandlerExit::Code(code), stdout: stdout.into(), stderr: stderr.into() }
}

fn call<'a>(tool: &'a str, input: &'a Value) -> CallFields<'a> {
    CallFields { tool, input, id: "toolu_1" }
}

fn base() -> CommonFields<'static> {
    CommonFields {
        session_id: "s1",
        transcript_path: Path::new("/h/s1.jsonl"),
        cwd: Path::new("/p"),
        permission_mode: "default",
        effort: Some("high"),
        agent: None,
    }
}

#[test]
fn q7_handlers_are_read_with_all_their_fields() {
    let registry = registry(&json!({"PostToolUse": [{"matcher": "Edit|Write", "hooks": [
        {"type": "command", "command": "fmt", "timeout": 60, "if": "Edit(*.ts)", "async": true,
         "statusMessage": "formatting"},
        {"type": "command", "command": "prog", "args": ["a", "b c"]},
        {"type": "http", "url": "http://127.0.0.1:1/x", "headers": {"A": "$T"}, "allowedEnvVars": ["T"]},
    ]}]}));
    assert!(registry.problems.is_empty(), "{:?}", registry.problems);
    let input = json!({});
    let found = registry.called(&Occasion::PostToolUse {
        call: call("Edit", &input),
        response: &Value::Null,
        duration_ms: 1,
    });
    assert_eq!(found.len(), 3);
    assert_eq!(found[0].act, Act::Shell("fmt".into()));
    assert_eq!((found[0].timeout_s, found[0].waits), (Some(60), Waits::No));
    assert_eq!(found[0].condition.as_deref(), Some("Edit(*.ts)"));
    assert_eq!(found[0].origin, "at /hooks/PostToolUse/0");
    assert!(matches!(&found[1].act, Act::Program { args, .. } if args == &["a", "b c"]));
    assert!(matches!(&found[2].act, Act::Http { allowed, .. } if allowed == &["T"]));
    let other = call("Bash", &input);
    assert!(registry.called(&Occasion::PreToolUse(other)).is_empty());
}

#[test]
fn q7_what_cannot_be_read_is_named_and_the_rest_runs() {
    let registry = registry(&json!({
        "Stop": [{"hooks": [{"type": "prompt", "prompt": "x"}, {"command": "ok"}, {"command": ""}]}],
        "PreToolUse": [{"matcher": "(", "hooks": [{"command": "a"}]}, {"matcher": 3, "hooks": []}, "x"],
        "Setup": [], "Sotp": [], "SessionEnd": {},
    }));
    let reasons: Vec<&str> = registry.problems.iter().map(|p| p.reason.as_str()).collect();
    assert_eq!(reasons.len(), 7, "{reasons:?}");
    assert!(reasons.iter().any(|r| r.contains("does not happen")));
    assert!(reasons.iter().any(|r| r.contains("unknown event")));
    assert!(reasons.iter().any(|r| r.contains("has no \"command\"")));
    let stop = Occasion::Stop { again: false, last: "", tasks: &[] };
    assert_eq!(registry.called(&stop).len(), 2);
}

#[test]
fn q7_the_same_handler_of_two_files_runs_once() {
    let registry = registry(&json!({"Stop": [
        {"hooks": [{"type": "command", "command": "same"}]},
        {"matcher": "", "hooks": [{"command": "same"}, {"command": "other"}]},
    ]}));
    let stop = Occasion::Stop { again: false, last: "", tasks: &[] };
    let names: Vec<&str> = registry.called(&stop).iter().map(|handler| handler.name()).collect();
    assert_eq!(names, ["same", "other"]);
}

/// Every event with the fields of its own, as CONTRACTS 2.7 lists them.
fn cases<'a>(arguments: &'a Value, path: &'a Path) -> Vec<(Occasion<'a>, Vec<&'static str>)> {
    let call = call("Bash", arguments);
    let tool = ["tool_name", "tool_input", "tool_use_id"];
    let with = |more: &[&'static str]| [&tool[..], more].concat();
    vec![
        (Occasion::SessionStart { source: "compact", model: "m" }, vec!["source", "model"]),
        (Occasion::UserPromptSubmit { prompt: "hi", source: "user" }, vec!["prompt", "source"]),
        (
            Occasion::UserPromptExpansion {
                kind: "slash_command",
                name: "n",
                args: "a",
                source: "user",
                prompt: "/n a",
            },
            vec!["expansion_type", "command_name", "command_args", "command_source", "prompt"],
        ),
        (Occasion::PreToolUse(call), with(&[])),
        (
            Occasion::PostToolUse { call, response: arguments, duration_ms: 3 },
            with(&["tool_response", "duration_ms"]),
        ),
        (
            Occasion::PostToolUseFailure { call, error: "e", duration_ms: 3 },
            with(&["error", "is_interrupt", "duration_ms"]),
        ),
        (Occasion::PermissionDenied { call, reason: "r" }, with(&["reason"])),
        (
            Occasion::Notification { message: "m", kind: "permission_prompt" },
            vec!["message", "notification_type"],
        ),
        (Occasion::SubagentStart { id: "a", kind: "Explore" }, vec!["agent_id", "agent_type"]),
        (
            Occasion::SubagentStop { id: "a", kind: "x", transcript: path, again: true, last: "l" },
            vec![
                "stop_hook_active",
                "agent_id",
                "agent_type",
                "agent_transcript_path",
                "last_assistant_message",
            ],
        ),
        (
            Occasion::Stop { again: false, last: "l", tasks: &[] },
            vec!["stop_hook_active", "last_assistant_message", "background_tasks", "session_crons"],
        ),
        (Occasion::StopFailure { error: "e", last: "" }, vec!["error", "last_assistant_message"]),
        (
            Occasion::InstructionsLoaded { path, kind: "User", reason: "session_start" },
            vec!["file_path", "memory_type", "load_reason"],
        ),
        (
            Occasion::PreCompact { trigger: "auto", instructions: None },
            vec!["trigger", "custom_instructions"],
        ),
        (
            Occasion::PostCompact { trigger: "manual", summary: "s" },
            vec!["trigger", "compact_summary"],
        ),
        (Occasion::SessionEnd { reason: "other" }, vec!["reason"]),
    ]
}

/// The same for what happens around a conversation.
fn more_cases<'a>(value: &'a Value, path: &'a Path) -> Vec<(Occasion<'a>, Vec<&'static str>)> {
    let switch = Switch {
        from: "a",
        to: "b",
        source: "command",
        context_tokens: 7,
        cache_ttl: Some("5m"),
        write_usd: None,
    };
    let switched = vec![
        "from_model",
        "to_model",
        "requested_model",
        "source",
        "context_tokens",
        "prompt_cache_warm",
        "cache_ttl",
        "estimated_cache_write_usd",
    ];
    let asked =
        Elicited { server: "s", message: "m", schema: Some(value), url: None, id: Some("e") };
    let named = ["mcp_server_name", "mode", "elicitation_id"];
    vec![
        (
            Occasion::PermissionRequest { call: call("Bash", value), suggestions: value },
            vec!["tool_name", "tool_input", "tool_use_id", "permission_suggestions"],
        ),
        (Occasion::PostToolBatch { calls: std::slice::from_ref(value) }, vec!["tool_calls"]),
        (Occasion::PreModelSwitch(switch), switched.clone()),
        (Occasion::PostModelSwitch(switch), switched),
        (Occasion::ConfigChange { source: "user_settings", path }, vec!["source", "file_path"]),
        (Occasion::CwdChanged { old: path, new: path }, vec!["old_cwd", "new_cwd"]),
        (Occasion::FileChanged { path, change: "add" }, vec!["file_path", "event"]),
        (Occasion::WorktreeCreate { name: "n" }, vec!["name"]),
        (Occasion::WorktreeRemove { path }, vec!["worktree_path"]),
        (Occasion::Elicitation(asked), [&named[..], &["message", "requested_schema"]].concat()),
        (
            Occasion::ElicitationResult { asked, action: "accept", content: Some(value) },
            [&named[..], &["action", "content"]].concat(),
        ),
    ]
}

#[test]
fn q7_every_event_has_its_documented_input() {
    let (arguments, path) = (json!({"command": "ls"}), Path::new("/h/a.md"));
    let mut cases = cases(&arguments, path);
    cases.extend(more_cases(&arguments, path));
    assert_eq!(cases.len(), HookEvent::ALL.len());
    for (occasion, own) in cases {
        let input = occasion.input(&base());
        let mut wanted =
            vec!["session_id", "transcript_path", "cwd", "hook_event_name", "permission_mode"];
        wanted.push("effort");
        wanted.extend(own);
        let got: Vec<&str> = input.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(got, wanted, "{:?}", occasion.event());
        assert_eq!(input["hook_event_name"], occasion.event().name());
    }
    let server = CallFields { tool: "mcp__mem__save", input: &arguments, id: "i" };
    assert_eq!(Occasion::PreToolUse(server).input(&base())["mcp_server"], "mem");
}

#[test]
fn q7_exit_codes() {
    let blocked = |event| HandlerAnswer::read(event, &ran(2, "ignored", "  no way \n")).fate;
    for event in
        [HookEvent::PreToolUse, HookEvent::PreCompact, HookEvent::Stop, HookEvent::UserPromptSubmit]
    {
        assert_eq!(blocked(event), HandlerFate::Blocked("no way".into()));
    }
    assert_eq!(blocked(HookEvent::Notification), HandlerFate::Passed);
    let failed =
        HandlerAnswer::read(HookEvent::PreToolUse, &ran(1, "{\"continue\":false}", "boom\nmore"));
    assert_eq!(failed.fate, HandlerFate::Failed("exit code 1: boom".into()));
    assert_eq!(failed.stop, None, "a handler that failed has no say");
    for ended in [HandlerExit::TimedOut, HandlerExit::Signal(9), HandlerExit::NotRun("gone".into())]
    {
        let answer = HandlerAnswer::read(
            HookEvent::Stop,
            &Ran { ended, stdout: String::new(), stderr: String::new() },
        );
        assert!(matches!(answer.fate, HandlerFate::Failed(_)));
    }
}

#[test]
fn q7_plain_text_is_context_for_three_events_only() {
    for event in HookEvent::ALL {
        let answer = HandlerAnswer::read(*event, &ran(0, " remember this \n", ""));
        let wanted = matches!(
            event,
            HookEvent::SessionStart | HookEvent::UserPromptSubmit | HookEvent::UserPromptExpansion
        );
        assert_eq!(answer.context.is_some(), wanted, "{event:?}");
        assert_eq!(answer.fate, HandlerFate::Passed);
    }
}

#[test]
fn q7_the_fields_of_json_output() {
    let read = |event, value: Value| HandlerAnswer::read(event, &ran(0, &value.to_string(), ""));
    let own = |fields: Value| json!({"hookSpecificOutput": fields});
    let stop = read(
        HookEvent::PostToolUse,
        json!({"continue": false, "stopReason": "enough",
        "systemMessage": "note"}),
    );
    assert_eq!((stop.stop.as_deref(), stop.message.as_deref()), (Some("enough"), Some("note")));
    let block = read(HookEvent::Stop, json!({"decision": "block", "reason": "tests fail"}));
    assert_eq!(block.fate, HandlerFate::Blocked("tests fail".into()));
    let context = own(json!({"additionalContext": "c"}));
    for event in HookEvent::ALL {
        assert_eq!(read(*event, context.clone()).context.is_some(), event.takes_context());
    }
    let decided = read(
        HookEvent::PreToolUse,
        own(json!({"permissionDecision": "deny", "permissionDecisionReason": "why",
            "updatedInput": {"command": "ls"}})),
    );
    assert_eq!(decided.permission, Some((Permission::Deny, "why".into())));
    assert_eq!(decided.input, Some(json!({"command": "ls"})));
    let deferred = read(HookEvent::PreToolUse, own(json!({"permissionDecision": "defer"})));
    assert_eq!(deferred, HandlerAnswer::default());
    let output = own(json!({"updatedToolOutput": "short", "updatedInput": {"a": 1}}));
    let after = read(HookEvent::PostToolUse, output);
    assert_eq!((after.output, after.input), (Some(json!("short")), None));
    let broken = HandlerAnswer::read(HookEvent::SessionStart, &ran(0, "{ oops", ""));
    assert!(matches!(broken.fate, HandlerFate::Failed(_)) && broken.context.is_none());
}

#[test]
fn q7_a_first_line_can_ask_that_nobody_waits() {
    let own = Duration::from_millis(250);
    assert_eq!(let_go(r#"{"async":true,"asyncTimeout":250}"#), Some(Some(own)));
    assert_eq!(let_go(r#" {"async": true} "#), Some(None));
    for no in [r#"{"async":false}"#, r#"{"asyncTimeout":5}"#, r#"{"async":"true"}"#, "async", "{"] {
        assert_eq!(let_go(no), None, "{no}");
    }
}

#[test]
fn q7_what_is_said_in_the_persons_place() {
    let read = |decision: Value| {
        let said = json!({"hookSpecificOutput": {"decision": decision}, "systemMessage": "note"});
        HandlerAnswer::read(HookEvent::PermissionRequest, &ran(0, &said.to_string(), ""))
    };
    let yes = read(json!({"behavior": "allow", "updatedInput": {"command": "ls"}}));
    assert!(matches!(yes.permission, Some((Permission::Allow, _))));
    assert_eq!((yes.input, yes.message.as_deref()), (Some(json!({"command": "ls"})), Some("note")));
    let no = read(json!({"behavior": "deny", "message": "not today", "interrupt": true}));
    assert_eq!(no.permission, Some((Permission::Deny, "not today".into())));
    assert_eq!(no.stop.as_deref(), Some("not today"));
    let milder = read(json!({"behavior": "deny", "updatedInput": {"a": 1}}));
    assert_eq!((milder.stop, milder.input), (None, None));
    for nothing in [json!({}), json!("deny"), json!({"behavior": "ask"}), Value::Null] {
        assert_eq!(read(nothing).permission, None);
    }
    let exit = HandlerAnswer::read(HookEvent::PermissionRequest, &ran(2, "", "no"));
    assert_eq!(exit, HandlerAnswer::default(), "exit code 2 is not honoured");
    let elsewhere = HandlerAnswer::read(
        HookEvent::PostToolUse,
        &ran(0, r#"{"hookSpecificOutput":{"decision":{"behavior":"deny"}}}"#, ""),
    );
    assert_eq!(elsewhere.permission, None);
}

#[test]
fn q7_what_is_wanted_besides_is_taken_where_it_belongs() {
    let read = |event, own: Value| {
        let said = json!({ "hookSpecificOutput": own });
        HandlerAnswer::read(event, &ran(0, &said.to_string(), "")).wanted
    };
    for event in HookEvent::ALL {
        let all = json!({"retry": true, "suppressOriginalPrompt": true, "watchPaths": ["/a", "b"],
            "action": "accept", "content": {"n": 1}, "worktreePath": "/w"});
        let wanted = read(*event, all);
        let has = |wish| wanted.wishes.contains(&wish);
        assert_eq!(has(SideRequest::Retry), *event == HookEvent::PermissionDenied);
        assert_eq!(has(SideRequest::HidePrompt), *event == HookEvent::UserPromptSubmit);
        assert_eq!(wanted.watch.len(), usize::from(event.leaves_variables()), "absolute ones");
        let asks = matches!(event, HookEvent::Elicitation | HookEvent::ElicitationResult);
        assert_eq!(wanted.reply.is_some(), asks);
        assert_eq!(wanted.place.is_some(), *event == HookEvent::WorktreeCreate);
    }
    let place = HandlerAnswer::read(HookEvent::WorktreeCreate, &ran(0, "/w/x\n", "")).wanted.place;
    assert_eq!(place.as_deref(), Some(Path::new("/w/x")));
    let mut verdict = HookVerdict::default();
    for (action, content) in [("accept", json!({"n": 1})), ("decline", Value::Null)] {
        let own = json!({"hookSpecificOutput": {"action": action, "content": content}});
        let answer = HandlerAnswer::read(HookEvent::Elicitation, &ran(0, &own.to_string(), ""));
        verdict.add(HookEvent::Elicitation, "h", answer);
    }
    let declined = ElicitationReply { action: "decline".into(), content: None };
    assert_eq!(verdict.wanted.reply, Some(declined), "of two, the one that does not accept");
    let mut failed = HookVerdict::default();
    failed.add(
        HookEvent::WorktreeCreate,
        "h",
        HandlerAnswer::read(HookEvent::WorktreeCreate, &ran(1, "", "no")),
    );
    assert_eq!(failed.blocked.as_deref(), Some("exit code 1: no"), "any failure makes none");
}

#[test]
fn q7_files_are_matched_by_name_and_once_is_for_skills() {
    let hooks = json!({"FileChanged": [{"matcher": ".envrc|a.b", "hooks": [
        {"command": "c", "once": true}]}]});
    let read = registry(&hooks);
    assert!(read.problems.is_empty());
    assert_eq!(read.watched().collect::<Vec<_>>(), [".envrc", "a.b"]);
    let called = |name: &str| {
        let path = Path::new("/p").join(name);
        read.called(&Occasion::FileChanged { path: &path, change: "change" })
            .into_iter()
            .map(|handler| handler.often)
            .collect::<Vec<_>>()
    };
    assert_eq!(called("a.b"), [Often::Always], "settings are not asked once");
    assert!(called("axb").is_empty());
    let skill = Registry::of_skill(hooks.as_object().unwrap(), &|_| "the skill s".into());
    assert_eq!(skill.handlers().next().unwrap().1.often, Often::Once);
}

#[test]
fn q7_the_strictest_of_several_answers_holds() {
    let said = |decision, reason: &str| HandlerAnswer {
        permission: Some((decision, reason.into())),
        context: Some(reason.into()),
        ..HandlerAnswer::default()
    };
    let mut verdict = HookVerdict::default();
    verdict.add(HookEvent::PreToolUse, "a", said(Permission::Allow, "fine"));
    verdict.add(HookEvent::PreToolUse, "b", said(Permission::Deny, "never"));
    verdict.add(HookEvent::PreToolUse, "c", said(Permission::Ask, "ask"));
    let failed =
        HandlerAnswer { fate: HandlerFate::Failed("gone".into()), ..HandlerAnswer::default() };
    verdict.add(HookEvent::PreToolUse, "d", failed);
    assert_eq!(verdict.permission, Some((Permission::Deny, "never".into())));
    assert_eq!(verdict.contexts, ["fine", "never", "ask"]);
    assert_eq!(verdict.notes, [Noted::Failed { handler: "d".into(), reason: "gone".into() }]);
    assert_eq!(verdict.blocked, None);
    let mut told = HookVerdict::default();
    let blocks =
        HandlerAnswer { fate: HandlerFate::Blocked("hm".into()), ..HandlerAnswer::default() };
    told.add(HookEvent::SessionStart, "a", blocks);
    assert_eq!((told.blocked, told.notes), (None, vec![Noted::Said("hm".into())]));
}

proptest! {
    /// Whatever a handler prints, there is an answer, and reading settings
    /// never fails either.
    #[test]
    fn q7_nothing_that_a_handler_prints_breaks_anything(
        code in -2..4, stdout in ".{0,60}|\\{.{0,60}\\}", stderr in ".{0,20}",
    ) {
        for event in HookEvent::ALL {
            let mut answer = HandlerAnswer::read(*event, &ran(code, &stdout, &stderr));
            answer.texts_mut().for_each(|text| text.truncate(0));
            HookVerdict::default().add(*event, "h", answer);
        }
    }

    #[test]
    fn q7_any_json_under_hooks_is_read(text in "[a-z{}\\[\\]\":, ]{0,40}", name in "[A-Za-z]{1,12}") {
        let value = serde_json::from_str::<Value>(&text).unwrap_or(Value::String(text));
        let registry = registry(&json!({ name: [{"matcher": value, "hooks": [value, {"command": value}]}],
            "Stop": value }));
        let stop = Occasion::Stop { again: false, last: "", tasks: &[] };
        let _ = registry.called(&stop);
    }
}
