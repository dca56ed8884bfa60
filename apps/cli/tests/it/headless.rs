//! `everfold -p` in each format.

use crate::desk::{Desk, KEY, Running};
use everfold_testkit::{Content, Reply, Scenario, oracle};
use serde_json::{Value, json};

/// Two rounds of tool calls, then an answer.
fn rounds() -> Desk {
    let desk = Desk::with(
        Scenario::new()
            .reply(
                Reply::default()
                    .and(Content::Text("Looking.".into()))
                    .and_tool("Read", json!({"file_path": "a.txt"}))
                    .and_tool("Glob", json!({"pattern": "*.txt"})),
            )
            .reply(Reply::tool("Read", json!({"file_path": "b.txt"})))
            .reply(Reply::text("Both are there.")),
    );
    desk.files.write("a.txt", "alpha\n").unwrap();
    desk.files.write("b.txt", "beta\n").unwrap();
    desk
}

#[test]
fn c1_text_is_only_the_answer() {
    let desk = rounds();
    let ran = desk.run(&["-p", "look at the files"]).ok();
    assert_eq!(ran.out, "Both are there.\n");
    assert_eq!(ran.err, "");
    let requests = desk.server().requests();
    assert_eq!(requests.len(), 3);
    oracle::assert_prefix_stable(&requests);
}

#[test]
fn c1_verbose_tells_of_tools_on_standard_error() {
    let ran = rounds().run(&["-p", "-v", "look at the files"]).ok();
    assert_eq!(ran.out, "Both are there.\n");
    assert!(ran.err.contains("tool: Read"), "{}", ran.err);
}

#[test]
fn c1_json_is_one_object() {
    let desk = rounds();
    let ran = desk.run(&["-p", "--output-format", "json", "look at the files"]).ok();
    assert_eq!(ran.out.lines().count(), 1);
    let result = ran.json();
    assert_eq!(result["type"], "result");
    assert_eq!(result["subtype"], "success");
    assert_eq!(result["is_error"], false);
    assert_eq!(result["result"], "Both are there.");
    assert_eq!(result["num_turns"], 3);
    assert_eq!(result["stop_reason"], "end_turn");
    assert!(result["duration_ms"].is_u64() && result["uuid"].is_string());
    let stem = desk.transcripts()[0].file_stem().unwrap().to_string_lossy().into_owned();
    assert_eq!(result["session_id"], stem);
    check_usage(&desk, &result);
}

/// The sums are those of the server.
fn check_usage(desk: &Desk, result: &Value) {
    let mut sum = everfold_kernel::Usage::default();
    let mut cost = 0.0;
    for request in desk.server().requests() {
        sum.add(&request.usage.unwrap());
        cost += request.cost.unwrap().0;
    }
    let usage = &result["usage"];
    assert_eq!(usage["input_tokens"], sum.input);
    assert_eq!(usage["output_tokens"], sum.output);
    assert_eq!(usage["cache_read_input_tokens"], sum.cache_read);
    assert_eq!(usage["cache_creation_input_tokens"], sum.cache_write());
    assert!((result["total_cost_usd"].as_f64().unwrap() - cost).abs() < 1e-9, "{result}");
    let by_model = &result["modelUsage"]["claude-sonnet-5-5"];
    assert_eq!(by_model["inputTokens"], sum.input);
    assert_eq!(by_model["cacheReadInputTokens"], sum.cache_read);
    assert!((by_model["costUSD"].as_f64().unwrap() - cost).abs() < 1e-9);
}

