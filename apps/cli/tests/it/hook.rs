//! `everfold hook`, as hosts call it (X1, CONTRACTS 2.7).

use crate::desk::{Desk, Ran, Running};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Every event that hosts may call it for, also those that are none of ours.
const EVENTS: [&str; 17] = [
    "SessionStart",
    "UserPromptSubmit",
    "PostToolUse",
    "PostToolUseFailure",
    "PreCompact",
    "PostCompact",
    "Stop",
    "SubagentStop",
    "SessionEnd",
    "PreToolUse",
    "Notification",
    "InstructionsLoaded",
    "BeforeAgent",
    "AfterAgent",
    "AfterTool",
    "PreCompress",
    "NoSuchEvent",
];

fn add(desk: &Desk, name: &str, description: &str, body: &str) {
    let args = [
        "memory",
        "add",
        "--name",
        name,
        "--description",
        description,
        "--type",
        "project",
        "--json",
    ];
    desk.run_with(&args, body).ok();
}

fn dir(desk: &Desk) -> PathBuf {
    PathBuf::from(desk.run(&["memory", "path"]).ok().out.trim())
}

fn input(desk: &Desk, event: &str, more: &Value) -> Value {
    let mut input = json!({
        "session_id": "0192f0c1-1111-7000-8000-000000000001",
        "transcript_path": desk.files.root().join("host.jsonl"),
        "cwd": desk.files.project(),
        "hook_event_name": event,
        "permission_mode": "default",
        "something_new": {"deep": [1, 2]},
    });
    input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    input
}

/// A hook, with what the desk switches off for others.
fn command(desk: &Desk, event: &str) -> std::process::Command {
    let mut command = desk.command(&["hook", event]);
    command.env("EVERFOLD_FLAG_EXTRACT", "1");
    command
}

fn hook(desk: &Desk, event: &str, more: &Value) -> Ran {
    let input = input(desk, event, more).to_string().into_bytes();
    Running::start(&mut command(desk, event), Some(input)).end()
}

/// The text for the model, of an answer that is as the contract has it.
#[track_caller]
fn context(ran: &Ran, event: &str) -> String {
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.err.is_empty(), "{}", ran.err);
    if ran.out.is_empty() {
        return String::new();
    }
    let answer = ran.json();
    assert_eq!(answer["hookSpecificOutput"]["hookEventName"], event);
    assert_eq!(answer.as_object().unwrap().len(), 1, "{answer}");
    let text = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned();
    assert!(text.encode_utf16().count() <= 10_000);
    text
}

fn transcript(desk: &Desk, said: &[&str]) {
    let lines: Vec<String> = said
        .iter()
        .enumerate()
        .map(|(at, text)| {
            json!({
                "type": "user", "uuid": format!("00000000-0000-4000-8000-{at:012}"),
                "parentUuid": null, "sessionId": "s", "timestamp": "2026-11-01T10:00:00.000Z",
                "cwd": "/p", "version": "2.1.325", "userType": "external", "isSidechain": false,
                "message": {"role": "user", "content": text},
            })
            .to_string()
        })
        .collect();
    std::fs::write(desk.files.root().join("host.jsonl"), lines.join("\n") + "\n").unwrap();
}

fn log(desk: &Desk) -> String {
    let path = desk.files.home().join(".everfold/logs/everfold.log");
    std::fs::read_to_string(path).unwrap_or_default()
}

#[test]
fn x1_a_session_starts_with_the_index_and_what_changed_since() {
    let desk = Desk::offline();
    assert_eq!(
        context(&hook(&desk, "SessionStart", &json!({"source": "startup"})), "SessionStart"),
        ""
    );
    add(&desk, "Deploy day", "deploys go out on Thursdays", "Support is there.");
    let first =
        context(&hook(&desk, "SessionStart", &json!({"source": "startup"})), "SessionStart");
    assert!(
        first.contains("- [Deploy day](deploy-day.md) — deploys go out on Thursdays"),
        "{first}"
    );
    assert!(!first.contains("Changed since"), "{first}");

    std::fs::write(dir(&desk).join("by-hand.md"), "Written elsewhere.\n").unwrap();
    let next = context(&hook(&desk, "SessionStart", &json!({"source": "startup"})), "SessionStart");
    assert!(
        next.contains(
            "Changed since the last session here:\n- added by-hand.md (from outside, today)"
        ),
        "{next}"
    );
    let again =
        context(&hook(&desk, "SessionStart", &json!({"source": "startup"})), "SessionStart");
    assert!(!again.contains("Changed since"), "{again}");
    let resumed =
        context(&hook(&desk, "SessionStart", &json!({"source": "resume"})), "SessionStart");
    assert_eq!(resumed, "", "a resumed session has the index");
}

