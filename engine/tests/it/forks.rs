//! Background agents on the conversation of their parent.

use crate::place::{Place, say_ok};
use everfold_engine::session::fork;
use everfold_engine::{EndReason, Errand, Remit, Room, Start};
use everfold_kernel::QuerySource;
use everfold_testkit::{FakeModel, Reply, Scenario, oracle};
use serde_json::json;
use tokio_util::sync::CancellationToken;

fn errand(directive: &str, room: &str) -> Errand {
    let remit = Remit::writing_in(vec![Room::Markdown(room.into())]);
    Errand::new(QuerySource::Extract, directive.to_owned(), remit, 3)
}

#[tokio::test]
async fn l7_1_pc4_a_fork_starts_with_its_parents_bytes_and_reads_its_cache() {
    let long = "a word about the work. ".repeat(2_000);
    let scenario = Scenario::new()
        .reply(Reply::tool("Read", json!({"file_path": "a.txt"})))
        .reply(Reply::text("Done."))
        .reply(Reply::text("Nothing to keep."))
        .reply(Reply::text("Going on."));
    let place = Place::new(FakeModel::new(scenario));
    place.write("a.txt", &long);
    let agent = place.agent().await;
    let mut session = agent.start();
    say_ok(&mut session, "read it").await;
    let fork = fork::fork_off(&mut session, errand("Look back.", "/nowhere")).unwrap();
    let report = fork.run(CancellationToken::new()).await;
    assert_eq!(report.end.reason, EndReason::Completed);
    assert_eq!(report.end.text, "Nothing to keep.");

    let requests = place.model.requests();
    assert_eq!(requests[2].source(), "extract");
    assert!(oracle::first_break(&requests[1], &requests[2]).is_none());
    let known = requests[1].usage.unwrap().prompt().0;
    let read = requests[2].usage.unwrap().cache_read;
    assert!(read * 100 >= known * 99, "{read} of {known}");

    // The parent goes on as if nothing had been, and has it in its books.
    say_ok(&mut session, "go on").await;
    let requests = place.model.requests();
    assert!(oracle::first_break(&requests[1], &requests[3]).is_none());
    assert!(!requests[3].last_user_text().contains("Look back."));
    let extract: Vec<u64> = (session.ledger().lines())
        .filter(|(source, ..)| *source == "extract")
        .map(|(_, _, line)| line.requests)
        .collect();
    assert_eq!(extract, [1]);
}

#[tokio::test]
async fn l5_14_s3_what_is_not_its_business_is_refused_when_it_is_called() {
    let place = Place::new(FakeModel::new(Scenario::new()));
    let room = place.dirs.root().join("room");
    std::fs::create_dir_all(&room).unwrap();
    let room = room.canonicalize().unwrap();
    let (inside, outside) = (room.join("a.md"), place.dirs.project().join("b.md"));
    let scenario = Scenario::new()
        .reply(Reply::text("Hello."))
        .reply(
            Reply::tool("Write", json!({"file_path": inside, "content": "kept"}))
                .and_tool("Write", json!({"file_path": outside, "content": "no"}))
                .and_tool("Bash", json!({"command": "ls -1"}))
                .and_tool("Bash", json!({"command": "touch c.txt"}))
                .and_tool("TodoWrite", json!({"todos": []}))
                .and_tool("WebFetch", json!({"url": "http://127.0.0.1:1/", "prompt": "x"})),
        )
        .reply(Reply::text("Done."));
    let place = place.with_model(FakeModel::new(scenario));
    place.write("seen.txt", "x");
    let agent = place.agent().await;
    if agent.is_without_sandbox() {
        return;
    }
    let mut session = agent.start();
    say_ok(&mut session, "hello").await;
    let fork = fork::fork_off(&mut session, errand("Write.", &room.display().to_string())).unwrap();
    let report = fork.run(CancellationToken::new()).await;

    assert_eq!(std::fs::read_to_string(&inside).unwrap(), "kept");
    assert!(!outside.exists());
    assert!(!place.dirs.project().join("c.txt").exists());
    assert_eq!(report.written, [inside]);
    let refused: Vec<&str> = report.end.denials.iter().map(|denial| denial.name.as_str()).collect();
    assert_eq!(refused, ["Write", "Bash", "TodoWrite", "WebFetch"]);
    let requests = place.model.requests();
    let results = requests[2].last_tool_results().unwrap();
    assert!(results.contains("seen.txt"), "{results}");
    assert_eq!(requests[0].body["tools"], requests[2].body["tools"]);
}

#[tokio::test]
async fn l6_4_a_fresh_fork_has_system_prompt_and_tools_alone() {
    let scenario = Scenario::new().otherwise(Reply::text("ok"));
    let place = Place::new(FakeModel::new(scenario));
    place.write("CLAUDE.md", "Speak plainly.");
    let agent = place.agent().await;
    let mut session = agent.start();
    assert!(
        fork::fork_off(&mut session, errand("Tidy up.", "/nowhere")).is_none(),
        "nothing has begun"
    );
    say_ok(&mut session, "hello").await;
    let fresh = Errand { start: Start::Fresh, ..errand("Tidy up.", "/nowhere") };
    fork::fork_off(&mut session, fresh).unwrap().run(CancellationToken::new()).await;
    let requests = place.model.requests();
    assert_eq!(requests[1].body["system"], requests[0].body["system"]);
    assert_eq!(requests[1].messages().len(), 1);
    assert_eq!(requests[1].last_user_text(), "Tidy up.");
}
