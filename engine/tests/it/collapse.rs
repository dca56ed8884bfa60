//! Context collapse (L4.13): spans shown by summaries, in place of compaction.

use crate::place::{Agent, Place, say_ok};
use everfold_engine::Session;
use everfold_engine::window::compaction;
use everfold_testkit::{FakeModel, Received, Reply, ServerRules, oracle};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};

const WINDOW: u64 = 60_000;
/// The window less what is kept for the answer.
const EFFECTIVE: u64 = 55_000;

async fn agent(place: &Place) -> Agent {
    let settings = json!({"everfold": {
        "flags": {"collapse": true, "prune_time": false},
        "models": {"claude-haiku-4-5": {"window": WINDOW}},
        "limits": {"output_reserve_tokens": WINDOW - EFFECTIVE},
    }});
    let builder = place.builder().set("/model", "claude-haiku-4-5");
    builder.settings(&settings).build().await
}

/// A model that reads a file `reads` times a turn.
fn place(reads: usize) -> Place {
    place_saying(reads, "It read the file of lines.".to_owned())
}

/// The same with a summary of its own.
fn place_saying(reads: usize, summary: String) -> Place {
    let rules = ServerRules { window: WINDOW, ..ServerRules::default() };
    let asked = AtomicUsize::new(0);
    let server = FakeModel::with_handler(rules, move |request| {
        if request.source() == "compact" {
            return Reply::text(summary.clone());
        }
        if request.last_user_text() == "hello" {
            return Reply::text("hello");
        }
        if asked.fetch_add(1, Ordering::SeqCst) % (reads + 1) < reads {
            return Reply::tool("Read", json!({"file_path": "big.txt"}));
        }
        Reply::text("I have read it.")
    });
    let place = Place::new(server);
    let lines: Vec<String> =
        (0..500).map(|n| format!("line {n} of a file with some words in it\n")).collect();
    place.write("big.txt", &lines.concat());
    place
}

fn collapsed(place: &Place) -> Vec<Value> {
    let lines = place.transcript().into_iter();
    lines.filter(|line| line["subtype"] == "everfold_collapsed").collect()
}

fn shown(request: &Received) -> usize {
    request.body.to_string().matches("line 0 of a file").count()
}

fn main_requests(place: &Place) -> Vec<Received> {
    place.model.requests_of("main")
}

async fn until_collapsed(place: &Place, session: &mut Session) -> usize {
    for turn in 1..20 {
        say_ok(session, "read it").await;
        if !collapsed(place).is_empty() {
            return turn;
        }
    }
    panic!("never collapsed");
}

#[tokio::test]
async fn l4_13_spans_are_staged_after_turns_and_committed_at_90_percent() {
    let place = place(1);
    let mut session = agent(&place).await.start();
    let turns = until_collapsed(&place, &mut session).await;
    assert!(turns > 4, "not before the window fills: {turns}");
    let requests = main_requests(&place);
    for request in place.model.requests() {
        assert_eq!(request.refused, None, "request {}", request.index);
    }
    let prompts: Vec<u64> =
        requests.iter().map(|request| request.usage.unwrap().prompt().0).collect();
    let most = *prompts.iter().max().unwrap();
    assert!(most > EFFECTIVE * 75 / 100 && most < EFFECTIVE * 95 / 100, "{prompts:?}");
    // Each question came after the last answer of a turn, and none in between.
    let all = place.model.requests();
    let asked: Vec<&Received> = all.iter().filter(|one| one.source() == "compact").collect();
    assert!(!asked.is_empty());
    for one in asked {
        let before = all[..one.index].iter().rev().find(|other| other.source() == "main").unwrap();
        assert!(before.last_tool_results().is_some(), "the turn was over");
    }
    let first = requests.iter().position(|one| one.body.to_string().contains("of lines")).unwrap();
    assert!(shown(&requests[first]) < shown(&requests[first - 1]));
    let boundaries = place.transcript();
    assert!(boundaries.iter().all(|line| line["subtype"] != "compact_boundary"), "not compacted");
}