/// Gemini CLI leaves messages out that begin with what a hook said, when a session
/// goes on later: nothing may stand in front of the person's first one.
#[test]
fn x1_gemini_cli_gets_the_index_behind_the_first_message() {
    let desk = Desk::offline();
    add(&desk, "Deploy day", "deploys go out on Thursdays", "Support is there.");
    let chat = desk.files.home().join(".gemini/tmp/p/chats/session-1.jsonl");
    let start = json!({"source": "startup", "transcript_path": chat});
    assert_eq!(hook(&desk, "SessionStart", &start).ok().out, "");
    let prompt = json!({"prompt": "hello", "transcript_path": chat});
    let first = context(&hook(&desk, "BeforeAgent", &prompt), "BeforeAgent");
    assert!(first.contains("- [Deploy day](deploy-day.md)"), "{first}");
    let second = hook(&desk, "BeforeAgent", &prompt).ok().out;
    assert!(!second.contains("[Deploy day]"), "once: {second}");
    hook(&desk, "SessionStart", &json!({"source": "resume", "transcript_path": chat})).ok();
    let resumed = hook(&desk, "BeforeAgent", &prompt).ok().out;
    assert!(!resumed.contains("[Deploy day]"), "it is still there: {resumed}");
}

/// Hosts write behind, so that several turns may be looked at in one.
#[test]
fn l5_11_a_model_that_saved_in_one_turn_takes_nothing_from_the_others() {
    let desk = Desk::offline();
    add(&desk, "Deploy day", "deploys go out on Thursdays", "Support is there.");
    let line = |id: usize, who: &str, content: Value| {
        let message = match who {
            "user" => json!({"role": "user", "content": content}),
            _ => json!({"role": "assistant", "id": format!("msg_{id}"), "type": "message",
                "model": "claude-opus-5", "stop_reason": "end_turn", "stop_sequence": null,
                "usage": {"input_tokens": 1, "output_tokens": 1}, "content": content}),
        };
        let line = json!({"type": who, "uuid": format!("00000000-0000-4000-8000-{id:012}"),
            "parentUuid": null, "sessionId": "s", "timestamp": "2026-11-01T10:00:00.000Z",
            "cwd": "/p", "version": "2.1.325", "userType": "external", "isSidechain": false,
            "message": message});
        format!("{line}\n")
    };
    let file = dir(&desk).join("cats.md");
    let call = json!([{"type": "tool_use", "id": "toolu_1", "name": "Write",
        "input": {"file_path": file, "content": "The cat is called Pixel."}}]);
    let result = json!([{"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok"}]);
    let done = json!([{"type": "text", "text": "Done."}]);
    let text = [
        line(0, "user", json!("Remember that the kitchen has green tea.")),
        line(1, "assistant", done.clone()),
        line(2, "user", json!("Remember that the cat is called Pixel.")),
        line(3, "assistant", call),
        line(4, "user", result),
        line(5, "assistant", done.clone()),
        line(6, "user", json!("Remember that the office is closed in August.")),
        line(7, "assistant", done),
    ];
    std::fs::write(desk.files.root().join("host.jsonl"), text.concat()).unwrap();
    hook(&desk, "Stop", &json!({})).ok();
    let kept = desk.run(&["memory", "list"]).ok().out;
    assert!(kept.contains("green-tea") && kept.contains("closed-in-august"), "{kept}");
    assert!(!kept.contains("the-cat-is-called"), "the model saved that: {kept}");
}