#[test]
fn q9_stream_json_is_one_object_a_line() {
    let ran = rounds().run(&["-p", "--output-format", "stream-json", "look"]).ok();
    let lines = ran.lines();
    let kinds: Vec<&str> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(
        kinds,
        [
            "system",
            "assistant",
            "assistant",
            "assistant",
            "user",
            "user",
            "assistant",
            "user",
            "assistant",
            "result"
        ]
    );
    let init = &lines[0];
    assert_eq!(init["subtype"], "init");
    assert_eq!(init["model"], "claude-sonnet-5-5");
    assert_eq!(init["permissionMode"], "default");
    assert_eq!(init["apiKeySource"], "ANTHROPIC_API_KEY");
    assert!(init["tools"].as_array().unwrap().contains(&json!("Read")));
    let first = &lines[1]["message"]["id"];
    assert!(lines[1..4].iter().all(|line| &line["message"]["id"] == first));
    assert!(
        lines[1..4].iter().all(|line| line["message"]["content"].as_array().unwrap().len() == 1)
    );
    assert_ne!(&lines[6]["message"]["id"], first);
    assert_eq!(lines[3]["message"]["stop_reason"], "tool_use");
    assert_eq!(lines[4]["message"]["content"][0]["type"], "tool_result");
    let session = &lines[9]["session_id"];
    assert!(lines.iter().all(|line| &line["session_id"] == session && line["uuid"].is_string()));
    assert_eq!(lines[9]["result"], "Both are there.");
}

#[test]
fn c1_piped_input_is_added_to_the_prompt() {
    let desk = Desk::with(Scenario::new());
    desk.run_with(&["-p", "explain this"], "fn main() {}\n").ok();
    desk.run_with(&["-p"], "only piped").ok();
    let requests = desk.server().requests();
    assert_eq!(requests[0].last_user_text(), "explain this\n\nfn main() {}");
    assert_eq!(requests[1].last_user_text(), "only piped");
}

#[test]
fn c1_a_prompt_may_be_the_name_of_a_command() {
    let desk = Desk::with(Scenario::new());
    let ran = desk.run(&["-p", "doctor", "--model", "claude-opus-5-5"]).ok();
    assert_eq!(ran.out, "You said: doctor\n");
    assert_eq!(desk.server().requests()[0].model(), "claude-opus-5-5");
}

#[test]
fn c1_flags_reach_the_request() {
    let desk = Desk::with(Scenario::new());
    let args = ["-p", "x", "--append-system-prompt", "Speak like a pirate."];
    desk.run(&args).ok();
    assert!(desk.server().requests()[0].system_text().contains("Speak like a pirate."));
}

#[test]
fn c1_max_turns_ends_a_turn() {
    let desk = Desk::with(Scenario::new().otherwise(Reply::tool("Glob", json!({"pattern": "*"}))));
    let args = ["-p", "--max-turns", "2", "--output-format", "json", "loop"];
    let result = desk.run(&args).failed(1).json();
    assert_eq!(result["subtype"], "error_max_turns");
    assert_eq!(result["is_error"], true);
    assert_eq!(result["num_turns"], 2);
    assert!(result["errors"][0].as_str().unwrap().contains("--max-turns"));
    assert_eq!(desk.server().requests().len(), 2);
}

#[test]
fn q6_a_headless_run_refuses_and_reports() {
    let desk = Desk::with(
        Scenario::new()
            .reply(Reply::tool("Write", json!({"file_path": "new.txt", "content": "x"})))
            .reply(Reply::text("I may not.")),
    );
    let result = desk.run(&["-p", "--output-format", "json", "write"]).ok().json();
    assert!(!desk.files.project().join("new.txt").exists());
    let denial = &result["permission_denials"][0];
    assert_eq!(denial["tool_name"], "Write");
    assert_eq!(denial["tool_input"]["file_path"], "new.txt");
    assert!(denial["tool_use_id"].is_string());
    let told = desk.server().requests()[1].last_tool_results().unwrap();
    assert!(told.contains("--allowed-tools"), "{told}");
}

