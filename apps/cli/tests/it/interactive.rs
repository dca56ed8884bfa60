//! The line prompt, with lines from a pipe.

use crate::desk::{Desk, Running};
use everfold_testkit::mcp::{Revision, asking};
use everfold_testkit::{Reply, Scenario, ServerRules, TestServer, oracle};
use serde_json::json;

fn talk(desk: &Desk, args: &[&str], lines: &[&str]) -> crate::desk::Ran {
    desk.run_with(args, format!("{}\n", lines.join("\n")))
}

#[test]
fn q9_a_conversation_line_by_line() {
    let desk = Desk::with(
        Scenario::new()
            .reply(Reply::tool("Read", json!({"file_path": "a.txt"})))
            .reply(Reply::text("It says alpha.")),
    );
    desk.files.write("a.txt", "alpha\n").unwrap();
    let ran =
        talk(&desk, &[], &["read a.txt", "two \\", "lines", "/context", "/cost", "/quit", "no"]);
    let ran = ran.ok();
    for part in
        ["claude-sonnet-5-5", "session ", "* Read a.txt", "It says alpha.", "two \nlines", "total"]
    {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    assert!(!ran.out.contains('\u{1b}'), "no colours in a pipe");
    let requests = desk.server().requests();
    assert_eq!(requests.len(), 3, "what follows /quit is not sent");
    assert_eq!(requests[2].last_user_text(), "two \nlines");
    oracle::assert_prefix_stable(&requests);
}

#[test]
fn q6_a_person_is_asked_in_place() {
    let touch = |name: &str| Reply::tool("Bash", json!({"command": format!("touch {name}")}));
    let desk = Desk::with(
        Scenario::new()
            .reply(touch("one"))
            .reply(touch("two"))
            .reply(touch("three"))
            .reply(touch("three"))
            .reply(Reply::text("Done.")),
    );
    let ran = talk(&desk, &[], &["go", "y", "n use another name", "a"]).ok();
    let made = |name: &str| desk.files.project().join(name).exists();
    assert!(made("one") && !made("two") && made("three"), "{}", ran.out);
    assert_eq!(ran.out.matches("[y/a/p/n]").count(), 3, "always is not asked again");
    let told = desk.server().requests()[2].last_tool_results().unwrap();
    assert!(told.contains("use another name"), "{told}");
}

/// A desk with a server that wants to know a name and a number.
pub(crate) fn asked_by_server() -> Desk {
    let call = json!({"tool": "mcp__s__ask", "arguments": {}});
    let desk = Desk::with(
        Scenario::new().reply(Reply::tool("mcp__call", call)).otherwise(Reply::text("Done.")),
    );
    let question = json!({"mode": "form", "message": "Who are you?", "requestedSchema": {
        "type": "object", "required": ["name"], "properties": {
            "name": {"type": "string", "title": "Your name"},
            "age": {"type": "integer", "minimum": 1}}}});
    let script = desk.files.home().join("asking.sh");
    desk.files.write(&script, &asking(Revision::Older, &question)).unwrap();
    let settings = json!({"permissions": {"allow": ["mcp__s"]},
        "mcpServers": {"s": {"command": "bash", "args": [script]}}});
    let path = desk.files.home().join(".everfold/settings.json");
    desk.files.write(path, &settings.to_string()).unwrap();
    desk
}

#[test]
fn q5_a_server_asks_in_place_line_by_line() {
    for (lines, says) in [
        (&["go", "", "Ada", "0", "36", "maybe", "y"][..], r#"{"name":"Ada","age":36}"#),
        (&["go", "Ada", "", "n"][..], r#""action":"decline""#),
        (&["go", "/cancel"][..], r#""action":"cancel""#),
        (&["go"][..], r#""action":"cancel""#),
    ] {
        let desk = asked_by_server();
        let ran = talk(&desk, &[], lines).ok();
        assert!(ran.out.contains("The server s asks, in its own words:"), "{}", ran.out);
        assert!(ran.out.contains("Who are you?") && ran.out.contains("Your name: "), "{}", ran.out);
        let told = desk.server().requests()[1].last_tool_results().unwrap();
        let told = told.replace("\\\"", "\"");
        assert!(told.contains(says), "{says}: {told}");
    }
    // Nobody sits in front of a run with -p.
    let desk = asked_by_server();
    desk.run(&["-p", "go"]).ok();
    let told = desk.server().requests()[1].last_tool_results().unwrap();
    assert!(told.contains("decline"), "{told}");
}

#[test]
fn q6_an_end_of_input_is_a_no() {
    let desk = Desk::with(
        Scenario::new()
            .reply(Reply::tool("Bash", json!({"command": "touch owned"})))
            .reply(Reply::text("ok")),
    );
    talk(&desk, &["go"], &[]).ok();
    let ran = desk.run(&["go again"]).ok();
    assert!(!desk.files.project().join("owned").exists(), "{}", ran.out);
}

#[test]
fn q4_resume_inside_a_conversation() {
    let desk = Desk::with(Scenario::new());
    desk.run(&["-p", "paint the shed"]).ok();
    desk.run(&["-p", "mow the lawn"]).ok();
    let ran = talk(&desk, &[], &["/resume shed", "1", "go on"]).ok();
    assert!(ran.out.contains("paint the shed"), "{}", ran.out);
    let requests = desk.server().requests();
    oracle::assert_prefix_stable(&[requests[0].clone(), requests[2].clone()]);
    let ran = talk(&desk, &["--resume"], &["lawn", "1", "more"]).ok();
    let requests = desk.server().requests();
    assert_eq!(requests.len(), 4, "{}", ran.out);
    oracle::assert_prefix_stable(&[requests[1].clone(), requests[3].clone()]);
}

#[test]
fn q9_commands_are_listed_and_unknown_ones_told() {
    let desk = Desk::with(Scenario::new());
    let ran =
        talk(&desk, &[], &["/help", "/nonsense", "/model claude-opus-5-5", "hi", "/clear", "x"]);
    let ran = ran.ok();
    for name in [
        "/help",
        "/cost",
        "/context",
        "/compact",
        "/messages",
        "/pin",
        "/unpin",
        "/snip",
        "/unsnip",
        "/expand",
        "/model",
        "/resume",
        "/clear",
        "/quit",
    ] {
        assert!(ran.out.contains(name), "{name}");
    }
    assert!(ran.err.contains("/nonsense"), "{}", ran.err);
    let requests = desk.server().requests();
    assert_eq!(requests[0].model(), "claude-opus-5-5");
    assert_eq!(requests[1].messages().len(), 1, "a cleared conversation starts anew");
    assert_eq!(desk.transcripts().len(), 2);
}

#[test]
fn s6_a_failed_turn_does_not_end_the_conversation() {
    let desk = Desk::with(Scenario::new().reply(Reply::error(400, "something is off")));
    let ran = talk(&desk, &[], &["one", "two"]).ok();
    assert!(ran.err.contains("something is off"), "{}", ran.err);
    assert!(ran.out.contains("two"), "{}", ran.out);
}

#[test]
fn q8_offline_says_so_first() {
    let ran = talk(&Desk::offline(), &[], &["/quit"]).ok();
    assert!(ran.out.contains("offline") && ran.out.contains("ANTHROPIC_API_KEY"), "{}", ran.out);
}

#[cfg(unix)]
#[test]
fn q9_an_interrupt_stops_the_turn_and_not_the_conversation() {
    use std::io::Write;
    let desk = Desk::with(Scenario::new().reply(Reply::text("a long answer").gate("never")));
    let (running, mut input) = crate::desk::Running::typing(&mut desk.command(&[]));
    input.write_all(b"go\n").unwrap();
    desk.server().wait_for_requests_blocking(1).unwrap();
    running.signal("-INT");
    input.write_all(b"still there?\n/quit\n").unwrap();
    let ran = running.end().ok();
    assert!(ran.err.contains("stopped"), "{}", ran.err);
    assert!(ran.out.contains("still there?"), "{}", ran.out);
    assert_eq!(desk.server().requests().len(), 2);
}

#[cfg(unix)]
#[test]
fn q9_a_wish_to_end_is_heard_during_a_turn() {
    use std::io::Write;
    let desk = Desk::with(Scenario::new().reply(Reply::text("a long answer").gate("never")));
    let (running, mut input) = crate::desk::Running::typing(&mut desk.command(&[]));
    input.write_all(b"go\n").unwrap();
    desk.server().wait_for_requests_blocking(1).unwrap();
    running.signal("-TERM");
    running.end().ok();
    drop(input);
    let ran = desk.run(&["-p", "-c", "still there?"]).ok();
    assert!(ran.out.contains("still there?"), "{}", ran.out);
}

/// A model that notes what it is told to note.
fn noting() -> Desk {
    let server = TestServer::with_handler(ServerRules::default(), |request| {
        if request.source() != "session_memory" {
            return Reply::text("Hello.");
        }
        let said = request.last_user_text();
        let path = said.split("They are in ").nth(1).unwrap().split(", and you").next().unwrap();
        let line = "_Step by step, what was tried and done, one short line each._";
        let new = format!("{line}\n\n- said hello");
        Reply::tool("Edit", json!({"file_path": path, "old_string": line, "new_string": new}))
    });
    Desk { server: Some(server.unwrap()), ..Desk::offline() }
}

#[test]
fn q9_l3_1_notes_are_shown_edited_and_brought_up_to_date() {
    let desk = noting();
    let mut command = desk.command(&[]);
    command.env("EVERFOLD_FLAG_SESSION_MEMORY", "1").env("EDITOR", "sed -i s/hello/goodbye/");
    let lines =
        ["/notes", "hi", "/notes update", "/notes edit", "/notes", "/notes path", "/notes x"];
    let ran = Running::start(&mut command, Some(lines.join("\n").into_bytes())).end().ok();
    for part in ["no notes yet", "- said hello", "the notes were changed", "- said goodbye"] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    assert!(ran.err.contains("/notes takes path, edit or update"), "{}", ran.err);
    let path = ran.out.lines().find(|line| line.ends_with("session-memory/summary.md")).unwrap();
    assert!(std::fs::read_to_string(path).unwrap().ends_with("- said goodbye\n"));
    let shown = desk.run(&["sessions", "show"]).ok();
    assert!(shown.out.contains(&format!("notes         {path}")), "{}", shown.out);
    let shown = desk.run(&["sessions", "show", "--json"]).ok().json();
    assert_eq!(shown["notes"], path);
}
