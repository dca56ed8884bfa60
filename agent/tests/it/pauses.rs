//! What is done for less money between two turns (E4, E5), counted at the
//! server: summaries before and after the cache expires, at the end of turns on
//! large windows, and the time to live by the pace of the person.

use crate::place::{Place, say_ok};
use everfold_agent::engine::window::compaction::{self, Compaction};
use everfold_agent::{Builder, EndReason, Event, Session, Turn};
use everfold_kernel::settings::Surface;
use everfold_testkit::{Received, Reply, ServerRules, TestServer};
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use std::time::Duration;

const SUMMARY: &str = "<summary>\n1. Primary request: compare the offers.\n</summary>";
const LARGE: &str = "claude-sonnet-5-5";
const USUAL: &str = "claude-haiku-4-5";

/// Answers each prompt after so many tool calls.
fn server(calls: usize) -> TestServer {
    TestServer::with_handler(ServerRules::default(), move |request| {
        if request.source() == "compact" {
            return Reply::text(SUMMARY);
        }
        if results_since_prompt(request) < calls {
            return Reply::tool("Glob", json!({"pattern": "*.txt"}));
        }
        Reply::text("Compared.")
    })
    .unwrap()
}

fn results_since_prompt(request: &Received) -> usize {
    let is_result = |message: &&Value| message.to_string().contains("\"tool_result\"");
    let mut of_person = request.messages().iter().rev().filter(|own| own["role"] == "user");
    of_person.by_ref().take_while(is_result).count()
}

/// Sums up where the sum says so, whatever could be lost by it: sessions of
/// tests are short.
fn builder(place: &Place, model: &str, economy: &str, more: &[(&str, &str)]) -> Builder {
    let mut variables = vec![("EVERFOLD_LIMIT_ECONOMY_CARRY_LOSS_PERCENT", "1000")];
    variables.extend(more);
    place
        .builder_with(&variables)
        .set("--model", "/model", model)
        .set("t", "/everfold/compact/economy", economy)
        .set("t", "/everfold/compact/notes", "auto")
}

/// A pause is looked at a second after the turn.
const SOON: [(&str, &str); 1] = [("EVERFOLD_LIMIT_ECONOMY_PAUSE_MARGIN_S", "299")];

fn offers(kilobytes: usize) -> String {
    "an offer with its price and its terms of delivery. ".repeat(kilobytes * 20)
}

