//! A long day of work, compacted without a model: what is left has to be
//! enough to go on from. Read the snapshot as the next reader would.

use crate::logs::{Log, body, texts, window};
use crate::validity::is_valid;
use everfold_compact::apply::{CompactionContext, Extras, settle_local};
use everfold_compact::files;
use everfold_kernel::{Block, Decision, Usage, UserOrigin};
use serde_json::json;

fn first_half(log: &mut Log) {
    log.user("The nightly import drops rows when a CSV has quoted newlines. Find out why and fix it. Keep the public API of importer.rs as it is, and do not add dependencies.");
    log.answer(
        vec![crate::logs::thinking(), Block::text("I'll look at how rows are split.")],
        Usage::default(),
    );
    log.tool(
        "Grep",
        json!({"pattern": "split('\\n')"}),
        "src/importer.rs:88: for line in text.split('\\n') {",
    );
    log.tool(
        "Read",
        json!({"file_path": "/repo/src/importer.rs"}),
        &"     1\tuse std::io;\n".repeat(400),
    );
    log.tool(
        "Read",
        json!({"file_path": "/repo/tests/import.rs"}),
        &"     1\t#[test]\n".repeat(300),
    );
    log.says("Rows are split on every newline before quotes are looked at (importer.rs:88). I'll write a small state machine instead.");
    log.user("Good. Write a failing test first, please.");
    log.tool(
        "TodoWrite",
        json!({"todos": [
        {"content": "Write a failing test for quoted newlines", "status": "in_progress"},
        {"content": "Replace the line split by a record reader", "status": "pending"},
        {"content": "Handle \\r\\n inside quotes", "status": "pending"}]}),
        "ok",
    );
    let pinned = log.user("Sample row that must survive:\n7,\"two\nlines\",ok");
    log.decide(Decision::Pinned { record: pinned });
    log.tool(
        "Edit",
        json!({"file_path": "/repo/tests/import.rs", "old_string": "", "new_string": "t"}),
        "The file was changed.",
    );
    log.fails(
        "Bash",
        json!({"command": "cargo test quoted"}),
        "Exit code 101\nassertion `left == right` failed: left: 2, right: 1",
    );
}

fn second_half(log: &mut Log) {
    log.tool(
        "Edit",
        json!({"file_path": "/repo/src/importer.rs", "old_string": "a", "new_string": "b"}),
        "The file was changed.",
    );
    log.fails(
        "Bash",
        json!({"command": "cargo test"}),
        &format!(
            "Exit code 101\nerror[E0502]: cannot borrow `self.buf` as mutable\n{}",
            "  note\n".repeat(3_000)
        ),
    );
    log.fails(
        "Edit",
        json!({"file_path": "/repo/src/importer.rs", "old_string": "zz", "new_string": "b"}),
        "old_string was not found in the file",
    );
    log.tool(
        "Edit",
        json!({"file_path": "/repo/src/importer.rs", "old_string": "c", "new_string": "d"}),
        "The file was changed.",
    );
    log.tool(
        "Bash",
        json!({"command": "cargo test quoted"}),
        "test quoted_newlines ... ok\n1 passed",
    );
    log.tool("Bash", json!({"command": "cargo test"}), "41 passed; 0 failed");
    log.tool(
        "TodoWrite",
        json!({"todos": [
        {"content": "Write a failing test for quoted newlines", "status": "completed"},
        {"content": "Replace the line split by a record reader", "status": "completed"},
        {"content": "Handle \\r\\n inside quotes", "status": "in_progress"}]}),
        "ok",
    );
    log.tool(
        "Write",
        json!({"file_path": "/repo/tests/data/crlf.csv", "content": "1,\"a\r\nb\"\r\n"}),
        "Written.",
    );
    log.fails(
        "Bash",
        json!({"command": "cargo test crlf"}),
        "Exit code 101\nassertion failed: expected \"a\\r\\nb\", got \"a\\nb\"",
    );
    log.says("The record reader works for plain newlines. With \\r\\n inside quotes the carriage return is lost: `RecordReader::next` strips it in `trim_end` before it knows whether a quote is open. Next I'll move the strip behind the quote check.");
    log.user_blocks(
        vec![
            Block::text("Yes, do that. Here is what the client sees:"),
            Block::image("image/png", "AAAA"),
        ],
        UserOrigin::Human,
    );
    log.tool(
        "Read",
        json!({"file_path": "/repo/src/importer.rs"}),
        &"     1\tuse std::io;\n".repeat(400),
    );
}

#[test]
fn l4_11_a_days_work_is_compacted_so_that_one_can_go_on() {
    let mut log = Log::started();
    first_half(&mut log);
    second_half(&mut log);
    let (fold, plan) = (log.fold(), log.plan());
    let window = window(167_000);
    let setting = CompactionContext { fold: &fold, window: &window, limits: &log.limits };
    let read =
        [("/repo/src/importer.rs".into(), "use std::io;\n\npub struct RecordReader;\n".into())];
    let extras = Extras { restored: files::attach(&read, &log.limits), ..Extras::default() };
    let applied = settle_local(setting, &plan, &extras).unwrap();
    log.append(&applied);
    assert_eq!(is_valid(&body(&mut log.fold())["messages"]), Ok(()));
    assert!(applied.report.retention > 0.99, "{}", applied.report.retention);
    insta::assert_snapshot!("one_day", texts(&log.fold()).join("\n=====\n"));

    log.tool(
        "Edit",
        json!({"file_path": "/repo/src/importer.rs", "old_string": "e", "new_string": "f"}),
        "The file was changed.",
    );
    log.tool(
        "Bash",
        json!({"command": "cargo test"}),
        &format!("42 passed; 0 failed\n{}", "ok\n".repeat(9_000)),
    );
    log.says("Both kinds of newline survive now; all 42 tests pass.");
    log.user("Great, now write the changelog entry.");
    log.compact(&window).unwrap();
    assert_eq!(is_valid(&body(&mut log.fold())["messages"]), Ok(()));
    insta::assert_snapshot!("next_day", texts(&log.fold()).join("\n=====\n"));
}
