//! pi sessions of the first and the third generation.

use crate::{lines, read, records};
use everfold_foreign::Format;
use everfold_kernel::{BlockView, Decision, Entry};

#[test]
fn c3_pc7_a_session_of_the_first_generation() {
    let (told, about) = read(include_bytes!("../fixtures/pi-v1.jsonl"));
    assert_eq!(about.format, Some(Format::Pi));
    assert_eq!(
        lines(&told),
        [
            "0 pi-1 human read it",
            "0 pi-2 pi-2#0 tool_use out 5",
            "0 pi-3 result let a",
            "0 pi-6.thinking prelude",
            "0 pi-6 pi-6#0 thinking out 50",
            "0 pi-6.1 pi-6#1 text out 50",
            "0 pi-7 meta Ran `ls`\n```\na.ts\n```",
            "0 pi-9 boundary keeps pi-6,pi-7,pi-8",
            "0 pi-9.summary summary Read a.ts.",
            "0 pi-10 human on",
        ]
    );
    let Entry::Assistant(call) = &records(&told).nth(1).unwrap().entry else { panic!() };
    let BlockView::ToolUse { name, input, .. } = call.block.view() else { panic!() };
    assert_eq!((name, input["file_path"].as_str()), ("Read", Some("/proj/a.ts")));
    let Entry::Decision(Decision::Prelude(prelude)) = &records(&told).nth(3).unwrap().entry else {
        panic!()
    };
    assert_eq!(prelude.params.thinking.as_ref().unwrap()["type"], "high");
    let name = "a response without content (aborted)";
    assert_eq!(about.tally.skipped.get(name).unwrap().count, 1);
}

#[test]
fn c3_pc7_a_tree_is_told_as_it_was_walked() {
    let (told, about) = read(include_bytes!("../fixtures/pi-v3.jsonl"));
    assert_eq!(
        lines(&told),
        [
            "0 e1 human first",
            "0 e2 e2#0 text out 5",
            "0 e3 human second",
            "0 e4 e4#0 text out 5",
            "0 back e3,e4",
            "0 e5 meta Two was tried.",
            "0 e6 human third",
            "0 e8 boundary keeps e6,e7",
            "0 e8.summary summary Sum.",
        ]
    );
    let Entry::Assistant(second) = &records(&told).nth(3).unwrap().entry else { panic!() };
    assert_eq!(second.model.as_str(), "claude-opus-5");
    assert_eq!(about.version.as_deref(), Some("3"));
    assert_eq!(about.tally.skipped.get("a line that is there twice").unwrap().first_line, 11);
}
