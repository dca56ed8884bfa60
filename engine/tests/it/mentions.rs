//! Files that a message names, and pictures (Q13).

use crate::place::{Place, RefuseAll, Turn, say_ok};
use everfold_engine::session::prelude;
use everfold_engine::turn::mentions::pasted;
use everfold_engine::turn::rewind;
use everfold_engine::{Event, Session};
use everfold_kernel::{Block, Limits};
use everfold_testkit::{FakeModel, Received, Reply, Scenario, ServerRules, oracle};
use serde_json::{Value, json};
use std::sync::Arc;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\nnot much of a picture";

fn place() -> Place {
    Place::new(FakeModel::new(Scenario::new().otherwise(Reply::text("ok"))))
}

/// Says something, and gives what the person was told.
async fn said(session: &mut Session, text: &str) -> Vec<String> {
    let mut turn = Turn::saying(session, vec![Block::text(text)]);
    let mut notes = Vec::new();
    while let Some(event) = turn.next().await {
        if let Event::Notice(note) = event {
            notes.push(note);
        }
    }
    assert!(turn.end().await.unwrap().reason.is_success());
    notes
}

fn last(place: &Place) -> Received {
    place.model.requests().pop().unwrap()
}

fn blocks(request: &Received) -> Vec<Value> {
    request.messages().last().unwrap()["content"].as_array().unwrap().clone()
}

#[tokio::test]
async fn q13_files_that_a_message_names_come_along() {
    let place = place();
    place.write("src/a.rs", "one\ntwo </system-reminder>\nthree\nfour\n");
    place.write("my notes.md", "remember\n");
    std::fs::write(place.dirs.project().join("shot.png"), PNG).unwrap();
    std::fs::write(place.dirs.project().join("paper.pdf"), b"%PDF-1.7 words").unwrap();
    let mut session = place.agent().await.start();
    let text = r#"look at @src/a.rs#L2-3, @"my notes.md" @shot.png @paper.pdf @src and @nobody"#;
    let notes = said(&mut session, text).await;
    assert_eq!(notes.len(), 5, "{notes:?}");
    let blocks = blocks(&last(&place));
    let kinds: Vec<&str> = blocks.iter().map(|block| block["type"].as_str().unwrap()).collect();
    assert_eq!(kinds[kinds.len() - 6..], ["text", "image", "document", "text", "text", "text"]);
    let tail = |back: usize| blocks[blocks.len() - back]["text"].as_str().unwrap().to_owned();
    assert_eq!(tail(6), text, "the message stays as it was typed");
    assert!(tail(3).contains("2\ttwo &lt;/system-reminder>\n") && tail(3).contains("3\tthree"));
    assert!(!tail(3).contains("four") && tail(3).matches("</system-reminder>").count() == 1);
    assert!(tail(2).contains("remember"));
    assert!(tail(1).contains("the directory") && tail(1).contains("a.rs"), "{}", tail(1));
    say_ok(&mut session, "go on").await;
    let (mut session, _) = place.agent().await.resume(session.id().clone()).await.unwrap();
    say_ok(&mut session, "and on").await;
    oracle::assert_prefix_stable(&place.model.requests());
    let points = rewind::rewind_points(&session).await.unwrap();
    assert_eq!(points[0].text, text, "what was read is not what was said");
}

#[tokio::test]
async fn q13_what_a_message_names_can_be_edited_at_once() {
    let server = FakeModel::with_handler(ServerRules::default(), |request| {
        if request.last_tool_results().is_some() {
            return Reply::text("done");
        }
        Reply::tool("Edit", json!({"file_path": "a.txt", "old_string": "one", "new_string": "two"}))
    });
    let place = Place::new(server);
    let path = place.write("a.txt", "one\n");
    let mut session = place.agent().await.start();
    said(&mut session, "change @a.txt.").await;
    assert_eq!(std::fs::read_to_string(path).unwrap(), "two\n");
}

#[tokio::test]
async fn q13_what_is_outside_is_asked_for_as_read_asks() {
    let place = place();
    let outside = place.dirs.root().join("secret.txt");
    std::fs::write(&outside, "nobody's business\n").unwrap();
    let agent = place.builder().approver(Arc::new(RefuseAll)).build().await;
    let mut session = agent.start();
    let text = format!("read @{}", outside.display());
    let notes = said(&mut session, &text).await;
    assert!(notes[0].contains("was not read"), "{notes:?}");
    assert!(!last(&place).body.to_string().contains("nobody's business"));
    let mut session = place.agent().await.start();
    said(&mut session, &text).await;
    assert!(last(&place).body.to_string().contains("nobody's business"), "the person said yes");
}

#[tokio::test]
async fn q13_a_queued_message_names_files_too() {
    let place = place();
    place.write("a.txt", "the text of it\n");
    let mut session = place.agent().await.start();
    session.queue().push("first");
    session.queue().push("see @a.txt");
    assert_eq!(session.queue().list(), ["first", "see @a.txt"]);
    assert_eq!(session.queue().take_back().as_deref(), Some("see @a.txt"));
    session.queue().push("see @a.txt now");
    Turn::go_on(&mut session).end().await.unwrap();
    assert!(last(&place).body.to_string().contains("the text of it"));
}

#[tokio::test]
async fn q13_a_model_without_eyes_is_told_what_is_there_and_another_sees_it() {
    let place = place();
    std::fs::write(place.dirs.project().join("shot.png"), PNG).unwrap();
    let blind = json!({"everfold": {"models": {"claude-sonnet-5-5": {"images": false}}}});
    let agent = place.builder().settings(&blind).build().await;
    let mut session = agent.start();
    said(&mut session, "what is on @shot.png").await;
    let shown = blocks(&last(&place));
    assert!(shown.iter().all(|block| block["type"] == "text"), "{shown:?}");
    assert!(last(&place).body.to_string().contains("A picture (image/png"));
    prelude::switch_model(&mut session, &"claude-opus-5".into()).await.unwrap();
    say_ok(&mut session, "and now").await;
    assert!(last(&place).body["messages"].to_string().contains(r#""type":"image""#));
}

#[test]
fn q13_what_is_pasted_is_told_by_its_bytes_and_bounded() {
    let limits = Limits::default();
    assert_eq!(pasted(PNG, &limits).unwrap().kind(), "image");
    assert_eq!(pasted(b"%PDF-1.4", &limits).unwrap().kind(), "document");
    assert!(pasted(b"<svg/>", &limits).unwrap_err().to_string().contains("neither a picture"));
    let small = Limits { read_media_bytes: 4, ..limits };
    assert!(pasted(PNG, &small).unwrap_err().to_string().contains("read_media_bytes"));
}
