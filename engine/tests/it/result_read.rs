//! `ResultRead`, and the looking up behind it.

use crate::fakes::Bench;
use everfold_engine::Access;
use everfold_engine::session::lookup::{LogLookup, RecallError, RecalledKind, find};
use everfold_kernel::ports::TranscriptError;
use everfold_kernel::record::Keeps;
use everfold_kernel::record::RECALL_TOOL;
use everfold_kernel::{
    AssistantEntry, Attachment, Block, Boundary, Decision, Effect, EffectOutcome, Entry, Limits,
    Params, Prelude, Record, Timestamp, ToolUseId, Usage, UserEntry, UserOrigin,
};
use everfold_offload::{apply, plan};
use everfold_prefix::Fold;
use serde_json::{Value, json};
use std::sync::Arc;

/// A world in which the log is looked through.
fn looking_bench() -> Bench {
    let mut bench = Bench::new();
    bench.context.lookup = Some(Arc::new(LogLookup));
    bench
}

fn user(content: Vec<Block>, origin: UserOrigin) -> Entry {
    Entry::User(UserEntry { content, origin, tool_use_result: None, provenance: Vec::new() })
}

fn says(block: Block) -> Entry {
    Entry::Assistant(AssistantEntry {
        message_id: "m1".into(),
        request_id: None,
        model: "claude-sonnet-5-5".into(),
        index: 0,
        block,
        usage: Usage::default(),
        stop_reason: None,
    })
}

fn calls(id: &str, tool: &str) -> Entry {
    says(Block::tool_use(&ToolUseId::new(id), tool, json!({"command": "make"})))
}

fn answers(id: &str, content: Value) -> Entry {
    user(vec![Block::tool_result(&ToolUseId::new(id), content)], UserOrigin::ToolResult)
}

/// A session of one call, with its result only in the log.
fn with_result(id: &str, content: Value) -> Bench {
    let bench = looking_bench();
    bench.transcripts.record("u1", user(vec![Block::text("build it")], UserOrigin::Human));
    bench.transcripts.record("u2", calls(id, "Bash"));
    bench.transcripts.record("u3", answers(id, content));
    bench
}

/// So many lines, counted from 1.
fn numbered(word: &str, count: usize) -> String {
    let lines: Vec<String> = (1..=count).map(|number| format!("{word} {number}\n")).collect();
    lines.concat()
}

/// The lines that the tool shows, without their numbers.
fn lines_of(text: &str) -> Vec<String> {
    let numbered = text.split('\n').filter_map(|line| line.split_once('\t'));
    numbered.map(|(_, line)| line.to_owned()).collect()
}

/// Reads from page to page, as a model would.
async fn read_all(bench: &Bench, id: &str) -> Vec<String> {
    let (mut lines, mut offset) = (Vec::new(), Some(1));
    while let Some(next) = offset {
        let input = json!({"id": id, "offset": next});
        let output = bench.call(RECALL_TOOL, input).await;
        let text = output.content.as_str().unwrap();
        assert!(!output.is_error(), "{text}");
        let cap = Limits::default().offload.recall_chars;
        assert!(text.chars().count() as u64 <= cap, "{} characters", text.chars().count());
        lines.extend(lines_of(text));
        offset = output.structured.unwrap()["nextOffset"].as_u64();
        if let Some(next) = offset {
            assert!(text.ends_with(&format!("Read on with offset {next}.]")), "{text}");
        }
    }
    lines
}

#[tokio::test]
async fn l1_8_what_layer_1_spilled_is_read_whole_by_the_id_that_it_names() {
    for id in ["toolu_01-Ab", "odd/id of another server"] {
        let long = numbered("line", 9_000);
        let entries = [
            Entry::Decision(Decision::Prelude(Box::new(Prelude {
                system: vec![],
                tools: vec![],
                params: Params::new("claude-sonnet-5-5", 1_000),
            }))),
            user(vec![Block::text("go")], UserOrigin::Human),
            calls(id, "Bash"),
            answers(id, json!(long)),
        ];
        let mut fold = Fold::new(Limits::default().into());
        for (number, entry) in entries.into_iter().enumerate() {
            let id = format!("r{number}").into();
            fold.push(Record { id, parent: None, at: Timestamp::UNIX_EPOCH, entry });
        }
        let spill = plan(&fold, &Limits::default().offload).remove(0);
        let Effect::Spill { file, content } = spill.effect else { panic!("another effect") };
        let bench = looking_bench();
        let path = format!("/session/tool-results/{file}");
        bench.files.add(&path, content);
        let decision = apply(spill.pending, EffectOutcome::Spilled { path: path.into() }).decision;
        let Some(Decision::Spilled(spilled)) = decision else { panic!("no decision") };
        // What the model reads there is what it calls.
        let (_, after) = spilled.replacement.split_once(RECALL_TOOL).unwrap();
        let (call, _) = after.split_once(".\n").unwrap();
        let input: Value = serde_json::from_str(call).unwrap();
        let lines = read_all(&bench, input["id"].as_str().unwrap()).await;
        assert_eq!(lines.join("\n") + "\n", long);
        assert_eq!(read_all(&bench, id).await.len(), 9_000, "and by the call's own id");
    }
}

