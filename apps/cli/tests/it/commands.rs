//! Slash commands that look at things, line by line.

use crate::desk::{Desk, Ran};
use everfold_testkit::{Reply, Scenario};
use serde_json::json;

fn talk(desk: &Desk, lines: &[&str]) -> Ran {
    desk.run_with(&[], format!("{}\n", lines.join("\n"))).ok()
}

#[test]
fn q9_what_the_screen_shows_can_be_asked_for_line_by_line() {
    let desk = Desk::offline();
    let ran = talk(&desk, &["/doctor", "/config everfold.limits.rewind", "/permissions", "/model"]);
    for part in [
        "provider: ",
        "everfold.limits.rewind.points",
        "no rules; tools ask before they change anything",
        "claude-opus",
        "model: offline",
    ] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
}

#[test]
fn q10_a_conversation_is_exported_once() {
    let desk = Desk::with(Scenario::new().reply(Reply::text("Tea is green.")));
    let ran =
        talk(&desk, &["/export early.md", "what is tea?", "/export tea.md", "/export tea.md"]);
    let text = std::fs::read_to_string(desk.files.project().join("tea.md")).unwrap();
    assert!(text.contains("what is tea?") && text.contains("Tea is green."), "{text}");
    assert!(!desk.files.project().join("early.md").exists(), "there was nothing to export yet");
    assert!(ran.err.contains("nothing to export") && ran.err.contains("tea.md cannot be made"));
}

#[test]
fn q12_one_goes_back_line_by_line() {
    let desk = Desk::with(
        Scenario::new()
            .reply(Reply::tool("Write", json!({"file_path": "tea.txt", "content": "green\n"})))
            .reply(Reply::text("Written."))
            .reply(Reply::text("Black it is.")),
    );
    let ran = talk(&desk, &["write it", "y", "/rewind", "/rewind 1 both", "say it differently"]);
    assert!(ran.out.contains("1 file since"), "{}", ran.out);
    assert!(ran.out.contains("before: write it"), "{}", ran.out);
    assert!(!desk.files.project().join("tea.txt").exists(), "the file is gone again");
    let last = desk.server().requests().pop().unwrap();
    assert!(last.last_user_text().contains("say it differently"));
    assert!(!last.body.to_string().contains("write it"), "what was said is out of the request");
}

#[test]
fn q9_json_is_not_written_into_a_conversation() {
    let desk = Desk::offline();
    let ran = talk(&desk, &["/memory list --json"]);
    assert!(ran.err.contains("everfold memory list --json"), "{}", ran.err);
}
