//! `everfold instructions`: the chain, with reasons and costs.

use crate::desk::Desk;
use serde_json::Value;

fn paths(rows: &Value) -> Vec<String> {
    let name = |row: &Value| {
        let path = row["path"].as_str().unwrap();
        path.rsplit('/').next().unwrap().to_owned()
    };
    rows.as_array().unwrap().iter().map(name).collect()
}

fn desk() -> Desk {
    let desk = Desk::offline();
    let home = desk.files.home().join(".everfold");
    std::fs::create_dir_all(home.join("rules")).unwrap();
    std::fs::write(home.join("CLAUDE.md"), "Be brief.").unwrap();
    std::fs::write(home.join("rules/own.md"), "Own rule.").unwrap();
    let files = [
        ("CLAUDE.md", "Project. @style.md @missing.md\n"),
        ("style.md", "Style."),
        ("CLAUDE.local.md", "Mine."),
        (".claude/rules/rust.md", "---\npaths:\n  - \"**/*.rs\"\n  - \"[\"\n---\nRust.\n"),
        ("sub/AGENTS.md", "Sub."),
        ("skip/CLAUDE.md", "Skipped."),
    ];
    for (name, text) in files {
        desk.files.write(name, text).unwrap();
    }
    let settings = r#"{"claudeMdExcludes": ["**/skip/**"]}"#;
    std::fs::write(home.join("settings.json"), settings).unwrap();
    desk
}

#[test]
fn i5_i1_the_chain_is_shown_in_order_with_reasons_and_tokens() {
    let desk = desk();
    let json = desk.run(&["instructions", "--json"]).ok().json();
    assert_eq!(
        paths(&json["loaded"]),
        ["CLAUDE.md", "own.md", "style.md", "CLAUDE.md", "CLAUDE.local.md"]
    );
    assert_eq!(json["loaded"][0]["scope"], "user");
    let style = &json["loaded"][2];
    assert_eq!(style["reason"], "import");
    assert!(style["imported_by"].as_str().unwrap().ends_with("project/CLAUDE.md"), "{style}");
    assert_eq!(json["loaded"][4]["scope"], "local");
    assert!(json["tokens"].as_u64().unwrap() > 0);
    assert_eq!(paths(&json["waiting"]), ["rust.md"]);
    assert_eq!(json["waiting"][0]["refused_globs"], serde_json::json!(["["]));
    assert_eq!(paths(&json["left_out"]), ["missing.md"]);
    assert_eq!(json["left_out"][0]["fate"], "missing");

    let text = desk.run(&["instructions"]).ok().out;
    for part in ["imported by", "tokens", "loaded when a matching file", "**/*.rs", "1 never match"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let found = desk.run(&["doctor", "--json"]).ok().out;
    assert!(found.contains("patterns that never match"), "{found}");
    assert!(!desk.files.home().join(".everfold/projects").exists(), "looking makes nothing");
}

#[test]
fn i5_i2_what_a_file_brings_in_is_shown_with_the_glob_that_matched() {
    let desk = desk();
    let args = ["instructions", "sub/a.rs", "skip/b.txt", "--json"];
    let json = desk.run(&args).ok().json();
    let loaded = json["loaded"].as_array().unwrap();
    let rule = loaded.iter().find(|row| row["reason"] == "path_match").unwrap();
    assert_eq!(rule["glob"], "**/*.rs");
    let nested = loaded.iter().find(|row| row["reason"] == "nested").unwrap();
    assert!(nested["path"].as_str().unwrap().ends_with("sub/AGENTS.md"), "{nested}");
    let excluded = json["left_out"].as_array().unwrap();
    assert!(excluded.iter().any(|row| row["fate"] == "excluded"), "{excluded:?}");
    let text = desk.run(&["instructions", "sub/a.rs"]).ok().out;
    assert!(text.contains("matches **/*.rs") && !text.contains("waiting for"), "{text}");
}

#[test]
fn i4_what_is_too_long_is_told_by_doctor_and_the_chain() {
    let desk = Desk::offline();
    desk.files.write("CLAUDE.md", &"long ".repeat(9_000)).unwrap();
    desk.files.write("CLAUDE.local.md", &"x".repeat(5 << 20)).unwrap();
    let json = desk.run(&["instructions", "--json"]).ok().json();
    assert_eq!(json["loaded"][0]["fate"], "loaded_large");
    assert_eq!(json["left_out"][0]["fate"], "too_large");
    let found = desk.run(&["doctor"]).ok().out;
    assert!(found.contains("characters; models follow short"), "{found}");
    assert!(found.contains("bytes and is not loaded"), "{found}");
}

#[test]
fn i5_the_memory_index_is_part_of_the_chain_and_its_cut_is_told() {
    let desk = Desk::offline();
    let args = [
        "memory",
        "add",
        "--name",
        "tea",
        "--description",
        "tea, black",
        "--type",
        "user",
        "--scope",
        "project",
    ];
    desk.run_with(&args, "Likes tea.").ok();
    let json = desk.run(&["instructions", "--json"]).ok().json();
    assert_eq!(paths(&json["memory"]), ["MEMORY.md"]);
    assert_eq!(json["memory"][0]["cut"], Value::Null);
    let dir = desk.run(&["memory", "path"]).ok().out;
    let index = std::path::Path::new(dir.trim()).join("MEMORY.md");
    std::fs::write(index, "- [x](tea.md) — x\n".repeat(300)).unwrap();
    let text = desk.run(&["instructions"]).ok().out;
    assert!(text.contains("cut after 200 lines"), "{text}");
}
