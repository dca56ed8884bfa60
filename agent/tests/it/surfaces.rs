//! Providers and ports that can be replaced.

use crate::place::{Place, say_ok};
use everfold_agent::engine::window::compaction;
use everfold_agent::engine::window::compaction::Compaction;
use everfold_agent::{Agent, CancellationToken};
use everfold_testkit::{Reply, Scenario, TestServer, oracle};
use serde_json::json;
use std::collections::BTreeMap;

#[tokio::test]
async fn q8_a_server_that_speaks_chat_completions_runs_tools_too() {
    let scenario = Scenario::new()
        .reply(Reply::tool("Glob", json!({"pattern": "*.txt"})))
        .reply(Reply::text("one file"))
        .reply(Reply::text("as I said"));
    let place = Place::new(TestServer::start(scenario).unwrap());
    place.write("a.txt", "x");
    let variables = BTreeMap::from([
        ("OPENAI_BASE_URL".to_owned(), format!("{}/v1", place.server.base_url())),
        ("OPENAI_API_KEY".to_owned(), "k".to_owned()),
        ("EVERFOLD_MODEL".to_owned(), "llama-4".to_owned()),
        ("EVERFOLD_FLAG_EXTRACT".to_owned(), "0".to_owned()),
    ]);
    let agent = Agent::builder(place.dirs.project())
        .environment(variables, None)
        .home(place.dirs.home())
        .build()
        .await
        .unwrap();
    let mut session = agent.start();
    let end = say_ok(&mut session, "how many files?").await;
    assert_eq!(end.text, "one file");
    say_ok(&mut session, "sure?").await;
    let requests = place.server.requests();
    assert!(requests.iter().all(|request| request.path.ends_with("/chat/completions")));
    oracle::assert_prefix_stable(&requests);
}

#[tokio::test]
async fn q8_offline_reads_a_file_without_key_or_network() {
    let dirs = everfold_testkit::TempHome::new().unwrap();
    dirs.write(dirs.project().join("README.md"), "# Title\n\nBody.\n").unwrap();
    let agent = Agent::builder(dirs.project()).home(dirs.home()).build().await.unwrap();
    let mut session = agent.start();
    let end = say_ok(&mut session, "read README.md").await;
    assert!(end.text.contains("# Title"), "{}", end.text);
    let id = session.id().clone();
    let (mut session, _) = agent.resume(id).await.unwrap();
    let end = say_ok(&mut session, "hello, who are you?").await;
    assert!(end.text.to_lowercase().contains("offline"), "{}", end.text);
}

#[tokio::test]
async fn q3_a_flag_file_is_read_before_the_first_session() {
    let place = Place::new(TestServer::start(Scenario::new()).unwrap());
    let file =
        place.write("flags.json", r#"{"flags": {"snip": false}, "limits": {"max_retries": 1}}"#);
    let agent = place.builder().set("x", "/everfold/flag_source/file", file).build().await.unwrap();
    let session = agent.start();
    assert!(!session.config().flags.is_on(everfold_kernel::Flag::Snip));
    assert!(session.config().flags.is_on(everfold_kernel::Flag::Recall));
    assert_eq!(session.config().limits.max_retries, 2, "the environment wins over the provider");
}

#[tokio::test]
async fn l4_11_offline_compacts_by_rule() {
    let dirs = everfold_testkit::TempHome::new().unwrap();
    dirs.write(dirs.project().join("notes.md"), &"a line of notes\n".repeat(300)).unwrap();
    let agent = Agent::builder(dirs.project()).home(dirs.home()).build().await.unwrap();
    let mut session = agent.start();
    for _ in 0..6 {
        say_ok(&mut session, "read notes.md").await;
    }
    let report =
        compaction::compact(&mut session, Compaction::by_hand(None), &CancellationToken::new())
            .await
            .unwrap();
    assert_eq!(report.way, "local");
    say_ok(&mut session, "list files").await;
}
