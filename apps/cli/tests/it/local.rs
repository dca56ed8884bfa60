//! A model on one's own machine, as its user would have it.

use crate::desk::{Desk, Ran, Running};
use everfold_testkit::{
    LocalServer, Reply, Scenario, ServerProgram, ServerRules, TempHome, TestServer,
};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const MODEL: &str = "qwen2.5-coder:1.5b";

const PROGRAMS: [ServerProgram; 4] =
    [ServerProgram::LlamaCpp, ServerProgram::Ollama, ServerProgram::LmStudio, ServerProgram::Vllm];

fn desk(rules: ServerRules, replies: &[Reply]) -> Desk {
    let scenario = Scenario { server: rules, ..Scenario::new() };
    Desk::with(replies.iter().cloned().fold(scenario, Scenario::reply))
}

/// README's line for local servers.
fn run(desk: &Desk, args: &[&str]) -> Ran {
    run_with(desk, args, None)
}

fn run_with(desk: &Desk, args: &[&str], input: Option<Vec<u8>>) -> Ran {
    let mut command = desk.command(args);
    command.env_remove("ANTHROPIC_API_KEY").env_remove("ANTHROPIC_BASE_URL");
    command.env("OPENAI_BASE_URL", format!("{}/v1", desk.server().base_url()));
    Running::start(&mut command, input).end()
}

#[test]
fn q15_each_server_tells_its_model_and_its_window() {
    for program in PROGRAMS {
        let desk = desk(
            ServerRules::local(program, MODEL, 16_384),
            &[Reply::text("fine"), Reply::text("ok")],
        );
        let ran = run(&desk, &["-p", "--output-format", "json", "how are you?"]).ok();
        let result = ran.json();
        assert_eq!(result["result"], "fine", "{program:?}");
        assert_eq!(result["modelUsage"][MODEL]["contextWindow"], 16_384, "{program:?}: {result}");
        let requests = desk.server().requests();
        assert!(requests.iter().all(|request| request.model() == MODEL), "{program:?}");
        let most = requests[0].body["max_tokens"].as_u64().unwrap();
        assert!(most <= 16_384 * 15 / 100, "{program:?}: {most}");
        let shown = run(&desk, &["-p", "/context"]).ok().out;
        assert!(shown.contains(MODEL) && shown.contains("16,384"), "{program:?}: {shown}");
    }
}

