//! What the prompt cache books.

use crate::place::{Place, say_ok};
use everfold_engine::session::prelude;
use everfold_engine::window::compaction;
use everfold_engine::window::compaction::Compaction;
use everfold_kernel::tokens::estimate_text;
use everfold_testkit::{FakeModel, Reply, Scenario, oracle};
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn pc5_thirty_turns_each_in_a_new_process_read_what_was_written() {
    let mut scenario = Scenario::new();
    for turn in 0..30 {
        let text = format!("Step {turn}: {}", "some words about the work. ".repeat(40));
        scenario = scenario
            .reply(Reply::tool("Glob", json!({"pattern": "*.txt"})))
            .reply(Reply::text(text));
    }
    let place = Place::new(FakeModel::new(scenario));
    place.write("a.txt", "x");
    let mut id = None;
    for turn in 0..30 {
        let agent = place.agent().await;
        let mut session = match id.take() {
            None => agent.start(),
            Some(id) => agent.resume(id).await.unwrap().0,
        };
        say_ok(&mut session, &format!("turn {turn}")).await;
        id = Some(session.id().clone());
        place.model.advance(Duration::from_secs(20));
    }
    let requests = place.model.requests();
    assert_eq!(requests.len(), 60);
    oracle::assert_prefix_stable(&requests);
    let usage = |index: usize| requests[index].usage.unwrap();
    let mut known = 0;
    let mut read = 0;
    for index in 1..requests.len() {
        known += usage(index - 1).prompt().0;
        read += usage(index).cache_read;
    }
    assert!(read * 100 >= known * 99, "{read} of {known} tokens were read from the cache");
}

#[tokio::test]
async fn pc5_many_parallel_calls_do_not_outrun_the_look_back() {
    let mut first = Reply::tool("Glob", json!({"pattern": "0"}));
    for number in 1..30 {
        first = first.and_tool("Glob", json!({"pattern": format!("{number}")}));
    }
    let scenario = Scenario::new().reply(first).reply(Reply::text("ok")).reply(Reply::text("ok"));
    let place = Place::new(FakeModel::new(scenario));
    let agent = place.agent().await;
    let mut session = agent.start();
    say_ok(&mut session, "look everywhere").await;
    say_ok(&mut session, "again").await;
    let requests = place.model.requests();
    for pair in requests.windows(2) {
        assert!(
            pair[1].usage.unwrap().cache_read
                >= pair[0].usage.unwrap().prompt().0 - pair[0].usage.unwrap().input
        );
        assert!(pair[1].usage.unwrap().cache_read > 0);
    }
}

#[tokio::test]
async fn t6_the_ledger_agrees_with_the_server() {
    let scenario = Scenario::new().otherwise(Reply::text("ok"));
    let place = Place::new(FakeModel::new(scenario));
    let agent = place.agent().await;
    let mut session = agent.start();
    for _ in 0..3 {
        say_ok(&mut session, "go on").await;
    }
    let booked: f64 = place.model.requests().iter().filter_map(|r| r.cost).map(|cost| cost.0).sum();
    assert!((session.ledger().total().cost.0 - booked).abs() < 1e-9);
}

#[tokio::test]
async fn t7_thresholds_mean_what_they_say() {
    let scenario = Scenario::new().otherwise(Reply::text("Understood. ".repeat(30)));
    let place = Place::new(FakeModel::new(scenario));
    let agent = place.agent().await;
    let mut session = agent.start();
    for turn in 0..8_usize {
        let prompt = "please look at this text and keep it in mind. ".repeat(20 + 60 * (turn % 3));
        let fold = session.fold();
        let estimate = estimate_text(&prompt, &session.config().limits);
        let predicted = (fold.count() + fold.calibration().apply(estimate)).0;
        say_ok(&mut session, &prompt).await;
        let truth = place.model.requests().last().unwrap().usage.unwrap().prompt().0;
        if turn >= 3 {
            let error = predicted.abs_diff(truth) * 1_000 / truth;
            assert!(error < 50, "turn {turn}: {predicted} for {truth}");
        }
    }
}

