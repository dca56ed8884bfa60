//! The date in a conversation, and daily logs.

use crate::place::{Place, say_ok};
use everfold_kernel::ports::{Approver, BoxFuture, PermissionAnswer, PermissionAsk};
use everfold_testkit::{FakeClock, FakeModel, Reply, Scenario, ServerRules, oracle};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

const DAY: Duration = Duration::from_hours(24);

fn place() -> Place {
    Place::new(FakeModel::new(Scenario::new().otherwise(Reply::text("ok"))))
}

fn changes(place: &Place) -> Vec<Value> {
    let lines = place.transcript().into_iter();
    lines.filter(|line| line["attachment"]["type"] == "date_change").collect()
}

/// The last thing that was said, with what was put before it.
fn last_message(place: &Place) -> String {
    place.model.requests().pop().unwrap().messages().last().unwrap().to_string()
}

#[tokio::test]
async fn l5_22_another_day_is_told_once_with_the_first_message_after_midnight() {
    let place = place();
    let agent = place.agent().await;
    let mut session = agent.start();
    say_ok(&mut session, "one").await;
    place.model.advance(Duration::from_hours(11));
    say_ok(&mut session, "two").await;
    assert!(changes(&place).is_empty(), "the same day, at 23:00");
    place.model.advance(Duration::from_hours(2));
    say_ok(&mut session, "three").await;
    say_ok(&mut session, "four").await;
    let told = changes(&place);
    assert_eq!(told.len(), 1);
    assert_eq!(told[0]["attachment"]["date"], "2026-06-02");
    let requests = place.model.requests();
    let third = requests[2].messages().last().unwrap();
    assert!(third["content"][0]["text"].as_str().unwrap().contains("today is 2026-06-02"));
    assert_eq!(third["content"][1]["text"], "three");
    assert!(requests[2].system_text().contains("start of the session: 2026-06-01"));
    oracle::assert_prefix_stable(&requests);
}

#[tokio::test]
async fn l5_22_a_resumed_session_is_told_the_day_and_sends_the_same_bytes() {
    let place = place();
    let mut session = place.agent().await.start();
    say_ok(&mut session, "one").await;
    for day in 2..4 {
        place.model.advance(DAY);
        let (mut session, _) = place.agent().await.resume(session.id().clone()).await.unwrap();
        say_ok(&mut session, "on").await;
        say_ok(&mut session, "and on").await;
        assert!(last_message(&place).contains("and on"));
        assert_eq!(changes(&place).len(), day - 1);
    }
    let (mut session, _) = place.agent().await.resume(session.id().clone()).await.unwrap();
    say_ok(&mut session, "the same day").await;
    assert_eq!(changes(&place).len(), 2);
    oracle::assert_prefix_stable(&place.model.requests());
}

/// A person who takes until tomorrow to say yes.
struct Slow(FakeClock);

impl Approver for Slow {
    fn ask(&self, _: PermissionAsk) -> BoxFuture<'_, PermissionAnswer> {
        self.0.advance(DAY);
        Box::pin(async { PermissionAnswer::Allow })
    }
}

#[tokio::test]
async fn l5_22_midnight_in_a_turn_is_told_at_the_tool_boundary() {
    let scenario = Scenario::new()
        .reply(Reply::tool("Bash", json!({"command": "touch made"})))
        .otherwise(Reply::text("Done."));
    let place = Place::new(FakeModel::new(scenario));
    let slow = Arc::new(Slow(place.clock.clone()));
    let agent = place.builder().approver(slow).build().await;
    let mut session = agent.start();
    say_ok(&mut session, "work").await;
    assert_eq!(changes(&place).len(), 1);
    assert!(last_message(&place).contains("today is 2026-06-02"));
    oracle::assert_prefix_stable(&place.model.requests());
}

#[tokio::test]
async fn l5_22_with_daily_logs_the_agent_appends_and_nothing_recalls_them() {
    let place = Place::new(FakeModel::with_handler(ServerRules::default(), |request| {
        let system = request.system_text();
        let Some((_, rest)) = system.split_once("Append to `") else {
            return Reply::text("No log.");
        };
        let pattern = rest.split('`').next().unwrap();
        if request.source() != "main" || request.last_tool_results().is_some() {
            return Reply::text("Noted.");
        }
        let file = pattern.replace("YYYY", "2026").replace("MM", "06").replace("DD", "01");
        Reply::tool(
            "Write",
            json!({"file_path": file, "content": "- 12:00 [project] moved to Lyon\n"}),
        )
    }));
    let logging = [("/everfold/flags/daily_logs", "true")];
    let agent =
        place.builder_with(&logging).approver(Arc::new(crate::place::RefuseAll)).build().await;
    let mut session = agent.start();
    say_ok(&mut session, "remember that we moved to Lyon").await;
    let system = place.model.requests()[0].system_text();
    let memory = system.split("# Memory").nth(1).unwrap().split("# Environment").next().unwrap();
    assert!(memory.contains("/logs/YYYY/MM/YYYY-MM-DD.md"), "{memory}");
    assert!(!memory.contains("2026-06"), "no date in the prompt");
    let dir = agent.world().memories.as_ref().unwrap().places().last().unwrap().dir.clone();
    let log = std::fs::read_to_string(dir.join("logs/2026/06/2026-06-01.md")).unwrap();
    assert_eq!(log, "- 12:00 [project] moved to Lyon\n");
    let memories = agent.world().memories.clone().unwrap();
    let found = memories.scan(100, everfold_kernel::ports::Bodies::Left).await.unwrap();
    assert!(found.is_empty(), "logs are no topics: {found:?}");
    let plain = place.builder().build().await;
    say_ok(&mut plain.start(), "remember").await;
    assert!(!place.model.requests().pop().unwrap().system_text().contains("/logs/"));
}