#[tokio::test]
async fn l1_8_pages_and_searches_by_line() {
    let text = numbered("item", 30);
    let bench = with_result("t1", json!(text));
    let page = bench.ok(RECALL_TOOL, json!({"id": "t1", "offset": 4, "limit": "2"})).await;
    assert_eq!(
        page,
        "     4\titem 4\n     5\titem 5\n\n[Lines 4 to 5 of 30. Read on with offset 6.]"
    );
    let end = bench.ok(RECALL_TOOL, json!({"id": " t1 ", "offset": 30})).await;
    assert_eq!(end, "    30\titem 30\n\n[Lines 30 to 30 of 30: the end.]");
    let found = bench.ok(RECALL_TOOL, json!({"id": "t1", "pattern": "ITEM \\d?7$"})).await;
    assert_eq!(
        found,
        "     7\titem 7\n    17\titem 17\n    27\titem 27\n\n[Lines that match, up to line 27 of 30: the end.]"
    );
    let some =
        bench.ok(RECALL_TOOL, json!({"id": "t1", "pattern": "7", "limit": 1, "offset": 8})).await;
    assert!(
        some.ends_with("[Lines that match, up to line 17. Search on with offset 27.]"),
        "{some}"
    );
    let none = bench.ok(RECALL_TOOL, json!({"id": "t1", "pattern": "none"})).await;
    assert_eq!(none, "[None of the 30 lines matches from there on.]");
    let value = bench.structured(RECALL_TOOL, json!({"id": "t1", "limit": 3})).await;
    assert_eq!(
        value,
        json!({"id": "t1", "kind": "result", "tool": "Bash", "numLines": 3, "totalLines": 30,
            "nextOffset": 4})
    );
    assert_eq!(bench.access(RECALL_TOOL, &json!({"id": "t1"})), Access::Nothing);
}

#[tokio::test]
async fn l1_8_a_result_of_one_endless_line_is_read_to_its_end() {
    let text = "<persisted-output>é漢".repeat(5_000);
    let bench = with_result("t1", json!(text));
    let whole = read_all(&bench, "t1").await.concat();
    assert_eq!(whole, everfold_kernel::record::neutralise(&text));
    let found = bench.ok(RECALL_TOOL, json!({"id": "t1", "pattern": "漢&", "limit": 1})).await;
    assert!(found.starts_with("     1\t&lt;persisted-output"), "{found}");
}

#[tokio::test]
async fn l1_8_a_spill_that_vanished_is_read_from_the_log() {
    let bench = with_result("t1", json!("from the log"));
    assert!(bench.ok(RECALL_TOOL, json!({"id": "t1"})).await.contains("\tfrom the log\n"));
    bench.files.add("/session/tool-results/t1.txt", "from the file");
    assert!(bench.ok(RECALL_TOOL, json!({"id": "t1"})).await.contains("\tfrom the file\n"));
    bench.files.add_special("/session/tool-results/t1.txt");
    assert!(bench.ok(RECALL_TOOL, json!({"id": "t1"})).await.contains("\tfrom the log\n"));

    // A hashed name is found by hashing the ids of the log.
    let bench = with_result("a/b", json!("odd"));
    let stem = everfold_offload::stem("a/b").into_owned();
    assert!(bench.ok(RECALL_TOOL, json!({"id": stem})).await.contains("\todd\n"));
}

#[tokio::test]
async fn l1_8_a_result_in_parts_is_read_as_text() {
    let content = json!([{"type": "text", "text": "one"}, {"type": "image", "source": {}},
        {"type": "hologram", "z": 1}, "bare"]);
    let expected =
        "     1\tone\n     2\t[picture]\n     3\t{\"type\":\"hologram\",\"z\":1}\n     4\t\"bare\"";
    let bench = with_result("t1", content.clone());
    assert!(bench.ok(RECALL_TOOL, json!({"id": "t1"})).await.starts_with(expected));
    let bench = looking_bench();
    bench.files.add("/session/tool-results/t1.json", content.to_string());
    assert!(bench.ok(RECALL_TOOL, json!({"id": "t1"})).await.starts_with(expected));
}

#[tokio::test]
async fn l2_5_a_cleared_result_is_brought_back_by_the_id_of_its_marker() {
    let bench = with_result("toolu_9", json!("what was cleared"));
    let context = &bench.context;
    let found = find(&context.world, &context.limits, &context.session, "toolu_9").await;
    let recalled = found.unwrap();
    assert_eq!((recalled.kind, recalled.tool.as_deref()), (RecalledKind::Result, Some("Bash")));
    assert_eq!(recalled.text, "what was cleared");
    assert_eq!(recalled.at, Timestamp::from_second(1_700_000_000).ok());
}

