//! The bounded window: layers 1, 2 and 4 in whole conversations.

use crate::place::{Agent, Place, say, say_ok};
use everfold_engine::window::compaction;
use everfold_engine::window::compaction::Compaction;
use everfold_engine::{EndReason, Session};
use everfold_testkit::{
    FakeModel, Received, Reply, Scenario, ServerFault, ServerRules, When, oracle,
};
use serde_json::{Value, json};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The directive of a summary request ends its last user message.
fn asks_for_summary(request: &Received) -> bool {
    request.last_user_text().contains("<summary>")
}

const SUMMARY: &str =
    "<analysis>draft</analysis>\n<summary>\n1. Primary request: keep counting.\n</summary>";

/// A server whose model reads a big file each turn and sums up when asked.
fn reader(window: u64) -> FakeModel {
    let rules = ServerRules { window, ..ServerRules::default() };
    FakeModel::with_handler(rules, |request| {
        if asks_for_summary(request) {
            return Reply::text(SUMMARY);
        }
        match request.last_tool_results() {
            Some(_) => Reply::text("I have read it."),
            None => Reply::tool("Read", json!({"file_path": "big.txt"})),
        }
    })
}

async fn small_window(place: &Place) -> Agent {
    place.builder().set("/model", "claude-haiku-4-5").build().await
}

