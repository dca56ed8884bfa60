//! What the background may spend, in whole conversations (L5.27).

use crate::memory::{dir_of, write};
use crate::place::{Builder, Place, say_ok};
use crate::recall::{PATIENCE, think_for};
use everfold_engine::{Denied, Session};
use everfold_kernel::QuerySource;
use everfold_kernel::ports::MemoryScope;
use everfold_testkit::{FakeModel, Reply, Scenario, When};
use std::collections::BTreeMap;

const DEPLOY: &str = "---\nname: Deploys\ndescription: on which weekday we deploy the shop\n\
                      type: project\n---\nWe deploy the shop on Fridays.\n";
const QUESTION: &str = "on which weekday do we deploy the shop?";

fn place(main: Reply) -> Place {
    let picked = Reply::text(r#"{"selected_memories": []}"#);
    let scenario = Scenario::new().always(When::source("recall"), picked).otherwise(main);
    Place::asking(FakeModel::new(scenario))
}

async fn start(builder: Builder) -> Session {
    let agent = builder.build().await;
    write(&dir_of(&agent, MemoryScope::Project), "deploy.md", DEPLOY);
    agent.start()
}

/// Talks until what was asked beside the conversation is booked.
async fn talk_until_booked(session: &mut Session) {
    for round in 0..PATIENCE {
        say_ok(session, QUESTION).await;
        if session.ledger().lines().any(|(source, _, _)| source == "recall") {
            return;
        }
        think_for(round).await;
    }
    panic!("recall was never booked");
}

#[tokio::test]
async fn l5_27_over_the_session_s_budget_the_local_ranker_serves() {
    let place = place(Reply::text("ok"));
    let builder = place.builder().set("/everfold/budget/session_tokens", 1);
    let mut session = start(builder).await;
    talk_until_booked(&mut session).await;
    let denied = session.budget().allows(&QuerySource::Extract).await.unwrap_err();
    assert!(matches!(&denied, Denied::Session(what) if what.contains("of 1 tokens")), "{denied}");
    assert!(session.budget().allows(&QuerySource::Main).await.is_ok());
    assert!(session.budget().allows(&QuerySource::Compact).await.is_ok());
    let asked = place.model.requests_of("recall").len();
    say_ok(&mut session, QUESTION).await;
    say_ok(&mut session, QUESTION).await;
    assert_eq!(place.model.requests_of("recall").len(), asked);
}

#[tokio::test]
async fn l5_27_a_day_s_budget_is_shared_by_all_processes_of_a_home() {
    let place = place(Reply::text("ok"));
    let mut first = start(place.builder()).await;
    talk_until_booked(&mut first).await;
    let strict = || place.builder().set("/everfold/budget/daily_usd", 0.000_000_1);
    let other = start(strict()).await;
    let denied = other.budget().allows(&QuerySource::Dream).await.unwrap_err();
    assert!(matches!(denied, Denied::Day(_)), "{denied}");
    place.model.advance(std::time::Duration::from_hours(24));
    assert!(other.budget().allows(&QuerySource::Dream).await.is_ok(), "a new day");
}

#[tokio::test]
async fn l5_27_a_resumed_session_knows_what_it_spent() {
    let place = place(Reply::text("ok"));
    let builder = || place.builder().set("/everfold/budget/session_tokens", 1);
    let mut session = start(builder()).await;
    talk_until_booked(&mut session).await;
    let agent = builder().build().await;
    let (resumed, _) = agent.resume(session.id().clone()).await.unwrap();
    assert!(resumed.budget().allows(&QuerySource::Recall).await.is_err());
}

#[tokio::test]
async fn l5_27_a_rate_limit_that_is_nearly_used_up_is_left_to_the_conversation() {
    let header = |field: &str, value: &str| {
        (format!("anthropic-ratelimit-requests-{field}"), value.to_owned())
    };
    let headers = BTreeMap::from([header("limit", "1000"), header("remaining", "20")]);
    let place = place(Reply { headers, ..Reply::text("ok") });
    let mut session = start(place.builder_with(&[("/everfold/flags/recall", "false")])).await;
    assert!(session.budget().allows(&QuerySource::Recall).await.is_ok());
    say_ok(&mut session, QUESTION).await;
    let denied = session.budget().allows(&QuerySource::Recall).await.unwrap_err();
    assert_eq!(denied, Denied::RateLimit(2));
    assert!(session.budget().allows(&QuerySource::Main).await.is_ok());
}

#[tokio::test]
async fn l5_27_a_rate_limit_counts_until_it_is_whole_again() {
    let header = |field: &str, value: &str| {
        (format!("anthropic-ratelimit-requests-{field}"), value.to_owned())
    };
    let place = Place::asking(FakeModel::new(Scenario::new()));
    let soon = everfold_kernel::ports::Clock::now(&place.clock) + std::time::Duration::from_mins(1);
    let headers = BTreeMap::from([
        header("limit", "1000"),
        header("remaining", "0"),
        header("reset", &soon.to_string()),
    ]);
    let reply = Reply { headers, ..Reply::text("ok") };
    let place = place.with_model(FakeModel::new(Scenario::new().otherwise(reply)));
    let mut session = start(place.builder_with(&[("/everfold/flags/recall", "false")])).await;
    say_ok(&mut session, "hello there").await;
    assert!(session.budget().allows(&QuerySource::Recall).await.is_err());
    place.clock.advance(std::time::Duration::from_mins(2));
    assert!(session.budget().allows(&QuerySource::Recall).await.is_ok());
}

#[tokio::test]
async fn l5_42_what_the_budget_did_not_allow_is_made_up_for() {
    use crate::extract::{ON, reviewing, reviews, watched};
    let place = reviewing(|_| Reply::text("nothing"));
    let poor = place.builder_with(&[ON]).set("/everfold/budget/daily_tokens", 0);
    let mut session = poor.build().await.start();
    let mut told = Vec::new();
    for number in ["one", "two", "three"] {
        let events = watched(&mut session, &format!("the matter is number {number}")).await;
        told.extend(events.into_iter().filter_map(|event| match event {
            everfold_engine::Event::Notice(text) if text.contains("not reviewed") => Some(text),
            _ => None,
        }));
    }
    assert_eq!(told.len(), 1, "once: {told:?}");
    assert!(place.model.requests_of("extract").is_empty());
    let noted = || {
        let lines = place.transcript().into_iter();
        lines.filter(|line| line["subtype"] == "everfold_extracted").collect::<Vec<_>>()
    };
    let [only] = &noted()[..] else { panic!("{:?}", noted()) };
    assert!(only["everfold"]["put_off"].is_string(), "{only}");

    let id = session.id().clone();
    drop(session);
    let agent = place.builder_with(&[ON]).build().await;
    let (mut resumed, _) = agent.resume(id).await.unwrap();
    say_ok(&mut resumed, "and here is number four").await;
    everfold_engine::finish(&mut resumed).await.unwrap();
    let asked = reviews(&place);
    assert_eq!(asked.len(), 1, "one review for all of them");
    let start = asked[0].last_user_text();
    assert!(start.contains("starts with \"the matter is number one\""), "{start}");
    let messages = asked[0].body["messages"].to_string();
    assert!(messages.contains("number three") && messages.contains("number four"));
    // The cursor moved with it.
    let last = noted().pop().unwrap();
    assert!(last["everfold"].get("put_off").is_none(), "{last}");
    say_ok(&mut resumed, "and the fifth").await;
    everfold_engine::finish(&mut resumed).await.unwrap();
    let start = reviews(&place).pop().unwrap().last_user_text();
    assert!(start.contains("starts with \"and the fifth\""), "{start}");
}
