//! Conversations from lines: our own, rewinds, boundaries (Q4, L1.5, L4.6).

use crate::{adds_up, ids, read};
use everfold_kernel::{Decision, Entry, RecordId, SessionId};
use everfold_transcript::{Conversation, Decoded, Envelope, Rebuild, bookkeeping, decode, encode};
use serde_json::{Value, json};

const OURS: &str = include_str!("../fixtures/ours.jsonl");

fn user(id: &str, parent: Option<&str>, text: &str) -> Value {
    json!({"type": "user", "uuid": id, "parentUuid": parent, "message": {"content": text}})
}

fn summary(id: &str, parent: &str) -> Value {
    json!({"type": "user", "uuid": id, "parentUuid": parent, "isCompactSummary": true,
        "isVisibleInTranscriptOnly": true, "message": {"content": "summary"}})
}

fn boundary(id: &str, metadata: &Value) -> Value {
    json!({"type": "system", "subtype": "compact_boundary", "uuid": id, "parentUuid": null,
        "compactMetadata": metadata})
}

fn rebuilt(mut rebuild: Rebuild, lines: &[Value]) -> Conversation {
    for line in lines {
        rebuild.push(line.to_string().as_bytes());
    }
    let conversation = rebuild.finish();
    assert!(adds_up(&conversation), "{:?}", conversation.tally);
    conversation
}

fn shown(lines: &[Value]) -> Vec<String> {
    let conversation = rebuilt(Rebuild::new(), lines);
    assert_eq!(conversation.missing, 0);
    // Holding everything changes nothing, unless something is missing.
    let all = rebuilt(Rebuild::keeping_all(), lines);
    assert_eq!(all.records, conversation.records);
    ids(&conversation).into_iter().map(str::to_owned).collect()
}

#[test]
fn c3_our_own_lines_are_written_the_same_again() {
    let mut envelope = Envelope::new("s-1".into(), "/proj", "0.1.0");
    envelope.git_branch = Some("main".into());
    for line in OURS.lines() {
        if let Decoded::Record(read) = decode(line.as_bytes()).unwrap() {
            assert!(!matches!(read.record.entry, Entry::Opaque(_)), "{line}");
            let mut envelope = envelope.clone();
            envelope.source_tool_assistant = read.facts.source_tool_assistant;
            let again = encode(&read.record, &envelope);
            assert_eq!(again, line);
        }
    }
}

#[test]
fn l1_5_decisions_before_a_boundary_that_still_hold_come_back() {
    let conversation = read(OURS);
    assert!(adds_up(&conversation));
    assert_eq!(
        ids(&conversation),
        ["p1", "b1", "s1", "a1", "a2", "r1", "a3", "x1", "u2", "a4", "k3"]
    );
    let Entry::Decision(Decision::Prelude(prelude)) = &conversation.records[0].entry else {
        panic!();
    };
    assert_eq!(prelude.system[0].text, "You help a lot.");
    assert_eq!(conversation.title.as_deref(), Some("Go on"));
}

#[test]
fn l1_5_the_ledger_has_what_was_spent_before_the_boundary() {
    let total = read(OURS).ledger.total();
    assert_eq!(total.requests, 4);
    assert!((total.cost.0 - 1.875).abs() < 1e-9);
}

#[test]
fn q4_before_the_boundary_everything_is_there_in_order() {
    let text: Vec<&str> = OURS.lines().take(14).collect();
    let conversation = read(&text.join("\n"));
    assert_eq!(
        ids(&conversation),
        ["p0", "u0", "a0", "k0", "p1", "u1", "c0", "t0", "a1", "a2", "k1", "r1", "a3", "k2"]
    );
    // A response that was taken back asks for no results.
    assert!(conversation.unanswered.is_empty());
}

#[test]
fn l4_6_a_call_that_was_preserved_keeps_its_result() {
    let lines = [
        user("u", None, "x"),
        json!({"type": "assistant", "uuid": "a", "parentUuid": "u", "message": {"id": "m",
            "model": "x", "content": [{"type": "tool_use", "id": "t", "name": "n", "input": {}}]}}),
        json!({"type": "user", "uuid": "r", "parentUuid": "a", "message": {"content":
            [{"type": "tool_result", "tool_use_id": "t", "content": "ok"}]}}),
        boundary("b", &json!({"trigger": "auto", "preservedMessages": {"uuids": ["a"]}})),
        summary("s", "b"),
        user("v", Some("s"), "next"),
    ];
    assert_eq!(shown(&lines), ["b", "s", "a", "r", "v"]);
}

#[test]
fn l4_6_a_kept_prefix_stands_before_the_summary() {
    let kept = json!({"preservedMessages": {"anchorUuid": "b", "uuids": ["u1", "u2"]}});
    let mut lines = vec![
        user("u1", None, "1"),
        user("u2", Some("u1"), "2"),
        user("u3", Some("u2"), "3"),
        boundary("b", &kept),
        summary("s", "b"),
        user("v", Some("s"), "next"),
    ];
    assert_eq!(shown(&lines), ["b", "u1", "u2", "s", "v"]);
    // The same where the summary was linked to the end of what was kept.
    lines[4] = summary("s", "u2");
    assert_eq!(shown(&lines), ["b", "u1", "u2", "s", "v"]);
}

#[test]
fn l4_6_a_segment_of_an_older_file_is_found_by_its_ends() {
    let kept = json!({"preservedSegment": {"headUuid": "u2", "anchorUuid": "s", "tailUuid": "u3"}});
    let lines = [
        user("u1", None, "1"),
        user("u2", Some("u1"), "2"),
        json!({"type": "progress", "uuid": "p", "parentUuid": "u2"}),
        user("u3", Some("p"), "3"),
        boundary("b", &kept),
        summary("s", "b"),
        user("v", Some("u3"), "next"),
    ];
    assert_eq!(shown(&lines), ["b", "s", "u2", "u3", "v"]);
    let conversation = rebuilt(Rebuild::new(), &lines);
    let Entry::Boundary(boundary) = &conversation.records[0].entry else {
        panic!();
    };
    assert_eq!(boundary.preserved, ["u2", "u3"].map(RecordId::from));
}

