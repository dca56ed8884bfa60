//! What a person chooses in the middle of a conversation (Q14), and what can
//! be seen of it while a turn runs.

use crate::place::{Place, Turn, say_ok};
use everfold_engine::Event;
use everfold_engine::session::prelude;
use everfold_engine::session::status;
use everfold_engine::setups::preferences;
use everfold_engine::setups::preferences::ThinkingWish;
use everfold_engine::window::compaction;
use everfold_engine::window::compaction::Compaction;
use everfold_kernel::settings::PermissionMode;
use everfold_testkit::{FakeModel, Received, Reply, Scenario, ServerRules, oracle};
use serde_json::json;
use tokio_util::sync::CancellationToken;

fn place() -> Place {
    Place::new(FakeModel::new(Scenario::new().otherwise(Reply::text("ok"))))
}

fn last(place: &Place) -> Received {
    place.model.requests().pop().unwrap()
}

#[tokio::test]
async fn q14_thinking_and_effort_change_in_the_middle_and_are_kept() {
    let place = place();
    let mut session = place.agent().await.start();
    preferences::set_effort(&mut session, Some("low")).await.unwrap();
    say_ok(&mut session, "first").await;
    assert_eq!(last(&place).body["output_config"]["effort"], "low", "chosen before the start");
    preferences::set_effort(&mut session, Some("max")).await.unwrap();
    preferences::set_thinking(&mut session, ThinkingWish::Budget(2_000)).await.unwrap();
    say_ok(&mut session, "second").await;
    let body = last(&place).body.clone();
    assert_eq!(body["output_config"]["effort"], "max");
    assert_eq!(body["thinking"], json!({"type": "enabled", "budget_tokens": 2_000}));
    assert_eq!(body["system"], place.model.requests()[0].body["system"]);
    let (mut session, _) = place.agent().await.resume(session.id().clone()).await.unwrap();
    let before = place.model.requests().len();
    say_ok(&mut session, &format!("third {}", "some words of weight. ".repeat(300))).await;
    oracle::assert_prefix_stable(&place.model.requests()[before - 1..]);
    let cancel = CancellationToken::new();
    compaction::compact(&mut session, Compaction::by_hand(None), &cancel).await.unwrap();
    say_ok(&mut session, "fourth").await;
    assert_eq!(last(&place).body["output_config"]["effort"], "max", "through a compaction");
    assert_eq!(last(&place).body["thinking"]["budget_tokens"], 2_000);
    prelude::switch_model(&mut session, &"claude-opus-5-5".into()).await.unwrap();
    let why =
        preferences::set_thinking(&mut session, ThinkingWish::Off).await.unwrap_err().to_string();
    assert!(why.contains("always thinks"), "{why}");
    preferences::set_thinking(&mut session, ThinkingWish::Usual).await.unwrap();
    let why = preferences::set_effort(&mut session, Some("huge")).await.unwrap_err().to_string();
    assert!(why.contains("low, medium, high"), "{why}");
    prelude::switch_model(&mut session, &"claude-3-5-haiku".into()).await.unwrap();
    let why = preferences::set_thinking(&mut session, ThinkingWish::Adaptive)
        .await
        .unwrap_err()
        .to_string();
    assert!(why.contains("does not think"), "{why}");
    let lines = place.transcript();
    assert!(lines.iter().all(|line| line["subtype"] != "everfold_break_seen"), "all was declared");
}

#[tokio::test]
async fn q14_style_and_language_break_nothing_and_are_told_again() {
    let place = place();
    let mut session = place.agent().await.start();
    preferences::set_language(&mut session, Some("German")).await.unwrap();
    say_ok(&mut session, &format!("first {}", "some words of weight. ".repeat(300))).await;
    assert!(last(&place).body["messages"].to_string().contains("answer in German"));
    preferences::set_output_style(&mut session, "terse", Some("One line, no more.")).await.unwrap();
    say_ok(&mut session, "second").await;
    oracle::assert_prefix_stable(&place.model.requests());
    assert!(last(&place).last_user_text().contains("One line, no more."));
    let cancel = CancellationToken::new();
    compaction::compact(&mut session, Compaction::by_hand(None), &cancel).await.unwrap();
    let (mut session, _) = place.agent().await.resume(session.id().clone()).await.unwrap();
    let chosen = preferences::chosen(&session);
    assert_eq!(
        (chosen.style.as_deref(), chosen.language.as_deref()),
        (Some("terse"), Some("German"))
    );
    say_ok(&mut session, "third").await;
    let body = last(&place).body["messages"].to_string();
    assert!(body.contains("One line, no more.") && body.contains("answer in German"), "{body}");
    preferences::set_output_style(&mut session, "default", None).await.unwrap();
    say_ok(&mut session, "fourth").await;
    assert!(last(&place).last_user_text().contains("write as you do by yourself"));
}

#[tokio::test]
async fn q9_q14_the_mode_changes_while_a_turn_runs_and_the_status_is_seen() {
    let server = FakeModel::with_handler(ServerRules::default(), |request| {
        match request.last_tool_results() {
            None => Reply::tool("Write", json!({"file_path": "a.txt", "content": "one\n"})),
            Some(told) if told.contains("refused") => Reply::text("ok"),
            Some(_) => Reply::tool("Write", json!({"file_path": "b.txt", "content": "two\n"})),
        }
    });
    let place = Place::new(server);
    let mut session = place.agent().await.start();
    let live = status::live(&session);
    assert_eq!(live.status().unwrap().used.0, 0);
    let mut turn = Turn::new(&mut session, "write");
    while let Some(event) = turn.next().await {
        if matches!(event, Event::ToolEnded { .. })
            && live.status().unwrap().mode == PermissionMode::Default
        {
            live.set_mode(PermissionMode::Plan);
            assert_eq!(live.status().unwrap().mode, PermissionMode::Plan);
        }
    }
    turn.end().await.unwrap();
    assert!(place.dirs.project().join("a.txt").exists());
    assert!(!place.dirs.project().join("b.txt").exists(), "plan mode holds from the next call on");
    assert!(last(&place).body.to_string().contains("Plan mode: the person wants a plan"));
    let status = live.status().unwrap();
    assert_eq!(status.used, session.fold().count());
    assert!(status.hit_rate.is_some(), "{status:?}");
    assert_eq!((status.model, status.window), (session.model().clone(), session.window()));
}