#[test]
fn q6_rules_of_the_command_line_allow_and_deny() {
    let write = || Reply::tool("Write", json!({"file_path": "new.txt", "content": "x"}));
    let bash = || Reply::tool("Bash", json!({"command": "touch made.txt"}));
    let scenario = || Scenario::new().reply(write()).reply(bash()).reply(Reply::text("Done."));
    let desk = Desk::with(scenario());
    let rules = "Edit(*.txt), Bash(touch made.txt)";
    let result =
        desk.run(&["-p", "--output-format", "json", "--allowed-tools", rules, "x"]).ok().json();
    assert_eq!(result["permission_denials"], json!([]));
    assert!(desk.files.project().join("new.txt").exists());
    assert!(desk.files.project().join("made.txt").exists());

    let desk = Desk::with(scenario());
    let args = ["-p", "--permission-mode", "bypassPermissions", "--disallowed-tools", "Bash", "x"];
    desk.run(&args).ok();
    assert!(desk.files.project().join("new.txt").exists());
    assert!(!desk.files.project().join("made.txt").exists());
}

#[test]
fn q6_a_broken_rule_that_denies_is_no_way_to_start() {
    let desk = Desk::with(Scenario::new());
    let ran = desk.run(&["-p", "--disallowed-tools", "Bash(rm", "x"]).failed(2);
    assert!(ran.err.contains("Bash(rm") && ran.err.contains("hint:"), "{}", ran.err);
    assert!(desk.server().requests().is_empty());
}

#[test]
fn c1_add_dir_opens_a_directory() {
    let desk = Desk::with(
        Scenario::new()
            .reply(Reply::tool("Read", json!({"file_path": "../other/x.txt"})))
            .reply(Reply::text("ok")),
    );
    std::fs::create_dir(desk.files.root().join("other")).unwrap();
    std::fs::write(desk.files.root().join("other").join("x.txt"), "found me").unwrap();
    desk.run(&["-p", "--add-dir", "../other", "x"]).ok();
    let told = desk.server().requests()[1].last_tool_results().unwrap();
    assert!(told.contains("found me"), "{told}");
}

#[test]
fn s5_no_key_reaches_the_disk_and_files_are_private() {
    let desk = Desk::with(
        Scenario::new()
            .reply(Reply::tool("Bash", json!({"command": "env; cat key.txt"})))
            .reply(Reply::text("ok")),
    );
    desk.files.write("key.txt", KEY).unwrap();
    let args = ["-p", "--allowed-tools", "Bash", "--permission-mode", "bypassPermissions", "x"];
    let mut command = desk.command(&args);
    Running::start(command.env("EVERFOLD_LOG", "trace"), None).end().ok();
    let mut stack = vec![desk.files.home().join(".everfold")];
    let mut files = 0;
    while let Some(path) = stack.pop() {
        if path.is_dir() {
            stack.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            files += 1;
            let text = std::fs::read(&path).unwrap();
            assert!(!String::from_utf8_lossy(&text).contains(KEY), "{}", path.display());
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = path.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o077, 0, "{}", path.display());
        }
    }
    assert!(files >= 2, "a transcript and a log");
}

#[test]
fn q8_offline_works_without_key_and_network() {
    let desk = Desk::offline();
    desk.files.write("README.md", "the quick brown fox\n").unwrap();
    let ran = desk.run(&["-p", "read README.md"]).ok();
    assert!(ran.out.contains("the quick brown fox"), "{}", ran.out);
    assert!(ran.err.contains("offline"), "{}", ran.err);
    let result = desk.run(&["-p", "--output-format", "json", "read README.md"]).ok().json();
    assert_eq!(result["total_cost_usd"], 0.0);
}

#[test]
fn q8_an_overloaded_model_is_replaced() {
    let overloaded = everfold_testkit::When {
        model: Some("claude-sonnet-5-5".into()),
        ..everfold_testkit::When::default()
    };
    let desk = Desk::with(Scenario::new().always(overloaded, Reply::error(529, "overloaded")));
    let mut command = desk.command(&["-p", "-v", "--fallback-model", "claude-haiku-5-5", "hello"]);
    let ran = Running::start(command.env("EVERFOLD_LIMIT_MAX_RETRIES", "1"), None).end().ok();
    assert_eq!(ran.out, "You said: hello\n");
    assert!(ran.err.contains("to claude-haiku-5-5"), "{}", ran.err);
}

