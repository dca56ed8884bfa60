//! Clearing that the server does: by the API (L2.4), by cache edits (L2.3).

use crate::place::{Agent, Place, Turn, say_ok};
use everfold_engine::Event;
use everfold_engine::window::compaction;
use everfold_engine::window::compaction::Compaction;
use everfold_testkit::{FakeModel, Received, Reply, ServerRules, oracle};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

const SUMMARY: &str = "<summary>\n1. Primary request: keep reading.\n</summary>";

/// A model that reads a file each turn and sums up when asked.
fn reader(rules: ServerRules, file: &'static str) -> FakeModel {
    FakeModel::with_handler(rules, move |request| {
        if request.last_user_text().contains("<summary>") {
            return Reply::text(SUMMARY);
        }
        match request.last_tool_results() {
            Some(_) => Reply::text("I have read it."),
            None => Reply::tool("Read", json!({"file_path": file})),
        }
    })
}

async fn agent(place: &Place, provider: Value, flags: Value) -> Agent {
    let settings = json!({"everfold": {"provider": provider, "flags": flags,
        "limits": {"prune": {"api_trigger_tokens": 30_000, "api_clear_tokens": 10_000,
            "expected_rounds": 200}}}});
    place.builder().settings(&settings).build().await
}

fn beta(request: &Received) -> &str {
    request.header("anthropic-beta").unwrap_or("")
}

fn decisions(place: &Place, kind: &str) -> Vec<Value> {
    let subtype = format!("everfold_{kind}");
    place.transcript().into_iter().filter(|line| line["subtype"] == subtype.as_str()).collect()
}

#[tokio::test]
async fn l2_4_the_server_clears_by_itself_and_it_is_booked_and_shown() {
    let place = Place::new(reader(ServerRules::default(), "big.txt"));
    place.write("big.txt", &"a line of a file with some words in it\n".repeat(400));
    let offer = json!({"context_management": true});
    let agent = agent(&place, offer, json!({"prune_api": true, "prune_time": false})).await;
    let mut session = agent.start();
    let mut notices = Vec::new();
    for _ in 0..12 {
        let mut turn = Turn::new(&mut session, "read it");
        while let Some(event) = turn.next().await {
            if let Event::Notice(text) = event {
                notices.push(text);
            }
        }
        turn.end().await.unwrap();
    }
    let requests = place.model.requests();
    for request in &requests {
        assert!(request.refused.is_none(), "{:?}", request.refused);
        assert!(beta(request).contains("context-management-2025-06-27"));
        let edits = &request.body["context_management"]["edits"];
        assert_eq!(edits.as_array().unwrap().last().unwrap()["type"], "clear_tool_uses_20250919");
        assert_eq!(edits, &requests[0].body["context_management"]["edits"]);
    }
    oracle::assert_prefix_stable(&requests);
    let booked = decisions(&place, "server_cleared");
    assert!(!booked.is_empty(), "the server cleared");
    let edit = &booked[0].to_string();
    assert!(edit.contains("cleared_tool_uses") && edit.contains("clear_tool_uses_20250919"));
    assert!(notices.iter().any(|text| text.contains("the server cleared")), "{notices:?}");
    assert!(!notices.iter().any(|text| text.contains("cache broke")), "{notices:?}");
    let largest = requests.iter().filter_map(|r| r.usage).map(|u| u.prompt().0).max().unwrap();
    assert!(largest < 45_000, "the prompt stays small: {largest}");
    // The switch was decided with the prelude: a resumed session keeps it.
    let plain = place.agent().await;
    let (mut session, _) = plain.resume(session.id().clone()).await.unwrap();
    say_ok(&mut session, "read it").await;
    oracle::assert_prefix_stable(&place.model.requests()[requests.len() - 1..]);
    let last = place.model.requests().pop().unwrap();
    assert_eq!(last.body["context_management"], requests[0].body["context_management"]);
}

#[tokio::test]
async fn l2_4_nothing_is_asked_of_a_provider_that_does_not_offer_it() {
    for (offer, flags) in [
        (json!({}), json!({"prune_api": true})),
        (json!({"context_management": true}), json!({})),
        (json!({"context_management": false}), json!({"prune_api": true})),
    ] {
        let place = Place::new(reader(ServerRules::default(), "a.txt"));
        place.write("a.txt", "one\n");
        let agent = agent(&place, offer, flags).await;
        say_ok(&mut agent.start(), "read it").await;
        for request in place.model.requests() {
            assert!(request.body.get("context_management").is_none());
            assert!(!beta(&request).contains("context-management"));
        }
    }
}

