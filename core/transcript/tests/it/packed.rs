//! Results that went to disk: short in their line, whole when read (L1, E11).

use everfold_kernel::record::Spilled;
use everfold_kernel::{
    Block, BlockProvenance, Decision, Entry, Record, Timestamp, ToolUseId, UserEntry, UserOrigin,
};
use everfold_transcript::find::{SearchTerms, said};
use everfold_transcript::line::Gap;
use everfold_transcript::{
    Decoded, Envelope, Line, Rebuild, decode, decode_said, decode_shown, encode, fork,
};
use proptest::prelude::*;
use serde_json::{Value, json};

const PREVIEW: &str = "<persisted-output>the start</persisted-output>";

fn id() -> ToolUseId {
    ToolUseId::new("t1")
}

fn record(id: &str, entry: Entry) -> Record {
    Record { id: id.into(), parent: None, at: Timestamp::UNIX_EPOCH, entry }
}

fn result(content: Value, structured: Option<Value>) -> Record {
    record(
        "r1",
        Entry::User(UserEntry {
            content: vec![Block::tool_result(&id(), content)],
            origin: UserOrigin::ToolResult,
            tool_use_result: structured,
            provenance: vec![BlockProvenance::whole(everfold_kernel::provenance::Source::Command)],
        }),
    )
}

fn envelope() -> Envelope {
    Envelope::new("s".into(), "/proj", "0")
}

fn short_line(record: &Record) -> String {
    encode(record, &envelope().showing(id(), PREVIEW.into()))
}

fn line(decoded: Decoded) -> Line {
    match decoded {
        Decoded::Record(line) => *line,
        other => panic!("{other:?}"),
    }
}

/// As a tool prints it: 529 KB of the files of this kind in a folder of the
/// repository.
fn ordinary_text(folder: &str, kind: &str) -> String {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let mut text = String::new();
    let mut folders = vec![root.join(folder)];
    while let Some(folder) = folders.pop() {
        let mut paths: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() && !path.ends_with("target") && !path.ends_with(".git") {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == kind) {
                text += &std::fs::read_to_string(path).unwrap();
            }
        }
    }
    text.truncate(text.floor_char_boundary(529_000));
    text
}

#[test]
fn l1_a_result_on_disk_is_there_at_most_one_and_three_tenths_times() {
    for (folder, kind, form) in [("core", "rs", "bzip2.91"), ("", "md", "ppmd.91")] {
        let text = ordinary_text(folder, kind);
        let structured = json!({"stdout": text, "stderr": "", "interrupted": false});
        let whole = result(text.clone().into(), Some(structured));
        let line = short_line(&whole);
        let on_disk = text.len() + line.len();
        eprintln!("{on_disk} bytes on disk for {} of .{kind}", text.len());
        assert!(on_disk * 10 <= text.len() * 13, "{on_disk} for {}", text.len());
        let told: Value = serde_json::from_str(&line).unwrap();
        assert!(told["everfold"]["packed"][form].is_string());
        assert_eq!(told["message"]["content"][0]["content"], PREVIEW, "for other programs");
        assert!(told["toolUseResult"]["stdout"].as_str().unwrap().len() < 300);
        assert_eq!(told["toolUseResult"]["interrupted"], false);
        let read = decode(line.as_bytes()).unwrap();
        assert_eq!(self::line(read).record, whole);
    }
}

/// What the program wrote while it packed by base64.
const OLD: &str = include_str!("../../../../testkit/corpus/packed-bzip2/line.jsonl");

#[test]
fn a4_a_copy_as_it_was_made_before_is_read() {
    let read = line(decode(OLD.as_bytes()).unwrap());
    assert!(read.facts.gaps.is_empty());
    let Entry::User(user) = &read.record.entry else { panic!() };
    let text = user.content[0].plain_text();
    assert!(text.contains("\n4567\n") && text.contains("\n8999\n9000"), "{} bytes", text.len());
}

#[test]
fn l1_a_damaged_copy_leaves_what_the_model_saw() {
    let whole = result("line of output\n".repeat(5_000).into(), Some(json!({"a": 1})));
    let text = short_line(&whole);
    let mut told: Value = serde_json::from_str(&text).unwrap();
    for broken in [json!("!!!!"), json!("no form"), json!(3), Value::Null] {
        told["everfold"]["packed"]["bzip2.91"] = broken;
        let read = line(decode(told.to_string().as_bytes()).unwrap());
        assert!(read.facts.gaps.contains(&Gap::Packed));
        let Entry::User(user) = &read.record.entry else { panic!() };
        assert_eq!(user.content[0].plain_text(), PREVIEW);
        assert_eq!(user.tool_use_result, Some(json!({"a": 1})));
        assert_eq!(user.provenance.len(), 1);
    }
}

