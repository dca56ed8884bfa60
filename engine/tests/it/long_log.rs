//! Logs that are long, and what of them a session needs (E11, L1).

use crate::place::{Place, say_ok};
use everfold_engine::Resumed;
use everfold_engine::window::compaction;
use everfold_engine::window::compaction::Compaction;
use everfold_testkit::{FakeModel, Reply, ServerRules, oracle};
use serde_json::{Value, json};
use std::path::Path;
use tokio_util::sync::CancellationToken;

/// A server whose model runs what it is told, reads results by their ids, and
/// sums up when asked.
fn server() -> FakeModel {
    FakeModel::with_handler(ServerRules::default(), |request| {
        let said = request.last_user_text();
        if said.contains("<summary>") {
            return Reply::text("<summary>We ran commands.</summary>");
        }
        match (request.last_tool_results(), said.split_once(' ')) {
            (None, Some(("run", command))) => Reply::tool("Bash", json!({"command": command})),
            (None, Some(("result", id))) => {
                Reply::tool("ResultRead", json!({"id": id, "limit": 2}))
            }
            _ => Reply::text("ok"),
        }
    })
}

/// Makes unreadable what a resume point does not name, and says how much.
fn blank_before_point(path: &Path) -> usize {
    let mut bytes = std::fs::read(path).unwrap();
    let text = String::from_utf8(bytes.clone()).unwrap();
    let point = text.lines().rfind(|line| line.contains("everfold-resume-point")).unwrap();
    let point: Value = serde_json::from_str(point).unwrap();
    let from = usize::try_from(point["from"].as_u64().unwrap()).unwrap();
    let needed: Vec<usize> = [&point["kept"], &point["carried"]]
        .into_iter()
        .flat_map(|places| places.as_array().unwrap())
        .map(|place| usize::try_from(place[0].as_u64().unwrap()).unwrap())
        .collect();
    let (mut start, mut blanked) = (0, 0);
    for line in text.split_inclusive('\n') {
        if start < from && !needed.contains(&start) {
            bytes[start..start + line.len() - 1].fill(b'x');
            blanked += line.len();
        }
        start += line.len();
    }
    std::fs::write(path, bytes).unwrap();
    blanked
}

#[tokio::test]
async fn e11_nothing_that_was_compacted_away_is_read_again() {
    let place = Place::new(server());
    let agent = place.agent().await;
    let mut session = agent.start();
    for turn in 0..4 {
        say_ok(&mut session, &format!("run seq {turn} 2000")).await;
    }
    let compaction = Compaction::by_hand(None);
    compaction::compact(&mut session, compaction, &CancellationToken::new()).await.unwrap();
    say_ok(&mut session, "after").await;
    let (id, spent) = (session.id().clone(), session.ledger().total().requests);
    drop(session);
    let before = place.model.requests().len();
    assert!(blank_before_point(&agent.world().transcripts.path(&id)) > 10_000);
    let (mut session, resumed) = place.agent().await.resume(id).await.unwrap();
    assert_eq!(resumed, Resumed::default());
    assert_eq!(session.ledger().total().requests, spent, "what was spent is in the point");
    say_ok(&mut session, "resumed").await;
    oracle::assert_prefix_stable(&place.model.requests()[before - 1..]);
}

#[tokio::test]
async fn l1_e11_a_large_result_is_on_disk_once_and_compressed() {
    let place = Place::new(server());
    let agent = place.agent().await;
    let mut session = agent.start();
    let words: Vec<String> = (0..12_000)
        .map(|n| format!("src/part_{n}.rs:{}: let value = {};", n % 97, n * 31))
        .collect();
    place.write("large.txt", &words.join("\n"));
    say_ok(&mut session, "run cat large.txt").await;
    let id = session.id().clone();
    let (path, dir) = {
        let transcripts = &agent.world().transcripts;
        (transcripts.path(&id), transcripts.session_dir(&id).join("tool-results"))
    };
    let file = std::fs::read_dir(&dir).unwrap().next().unwrap().unwrap().path();
    let whole = std::fs::read_to_string(&file).unwrap();
    let lines = place.transcript();
    let line = lines.iter().find(|line| !line["everfold"]["packed"].is_null()).unwrap();
    let on_disk = whole.len() + line.to_string().len();
    assert!(on_disk * 10 <= whole.len() * 13, "{on_disk} bytes for {}", whole.len());
    let shown = place.model.requests()[1].last_tool_results().unwrap();
    assert_eq!(line["message"]["content"][0]["content"], shown, "what the model saw");

    // Whichever of the two is lost, the other one has it.
    let call = line["message"]["content"][0]["tool_use_id"].as_str().unwrap().to_owned();
    let log = std::fs::read_to_string(&path).unwrap();
    let read = format!("result {call}");
    std::fs::write(&path, log.replace("\"bzip2.91\":\"", "\"bzip2.91\":\"!!!!")).unwrap();
    say_ok(&mut session, &read).await;
    std::fs::write(&path, log).unwrap();
    std::fs::remove_file(&file).unwrap();
    let (mut session, _) = place.agent().await.resume(id).await.unwrap();
    say_ok(&mut session, &read).await;
    let told: Vec<String> = place.model.requests().iter().filter_map(given_back).collect();
    assert_eq!(told.len(), 2);
    assert!(told.iter().all(|text| text.contains("src/part_0.rs:0:")), "{told:?}");
}

/// What `ResultRead` gave, where a request ends with that.
fn given_back(request: &everfold_testkit::Received) -> Option<String> {
    request.last_tool_results().filter(|text| text.contains("of 12000"))
}
