//! Sessions of Gemini CLI, as version 0.61 writes them.

use crate::{lines, read, records};
use everfold_foreign::{Format, Reader, without_hooks};
use everfold_kernel::{BlockView, Entry};

const FILE: &[u8] = include_bytes!("../fixtures/gemini-0.61.jsonl");

#[test]
fn c3_x1_a_session_is_told_as_it_went() {
    let (told, about) = read(FILE);
    assert_eq!(about.format, Some(Format::Gemini));
    assert_eq!(about.session.unwrap().as_str(), "3488feed-f709-4cda-ad49-88ec498de4a9");
    assert_eq!(
        lines(&told),
        [
            "0 d049 meta <session_context>\nThis is the Gemini CLI.\n</session_context>",
            "0 6586 human When do deploys go out?",
            "0 f395 f395#0 tool_use out 12",
            "0 f395.1 result hello file\n",
            "0 4b07 4b07#0 text out 10",
            "0 4b07.1 4b07#1 tool_use out 10",
            "0 4b07.2 4b07#2 tool_use out 10",
            "0 4b07.3 result {}",
            "0 4b07.4 result Blocked",
            "0 d521 d521#0 text out 10",
            "0 bbbb human Not that.",
            "0 back bbbb",
            "0 cccc human Thank you.",
        ]
    );
    assert_eq!(about.tally.skips(), 0, "{:?}", about.tally);
    let names: Vec<String> = records(&told)
        .filter_map(|record| match &record.entry {
            Entry::Assistant(answer) => match answer.block.view() {
                BlockView::ToolUse { name, .. } => Some(name.to_owned()),
                _ => None,
            },
            _ => None,
        })
        .collect();
    assert_eq!(names, ["Read", "mcp__everfold_memory_search", "WebFetch"]);
    let Entry::Assistant(first) = &records(&told).nth(2).unwrap().entry else { panic!() };
    assert_eq!((first.usage.input, first.usage.cache_read), (60, 40));
}

#[test]
fn c3_x1_it_is_known_from_any_line_on() {
    let all: Vec<&[u8]> = FILE.split(|byte| *byte == b'\n').filter(|l| !l.is_empty()).collect();
    for from in 0..all.len() {
        let mut reader = Reader::new();
        for line in &all[from..] {
            reader.push(line, &mut |_| {});
        }
        let about = reader.finish(&mut |_| {});
        let is_aside = from == 9;
        assert!(is_aside || about.format == Some(Format::Gemini), "from line {from}");
    }
}

#[test]
fn x1_what_hooks_said_is_not_what_the_person_said() {
    assert_eq!(without_hooks("a<hook_context>b</hook_context>c"), "ac");
    assert_eq!(without_hooks("a <hook_context> b"), "a <hook_context> b");
    assert_eq!(without_hooks("plain"), "plain");
}
