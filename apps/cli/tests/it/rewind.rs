//! `/rewind`, and what a person chooses for the rest of a conversation.

use crate::desk::{Desk, Ran};
use everfold_testkit::{Reply, ServerRules, TempHome, TestServer};
use serde_json::json;

/// A model that writes `a.txt` when it is told to: the last word that was said.
fn writer() -> Desk {
    let server = TestServer::with_handler(ServerRules::default(), |request| {
        let said = request.last_user_text();
        match (request.last_tool_results(), said.split_once("write ")) {
            (None, Some((_, text))) => {
                let content = format!("{}\n", text.trim());
                Reply::tool("Write", json!({"file_path": "a.txt", "content": content}))
            }
            _ => Reply::text("ok"),
        }
    });
    Desk { files: TempHome::new().unwrap(), server: Some(server.unwrap()) }
}

fn talk(desk: &Desk, lines: &[&str]) -> Ran {
    let args = ["--permission-mode", "acceptEdits"];
    desk.run_with(&args, format!("{}\n", lines.join("\n"))).ok()
}

fn text(desk: &Desk) -> Option<String> {
    std::fs::read_to_string(desk.files.project().join("a.txt")).ok()
}

#[test]
fn q12_rewind_line_by_line() {
    let desk = writer();
    let lines = [
        "write one",
        "write two",
        "/rewind",
        "/rewind 2 both",
        "/rewind",
        "/rewind 9",
        "/rewind 1 up",
    ];
    let ran = talk(&desk, &lines);
    assert_eq!(text(&desk).as_deref(), Some("one\n"), "{}", ran.out);
    for part in ["1 file since, +1 -1", "restored ", "(you went back here)"] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    assert!(
        ran.err.contains("no message \"9\" to go back to") && ran.err.contains("summarize-up-to"),
        "{}",
        ran.err
    );
    desk.run_with(&["--continue"], "/rewind 2 files\n".to_owned()).ok();
    assert_eq!(text(&desk).as_deref(), Some("two\n"), "the step back is undone");
}

#[test]
fn q14_choices_line_by_line() {
    let desk = writer();
    let style = "---\nname: pirate\ndescription: arr\n---\nTalk like a pirate.\n";
    desk.files.write(desk.files.home().join(".everfold/output-styles/p.md"), style).unwrap();
    let ran = talk(
        &desk,
        &[
            "/effort",
            "/effort high",
            "/effort huge",
            "/thinking off",
            "/thinking 5000",
            "/thinking",
            "/language German",
            "/output-style",
            "/output-style pirate",
            "/output-style none",
            "hello",
        ],
    );
    for part in [
        "effort: the model's own",
        "effort: high",
        "thinking: only between tool calls",
        "thinking: up to 5000 tokens",
        "language: German",
        "explanatory",
        "arr",
        "use the style pirate",
    ] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    assert!(
        ran.err.contains("unknown effort \"huge\"") && ran.err.contains("unknown style \"none\""),
        "{}",
        ran.err
    );
    let request = desk.server().requests().pop().unwrap();
    assert_eq!(request.body["output_config"]["effort"], "high");
    assert_eq!(request.body["thinking"]["budget_tokens"], 5_000);
    let said = request.body["messages"].to_string();
    assert!(said.contains("Talk like a pirate.") && said.contains("answer in German"), "{said}");
    let set = r#"{"outputStyle": "Pirate"}"#;
    desk.run(&["-p", "hello", "--settings", set]).ok();
    let request = desk.server().requests().pop().unwrap();
    assert!(request.system_text().contains("Talk like a pirate."), "a setting names a style");
}

#[test]
fn q13_a_prompt_names_files_without_a_terminal() {
    let desk = writer();
    desk.files.write("b.txt", "what is in it\n").unwrap();
    desk.run(&["-p", "say what @b.txt says"]).ok();
    let body = desk.server().requests().pop().unwrap().body.to_string();
    assert!(body.contains("what is in it"), "{body}");
}

#[test]
fn q6_l5_16_a_person_keeps_rules_and_memories_with_a_word() {
    let server = TestServer::with_handler(ServerRules::default(), |request| {
        match request.last_tool_results() {
            None => Reply::tool("Bash", json!({"command": "touch made"})),
            Some(_) => Reply::text("ok"),
        }
    });
    let desk = Desk { files: TempHome::new().unwrap(), server: Some(server.unwrap()) };
    let lines = "# always use tabs in this project\ngo\np\n".to_owned();
    let ran = desk.run_with(&[], lines).ok();
    assert!(ran.out.contains("saved ") && ran.out.contains(".md"), "{}", ran.out);
    assert!(ran.out.contains("saved in "), "{}", ran.out);
    let kept = desk.files.project().join(".claude/settings.local.json");
    assert!(std::fs::read_to_string(kept).unwrap().contains("Bash(touch made)"));
    let ran = desk.run_with(&[], "go again\n".to_owned()).ok();
    assert!(!ran.out.contains("[y/a/p/n]"), "{}", ran.out);
}
