//! Where a key must not be in clear, by the built program (S15): notes, letters,
//! memories and their journal, the log, what was typed before, and what other
//! agents are told over the Model Context Protocol.

use crate::desk::{Desk, Running};
use crate::screen::Terminal;
use crate::secrets::{clean, holding, secrets};
use everfold_testkit::{Reply, Scenario, ServerRules, TestServer};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;

const ID: &str = "0192f0c1-1111-7000-8000-000000000001";

/// Puts both secrets into a file of the project, where tools find them.
fn keys_file(desk: &Desk) {
    let [key, password] = secrets();
    let text = format!("token = {key}\npassword: {password}\n");
    std::fs::write(desk.files.project().join("deploy.conf"), text).unwrap();
}

/// Whether a file is where something was said: the transcript, and results that
/// were moved out of it.
fn was_said(path: &Path) -> bool {
    let spilled = path.components().any(|part| part.as_os_str() == "tool-results");
    spilled || path.extension().is_some_and(|ending| ending == "jsonl" || ending == "lock")
}

/// Files of the home that hold a secret and are not where it was said.
fn leaks(desk: &Desk) -> Vec<PathBuf> {
    let projects = desk.files.home().join(".everfold/projects");
    let all = holding(&desk.files.home().join(".everfold")).into_iter();
    all.filter(|path| !(path.starts_with(&projects) && was_said(path))).collect()
}

/// A model that reads the file, and tells all that it saw to whoever asks: the
/// notes, the memories, the summary.
fn gossip() -> Desk {
    let server = TestServer::with_handler(ServerRules::default(), |request| {
        let [key, password] = secrets();
        let told = format!("deploys use {key}, and {password} opens the database");
        match (request.source(), request.last_tool_results()) {
            ("session_memory", None) => {
                let said = request.last_user_text();
                let path = said.split("They are in ").nth(1).unwrap();
                let path = path.split(", and you").next().unwrap();
                let line = "_Step by step, what was tried and done, one short line each._";
                let new = format!("{line}\n\n- {told}");
                let edit = json!({"file_path": path, "old_string": line, "new_string": new});
                Reply::tool("Edit", edit)
            }
            (_, None) if request.last_user_text().contains("deploy.conf") => {
                Reply::tool("Read", json!({"file_path": "deploy.conf"}))
            }
            _ => Reply::text(told),
        }
    });
    let desk = Desk { server: Some(server.unwrap()), ..Desk::offline() };
    keys_file(&desk);
    desk
}

#[test]
fn s15_notes_and_the_log_have_no_key_of_a_result() {
    let desk = gossip();
    let mut command = desk.command(&["--session-id", ID]);
    command.env("EVERFOLD_FLAG_SESSION_MEMORY", "1").env("EVERFOLD_LOG", "trace");
    let lines = ["look into deploy.conf", "/notes update", "/notes path", "/exit"];
    let ran = Running::start(&mut command, Some(lines.join("\n").into_bytes())).end().ok();
    let path = ran.out.lines().find(|line| line.ends_with("session-memory/summary.md")).unwrap();
    let notes = std::fs::read_to_string(path).unwrap();
    assert!(notes.contains("deploys use [secret: "), "{notes}");
    clean(&notes);
    let log = std::fs::read_to_string(desk.files.home().join(".everfold/logs/everfold.log"));
    assert!(log.unwrap().len() > 1_000, "there is a log to look at");
    let home = desk.files.home().join(".everfold");
    assert!(!holding(&home).is_empty(), "it was said");
    assert_eq!(leaks(&desk), Vec::<PathBuf>::new());
}

#[test]
fn s15_a_letter_to_another_process_has_no_key_however_it_is_told() {
    let [key, password] = secrets();
    let letter = json!({"to": "bob", "summary": format!("use {password}"),
        "message": format!("Take {key} for the upload; {password} opens the rest.")});
    let scenario = Scenario::new()
        .reply(Reply::text("I am bob."))
        .reply(Reply::tool("SendMessage", letter))
        .reply(Reply::text("Sent."))
        .reply(Reply::text("Thank you."));
    let desk = Desk::with(scenario);
    let bob = ["-p", "hi", "--team", "crew", "--agent-name", "bob"];
    desk.run(&bob).ok();
    let prompt = format!("the db password is {password}. Tell bob what he needs, with {key}.");
    desk.run(&["-p", &prompt, "--team", "crew", "--agent-name", "ada"]).ok();
    let new = desk.files.home().join(".everfold/teams/crew/mail/bob/new");
    let files: Vec<_> = std::fs::read_dir(new).unwrap().map(|file| file.unwrap().path()).collect();
    assert_eq!(files.len(), 1);
    let letter = std::fs::read_to_string(&files[0]).unwrap();
    assert!(letter.contains("for the upload") && letter.contains("[secret: "), "{letter}");
    clean(&letter);
    assert_eq!(leaks(&desk), Vec::<PathBuf>::new());
    // And so bob's model does not see it.
    desk.run(&["-p", "what is new?", "--team", "crew", "--agent-name", "bob"]).ok();
    let requests = desk.server().requests();
    let last = String::from_utf8_lossy(&requests.last().unwrap().raw).into_owned();
    assert!(last.contains("for the upload"), "{last}");
    clean(&last);
}

