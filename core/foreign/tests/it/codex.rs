//! Codex rollouts of three generations.

use crate::{lines, read, records};
use everfold_foreign::Format;
use everfold_kernel::provenance::Source;
use everfold_kernel::{BlockView, Entry, UserOrigin};

#[test]
fn c3_pc7_a_bare_rollout_of_the_first_generation() {
    let (told, about) = read(include_bytes!("../fixtures/codex-first.jsonl"));
    assert_eq!(about.format, Some(Format::Codex));
    assert_eq!(about.session, Some("c0".into()));
    assert_eq!(
        lines(&told),
        [
            "0 codex-1 human list",
            "0 codex-2 codex-response-1#0 thinking out 0",
            "0 codex-3 codex-response-1#1 tool_use out 0",
            "0 codex-4 result {\"output\":\"a\\nb\\n\"}",
            "0 codex-5 codex-response-2#0 text out 0",
        ]
    );
    let call = records(&told).find_map(|record| match &record.entry {
        Entry::Assistant(entry) => match entry.block.view() {
            BlockView::ToolUse { name, input, .. } => Some((name.to_owned(), input.clone())),
            _ => None,
        },
        _ => None,
    });
    let (name, input) = call.unwrap();
    assert_eq!((name.as_str(), input["command"].as_str()), ("Bash", Some("ls")));
}

#[test]
fn c3_pc7_usage_by_events_is_taken_once_for_each_response() {
    let (told, about) = read(include_bytes!("../fixtures/codex-events.jsonl"));
    assert_eq!(
        lines(&told),
        [
            "0 codex-1 meta <environment_context>\n</environment_context>",
            "0 codex-2 human go",
            "0 codex-3 codex-response-1#0 tool_use out 20",
            "0 codex-4 codex-response-1#1 tool_use out 20",
            "0 codex-5 result a",
            "0 codex-6 result done",
            "0 codex-7 codex-response-2#0 text out 7",
            "0 codex-8 boundary keeps ",
            "0 codex-9 summary What was done.",
            "0 codex-10 human more",
        ]
    );
    let Entry::Assistant(first) = &records(&told).nth(2).unwrap().entry else { panic!() };
    assert_eq!((first.usage.input, first.usage.cache_read), (1_000, 4_000));
    assert_eq!(first.model.as_str(), "gpt-5-codex");
    let skip = about.tally.skipped.get("a part of type input_hologram").unwrap();
    assert_eq!((skip.count, skip.first_line), (1, 15));
}

#[test]
fn l5_26_a_tool_of_a_server_is_known_by_its_server() {
    let line = br#"{"timestamp":"2026-11-15T14:43:13.008Z","ordinal":11,"type":"response_item","payload":{"type":"function_call","id":"fc_1","name":"memory_search","namespace":"mcp__everfold","arguments":"{}","call_id":"call_1"}}"#;
    let (told, _) = read(line);
    let Entry::Assistant(call) = &records(&told).next().unwrap().entry else { panic!() };
    let BlockView::ToolUse { name, .. } = call.block.view() else { panic!() };
    assert_eq!(name, "mcp__everfold__memory_search");
}

#[test]
fn l5_33_results_of_others_are_told_by_their_tools_and_prompts_are_left_unknown() {
    let (told, _) = read(include_bytes!("../fixtures/codex-first.jsonl"));
    let whose: Vec<_> = records(&told)
        .filter_map(|record| match &record.entry {
            Entry::User(user) => Some((user.origin, user.provenance_of(0).lowest())),
            _ => None,
        })
        .collect();
    let command = Some(Source::Command.into());
    assert_eq!(whose, [(UserOrigin::Human, None), (UserOrigin::ToolResult, command)]);
}
