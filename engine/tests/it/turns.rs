//! Turns with tools.

use crate::place::{Place, Turn, say, say_ok};
use everfold_engine::{EndReason, Event};
use everfold_testkit::{FakeModel, Reply, Scenario, When, oracle};
use serde_json::{Value, json};

fn start(scenario: Scenario) -> Place {
    Place::new(FakeModel::new(scenario))
}

#[tokio::test]
async fn q1_a_turn_reads_edits_and_answers() {
    let server = FakeModel::with_handler(everfold_testkit::ServerRules::default(), |request| {
        let path = request.last_user_text();
        match request.messages().len() {
            1 => Reply::tool("Read", json!({"file_path": path})),
            3 => Reply::tool(
                "Edit",
                json!({"file_path": request.messages()[0]["content"][0]["text"],
                "old_string": "one", "new_string": "two"}),
            ),
            _ => Reply::text("done"),
        }
    });
    let place = Place::new(server);
    let path = place.write("a.txt", "one\n");
    let agent = place.agent().await;
    let mut session = agent.start();
    let end = say_ok(&mut session, &path).await;
    assert_eq!((end.text.as_str(), end.requests), ("done", 3));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "two\n");
    oracle::assert_prefix_stable(&place.model.requests());
}

#[tokio::test]
async fn q1_reading_tools_run_side_by_side_and_results_keep_the_order_of_calls() {
    let place = start(
        Scenario::new()
            .reply(
                Reply::tool("Grep", json!({"pattern": "x"}))
                    .and_tool("Glob", json!({"pattern": "*.txt"}))
                    .and_tool("Bash", json!({"command": "echo shell"}))
                    .and_tool("Glob", json!({"pattern": "*.md"})),
            )
            .reply(Reply::text("ok")),
    );
    place.write("a.txt", "x");
    let agent = place.agent().await;
    say_ok(&mut agent.start(), "look").await;
    let requests = place.model.requests();
    let results = requests[1].messages()[2]["content"].as_array().unwrap().clone();
    let calls = requests[1].messages()[1]["content"].as_array().unwrap().clone();
    assert_eq!(results.len(), 4);
    for (call, result) in calls.iter().zip(&results) {
        assert_eq!(call["id"], result["tool_use_id"]);
    }
    assert!(results[2]["content"].as_str().unwrap().contains("shell"));
}

#[tokio::test]
async fn s6_unknown_tools_and_broken_arguments_are_answered_to_the_model() {
    let place =
        start(
            Scenario::new()
                .reply(Reply::tool("Teleport", json!({})).and_tool("Read", json!({"offset": 3})))
                .reply(Reply::tool("Read", json!({})).fault(
                    everfold_testkit::ServerFault::InvalidToolJson("{\"file_path\": ".into()),
                ))
                .reply(Reply::text("sorry")),
        );
    let agent = place.agent().await;
    say_ok(&mut agent.start(), "go").await;
    let requests = place.model.requests();
    let first = requests[1].last_tool_results().unwrap();
    assert!(first.contains("unknown tool \"Teleport\"") && first.contains("file_path"), "{first}");
    let second = requests[2].last_tool_results().unwrap();
    assert!(second.contains("JSON"), "{second}");
}

#[tokio::test]
async fn c1_a_turn_ends_after_its_most_requests() {
    let place = start(
        Scenario::new().always(When::default(), Reply::tool("Glob", json!({"pattern": "*"}))),
    );
    let agent = place.builder().max_turns(3).build().await;
    let end = say(&mut agent.start(), "loop").await;
    assert_eq!(end.reason, EndReason::TooManyRequests(3));
    assert_eq!(place.model.requests().len(), 3);
}

#[tokio::test]
async fn q1_messages_typed_meanwhile_join_at_the_tool_boundary() {
    let place = start(
        Scenario::new()
            .reply(Reply::tool("Glob", json!({"pattern": "*"})))
            .reply(Reply::text("ok")),
    );
    let agent = place.agent().await;
    let mut session = agent.start();
    session.queue().push("and look at b");
    say_ok(&mut session, "look").await;
    let last = place.model.requests().pop().unwrap();
    let content = last.messages()[2]["content"].as_array().unwrap().clone();
    assert_eq!(content[0]["type"], "tool_result");
    assert_eq!(content[1]["text"], "and look at b");
}

#[tokio::test]
async fn q5_the_end_of_a_background_command_is_told_at_the_next_boundary() {
    let place = start(
        Scenario::new()
            .reply(Reply::tool(
                "Bash",
                json!({"command": "echo hi > done.txt", "run_in_background": true}),
            ))
            .reply(Reply::tool(
                "Bash",
                json!({"command": "until [ -s done.txt ]; do sleep 0.01; done; sleep 0.2"}),
            ))
            .reply(Reply::tool("Glob", json!({"pattern": "*"})))
            .reply(Reply::text("ok")),
    );
    let agent = place.agent().await;
    let mut session = agent.start();
    say_ok(&mut session, "build").await;
    let texts: String = place.model.requests().pop().unwrap().body.to_string();
    assert!(texts.contains("background command b1"), "{texts}");
    agent.shutdown().await;
}

#[tokio::test]
async fn t6_a_tools_own_question_is_booked_apart() {
    let server = FakeModel::new(
        Scenario::new()
            .reply(Reply::tool(
                "WebFetch",
                json!({"url": crate::place::PAGE, "prompt": "which models?"}),
            ))
            .on(When::source("agent:web_fetch"), Reply::text("many"))
            .reply(Reply::text("ok")),
    );
    let place = Place::new(server);
    let agent = place.agent().await;
    let mut session = agent.start();
    say_ok(&mut session, "fetch").await;
    let sources: Vec<(String, u64)> = session
        .ledger()
        .lines()
        .map(|(source, _, line)| (source.to_owned(), line.requests))
        .collect();
    assert_eq!(sources, [("agent:web_fetch".to_owned(), 1), ("main".to_owned(), 2)]);
    assert!(session.ledger().total().cost.0 > 0.0);
}

#[tokio::test]
async fn q9_events_tell_what_happens_in_order() {
    let place = start(
        Scenario::new()
            .reply(Reply::tool("Glob", json!({"pattern": "*"})))
            .reply(Reply::text("all done")),
    );
    let agent = place.agent().await;
    let mut session = agent.start();
    let mut turn = Turn::new(&mut session, "go");
    let mut seen = Vec::new();
    while let Some(event) = turn.next().await {
        seen.push(match event {
            Event::Text(_) => "text",
            Event::ToolStarted { .. } => "start",
            Event::ToolEnded { .. } => "end",
            Event::Booked(_) => "booked",
            _ => continue,
        });
    }
    seen.dedup();
    assert_eq!(seen, ["booked", "start", "end", "text", "booked"]);
    assert_eq!(turn.end().await.unwrap().text, "all done");
}

#[tokio::test]
async fn t4_without_auto_compact_a_full_window_refuses_with_a_clear_message() {
    let place = start(Scenario::new().otherwise(Reply::text("ok")));
    let agent = place
        .builder()
        .set("/autoCompactEnabled", Value::Bool(false))
        .set("/model", "claude-haiku-4-5")
        .build()
        .await;
    let mut session = agent.start();
    say(&mut session, &"word ".repeat(90_000)).await;
    let end = say(&mut session, &"word ".repeat(90_000)).await;
    let EndReason::Failed(message) = end.reason else { panic!("{:?}", end.reason) };
    assert!(message.contains("auto-compact off") && message.contains("177000"), "{message}");
    assert_eq!(place.model.requests_of("main").len(), 1);
}