#[test]
fn l4_6_the_newest_of_several_boundaries_counts() {
    let kept = json!({"preservedMessages": {"anchorUuid": "s2", "uuids": ["u1", "v1"]}});
    let lines = [
        user("u1", None, "1"),
        boundary("b1", &json!({"preservedMessages": {"anchorUuid": "s1", "uuids": ["u1"]}})),
        summary("s1", "b1"),
        user("v1", Some("u1"), "2"),
        boundary("b2", &kept),
        summary("s2", "b2"),
        user("w1", Some("v1"), "3"),
    ];
    assert_eq!(shown(&lines), ["b2", "s2", "u1", "v1", "w1"]);
}

#[test]
fn s6_a_boundary_without_its_summary_takes_nothing_away() {
    let kept = json!({"preservedMessages": {"anchorUuid": "s", "uuids": ["u2"]}});
    let mut lines = vec![user("u1", None, "1"), user("u2", Some("u1"), "2"), boundary("b", &kept)];
    assert_eq!(shown(&lines), ["u1", "u2"]);
    // Whoever resumes there goes on as if the boundary had not been written.
    lines.push(user("u3", Some("u2"), "3"));
    assert_eq!(shown(&lines), ["u1", "u2", "u3"]);
    // With the summary it holds.
    lines[3] = summary("s", "b");
    assert_eq!(shown(&lines), ["b", "s", "u2"]);
}

#[test]
fn q4_a_branch_that_was_left_is_not_part_of_the_conversation() {
    let mut lines = vec![
        user("u1", None, "1"),
        user("u2", Some("u1"), "left"),
        user("u3", Some("u2"), "left too"),
        user("u4", Some("u1"), "instead"),
        json!({"type": "user", "uuid": "m", "parentUuid": "u4", "isMeta": true,
            "message": {"content": "note"}}),
    ];
    assert_eq!(shown(&lines), ["u1", "u4", "m"]);
    // A rewind holds until something is said.
    let back = bookkeeping::rewound(&SessionId::new("s"), &RecordId::new("u2"));
    lines.push(serde_json::from_str(&back).unwrap());
    assert_eq!(shown(&lines), ["u1", "u2"]);
    lines.push(user("u5", Some("u2"), "on"));
    assert_eq!(shown(&lines), ["u1", "u2", "u5"]);
}

#[test]
fn q4_a_rewind_to_before_a_boundary_needs_all_records() {
    let lines = [
        user("u1", None, "1"),
        user("u2", Some("u1"), "2"),
        boundary("b", &json!({"trigger": "auto"})),
        summary("s", "b"),
        user("u3", Some("u1"), "instead of 2"),
    ];
    let conversation = rebuilt(Rebuild::new(), &lines);
    assert_eq!(conversation.missing, 1);
    let conversation = rebuilt(Rebuild::keeping_all(), &lines);
    assert_eq!(ids(&conversation), ["u1", "u3"]);
    assert_eq!(conversation.missing, 0);
}

#[test]
fn q4_a_sub_agents_own_file_is_a_conversation() {
    let side = |mut line: Value| {
        line["isSidechain"] = true.into();
        line["agentId"] = "a1".into();
        line
    };
    let lines = [side(user("k1", None, "task")), side(user("k2", Some("k1"), "more"))];
    assert_eq!(shown(&lines), ["k1", "k2"]);
    // In a main file the same lines are not shown.
    let mut both = lines.to_vec();
    both.push(user("u1", None, "hello"));
    assert_eq!(shown(&both), ["u1"]);
}

#[test]
fn q4_decisions_alone_come_back_too() {
    let first: Vec<&str> = OURS.lines().take(1).collect();
    assert_eq!(ids(&read(&first.join("\n"))), ["p0"]);
    assert!(read("").records.is_empty());
}

#[test]
fn q4_a_line_without_a_time_takes_the_one_before_it() {
    let mut first = user("u1", None, "1");
    first["timestamp"] = "2026-01-02T03:04:05.678Z".into();
    let conversation = rebuilt(Rebuild::new(), &[first, user("u2", Some("u1"), "2")]);
    assert_eq!(conversation.records[0].at, conversation.records[1].at);
}

#[test]
fn q4_a_reader_that_copies_nothing_holds_only_the_field_it_needs() {
    let mut result = user("2", Some("1"), "x");
    result["toolUseResult"] = json!({"file": {"content": "long"}, "seen": {"/a": "v1"}});
    let mut plain = user("3", Some("2"), "y");
    plain["toolUseResult"] = json!("a text");
    let lines = [user("1", None, "hi"), result, plain];
    let structured = |conversation: &Conversation| -> Vec<Option<Value>> {
        let records = conversation.records.iter();
        let user = |entry: &Entry| match entry {
            Entry::User(user) => user.tool_use_result.clone(),
            _ => None,
        };
        records.map(|record| user(&record.entry)).collect()
    };
    let slim = rebuilt(Rebuild::new().with_only_result_field("seen"), &lines);
    assert_eq!(structured(&slim), [None, Some(json!({"seen": {"/a": "v1"}})), None]);
    let whole = rebuilt(Rebuild::new(), &lines);
    assert_eq!(ids(&whole), ids(&slim));
    assert!(structured(&whole)[1].as_ref().unwrap().get("file").is_some());
}