#[test]
fn x1_r7_a_prompt_brings_each_memory_once_until_a_summary() {
    let desk = Desk::offline();
    add(&desk, "Deploy day", "deploys of the shop go out on Thursdays", "Support is there.");
    add(&desk, "Tea", "the kitchen has green tea", "On the left.");
    let prompt = json!({"prompt": "when do deploys of the shop go out?", "source": "user"});
    let text = context(&hook(&desk, "UserPromptSubmit", &prompt), "UserPromptSubmit");
    assert!(
        text.starts_with("Memories that may help, from earlier conversations:\n")
            && text.contains("\n## deploy-day.md (today)\nSupport is there."),
        "{text}"
    );
    assert!(!text.contains("green tea") && !text.contains("<system-reminder>"), "{text}");
    assert_eq!(hook(&desk, "UserPromptSubmit", &prompt).ok().out, "", "not twice");
    hook(&desk, "SessionStart", &json!({"source": "compact"})).ok();
    let after = context(&hook(&desk, "UserPromptSubmit", &prompt), "UserPromptSubmit");
    assert_eq!(after, text, "a summary took it away");

    let gemini = json!({"prompt": "where is the green tea in the kitchen?"});
    assert!(context(&hook(&desk, "BeforeAgent", &gemini), "BeforeAgent").contains("On the left."));
    for quiet in [
        json!({"prompt": "deploys"}),
        json!({"prompt": ""}),
        json!({}),
        json!({"prompt": "when do deploys of the shop go out?", "source": "loop_wakeup", "session_id": "new"}),
    ] {
        assert_eq!(hook(&desk, "UserPromptSubmit", &quiet).ok().out, "");
    }
}

#[test]
fn x1_r7_a_memory_that_the_model_read_is_not_shown_again() {
    let desk = Desk::offline();
    add(&desk, "Deploy day", "deploys of the shop go out on Thursdays", "Support is there.");
    let file = dir(&desk).join("deploy-day.md");
    let read = json!({"tool_name": "Read", "tool_input": {"file_path": file}, "tool_response": {}});
    assert_eq!(hook(&desk, "PostToolUse", &read).ok().out, "");
    let prompt = json!({"prompt": "when do deploys of the shop go out?"});
    assert_eq!(hook(&desk, "UserPromptSubmit", &prompt).ok().out, "");
    hook(&desk, "SessionEnd", &json!({"reason": "other"})).ok();
    let list = || desk.run(&["memory", "list", "--json"]).ok().json();
    wait_for(|| list()[0]["used"] == 1);
}

