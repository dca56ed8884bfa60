//! Searching the web by the provider's own tool.

use crate::place::{Builder, Place, Turn, say_ok};
use everfold_engine::{EndReason, Event};
use everfold_kernel::{BlockView, Entry, Record};
use everfold_prefix::Message;
use everfold_testkit::scenario::{Content, Gate};
use everfold_testkit::{FakeModel, Reply, Scenario, When, oracle};
use serde_json::{Value, json};

fn start(scenario: Scenario) -> Place {
    Place::new(FakeModel::new(scenario))
}

/// The provider of a test is no API of Anthropic's, so it has to be said.
fn searching(place: &Place) -> Builder {
    place.builder().set("/everfold/provider/web_search", true)
}

fn call(id: &str) -> Content {
    Content::Raw(json!({"type": "server_tool_use", "id": id, "name": "web_search",
        "input": {"query": "newest release of the gadget"}}))
}

fn found(id: &str) -> Content {
    Content::Raw(json!({"type": "web_search_tool_result", "tool_use_id": id,
        "content": [{"type": "web_search_result", "url": "https://gadget.example/news",
            "title": "Gadget 9 is out", "encrypted_content": "b3BhcXVl/+==", "page_age": null}],
        "caller": {"type": "direct"}}))
}

fn cited() -> Content {
    Content::Raw(json!({"type": "text", "text": "Gadget 9 is the newest release.",
        "citations": [{"type": "web_search_result_location", "url": "https://gadget.example/news",
            "title": "Gadget 9 is out", "encrypted_index": "Eo8B", "cited_text": "Gadget 9"}]}))
}

fn answer() -> Reply {
    Reply::text("I look.").and(call("srvtoolu_1")).and(found("srvtoolu_1")).and(cited())
}

fn tools(place: &Place, index: usize) -> Vec<Value> {
    place.model.requests()[index].body["tools"].as_array().unwrap().clone()
}

fn declared(place: &Place, index: usize) -> bool {
    tools(place, index).iter().any(|tool| tool["type"] == "web_search_20250305")
}

#[tokio::test]
async fn q14_what_a_search_found_goes_back_byte_for_byte_also_after_a_resume() {
    let place = start(Scenario::new().reply(answer()).otherwise(Reply::text("ok")));
    let agent = searching(&place).build().await;
    let mut session = agent.start();
    let mut turn = Turn::new(&mut session, "what is the newest gadget?");
    let mut shown = Vec::new();
    while let Some(event) = turn.next().await {
        match event {
            Event::ToolStarted { name, input, .. } => shown.push(format!("{name} {input}")),
            Event::ToolEnded { preview, is_error: false, .. } => shown.push(preview),
            _ => {}
        }
    }
    assert_eq!(
        shown,
        ["WebSearch {\"query\":\"newest release of the gadget\"}", "Gadget 9 is out"]
    );
    assert!(turn.end().await.unwrap().text.contains("Gadget 9 is the newest release."));
    say_ok(&mut session, "thanks").await;
    let id = session.id().clone();
    drop(session);
    let (mut session, _) = searching(&place).build().await.resume(id).await.unwrap();
    say_ok(&mut session, "and now?").await;
    let requests = place.model.requests();
    oracle::assert_prefix_stable(&requests);
    let sent: Vec<Value> = answer()
        .content
        .into_iter()
        .map(|content| match content {
            Content::Raw(block) => block,
            Content::Text(text) => json!({"type": "text", "text": text}),
            other => panic!("{other:?}"),
        })
        .collect();
    for request in &requests[1..] {
        let body = String::from_utf8_lossy(&request.raw).into_owned();
        for block in &sent {
            assert!(body.contains(&block.to_string()), "{block} in {body}");
        }
    }
    let tool = tools(&place, 0).pop().unwrap();
    let wanted = json!({"type": "web_search_20250305", "name": "web_search", "max_uses": 8});
    assert_eq!(tool, wanted, "it stands last");
    assert_eq!(tools(&place, 0), tools(&place, 2));
}

#[tokio::test]
async fn q14_a_search_is_counted_and_paid_for() {
    let place = start(Scenario::new().reply(answer()).otherwise(Reply::text("ok")));
    let agent = searching(&place).build().await;
    let mut session = agent.start();
    say_ok(&mut session, "what is new?").await;
    let total = session.ledger().total();
    assert_eq!(total.usage.web_searches, 1);
    let tokens = everfold_kernel::Usage { web_searches: 0, ..total.usage };
    let spec = agent.config().models.table.spec(session.model()).clone();
    let searched = total.cost.0 - spec.cost(&tokens).unwrap().0;
    assert!((searched - 0.01).abs() < 1e-9, "ten dollars a thousand: {searched}");
    let lines = place.transcript();
    let said = lines.iter().rfind(|line| line["type"] == "assistant").unwrap();
    assert_eq!(said["message"]["usage"]["server_tool_use"]["web_search_requests"], 1);
    let id = session.id().clone();
    drop(session);
    let (session, _) = agent.resume(id).await.unwrap();
    assert_eq!(session.ledger().total().usage.web_searches, 1);
}

