//! Instruction files (I).

use super::{Stage, put, text, worker};
use serde_json::json;

/// What heads the first message.
fn head(stage: &Stage) -> String {
    let content = stage.last().messages()[0]["content"].clone();
    content[0]["text"].as_str().unwrap_or_default().to_owned()
}

fn in_order(text: &str, parts: &[&str]) {
    let places: Vec<Option<usize>> = parts.iter().map(|part| text.find(part)).collect();
    assert!(
        places.iter().all(Option::is_some) && places.is_sorted(),
        "{places:?} {parts:?}: {text}"
    );
}

#[test]
fn i1_later_ones_stand_after_earlier_ones_and_the_index_last() {
    let stage = Stage::new(worker);
    stage.put("CLAUDE.md", "of the person");
    stage.put("rules/own.md", "rule of the person");
    put(stage.desk.files.root(), "CLAUDE.md", "of the folder above");
    stage.write("CLAUDE.md", "of the project");
    stage.write(".claude/CLAUDE.md", "of its hidden folder");
    stage.write(".claude/rules/r.md", "rule of the project");
    stage.write("CLAUDE.local.md", "for me alone");
    put(&stage.memories(), "MEMORY.md", "- [A](a.md) — of the index\n");
    stage.ask("hello");
    let order = [
        "of the person",
        "rule of the person",
        "of the folder above",
        "of the project",
        "of its hidden folder",
        "rule of the project",
        "for me alone",
        "of the index",
    ];
    in_order(&text(&stage.last()), &order);
    assert!(head(&stage).starts_with("<system-reminder>"));
}

#[test]
fn i2_rules_by_path_and_files_of_a_subdirectory_join_at_the_tool_boundary_once() {
    let stage = Stage::new(worker).set(&json!({"claudeMdExcludes": ["**/skip/**"]}));
    stage.write("sub/CLAUDE.md", "Rules of the subdirectory.");
    stage.write(".claude/rules/rust.md", "---\npaths: **/*.rs\n---\nRules for Rust.");
    stage.write("skip/CLAUDE.md", "Never to be seen.");
    for file in ["sub/a.rs", "sub/b.rs", "skip/c.txt"] {
        stage.write(file, "x");
    }
    stage.talk(&["read sub/a.rs", "read sub/b.rs", "read skip/c.txt"]);
    let main = stage.of("main");
    assert!(
        !text(&main[0]).contains("Rules for Rust") && !text(&main[0]).contains("Rules of the sub")
    );
    let boundary = main[1].messages().last().unwrap()["content"].as_array().unwrap().clone();
    assert_eq!(boundary[0]["type"], "tool_result");
    let said = boundary[1]["text"].as_str().unwrap();
    assert!(
        said.contains("Rules for Rust.") && said.contains("Rules of the subdirectory."),
        "{said}"
    );
    let last = text(&stage.last());
    assert_eq!(last.matches("Rules for Rust.").count(), 1, "once");
    assert!(!last.contains("Never to be seen."), "excluded");
}

#[test]
fn i3_imports_are_followed_five_deep_and_not_in_code_and_circles_end() {
    let stage = Stage::new(worker);
    stage.write("CLAUDE.md", "Main. @one.md and `@code.md` and @missing.md\n<!-- a comment -->\n");
    for (from, to) in [
        ("one", "two"),
        ("two", "three"),
        ("three", "four"),
        ("four", "five"),
        ("five", "six"),
        ("six", "one"),
    ] {
        stage.write(&format!("{from}.md"), &format!("Text of {from}. @{to}.md\n"));
    }
    stage.write("code.md", "Text of code.");
    stage.ask("hello");
    let head = head(&stage);
    for name in ["one", "two", "three", "four", "five"] {
        assert_eq!(head.matches(&format!("Text of {name}.")).count(), 1, "{name}: {head}");
    }
    assert!(!head.contains("Text of six."), "at most five deep: {head}");
    assert!(!head.contains("Text of code.") && head.contains("@missing.md"), "{head}");
    assert!(!head.contains("a comment"), "{head}");
}

#[test]
fn i4_they_are_loaded_whole_and_too_large_ones_are_left_out_with_a_message() {
    let stage = Stage::new(worker);
    stage.write("CLAUDE.md", &format!("{}the very end", "long words ".repeat(6_000)));
    stage.write("CLAUDE.local.md", &"x".repeat(5 << 20));
    let ran = stage.ask("hello");
    assert!(head(&stage).contains("the very end"), "in full");
    assert!(!head(&stage).contains("xxxxxxxx"));
    assert!(ran.err.contains("CLAUDE.local.md"), "{}", ran.err);
    let found = stage.desk.run(&["doctor"]).out;
    assert!(found.contains("CLAUDE.md"), "{found}");
}
