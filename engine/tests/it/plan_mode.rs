//! Plan mode, coordinators, and who is gone after a crash.

use crate::place::{Place, Turn, say_ok};
use everfold_engine::agents::letters;
use everfold_engine::setups::plan_mode;
use everfold_engine::window::compaction;
use everfold_engine::window::compaction::Compaction;
use everfold_kernel::ports::{Approver, BoxFuture, PermissionAnswer, PermissionAsk};
use everfold_kernel::settings::PermissionMode;
use everfold_testkit::{FakeModel, Received, Reply, Scenario, When, oracle};
use serde_json::json;
use std::sync::{Arc, Mutex};

#[tokio::test]
async fn l7_7_under_a_coordinator_it_is_said_what_agents_do() {
    let scenario = Scenario::new()
        .on(
            When::source("main"),
            Reply::tool("Agent", json!({"description": "look", "prompt": "look around"})),
        )
        .on(When::source("agent:general"), Reply::tool("Glob", json!({"pattern": "*"})))
        .on(When::source("agent:general"), Reply::text("Done.").gate("end"))
        .always(When::source("agent_summary"), Reply::text("\"Listing the files here.\"\nand more"))
        .otherwise(Reply::text("ok"));
    let place = Place::new(FakeModel::new(scenario));
    let builder = place.builder_with(&[("/everfold/limits/agents/summary_s", "0")]);
    let agent = builder.coordinator().build().await;
    let mut session = agent.start();
    let background = session.background().clone();
    let turn = Turn::new(&mut session, "go");
    let (end, said) = tokio::join!(turn.end(), async {
        let summed = |request: &Received| request.source() == "agent_summary";
        for count in 1..50 {
            let requests = place.model.wait_for_requests(count).await.unwrap();
            if requests.iter().any(summed) {
                break;
            }
        }
        let phase = loop {
            let phase = background.list()[0].phase.clone();
            if !phase.is_empty() {
                break phase;
            }
            tokio::task::yield_now().await;
        };
        place.model.release("end");
        phase
    });
    end.unwrap();
    assert_eq!(said, "Listing the files here");
    let requests = place.model.requests();
    assert!(requests[0].system_text().contains("# You coordinate"));
    let asked = requests.iter().find(|request| request.source() == "agent_summary").unwrap();
    assert_eq!(asked.model(), "claude-haiku-5-5", "the cheaper way");
    assert!(asked.last_user_text().contains("calls Glob"), "{}", asked.last_user_text());
    let line = session.ledger().lines().find(|(source, ..)| *source == "agent_summary").unwrap().2;
    assert!(line.requests >= 1);
}

/// Says no, then yes, and keeps what it was asked.
#[derive(Default)]
struct SecondThought(Mutex<Vec<PermissionAsk>>);

impl Approver for SecondThought {
    fn ask(&self, ask: PermissionAsk) -> BoxFuture<'_, PermissionAnswer> {
        let mut asked = self.0.lock().unwrap();
        asked.push(ask);
        let answer = match asked.len() {
            1 => PermissionAnswer::Deny { reason: "smaller steps".into() },
            _ => PermissionAnswer::AllowAlways,
        };
        Box::pin(async move { answer })
    }
}

#[tokio::test]
async fn q14_plan_mode_reads_writes_its_plan_and_asks_to_leave() {
    let place = Place::new(FakeModel::new(Scenario::new()));
    let asked = Arc::new(SecondThought::default());
    let id = "0192f0c1-1111-7000-8000-000000000001";
    let probe = place.agent().await.start_as(id.into());
    let plan = plan_mode::plan_file(&probe).display().to_string();
    let scenario = Scenario::new()
        .reply(Reply::tool("Write", json!({"file_path": "a.txt", "content": "no"})))
        .reply(Reply::tool("Bash", json!({"command": "touch b.txt"})))
        .reply(Reply::tool("Bash", json!({"command": "ls"})))
        .reply(Reply::tool("ExitPlanMode", json!({})))
        .reply(Reply::tool("Write", json!({"file_path": plan, "content": "1. Write a.txt"})))
        .reply(Reply::tool("ExitPlanMode", json!({})))
        .reply(Reply::tool("ExitPlanMode", json!({})))
        .reply(Reply::tool("Write", json!({"file_path": "a.txt", "content": "yes"})))
        .reply(Reply::text("Done."));
    let place = place.with_model(FakeModel::new(scenario));
    let approver = Arc::clone(&asked) as Arc<dyn Approver>;
    let builder = place.builder().set("/permissions/defaultMode", "plan");
    let agent = builder.approver(approver).build().await;
    let mut session = agent.start_as(id.into());
    say_ok(&mut session, "plan it, then do it").await;
    let requests = place.model.requests();
    let result = |at: usize| requests[at].last_tool_results().unwrap();
    assert!(
        requests[0].last_user_text().contains("Plan mode:"),
        "{}",
        requests[0].last_user_text()
    );
    assert!(result(1).contains("plan mode only reads"), "{}", result(1));
    assert!(result(2).contains("refused"), "{}", result(2));
    assert!(!place.dirs.project().join("b.txt").exists());
    assert!(!result(3).contains("refused"), "reading is free: {}", result(3));
    assert!(result(4).contains("there is no plan yet"), "{}", result(4));
    assert!(!result(5).contains("refused"), "{}", result(5));
    assert!(
        result(6).contains("not approved") && result(6).contains("smaller steps"),
        "{}",
        result(6)
    );
    assert!(result(7).contains("approved the plan"), "{}", result(7));
    let asked = asked.0.lock().unwrap();
    assert_eq!(asked.len(), 2, "edits are accepted from then on");
    assert_eq!(asked[1].summary, "1. Write a.txt");
    assert_eq!(std::fs::read_to_string(place.dirs.project().join("a.txt")).unwrap(), "yes");
    let exit = String::from_utf8_lossy(&requests[7].raw).into_owned();
    assert!(exit.contains("Plan mode is over"));
}

