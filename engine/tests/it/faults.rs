//! What goes wrong on the way to a model.

use crate::place::{Place, Turn, say, say_ok};
use everfold_engine::{EndReason, Event};
use everfold_testkit::{FakeModel, Reply, Scenario, ServerFault, When};
use serde_json::json;

fn start(scenario: Scenario) -> Place {
    Place::new(FakeModel::new(scenario))
}

#[tokio::test]
async fn q8_an_overloaded_model_gives_way_to_the_fallback() {
    let overloaded = || Reply::error(529, "overloaded");
    let place = start(
        Scenario::new()
            .always(
                When { model: Some("claude-sonnet-5-5".into()), ..When::default() },
                overloaded(),
            )
            .otherwise(Reply::text("from the other")),
    );
    let agent = place.builder().set("/everfold/fallback_model", "claude-haiku-5-5").build().await;
    let mut session = agent.start();
    let mut turn = Turn::new(&mut session, "go");
    let mut switched = None;
    while let Some(event) = turn.next().await {
        if let Event::ModelSwitched { to, .. } = event {
            switched = Some(to.to_string());
        }
    }
    assert_eq!(turn.end().await.unwrap().text, "from the other");
    assert_eq!(switched.as_deref(), Some("claude-haiku-5-5"));
    let (session, _) = agent.resume(session.id().clone()).await.unwrap();
    assert_eq!(session.model().as_str(), "claude-haiku-5-5", "it is in the log");
}

#[tokio::test]
async fn q9_stopping_keeps_what_had_come() {
    let stalled =
        Reply::text("a long answer that is cut").fault(ServerFault::Stall { after_events: 4 });
    let place = start(Scenario::new().reply(stalled).otherwise(Reply::text("ok")));
    let agent = place.agent().await;
    let mut session = agent.start();
    let mut turn = Turn::new(&mut session, "go");
    let stop = turn.canceller();
    let mut heard = String::new();
    while let Some(event) = turn.next().await {
        if let Event::Text(text) = event {
            heard.push_str(&text);
            stop.cancel();
        }
    }
    assert_eq!(turn.end().await.unwrap().reason, EndReason::Cancelled);
    assert!(!heard.is_empty());
    say_ok(&mut session, "what did you say?").await;
    let last = place.model.requests().pop().unwrap();
    assert_eq!(last.messages()[1]["content"][0]["text"], heard);
    assert!(last.messages()[2].to_string().contains("interrupted"));
}

#[tokio::test]
async fn q9_stopping_a_tool_ends_its_process_and_answers_the_call() {
    let place = start(
        Scenario::new()
            .reply(Reply::tool("Bash", json!({"command": "touch started; sleep 600"})))
            .otherwise(Reply::text("ok")),
    );
    let started = place.dirs.project().join("started");
    let agent = place.agent().await;
    let mut session = agent.start();
    let turn = Turn::new(&mut session, "go");
    let stop = turn.canceller();
    let watch = tokio::spawn(async move {
        while !started.exists() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        stop.cancel();
    });
    let end = tokio::time::timeout(std::time::Duration::from_secs(20), turn.end())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(end.reason, EndReason::Cancelled);
    watch.await.unwrap();
    say_ok(&mut session, "go on").await;
    let last = place.model.requests().pop().unwrap();
    assert!(last.messages()[2].to_string().contains("interrupted"));
}

#[tokio::test]
async fn q8_a_prompt_that_is_too_long_is_said_plainly() {
    let place = start(Scenario::new().always(
        When::default(),
        Reply::text("").fault(ServerFault::PromptTooLong { with_numbers: true }),
    ));
    let agent = place.builder().set("/autoCompactEnabled", false).build().await;
    let end = say(&mut agent.start(), "go").await;
    let EndReason::Failed(message) = end.reason else { panic!() };
    assert!(message.contains("too long"), "{message}");
}