#[tokio::test]
async fn pc6_a_break_that_nobody_announced_is_told_once_with_its_cost() {
    let scenario = Scenario::new().otherwise(Reply::text("Understood. ".repeat(400)));
    let place = Place::new(FakeModel::new(scenario));
    let agent = place.agent().await;
    let mut session = agent.start();
    let mut notices = Vec::new();
    for round in 0..8 {
        if round == 5 {
            place.model.lose_cache();
        }
        let mut turn =
            crate::place::Turn::new(&mut session, "a word to keep in mind. ".repeat(200));
        while let Some(event) = turn.next().await {
            if let everfold_engine::Event::Notice(text) = event {
                notices.push((round, text));
            }
        }
        turn.end().await.unwrap();
    }
    assert_eq!(notices.len(), 1, "{notices:?}");
    let (round, text) = &notices[0];
    assert!(*round == 5 && text.contains("nothing changed here") && text.contains('$'), "{text}");
    let breaks =
        place.transcript().into_iter().filter(|line| line["subtype"] == "everfold_break_seen");
    assert_eq!(breaks.count(), 1);
}

#[tokio::test]
async fn pc6_expiry_compaction_and_model_switches_are_not_reported() {
    let scenario = Scenario::new().otherwise(Reply::text("Understood. ".repeat(400)));
    let place = Place::new(FakeModel::new(scenario));
    let agent = place.agent().await;
    let mut session = agent.start();
    for round in 0..6 {
        say_ok(&mut session, &"a word to keep in mind. ".repeat(200)).await;
        match round {
            1 => place.model.advance(Duration::from_mins(6)),
            3 => prelude::switch_model(&mut session, &"claude-opus-5".into()).await.unwrap(),
            _ => {}
        }
    }
    let breaks =
        place.transcript().into_iter().filter(|line| line["subtype"] == "everfold_break_seen");
    assert_eq!(breaks.count(), 0);
}

#[tokio::test]
async fn pc3_sections_are_computed_once_and_anew_after_a_compaction() {
    let scenario = Scenario::new().otherwise(Reply::text("<summary>all good</summary>"));
    let place = Place::new(FakeModel::new(scenario));
    let agent = place.agent().await;
    let mut session = agent.start();
    let long = "a word to keep in mind. ".repeat(400);
    for _ in 0..3 {
        say_ok(&mut session, &long).await;
        place.model.advance(Duration::from_hours(24));
    }
    let compaction = Compaction::by_hand(None);
    let stop = tokio_util::sync::CancellationToken::new();
    compaction::compact(&mut session, compaction, &stop).await.unwrap();
    say_ok(&mut session, "go on").await;
    let requests = place.model.requests_of("main");
    let system = |index: usize| requests[index].body["system"].clone();
    assert_eq!(system(0), system(2), "days pass, and the bytes stay");
    assert_ne!(system(2), system(3), "a compaction drops them");
    assert_eq!(system(2)[1], system(3)[1], "what stands before the boundary is the same for ever");
}

#[tokio::test]
async fn pc4_a_fork_has_the_same_tools_system_and_messages() {
    let scenario = Scenario::new().otherwise(Reply::text("<summary>all good</summary>"));
    let place = Place::new(FakeModel::new(scenario));
    let agent = place.agent().await;
    let mut session = agent.start();
    for _ in 0..3 {
        say_ok(&mut session, &"a word to keep in mind. ".repeat(400)).await;
    }
    let compaction = Compaction::by_hand(None);
    let stop = tokio_util::sync::CancellationToken::new();
    compaction::compact(&mut session, compaction, &stop).await.unwrap();
    let (main, fork) = (place.model.requests_of("main"), place.model.requests_of("compact"));
    let (parent, fork) = (main.last().unwrap(), &fork[0]);
    assert_eq!(parent.body["tools"], fork.body["tools"]);
    assert_eq!(oracle::first_break(parent, fork), None);
    let (known, read) = (parent.usage.unwrap().prompt().0, fork.usage.unwrap().cache_read);
    assert!(read * 100 >= known * 99, "{read} of {known} tokens came from the cache");
}

#[tokio::test]
async fn pc6_a_server_that_can_say_why_is_asked_behind_the_prefix() {
    let scenario = Scenario::new().otherwise(Reply::text("Understood."));
    let place = Place::new(FakeModel::new(scenario));
    let builder = place.builder().set("/everfold/provider/cache_diagnostics", true);
    let agent = builder.build().await;
    let mut session = agent.start();
    for _ in 0..3 {
        say_ok(&mut session, "go on").await;
    }
    let requests = place.model.requests();
    assert!(requests[0].body.get("diagnostics").is_none());
    assert_eq!(requests[2].body["diagnostics"]["previous_message_id"], "msg_test_0002");
    let betas = requests[2].header("anthropic-beta").unwrap_or_default();
    assert!(betas.contains("cache-diagnosis"), "{betas}");
    oracle::assert_prefix_stable(&requests);
    assert!(requests.iter().all(|request| request.refused.is_none()));
}