#[tokio::test]
async fn s15_a_collapsed_span_carries_no_key_over() {
    let key = ["gh", "p_", &"aB3dE5fG7h".repeat(4)].concat();
    let place = place_saying(1, format!("It read the file of lines, and {key} opens the door."));
    let mut session = agent(&place).await.start();
    until_collapsed(&place, &mut session).await;
    say_ok(&mut session, "hello").await;
    let shown = main_requests(&place).last().unwrap().body.to_string();
    assert!(shown.contains("[secret: a GitHub token] opens the door"), "{shown}");
    assert!(!shown.contains(&key));
    assert!(place.transcript().iter().all(|line| !line.to_string().contains(&key)));
}

#[tokio::test]
async fn l4_13_a_span_is_expanded_again_and_resume_rebuilds_the_projection() {
    let place = place(1);
    let mut session = agent(&place).await.start();
    until_collapsed(&place, &mut session).await;
    let before = main_requests(&place).len();
    let (mut session, _) = agent(&place).await.resume(session.id().clone()).await.unwrap();
    say_ok(&mut session, "hello").await;
    oracle::assert_prefix_stable(&main_requests(&place)[before - 1..]);
    let hidden = shown(main_requests(&place).last().unwrap());
    let decision = collapsed(&place)[0]["uuid"].as_str().unwrap().to_owned();
    compaction::undo_decision(&mut session, &decision.as_str().into()).await.unwrap();
    say_ok(&mut session, "read it").await;
    let open = shown(main_requests(&place).last().unwrap());
    assert_eq!(open, hidden + 2, "the span of one read, and this turn's own");
    let before = main_requests(&place).len();
    let (mut session, _) = agent(&place).await.resume(session.id().clone()).await.unwrap();
    say_ok(&mut session, "hello").await;
    oracle::assert_prefix_stable(&main_requests(&place)[before - 1..]);
}

#[tokio::test]
async fn l4_13_within_a_long_turn_summaries_are_made_by_rule_and_nobody_waits() {
    let place = place(14);
    let mut session = agent(&place).await.start();
    say_ok(&mut session, "read it").await;
    assert!(!collapsed(&place).is_empty());
    for request in place.model.requests() {
        assert_eq!(request.refused, None, "request {}", request.index);
    }
    let all = place.model.requests();
    let last = all.iter().rposition(|one| one.source() == "main").unwrap();
    assert!(all[..last].iter().all(|one| one.source() == "main"), "no model was asked meanwhile");
}

/// A model that talks, and uses no tools.
fn talker(words: usize) -> Place {
    let rules = ServerRules { window: WINDOW, ..ServerRules::default() };
    let server = FakeModel::with_handler(rules, move |request| match request.source() {
        "compact" if request.body["tools"].is_null() => Reply::text("They talked of lines."),
        "compact" => Reply::text("<summary>They talked of lines.</summary>"),
        _ => Reply::text("a long answer about lines ".repeat(words)),
    });
    Place::new(server)
}

#[tokio::test]
async fn l4_13_a_conversation_without_tools_collapses_too() {
    let place = talker(900);
    let mut session = agent(&place).await.start();
    for turn in 0..30 {
        say_ok(&mut session, &format!("go on, part {turn}")).await;
    }
    assert!(!collapsed(&place).is_empty());
    assert!(place.model.requests().iter().all(|request| request.refused.is_none()));
    let asked = main_requests(&place).pop().unwrap().body.to_string();
    assert!((0..30).all(|turn| asked.contains(&format!("part {turn}"))), "the person's words stay");
}

#[tokio::test]
async fn l4_13_where_nothing_can_be_staged_layer_4_serves() {
    let place = talker(2);
    let mut session = agent(&place).await.start();
    for turn in 0..20 {
        let said = format!("part {turn} {}", "of what the person has to say ".repeat(800));
        say_ok(&mut session, &said).await;
    }
    assert!(collapsed(&place).is_empty(), "the answers are too short for that");
    let lines = place.transcript();
    assert!(lines.iter().any(|line| line["subtype"] == "compact_boundary"));
    assert!(place.model.requests_of("main").iter().all(|request| request.refused.is_none()));
}
