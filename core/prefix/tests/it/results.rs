//! The tool results of a fold: which are fresh, and what clearing them does.

use crate::conversations::Log;
use crate::requests::find_marks;
use everfold_kernel::provenance::Source;
use everfold_kernel::record::{CacheState, ClearTrigger, Cleared, ClearedResult, ClearingSum};
use everfold_kernel::{Attachment, Block, Decision, Entry, Usage, Usd};
use everfold_prefix::Freshness::{Fresh, Sent};
use everfold_prefix::{Fold, Freshness, Message, Showing};
use serde_json::{Value, json};

fn freshness(fold: &Fold) -> Vec<(&str, Freshness)> {
    fold.results().iter().map(|result| (result.tool_use_id, result.freshness)).collect()
}

fn clearing(ids: &[&str]) -> Entry {
    let marker = |id: &&str| ClearedResult { tool_use_id: (*id).into(), marker: "gone".into() };
    Entry::Decision(Decision::Cleared(Cleared {
        results: ids.iter().map(marker).collect(),
        trigger: ClearTrigger::Economy,
        sum: ClearingSum {
            cache: CacheState::Warm,
            cleared_tokens: 1,
            rewritten_tokens: 0,
            rounds: 1.0,
            saves: Usd(0.0),
            costs: Usd(0.0),
        },
    }))
}

#[test]
fn l1_4_only_results_that_no_request_carried_are_fresh() {
    let mut log = Log::started();
    log.user("go").calls(&["a"]).result("a", "one").calls(&["b", "c"]).result("b", "two");
    let fold = log.fold();
    assert_eq!(freshness(&fold), [("a", Sent), ("b", Fresh)]);
    assert_eq!(fold.last_results(), fold.results()[1..]);
    assert!(log.says("done").fold().last_results().is_empty());
}

#[test]
fn l1_4_a_result_that_a_retracted_response_had_answered_was_sent() {
    let mut log = Log::started();
    log.user("go").calls(&["a", "b"]).result("a", "one").says("broken off");
    let message_id = log.response_id();
    let reason = "the stream broke".to_owned();
    log.entry(Entry::Decision(Decision::Retracted { message_id, reason })).result("b", "two");
    assert_eq!(freshness(&log.fold()), [("a", Sent), ("b", Fresh)]);
}

#[test]
fn a_result_names_its_tool_where_its_call_is_shown() {
    let mut log = Log::started();
    log.user("go").calls(&["a"]).result("a", "one").result("ghost", "?");
    let fold = log.fold();
    let tools: Vec<&str> = fold.results().iter().map(|result| result.tool).collect();
    assert_eq!(tools, ["Read", ""]);
    assert_eq!(fold.results()[0].input.unwrap()["file_path"], "a");
}

#[test]
fn pc5_after_a_clearing_what_stands_before_it_is_still_read() {
    let mut log = Log::started();
    log.user("go").calls(&["a"]).result("a", "one").calls(&["b"]).result("b", "two");
    log.calls(&["c"]).result("c", "three").entry(clearing(&["c", "b"]));
    let marks = |log: &Log| {
        let mut marked = Vec::new();
        find_marks(&log.body(), "", &mut marked);
        marked.split_off(2)
    };
    assert_eq!(marks(&log), ["/messages/2/content/0", "/messages/6/content/0"]);
    log.calls(&["d"]).result("d", "four");
    assert_eq!(marks(&log), ["/messages/6/content/0", "/messages/8/content/0"]);
    let fold = log.fold();
    let shown: Vec<Showing> = fold.results().iter().map(|result| result.piece.shown).collect();
    assert_eq!(shown, [Showing::Whole, Showing::Cleared, Showing::Cleared, Showing::Whole]);
}

fn searching(id: &str) -> Block {
    let call = json!({"type": "server_tool_use", "id": id, "name": "web_search", "input": {}});
    Block::from_value(call).unwrap()
}

fn found(id: &str) -> Block {
    let result = json!({"type": "web_search_tool_result", "tool_use_id": id, "content": []});
    Block::from_value(result).unwrap()
}

fn kinds(log: &Log) -> Vec<Vec<String>> {
    let body = log.body();
    let messages = body["messages"].as_array().unwrap();
    let kind = |block: &Value| block["type"].as_str().unwrap().to_owned();
    messages.iter().map(|m| m["content"].as_array().unwrap().iter().map(kind).collect()).collect()
}

#[test]
fn q14_a_search_that_paused_is_one_message_with_what_follows() {
    let mut log = Log::started();
    log.user("go").answer(vec![Block::text("I look."), searching("s1")], Usage::default());
    assert_eq!(kinds(&log)[1], ["text", "server_tool_use"], "it is sent back to be gone on with");
    let paused = log.clone();
    log.answer(vec![found("s1"), Block::text("Found.")], Usage::default()).user("thanks");
    let whole = ["text", "server_tool_use", "web_search_tool_result", "text"];
    assert_eq!(kinds(&log)[1], whole);
    // What went on with it broke: the paused part stays.
    let mut log = paused.clone();
    log.answer(vec![found("s1")], Usage::default());
    let message_id = log.response_id();
    log.entry(Entry::Decision(Decision::Retracted { message_id, reason: "broke".into() }));
    assert_eq!(kinds(&log), kinds(&paused));
}

#[test]
fn q14_a_search_without_a_result_is_left_out_once_somebody_else_speaks() {
    let mut log = Log::started();
    let said = vec![Block::text("I look."), searching("s1"), found("s1"), searching("s2")];
    log.user("go").answer(said, Usage::default());
    log.body();
    log.user("stop");
    assert_eq!(kinds(&log)[1], ["text", "server_tool_use", "web_search_tool_result"]);
    assert_eq!(log.fold().count(), {
        let mut other = Log::started();
        let said = vec![Block::text("I look."), searching("s1"), found("s1")];
        other.user("go").answer(said, Usage::default()).user("stop");
        other.fold().count()
    });
    // Nothing else was said: no empty message is left.
    let mut alone = Log::started();
    alone.user("go").answer(vec![searching("s1")], Usage::default()).user("stop");
    assert_eq!(kinds(&alone).iter().flatten().collect::<Vec<_>>(), ["text", "text"]);
}

#[test]
fn l5_33_what_stands_in_for_a_range_is_the_lowest_of_it() {
    let mut log = Log::started();
    log.user("go on").answer(vec![Block::text("I looked.")], Usage::default());
    log.entry(Entry::Attachment(Attachment {
        kind: "page".into(),
        rendered: "a page".into(),
        data: Value::Null,
        provenance: Some(Source::Web.into()),
    }));
    log.user("and now?");
    assert_eq!(log.fold().lowest(), Some(Source::Web));
    let (from, to) = (log.records[2].id.clone(), log.records[3].id.clone());
    let summary = "It looked at a page.".to_owned();
    log.entry(Entry::Decision(Decision::Collapsed { from, to, summary }));
    let fold = log.fold();
    let mut pieces = fold.messages().iter().flat_map(Message::pieces);
    let stand_in = pieces.find(|piece| piece.shown == Showing::StandsIn).unwrap();
    let whose = stand_in.provenance.lowest().map(|own| own.to_string());
    assert_eq!(whose.as_deref(), Some("summary:web"));
    assert_eq!(fold.lowest(), Some(Source::Web), "it is not forgotten with what it stands for");
}