/// The edits of a request, with where they stand.
fn edits_of(request: &Received) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for (at, message) in request.messages().iter().enumerate() {
        let blocks = message["content"].as_array().unwrap();
        for (index, block) in blocks.iter().enumerate() {
            if block["type"] == "cache_edits" {
                found.push((format!("{at}/{index}"), block.clone()));
            }
        }
    }
    found
}

#[tokio::test]
async fn l2_3_edits_are_sent_again_at_the_same_place_for_ever() {
    let place =
        Place::new(reader(ServerRules { cache_edits: true, ..ServerRules::default() }, "a.txt"));
    place.write("a.txt", &"some words on a line of this file\n".repeat(60));
    let (offer, flags) = (json!({"cache_edits": true}), json!({"prune_cache_edit": true}));
    let agent = agent(&place, offer, flags).await;
    let mut session = agent.start();
    for _ in 0..24 {
        say_ok(&mut session, "read it").await;
    }
    let requests = place.model.requests();
    assert!(requests.iter().all(|request| request.refused.is_none()));
    let first = requests.iter().position(|request| !edits_of(request).is_empty()).unwrap();
    let sent = edits_of(&requests[first]);
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].1["edits"].as_array().unwrap().len(), 16, "21 live, the newest 5 stay");
    let last_message = requests[first].messages().last().unwrap()["content"].as_array().unwrap();
    assert_eq!(last_message.last().unwrap()["type"], "cache_edits", "at the very end");
    for request in &requests[first..] {
        assert_eq!(edits_of(request)[0], sent[0]);
    }
    oracle::assert_prefix_stable(&requests);
    assert!(!requests.last().unwrap().body.to_string().contains("content cleared"));
    let prompt = |at: usize| requests[at].usage.unwrap().prompt().0;
    assert!(prompt(first) < prompt(first - 1), "what was dropped is not billed");
    let usage = requests[first].usage.unwrap();
    assert!(usage.cache_read * 10 > usage.prompt().0 * 8, "the cache was kept: {usage:?}");
    assert!(decisions(&place, "break_seen").is_empty());

    // A fork carries the parent's edits and adds none; a resumed session too.
    compaction::compact(&mut session, Compaction::by_hand(None), &CancellationToken::new())
        .await
        .unwrap();
    let fork = place.model.requests_of("compact").pop().unwrap();
    assert_eq!(edits_of(&fork), edits_of(requests.last().unwrap()));
    assert!(fork.refused.is_none());
    say_ok(&mut session, "and now?").await;
    let last = place.model.requests().pop().unwrap();
    assert!(last.refused.is_none() && edits_of(&last).is_empty(), "a boundary ends them");
}

#[tokio::test]
async fn l2_3_a_resumed_session_sends_the_same_edits() {
    let place =
        Place::new(reader(ServerRules { cache_edits: true, ..ServerRules::default() }, "a.txt"));
    place.write("a.txt", &"some words on a line of this file\n".repeat(60));
    let (offer, flags) = (json!({"cache_edits": true}), json!({"prune_cache_edit": true}));
    let mut session = agent(&place, offer, flags).await.start();
    for _ in 0..23 {
        say_ok(&mut session, "read it").await;
    }
    let before = place.model.requests();
    assert!(!edits_of(before.last().unwrap()).is_empty());
    // Whatever the settings say now: what was sent is in the log.
    let (mut session, _) = place.agent().await.resume(session.id().clone()).await.unwrap();
    say_ok(&mut session, "read it").await;
    let after = place.model.requests();
    assert!(after.iter().all(|request| request.refused.is_none()));
    oracle::assert_prefix_stable(&after[before.len() - 1..]);
}

#[tokio::test]
async fn l2_3_without_the_offer_no_edit_is_sent_and_the_public_api_would_refuse_it() {
    let place = Place::new(reader(ServerRules::default(), "a.txt"));
    place.write("a.txt", &"some words on a line of this file\n".repeat(60));
    let mut session = agent(&place, json!({}), json!({"prune_cache_edit": true})).await.start();
    for _ in 0..23 {
        say_ok(&mut session, "read it").await;
    }
    assert!(place.model.requests().iter().all(|request| edits_of(request).is_empty()));
    let offer = json!({"cache_edits": true});
    let mut session = agent(&place, offer, json!({"prune_cache_edit": true})).await.start();
    for _ in 0..20 {
        say_ok(&mut session, "read it").await;
    }
    let _ = crate::place::say(&mut session, "read it").await;
    let _ = crate::place::say(&mut session, "read it").await;
    let refused = place.model.requests().into_iter().find_map(|request| request.refused);
    assert!(refused.unwrap().1.contains("cache_edits"), "unknown to the public API");
}