#[test]
fn r17_a_failed_tool_brings_in_the_memory_that_knows_the_cause_once() {
    let desk = Desk::offline();
    add(&desk, "SQLITE_BUSY", "why SQLITE_BUSY comes up in db_main", "Stop the watcher first.");
    add(&desk, "Tests", "how the tests of the shop are run", "Run make check after an error.");
    let said = "Exit code 5\nError: SQLITE_BUSY: db_main is locked";
    let failed = |session: &str, more: Value| {
        let mut input = json!({"session_id": session, "tool_name": "Bash",
            "tool_input": {"command": "make"}});
        input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        input
    };
    let input = failed("a", json!({"error": said}));
    let text = context(&hook(&desk, "PostToolUseFailure", &input), "PostToolUseFailure");
    assert!(text.contains("Stop the watcher first.") && !text.contains("make check"), "{text}");
    assert_eq!(hook(&desk, "PostToolUseFailure", &input).ok().out, "", "not twice");

    // Hosts without an event of its own say it in the answer of the tool.
    for (at, answer) in [
        json!({"stdout": said, "exit_code": 5}),
        json!({"llmContent": "", "error": {"message": said}}),
        json!({"isError": true, "content": [{"type": "text", "text": said}]}),
    ]
    .into_iter()
    .enumerate()
    {
        let input = failed(&format!("b{at}"), json!({"tool_response": answer}));
        let text = context(&hook(&desk, "PostToolUse", &input), "PostToolUse");
        assert!(text.contains("Stop the watcher first."), "{input}: {text}");
    }
    for (event, more) in [
        ("PostToolUseFailure", json!({"error": said, "is_interrupt": true})),
        ("PostToolUseFailure", json!({"error": "the build of the shop failed with an error"})),
        ("PostToolUse", json!({"tool_response": {"stdout": said, "exit_code": 0}})),
        ("PostToolUse", json!({"tool_response": {"stdout": said, "error": null}})),
    ] {
        assert_eq!(hook(&desk, event, &failed("c", more.clone())).ok().out, "", "{more}");
    }
    let settings = desk.files.home().join(".everfold/settings.json");
    desk.files.write(settings, r#"{"everfold": {"recall": {"on_failure": false}}}"#).unwrap();
    let input = failed("d", json!({"error": said}));
    assert_eq!(hook(&desk, "PostToolUseFailure", &input).ok().out, "", "C6: switched off");
}

/// A worker does its work after the hook: waits for it, for a bounded time.
fn wait_for(done: impl Fn() -> bool) {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while !done() {
        assert!(std::time::Instant::now() < deadline, "the worker did not do its work");
        std::thread::yield_now();
    }
}

#[test]
fn x1_l5_19_what_the_person_asks_to_keep_is_kept_when_the_answer_is_complete() {
    let desk = Desk::offline();
    transcript(&desk, &["Remember that we deploy the shop on Thursdays.", "now fix the login"]);
    assert_eq!(hook(&desk, "Stop", &json!({"stop_hook_active": false})).ok().out, "");
    let list = desk.run(&["memory", "list", "--json"]).ok().json();
    assert_eq!(list.as_array().unwrap().len(), 1, "{list}");
    assert!(
        list[0]["preview"].as_str().unwrap().contains("deploy the shop on Thursdays"),
        "{list}"
    );
    let blame = desk.run(&["memory", "log", "--json"]).ok().json();
    assert_eq!(blame[0]["author"]["source"], "extract", "{blame}");
    assert_eq!(blame[0]["session"], "0192f0c1-1111-7000-8000-000000000001", "{blame}");
    for event in ["Stop", "SubagentStop", "PreCompact"] {
        hook(&desk, event, &json!({})).ok();
    }
    let again = desk.run(&["memory", "list", "--json"]).ok().json();
    assert_eq!(again.as_array().unwrap().len(), 1, "once: {again}");
}

#[test]
fn x1_l5_24_with_the_inbox_it_waits_for_a_word() {
    let desk = Desk::offline();
    let home = desk.files.home().join(".everfold");
    std::fs::create_dir_all(&home).unwrap();
    std::fs::write(home.join("settings.json"), r#"{"everfold": {"memory": {"review": "inbox"}}}"#)
        .unwrap();
    transcript(&desk, &["Always run the linter before you commit."]);
    hook(&desk, "Stop", &json!({})).ok();
    assert_eq!(desk.run(&["memory", "list", "--json"]).ok().json(), json!([]));
    let inbox = desk.run(&["memory", "inbox", "--json"]).ok().json();
    assert_eq!(inbox.as_array().unwrap().len(), 1, "{inbox}");
}

#[test]
fn x1_what_a_summary_loses_comes_back_with_the_start_after_it() {
    let desk = Desk::offline();
    add(&desk, "Deploy day", "deploys go out on Thursdays", "Support is there.");
    transcript(
        &desk,
        &[
            "Please migrate the billing module to the new ledger",
            "keep the legacy invoice numbers unchanged",
        ],
    );
    assert_eq!(
        hook(&desk, "PreCompact", &json!({"trigger": "auto", "custom_instructions": null}))
            .ok()
            .out,
        ""
    );
    let summary = "We migrate the billing module to the new ledger, please.";
    let after = json!({"trigger": "auto", "compact_summary": summary});
    assert_eq!(hook(&desk, "PostCompact", &after).ok().out, "");
    let text = context(&hook(&desk, "SessionStart", &json!({"source": "compact"})), "SessionStart");
    assert!(text.contains("- keep the legacy invoice numbers unchanged"), "{text}");
    assert!(!text.contains("- Please migrate"), "{text}");
    assert!(text.contains("Deploy day"), "the index comes back too: {text}");
}

#[test]
fn x1_nothing_breaks_the_host() {
    let desk = Desk::offline();
    add(&desk, "Deploy day", "deploys go out on Thursdays", "Support is there.");
    let huge =
        json!({"prompt": "deploy ".repeat(300_000), "compact_summary": "x".repeat(2_000_000)});
    let huge = input(&desk, "UserPromptSubmit", &huge).to_string();
    let mut bad_bytes = input(&desk, "Stop", &json!({"prompt": "PLACE"})).to_string().into_bytes();
    let at = bad_bytes.windows(5).position(|part| part == b"PLACE").unwrap();
    bad_bytes[at] = 0xff;
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let inputs: Vec<Vec<u8>> = vec![
        Vec::new(),
        b"{}".to_vec(),
        b"null".to_vec(),
        b"{\"session_id\": 5, \"cwd\": [], \"prompt\": {}}".to_vec(),
        b"{\"cwd\": \"/no/such/place\", \"transcript_path\": \"/no/such/file\"}".to_vec(),
        b"{\"cwd\": \"../..\", \"session_id\": \"../../../etc/passwd\", \"transcript_path\": \"/etc/passwd\"}".to_vec(),
        b"not json".to_vec(),
        vec![0xff; 100],
        bad_bytes,
        huge.into_bytes(),
        deep.into_bytes(),
    ];
    for event in EVENTS {
        for bytes in &inputs {
            let ran = desk.run_with(&["hook", event], bytes.clone());
            assert_eq!(ran.code, Some(0), "{event}: {ran:?}");
            assert!(ran.err.is_empty(), "{event}: {}", ran.err);
            assert!(
                ran.out.is_empty() || ran.out.starts_with("{\"hookSpecificOutput\""),
                "{ran:?}"
            );
        }
    }
    assert!(log(&desk).contains("a hook did nothing"), "there is a line in the log");
    for args in [&["hook"][..], &["hook", "--what", "Stop"], &["hook", "", "x", "--home"]] {
        let ran = desk.run_with(args, "{}");
        assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "", ""), "{args:?}");
    }
}