/// What `everfold mcp` answers to calls of its tools.
fn answers(desk: &Desk, calls: &[(&str, Value)]) -> Vec<Value> {
    let mut command = desk.command(&["mcp"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let init = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "x", "version": "1"}}});
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    writeln!(input, "{init}\n{ready}").unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.next().unwrap().unwrap();
    let mut all = Vec::new();
    for (number, (tool, arguments)) in calls.iter().enumerate() {
        let call = json!({"jsonrpc": "2.0", "id": number + 1, "method": "tools/call",
            "params": {"name": tool, "arguments": arguments}});
        writeln!(input, "{call}").unwrap();
        all.push(serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap());
    }
    drop(input);
    assert!(child.wait().unwrap().success());
    all
}

#[test]
fn s15_other_agents_are_told_no_key_over_mcp() {
    let [key, password] = secrets();
    let desk = gossip();
    let prompt = format!("the db password is {password}; look into deploy.conf");
    desk.run(&["-p", "--session-id", ID, &prompt]).ok();
    let save = |text: String| {
        json!({"type": "project", "name": "deploy", "description": "how it is deployed",
            "content": text, "text": text, "body": text})
    };
    let found = answers(
        &desk,
        &[
            ("session_search", json!({"query": "deploy.conf"})),
            ("session_search", json!({"query": "deploys database opens"})),
            ("session_search", json!({"query": password})),
            ("memory_save", save(format!("The upload takes {key}."))),
        ],
    );
    let text = serde_json::to_string(&found[..2]).unwrap();
    assert!(text.contains("[secret: "), "{text}");
    clean(&text);
    clean(&found[3].to_string());
    // Each of them whole.
    let mut ids = Vec::new();
    for answer in &found {
        collect_ids(answer, &mut ids);
    }
    assert!(ids.len() >= 2, "{found:?}");
    let calls: Vec<_> = ids.iter().map(|id| ("result_read", json!({"id": id}))).collect();
    for whole in answers(&desk, &calls) {
        assert!(whole["error"].is_null(), "{whole}");
        clean(&whole.to_string());
    }
    assert_eq!(leaks(&desk), Vec::<PathBuf>::new());
}

fn collect_ids(value: &Value, ids: &mut Vec<String>) {
    match value {
        Value::Array(all) => all.iter().for_each(|one| collect_ids(one, ids)),
        Value::Object(all) => {
            if let (Some(id), true) =
                (all.get("id").and_then(Value::as_str), all.contains_key("excerpt"))
            {
                ids.push(id.to_owned());
            }
            all.values().for_each(|one| collect_ids(one, ids));
        }
        _ => {}
    }
}

#[test]
fn s15_memories_and_their_journal_have_no_key() {
    let [key, password] = secrets();
    let server = TestServer::with_handler(ServerRules::default(), |request| {
        let [key, password] = secrets();
        match (request.source(), request.last_tool_results()) {
            ("extract", None) => {
                let text = format!(
                    "---\nname: deploy\ndescription: uploads take {key}\ntype: project\n---\n\nDeploys use {key}; {password} opens the database.\n"
                );
                Reply::tool("Write", json!({"file_path": "deploy.md", "content": text}))
            }
            _ => Reply::text("Noted."),
        }
    });
    let desk = Desk { server: Some(server.unwrap()), ..Desk::offline() };
    let prompt = format!(
        "Remember for good: we always deploy with {key}, and the db password is {password}."
    );
    let mut command = desk.command(&["-p", "--session-id", ID, &prompt]);
    command.env("EVERFOLD_FLAG_EXTRACT", "1");
    Running::start(&mut command, None).end().ok();
    let added = desk.run(&["memory", "add", "project", &format!("deploys use {key}")]);
    clean(&added.out);
    for args in
        [&["memory", "log", "--json"][..], &["memory", "list", "--json"], &["memory", "log"]]
    {
        clean(&desk.run(args).ok().out);
    }
    assert_eq!(leaks(&desk), Vec::<PathBuf>::new());
}

#[test]
fn s15_what_was_typed_before_is_kept_without_its_key() {
    let [key, password] = secrets();
    let desk = Desk::with(Scenario::new().reply(Reply::text("All right.")));
    let Some(terminal) = Terminal::start_sized(&desk, "", (160, 40)) else { return };
    terminal.sees("what shall we do?");
    terminal.says(&format!("use {key}, the db password is {password}"));
    terminal.sees("All right.");
    terminal.types("/exit");
    terminal.press(&["Enter"]);
    terminal.sees("left with 0");
    let history =
        std::fs::read_to_string(desk.files.home().join(".everfold/history.jsonl")).unwrap();
    assert!(history.contains("[secret: "), "{history}");
    clean(&history);
    assert_eq!(leaks(&desk), Vec::<PathBuf>::new());
}