async fn wait_for_summary(place: &Place) -> Vec<Received> {
    for _ in 0..500 {
        let asked = place.server.requests_of("compact");
        if asked.iter().any(|request| request.usage.is_some()) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    place.server.requests_of("compact")
}

fn sources(place: &Place) -> Vec<String> {
    place.server.requests().iter().map(|request| request.source().to_owned()).collect()
}

/// The sums in the log.
fn sums(place: &Place, session: &Session) -> Vec<Value> {
    let mut lines = place.transcript_of(session.id());
    lines.retain(|line| line["subtype"] == "everfold_weighed");
    lines
}

fn last_prompt(place: &Place) -> u64 {
    place.server.requests_of("main").pop().unwrap().usage.unwrap().prompt().0
}

#[tokio::test]
async fn e4_before_the_cache_expires_the_past_is_summed_up_from_it() {
    let place = Place::new(server(0));
    let agent = builder(&place, USUAL, "auto", &SOON).build().await.unwrap();
    let mut session = agent.start();
    say_ok(&mut session, &offers(400)).await;
    let before = last_prompt(&place);
    let [summary] = &wait_for_summary(&place).await[..] else {
        panic!("one summary: {:#?}", sums(&place, &session))
    };
    let usage = summary.usage.unwrap();
    assert!(usage.cache_read * 100 >= before * 99, "it reads what is cached: {usage:?}");
    assert_eq!(usage.cache_write(), 0, "nobody else would read what it wrote");
    place.server.advance(Duration::from_mins(20));
    for _ in 0..3 {
        say_ok(&mut session, "which one is the cheapest?").await;
    }
    assert_eq!(place.server.requests_of("compact").len(), 1, "it was made before");
    let after = last_prompt(&place);
    assert!(after * 3 < before, "{before} tokens became {after}");
    let asked = place.server.requests_of("main").pop().unwrap().body.to_string();
    assert!(asked.contains("compare the offers"), "by what the summary says");
    // Whoever resumes goes on from there.
    let (mut session, _) = agent.resume(session.id().clone()).await.unwrap();
    say_ok(&mut session, "and the dearest?").await;
    assert!(last_prompt(&place) * 3 < before);
}

#[tokio::test]
async fn e4_nothing_is_summed_up_between_turns_where_that_is_off() {
    for (economy, model) in [("off", USUAL), ("off", LARGE)] {
        let place = Place::new(server(2));
        let agent = builder(&place, model, economy, &SOON).build().await.unwrap();
        let mut session = agent.start();
        say_ok(&mut session, &offers(400)).await;
        tokio::time::sleep(Duration::from_millis(1_500)).await;
        place.server.advance(Duration::from_mins(20));
        say_ok(&mut session, "which one is the cheapest?").await;
        everfold_agent::engine::finish(&mut session).await.unwrap();
        assert!(place.server.requests_of("compact").is_empty(), "{model}");
    }
}

#[tokio::test]
async fn e4_whoever_comes_back_to_a_cold_cache_does_not_pay_for_all_of_it_again() {
    let place = Place::new(server(0));
    let builder = builder(&place, USUAL, "cold-only", &[]).set("t", "/everfold/cache/ttl", "1h");
    let mut session = builder.build().await.unwrap().start();
    say_ok(&mut session, &offers(500)).await;
    let written = place.server.requests_of("main").pop().unwrap().cost.unwrap().0;
    place.server.advance(Duration::from_hours(2));
    say_ok(&mut session, "which one is the cheapest?").await;
    assert_eq!(sources(&place), ["main", "compact", "main"], "{:#?}", sums(&place, &session));
    let again: f64 =
        place.server.requests()[1..].iter().filter_map(|own| own.cost).map(|c| c.0).sum();
    assert!(again < written * 1.2, "{again:.4} USD, where writing it took {written:.4}");
    assert!(last_prompt(&place) < 60_000);
}

#[tokio::test]
async fn e4_on_a_large_window_the_past_is_summed_up_between_turns_and_never_in_one() {
    let place = Place::new(server(4));
    place.write("a.txt", "x");
    let mut session = builder(&place, LARGE, "auto", &[]).build().await.unwrap().start();
    say_ok(&mut session, &offers(600)).await;
    let before = last_prompt(&place);
    wait_for_summary(&place).await;
    for _ in 0..3 {
        say_ok(&mut session, "which one is the cheapest?").await;
    }
    let sources = sources(&place);
    assert_eq!(sources.iter().filter(|own| *own == "compact").count(), 1, "{sources:?}");
    // Five requests are a turn.
    let at = sources.iter().position(|own| own == "compact").unwrap();
    assert_eq!(at % 5, 0, "{sources:?}");
    let after = last_prompt(&place);
    assert!(after * 3 < before, "{before} tokens became {after}");
    let boundary = place
        .transcript_of(session.id())
        .into_iter()
        .find(|line| line["subtype"] == "compact_boundary");
    assert!(boundary.unwrap()["compactMetadata"]["carried"]["turns"].as_u64().is_some());
}

#[tokio::test]
async fn e4_pauses_alone_leave_a_warm_past_as_it_is() {
    let place = Place::new(server(4));
    place.write("a.txt", "x");
    let mut session = builder(&place, LARGE, "cold-only", &[]).build().await.unwrap().start();
    say_ok(&mut session, &offers(600)).await;
    for _ in 0..3 {
        say_ok(&mut session, "which one is the cheapest?").await;
    }
    everfold_agent::engine::finish(&mut session).await.unwrap();
    assert!(place.server.requests_of("compact").is_empty());
}

#[tokio::test]
async fn e4_a_session_that_has_cost_little_is_left_alone() {
    let place = Place::new(server(0));
    let builder = place.builder_with(&SOON).set("--model", "/model", LARGE).set(
        "t",
        "/everfold/compact/economy",
        "auto",
    );
    let mut session = builder.build().await.unwrap().start();
    say_ok(&mut session, &offers(400)).await;
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    say_ok(&mut session, "which one is the cheapest?").await;
    assert!(place.server.requests_of("compact").is_empty(), "one turn is no sign of many");
    assert!(!sums(&place, &session).is_empty(), "the sum is in the log all the same");
}

/// The time to live that a request asks for.
fn asked_for(request: &Received) -> &'static str {
    let body = request.body.to_string();
    match (body.contains("\"ttl\":\"1h\""), body.contains("cache_control")) {
        (true, _) => "1h",
        (false, true) => "5m",
        (false, false) => "none",
    }
}

