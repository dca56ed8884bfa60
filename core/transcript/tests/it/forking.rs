//! Forks (Q4, 2.11 of the contracts: `--fork-session`).

use crate::{ids, read};
use everfold_kernel::{Block, Entry, Record, SessionId};
use everfold_transcript::{Decoded, Envelope, ForkedFrom, ForkedTranscript, decode, fork};

fn forked(text: &str) -> (Vec<Record>, ForkedTranscript) {
    let records = read(text).records;
    let envelope = Envelope::new("s-fork".into(), "/proj", "0.1.0");
    let mut count = 0;
    let fork = fork(&records, &SessionId::new("s-1"), &envelope, &mut || {
        count += 1;
        format!("new-{count}")
    });
    (records, fork)
}

fn sent(records: &[Record]) -> Vec<&Block> {
    let blocks = records.iter().flat_map(|record| match &record.entry {
        Entry::User(user) => user.content.iter().collect(),
        Entry::Assistant(entry) => vec![&entry.block],
        _ => Vec::new(),
    });
    blocks.collect()
}

#[test]
fn q4_a_fork_is_the_same_conversation_with_ids_of_its_own() {
    for text in [
        include_str!("../fixtures/ours.jsonl"),
        include_str!("../fixtures/old.jsonl"),
        include_str!("../fixtures/new.jsonl"),
        include_str!("../fixtures/parallel.jsonl"),
    ] {
        let (records, fork) = forked(text);
        assert_eq!(fork.lines.len(), records.len());
        assert_eq!(sent(&fork.records), sent(&records));
        let again = read(&fork.lines.join("\n"));
        assert_eq!(again.records, fork.records);
        assert_eq!(again.missing, 0);
        assert_eq!(again.session, Some("s-fork".into()));
        assert!(ids(&again).iter().all(|id| id.starts_with("new-")));
    }
}

#[test]
fn q4_a_copied_line_says_where_it_came_from() {
    let (records, fork) = forked(include_str!("../fixtures/ours.jsonl"));
    for (line, original) in fork.lines.iter().zip(&records) {
        let Decoded::Record(line) = decode(line.as_bytes()).unwrap() else {
            panic!();
        };
        let from = ForkedFrom { session: "s-1".into(), record: original.id.clone() };
        assert_eq!(line.facts.forked_from, Some(from));
    }
}

#[test]
fn q4_a_fork_keeps_no_id_of_the_old_file() {
    let (records, fork) = forked(include_str!("../fixtures/new.jsonl"));
    for line in &fork.lines {
        let mut value: serde_json::Value = serde_json::from_str(line).unwrap();
        value.as_object_mut().unwrap().remove("forkedFrom");
        let text = value.to_string();
        for record in &records {
            assert!(!text.contains(&format!("\"{}\"", record.id)), "{text}");
        }
    }
}

#[test]
fn q4_a_fork_does_not_pay_twice() {
    let (_, fork) = forked(include_str!("../fixtures/ours.jsonl"));
    assert_eq!(read(&fork.lines.join("\n")).ledger.total().requests, 0);
}
