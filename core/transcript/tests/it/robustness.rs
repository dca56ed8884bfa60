//! Whatever the bytes are, nothing panics and no line goes missing (S6, Q4).

use crate::{adds_up, ids, read};
use everfold_transcript::Rebuild;
use everfold_transcript::chain::SkipReason;
use proptest::prelude::*;

const FIXTURES: [&str; 4] = [
    include_str!("../fixtures/old.jsonl"),
    include_str!("../fixtures/new.jsonl"),
    include_str!("../fixtures/parallel.jsonl"),
    include_str!("../fixtures/ours.jsonl"),
];

fn pool() -> Vec<&'static str> {
    FIXTURES.iter().flat_map(|text| text.lines()).collect()
}

fn all(lines: &[Vec<u8>]) -> [everfold_transcript::Conversation; 2] {
    [Rebuild::new(), Rebuild::keeping_all()].map(|mut rebuild| {
        for line in lines {
            rebuild.push(line);
        }
        rebuild.finish()
    })
}

/// A line as it is, cut somewhere, or no line at all.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let line = prop::sample::select(pool());
    prop_oneof![
        8 => line.clone().prop_map(|line| line.as_bytes().to_vec()),
        2 => (line.clone(), any::<prop::sample::Index>())
            .prop_map(|(line, at)| line.as_bytes()[..at.index(line.len())].to_vec()),
        1 => (line, any::<prop::sample::Index>(), any::<u8>()).prop_map(|(line, at, byte)| {
            let mut line = line.as_bytes().to_vec();
            let at = at.index(line.len());
            line[at] = byte;
            line
        }),
        1 => prop::collection::vec(any::<u8>(), 0..40),
    ]
}

proptest! {
    #[test]
    fn s6_damaged_files_are_read_and_every_line_is_counted(
        lines in prop::collection::vec(damaged(), 0..60),
    ) {
        let whole = lines.iter().filter(|line| !line.trim_ascii().is_empty()).count();
        for conversation in all(&lines) {
            prop_assert!(adds_up(&conversation), "{:?}", conversation.tally);
            prop_assert_eq!(conversation.tally.lines, whole as u64);
            let mut seen = ids(&conversation);
            seen.sort_unstable();
            let count = seen.len();
            seen.dedup();
            prop_assert_eq!(seen.len(), count, "a record appears twice");
        }
    }

    #[test]
    fn s6_any_links_between_lines_are_walked_to_an_end(
        edges in prop::collection::vec((0..12_u8, prop::option::of(0..14_u8), 0..6_u8), 0..30),
    ) {
        let lines: Vec<Vec<u8>> = edges
            .iter()
            .map(|(id, parent, kind)| {
                let parent = parent.map(|parent| parent.to_string());
                let body = match kind {
                    0 => r#""type":"user","message":{"content":"x"}"#,
                    1 => r#""type":"assistant","message":{"id":"m","model":"x","content":[{"type":"tool_use","id":"t","name":"n","input":{}}]}"#,
                    2 => r#""type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"r"}]}"#,
                    3 => r#""type":"progress""#,
                    4 => r#""type":"system","subtype":"compact_boundary","compactMetadata":{"preservedMessages":{"uuids":["1","2","3"],"anchorUuid":"4"}}"#,
                    _ => r#""type":"user","isSidechain":true,"message":{"content":"x"}"#,
                };
                format!("{{\"uuid\":\"{id}\",\"parentUuid\":{},{body}}}", serde_json::json!(parent)).into_bytes()
            })
            .collect();
        for conversation in all(&lines) {
            prop_assert!(adds_up(&conversation), "{:?}", conversation.tally);
        }
    }

    #[test]
    fn q4_a_file_that_is_cut_anywhere_gives_its_whole_lines(cut in any::<prop::sample::Index>()) {
        let text = include_str!("../fixtures/ours.jsonl");
        let cut = cut.index(text.len());
        let mut rebuild = Rebuild::new();
        for line in text.as_bytes()[..cut].split(|byte| *byte == b'\n') {
            rebuild.push(line);
        }
        let conversation = rebuild.finish();
        prop_assert!(adds_up(&conversation));
        prop_assert!(conversation.skipped.len() <= 1);
    }
}

#[test]
fn q4_a_torn_last_line_is_skipped() {
    let text = include_str!("../fixtures/old.jsonl");
    let whole = read(text);
    let torn = read(&format!("{text}{{\"type\":\"user\",\"uuid\":\"zz\",\"par"));
    assert_eq!(torn.records, whole.records);
    assert_eq!(torn.skipped.len(), 1);
    assert_eq!(torn.skipped[0].line, torn.tally.lines);
    assert!(matches!(torn.skipped[0].reason, SkipReason::Unreadable(_)));
}

#[test]
fn s6_a_torn_line_in_the_middle_does_not_cost_what_came_before() {
    let lines = [
        r#"{"type":"user","uuid":"u1","parentUuid":null,"message":{"content":"a"}}"#,
        r#"{"type":"assistant","uuid":"a1","parentUuid":"u1","message":{"id":"m1","mod"#,
        r#"{"type":"user","uuid":"s1","parentUuid":null,"isSidechain":true,"message":{"content":"side"}}"#,
        r#"{"type":"user","uuid":"u2","parentUuid":"a1","message":{"content":"b"}}"#,
    ];
    let conversation = read(&lines.join("\n"));
    assert_eq!(ids(&conversation), ["u1", "u2"]);
    assert_eq!(conversation.skipped.len(), 1);
    // Without a line that could not be read, an unknown parent ends the walk.
    let conversation = read(&[lines[0], lines[3]].join("\n"));
    assert_eq!(ids(&conversation), ["u2"]);
}

#[test]
fn s6_a_line_that_comes_twice_is_taken_once() {
    let line = r#"{"type":"user","uuid":"u1","parentUuid":null,"message":{"content":"a"}}"#;
    let conversation = read(&format!("{line}\r\n\n{line}\n"));
    assert_eq!(ids(&conversation), ["u1"]);
    assert_eq!(conversation.skipped[0].line, 3);
    assert!(conversation.skipped[0].reason.to_string().contains("u1"));
    assert!(adds_up(&conversation));
}

#[test]
fn s6_parents_in_a_ring_end_the_walk() {
    let conversation = read(concat!(
        r#"{"type":"user","uuid":"a","parentUuid":"b","message":{"content":"a"}}"#,
        "\n",
        r#"{"type":"user","uuid":"b","parentUuid":"a","message":{"content":"b"}}"#,
    ));
    assert_eq!(conversation.records.len(), 2);
}

#[test]
fn s6_broken_text_is_repaired_and_kept() {
    let mut rebuild = Rebuild::new();
    rebuild.push(
        br#"{"type":"user","uuid":"a","parentUuid":null,"message":{"content":"cut \ud83d"}}"#,
    );
    rebuild.push(b"{\"type\":\"user\",\"uuid\":\"b\",\"parentUuid\":\"a\",\"message\":{\"content\":\"\xff\"}}");
    let conversation = rebuild.finish();
    assert_eq!(ids(&conversation), ["a", "b"]);
    assert!(conversation.skipped.is_empty());
}