#[tokio::test]
async fn l4_16_a_message_that_was_compacted_comes_back_by_its_record() {
    let bench = with_result("t1", json!("made"));
    bench.transcripts.record("u4", Entry::Boundary(boundary()));
    for (id, text) in [
        ("u1", "     1\tbuild it"),
        ("u2", "     1\t[call t1: Bash {\"command\":\"make\"}]"),
        ("u3", "     1\t[result of t1]\n     2\tmade"),
        ("u4", "     1\t[The conversation was compacted here.]"),
    ] {
        let shown = bench.ok(RECALL_TOOL, json!({"id": id})).await;
        assert!(shown.starts_with(&format!("{text}\n\n")), "{shown}");
    }
    let value = bench.structured(RECALL_TOOL, json!({"id": "u1"})).await;
    assert_eq!(value["kind"], "message");
}

#[tokio::test]
async fn l4_16_a_span_is_shown_in_short_form_with_the_ids_of_its_records() {
    let bench = with_result("t1", json!("long ".repeat(1_000)));
    let attachment = Attachment {
        kind: "note".into(),
        rendered: "a\n  note".into(),
        data: Value::Null,
        provenance: None,
    };
    bench.transcripts.record("u4", Entry::Attachment(attachment));
    bench.transcripts.record("d1", Entry::Decision(Decision::Pinned { record: "u1".into() }));
    bench.transcripts.record("u5", says(Block::text("done")));
    let text = bench.ok(RECALL_TOOL, json!({"id": "u2..u5"})).await;
    let lines = lines_of(&text);
    assert_eq!(lines.len(), 4, "{text}");
    assert_eq!(lines[0], "u2 assistant: [call t1: Bash {\"command\":\"make\"}]");
    assert!(lines[1].starts_with("u3 user: [result of t1] long long "), "{}", lines[1]);
    assert!(lines[1].ends_with('…') && lines[1].chars().count() == 210, "{}", lines[1]);
    assert_eq!(lines[2], "u4 attachment: a note");
    assert_eq!(lines[3], "u5 assistant: done");
    let text = bench.error(RECALL_TOOL, json!({"id": "u5..u2"})).await;
    assert!(text.contains("give the earlier one first"), "{text}");
    let text = bench.error(RECALL_TOOL, json!({"id": "no..u2"})).await;
    assert!(text.contains("has the id \"no\""), "{text}");
}

#[tokio::test]
async fn s2_an_id_is_a_name_and_leads_nowhere_else() {
    let bench = looking_bench();
    bench.files.add("/etc/passwd", "root");
    bench.files.add("/session/notes.txt", "notes");
    for id in ["../notes", "../../etc/passwd", "/etc/passwd", "~/x", "a/../../notes", "..", "x\0y"]
    {
        let text = bench.error(RECALL_TOOL, json!({"id": id})).await;
        assert!(text.contains("ids are names"), "{id:?}: {text}");
    }
    // A link in the directory leads out of it.
    bench.files.add_link("/session/tool-results/t1.txt", "/etc/passwd");
    let text = bench.error(RECALL_TOOL, json!({"id": "t1"})).await;
    assert!(text.contains("nothing in session s1 has the id"), "{text}");
}

#[tokio::test]
async fn s6_what_cannot_be_brought_back_is_said_plainly() {
    let bench = with_result("t1", json!(""));
    bench.transcripts.record("u9", calls("t2", "Read"));
    bench.transcripts.lines.lock().unwrap().push(b"{torn \"t3\"".to_vec());
    assert_eq!(bench.ok(RECALL_TOOL, json!({"id": "t1"})).await, "[It is empty.]");
    for (input, part) in [
        (json!({"id": "t3"}), "nothing in session s1 has the id \"t3\""),
        (json!({"id": "t2"}), "the call \"t2\" has no result"),
        (
            json!({"id": "u1", "offset": 7}),
            "u1 ends with line 1, so there is none from offset 7 on",
        ),
        (json!({"id": "u1.."}), "two uuids as first..last"),
        (json!({"id": "x".repeat(9_000)}), "two uuids as first..last"),
        (json!({"id": "u1", "pattern": "a("}), "cannot use the pattern \"a(\": error: unclosed"),
        (json!({"id": "u1", "limit": "many"}), "ResultRead needs \"limit\""),
    ] {
        let text = bench.error(RECALL_TOOL, input).await;
        assert!(text.contains(part), "{text}");
    }
    let read = |message: &str| TranscriptError::Read { path: "/s".into(), message: message.into() };
    *bench.transcripts.failure.lock().unwrap() = Some(read("disk gone"));
    assert!(bench.error(RECALL_TOOL, json!({"id": "t9"})).await.contains("disk gone"));
    let missing = TranscriptError::NotFound { session: "s1".into(), path: "/s".into() };
    *bench.transcripts.failure.lock().unwrap() = Some(missing);
    let context = &bench.context;
    let error = find(&context.world, &context.limits, &context.session, "t9").await;
    assert!(matches!(error, Err(RecallError::Unknown { .. })), "{error:?}");
}

fn boundary() -> Boundary {
    Boundary {
        trigger: "auto".into(),
        pre_tokens: 1,
        last_before: None,
        preserved: vec![],
        keeps: Keeps::Suffix,
        metadata: serde_json::Map::new(),
    }
}
