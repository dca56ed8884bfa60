//! A key that a person types stays in the transcript, and is masked everywhere
//! else; and it can be taken out for good (S15).

use crate::desk::Desk;
use everfold_testkit::{Reply, Scenario, oracle};
use serde_json::json;
use std::path::{Path, PathBuf};

const ID: &str = "0192f0c1-1111-7000-8000-000000000001";

/// A key of a known form, and a password that nothing but its place tells.
pub(crate) fn secrets() -> [String; 2] {
    [["gh", "p_", &"aB3dE5fG7h".repeat(4)].concat(), "Falcon-77-tundra".to_owned()]
}

/// A session in which both are said, used and printed.
fn desk() -> Desk {
    let [key, password] = secrets();
    let command = format!("printf '%s\\n' {password} > out.txt; seq 9000; echo {key}");
    let scenario = Scenario::new()
        .reply(Reply::tool("Bash", json!({"command": command})))
        .reply(Reply::text(format!("I used {password}.")));
    let desk = Desk::with(scenario);
    let prompt = format!("deploy with {key}, the db password is {password}");
    let args = ["-p", "--session-id", ID, "--permission-mode", "bypassPermissions", &prompt];
    desk.run(&args).ok();
    desk
}

/// Every file under a folder that holds one of the secrets.
pub(crate) fn holding(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(holding(&path));
        } else {
            let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            if secrets().iter().any(|secret| text.contains(secret)) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

pub(crate) fn clean(text: &str) {
    for secret in secrets() {
        assert!(!text.contains(&secret), "{secret} in {text}");
    }
}

#[test]
fn s15_a_key_stays_where_it_was_said_and_is_masked_in_what_is_shown() {
    let desk = desk();
    // The model may need it: the next request has the same bytes.
    desk.run(&["-p", "-c", "go on"]).ok();
    let requests = desk.server().requests();
    oracle::assert_prefix_stable(&requests);
    let last = String::from_utf8_lossy(&requests.last().unwrap().raw).into_owned();
    assert!(secrets().iter().all(|secret| last.contains(secret)));

    let listed = desk.run(&["sessions", "list", "--json"]).ok().out;
    assert!(listed.contains("[secret: "), "{listed}");
    clean(&listed);
    clean(&desk.run(&["sessions", "list"]).ok().out);
    clean(&desk.run(&["sessions", "show", ID]).ok().out);
    for format in ["markdown", "jsonl"] {
        let exported = desk.run(&["sessions", "export", ID, "--format", format]).ok().out;
        assert!(exported.contains("[secret: ") && exported.contains("deploy with"), "{exported}");
        clean(&exported);
    }
    let found = desk.run(&["search", "deploy"]).ok().out;
    assert!(found.contains("deploy with"), "{found}");
    clean(&found);
    let ran = desk.run(&["-p", "--resume", "no such words", "x"]).failed(2);
    clean(&ran.err);
    let ran = desk.run(&["-p", "x", "--resume"]).failed(2);
    clean(&ran.err);
    // Beside the session's own files, nothing has it.
    let own = desk.project_dir();
    let everywhere = holding(&desk.files.home().join(".everfold"));
    assert!(!everywhere.is_empty());
    assert!(
        everywhere
            .iter()
            .all(|path| path.starts_with(own.join(ID)) || *path == own.join(format!("{ID}.jsonl"))),
        "{everywhere:?}"
    );
}

#[test]
fn s15_redact_takes_it_out_of_every_file_for_good() {
    let desk = desk();
    let before = holding(&desk.files.home().join(".everfold"));
    assert!(before.len() >= 2, "the transcript and a spilled result: {before:?}");
    let counted = desk.run(&["sessions", "redact", ID, "--dry-run", "--json"]).ok().json();
    assert_eq!(holding(&desk.files.home().join(".everfold")), before, "nothing was changed");
    let done = desk.run(&["sessions", "redact", ID, "--json"]).ok().json();
    assert_eq!(done["secrets"], counted["secrets"]);
    assert_eq!(done["secrets"], json!({"a GitHub token": 1, "a password": 1}), "{done}");
    assert!(done["places"].as_u64().unwrap() >= 5, "{done}");
    assert!(holding(&desk.files.home().join(".everfold")).is_empty());
    let again = desk.run(&["sessions", "redact", ID]).ok().out;
    assert_eq!(again, "no secrets found\n");

    // It can still be resumed, and no request has it again.
    let count = desk.server().requests().len();
    desk.run(&["-p", "--resume", ID, "go on"]).ok();
    for request in &desk.server().requests()[count..] {
        let raw = String::from_utf8_lossy(&request.raw);
        clean(&raw);
        assert!(raw.contains("[secret: a password]") && raw.contains("deploy with"), "{raw}");
    }
}

#[test]
fn s15_a_session_without_a_secret_is_left_byte_for_byte() {
    let desk = Desk::with(Scenario::new());
    desk.run(&["-p", "--session-id", ID, "paint the shed"]).ok();
    let path = desk.project_dir().join(format!("{ID}.jsonl"));
    let before = std::fs::read(&path).unwrap();
    assert_eq!(desk.run(&["sessions", "redact", ID]).ok().out, "no secrets found\n");
    assert_eq!(std::fs::read(&path).unwrap(), before);
    let exported = desk.run(&["sessions", "export", ID, "--format", "jsonl"]).ok().out;
    assert_eq!(exported.as_bytes(), before);
    desk.run(&["sessions", "redact", "0192f0c1-2222-7000-8000-000000000009"]).failed(2);
}

#[test]
fn s15_a_summary_carries_no_key_over() {
    let [key, password] = secrets();
    let summary = format!("<summary>Deploy uses {key}; the db opens with {password}.</summary>");
    let scenario = Scenario::new()
        .reply(Reply::text("Noted."))
        .reply(Reply::text("Fine."))
        .reply(Reply::text(summary));
    let desk = Desk::with(scenario);
    let long = "lorem ipsum dolor ".repeat(900);
    let prompt = format!("deploy with {key}, the db password is {password}. {long}");
    desk.run(&["-p", "--session-id", ID, &prompt]).ok();
    desk.run(&["-p", "--resume", ID, "and then?"]).ok();
    let ran = desk.run_with(&["--plain", "--resume", ID], "/compact\nand on\n/exit\n").ok();
    assert!(!ran.err.contains("nothing was compacted"), "{ran:#?}");
    let requests = desk.server().requests();
    let last = String::from_utf8_lossy(&requests.last().unwrap().raw).into_owned();
    assert!(last.contains("[secret: a GitHub token]"), "{last}");
    clean(&last);
}
