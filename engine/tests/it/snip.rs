//! Ranges that the model takes out of its own view (L4.14).

use crate::place::{Place, say_ok};
use everfold_engine::window::compaction;
use everfold_testkit::{FakeModel, Received, Reply, ServerRules, oracle};
use serde_json::{Value, json};

/// A model that reads, and on demand takes the first thing that it read out of view.
fn place() -> Place {
    let server = FakeModel::with_handler(ServerRules::default(), |request| {
        if request.last_tool_results().is_some() {
            return Reply::text("done");
        }
        match request.last_user_text() {
            text if text.contains("snip nothing") => {
                Reply::tool("Snip", json!({"from": "no-such-id", "to": "no-such-id"}))
            }
            text if text.contains("snip") => {
                let id = first_call(request);
                Reply::tool("Snip", json!({"from": id, "to": id}))
            }
            text if text.contains("read") => Reply::tool("Read", json!({"file_path": "a.txt"})),
            _ => Reply::text("ok"),
        }
    });
    let place = Place::new(server);
    place.write("a.txt", "a quite secret detour\n");
    place
}

fn first_call(request: &Received) -> String {
    let blocks = request.messages().iter().filter_map(|message| message["content"].as_array());
    let call = blocks.flatten().find(|block| block["type"] == "tool_use").unwrap();
    call["id"].as_str().unwrap().to_owned()
}

fn last(place: &Place) -> Received {
    place.model.requests().pop().unwrap()
}

fn tools(request: &Received) -> Vec<Value> {
    request.body["tools"].as_array().unwrap().clone()
}

#[tokio::test]
async fn l4_14_the_model_snips_by_tool_and_resume_honours_it() {
    let place = place();
    let mut session = place.agent().await.start();
    say_ok(&mut session, "read it").await;
    assert!(last(&place).body.to_string().contains("secret detour"));
    say_ok(&mut session, "snip it").await;
    let body = last(&place).body.to_string();
    assert!(!body.contains("secret detour") && body.contains("taken out of view here"), "{body}");
    let told = last(&place).last_tool_results().unwrap();
    assert!(told.contains("is taken out of view with the next request"), "{told}");
    assert!(place.model.requests().iter().all(|request| request.refused.is_none()));
    let before = place.model.requests().len();
    let (mut session, _) = place.agent().await.resume(session.id().clone()).await.unwrap();
    say_ok(&mut session, "go on").await;
    oracle::assert_prefix_stable(&place.model.requests()[before - 1..]);
    let lines = place.transcript();
    let snip = lines.iter().find(|line| line["subtype"] == "everfold_snipped").unwrap();
    compaction::undo_decision(&mut session, &snip["uuid"].as_str().unwrap().into()).await.unwrap();
    say_ok(&mut session, "and now").await;
    assert!(last(&place).body.to_string().contains("secret detour"), "it can be undone");
}

#[tokio::test]
async fn l4_14_a_snip_that_cannot_be_made_is_told() {
    let place = place();
    let mut session = place.agent().await.start();
    say_ok(&mut session, "snip nothing").await;
    let body = last(&place).body.to_string();
    assert!(body.contains("no-such-id to no-such-id was not taken out of view"), "{body}");
}

#[tokio::test]
async fn l4_14_with_the_flag_off_the_tool_is_refused_and_the_list_unchanged() {
    let place = place();
    let mut session = place.agent().await.start();
    say_ok(&mut session, "hello").await;
    let with = tools(&last(&place));
    let off = json!({"everfold": {"flags": {"snip": false}}});
    let agent = place.builder().settings(&off).build().await;
    let mut session = agent.start();
    say_ok(&mut session, "read it").await;
    say_ok(&mut session, "snip it").await;
    assert_eq!(tools(&last(&place)), with, "restriction is by refusal");
    assert!(with.iter().any(|tool| tool["name"] == "Snip"));
    assert!(last(&place).body.to_string().contains("secret detour"));
    assert!(last(&place).last_tool_results().unwrap().contains("is off"));
}
