//! Claude Code's files and ours (CONTRACTS 3).

use crate::{lines, read, records};
use everfold_foreign::{Format, Reader};
use everfold_kernel::Entry;
use serde_json::{Value, json};

#[test]
fn c3_pc7_sidechains_of_an_old_file_are_threads_of_their_own() {
    let (told, about) = read(include_bytes!("../fixtures/claude-1.0.jsonl"));
    assert_eq!(about.format, Some(Format::ClaudeCode));
    assert_eq!(about.version.as_deref(), Some("1.0.98"));
    assert_eq!(
        lines(&told),
        [
            "0 u1 human Do two things",
            "1 x1 human one",
            "2 y1 human two",
            // Blocks together, and the last usage on all of them.
            "0 a1 m1#0 text out 90",
            "0 a2 m1#1 tool_use out 90",
            "0 a3 m1#2 tool_use out 90",
            "0 r1 result one is done",
            "0 r2 result two is done",
            "0 a9 m2#0 text out 5",
            "1 x2 mx#0 text out 4",
            "2 y2 my#0 text out 4",
        ]
    );
    assert_eq!(about.tally.skips(), 0);
}

#[test]
fn c3_pc7_a_new_file_is_told_as_it_went() {
    let (told, about) = read(include_bytes!("../fixtures/claude-2.1.jsonl"));
    assert_eq!(
        lines(&told),
        [
            "0 u1 human List and read",
            "0 x1 attached relevant_memories",
            // The first result came while the model still wrote.
            "0 a1 m1#0 thinking out 70",
            "0 a2 m1#1 tool_use out 70",
            "0 a3 m1#2 tool_use out 70",
            "0 r1 result a b c",
            "0 r2 result long text",
            "0 replacement-1 spilled",
            "0 a4 m2#0 text out 2",
            "0 mc cleared",
            "0 u2 human A wrong turn",
            "0 a5 m3#0 text out 2",
            "0 back u2,a5",
            "0 u3 human The right turn",
            "0 b boundary keeps u3,a6",
            "0 s summary Summary.",
            "1 g1 human agent work",
        ]
    );
    let usage = records(&told).find_map(|record| match &record.entry {
        Entry::Assistant(entry) => Some(entry.usage),
        _ => None,
    });
    assert_eq!(usage.unwrap().cache_write_1h, 10);
    // What is no part of the conversation is counted by its name.
    for name in ["mode", "hook_success", "progress", "content-replacement", "hologram"] {
        assert_eq!(about.tally.aside.get(name), Some(&1), "{name}");
    }
}

#[test]
fn c3_our_own_file_is_known_by_its_decisions() {
    let ours = include_bytes!("../../../transcript/tests/fixtures/ours.jsonl");
    let (told, about) = read(ours);
    assert_eq!(about.format, Some(Format::Everfold));
    assert!(records(&told).any(|record| matches!(&record.entry, Entry::Decision(_))));
    for old in [
        &include_bytes!("../../../transcript/tests/fixtures/old.jsonl")[..],
        include_bytes!("../../../transcript/tests/fixtures/new.jsonl"),
        include_bytes!("../../../transcript/tests/fixtures/parallel.jsonl"),
    ] {
        let (told, about) = read(old);
        assert_eq!(about.format, Some(Format::ClaudeCode));
        assert!(told.len() > 5 && about.tally.skips() == 0, "{:?}", about.tally);
    }
}

#[test]
fn pc9_what_sub_agents_said_in_the_progress_of_their_calls_is_a_thread() {
    let user = |id: &str, text: &str| {
        json!({"type": "user", "uuid": id, "timestamp": "2026-02-09T11:06:16.492Z",
            "message": {"role": "user", "content": text}})
    };
    let answer = |id: &str, message: &str| {
        json!({"type": "assistant", "uuid": id, "requestId": format!("req_{message}"),
            "timestamp": "2026-02-09T11:06:18.492Z",
            "message": {"role": "assistant", "id": message, "model": "claude-haiku-4-5",
                "content": [{"type": "text", "text": "x"}],
                "usage": {"input_tokens": 3, "output_tokens": 4}}})
    };
    let own = |mut line: Value| {
        line["sessionId"] = json!("s");
        line.to_string()
    };
    let progress = |id: &str, said: Value| {
        own(json!({"type": "progress", "uuid": id, "timestamp": "2026-02-09T11:06:19.492Z",
            "data": {"type": "agent_progress", "agentId": "a1", "message": said}}))
    };
    let all = [
        own(user("u1", "go")),
        progress("p1", user("x1", "look around")),
        progress("p2", answer("x2", "mx")),
        // The same line again, as the call goes on.
        progress("p3", answer("x2", "mx")),
        own(answer("a1", "m1")),
    ];
    let (told, about) = read(all.join("\n").as_bytes());
    let mut seen = lines(&told);
    seen.sort();
    assert_eq!(
        seen,
        ["0 a1 m1#0 text out 4", "0 u1 human go", "1 x1 human look around", "1 x2 mx#0 text out 4"]
    );
    assert_eq!(about.format, Some(Format::ClaudeCode));
    let mut reader = Reader::beside_agents();
    let mut count = 0;
    for line in &all {
        reader.push(line.as_bytes(), &mut |_| count += 1);
    }
    reader.finish(&mut |_| count += 1);
    assert_eq!(count, 2, "they have files of their own");
}
