//! What is in a request.

use crate::conversations::{Log, body_of, without_marks};
use everfold_kernel::record::Keeps;
use everfold_kernel::{Block, Boundary, Decision, Entry, Params, Prelude, Usage, UserOrigin};
use everfold_prefix::{Directive, Fold};
use serde_json::{Value, json};

#[test]
fn pc1_the_golden_bytes_of_a_tool_turn() {
    let mut log = Log::started();
    log.attachment("today").user("read a and b").calls(&["a", "b"]);
    log.result("a", "one").result("b", "two").attachment("note");
    let request = log.fold().request(None).unwrap();
    insta::assert_snapshot!(String::from_utf8_lossy(&request.body.whole()));
}

#[test]
fn results_come_first_and_missing_ones_are_answered() {
    let mut log = Log::started();
    log.user("go").calls(&["a", "b"]).attachment("early").result("b", "two").result("ghost", "?");
    let content = &log.body()["messages"][2]["content"];
    let kinds: Vec<_> = content
        .as_array()
        .unwrap()
        .iter()
        .map(|block| {
            (
                block["type"].as_str().unwrap(),
                block["tool_use_id"].as_str(),
                block["is_error"].as_bool(),
            )
        })
        .collect();
    assert_eq!(
        kinds,
        [
            ("tool_result", Some("a"), Some(true)),
            ("tool_result", Some("b"), None),
            ("text", None, None)
        ]
    );
}

#[test]
fn empty_texts_and_bare_thinking_are_left_out() {
    let thinking =
        Block::from_value(json!({"type":"thinking","thinking":"","signature":"s"})).unwrap();
    let mut log = Log::started();
    log.user("go").answer(vec![thinking, Block::text("")], Usage::default()).user("again");
    let messages = log.body()["messages"].clone();
    assert_eq!(messages.as_array().unwrap().len(), 2);
    assert!(messages.as_array().unwrap().iter().all(|message| message["role"] == "user"));
}

#[test]
fn pc5_breakpoints_close_the_system_parts_the_last_request_and_this_one() {
    let mut log = Log::started();
    log.user("go").calls(&["a"]).result("a", "one");
    let body = log.body();
    let mut marked = Vec::new();
    find_marks(&body, "", &mut marked);
    assert_eq!(
        marked,
        ["/system/0", "/system/1", "/messages/0/content/0", "/messages/2/content/0",]
    );
}

pub(crate) fn find_marks(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            if map.contains_key("cache_control") {
                found.push(path.to_owned());
            }
            map.iter().for_each(|(key, item)| find_marks(item, &format!("{path}/{key}"), found));
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                find_marks(item, &format!("{path}/{index}"), found);
            }
        }
        _ => {}
    }
}

#[test]
fn a_foreign_breakpoint_inside_a_block_is_not_sent() {
    let mut block = Block::text("hi");
    block.as_map_mut().insert("cache_control".into(), json!({"type": "ephemeral"}));
    let mut log = Log::started();
    log.user_entry(vec![block, Block::text("end")], UserOrigin::Human);
    assert!(log.body()["messages"][0]["content"][0].get("cache_control").is_none());
}