fn big_file(place: &Place) {
    let lines: Vec<String> =
        (0..1_500).map(|n| format!("line {n} of a file with some words in it")).collect();
    place.write(
        "big.txt",
        &(lines.join(
            "
",
        ) + "
"),
    );
}

fn boundaries(place: &Place) -> Vec<Value> {
    let lines = place.transcript().into_iter();
    lines
        .filter(|line| line["subtype"] == "compact_boundary")
        .map(|line| line["compactMetadata"].clone())
        .collect()
}

#[tokio::test]
async fn l1_1_a_big_result_goes_to_disk_and_a_preview_stays_for_ever() {
    let scenario = Scenario::new()
        .reply(Reply::tool("Bash", json!({"command": "seq 1 20000"})))
        .otherwise(Reply::text("ok"));
    let place = Place::new(FakeModel::new(scenario));
    let agent = place.agent().await;
    let mut session = agent.start();
    say_ok(&mut session, "count").await;
    let shown = place.model.requests()[1].last_tool_results().unwrap();
    assert!(shown.starts_with("<persisted-output>") && shown.len() < 3_000, "{shown}");
    let spills = agent.world().transcripts.session_dir(session.id()).join("tool-results");
    let file = std::fs::read_dir(&spills).unwrap().next().unwrap().unwrap().path();
    assert_eq!(std::fs::read_to_string(&file).unwrap().lines().count(), 20_000);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
    let (mut session, _) = place.agent().await.resume(session.id().clone()).await.unwrap();
    say_ok(&mut session, "and now?").await;
    oracle::assert_prefix_stable(&place.model.requests());
}

#[cfg(unix)]
#[tokio::test]
async fn l1_7_a_disk_that_refuses_cuts_the_result_in_place() {
    let scenario = Scenario::new()
        .reply(Reply::tool("Bash", json!({"command": "seq 1 20000"})))
        .otherwise(Reply::text("ok"));
    let place = Place::new(FakeModel::new(scenario));
    let agent = place.agent().await;
    let mut session = agent.start();
    // A file where the directory should be refuses whoever runs the test.
    let dir = agent.world().transcripts.session_dir(session.id());
    std::fs::create_dir_all(dir.parent().unwrap()).unwrap();
    std::fs::write(&dir, "in the way").unwrap();
    say_ok(&mut session, "count").await;
    let shown = place.model.requests()[1].last_tool_results().unwrap();
    assert!(shown.len() < 32_000 && shown.starts_with("1\n2\n"), "{}", shown.len());
    say_ok(&mut session, "go on").await;
    oracle::assert_prefix_stable(&place.model.requests());
}

#[tokio::test]
async fn l2_2_after_an_hour_old_results_are_cleared_and_only_then() {
    let place = Place::new(reader(200_000));
    big_file(&place);
    let agent = place.agent().await;
    let mut session = agent.start();
    for _ in 0..8 {
        say_ok(&mut session, "read it").await;
    }
    let warm = place.model.requests();
    assert!(!warm.last().unwrap().body.to_string().contains("content cleared"));
    place.model.advance(Duration::from_mins(61));
    say_ok(&mut session, "and again").await;
    let cold = place.model.requests()[warm.len()].body.to_string();
    assert_eq!(cold.matches("[Old tool result content cleared] (id: ").count(), 3);
    let (mut session, _) = place.agent().await.resume(session.id().clone()).await.unwrap();
    say_ok(&mut session, "once more").await;
    oracle::assert_prefix_stable(&place.model.requests()[warm.len()..]);
}

#[tokio::test]
async fn l4_1_a_conversation_is_compacted_at_its_threshold_and_goes_on() {
    let place = Place::new(reader(200_000));
    big_file(&place);
    let agent = small_window(&place).await;
    let mut session = agent.start();
    for turn in 0..14 {
        say_ok(&mut session, &format!("turn {turn}: read it")).await;
    }
    let found = boundaries(&place);
    assert!(!found.is_empty(), "it was compacted");
    assert!(
        found.iter().all(|metadata| metadata["way"] == "model" && metadata["trigger"] == "auto")
    );
    assert!(place.model.requests().iter().all(|request| request.refused.is_none()));
    let last = place.model.requests().pop().unwrap();
    assert!(last.body.to_string().contains("keep counting"));
    let compactions = place.model.requests_of("compact");
    assert_eq!(compactions.len(), found.len());
    let usage = compactions[0].usage.unwrap();
    assert!(
        usage.cache_read * 100 >= usage.prompt().0 * 80,
        "the summary reads the parent's cache: {usage:?}"
    );
}

#[tokio::test]
async fn l4_6_a_compacted_session_resumes_with_the_same_bytes() {
    let place = Place::new(reader(200_000));
    big_file(&place);
    let agent = place.agent().await;
    let mut session = agent.start();
    for _ in 0..3 {
        say_ok(&mut session, "read it").await;
    }
    let report =
        compaction::compact(&mut session, Compaction::by_hand(None), &CancellationToken::new())
            .await
            .unwrap();
    assert_eq!(report.way, "model");
    assert!(report.after < report.before);
    say_ok(&mut session, "after").await;
    let before_resume = place.model.requests().len();
    let (mut session, _) = place.agent().await.resume(session.id().clone()).await.unwrap();
    say_ok(&mut session, "resumed").await;
    oracle::assert_prefix_stable(&place.model.requests()[before_resume - 1..]);
    let body = place.model.requests().pop().unwrap().body.to_string();
    assert!(body.contains("big.txt") && body.contains("line 0 of a file"), "the file came back");
}

async fn compacted(
    place: &Place,
    turns: usize,
) -> (Session, Result<everfold_engine::window::compaction::CompactionReport, String>) {
    big_file(place);
    let agent = place.agent().await;
    let mut session = agent.start();
    for _ in 0..turns {
        say_ok(&mut session, "read it").await;
    }
    let report = compaction::compact(
        &mut session,
        Compaction::by_hand(Some("keep names".into())),
        &CancellationToken::new(),
    )
    .await
    .map_err(|error| error.to_string());
    (session, report)
}

#[tokio::test]
async fn l4_4_whatever_the_model_answers_the_session_goes_on() {
    for (answer, way) in [
        (Reply::tool("Read", json!({"file_path": "big.txt"})), "local"),
        (Reply::text(""), "local"),
        (Reply::text("no tags at all"), "local"),
        (Reply::text(format!("<summary>{}</summary>", "very long ".repeat(20_000))), "model"),
        (Reply::error(500, "broken"), "local"),
    ] {
        let server = FakeModel::with_handler(ServerRules::default(), move |request| {
            if asks_for_summary(request) {
                return answer.clone();
            }
            match request.last_tool_results() {
                Some(_) => Reply::text("I have read it."),
                None => Reply::tool("Read", json!({"file_path": "big.txt"})),
            }
        });
        let place = Place::new(server);
        let (mut session, report) = Box::pin(compacted(&place, 6)).await;
        assert_eq!(report.unwrap().way, way);
        say_ok(&mut session, "go on").await;
        assert!(place.model.requests().pop().unwrap().refused.is_none());
    }
}

/// A server that refuses this many requests for a summary as too long.
fn refusing(times: usize) -> FakeModel {
    let calls = std::sync::atomic::AtomicUsize::new(0);
    FakeModel::with_handler(ServerRules::default(), move |request| {
        if asks_for_summary(request) {
            let call = calls.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            let with_numbers = call % 2 == 1;
            let fault = ServerFault::PromptTooLong { with_numbers };
            return if call < times { Reply::text("").fault(fault) } else { Reply::text(SUMMARY) };
        }
        match request.last_tool_results() {
            Some(_) => Reply::text("I have read it."),
            None => Reply::tool("Read", json!({"file_path": "big.txt"})),
        }
    })
}

#[tokio::test]
async fn l4_8_each_try_is_shorter_than_the_one_before_and_there_are_three() {
    for (refused, way) in [(2, "model"), (3, "model"), (4, "local")] {
        let place = Place::new(refusing(refused));
        let (mut session, report) = Box::pin(compacted(&place, 9)).await;
        assert_eq!(report.unwrap().way, way);
        let asked = place.model.requests_of("compact");
        assert_eq!(asked.len(), (refused + 1).min(4));
        let sizes: Vec<usize> = asked.iter().map(|request| request.raw.len()).collect();
        assert!(sizes.is_sorted_by(|one, next| one > next), "from the first on: {sizes:?}");
        let rounds = |request: &Received| request.body.to_string().matches("line 0 of").count();
        assert_eq!((rounds(&asked[0]), rounds(&asked[1])), (9, 7), "a fifth of the rounds");
        say_ok(&mut session, "go on").await;
    }
}

#[tokio::test]
async fn l4_10_a_main_request_that_is_too_long_is_recovered() {
    for refusals in 1..=3_usize {
        let calls = std::sync::atomic::AtomicUsize::new(0);
        let server = FakeModel::with_handler(ServerRules::default(), move |request| {
            if asks_for_summary(request) {
                return Reply::text(SUMMARY);
            }
            if request.last_user_text().contains("now") {
                let call = calls.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                if call < refusals {
                    return Reply::text("")
                        .fault(ServerFault::PromptTooLong { with_numbers: true });
                }
            }
            match request.last_tool_results() {
                Some(_) => Reply::text("I have read it."),
                None if request.last_user_text().contains("now") => Reply::text("fine"),
                None => Reply::tool("Read", json!({"file_path": "big.txt"})),
            }
        });
        let place = Place::new(server);
        big_file(&place);
        let agent = place.agent().await;
        let mut session = agent.start();
        for _ in 0..4 {
            say_ok(&mut session, "read it").await;
        }
        let end = say(&mut session, "now").await;
        if refusals <= 2 {
            assert_eq!((end.reason, end.text.as_str()), (EndReason::Completed, "fine"));
        } else {
            assert!(matches!(end.reason, EndReason::Failed(_)));
            say_ok(&mut session, "now then").await;
        }
    }
}

#[tokio::test]
async fn l4_2_the_breaker_opens_after_three_failures_and_local_summaries_serve() {
    let server = FakeModel::with_handler(ServerRules::default(), |request| {
        if asks_for_summary(request) {
            return Reply::text("I would rather not.");
        }
        match request.last_tool_results() {
            Some(_) => Reply::text("I have read it."),
            None => Reply::tool("Read", json!({"file_path": "big.txt"})),
        }
    });
    let place = Place::new(server);
    big_file(&place);
    let agent = small_window(&place).await;
    let mut session = agent.start();
    for turn in 0..56 {
        say_ok(&mut session, &format!("turn {turn}: read it")).await;
    }
    let found = boundaries(&place);
    assert!(
        found.len() >= 4 && found.iter().all(|metadata| metadata["way"] == "local"),
        "{found:?}"
    );
    // Each of three failures was asked about once more; then nobody is asked.
    assert_eq!(place.model.requests_of("compact").len(), 6);
    let (mut session, _) = agent.resume(session.id().clone()).await.unwrap();
    let before = boundaries(&place).len();
    for turn in 0..14 {
        say_ok(&mut session, &format!("turn {turn}: read it again")).await;
    }
    assert!(boundaries(&place).len() > before);
    assert_eq!(place.model.requests_of("compact").len(), 6, "nor after a resume");
    assert!(place.model.requests().iter().all(|request| request.refused.is_none()));
}

#[tokio::test]
async fn l4_16_pins_are_kept_word_for_word() {
    let place = Place::new(reader(200_000));
    big_file(&place);
    let agent = place.agent().await;
    let mut session = agent.start();
    say_ok(&mut session, "the port is 4417, remember that exactly").await;
    let record = session.fold().messages()[0].pieces()[0].record.clone();
    compaction::pin(&mut session, &record).await.unwrap();
    for _ in 0..3 {
        say_ok(&mut session, "read it").await;
    }
    compaction::compact(&mut session, Compaction::by_hand(None), &CancellationToken::new())
        .await
        .unwrap();
    say_ok(&mut session, "which port?").await;
    let body = place.model.requests().pop().unwrap().body.to_string();
    assert!(body.contains("the port is 4417, remember that exactly"));
}

#[tokio::test]
async fn l4_14_a_snip_can_be_undone() {
    let place =
        Place::new(FakeModel::new(Scenario::new().always(When::default(), Reply::text("ok"))));
    let agent = place.agent().await;
    let mut session = agent.start();
    for text in ["first", "a secret detour", "third"] {
        say_ok(&mut session, text).await;
    }
    let record = |session: &Session, index: usize| {
        session.fold().messages()[index].pieces()[0].record.clone()
    };
    let (from, to) = (record(&session, 2), record(&session, 3));
    let snip = compaction::snip(&mut session, &from, &to).await.unwrap();
    say_ok(&mut session, "fourth").await;
    assert!(!place.model.requests().pop().unwrap().body.to_string().contains("secret detour"));
    let (mut session, _) = place.agent().await.resume(session.id().clone()).await.unwrap();
    compaction::undo_decision(&mut session, &snip).await.unwrap();
    say_ok(&mut session, "fifth").await;
    let shown = place.model.requests().pop().unwrap().body.to_string();
    assert!(shown.contains("secret detour") && shown.contains("fourth"));
    let (mut session, _) = place.agent().await.resume(session.id().clone()).await.unwrap();
    say_ok(&mut session, "sixth").await;
    assert!(place.model.requests().pop().unwrap().body.to_string().contains("secret detour"));
}

#[tokio::test]
async fn l4_3_a_cold_summary_is_asked_without_pictures_and_a_warm_one_with_the_same_bytes() {
    for minutes in [0, 61] {
        let server = FakeModel::with_handler(ServerRules::default(), |request| {
            if asks_for_summary(request) {
                return Reply::text(SUMMARY);
            }
            let file = if request.messages().len() == 1 { "pic.png" } else { "big.txt" };
            match request.last_tool_results() {
                Some(_) => Reply::text("I have seen it."),
                None => Reply::tool("Read", json!({"file_path": file})),
            }
        });
        let place = Place::new(server);
        big_file(&place);
        let png = [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0];
        std::fs::write(place.dirs.project().join("pic.png"), png).unwrap();
        let mut session = place.agent().await.start();
        for _ in 0..4 {
            say_ok(&mut session, "look at it").await;
        }
        let parent = place.model.requests().pop().unwrap();
        assert!(parent.body.to_string().contains("\"type\":\"image\""));
        place.model.advance(Duration::from_mins(minutes));
        let hand = Compaction::by_hand(None);
        compaction::compact(&mut session, hand, &CancellationToken::new()).await.unwrap();
        let asked = place.model.requests_of("compact").pop().unwrap();
        let body = asked.body.to_string();
        assert_eq!(body.contains("\"type\":\"image\""), minutes == 0);
        assert_eq!(body.contains("[image]"), minutes > 0);
        assert_eq!(oracle::first_break(&parent, &asked).is_none(), minutes == 0);
    }
}

#[tokio::test]
async fn l1_8_a_spill_that_vanished_comes_back_from_the_log_and_no_id_leaves_the_directory() {
    let server = FakeModel::with_handler(ServerRules::default(), |request| {
        let said = request.last_user_text();
        match request.last_tool_results() {
            Some(_) => Reply::text("ok"),
            None if said == "count" => Reply::tool("Bash", json!({"command": "seq 1 20000"})),
            None => Reply::tool("ResultRead", json!({"id": said, "limit": 3})),
        }
    });
    let place = Place::new(server);
    let agent = place.agent().await;
    let mut session = agent.start();
    say_ok(&mut session, "count").await;
    let calls = place.model.requests()[1].messages()[1]["content"].clone();
    let id = calls[0]["id"].as_str().unwrap().to_owned();
    let spills = agent.world().transcripts.session_dir(session.id()).join("tool-results");
    let file = std::fs::read_dir(&spills).unwrap().next().unwrap().unwrap().path();
    std::fs::remove_file(&file).unwrap();
    let mut told = Vec::new();
    for asked in [id, "../../../settings".to_owned(), "x".repeat(4_000), "y/".repeat(2_000)] {
        say_ok(&mut session, &asked).await;
        told.push(place.model.requests().pop().unwrap().last_tool_results().unwrap());
    }
    assert!(told[0].contains("1\t1\n") && told[0].contains("of 20000"), "{}", told[0]);
    assert!(told[1].contains("ids are names"), "{}", told[1]);
    assert!(told[2..].iter().all(|text| text.contains("id")), "{told:?}");
    oracle::assert_prefix_stable(&place.model.requests());
}
