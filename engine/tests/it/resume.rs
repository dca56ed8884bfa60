//! Leaving a conversation and coming back.

use crate::place::{Place, say_ok};
use everfold_engine::Resumed;
use everfold_testkit::{FakeModel, Reply, Scenario, oracle};
use serde_json::{Value, json};
use std::io::Write as _;

#[tokio::test]
async fn q4_the_first_request_after_a_resume_starts_with_the_old_bytes() {
    let scenario = Scenario::new()
        .reply(Reply::tool("Glob", json!({"pattern": "*"})))
        .reply(Reply::text("one"))
        .reply(Reply::text("two"));
    let place = Place::new(FakeModel::new(scenario));
    let agent = place.agent().await;
    let mut session = agent.start();
    say_ok(&mut session, "first").await;
    let id = session.id().clone();
    drop(session);
    let (mut session, resumed) = place.agent().await.resume(id).await.unwrap();
    assert_eq!(resumed, Resumed::default());
    say_ok(&mut session, "second").await;
    oracle::assert_prefix_stable(&place.model.requests());
}

#[tokio::test]
async fn q4_a_call_whose_result_was_lost_is_answered_as_interrupted() {
    let scenario = Scenario::new()
        .reply(Reply::tool("Glob", json!({"pattern": "*"})))
        .otherwise(Reply::text("ok"));
    let place = Place::new(FakeModel::new(scenario));
    let agent = place.agent().await;
    let mut session = agent.start();
    say_ok(&mut session, "first").await;
    let id = session.id().clone();
    let path = agent.world().transcripts.path(&id);
    let text = std::fs::read_to_string(&path).unwrap();
    let cut: Vec<&str> = text.lines().take_while(|line| !line.contains("tool_result")).collect();
    std::fs::write(&path, cut.join("\n") + "\n").unwrap();
    let (mut session, _) = agent.resume(id).await.unwrap();
    say_ok(&mut session, "second").await;
    let last = place.model.requests().pop().unwrap();
    let results = last.messages()[2]["content"].clone();
    assert_eq!(results[0]["is_error"], Value::Bool(true));
    assert_eq!(results[1]["text"], "second");
}

#[tokio::test]
async fn q4_a_torn_last_line_is_skipped_and_said() {
    let place = Place::new(FakeModel::new(Scenario::new().otherwise(Reply::text("ok"))));
    let agent = place.agent().await;
    let mut session = agent.start();
    say_ok(&mut session, "first").await;
    let id = session.id().clone();
    let path = agent.world().transcripts.path(&id);
    let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(b"{\"type\":\"user\",\"uuid\":\"torn").unwrap();
    let (mut session, resumed) = place.agent().await.resume(id).await.unwrap();
    assert!(resumed.torn_bytes > 0);
    say_ok(&mut session, "second").await;
    oracle::assert_prefix_stable(&place.model.requests());
}

#[tokio::test]
async fn c1_a_fork_goes_its_own_way_with_the_same_bytes() {
    let place = Place::new(FakeModel::new(Scenario::new().otherwise(Reply::text("ok"))));
    let agent = place.agent().await;
    let mut session = agent.start();
    say_ok(&mut session, "first").await;
    let (mut fork, _) = agent.fork(session.id()).await.unwrap();
    assert_ne!(fork.id(), session.id());
    say_ok(&mut fork, "second").await;
    oracle::assert_prefix_stable(&place.model.requests());
    assert_eq!(agent.sessions().await.len(), 2);
    assert_eq!(session.ledger().total().requests, 1);
    assert_eq!(fork.ledger().total().requests, 1, "what the parent spent is not spent again");
}

#[tokio::test]
async fn q5_a_file_read_before_the_resume_may_be_edited_after_it() {
    let server = FakeModel::with_handler(everfold_testkit::ServerRules::default(), |request| {
        let path = request.messages()[0]["content"][0]["text"].clone();
        match request.messages().len() {
            1 => Reply::tool("Read", json!({"file_path": path})),
            5 => Reply::tool(
                "Edit",
                json!({"file_path": path, "old_string": "one", "new_string": "two"}),
            ),
            _ => Reply::text("ok"),
        }
    });
    let place = Place::new(server);
    let path = place.write("a.txt", "one\n");
    let agent = place.agent().await;
    let mut session = agent.start();
    say_ok(&mut session, &path).await;
    let id = session.id().clone();
    let (mut session, _) = place.agent().await.resume(id).await.unwrap();
    say_ok(&mut session, "now edit").await;
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "two\n");
}

#[tokio::test]
async fn q14_naming_another_model_is_a_declared_break_and_nothing_else_changes() {
    let place = Place::new(FakeModel::new(Scenario::new().otherwise(Reply::text("ok"))));
    let agent = place.agent().await;
    let mut session = agent.start();
    say_ok(&mut session, "first").await;
    let id = session.id().clone();
    let agent = place.builder().set("/model", "claude-opus-5").build().await;
    let (mut session, _) = agent.resume(id.clone()).await.unwrap();
    say_ok(&mut session, "second").await;
    let agent = place.agent().await;
    let (session, _) = agent.resume(id).await.unwrap();
    assert_eq!(session.model().as_str(), "claude-opus-5", "a session keeps its model");
    let requests = place.model.requests();
    assert_eq!(requests[1].model(), "claude-opus-5");
    assert_eq!(requests[0].body["tools"], requests[1].body["tools"]);
    assert_eq!(requests[0].body["system"], requests[1].body["system"]);
}