#[cfg(unix)]
#[test]
fn c1_an_interrupt_ends_the_turn_and_keeps_the_session() {
    let desk = Desk::with(Scenario::new().reply(Reply::text("a long answer").gate("never")));
    let running = Running::start(&mut desk.command(&["-p", "--output-format", "json", "go"]), None);
    desk.server().wait_for_requests_blocking(1).unwrap();
    running.signal("-INT");
    let result = running.end().failed(1).json();
    assert_eq!(result["subtype"], "error_during_execution");
    assert!(result["result"].as_str().unwrap().contains("--continue"));
    let ran = desk.run(&["-p", "-c", "still there?"]).ok();
    assert!(ran.out.ends_with("still there?\n"), "{}", ran.out);
    assert_eq!(desk.transcripts().len(), 1);
}

#[test]
fn q8_any_openai_compatible_server_will_do() {
    let desk = Desk::with(
        Scenario::new()
            .reply(Reply::tool("Read", json!({"file_path": "a.txt"})))
            .reply(Reply::text("It says alpha.")),
    );
    desk.files.write("a.txt", "alpha\n").unwrap();
    let ran = |args: &[&str]| {
        let mut command = desk.command(args);
        command.env_remove("ANTHROPIC_API_KEY").env_remove("ANTHROPIC_BASE_URL");
        command.env("OPENAI_BASE_URL", format!("{}/v1", desk.server().base_url()));
        Running::start(&mut command, None).end().ok()
    };
    let first = ran(&["-p", "--model", "local-model", "read a.txt"]);
    assert_eq!(first.out, "It says alpha.\n");
    ran(&["-p", "-c", "and now?"]);
    let requests = desk.server().requests();
    assert_eq!(requests.len(), 3);
    assert!(
        requests.iter().all(|r| r.path == "/v1/chat/completions" && r.model() == "local-model")
    );
    oracle::assert_prefix_stable(&requests);
}

#[test]
fn c1_an_answer_that_was_cut_is_told() {
    let desk = Desk::with(Scenario::new().otherwise(Reply::text("half").stop_reason("max_tokens")));
    let ran = desk.run(&["-p", "x"]).ok();
    assert_eq!(ran.out, "half\n");
    assert!(ran.err.contains("cut off at the token limit"), "{}", ran.err);
}

#[test]
fn c1_e7_a_turn_that_reaches_its_ceiling_ends_with_a_code_of_its_own() {
    let read = (0..8).fold(Reply::default(), |reply, number| {
        reply.and_tool("Read", json!({"file_path": format!("f{number}.txt")}))
    });
    let summary = Reply::text("<summary>It compares files.</summary>");
    let scenario =
        Scenario::new().always(everfold_testkit::When::source("compact"), summary).otherwise(read);
    let desk = Desk::with(scenario);
    for number in 0..8 {
        let line = format!("line of file {number} with a few words\n");
        desk.files.write(format!("f{number}.txt"), &line.repeat(2_200)).unwrap();
    }
    let settings = r#"{"everfold": {"budget": {"turn_ceiling_usd": 0.001}}}"#;
    desk.files.write("ceiling.json", settings).unwrap();
    let args = ["-p", "--model", "claude-haiku-4-5", "--settings", "ceiling.json"];
    let ran = desk.run(&[&args[..], &["--output-format", "json", "compare"]].concat()).failed(6);
    let result = ran.json();
    assert_eq!(result["subtype"], "error_spending_ceiling");
    assert_eq!(result["is_error"], true);
    assert_eq!(desk.server().requests_of("compact").len(), 1);
}