#[test]
fn q16_the_lean_prompt_is_short_and_no_denied_tool_is_sent() {
    let desk = desk(
        ServerRules::local(ServerProgram::LlamaCpp, MODEL, 8_192),
        &[Reply::text("a"), Reply::text("b"), Reply::text("c")],
    );
    run(&desk, &["-p", "hi"]).ok();
    run(&desk, &["-p", "--disallowed-tools", "Bash", "hi"]).ok();
    let requests = desk.server().requests();
    let fixed = |at: usize| {
        let body = &requests[at].body;
        let system = body["messages"][0]["content"].as_str().unwrap();
        (system.len() + body["tools"].to_string().len()) / 4
    };
    assert!(fixed(0) < 1_200, "{}", fixed(0));
    let names = |at: usize| -> Vec<String> {
        let tools = requests[at].body["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(0), ["Read", "Write", "Edit", "Glob", "Grep", "Bash"]);
    assert_eq!(names(1), ["Read", "Write", "Edit", "Glob", "Grep"]);
}

#[test]
fn q16_elsewhere_a_denied_tool_is_not_sent_either_and_lean_can_be_asked_for() {
    let desk = Desk::with(Scenario::new().otherwise(Reply::text("ok")));
    desk.run(&["-p", "--disallowed-tools", "WebFetch,Agent", "hi"]).ok();
    desk.run(&["-p", "--lean", "hi"]).ok();
    let requests = desk.server().requests();
    let sent = |at: usize| requests[at].body["tools"].as_array().unwrap().len();
    let names = requests[0].body["tools"].to_string();
    assert!(!names.contains("\"WebFetch\"") && !names.contains("\"Agent\""), "{names}");
    assert!(names.contains("\"TodoWrite\""));
    assert_eq!(sent(1), 6);
}

#[test]
fn q19_a_paste_of_96_kb_never_takes_the_place_of_the_question() {
    let paste = "fn handle(request: Request) -> Response { todo!() }\n".repeat(1_900);
    assert!(paste.len() > 96_000);
    for window in [4_096, 8_192, 16_384, 32_768] {
        for program in [ServerProgram::LlamaCpp, ServerProgram::Plain] {
            let rules = ServerRules::local(program, MODEL, window);
            let scenario = Scenario::new().otherwise(Reply::text("line 7"));
            let desk = Desk::with(Scenario { server: rules, ..scenario });
            let question = "Which line returns too early?";
            let ran = run_with(&desk, &["-p", question], Some(paste.clone().into_bytes())).ok();
            assert_eq!(ran.out, "line 7\n", "{program:?} {window}");
            let answered: Vec<_> = desk
                .server()
                .requests()
                .into_iter()
                .filter(|request| request.usage.is_some() && request.source() == "main")
                .collect();
            assert!(!answered.is_empty(), "{program:?} {window}");
            for request in &answered {
                let body = request.body["messages"].to_string();
                assert!(body.contains(question), "{program:?} {window}: {body}");
            }
            let body = answered[0].body["messages"].to_string();
            let path = body.split("All of it is in ").nth(1).unwrap().split(": page").next();
            let kept = std::fs::read_to_string(path.unwrap()).unwrap();
            assert!(kept.contains(paste.trim()), "{program:?} {window}: the paste can be paged");
        }
    }
}

#[test]
fn q15_with_several_models_the_person_is_told_how_to_choose() {
    let local = LocalServer {
        program: ServerProgram::Ollama,
        models: vec!["llama3.2:3b".into(), "qwen3:8b".into()],
        tools: true,
    };
    let rules = ServerRules { window: 8_192, local: Some(local), ..ServerRules::default() };
    let desk = desk(rules, &[Reply::text("hello")]);
    let ran = run(&desk, &["-p", "hi"]).failed(2);
    assert!(
        ran.err.contains("llama3.2:3b, qwen3:8b") && ran.err.contains("--model"),
        "{}",
        ran.err
    );
    assert!(desk.server().requests().is_empty());
    run(&desk, &["-p", "--model", "qwen3:8b", "hi"]).ok();
    let doctor = run(&desk, &["doctor"]).out;
    assert!(doctor.contains("Ollama at") && doctor.contains("none of its models"), "{doctor}");
}

#[test]
fn q20_a_model_that_is_not_there_and_a_server_that_is_not_there_are_said() {
    for program in PROGRAMS {
        let desk = desk(ServerRules::local(program, MODEL, 8_192), &[]);
        let ran = run(&desk, &["-p", "--model", "gpt-oss", "hi"]).failed(1);
        assert!(ran.err.contains("does not have this model"), "{program:?}: {}", ran.err);
        assert!(ran.err.contains("--model"), "{program:?}: {}", ran.err);
        assert_eq!(desk.server().requests().len(), 1, "{program:?}: it is not tried again");
        let doctor = run(&desk, &["doctor", "--model", "gpt-oss"]).out;
        assert!(doctor.contains("it has no model gpt-oss"), "{program:?}: {doctor}");
    }
    let desk = Desk::offline();
    let mut command = desk.command(&["-p", "--model", "m", "hi"]);
    command.env("OPENAI_BASE_URL", "http://127.0.0.1:9/v1");
    command.env_remove("EVERFOLD_LIMIT_RETRY_BASE_MS").env_remove("EVERFOLD_LIMIT_RETRY_MAX_MS");
    let began = Instant::now();
    let ran = Running::start(&mut command, None).end().failed(1);
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    assert!(ran.err.contains("could not be reached"), "{}", ran.err);
    assert!(ran.err.contains("check that it runs"), "{}", ran.err);
}

#[test]
fn q15_a_window_that_an_overflow_told_is_kept_for_the_server() {
    let local =
        LocalServer { program: ServerProgram::Plain, models: vec![MODEL.into()], tools: true };
    let rules = ServerRules { window: 6_000, local: Some(local), ..ServerRules::default() };
    let scenario = Scenario { server: rules, ..Scenario::new().otherwise(Reply::text("done")) };
    let desk = Desk::with(scenario);
    let long = "a line of a log that says little\n".repeat(1_200);
    run_with(&desk, &["-p", "What is wrong?"], Some(long.into_bytes())).ok();
    let first = desk.server().requests().len();
    let ran = run(&desk, &["-p", "--output-format", "json", "and now?"]).ok();
    assert_eq!(ran.json()["modelUsage"][MODEL]["contextWindow"], 6_000);
    assert_eq!(desk.server().requests().len(), first + 1);
}

#[test]
fn q18_calls_that_come_as_text_are_calls() {
    let call = "```json\n{\"name\": \"Read\", \"arguments\": {\"file_path\": \"a.txt\"}}\n```";
    let desk = desk(
        ServerRules::local(ServerProgram::LlamaCpp, MODEL, 16_384),
        &[Reply::text(call), Reply::text("It says alpha.")],
    );
    desk.files.write("a.txt", "alpha\n").unwrap();
    let ran = run(&desk, &["-p", "what does a.txt say?"]).ok();
    assert_eq!(ran.out, "It says alpha.\n");
    let requests = desk.server().requests();
    let messages = requests[1].body["messages"].as_array().unwrap();
    let result = messages.iter().find(|message| message["role"] == "tool").unwrap();
    assert!(result["content"].as_str().unwrap().contains("alpha"), "{result}");
}

#[test]
fn q18_a_server_without_tools_is_asked_in_text() {
    for program in PROGRAMS {
        let local = LocalServer { program, models: vec![MODEL.into()], tools: false };
        let rules = ServerRules { window: 16_384, local: Some(local), ..ServerRules::default() };
        let call = "<tool_call>\n{\"name\": \"Read\", \"arguments\": {\"file_path\": \"a.txt\"}}\n</tool_call>";
        let desk = desk(rules, &[Reply::text(call), Reply::text("It says alpha.")]);
        desk.files.write("a.txt", "alpha\n").unwrap();
        let ran = run(&desk, &["-p", "what does a.txt say?"]).ok();
        assert_eq!(ran.out, "It says alpha.\n", "{program:?}");
        let requests = desk.server().requests();
        let last = &requests.last().unwrap().body;
        assert_eq!(last.get("tools"), None::<&Value>, "{program:?}");
        let told = last["messages"].to_string();
        assert!(told.contains("<tool_response>") && told.contains("alpha"), "{program:?}: {told}");
        assert!(!told.contains("\"tool_calls\""), "{program:?}");
        let system = json!(last["messages"][0]["content"]).to_string();
        assert!(system.contains("You have tools"), "{program:?}");
    }
}

/// A server with one slot; the review's answer waits at a gate.
fn one_slot() -> Desk {
    let rules = ServerRules::local(ServerProgram::LlamaCpp, MODEL, 16_384);
    let server = TestServer::with_handler(rules, |request| {
        if request.source() != "extract" {
            return Reply::text("I will.");
        }
        Reply::text(json!({"kind": "feedback"}).to_string()).gate("review")
    });
    Desk { files: TempHome::new().unwrap(), server: Some(server.unwrap()) }
}

const PROMPT: &str = "Use a real database in the integration tests, not mocks.";

fn run_reviewed(desk: &Desk, args: &[&str]) -> (Ran, Duration) {
    // The worker reviews only if it is told what the run was told.
    let mut args = args.to_vec();
    args.extend(["--settings", r#"{"everfold":{"flags":{"extract":true}}}"#]);
    let mut command = desk.command(&args);
    command.env_remove("ANTHROPIC_API_KEY").env_remove("ANTHROPIC_BASE_URL");
    command.env("OPENAI_BASE_URL", format!("{}/v1", desk.server().base_url()));
    command.env_remove("EVERFOLD_FLAG_EXTRACT");
    let began = Instant::now();
    (Running::start(&mut command, None).end().ok(), began.elapsed())
}

#[test]
fn q17_with_one_slot_a_run_leaves_its_review_to_a_worker_that_gives_way() {
    let desk = one_slot();
    let reviews = || desk.server().requests_of("extract").len();
    let until = |wanted: &dyn Fn() -> bool, what: &str| {
        let end = Instant::now() + Duration::from_secs(20);
        while !wanted() {
            assert!(Instant::now() < end, "{what}");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    let (ran, took) = run_reviewed(&desk, &["-p", PROMPT]);
    assert_eq!(ran.out, "I will.\n");
    assert!(took < Duration::from_secs(8), "it waited for the review: {took:?}");
    until(&|| reviews() >= 1, "the worker reviews");
    // The review hangs; the person's next message does not wait for it.
    let (ran, took) = run_reviewed(&desk, &["-p", "-c", "and now?"]);
    assert_eq!(ran.out, "I will.\n");
    assert!(took < Duration::from_secs(8), "it waited for the worker: {took:?}");
    until(&|| reviews() >= 2, "what was stopped is done later");
    desk.server().release("review");
    let list = || desk.run(&["memory", "list", "--json"]).ok().out;
    until(&|| list().contains("real database in the integration tests"), "nothing is lost");
    let review = desk.server().requests_of("extract").pop().unwrap();
    assert_eq!(review.body.get("tools"), None::<&Value>, "one question with a form");
    assert_eq!(review.last_user_text(), PROMPT, "the words are the person's");
    assert_eq!(review.body["temperature"], 0);
    assert!(review.body["response_format"]["json_schema"].is_object());
}

#[test]
fn q16_the_fixed_prompt_of_a_large_window_is_under_4500_tokens() {
    let desk =
        desk(ServerRules::local(ServerProgram::LlamaCpp, MODEL, 131_072), &[Reply::text("fine")]);
    run(&desk, &["-p", "hi"]).ok();
    let body = desk.server().requests()[0].body.clone();
    let system = body["messages"][0]["content"].as_str().unwrap().len();
    let tokens = (system + body["tools"].to_string().len()) / 4;
    assert!(tokens < 4_500, "{tokens}");
}

#[test]
fn q17_how_far_the_prompt_is_read_is_said() {
    for (program, told) in [
        (ServerProgram::LlamaCpp, "tokens of the prompt read, no answer yet"),
        (ServerProgram::Vllm, "no answer yet"),
    ] {
        let rules = ServerRules::local(program, MODEL, 16_384);
        let mut slow = Reply::text("done").gate("read");
        if program == ServerProgram::Vllm {
            slow.gate.as_mut().unwrap().after_events = 0;
        }
        let desk = desk(rules, &[slow]);
        let mut command = desk.command(&["-p", "hi"]);
        command.env_remove("ANTHROPIC_API_KEY").env_remove("ANTHROPIC_BASE_URL");
        command.env("OPENAI_BASE_URL", format!("{}/v1", desk.server().base_url()));
        command.env("EVERFOLD_LIMIT_WAIT_NOTICE_MS", "50");
        let running = Running::start(&mut command, None);
        let end = Instant::now() + Duration::from_secs(20);
        while desk.server().requests().is_empty() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(20));
        }
        // Several times as long as until it is told.
        std::thread::sleep(Duration::from_millis(600));
        desk.server().release("read");
        let ran = running.end().ok();
        assert_eq!(ran.out, "done\n", "{program:?}");
        assert!(ran.err.contains(told), "{program:?}: {}", ran.err);
        let is_asked = desk.server().requests()[0].body.get("return_progress").is_some();
        assert_eq!(is_asked, program == ServerProgram::LlamaCpp, "{program:?}");
    }
}

#[test]
fn u8_a_model_is_questioned_by_the_list_of_the_server() {
    let desk = desk(ServerRules::local(ServerProgram::Ollama, MODEL, 8_192), &[]);
    let lines = "/model\n/model qwen2.5-coder:1.6b\n/model claude-sonnet-5-5\n/quit\n";
    let ran = run_with(&desk, &[], Some(lines.into())).ok();
    let told = format!("{}{}", ran.out, ran.err);
    assert!(told.contains(&format!("did you mean {MODEL}?")), "{told}");
    let has = format!("the server has no model claude-sonnet-5-5 (it has {MODEL})");
    assert!(told.contains(&has), "{told}");
    assert!(!told.contains("in the table") && !told.contains("claude-opus"), "{told}");
    assert!(ran.out.trim_end().ends_with(&format!("model: {MODEL}")), "it stays: {told}");
}

const RELEASES: [(&str, &str); 3] = [
    (
        "releases",
        "Releases are cut on Friday mornings by Ines on the machine called kestrel, as the board once decided.",
    ),
    (
        "who-releases",
        "Releases are cut on Friday mornings by Ines on the machine called kestrel, where the keys are kept.",
    ),
    (
        "freeze",
        "Releases are cut on Friday mornings by Ines on the machine called kestrel, unless there is a freeze.",
    ),
];

/// A store with three memories that may say the same, and a dream of it.
fn dreamt(answer: fn(&str) -> &'static str) -> (Desk, Value) {
    let rules = ServerRules::local(ServerProgram::LlamaCpp, MODEL, 16_384);
    let server = TestServer::with_handler(rules, move |request| {
        Reply::text(answer(&request.last_user_text()))
    });
    let desk = Desk { files: TempHome::new().unwrap(), server: Some(server.unwrap()) };
    let dir = desk.run(&["memory", "path"]).ok().out;
    std::fs::create_dir_all(dir.trim()).unwrap();
    for (name, body) in RELEASES {
        let head = format!("name: {name}\ndescription: about {name}\nmetadata:\n  type: project");
        let path = std::path::Path::new(dir.trim()).join(format!("{name}.md"));
        std::fs::write(path, format!("---\n{head}\n---\n\n{body}\n")).unwrap();
    }
    let ran = run(&desk, &["dream", "--force", "--json"]).ok();
    (desk, serde_json::from_str(&ran.out).unwrap())
}

fn stored(desk: &Desk) -> Vec<String> {
    let dir = desk.run(&["memory", "path"]).ok().out;
    let files = std::fs::read_dir(dir.trim()).unwrap().map(|file| file.unwrap().path());
    let is_memory = |path: &std::path::PathBuf| {
        path.extension().is_some_and(|kind| kind == "md") && !path.ends_with("MEMORY.md")
    };
    files.filter(is_memory).map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

#[test]
fn q18_a_weak_model_dreams_by_telling_pairs() {
    let (desk, told) = dreamt(|pair| {
        if pair.contains("freeze") { r#"{"fact":"different"}"# } else { r#"{"fact":"same"}"# }
    });
    assert_eq!(told["dreamer"], "weak model", "{told}");
    let requests = desk.server().requests_of("dream");
    assert!((1..=3).contains(&requests.len()), "{}", requests.len());
    for request in &requests {
        assert_eq!(request.body.get("tools"), None::<&Value>);
        assert_eq!(request.body["response_format"]["type"], "json_schema");
        assert!(request.body["max_tokens"].as_u64().unwrap() <= 16);
    }
    let stored = stored(&desk);
    assert_eq!(stored.len(), 2, "{stored:?}");
    for (_, body) in RELEASES {
        assert!(stored.iter().any(|text| text.contains(body)), "{body} is in {stored:?}");
    }
    desk.run(&["memory", "undo", &told["entry"].to_string()]).ok();
    assert_eq!(self::stored(&desk).len(), 3, "it can be undone");
}

#[test]
fn q18_where_a_weak_model_does_not_answer_as_asked_rules_dream() {
    let (desk, told) = dreamt(|_| "They look quite alike to me!");
    assert_eq!((&told["status"], &told["dreamer"]), (&json!("done"), &json!("rules")), "{told}");
    assert_eq!(desk.server().requests_of("dream").len(), 1, "it is not asked again");
    assert!(told["report"].to_string().contains("did not answer as asked"), "{told}");
    assert_eq!(stored(&desk).len(), 3);
}
