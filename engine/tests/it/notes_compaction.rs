//! Compaction from the notes.

use crate::notes::{agent_with, noted, notes_of, place, shown, take_notes, turn};
use crate::place::{Place, say_ok};
use everfold_engine::Session;
use everfold_engine::window::compaction;
use everfold_engine::window::notes;
use everfold_testkit::{Received, Reply, oracle};
use serde_json::Value;
use std::path::Path;

/// A window in which some six readings of the file fit.
const SMALL: &[(&str, &str)] = &[("/model", "claude-haiku-4-5"), ("/autoCompactWindow", "80000")];

fn boundaries(place: &Place) -> Vec<Value> {
    let lines = place.transcript().into_iter();
    lines.filter(|line| line["subtype"] == "compact_boundary").collect()
}

/// Turns until the conversation was compacted; each is followed by its updates.
async fn until_compacted(place: &Place, session: &mut Session) {
    for number in 0..20 {
        turn(session, &format!("turn {number}: read it")).await;
        if !boundaries(place).is_empty() {
            return;
        }
    }
    panic!("it was never compacted");
}

/// The first request after the boundary.
fn after(place: &Place) -> Received {
    let main = place.model.requests_of("main");
    let mut all = main.into_iter();
    all.find(|request| request.body.to_string().contains("<conversation-summary>")).unwrap()
}

#[tokio::test]
async fn l3_6_the_notes_are_the_summary_and_no_model_is_asked() {
    let place = place(take_notes);
    place.write("other.txt", "some other words");
    let agent = agent_with(&place, SMALL).await;
    let mut session = agent.start();
    turn(&mut session, "read the other one").await;
    until_compacted(&place, &mut session).await;
    assert!(place.model.requests_of("compact").is_empty(), "no model was asked");
    let boundary = boundaries(&place).remove(0);
    let metadata = &boundary["compactMetadata"];
    assert_eq!(
        (metadata["way"].as_str(), metadata["trigger"].as_str()),
        (Some("notes"), Some("auto"))
    );
    let segment = &metadata["preservedSegment"];
    let kept = metadata["preservedMessages"]["uuids"].as_array().unwrap();
    assert_eq!(segment["headUuid"], kept[0]);
    assert_eq!(segment["tailUuid"], *kept.last().unwrap());
    assert_eq!(segment["anchorUuid"], metadata["preservedMessages"]["anchorUuid"]);
    let lines = place.transcript();
    let at = lines.iter().position(|line| line["uuid"] == boundary["uuid"]).unwrap();
    assert_eq!(lines[at + 1]["uuid"], segment["anchorUuid"]);
    assert_eq!(lines[at + 1]["isCompactSummary"], true);

    let request = after(&place);
    assert_eq!(request.refused, None, "what is left is a valid conversation");
    let text = request.body.to_string();
    assert!(text.contains("running notes") && text.contains("# Current State"), "{text}");
    assert!(text.contains("turn 0: read it"), "the person's words are carried over");
    assert!(text.contains("other.txt, read again") && text.contains("some other words"));
    assert!(!text.contains("big.txt, read again"), "it is still in view");
    assert!(request.messages().len() > 4, "the newest messages stay");

    let before = place.model.requests_of("main").len();
    turn(&mut session, "hello").await;
    let covered = session.fold().noted().cloned();
    let (mut session, _) = agent.resume(session.id().clone()).await.unwrap();
    assert!(covered.is_some() && session.fold().noted() == covered.as_ref());
    turn(&mut session, "hello again").await;
    oracle::assert_prefix_stable(&place.model.requests_of("main")[before - 1..]);
}

#[tokio::test]
async fn l3_6_it_goes_on_so_for_a_long_time() {
    let place = place(take_notes);
    let agent = agent_with(&place, SMALL).await;
    let mut session = agent.start();
    for number in 0..30 {
        turn(&mut session, &format!("turn {number}: read it")).await;
    }
    let ways: Vec<Value> =
        boundaries(&place).iter().map(|line| line["compactMetadata"]["way"].clone()).collect();
    assert!(ways.len() >= 3 && ways.iter().all(|way| way == "notes"), "{ways:?}");
    assert!(place.model.requests().iter().all(|request| request.refused.is_none()));
    assert!(place.model.requests_of("compact").is_empty());
    let last = place.model.requests_of("main").pop().unwrap();
    assert!(last.body.to_string().contains("turn 0: read it"), "nothing said is lost");
}

#[tokio::test]
async fn l3_6_over_long_sections_are_cut_with_a_note_that_names_the_file() {
    let place = place(take_notes);
    let agent = agent_with(&place, SMALL).await;
    let mut session = agent.start();
    turn(&mut session, "read it").await;
    let path = notes::notes_path(&session);
    let long = notes_of(&session) + &"a step of the work. ".repeat(600);
    std::fs::write(&path, long).unwrap();
    until_compacted(&place, &mut session).await;
    assert_eq!(boundaries(&place)[0]["compactMetadata"]["way"], "notes");
    let text = after(&place).body.to_string();
    assert!(text.contains(&format!("[Cut here; the whole section is in {}]", path.display())));
    assert!(text.matches("a step of the work.").count() < 401);
    assert_eq!(notes_of(&session).matches("a step of the work.").count(), 600);
}

#[tokio::test]
async fn l3_7_without_notes_or_with_empty_ones_layer_four_runs() {
    let place = place(|_| Reply::text("I take none."));
    let agent = agent_with(&place, SMALL).await;
    let mut session = agent.start();
    until_compacted(&place, &mut session).await;
    assert!(noted(&place).is_empty() && notes::notes_path(&session).exists());
    assert_eq!(boundaries(&place)[0]["compactMetadata"]["way"], "model");
    assert_eq!(place.model.requests_of("compact").len(), 1);
}

