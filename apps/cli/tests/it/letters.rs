//! Letters between processes, from outside (S17, L7.5).

use crate::desk::Desk;
use everfold_testkit::{Reply, Scenario};
use serde_json::{Value, json};

const TEAM: [&str; 4] = ["--team", "crew", "--agent-name", "ada"];

/// What waits in bob's mailbox, by the order in which it would be read.
fn waiting(desk: &Desk) -> Vec<String> {
    let dir = desk.files.home().join(".everfold/teams/crew/mail/bob/new");
    let entries = std::fs::read_dir(dir).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    names.sort();
    let letters = names.iter().map(|path| std::fs::read(path).unwrap());
    let text = |bytes: Vec<u8>| {
        let letter: Value = serde_json::from_slice(&bytes).unwrap();
        letter["body"]["text"].as_str().or(letter["text"].as_str()).unwrap().to_owned()
    };
    letters.map(text).collect()
}

#[test]
fn s17_letters_of_one_answer_keep_their_order() {
    let texts: Vec<String> = (1..=12).map(|number| format!("step {number}")).collect();
    // What only reads may still run beside others.
    let calls = texts.iter().fold(Reply::default(), |reply, text| {
        let reply = reply.and_tool("SendMessage", json!({"to": "bob", "message": text}));
        reply.and_tool("Glob", json!({"pattern": "*.txt"}))
    });
    let scenario =
        Scenario::new().reply(Reply::text("I am bob.")).reply(calls).reply(Reply::text("Sent."));
    let desk = Desk::with(scenario);
    desk.run(&["-p", "hi", "--team", "crew", "--agent-name", "bob"]).ok();
    let mut args = vec!["-p", "tell bob what to do"];
    args.extend(TEAM);
    desk.run(&args).ok();
    assert_eq!(waiting(&desk), texts);
}

#[cfg(unix)]
#[test]
fn s17_a_socket_of_the_machine_is_not_written_to() {
    let desk_files = tempfile::tempdir().unwrap();
    let path = desk_files.path().join("daemon.sock");
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    listener.set_nonblocking(true).unwrap();
    let to = format!("uds:{}", path.display());
    let call = Reply::tool("SendMessage", json!({"to": to, "message": "GET / HTTP/1.0"}));
    let desk = Desk::with(Scenario::new().reply(call).reply(Reply::text("No.")));
    desk.run(&["-p", "write to it"]).ok();
    let requests = desk.server().requests();
    let last = String::from_utf8_lossy(&requests.last().unwrap().raw).into_owned();
    assert!(last.contains("cannot write to"), "{last}");
    assert_eq!(listener.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}
