//! Transcripts that another program wrote (C3).

use crate::{adds_up, ids, read};
use everfold_kernel::record::Keeps;
use everfold_kernel::{Entry, Record, ToolUseId, UserOrigin};
use everfold_transcript::{Decoded, LineError, decode};

fn entry<'a>(records: &'a [Record], id: &str) -> &'a Entry {
    &records.iter().find(|record| record.id.as_str() == id).unwrap().entry
}

#[test]
fn c3_an_old_file_is_read() {
    let conversation = read(include_str!("../fixtures/old.jsonl"));
    assert!(adds_up(&conversation));
    // From the boundary on; the sidechain inside the file is not a part of it.
    assert_eq!(ids(&conversation), ["b0", "s0", "u1", "u2", "a1", "a2", "r1", "a3", "a4"]);
    let Entry::Boundary(boundary) = entry(&conversation.records, "b0") else {
        panic!();
    };
    assert_eq!((boundary.trigger.as_str(), boundary.pre_tokens), ("manual", 1_200));
    assert_eq!(boundary.last_before, Some("a0".into()));
    assert!(boundary.preserved.is_empty() && boundary.keeps == Keeps::Suffix);
    // Old lines do not say the position of a block: file order tells it.
    let Entry::Assistant(call) = entry(&conversation.records, "a2") else {
        panic!();
    };
    assert_eq!(call.index, 1);
    // Old lines give the sum of cache writes only.
    assert_eq!((call.usage.cache_write_5m, call.usage.cache_write_1h), (10, 0));
    // No model wrote the error, so no model is sent it.
    assert!(matches!(entry(&conversation.records, "a4"), Entry::Opaque(_)));
    assert!(conversation.unanswered.is_empty());
    assert_eq!(conversation.title.as_deref(), Some("Earlier work on the parser"));
    assert_eq!(conversation.cwd.as_deref(), Some("/proj"));
    assert_eq!(conversation.version.as_deref(), Some("1.0.50"));
    assert_eq!(conversation.session, Some("s-old".into()));
}

#[test]
fn c3_a_new_file_is_read() {
    let conversation = read(include_str!("../fixtures/new.jsonl"));
    assert!(adds_up(&conversation));
    assert_eq!(conversation.missing, 0);
    // Preserved records follow the summary; progress is only walked through.
    assert_eq!(
        ids(&conversation),
        ["b1", "s1", "a0", "a1", "r0", "a2", "x1", "x2", "u1", "u2", "a3"]
    );
    let parents: Vec<_> = conversation.records[2..6]
        .iter()
        .map(|record| record.parent.as_ref().unwrap().as_str())
        .collect();
    assert_eq!(parents, ["s1", "a0", "a1", "r0"]);
    let Entry::Attachment(memories) = entry(&conversation.records, "x1") else {
        panic!();
    };
    assert_eq!(memories.kind, "relevant_memories");
    assert_eq!(memories.rendered, "<system-reminder>\nuse tabs\n</system-reminder>");
    // Without text that the model saw, an attachment says nothing to it.
    assert!(matches!(entry(&conversation.records, "x2"), Entry::Opaque(_)));
    let Entry::User(notice) = entry(&conversation.records, "u2") else {
        panic!();
    };
    assert_eq!(notice.origin, UserOrigin::Meta);
    let Entry::Assistant(last) = entry(&conversation.records, "a2") else {
        panic!();
    };
    assert_eq!((last.usage.cache_write_5m, last.usage.cache_write_1h), (2, 3));
    assert_eq!(
        conversation.replacements,
        [(ToolUseId::new("t0"), "<persisted-output>\nfew\n</persisted-output>".to_owned())]
    );
    assert_eq!(conversation.title.as_deref(), Some("Files galore"));
    assert_eq!(conversation.tally.links, 1);
    assert_eq!(conversation.tally.bookkeeping, 7);
}

#[test]
fn c3_results_of_parallel_tools_are_brought_back() {
    let conversation = read(include_str!("../fixtures/parallel.jsonl"));
    assert!(adds_up(&conversation));
    assert_eq!(
        ids(&conversation),
        ["u0", "a0", "a1", "a2", "a4", "r2", "x2", "r1", "r3", "a5", "a6"]
    );
    assert_eq!(conversation.unanswered, [ToolUseId::new("t4")]);
}

#[test]
fn c3_several_blocks_in_one_line_become_records_of_their_own() {
    let conversation = read(concat!(
        r#"{"type":"user","uuid":"u","parentUuid":null,"message":{"content":"x"}}"#,
        "\n",
        r#"{"type":"assistant","uuid":"a","parentUuid":"u","message":{"id":"m","model":"x","content":[{"type":"text","text":"t"},{"type":"tool_use","id":"t1","name":"n","input":{}}]}}"#,
        "\n",
        r#"{"type":"user","uuid":"r","parentUuid":"a","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}}"#,
    ));
    assert_eq!(ids(&conversation), ["u", "a", "a.1", "r"]);
    assert!(conversation.unanswered.is_empty());
    assert!(adds_up(&conversation));
}

#[test]
fn c3_a_message_without_an_id_is_an_error_and_an_unknown_line_is_not() {
    let no_id = br#"{"type":"user","message":{"content":"x"}}"#;
    assert!(matches!(decode(no_id), Err(LineError::NoUuid)));
    assert!(matches!(decode(b"[1]"), Err(LineError::NotAnObject)));
    assert!(matches!(decode(b"{\"type\":"), Err(LineError::Json(_))));
    let with_id = br#"{"type":"content-replacement","uuid":"x","replacements":[]}"#;
    assert!(matches!(decode(with_id), Ok(Decoded::Bookkeeping(_))));
    assert!(matches!(decode(b"{}"), Ok(Decoded::Bookkeeping(_))));
}

/// A real file, where one lies beside the repository. It is not ours to copy.
#[test]
fn c3_a_real_file_is_read() {
    let beside = ["../../../shared", "../../../../shared"].map(|up| {
        format!("{}/{up}/data/transcripts/claude-code-1.0.98.jsonl", env!("CARGO_MANIFEST_DIR"))
    });
    let Some(text) = beside.iter().find_map(|path| std::fs::read_to_string(path).ok()) else {
        return;
    };
    let conversation = read(&text);
    assert!(adds_up(&conversation));
    assert_eq!(conversation.tally.lines, 438);
    assert!(conversation.skipped.is_empty());
    assert_eq!((conversation.tally.shown, conversation.tally.aside), (32, 405));
    assert!(conversation.unanswered.is_empty(), "{:?}", conversation.unanswered);
    assert_eq!(conversation.missing, 0);
}
