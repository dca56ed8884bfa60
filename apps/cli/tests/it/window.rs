//! The window, seen and steered: `/context`, `/compact`, `/messages`, `/pin`,
//! `/snip`, `/expand`, `show-result`, and what `sessions show` and `cost` tell.

use crate::desk::{Desk, Ran, Running};
use everfold_kernel::record::BreakSeen;
use everfold_kernel::{Decision, Entry, QuerySource, Record, Timestamp, Usd};
use everfold_testkit::{
    Content, Received, Reply, Scenario, ServerRules, TempHome, TestServer, oracle,
};
use everfold_transcript::{Envelope, encode};
use serde_json::{Value, json};
use std::io::Write;

const MODEL: [&str; 2] = ["--model", "claude-haiku-4-5"];
const SUMMARY: &str = "<analysis>draft</analysis>\n<summary>\nThe shed is blue.\n</summary>";

fn asks_for_summary(request: &Received) -> bool {
    request.last_user_text().contains("<summary>")
}

/// A model that reads a file when it is told to, echoes otherwise, and sums up.
fn reader() -> Desk {
    let server = TestServer::with_handler(ServerRules::default(), |request| {
        if asks_for_summary(request) {
            return Reply::text(SUMMARY);
        }
        let said = request.last_user_text();
        match request.last_tool_results() {
            Some(_) => Reply::text("I have read it."),
            None if said.contains("read") => Reply::tool("Read", json!({"file_path": "big.txt"})),
            None => Reply::text(format!("You said: {}", said.lines().last().unwrap_or_default())),
        }
    });
    let desk = Desk { files: TempHome::new().unwrap(), server: Some(server.unwrap()) };
    let line = |n| format!("line {n} of a file with some words in it\n");
    let text: String = (0..1_000).map(line).collect();
    desk.files.write("big.txt", &text).unwrap();
    desk
}

fn talk(desk: &Desk, args: &[&str], lines: &[&str]) -> Ran {
    let args: Vec<&str> = MODEL.iter().chain(args).copied().collect();
    desk.run_with(&args, format!("{}\n", lines.join("\n"))).ok()
}

/// What the newest request said, all of it.
fn last_request(desk: &Desk) -> String {
    String::from_utf8(desk.server().requests().last().unwrap().raw.clone().into()).unwrap()
}

#[test]
fn l4_16_context_is_a_picture_that_fits() {
    let desk = reader();
    for width in ["60", "140"] {
        let mut command = desk.command(&MODEL);
        command.env("COLUMNS", width);
        let input = "/context\nread it\n/context\n".into();
        let ran = Running::start(&mut command, Some(input)).end().ok();
        let bars: Vec<&str> = ran.out.lines().filter(|line| line.ends_with("~]")).collect();
        assert_eq!(bars.len(), 2, "{}", ran.out);
        for bar in &bars {
            assert_eq!(bar.chars().count().to_string(), width, "{bar}");
            assert!(bar.starts_with('[') && bar.contains('T') && bar.contains('.'), "{bar}");
        }
        assert!(!bars[0].contains('R') && bars[1].contains('R'), "{}", ran.out);
        for part in ["of 200,000 tokens", "system prompt", "tool results", "user messages"] {
            assert!(ran.out.contains(part), "{part}: {}", ran.out);
        }
        assert!(!ran.out.contains('\u{1b}'), "no colours in a pipe");
    }
}

