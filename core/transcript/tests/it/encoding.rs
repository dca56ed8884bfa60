//! The bytes that are written, as snapshots.

use everfold_kernel::record::Keeps;
use everfold_kernel::{
    AssistantEntry, Attachment, Block, Boundary, Decision, Entry, Record, SessionId, ToolUseId,
    Usage, UserEntry, UserOrigin,
};
use everfold_transcript::line::ANCHOR;
use everfold_transcript::{Envelope, Side, encode};
use jiff::Timestamp;
use serde_json::{Map, json};

fn record(entry: Entry) -> Record {
    Record {
        id: "r2".into(),
        parent: Some("r1".into()),
        at: Timestamp::from_millisecond(1_793_527_200_005).unwrap(),
        entry,
    }
}

fn envelope() -> Envelope {
    let mut envelope = Envelope::new(SessionId::new("s1"), "/p", "0.1.0");
    envelope.git_branch = Some("main".into());
    envelope
}

#[test]
fn c3_a_prompt_is_written_as_a_string() {
    let entry = Entry::User(UserEntry {
        content: vec![Block::text("hi \u{2028}\n")],
        origin: UserOrigin::Human,
        tool_use_result: None,
        provenance: Vec::new(),
    });
    insta::assert_snapshot!(encode(&record(entry), &envelope()));
}

#[test]
fn c3_a_tool_result_is_written_as_blocks_with_its_source() {
    let entry = Entry::User(UserEntry {
        content: vec![Block::tool_result(&ToolUseId::new("t1"), "out".into())],
        origin: UserOrigin::ToolResult,
        tool_use_result: Some(json!({"stdout": "out"})),
        provenance: Vec::new(),
    });
    insta::assert_snapshot!(encode(&record(entry), &envelope().answering("r1".into())));
}

#[test]
fn c3_a_response_is_written_one_block_a_line() {
    let entry = Entry::Assistant(AssistantEntry {
        message_id: "msg_1".into(),
        request_id: Some("req_1".into()),
        model: "some-model".into(),
        index: 1,
        block: Block::text("hello"),
        usage: Usage {
            input: 1,
            cache_read: 2,
            cache_write_5m: 3,
            cache_write_1h: 4,
            output: 5,
            web_searches: 6,
        },
        stop_reason: Some("end_turn".into()),
    });
    insta::assert_snapshot!(encode(&record(entry), &envelope()));
}

#[test]
fn c3_an_attachment_keeps_what_the_model_saw() {
    let entry = Entry::Attachment(Attachment {
        kind: "date".into(),
        rendered: "<system-reminder>\nMonday\n</system-reminder>".into(),
        data: json!({"day": "Monday"}),
        provenance: None,
    });
    let mut envelope = envelope();
    envelope.side = Side::Agent(Some("a1f".into()));
    insta::assert_snapshot!(encode(&record(entry), &envelope));
}

#[test]
fn c3_a_decision_is_a_system_line_of_ours() {
    let entry = Entry::Decision(Decision::Retracted {
        message_id: "msg_1".into(),
        reason: "the stream was cut".into(),
    });
    insta::assert_snapshot!(encode(&record(entry), &envelope()));
}

#[test]
fn l4_6_a_boundary_has_its_metadata() {
    let mut boundary = Boundary {
        trigger: "auto".into(),
        pre_tokens: 155_000,
        last_before: Some("r1".into()),
        preserved: vec!["p1".into(), "p2".into()],
        keeps: Keeps::Suffix,
        metadata: Map::from_iter([
            ("postTokens".to_owned(), json!(12)),
            (ANCHOR.to_owned(), json!("s")),
        ]),
    };
    let mut at = record(Entry::Boundary(boundary.clone()));
    at.parent = None;
    insta::assert_snapshot!("suffix", encode(&at, &envelope()));
    boundary.keeps = Keeps::Prefix;
    boundary.metadata.clear();
    at.entry = Entry::Boundary(boundary);
    insta::assert_snapshot!("prefix", encode(&at, &envelope()));
}