#[tokio::test]
async fn e5_pauses_of_some_minutes_call_for_an_hour() {
    let place = Place::new(server(0));
    let builder = place.builder().set("--model", "/model", LARGE);
    let mut session = builder.build().await.unwrap().start();
    say_ok(&mut session, &offers(40)).await;
    for _ in 0..3 {
        place.server.advance(Duration::from_mins(15));
        say_ok(&mut session, "and now?").await;
    }
    let requests = place.server.requests_of("main");
    let asked: Vec<&str> = requests.iter().map(asked_for).collect();
    assert_eq!(asked[0], "5m", "nobody sits in front of it at first");
    assert_eq!(asked.last(), Some(&"1h"), "{asked:?}");
    let usage = requests.last().unwrap().usage.unwrap();
    assert!(usage.cache_read > usage.cache_write(), "the pause was survived: {usage:?}");
}

#[tokio::test]
async fn e5_a_quick_person_pays_for_five_minutes_and_loses_nothing_by_the_change() {
    let place = Place::new(server(0));
    let quick = [("EVERFOLD_LIMIT_ECONOMY_PACE_PAUSES", "0")];
    let builder = place.builder_with(&quick).surface(Surface::Interactive);
    let mut session = builder.set("--model", "/model", LARGE).build().await.unwrap().start();
    for _ in 0..4 {
        say_ok(&mut session, &offers(10)).await;
        place.server.advance(Duration::from_secs(30));
    }
    let requests = place.server.requests_of("main");
    let asked: Vec<&str> = requests.iter().map(asked_for).collect();
    assert_eq!((asked[0], *asked.last().unwrap()), ("1h", "5m"), "{asked:?}");
    for pair in requests.windows(2) {
        let (before, own) = (pair[0].usage.unwrap(), pair[1].usage.unwrap());
        assert!(own.cache_read * 100 >= before.prompt().0 * 98, "{own:?} after {before:?}");
    }
}

#[tokio::test]
async fn e5_a_time_that_was_set_stays() {
    let place = Place::new(server(0));
    let builder = place.builder().set("t", "/everfold/cache/ttl", "5m");
    let mut session = builder.set("--model", "/model", LARGE).build().await.unwrap().start();
    for _ in 0..4 {
        say_ok(&mut session, &offers(20)).await;
        place.server.advance(Duration::from_mins(15));
    }
    assert!(place.server.requests_of("main").iter().all(|own| asked_for(own) == "5m"));
}

/// The quiet lines of a turn.
async fn lines(session: &mut Session, prompt: &str) -> Vec<String> {
    let mut turn = Turn::new(session, prompt);
    let mut told = Vec::new();
    while let Some(event) = turn.next().await {
        if let Event::Housekeeping(text) = event {
            told.push(text);
        }
    }
    assert_eq!(turn.end().await.unwrap().reason, EndReason::Completed);
    told
}

#[tokio::test]
async fn e10_what_is_spilled_compacted_or_not_done_is_one_line_with_tokens_and_money() {
    let server = TestServer::with_handler(ServerRules::default(), |request| {
        if request.source() == "compact" {
            return Reply::text(SUMMARY);
        }
        match request.last_tool_results() {
            None => Reply::tool("Bash", json!({"command": "cat big.txt"})),
            Some(_) => Reply::text("Seen."),
        }
    });
    let place = Place::new(server.unwrap());
    place.write("big.txt", &"a line of a large file that is read\n".repeat(9_000));
    let builder = place.builder_with(&[("EVERFOLD_FLAG_SESSION_MEMORY", "1")]).set(
        "t",
        "/everfold/budget/session_tokens",
        0,
    );
    let mut session = builder.build().await.unwrap().start();
    let told = lines(&mut session, &"look at the file, please. ".repeat(2_500)).await;
    let spilled = told.iter().find(|line| line.starts_with("moved 1 large result to disk: "));
    assert!(spilled.is_some_and(|line| line.contains(" tokens less, $0.")), "{told:?}");
    let denied: Vec<&String> =
        told.iter().filter(|line| line.starts_with("notes are not")).collect();
    assert!(denied.len() == 1 && denied[0].contains("background budget is spent"), "{told:?}");
    let (sender, mut events) = tokio::sync::mpsc::unbounded_channel();
    session.watch(sender);
    let stop = everfold_agent::CancellationToken::new();
    compaction::compact(&mut session, Compaction::by_hand(None), &stop).await.unwrap();
    let mut compacted = Vec::new();
    while let Ok(event) = events.try_recv() {
        match event {
            Event::Housekeeping(text) => compacted.push(text),
            Event::Compacted { line, .. } => compacted.push(line),
            _ => {}
        }
    }
    assert_eq!(compacted.len(), 1, "{compacted:?}");
    assert!(compacted[0].contains(" tokens for $0.") && compacted[0].contains("less with each"));
}
