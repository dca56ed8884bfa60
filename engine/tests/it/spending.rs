//! What a turn may cost besides its answers: thrash, ceiling, stopped answers,
//! jumps (L4.2, L4.15, E7 to E9), counted at the server.

use crate::place::{Builder, Place, Turn, say, say_ok};
use everfold_engine::{EndReason, Event, Session};
use everfold_kernel::{QuerySource, Tokens};
use everfold_testkit::{FakeModel, Gate, Received, Reply, ServerRules};
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};

const SUMMARY: &str = "<summary>\n1. Primary request: compare the files.\n</summary>";

fn asks_for_summary(request: &Received) -> bool {
    request.source() == "compact"
}

fn cost(requests: &[Received]) -> f64 {
    requests.iter().filter_map(|request| request.cost).map(|cost| cost.0).sum()
}

fn big_files(place: &Place, count: usize, bytes: usize) {
    for number in 0..count {
        let line = format!("line of file {number} with a few words in it\n");
        place.write(&format!("f{number}.txt"), &line.repeat(bytes / line.len()));
    }
}

fn small_window(place: &Place) -> Builder {
    place.builder().set("/model", "claude-haiku-4-5")
}

/// A model that reads all files again whenever it is asked, so many times.
fn reader(files: usize, times: usize) -> FakeModel {
    let asked = AtomicUsize::new(0);
    FakeModel::with_handler(ServerRules::default(), move |request| {
        if asks_for_summary(request) {
            return Reply::text(SUMMARY);
        }
        if request.source() != "main" || asked.fetch_add(1, Ordering::SeqCst) >= times {
            return Reply::text("Compared.");
        }
        (0..files).fold(Reply::default(), |reply, number| {
            reply.and_tool("Read", json!({"file_path": format!("f{number}.txt")}))
        })
    })
}

async fn notices(session: &mut Session, prompt: &str) -> (Vec<String>, EndReason) {
    let mut turn = Turn::new(session, prompt);
    let mut told = Vec::new();
    while let Some(event) = turn.next().await {
        if let Event::Notice(text) = event {
            told.push(text);
        }
    }
    (told, turn.end().await.unwrap().reason)
}

#[tokio::test]
async fn l4_15_a_turn_that_fills_its_view_again_and_again_buys_no_more_summaries() {
    let place = Place::new(reader(8, 20));
    big_files(&place, 8, 80_000);
    let mut session = small_window(&place).build().await.start();
    let (told, reason) = notices(&mut session, "compare the files").await;
    let failed: Vec<serde_json::Value> = (place.transcript().into_iter())
        .filter(|line| line["subtype"].as_str().is_some_and(|own| own.contains("compact")))
        .map(|line| line["content"].clone())
        .collect();
    assert_eq!(reason, EndReason::Completed, "{failed:?}");
    let summaries = place.model.requests_of("compact");
    let sources: Vec<String> = place
        .model
        .requests()
        .iter()
        .map(|own| format!("{} {:?}", own.source(), own.refused))
        .collect();
    // The view fills up twice within three rounds of a summary, and then no more are bought.
    assert_eq!(summaries.len(), 2, "{told:?} {sources:?}");
    let cause: Vec<&String> = told.iter().filter(|text| text.contains("fills up again")).collect();
    assert!(cause.len() == 1 && cause[0].contains("f0.txt"), "{told:?}");
    let mains = place.model.requests_of("main");
    let last = mains.last().unwrap().body.to_string();
    assert!(last.contains("[Excerpt: "), "what repeats comes as an excerpt");
    let is_told = |own: &Received| own.body.to_string().contains("answered with an excerpt");
    let first = place.model.requests().iter().position(is_told);
    let last_summary = place.model.requests().iter().rposition(asks_for_summary);
    assert!(first.is_some() && last_summary < first, "the model is told why: {sources:?}");
    let all = place.model.requests();
    assert!(summaries.iter().all(|request| request.refused.is_none()));
    // Twenty rounds of reading everything at the price of writing it would be over 4 USD.
    assert!(cost(&all) < 1.5, "{:.2} USD", cost(&all));
}

#[tokio::test]
async fn e7_a_headless_turn_ends_at_its_ceiling_and_a_person_is_asked() {
    let place = Place::new(reader(8, 20));
    big_files(&place, 8, 80_000);
    let builder = small_window(&place).set("/everfold/budget/turn_ceiling_usd", 0.000_1);
    let mut session = builder.build().await.start();
    let end = say(&mut session, "compare the files").await;
    assert!(matches!(end.reason, EndReason::SpendingCeiling(_)), "{:?}", end.reason);
    assert_eq!(place.model.requests_of("compact").len(), 1);
    // Another turn has a ceiling of its own.
    let end = say(&mut session, "and now?").await;
    assert!(!matches!(end.reason, EndReason::Failed(_)), "{:?}", end.reason);
}