#[test]
fn x1_broken_settings_and_closed_directories_do_not_break_the_host() {
    let desk = Desk::offline();
    let home = desk.files.home().join(".everfold");
    std::fs::create_dir_all(&home).unwrap();
    std::fs::write(home.join("settings.json"), "{ broken").unwrap();
    for event in EVENTS {
        let ran = hook(&desk, event, &json!({"prompt": "two words", "source": "startup"}));
        assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "", ""), "{event}");
    }
    assert!(log(&desk).contains("settings.json"), "{}", log(&desk));
    std::fs::write(home.join("settings.json"), r#"{"autoMemoryEnabled": false}"#).unwrap();
    transcript(&desk, &["Remember that memory is off today."]);
    hook(&desk, "Stop", &json!({})).ok();
    assert!(!home.join("projects").exists(), "off is off");
}

#[test]
fn x1_c4_settings_of_a_repository_with_comments_do_not_stop_hooks() {
    let desk = Desk::offline();
    add(&desk, "Deploy day", "deploys of the shop go out on Thursdays", "Support is there.");
    let settings = "{\n  // the team's\n  \"model\": \"opus\",\n}\n";
    desk.files.write(".claude/settings.json", settings).unwrap();
    let prompt = json!({"prompt": "when do deploys of the shop go out?"});
    let text = context(&hook(&desk, "UserPromptSubmit", &prompt), "UserPromptSubmit");
    assert!(text.contains("Support is there."), "{text}");
    assert!(log(&desk).contains("settings.json, line 2, column 3"), "{}", log(&desk));
    desk.run(&["memory", "list"]).ok();
    // Who switches memories off there is heard all the same.
    let settings = "{\n  // no\n  \"autoMemoryEnabled\" : false,\n}\n";
    desk.files.write(".claude/settings.local.json", settings).unwrap();
    let prompt = json!({"prompt": "when do deploys of the shop go out?", "session_id": "new"});
    assert_eq!(hook(&desk, "UserPromptSubmit", &prompt).ok().out, "");
}

#[test]
fn x1_twenty_at_once_lose_nothing() {
    let desk = Desk::offline();
    transcript(&desk, &["Remember that we deploy the shop on Thursdays."]);
    add(&desk, "Deploy day", "deploys of the shop go out on Thursdays", "Support is there.");
    let events = ["UserPromptSubmit", "Stop", "PostToolUse", "SessionStart", "PreCompact"];
    let running: Vec<Running> = (0..20)
        .map(|at| {
            let event = events[at % events.len()];
            let more = json!({"prompt": "when do deploys of the shop go out?", "source": "startup",
                "session_id": format!("s{at}"), "tool_name": "Write",
                "tool_input": {"file_path": dir(&desk).join("deploy-day.md")}});
            let text = input(
                &desk,
                event,
                &if event == "UserPromptSubmit" {
                    json!({"prompt": more["prompt"], "session_id": more["session_id"]})
                } else {
                    more
                },
            );
            Running::start(&mut command(&desk, event), Some(text.to_string().into_bytes()))
        })
        .collect();
    for ran in running {
        let ran = ran.end();
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    }
    let list = desk.run(&["memory", "list", "--json"]).ok().json();
    assert_eq!(list.as_array().unwrap().len(), 2, "one each, not eight: {list}");
    desk.run(&["memory", "check", "--json"]).ok();
}

