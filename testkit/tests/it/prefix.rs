//! The oracle finds every break, and nothing else.

use everfold_testkit::oracle::first_break_of;
use proptest::prelude::*;
use serde_json::{Value, json};

fn base() -> Value {
    json!({"model": "m", "max_tokens": 5,
        "tools": [{"name": "a", "input_schema": {"type": "object"}}],
        "system": [{"type": "text", "text": "s"}],
        "messages": [{"role": "user", "content": "one"}, {"role": "assistant", "content": [
            {"type": "tool_use", "id": "t", "name": "a", "input": {"x": 1, "y": 2}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": [
                {"type": "text", "text": "r"}]}]}]})
}

#[test]
fn pc1_markers_limits_and_what_is_added_are_no_break() {
    let mut later = base();
    later["max_tokens"] = json!(9);
    later["stream"] = json!(true);
    let marker = json!({"type": "ephemeral", "ttl": "1h"});
    later["cache_control"] = marker.clone();
    later["tools"][0]["cache_control"] = marker.clone();
    later["system"][0]["cache_control"] = marker.clone();
    later["messages"][2]["content"][0]["content"][0]["cache_control"] = marker;
    assert_eq!(first_break_of(&base(), &later), None);
    assert_eq!(first_break_of(&later, &base()), None);
    // The last user message may grow, and messages may follow.
    let content = later["messages"][2]["content"].as_array_mut().unwrap();
    content.push(json!({"type": "text", "text": "and"}));
    let messages = later["messages"].as_array_mut().unwrap();
    messages.push(json!({"role": "assistant", "content": "yes"}));
    assert_eq!(first_break_of(&base(), &later), None);
    assert!(first_break_of(&later, &base()).is_some());
}

#[test]
fn pc1_the_place_of_a_break_is_named() {
    let broken = |pointer: &str, value: Value| {
        let mut later = base();
        *later.pointer_mut(pointer).unwrap() = value;
        first_break_of(&base(), &later).unwrap().path
    };
    assert_eq!(broken("/model", json!("n")), "/model");
    assert_eq!(broken("/tools/0/name", json!("b")), "/tools");
    assert_eq!(broken("/system/0/text", json!("t")), "/system");
    assert_eq!(broken("/messages/0/content", json!("two")), "/messages/0/content/0");
    let swapped = json!({"y": 2, "x": 1});
    assert_eq!(broken("/messages/1/content/0/input", swapped), "/messages/1/content/0");
    assert_eq!(
        broken("/messages/2/content/0/content/0/text", json!("gone")),
        "/messages/2/content/0"
    );
    let mut later = base();
    later["thinking"] = json!({"type": "adaptive"});
    let found = first_break_of(&base(), &later).unwrap();
    assert_eq!((found.path.as_str(), found.before), ("/thinking", None));
}

#[test]
fn pc1_the_message_shows_where_texts_part() {
    let mut later = base();
    later["system"][0]["text"] = json!("sun");
    let message = first_break_of(&base(), &later).unwrap().to_string();
    assert!(message.contains("the prefix breaks at /system"), "{message}");
    assert!(message.contains("\"sun\""), "{message}");
}

#[test]
fn pc1_chat_messages_are_compared_whole() {
    let calls = |arguments: &str| {
        json!({"messages": [{"role": "user", "content": "go"}, {"role": "assistant", "content": null,
            "tool_calls": [{"id": "c", "function": {"name": "a", "arguments": arguments}}]}]})
    };
    assert_eq!(first_break_of(&calls("{}"), &calls("{}")), None);
    assert_eq!(first_break_of(&calls("{}"), &calls("{ }")).unwrap().path, "/messages/1");
}

proptest! {
    #[test]
    fn pc1_a_prefix_is_stable_and_a_changed_block_is_found(
        texts in prop::collection::vec("[a-z]{1,8}", 1..12),
        keep in any::<prop::sample::Index>(),
    ) {
        let conversation = |texts: &[String]| {
            let messages: Vec<Value> = texts.iter().enumerate().map(|(at, text)| {
                let role = if at % 2 == 0 { "user" } else { "assistant" };
                json!({"role": role, "content": text})
            }).collect();
            json!({"messages": messages})
        };
        let at = keep.index(texts.len());
        let whole = conversation(&texts);
        prop_assert_eq!(first_break_of(&conversation(&texts[..at]), &whole), None);
        let mut changed = texts.clone();
        changed[at].push('!');
        let found = first_break_of(&whole, &conversation(&changed)).unwrap();
        prop_assert_eq!(found.path, format!("/messages/{at}/content/0"));
    }
}