#[test]
fn a_fork_is_the_same_request_and_a_directive() {
    let mut log = Log::started();
    log.user("go").calls(&["a"]);
    let mut fold = log.fold();
    let fork = fold.request(Some(Directive("sum up"))).unwrap();
    let fork: Value = serde_json::from_slice(&fork.body.whole()).unwrap();
    let last = fork["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(last["content"][0]["tool_use_id"], "a");
    assert_eq!(last["content"][1]["text"], "sum up");
    log.result("a", "one");
    let after = log.fold().request(Some(Directive("sum up"))).unwrap();
    let after: Value = serde_json::from_slice(&after.body.whole()).unwrap();
    assert_eq!(after["messages"][2]["content"][1]["text"], "sum up");
    assert_eq!(
        body_of(&mut fold)["messages"].as_array().unwrap().len(),
        2,
        "the fold is unchanged"
    );
}

#[test]
fn a_retracted_response_is_gone_and_the_next_one_takes_its_place() {
    let mut log = Log::started();
    log.user("go").says("broken off");
    let message_id = log.response_id();
    let reason = "the stream broke".to_owned();
    log.entry(Entry::Decision(Decision::Retracted { message_id, reason })).says("whole").user("ok");
    let body = log.body();
    assert_eq!(body["messages"][1]["content"][0]["text"], "whole");
    assert_eq!(body["messages"].as_array().unwrap().len(), 3);
}

fn boundary(preserved: &[&str], keeps: Keeps) -> Entry {
    Entry::Boundary(Boundary {
        trigger: "auto".into(),
        pre_tokens: 1,
        last_before: None,
        preserved: preserved.iter().map(|id| (*id).into()).collect(),
        keeps,
        metadata: serde_json::Map::new(),
    })
}

#[test]
fn l4_6_a_boundary_starts_again_from_the_summary_and_what_was_kept() {
    let mut log = Log::started();
    log.user("first").says("one").user("second").says("two");
    log.entry(boundary(&["r3", "r4"], Keeps::Suffix));
    log.user_entry(vec![Block::text("summary")], UserOrigin::CompactSummary).user("third");
    assert_eq!(texts(&log.fold()), ["summary", "second", "two", "third"]);
}

#[test]
fn l4_7_a_boundary_can_keep_the_prefix_instead() {
    let mut log = Log::started();
    log.user("first").says("one").user("second").says("two");
    log.entry(boundary(&["r1", "r2"], Keeps::Prefix));
    log.user_entry(vec![Block::text("summary")], UserOrigin::CompactSummary).user("third");
    assert_eq!(texts(&log.fold()), ["first", "one", "summary", "third"]);
}

#[test]
fn l4_16_a_boundary_keeps_a_record_and_not_its_neighbours() {
    let mut log = Log::started();
    log.user("go").calls(&["a"]).result("a", "long").user("remember this").attachment("note");
    log.answer(vec![Block::text("one"), Block::text("two")], Usage::default()).user("and this");
    log.entry(boundary(&["r4", "r7", "r8"], Keeps::Suffix));
    log.user_entry(vec![Block::text("summary")], UserOrigin::CompactSummary);
    assert_eq!(texts(&log.fold()), ["summary", "remember this", "one", "two", "and this"]);
}

fn texts(fold: &Fold) -> Vec<String> {
    fold.messages()
        .iter()
        .flat_map(everfold_prefix::Message::pieces)
        .map(|piece| piece.block.plain_text())
        .collect()
}

#[test]
fn the_long_window_suffix_is_not_sent() {
    let mut log = Log::default();
    log.prelude("claude-sonnet-4-5[1m]").user("hi");
    assert_eq!(without_marks(log.body())["model"], "claude-sonnet-4-5");
}

#[test]
fn l2_4_what_the_server_is_asked_to_clear_stands_in_the_head() {
    let params = Params {
        context_management: Some(json!({"edits": []})),
        effort: Some("low".into()),
        ..Params::new("claude-sonnet-5-5", 1_000)
    };
    let prelude = Prelude { system: vec![], tools: vec![json!({"name": "a"})], params };
    let mut log = Log::default();
    log.entry(Entry::Decision(Decision::Prelude(Box::new(prelude)))).user("go");
    let body =
        String::from_utf8_lossy(&log.fold().request(None).unwrap().body.whole()).into_owned();
    let head = r#""output_config":{"effort":"low"},"context_management":{"edits":[]},"tools":"#;
    assert!(body.contains(head), "{body}");
}

#[test]
fn l2_3_no_breakpoint_stands_on_an_edit() {
    let mut log = Log::started();
    log.user("go").calls(&["a"]).result("a", "one");
    log.entry(Entry::Decision(Decision::CacheEdited { tool_use_ids: vec!["a".into()] }));
    let content = log.body()["messages"][2]["content"].clone();
    assert_eq!(content[1]["type"], "cache_edits");
    assert!(content[1].get("cache_control").is_none() && content[0].get("cache_control").is_some());
}