#[test]
fn x1_c6_a_switch_turns_each_part_off() {
    let desk = Desk::offline();
    add(&desk, "Deploy day", "deploys of the shop go out on Thursdays", "Support is there.");
    transcript(&desk, &["Remember that the kitchen has tea."]);
    let run = |flag: &str, event: &str, more: Value| {
        let mut command = desk.command(&["hook", event]);
        command.env(flag, "0");
        Running::start(&mut command, Some(input(&desk, event, &more).to_string().into_bytes()))
            .end()
            .ok()
    };
    let prompt = json!({"prompt": "when do deploys of the shop go out?"});
    assert_eq!(run("EVERFOLD_FLAG_RECALL", "UserPromptSubmit", prompt).out, "");
    run("EVERFOLD_FLAG_EXTRACT", "Stop", json!({}));
    assert_eq!(desk.run(&["memory", "list", "--json"]).ok().json().as_array().unwrap().len(), 1);
}

#[test]
fn pc12_a_broken_cache_is_told_once_with_its_cost_and_cause() {
    let desk = Desk::offline();
    let transcript = desk.files.home().join(".claude/projects/-p/s.jsonl");
    std::fs::create_dir_all(transcript.parent().unwrap()).unwrap();
    let user = |id: &str, at: &str, text: &str| {
        json!({"type": "user", "uuid": id, "parentUuid": null, "sessionId": "s", "cwd": "/p",
            "version": "2.1.300", "userType": "external", "timestamp": at,
            "message": {"role": "user", "content": text}})
    };
    let answer = |id: &str, at: &str, read: u64, written: u64| {
        json!({"type": "assistant", "uuid": id, "parentUuid": null, "sessionId": "s", "cwd": "/p",
            "version": "2.1.300", "timestamp": at, "requestId": format!("req_{id}"),
            "message": {"role": "assistant", "id": format!("msg_{id}"), "type": "message",
                "model": "claude-opus-4-5", "content": [{"type": "text", "text": "Yes."}],
                "stop_reason": "end_turn",
                "usage": {"input_tokens": 3, "cache_read_input_tokens": read,
                    "cache_creation_input_tokens": written, "output_tokens": 5}}})
    };
    let first = [
        user("u1", "2026-11-16T10:00:00.000Z", "begin"),
        answer("a1", "2026-11-16T10:00:05.000Z", 0, 100_000),
    ];
    let broken = [
        user("u2", "2026-11-16T10:01:00.000Z", "go on"),
        answer("a2", "2026-11-16T10:01:05.000Z", 0, 101_000),
    ];
    let whole = [
        user("u3", "2026-11-16T10:02:00.000Z", "and now?"),
        answer("a3", "2026-11-16T10:02:05.000Z", 101_000, 500),
    ];
    let mut lines = String::new();
    let mut told = Vec::new();
    for turn in [first, broken, whole] {
        lines += &turn.map(|line| format!("{line}\n")).concat();
        std::fs::write(&transcript, &lines).unwrap();
        let more = json!({"transcript_path": transcript, "stop_hook_active": false});
        told.push(hook(&desk, "Stop", &more).ok().out);
    }
    assert_eq!((told[0].as_str(), told[2].as_str()), ("", ""), "{told:?}");
    let notice: Value = serde_json::from_str(&told[1]).unwrap();
    let notice = notice["systemMessage"].as_str().unwrap();
    // Written for 6.25 instead of read for 0.50 USD a million.
    assert!(notice.contains("100,003 tokens were paid for again ($0.58)"), "{notice}");
    assert!(notice.contains("from the first token"), "{notice}");
}