#[tokio::test]
async fn e8_a_stopped_answer_is_counted_by_what_came_of_it() {
    let long = "a long answer in many words that goes on and on. ".repeat(800);
    let server = FakeModel::with_handler(ServerRules::default(), move |request| {
        if request.last_user_text().contains("tell me all") {
            let gate = Gate { name: "held".into(), after_events: 2_400 };
            return Reply { gate: Some(gate), ..Reply::text(long.clone()) };
        }
        Reply::text("ok")
    });
    let place = Place::new(server);
    let mut session = place.builder().build().await.start();
    for _ in 0..4 {
        say_ok(&mut session, &"some words to begin with. ".repeat(60)).await;
    }
    let factor = |session: &Session| session.fold().calibration().apply(Tokens(10_000)).0;
    let before = factor(&session);
    let mut turn = Turn::new(&mut session, "tell me all");
    let stop = turn.canceller();
    let mut chars = 0;
    while let Some(event) = turn.next().await {
        if let Event::Text(text) = event {
            chars += text.len();
            if chars > 30_000 {
                stop.cancel();
            }
        }
    }
    assert_eq!(turn.end().await.unwrap().reason, EndReason::Cancelled);
    let booked: u64 = session.ledger().lines().map(|(_, _, line)| line.usage.output).sum();
    assert!(booked > 6_000, "{booked} tokens for {chars} characters");
    for _ in 0..3 {
        let counted = session.fold().count().0;
        say_ok(&mut session, "and briefly?").await;
        let real = place.model.requests().pop().unwrap().usage.unwrap().prompt().0;
        assert!(counted.abs_diff(real) * 10 < real, "{counted} counted, {real} billed");
    }
    let after = factor(&session);
    assert!(after.abs_diff(before) * 10 < before, "calibrated from {before} to {after}");
    assert!(place.model.requests_of("compact").is_empty());
}

#[tokio::test]
async fn e9_a_jump_over_the_threshold_is_summed_up_from_what_is_cached() {
    let rounds = AtomicUsize::new(0);
    let server = FakeModel::with_handler(ServerRules::default(), move |request| {
        if asks_for_summary(request) {
            return Reply::text(SUMMARY);
        }
        let read = |reply: Reply, number: usize| {
            reply.and_tool("Read", json!({"file_path": format!("f{number}.txt")}))
        };
        match rounds.fetch_add(1, Ordering::SeqCst) {
            round @ 0..=2 => read(Reply::default(), round),
            3 => (3..7).fold(Reply::default(), read),
            _ => Reply::text("Done."),
        }
    });
    let place = Place::new(server);
    big_files(&place, 7, 90_000);
    let mut session = small_window(&place).build().await.start();
    say_ok(&mut session, "compare the files").await;
    let [summary] = &place.model.requests_of("compact")[..] else { panic!("one summary") };
    let usage = summary.usage.unwrap();
    assert!(usage.cache_read * 100 >= usage.prompt().0 * 95, "{usage:?}");
    assert_eq!(usage.cache_write(), 0, "nobody else would read what it wrote");
    let last = place.model.requests_of("main").pop().unwrap().body.to_string();
    for number in 3..7 {
        assert!(last.contains(&format!("line of file {number} with")), "the batch stays");
    }
    assert!(place.model.requests().iter().all(|request| request.refused.is_none()));
}

#[tokio::test]
async fn t3_the_long_window_s_suffix_sends_the_header_that_it_needs() {
    for (model, is_sent) in [("claude-sonnet-4-5[1m]", true), ("claude-sonnet-5-5[1m]", false)] {
        let server = FakeModel::with_handler(ServerRules::default(), |_| Reply::text("ok"));
        let place = Place::new(server);
        let builder = place.builder().set("/model", model);
        let mut session = builder.build().await.start();
        say_ok(&mut session, "hello").await;
        assert_eq!(session.window().size, Tokens(1_000_000));
        let request = place.model.requests().remove(0);
        let betas = request.header("anthropic-beta").unwrap_or_default();
        assert_eq!(betas.contains("context-1m-2025-08-07"), is_sent, "{model}: {betas}");
        assert!(!request.model().contains("[1m]"));
    }
}

#[tokio::test]
async fn e3_a_fork_writes_nothing_to_the_cache_that_it_alone_uses() {
    use everfold_engine::session::fork;
    use everfold_engine::{Errand, Remit};
    let server = FakeModel::with_handler(ServerRules::default(), |_| Reply::text("Read it."));
    let place = Place::new(server);
    let mut session = place.builder().build().await.start();
    say_ok(&mut session, &"a word about the work. ".repeat(3_000)).await;
    let told = "Look back over all of this. ".repeat(400);
    let remit = Remit::writing_in(Vec::new());
    let errand = Errand::new(QuerySource::Extract, told, remit, 2);
    let fork = fork::fork_off(&mut session, errand).unwrap();
    fork.run(tokio_util::sync::CancellationToken::new()).await;
    let asked = place.model.requests_of("extract").remove(0);
    let usage = asked.usage.unwrap();
    assert_eq!(usage.cache_write(), 0, "{usage:?}");
    assert!(usage.cache_read > 15_000, "{usage:?}");
}