#[test]
fn t4_context_marks_the_thresholds_in_force() {
    let desk = reader();
    let ran = talk(&desk, &[], &["/context"]);
    for part in ["warning at 147,000", "auto-compact at 167,000"] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    let smaller = r#"{"autoCompactWindow": 100000}"#;
    let ran = talk(&desk, &["--settings", smaller], &["/context"]);
    assert!(ran.out.contains("auto-compact at 67,000"), "{}", ran.out);
    let ran = talk(&desk, &["--settings", r#"{"autoCompactEnabled": false}"#], &["/context"]);
    assert!(ran.out.contains("requests refused at 177,000"), "{}", ran.out);
    assert!(!ran.out.contains("auto-compact at"), "{}", ran.out);
}

#[test]
fn l4_16_a_preview_tells_and_changes_nothing() {
    let desk = reader();
    let lines = ["read it", "paint the shed blue", "/compact --preview", "go on"];
    let ran = talk(&desk, &[], &lines);
    for part in ["tokens now", "would go:", "would come back:", "big.txt", "tool results", "1 to 4"]
    {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    assert!(desk.server().requests_of("compact").is_empty());
    oracle::assert_prefix_stable(&desk.server().requests());
}

#[test]
fn l4_16_a_compaction_is_told_and_what_went_is_brought_back() {
    let desk = reader();
    let lines = ["read it", "paint the shed", "/compact keep the colour", "go on"];
    let ran = talk(&desk, &[], &lines);
    assert!(ran.out.contains("--- compacted (model): "), "{}", ran.out);
    let told: Vec<&str> = ran.out.lines().filter(|line| line.contains("compacted")).collect();
    let has =
        |line: &str| line.contains(" tokens for $") && line.contains("less with each request");
    assert!(told.len() == 1 && has(told[0]), "one line, with tokens and money (E10): {told:?}");
    assert!(ran.out.contains("brought back:"), "{}", ran.out);
    let asked = desk.server().requests_of("compact");
    assert!(asked[0].last_user_text().contains("keep the colour"));
    assert!(last_request(&desk).contains("The shed is blue."));
    let span = ran.out.lines().find_map(|line| line.trim().strip_prefix("/expand ")).unwrap();
    assert!(span.contains(".."), "{span}");

    let expand = format!("/expand {span}");
    let ran = talk(&desk, &["-c"], &[&expand, "and now?"]);
    assert!(ran.out.contains("user: read it"), "{}", ran.out);
    let sent = last_request(&desk);
    assert!(sent.contains("The person brought back the span") && sent.contains("user: read it"));
    let requests = desk.server().requests();
    oracle::assert_prefix_stable(&requests[requests.len() - 2..]);
    // Resumed once more, it is the same bytes.
    talk(&desk, &["-c"], &["again"]);
    let requests = desk.server().requests();
    oracle::assert_prefix_stable(&requests[requests.len() - 3..]);
}

#[test]
fn l4_16_sessions_show_tells_where_it_was_compacted() {
    let desk = reader();
    talk(&desk, &[], &["read it", "paint the shed", "/compact", "go on"]);
    let told = desk.run(&["sessions", "show", "--json"]).ok().json();
    let compacted = &told["compactions"][0];
    assert_eq!((&compacted["trigger"], &compacted["way"]), (&json!("manual"), &json!("model")));
    let (before, after) = (compacted["pre_tokens"].as_u64(), compacted["post_tokens"].as_u64());
    assert!(before > after && after > Some(0), "{told}");
    assert!(compacted["retention"].is_f64() && compacted["at"].is_string(), "{told}");
    assert!(compacted["restored"][0].as_str().unwrap().ends_with("big.txt"), "{told}");
    assert_eq!(told["cache_breaks"], json!([]));
    let text = desk.run(&["sessions", "show"]).ok().out;
    for part in ["manual, by model", "tokens before", "of the facts", "brought back", "big.txt"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn l4_16_pins_stay_through_a_compaction() {
    let desk = reader();
    let words = "the magic word is xyzzy";
    let lines = [words, "read it", "/pin 1", "/pin 1", "/pin", "/compact", "go on", "/messages"];
    let ran = talk(&desk, &[], &lines);
    assert!(ran.out.contains("message 1 stays"), "{}", ran.out);
    assert!(ran.err.contains("already pinned"), "{}", ran.err);
    assert!(ran.out.contains(&format!("{words} (pinned)")), "{}", ran.out);
    let listed = |line: &&str| line.contains(" you ") && line.contains(" pinned ");
    assert_eq!(ran.out.lines().filter(listed).count(), 2, "before and after: {}", ran.out);
    assert!(last_request(&desk).contains(words));
    let ran = talk(&desk, &["-c"], &["/unpin", "/unpin 2", "/unpin 2", "/unpin", "/pin 99"]);
    assert!(ran.out.contains("message 2 is no longer pinned"), "{} {}", ran.out, ran.err);
    assert!(ran.err.contains("message 2 is not pinned"), "{}", ran.err);
    assert!(ran.out.contains("no messages"), "{}", ran.out);
    assert!(ran.err.contains("no message \"99\" in view"), "{}", ran.err);
}

/// Whether a request has a message of just these words.
fn says(request: &Received, text: &str) -> bool {
    let said = format!(r#""text":"{text}""#);
    String::from_utf8(request.raw.clone().into()).unwrap().contains(&said)
}

#[test]
fn l4_7_a_part_is_compacted() {
    let said = ["read alpha", "read beta", "read gamma"];
    let desk = reader();
    // Each turn is four messages: words, call, result, answer.
    let partly = ["/compact --preview from 4", "/compact from 4", "on"];
    let ran = talk(&desk, &[], &[&said[..], &partly].concat());
    assert!(ran.out.contains("would stay:") && ran.out.contains("--- compacted"), "{}", ran.out);
    let requests = desk.server().requests();
    let last = requests.last().unwrap();
    assert!(says(last, said[0]) && !says(last, said[1]) && !says(last, said[2]));
    oracle::assert_prefix_stable(&[requests[1].clone(), last.clone()]);
    assert!(last.usage.unwrap().cache_read > 10_000, "the prefix is read from the cache");

    let desk = reader();
    let partly = ["/compact up-to 9 be short", "on", "/compact from 77"];
    let ran = talk(&desk, &[], &[&said[..], &partly].concat());
    let requests = desk.server().requests();
    let last = requests.last().unwrap();
    assert!(!says(last, said[0]) && !says(last, said[1]) && says(last, said[2]));
    assert!(desk.server().requests_of("compact")[0].last_user_text().contains("be short"));
    assert!(ran.err.contains("no message \"77\" in view"), "{}", ran.err);
}

#[test]
fn l4_14_a_snip_hides_and_is_undone_in_a_new_process() {
    let desk = reader();
    let ran = talk(&desk, &[], &["a secret plan", "something else", "/snip 1 2", "go on"]);
    assert!(!last_request(&desk).contains("secret plan"), "{}", ran.out);
    let undo = ran.out.lines().find_map(|line| line.split("/unsnip ").nth(1)).unwrap();
    let id = undo.split_whitespace().next().unwrap();
    let ran = talk(&desk, &["-c"], &["still hidden?", "/unsnip", "/unsnip 2", "/expand 1"]);
    assert!(!last_request(&desk).contains("secret plan"));
    assert!(ran.out.contains("stand-in"), "{}", ran.out);
    assert!(ran.err.contains("message 2 is not a snip"), "{}", ran.err);
    assert!(ran.err.contains("/unsnip 1 puts them back"), "{}", ran.err);
    let undo = format!("/unsnip {id}");
    let ran = talk(&desk, &["-c"], &[&undo, "and now?", &undo, "/snip 9 1 2", "/snip 4 1"]);
    assert!(ran.out.contains("the model sees it again"), "{} {}", ran.out, ran.err);
    assert!(last_request(&desk).contains("a secret plan"));
    assert_eq!(ran.err.lines().count(), 3, "{}", ran.err);
}

#[test]
fn s6_an_id_that_nothing_has_is_told_and_the_conversation_goes_on() {
    let desk = reader();
    let lines = ["/messages", "/compact", "/expand", "/expand nope", "/expand ../x", "hello"];
    let ran = talk(&desk, &[], &lines);
    for part in ["nothing was compacted", "name what to bring back", "\"nope\"", "is a path"] {
        assert!(ran.err.contains(part), "{part}: {}", ran.err);
    }
    assert_eq!(desk.server().requests().len(), 1);
}

#[cfg(unix)]
#[test]
fn l4_11_an_interrupt_stops_a_compaction_and_not_the_conversation() {
    let server = TestServer::with_handler(ServerRules::default(), |request| {
        if asks_for_summary(request) {
            return Reply::text(SUMMARY).gate("never");
        }
        Reply::text("ok")
    });
    let desk = Desk { files: TempHome::new().unwrap(), server: Some(server.unwrap()) };
    let (running, mut input) = Running::typing(&mut desk.command(&MODEL));
    input.write_all(b"one\ntwo\n/compact\n").unwrap();
    desk.server().wait_for_requests_blocking(3).unwrap();
    running.signal("-INT");
    input.write_all(b"three\n/quit\n").unwrap();
    let ran = running.end().ok();
    assert!(ran.err.contains("nothing was compacted"), "{}", ran.err);
    let requests = desk.server().requests();
    oracle::assert_prefix_stable(&[requests[1].clone(), requests[3].clone()]);
}

fn spiller() -> Desk {
    let call = Content::ToolUse {
        name: "Bash".into(),
        input: json!({"command": "seq 1 20000"}),
        id: Some("toolu_big".into()),
    };
    Desk::with(Scenario::new().reply(Reply::default().and(call)).otherwise(Reply::text("ok")))
}

#[test]
fn l1_8_show_result_prints_what_was_spilled() {
    let desk = spiller();
    let first = desk.run(&[
        "-p",
        "--permission-mode",
        "bypassPermissions",
        "count",
        "--output-format",
        "json",
    ]);
    let first = first.ok().json()["session_id"].as_str().unwrap().to_owned();
    assert!(desk.server().requests()[1].last_tool_results().unwrap().len() < 3_000);
    desk.run(&["-p", "a newer session"]).ok();
    let whole = desk.run(&["show-result", "toolu_big"]).ok().out;
    assert_eq!(whole.lines().count(), 20_000);
    let told = desk.run(&["show-result", "toolu_big", "--session", &first, "--json"]).ok().json();
    assert_eq!((&told["kind"], &told["session_id"]), (&json!("result"), &json!(first)));
    assert_eq!(told["text"].as_str().unwrap().lines().count(), 20_000);

    let told = desk.run(&["sessions", "show", &first, "--json"]).ok().json();
    assert_eq!(told["spills"]["count"], 1, "{told}");
    assert!(told["spills"]["chars"].as_u64() > Some(100_000), "{told}");
    let text = desk.run(&["sessions", "show", &first]).ok().out;
    assert!(text.contains("spilled") && text.contains("1 result of"), "{text}");

    let lines = talk(&desk, &["--resume", &first], &["/expand toolu_big", "well?"]).out;
    assert!(lines.contains("\n20000\n"), "the person sees all of it");
    let sent = last_request(&desk);
    assert!(sent.contains("brought back the result toolu_big"), "{}", sent.len());
    assert!(sent.contains("more characters: ResultRead") && sent.len() < 100_000, "capped");
}

#[test]
fn l1_8_show_result_takes_a_record_and_refuses_what_is_not_there() {
    let desk = spiller();
    let empty = desk.run(&["show-result", "toolu_big"]).failed(2);
    assert!(empty.err.contains("nothing in this directory's sessions"), "{}", empty.err);
    desk.run(&["-p", "--permission-mode", "bypassPermissions", "count the sheep"]).ok();
    desk.run(&["-p", "other"]).ok();
    let path = desk
        .transcripts()
        .into_iter()
        .find(|path| std::fs::read_to_string(path).unwrap().contains("count the sheep"));
    let text = std::fs::read_to_string(path.unwrap()).unwrap();
    let user = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let user = user.into_iter().find(|line| line["type"] == "user").unwrap();
    let found = desk.run(&["show-result", user["uuid"].as_str().unwrap()]).ok();
    assert_eq!(found.out, "count the sheep\n");
    for id in ["toolu_none", "../../etc/passwd", ""] {
        let ran = desk.run(&["show-result", id]).failed(2);
        assert!(ran.err.contains("hint:"), "{}", ran.err);
    }
    let ran = desk.run(&["show-result", "toolu_big", "--session", "other"]).failed(2);
    assert!(ran.err.contains("toolu_big"), "{}", ran.err);
}

#[test]
fn t6_cost_lists_cache_breaks_that_nothing_announced() {
    let desk = Desk::with(Scenario::new());
    let id = desk.run(&["-p", "hello", "--output-format", "json"]).ok().json();
    let id = id["session_id"].as_str().unwrap();
    let quiet = desk.run(&["cost"]).ok().out;
    assert!(!quiet.contains("cache breaks"), "{quiet}");
    let seen = BreakSeen {
        source: QuerySource::Main,
        part: "tools: Read changed".into(),
        tokens: 43_210,
        cost: Some(Usd(0.1234)),
        server_reason: Some("tools_changed".into()),
    };
    let record = Record {
        id: "0192f0c1-1111-7000-8000-000000000009".into(),
        parent: None,
        at: Timestamp::now(),
        entry: Entry::Decision(Decision::BreakSeen(seen)),
    };
    let line = encode(&record, &Envelope::new(id.into(), "/", "1"));
    let mut file = std::fs::OpenOptions::new().append(true).open(&desk.transcripts()[0]).unwrap();
    writeln!(file, "{}", line.trim_end()).unwrap();

    let parts = ["tools: Read changed", "43,210", "0.1234"];
    for args in [&["cost"][..], &["cost", "--project"], &["cost", "--day"], &["sessions", "show"]] {
        let out = desk.run(args).ok().out;
        for part in parts {
            assert!(out.contains(part), "{args:?} {part}: {out}");
        }
    }
    let told = desk.run(&["cost", "--json"]).ok().json();
    let found = &told["cache_breaks"][0];
    assert_eq!((&found["tokens"], &found["cost_usd"]), (&json!(43_210), &json!(0.1234)));
    assert_eq!((&found["source"], &found["session_id"]), (&json!("main"), &json!(id)));
    assert_eq!(found["server_reason"], "tools_changed");
    let ran = desk.run_with(&["-c"], "/cost\n").ok();
    assert!(ran.out.contains(parts[0]) && ran.out.contains("the server says"), "{}", ran.out);
    // A fork did not pay for it.
    desk.run(&["-p", "-c", "--fork-session", "on"]).ok();
    let told = desk.run(&["cost", "--project", "--json"]).ok().json();
    assert_eq!(told["cache_breaks"].as_array().unwrap().len(), 1, "{told}");
}