#[tokio::test]
async fn q3_switched_off_layer_four_runs_though_there_are_notes() {
    let place = place(take_notes);
    let mut variables = SMALL.to_vec();
    variables.push(("/everfold/flags/session_memory_compact", "false"));
    let agent = agent_with(&place, &variables).await;
    let mut session = agent.start();
    until_compacted(&place, &mut session).await;
    assert!(!noted(&place).is_empty());
    assert_eq!(boundaries(&place)[0]["compactMetadata"]["way"], "model");
}

/// An update of the notes hangs; the turns go on until a compaction is due.
async fn hanging(wait: &str) -> (Place, Session) {
    let place = place(|request| {
        let reply = take_notes(request);
        if shown(request).0.contains("Update 1.") { reply.gate("late") } else { reply }
    });
    let mut variables = SMALL.to_vec();
    variables.push(("/everfold/limits/notes/wait_s", wait));
    let agent = agent_with(&place, &variables).await;
    let mut session = agent.start();
    turn(&mut session, "read it").await;
    (place, session)
}

/// Turns until a long prompt makes a compaction due, which is given.
async fn fill_up(session: &mut Session) -> String {
    let threshold = session.window().auto_compact.0;
    while session.fold().count().0 + 10_000 < threshold {
        say_ok(session, "read it").await;
    }
    "hello and some more words. ".repeat(1_600)
}

#[tokio::test]
async fn l3_7_an_update_that_is_late_is_not_waited_for_longer_than_it_may_take() {
    let (place, mut session) = hanging("0").await;
    let prompt = fill_up(&mut session).await;
    say_ok(&mut session, &prompt).await;
    assert_eq!(boundaries(&place)[0]["compactMetadata"]["way"], "model", "they are too far behind");
    place.model.release("late");
    everfold_engine::finish(&mut session).await.unwrap();
    assert_eq!(noted(&place).len(), 2, "it is taken all the same");
    turn(&mut session, "hello").await;
    assert!(place.model.requests().iter().all(|request| request.refused.is_none()));
}

#[tokio::test]
async fn l3_7_an_update_in_flight_is_waited_for() {
    let (place, mut session) = hanging("600").await;
    let prompt = fill_up(&mut session).await;
    assert!(boundaries(&place).is_empty());
    {
        let waiting = say_ok(&mut session, &prompt);
        tokio::pin!(waiting);
        for _ in 0..100 {
            tokio::select! {
                biased;
                _ = &mut waiting => panic!("it did not wait"),
                () = tokio::task::yield_now() => {}
            }
        }
        place.model.release("late");
        waiting.await;
    }
    assert_eq!(boundaries(&place)[0]["compactMetadata"]["way"], "notes");
    assert!(after(&place).body.to_string().contains("Update 2."));
    assert!(place.model.requests_of("compact").is_empty());
}

#[tokio::test]
async fn l3_6_notes_that_are_too_far_behind_give_nothing() {
    let place = place(take_notes);
    let mut variables = SMALL.to_vec();
    variables.push(("/everfold/limits/notes/keep_most_tokens", "3000"));
    variables.push(("/everfold/limits/notes/growth_tokens", "1000000"));
    let agent = agent_with(&place, &variables).await;
    let mut session = agent.start();
    until_compacted(&place, &mut session).await;
    assert_eq!(noted(&place).len(), 1);
    assert_eq!(boundaries(&place)[0]["compactMetadata"]["way"], "model");
}

#[tokio::test]
async fn l4_16_pins_stay_beside_the_notes() {
    let place = place(take_notes);
    let agent = agent_with(&place, SMALL).await;
    let mut session = agent.start();
    turn(&mut session, "hello, remember the number 4711").await;
    let pinned = session.fold().messages().last().unwrap().pieces()[0].record.clone();
    compaction::pin(&mut session, &pinned).await.unwrap();
    until_compacted(&place, &mut session).await;
    let metadata = boundaries(&place).remove(0)["compactMetadata"].clone();
    assert_eq!(metadata["way"], "notes");
    assert_eq!(metadata["preservedMessages"]["uuids"][0], pinned.as_str());
    assert_ne!(metadata["preservedSegment"]["headUuid"], pinned.as_str());
    assert_eq!(after(&place).refused, None);
}

#[cfg(unix)]
#[tokio::test]
async fn s6_notes_that_were_spoiled_are_no_summary() {
    type Spoil = fn(&Path, &Path);
    let spoil: [Spoil; 4] = [
        |notes, _| std::fs::write(notes, b"# Session Title\n\xff\xfe").unwrap(),
        |notes, _| std::fs::write(notes, "x".repeat(10 << 20)).unwrap(),
        |notes, victim| {
            std::fs::remove_file(notes).unwrap();
            std::os::unix::fs::symlink(victim, notes).unwrap();
        },
        |notes, _| std::fs::remove_file(notes).unwrap(),
    ];
    for spoil in spoil {
        let place = place(take_notes);
        let victim = place.dirs.root().join("victim.md");
        std::fs::write(&victim, "victim 4711").unwrap();
        let mut variables = SMALL.to_vec();
        variables.push(("/everfold/limits/notes/growth_tokens", "1000000"));
        let agent = agent_with(&place, &variables).await;
        let mut session = agent.start();
        turn(&mut session, "read it").await;
        spoil(&notes::notes_path(&session), &victim);
        until_compacted(&place, &mut session).await;
        assert_eq!(boundaries(&place)[0]["compactMetadata"]["way"], "model");
        assert_eq!(std::fs::read_to_string(&victim).unwrap(), "victim 4711");
        assert!(!after(&place).body.to_string().contains("4711"));
    }
}