#[tokio::test]
async fn q14_a_server_that_paused_is_asked_to_go_on() {
    let scenario = Scenario::new()
        .reply(Reply::text("I look.").and(call("srvtoolu_1")).stop_reason("pause_turn"))
        .reply(Reply::default().and(found("srvtoolu_1")).and(cited()))
        .otherwise(Reply::text("ok"));
    let place = start(scenario);
    let agent = searching(&place).build().await;
    let mut session = agent.start();
    let end = say_ok(&mut session, "what is new?").await;
    assert!(end.text.contains("Gadget 9"));
    say_ok(&mut session, "thanks").await;
    let requests = place.model.requests();
    assert_eq!(requests.len(), 3);
    let last = requests[1].messages().last().unwrap().clone();
    assert_eq!(
        (&last["role"], &last["content"][1]["id"]),
        (&json!("assistant"), &json!("srvtoolu_1"))
    );
    let kinds: Vec<Value> = requests[2].messages()[1]["content"]
        .as_array()
        .unwrap()
        .iter()
        .map(|block| block["type"].clone())
        .collect();
    assert_eq!(kinds, ["text", "server_tool_use", "web_search_tool_result", "text"]);
    oracle::assert_prefix_stable(&requests);
}

/// After so many events of the stream below both calls have come, and no result.
const EVENTS_OF_TWO_CALLS: usize = 19;

fn is_call(record: &Record) -> bool {
    matches!(&record.entry, Entry::Assistant(entry) if entry.block.kind() == "server_tool_use")
}

#[tokio::test]
async fn q14_a_search_that_was_stopped_leaves_no_call_without_a_result() {
    let mut reply = Reply::text("I look.").and(call("a")).and(call("b")).and(found("a"));
    reply.gate = Some(Gate { name: "search".into(), after_events: EVENTS_OF_TWO_CALLS });
    let place = start(Scenario::new().reply(reply).otherwise(Reply::text("ok")));
    let agent = searching(&place).build().await;
    let mut session = agent.start();
    let mut turn = Turn::new(&mut session, "what is new?");
    while let Some(event) = turn.next().await {
        // The first call is in the log once the second has come.
        if matches!(event, Event::Recorded(record) if is_call(&record)) {
            turn.canceller().cancel();
        }
    }
    assert_eq!(turn.end().await.unwrap().reason, EndReason::Cancelled);
    say_ok(&mut session, "never mind").await;
    let id = session.id().clone();
    drop(session);
    let (mut session, _) = agent.resume(id).await.unwrap();
    say_ok(&mut session, "go on").await;
    let refused: Vec<_> = place.model.requests().into_iter().filter_map(|r| r.refused).collect();
    assert_eq!(refused, []);
    let views = session.fold().messages().iter().flat_map(Message::pieces);
    let calls = views.filter(|piece| matches!(piece.block.view(), BlockView::Other(_)));
    assert_eq!(calls.count(), 0);
}

#[tokio::test]
async fn q14_a_rule_takes_the_search_away_and_only_who_offers_it_is_asked() {
    let place = start(Scenario::new().otherwise(Reply::text("ok")));
    say_ok(&mut place.agent().await.start(), "one").await;
    let denied = searching(&place).set("/permissions/deny", json!(["WebSearch"]));
    say_ok(&mut denied.build().await.start(), "two").await;
    let asked = searching(&place).set("/permissions/ask", json!(["WebSearch"]));
    say_ok(&mut asked.build().await.start(), "three").await;
    assert!((0..3).all(|index| !declared(&place, index)));
    let mut session = searching(&place).build().await.start();
    say_ok(&mut session, "four").await;
    assert!(declared(&place, 3));
    let id = session.id().clone();
    drop(session);
    let denied = searching(&place).set("/permissions/deny", json!(["WebSearch"]));
    let (mut session, _) = denied.build().await.resume(id).await.unwrap();
    say_ok(&mut session, "five").await;
    assert!(!declared(&place, 4), "what is denied now is gone from an older conversation too");
}

#[tokio::test]
async fn q14_agents_search_where_their_kind_may() {
    let order = |kind: &str| {
        Reply::tool("Agent", json!({"description": "d", "prompt": kind, "subagent_type": kind}))
    };
    let scenario = Scenario::new()
        .on(
            When::user("go"),
            order("narrow").and_tool(
                "Agent",
                json!({"description": "d", "prompt": "wide", "subagent_type": "wide"}),
            ),
        )
        .otherwise(Reply::text("done"));
    let place = start(scenario);
    let kind = |name: &str, tools: &str| {
        let text = format!("---\nname: {name}\ndescription: d\ntools: {tools}\n---\np");
        place.dirs.write(place.dirs.home().join(format!("agents/{name}.md")), &text).unwrap();
    };
    kind("narrow", "Read");
    kind("wide", "Read, WebSearch");
    let agent = searching(&place).build().await;
    say_ok(&mut agent.start(), "go").await;
    let has = |name: &str| {
        let requests = place.model.requests();
        let index = requests.iter().position(|r| r.source() == format!("agent:{name}")).unwrap();
        declared(&place, index)
    };
    assert!(!has("narrow") && has("wide"));
}
