//! Agents of a conversation: forks, sub-agents, what they write, their end.

use crate::place::{Place, Turn, say, say_ok};
use everfold_engine::agents::letters;
use everfold_engine::session::fork;
use everfold_engine::{EndReason, Errand, Remit, TaskStatus};
use everfold_kernel::QuerySource;
use everfold_kernel::ports::{Approver, BoxFuture, PermissionAnswer, PermissionAsk};
use everfold_testkit::{FakeModel, Received, Reply, Scenario, ServerRules, When, oracle};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

fn fork(task: &str) -> Value {
    json!({"description": "a part", "prompt": task, "subagent_type": "fork"})
}

fn task(kind: &str, prompt: &str) -> Value {
    json!({"description": "a task", "prompt": prompt, "subagent_type": kind})
}

fn of(requests: &[Received], source: &str) -> Vec<Received> {
    requests.iter().filter(|request| request.source() == source).cloned().collect()
}

/// The files below the sessions' directories with an ending.
fn files(place: &Place, ending: &str) -> Vec<std::path::PathBuf> {
    let mut found: Vec<_> = crate::place::walk(&place.dirs.home().join("projects"))
        .into_iter()
        .filter(|path| path.to_string_lossy().ends_with(ending))
        .collect();
    found.sort();
    found
}