#[tokio::test]
async fn q14_l4_5_the_plan_comes_back_after_a_compaction() {
    let scenario = Scenario::new()
        .always(When::source("compact"), Reply::text("<summary>Planning went on.</summary>"))
        .otherwise(Reply::text("word ".repeat(3_000)));
    let place = Place::new(FakeModel::new(scenario));
    let builder = place.builder().set("/permissions/defaultMode", "plan");
    let agent = builder.build().await;
    let mut session = agent.start();
    for turn in 0..3 {
        say_ok(&mut session, &format!("plan {turn}: {}", "words ".repeat(500))).await;
    }
    place.dirs.write(plan_mode::plan_file(&session), "1. Take the first step").unwrap();
    let done = compaction::compact(
        &mut session,
        Compaction::by_hand(None),
        &tokio_util::sync::CancellationToken::new(),
    )
    .await;
    done.unwrap();
    say_ok(&mut session, "go on").await;
    let last = place.model.requests().pop().unwrap();
    let body = String::from_utf8_lossy(&last.raw).into_owned();
    assert_eq!(body.matches("Plan mode:").count(), 1);
    assert!(body.contains("1. Take the first step"), "the plan is read again");
}

#[tokio::test]
async fn q14_plan_mode_goes_on_after_a_resume() {
    let scenario = Scenario::new()
        .on(When::user("more"), Reply::tool("Write", json!({"file_path": "a.txt", "content": "x"})))
        .otherwise(Reply::text("ok"));
    let place = Place::new(FakeModel::new(scenario));
    let mut session = place.agent().await.start();
    plan_mode::start_planning(&mut session);
    say_ok(&mut session, "plan it").await;
    let id = session.id().clone();
    drop(session);
    let (mut session, _) = place.agent().await.resume(id.clone()).await.unwrap();
    let end = say_ok(&mut session, "more").await;
    assert_eq!(end.denials.len(), 1, "only reading, as before");
    let body = place.model.requests().pop().unwrap().body["messages"].to_string();
    assert_eq!(body.matches("Plan mode:").count(), 1, "the model knows it");
    oracle::assert_prefix_stable(&place.model.requests());
    drop(session);
    // Who asks for another mode gets it, and the model is told.
    let other = place.builder().set("/permissions/defaultMode", "acceptEdits");
    let (mut session, _) = other.build().await.resume(id.clone()).await.unwrap();
    say_ok(&mut session, "go").await;
    let body = place.model.requests().pop().unwrap().body["messages"].to_string();
    assert!(body.contains("Plan mode is over"));
    drop(session);
    let (mut session, _) = place.agent().await.resume(id).await.unwrap();
    let mode = session.permit_mut().mode();
    assert_ne!(mode, PermissionMode::Plan, "what was left stays left");
}

#[tokio::test]
async fn l7_4_after_a_crash_the_model_is_told_who_is_gone() {
    let scenario = Scenario::new()
        .on(
            When::user("go"),
            Reply::tool(
                "Agent",
                json!({"description": "d", "prompt": "long work", "run_in_background": true}),
            )
            .and_tool("Bash", json!({"command": "sleep 100", "run_in_background": true})),
        )
        .always(When::user("long work"), Reply::text("never").gate("never"))
        .otherwise(Reply::text("ok"));
    let place = Place::new(FakeModel::new(scenario));
    let agent = place.agent().await;
    let mut session = agent.start();
    say_ok(&mut session, "go").await;
    let id = session.id().clone();
    // The log as a process leaves it that is killed here.
    let path = agent.world().transcripts.path(&id);
    let killed = std::fs::read(&path).unwrap();
    letters::agents(&session)
        .running()
        .iter()
        .for_each(|(id, ..)| assert!(letters::agents(&session).stop(id)));
    everfold_engine::finish(&mut session).await.unwrap();
    drop(session);
    agent.shutdown().await;
    std::fs::write(&path, killed).unwrap();
    for _ in 0..2 {
        let (mut session, _) = place.agent().await.resume(id.clone()).await.unwrap();
        say_ok(&mut session, "on").await;
    }
    let body = place.model.requests().pop().unwrap().body["messages"].to_string();
    assert_eq!(
        body.matches("which ran in the background, is gone").count(),
        2,
        "each once: {body}"
    );
}