#[test]
fn l1_what_would_not_be_shorter_is_written_whole() {
    let whole = result("short".into(), None);
    assert_eq!(short_line(&whole), encode(&whole, &envelope()));
    let other = envelope().showing("another".into(), PREVIEW.into());
    let long = result("x".repeat(90_000).into(), None);
    assert_eq!(encode(&long, &other), encode(&long, &envelope()));
}

#[test]
fn r10_words_of_a_compressed_result_are_found() {
    let text = "nothing to see\n".repeat(3_000) + "the quokka sleeps\n";
    let whole = result(text.into(), None);
    let text = short_line(&whole);
    assert!(!text.contains("quokka"));
    let terms = SearchTerms::parse("quokka sleeps").unwrap();
    assert!(terms.maybe(text.as_bytes()) && terms.next_place(text.as_bytes()).is_some());
    assert!(!terms.maybe_in_bytes(text.as_bytes()));
    for read in [decode(text.as_bytes()), decode_said(text.as_bytes())] {
        let (_, words) = said(&line(read.unwrap()).record).unwrap();
        assert!(terms.all_in(&words));
    }
}

fn spilled() -> Record {
    let spilled = Spilled {
        tool_use_id: id(),
        replacement: PREVIEW.into(),
        file: Some("t1.txt".into()),
        chars: 1,
    };
    let mut record = record("d1", Entry::Decision(Decision::Spilled(spilled)));
    record.parent = Some("r1".into());
    record
}

/// The content of the result in the conversation of these lines.
fn shown(lines: &[String]) -> String {
    let mut rebuild = Rebuild::new().with_only_result_field("seen");
    for line in lines {
        rebuild.push(line.as_bytes());
    }
    let conversation = rebuild.finish();
    let Entry::User(user) = &conversation.records[0].entry else { panic!() };
    assert_eq!(user.tool_use_result, Some(json!({"seen": ["a"]})));
    user.content[0].plain_text()
}

#[test]
fn e11_a_resumed_session_unpacks_only_what_is_shown_whole() {
    let text = "line of output\n".repeat(5_000);
    let whole = result(text.clone().into(), Some(json!({"seen": ["a"], "stdout": text})));
    let mut lines = vec![short_line(&whole), encode(&spilled(), &envelope())];
    assert_eq!(shown(&lines), PREVIEW);
    assert_eq!(shown(&lines[..1]), text, "nothing was decided yet");
    let mut voided = record("v1", Entry::Decision(Decision::Voided { decision: "d1".into() }));
    voided.parent = Some("d1".into());
    lines.push(encode(&voided, &envelope()));
    assert_eq!(shown(&lines), text, "it is shown again");
}

#[test]
fn l1_a_fork_has_it_in_short_too() {
    let text = "line of output\n".repeat(5_000);
    let records = [result(text.into(), None), spilled()];
    let mut count = 0;
    let mut fresh = || {
        count += 1;
        format!("f{count}")
    };
    let forked = fork(&records, &"s".into(), &envelope(), &mut fresh);
    assert!(forked.lines[0].len() < 3_000);
    let copy = line(decode(forked.lines[0].as_bytes()).unwrap()).record;
    assert_eq!(copy.entry, records[0].entry);
}

proptest! {
    // Compressing takes its time without optimisation.
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn l1_short_lines_come_back_whole(
        parts in prop::collection::vec("[a-z\n\"\\\\é🦀]{0,40}", 1..4),
        times in 1..400_usize,
        kind in 0..4_u8,
    ) {
        let text = parts.concat().repeat(times);
        let middle: String = text.chars().skip(3).collect();
        let structured = match kind {
            0 => None,
            1 => Some(json!({"stdout": text, "list": [middle, 1, null]})),
            2 => Some(json!({"everfoldIn": [0, 0, 1], "stdout": text})),
            _ => Some(Value::from(middle)),
        };
        let content = if kind == 3 { json!([{"type": "text", "text": text}]) } else { text.into() };
        let whole = result(content, structured);
        let text = short_line(&whole);
        prop_assert!(text.len() <= encode(&whole, &envelope()).len() + 400);
        prop_assert_eq!(line(decode(text.as_bytes()).unwrap()).record, whole);
        let shown = line(decode_shown(text.as_bytes()).unwrap());
        prop_assert!(shown.facts.gaps.is_empty());
    }
}