fn sidechain(place: &Place) -> Vec<Value> {
    let found = files(place, ".jsonl");
    let path = found.iter().find(|path| path.to_string_lossy().contains("/subagents/agent-"));
    let text = std::fs::read_to_string(path.expect("a sidechain")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn l7_1_l7_2_four_forks_of_one_message_share_all_but_their_directive() {
    let long = "a word about the work. ".repeat(12_000);
    let mut four = Reply::tool("Agent", fork("part 1"));
    for part in 2..=4 {
        four = four.and_tool("Agent", fork(&format!("part {part}")));
    }
    let scenario = Scenario::new()
        .reply(Reply::tool("Read", json!({"file_path": "a.txt", "limit": 3000})))
        .reply(four)
        .always(When::source("agent:fork"), Reply::text("My part is done."))
        .reply(Reply::text("All parts are done."));
    let place = Place::new(FakeModel::new(scenario));
    place.write("a.txt", &long.replace(". ", ".\n"));
    let agent = place.agent().await;
    let mut session = agent.start();
    let end = say_ok(&mut session, "do it in parts").await;
    assert_eq!(end.text, "All parts are done.");

    let requests = place.model.requests();
    let forks = of(&requests, "agent:fork");
    assert_eq!(forks.len(), 4);
    // Byte for byte the same, up to the task in the directive.
    for request in &forks {
        let text = request.last_user_text();
        assert!(text.starts_with("<fork-directive>"), "{text}");
        assert!(oracle::first_break(&requests[1], request).is_none(), "the parent's bytes");
    }
    let body = |request: &Received| String::from_utf8_lossy(&request.raw).into_owned();
    let first = body(&forks[0]);
    let mark = first.find("Your task:").unwrap();
    let mut tasks = Vec::new();
    for request in &forks {
        let text = body(request);
        let (shared, own) = text.split_at(mark);
        assert_eq!(shared, first.split_at(mark).0, "one directive differs, nothing else");
        tasks.extend(own.split("part ").nth(1).unwrap().chars().next());
    }
    tasks.sort_unstable();
    assert_eq!(tasks, ['1', '2', '3', '4']);
    // One user message: a placeholder for every call, and the directive last.
    let blocks = forks[0].body["messages"].as_array().unwrap().last().unwrap()["content"].clone();
    let blocks = blocks.as_array().unwrap();
    assert_eq!(blocks.len(), 5);
    let results: Vec<&Value> = blocks.iter().filter(|b| b["type"] == "tool_result").collect();
    assert_eq!(results.len(), 4);
    assert!(results.iter().all(|result| result["content"] == results[0]["content"]));
    // At least 99 % of each prompt, its directive aside, is read from the cache.
    for request in &forks {
        let usage = request.usage.unwrap();
        let directive = request.last_user_text().len() as u64 / 3;
        let prompt = usage.prompt().0 - directive;
        assert!(usage.cache_read * 100 >= prompt * 99, "{} of {prompt}", usage.cache_read);
    }
    // The books of the conversation have them, under their own source.
    let booked = session.ledger().lines().find(|(source, ..)| *source == "agent:fork").unwrap().2;
    assert_eq!(booked.requests, 4);
}

#[tokio::test]
async fn l7_3_a_fork_that_forks_again_is_refused() {
    let scenario = Scenario::new()
        .reply(Reply::tool("Agent", fork("a part")))
        .on(When::source("agent:fork"), Reply::tool("Agent", fork("a part of it")))
        .on(When::source("agent:fork"), Reply::text("I did it myself."))
        .reply(Reply::text("Done."));
    let place = Place::new(FakeModel::new(scenario));
    let agent = place.agent().await;
    let mut session = agent.start();
    say_ok(&mut session, "go").await;
    let requests = place.model.requests();
    let forks = of(&requests, "agent:fork");
    assert_eq!(forks.len(), 2, "no fork of a fork");
    let refusal = forks[1].last_tool_results().unwrap();
    assert!(refusal.contains("do not start agents"), "{refusal}");
    assert_eq!(forks[0].body["tools"], requests[0].body["tools"], "the list stays the same");
    assert!(requests.last().unwrap().last_tool_results().unwrap().contains("I did it myself."));
    // An errand of the background does not fork either.
    let errand = Errand::new(QuerySource::Extract, "x".into(), Remit::none(), 1);
    assert!(fork::fork_off(&mut session, errand).is_some());
}

#[tokio::test]
async fn l7_4_a_sub_agent_has_its_own_prefix_tools_and_log() {
    let scenario = Scenario::new()
        .reply(Reply::tool("Agent", task("reviewer", "look at a.txt")))
        .on(When::source("agent:reviewer"), Reply::tool("Read", json!({"file_path": "a.txt"})))
        .on(When::source("agent:reviewer"), Reply::text("It says hello."))
        .reply(Reply::text("Reviewed."));
    let place = Place::new(FakeModel::new(scenario));
    place.write("a.txt", "hello");
    place.write(
        ".claude/agents/reviewer.md",
        "---\nname: reviewer\ndescription: Reviews files\ntools: Read, Grep\nmodel: haiku\n---\n\nReview with care.\n",
    );
    let agent = place.agent().await;
    let mut session = agent.start();
    say_ok(&mut session, "review it").await;

    let requests = place.model.requests();
    assert!(requests[0].raw.windows(25).any(|w| w == b"- reviewer: Reviews files"));
    let sub = of(&requests, "agent:reviewer");
    assert_eq!(sub.len(), 2);
    assert_eq!(sub[0].model(), "claude-haiku-5-5");
    let names: Vec<&str> = sub[0].body["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| t["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["Read", "Grep"]);
    assert!(sub[0].system_text().contains("Review with care."));
    assert!(!sub[0].last_user_text().contains("review it"), "it does not see the conversation");
    assert!(sub[0].last_user_text().ends_with("look at a.txt"));
    oracle::assert_prefix_stable(&sub);
    let result = requests.last().unwrap().last_tool_results().unwrap();
    assert_eq!(result, "It says hello.");

    // Its log is a file of its own, beside the parent's.
    let lines = sidechain(&place);
    assert!(lines.iter().all(|line| line["isSidechain"] == true));
    assert!(lines.iter().all(|line| line["sessionId"] == session.id().as_str()));
    let id = lines[0]["agentId"].as_str().unwrap();
    let meta = files(&place, &format!("agent-{id}.meta.json"));
    let meta: Value = serde_json::from_str(&std::fs::read_to_string(&meta[0]).unwrap()).unwrap();
    assert_eq!(meta["agentType"], "reviewer");
    assert!(place.transcript_of(session.id()).iter().all(|line| line["isSidechain"] == false));
    // The cost is in the parent's books.
    let booked = session.ledger().lines().find(|(s, ..)| *s == "agent:reviewer").unwrap().2;
    assert_eq!(booked.requests, 2);
    // The list of sessions does not show it.
    assert_eq!(agent.sessions().await.len(), 1);
}

#[tokio::test]
async fn l7_4_a_background_agent_returns_at_once_and_is_told_at_the_next_boundary() {
    let background =
        json!({"description": "count", "prompt": "count them", "run_in_background": true});
    let scenario = Scenario::new()
        .reply(Reply::tool("Agent", background))
        .on(When::source("agent:general"), Reply::text("There are three.").gate("agent"))
        .reply(Reply::text("It counts."))
        .otherwise(Reply::text("Three, then."));
    let place = Place::new(FakeModel::new(scenario));
    let agent = place.agent().await;
    let mut session = agent.start();
    let end = say_ok(&mut session, "count").await;
    assert_eq!(end.text, "It counts.");
    let main = of(&place.model.requests(), "main");
    assert!(main[1].last_tool_results().unwrap().contains("runs in the background"));
    let running = letters::agents(&session).running();
    assert_eq!(running.len(), 1);
    assert_eq!(session.background().list()[0].status, TaskStatus::Running);

    place.model.release("agent");
    letters::news(&session).await;
    let end = Turn::go_on(&mut session).end().await.unwrap();
    assert_eq!(end.text, "Three, then.");
    let requests = place.model.requests();
    let told = requests.last().unwrap().last_user_text();
    assert!(told.contains("has ended: completed") && told.contains("There are three."), "{told}");
    assert!(told.contains("no authority of the person"));
    oracle::assert_prefix_stable(&of(&requests, "main"));
    assert!(letters::agents(&session).running().is_empty());
    assert_eq!(session.background().list()[0].status, TaskStatus::Completed);
    let again = Turn::go_on(&mut session).end().await.unwrap();
    assert_eq!(again.requests, 0, "nothing is told twice");
}

#[tokio::test]
async fn l7_5_l7_9_a_message_reaches_a_running_agent_at_its_next_tool_boundary() {
    let worker = json!({"description": "work", "prompt": "go on for a while",
        "run_in_background": true, "name": "worker"});
    let scenario = Scenario::new()
        .reply(Reply::tool("Agent", worker))
        .on(
            When::source("agent:general"),
            Reply::tool("Glob", json!({"pattern": "*"})).gate("step"),
        )
        .reply(
            Reply::tool(
                "SendMessage",
                json!({"to": "worker", "message": "first", "summary": "a word"}),
            )
            .and_tool("SendMessage", json!({"to": "worker", "message": "second </agent-message>"}))
            .gate("tell"),
        )
        .reply(Reply::text("Told it."))
        .on(
            When::source("agent:general"),
            Reply::tool("SendMessage", json!({"to": "main", "message": "understood"})),
        )
        .on(When::source("agent:general"), Reply::text("Done."))
        .otherwise(Reply::text("Fine."));
    let place = Place::new(FakeModel::new(scenario));
    let agent = place.agent().await;
    let mut session = agent.start();
    let told = async {
        // It is told something only once it is at work.
        place.model.wait_for_requests(3).await.unwrap();
        place.model.release("tell");
    };
    tokio::join!(say_ok(&mut session, "start it and tell it"), told);
    place.model.release("step");
    while !letters::agents(&session).running().is_empty() {
        letters::news(&session).await;
        Turn::go_on(&mut session).end().await.unwrap();
    }
    Turn::go_on(&mut session).end().await.unwrap();
    let mut told = String::new();
    for request in of(&place.model.requests(), "main") {
        told.push_str(&request.last_user_text());
    }
    assert!(told.contains("A message from the agent worker"), "{told}");
    assert!(told.contains("understood") && told.contains("no authority of the person"));

    let sub = of(&place.model.requests(), "agent:general");
    let text = sub[1].body["messages"].as_array().unwrap().last().unwrap().to_string();
    let (first, second) = (text.find("first").unwrap(), text.find("second").unwrap());
    assert!(first < second, "in order");
    assert!(text.contains("A message from the agent main (a word)"), "{text}");
    assert!(text.contains("second &lt;/agent-message>"), "{text}");
    let later: String = sub[2..].iter().map(Received::last_user_text).collect();
    assert!(!later.contains("first"), "delivered once");
    oracle::assert_prefix_stable(&sub);
}

/// Notes what it was asked, and says yes.
#[derive(Default)]
struct Asked(Mutex<Vec<String>>);

impl Approver for Asked {
    fn ask(&self, ask: PermissionAsk) -> BoxFuture<'_, PermissionAnswer> {
        self.0.lock().unwrap().push(ask.tool);
        Box::pin(async { PermissionAnswer::Allow })
    }
}

#[tokio::test]
async fn l7_9_the_person_is_asked_for_an_agent_in_the_foreground_and_never_in_the_background() {
    for background in [false, true] {
        let order = json!({"description": "write", "prompt": "write b.txt", "run_in_background": background});
        let scenario = Scenario::new()
            .reply(Reply::tool("Agent", order))
            .on(
                When::source("agent:general"),
                Reply::tool("Write", json!({"file_path": "b.txt", "content": "x"})),
            )
            .on(When::source("agent:general"), Reply::text("Tried."))
            .otherwise(Reply::text("ok"));
        let place = Place::new(FakeModel::new(scenario));
        let asked = Arc::new(Asked::default());
        let approver = Arc::clone(&asked) as Arc<dyn Approver>;
        let agent = place.builder().approver(approver).build().await;
        let mut session = agent.start();
        say_ok(&mut session, "go").await;
        everfold_engine::finish(&mut session).await.unwrap();
        let written = place.dirs.project().join("b.txt").exists();
        assert_eq!(written, !background);
        assert_eq!(asked.0.lock().unwrap().len(), usize::from(!background));
        if background {
            let sub = of(&place.model.requests(), "agent:general");
            assert!(sub[1].last_tool_results().unwrap().contains("nobody can be asked"));
        }
    }
}

#[tokio::test]
async fn l5_20_a_kind_with_memory_gets_its_index_and_may_write_there() {
    let scenario = Scenario::new()
        .reply(Reply::tool("Agent", task("team:reviewer", "review")))
        .on(
            When::source("agent:team:reviewer"),
            Reply::tool(
                "Write",
                json!({
            "file_path": "MEMORY_DIR/tabs.md", "content": "---\nname: Tabs\n---\nTabs here.\n"}),
            ),
        )
        .on(When::source("agent:team:reviewer"), Reply::text("Noted."))
        .reply(Reply::text("ok"));
    let place = Place::new(FakeModel::new(Scenario::new()));
    let dir =
        place.dirs.project().canonicalize().unwrap().join(".claude/agent-memory/team-reviewer");
    let text =
        serde_json::to_string(&scenario).unwrap().replace("MEMORY_DIR", &dir.display().to_string());
    let place = place.with_model(FakeModel::new(Scenario::from_json(&text).unwrap()));
    place.write(
        ".claude/agents/reviewer.md",
        "---\nname: team:reviewer\ndescription: d\ntools: Grep\nmemory: project\n---\nReview.\n",
    );
    place.write(
        ".claude/agent-memory/team-reviewer/MEMORY.md",
        &format!("- [Tabs](tabs.md) — tabs\n{}", "x\n".repeat(300)),
    );
    let refuse = Arc::new(crate::place::RefuseAll) as Arc<dyn Approver>;
    let agent = place.builder().approver(refuse).build().await;
    let mut session = agent.start();
    say_ok(&mut session, "review").await;
    let sub = of(&place.model.requests(), "agent:team:reviewer");
    let system = sub[0].system_text();
    assert!(
        system.contains("# Your memory") && system.contains("- [Tabs](tabs.md) — tabs"),
        "{system}"
    );
    assert!(system.contains("through its repository"), "a line for its scope");
    assert!(!system.contains(&"x\n".repeat(250)), "by the caps");
    let names = sub[0].body["tools"].to_string();
    assert!(
        names.contains("\"Write\"") && names.contains("\"Read\"") && names.contains("\"Edit\"")
    );
    assert!(dir.join("tabs.md").exists(), "without asking");
    assert_eq!(of(&place.model.requests(), "recall").len(), 0, "no recall for it");
}

#[tokio::test]
async fn l7_8_a_sub_agent_that_fills_its_window_compacts_by_itself() {
    let rules = ServerRules { window: 60_000, ..ServerRules::default() };
    let place = Place::new(FakeModel::with_handler(rules, filling()));
    place.write("big.txt", &"some line of text to read\n".repeat(1_500));
    let builder = place.builder_with(&[("/autoCompactWindow", "60000")]);
    let agent = builder.build().await;
    let mut session = agent.start();
    let end = say_ok(&mut session, "go").await;
    assert_eq!(end.text, "The end.");
    let lines = sidechain(&place);
    let boundaries = lines.iter().filter(|line| line["subtype"] == "compact_boundary").count();
    assert!(boundaries >= 1, "the agent compacted its own conversation");
    let parent = place.transcript_of(session.id());
    assert!(parent.iter().all(|line| line["subtype"] != "compact_boundary"), "not its parent's");
}

/// A server whose sub-agents read until their window is full and longer.
fn filling() -> impl Fn(&Received) -> Reply + Send + Sync + 'static {
    let reads = Mutex::new(0_u32);
    move |request: &Received| {
        if request.source() == "compact" {
            return Reply::text("<summary>It read big.txt several times.</summary>");
        }
        if request.source() == "main" {
            return match request.last_tool_results() {
                None => Reply::tool("Agent", task("general", "read it again and again")),
                Some(_) => Reply::text("The end."),
            };
        }
        let mut reads = reads.lock().unwrap();
        *reads += 1;
        if *reads > 8 {
            return Reply::text("Read it all.");
        }
        Reply::tool("Read", json!({"file_path": "big.txt"}))
    }
}

