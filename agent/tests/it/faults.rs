//! Answers that break on the wire.

use crate::place::{Place, say, say_ok};
use everfold_agent::EndReason;
use everfold_testkit::{Reply, Scenario, ServerFault, TestServer, oracle};
use serde_json::json;

fn garbage() -> ServerFault {
    ServerFault::Garbage {
        after_events: 1,
        text: "event: content_block_delta\ndata: }{\n\n".into(),
    }
}

fn start(scenario: Scenario) -> Place {
    Place::new(TestServer::start(scenario).unwrap())
}

#[tokio::test]
async fn q8_a_broken_stream_is_taken_back_and_asked_for_again() {
    let place = start(
        Scenario::new()
            .reply(
                Reply::text("first try")
                    .and_tool("Glob", json!({"pattern": "*"}))
                    .fault(ServerFault::CutAfterEvents(8)),
            )
            .reply(Reply::text("second try"))
            .reply(Reply::text("next")),
    );
    let agent = place.agent().await;
    let mut session = agent.start();
    let end = say_ok(&mut session, "go").await;
    assert_eq!(end.text, "second try");
    say_ok(&mut session, "and").await;
    let last = place.server.requests().pop().unwrap();
    let text = last.body.to_string();
    assert!(text.contains("second try") && !text.contains("first try"), "{text}");
    let id = session.id().clone();
    let (mut session, _) = place.agent().await.resume(id).await.unwrap();
    say_ok(&mut session, "more").await;
    let requests = place.server.requests();
    oracle::assert_prefix_stable(&requests[1..]);
}

#[tokio::test]
async fn s6_a_model_that_streams_garbage_ends_the_turn_and_loses_nothing() {
    let place = start(
        Scenario::new()
            .reply(Reply::text("x").fault(garbage()))
            .reply(Reply::text("x").fault(garbage()))
            .reply(Reply::text("x").fault(garbage()))
            .otherwise(Reply::text("fine")),
    );
    let agent = place.agent().await;
    let mut session = agent.start();
    let end = say(&mut session, "remember me").await;
    assert!(matches!(end.reason, EndReason::Failed(_)), "{:?}", end.reason);
    say_ok(&mut session, "again").await;
    let text = place.server.requests().pop().unwrap().body.to_string();
    assert!(text.contains("remember me") && text.contains("again"));
}