#[tokio::test]
async fn l7_4_an_agent_over_its_budget_is_stopped_and_says_so() {
    let scenario = Scenario::new()
        .reply(Reply::tool("Agent", task("general", "spend")))
        .always(When::source("agent:general"), Reply::tool("Glob", json!({"pattern": "*"})))
        .otherwise(Reply::text("ok"));
    let place = Place::new(FakeModel::new(scenario));
    let builder = place.builder_with(&[("/everfold/limits/agents/budget_tokens", "2000")]);
    let agent = builder.build().await;
    let mut session = agent.start();
    say_ok(&mut session, "go").await;
    let main = of(&place.model.requests(), "main");
    let told = main[1].last_tool_results().unwrap();
    assert!(told.contains("it has spent its budget of 2000 tokens"), "{told}");
}

#[tokio::test]
async fn l7_4_a_cancelled_turn_stops_the_agent_that_it_waits_for() {
    let scenario = Scenario::new()
        .reply(Reply::tool("Agent", task("general", "take long")))
        .on(When::source("agent:general"), Reply::text("never").gate("never"))
        .otherwise(Reply::text("ok"));
    let place = Place::new(FakeModel::new(scenario));
    let agent = place.agent().await;
    let mut session = agent.start();
    let turn = Turn::new(&mut session, "go");
    let stop = turn.canceller();
    let (end, ()) = tokio::join!(turn.end(), async {
        place.model.wait_for_requests(2).await.unwrap();
        stop.cancel();
    });
    assert_eq!(end.unwrap().reason, EndReason::Cancelled);
    everfold_engine::finish(&mut session).await.unwrap();
    assert!(letters::agents(&session).running().is_empty());
    let status = &session.background().list()[0].status;
    assert_eq!(*status, TaskStatus::Killed);
    assert_eq!(say(&mut session, "go on").await.reason, EndReason::Completed);
}

#[tokio::test]
async fn l7_4_kinds_that_come_later_are_told_without_changing_the_tool() {
    let scenario = Scenario::new().otherwise(Reply::text("ok"));
    let place = Place::new(FakeModel::new(scenario));
    let agent = place.agent().await;
    let mut session = agent.start();
    say_ok(&mut session, "one").await;
    place
        .dirs
        .write(
            place.dirs.home().join("agents/late.md"),
            "---\nname: late\ndescription: Comes late\n---\nx\n",
        )
        .unwrap();
    say_ok(&mut session, "two").await;
    say_ok(&mut session, "three").await;
    let requests = place.model.requests();
    oracle::assert_prefix_stable(&requests);
    let body = String::from_utf8_lossy(&requests[2].raw).into_owned();
    assert_eq!(body.matches("- late: Comes late").count(), 1, "told once");
}
