//! `everfold mcp` with clients of others (X3): the official Python and TypeScript
//! SDKs in both protocol revisions, and the MCP Inspector. Where they cannot be
//! installed, the tests say so and pass by.

use crate::desk::Desk;
use everfold_testkit::interop;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const PYTHON: &[&str] = &["mcp==2.3.0"];
const NODE: &[&str] = &["@modelcontextprotocol/sdk@1.32.2", "@modelcontextprotocol/client@2.4.0"];
const INSPECTOR: &[&str] = &["@modelcontextprotocol/inspector@2.12.0"];

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/mcp").join(name)
}

/// How a client starts the server.
fn stdio(desk: &Desk) -> String {
    json!({
        "command": env!("CARGO_BIN_EXE_everfold"),
        "args": ["mcp"],
        "env": {"HOME": desk.files.home()},
        "cwd": desk.files.project(),
    })
    .to_string()
}

fn told(command: &mut Command) -> Value {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let out = String::from_utf8_lossy(&output.stdout);
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{out}\n{err}");
    serde_json::from_str(out.trim()).unwrap_or_else(|error| panic!("{error}: {out}\n{err}"))
}

/// A desk where the person told a host what its model saves afterwards: without
/// that it would wait (L5.33).
fn spoken() -> Desk {
    let desk = Desk::offline();
    let input = json!({
        "session_id": "0192f0c1-1111-7000-8000-000000000003", "cwd": desk.files.project(),
        "hook_event_name": "UserPromptSubmit",
        "prompt": "Deploys of the shop go out on Thursdays. The shop is deployed on Thursdays, \
                   as support is there then.",
    });
    desk.run_with(&["hook", "UserPromptSubmit"], input.to_string()).ok();
    desk
}

/// That a client saw what it should.
#[track_caller]
fn check(told: &Value, desk: &Desk) {
    assert_eq!(
        told["tools"],
        json!([
            "memory_search",
            "memory_read",
            "memory_save",
            "memory_forget",
            "session_search",
            "result_read"
        ])
    );
    assert_eq!(told["saved"]["state"], "saved", "{told}");
    assert_eq!(told["found"]["memories"][0]["id"], "project/deploy-day.md", "{told}");
    assert_eq!(told["wrong"][0], true);
    assert!(told["wrong"][1].as_str().unwrap().contains("memory_search gives ids"), "{told}");
    assert_eq!(told["resources"], json!(["memory://project/deploy-day.md"]));
    assert!(told["text"].as_str().unwrap().contains("as support is there then"), "{told}");
    let log = desk.run(&["memory", "log", "--json"]).ok().json();
    assert_eq!(log[0]["author"]["source"], "mcp", "{log}");
}

#[test]
fn x3_every_malformed_message_gets_its_error_and_the_server_goes_on() {
    let desk = Desk::offline();
    let init = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"},
    }});
    let lines = [
        "oops".to_owned(),
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned(),
        "[]".to_owned(),
        init.to_string(),
        r#"{"jsonrpc":"2.0","id":2,"method":"no/such"}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"nope"}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":9,"method":"ping"}"#.to_owned(),
    ];
    let mut command = desk.command(&["mcp"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all((lines.join("\n") + "\n").as_bytes()).unwrap();
    let mut codes = Vec::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines().take(8) {
        let answer: Value = serde_json::from_str(&line.unwrap()).unwrap();
        codes.push((answer["id"].clone(), answer["error"]["code"].clone()));
    }
    drop(input);
    assert!(child.wait().unwrap().success());
    for wanted in [
        (json!(null), json!(-32_700)),
        (json!(null), json!(-32_600)),
        (json!(1), json!(null)),
        (json!(2), json!(-32_601)),
        (json!(3), json!(-32_602)),
        (json!(4), json!(-32_602)),
        (json!(9), json!(null)),
    ] {
        assert!(codes.contains(&wanted), "{wanted:?} in {codes:?}");
    }
    assert_eq!(codes.iter().filter(|(_, code)| *code == json!(-32_600)).count(), 2);
}

#[test]
fn x3_malformed_messages_over_http_too() {
    let desk = Desk::offline();
    let server = Server::start(&desk);
    let address = server.url.trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
    for (body, code) in [
        ("oops", -32_700),
        ("{}", -32_600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#, -32_602),
    ] {
        let mut stream = TcpStream::connect(&address).unwrap();
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\
             content-type: application/json\r\naccept: application/json, text/event-stream\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(
            answer.starts_with("HTTP/1.1 400") && answer.contains(&code.to_string()),
            "{answer}"
        );
    }
}

#[test]
fn x3_the_python_sdk_works_in_both_revisions_over_stdio_and_http() {
    let Some(python) = interop::python(PYTHON) else { return };
    for mode in ["legacy", "2026-07-28"] {
        let desk = spoken();
        check(
            &told(Command::new(&python).arg(script("client.py")).args([&stdio(&desk), mode])),
            &desk,
        );
        let desk = spoken();
        let server = Server::start(&desk);
        let url = json!(server.url).to_string();
        check(&told(Command::new(&python).arg(script("client.py")).args([&url, mode])), &desk);
    }
}

#[test]
fn x3_the_typescript_sdks_work_in_both_revisions_over_stdio_and_http() {
    let Some(node) = interop::node(NODE) else { return };
    // Packages are looked for beside the script.
    let beside = node.join("client.mjs");
    std::fs::copy(script("client.mjs"), &beside).unwrap();
    for mode in ["v1", "v2", "v2-pinned"] {
        let desk = spoken();
        check(&told(Command::new("node").arg(&beside).args([&stdio(&desk), mode])), &desk);
        let desk = spoken();
        let server = Server::start(&desk);
        let url = json!(server.url).to_string();
        check(&told(Command::new("node").arg(&beside).args([&url, mode])), &desk);
    }
}

#[test]
fn x3_the_inspector_lists_and_calls() {
    let Some(node) = interop::node(INSPECTOR) else { return };
    let desk = Desk::offline();
    let inspect = |args: &[&str]| {
        let mut command = Command::new(node.join("node_modules/.bin/mcp-inspector"));
        command.args(["--cli", env!("CARGO_BIN_EXE_everfold"), "mcp"]).args(args);
        told(command.env("HOME", desk.files.home()).current_dir(desk.files.project()))
    };
    let tools = inspect(&["--method", "tools/list"]);
    assert_eq!(tools["tools"].as_array().unwrap().len(), 6);
    assert_eq!(tools["tools"][0]["annotations"]["readOnlyHint"], true);
    let call =
        ["--method", "tools/call", "--tool-name", "memory_search", "--tool-arg", "query=the shop"];
    assert_eq!(inspect(&call)["structuredContent"]["memories"], json!([]));
}

/// A server that listens.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(desk: &Desk) -> Self {
        let mut child = desk.command(&["mcp", "--http"]).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening on ").unwrap().to_owned();
        Self { child, url }
    }

    fn status(&self, headers: &str) -> u16 {
        let address = self.url.strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap();
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "c", "version": "1"}}})
        .to_string();
        let host =
            if headers.contains("Host:") { String::new() } else { format!("Host: {address}\r\n") };
        let request = format!(
            "POST /mcp HTTP/1.1\r\n{host}{headers}Content-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nConnection: close\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut head = [0; 12];
        stream.read_exact(&mut head).unwrap();
        std::str::from_utf8(&head[9..]).unwrap().parse().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
fn x3_http_is_on_loopback_and_pages_of_others_are_refused() {
    let desk = Desk::offline();
    let server = Server::start(&desk);
    assert!(server.url.starts_with("http://127.0.0.1:"), "{}", server.url);
    assert_eq!(server.status(""), 200);
    assert_eq!(server.status("Origin: http://localhost:3000\r\n"), 200);
    for origin in
        ["http://evil.example", "https://evil.example:443", "null", "http://localhost.evil.example"]
    {
        assert_eq!(server.status(&format!("Origin: {origin}\r\n")), 403, "{origin}");
    }
    assert_eq!(server.status("Host: evil.example\r\n"), 403, "a name that leads here");
}

#[test]
fn x3_a_client_that_says_nothing_sensible_does_no_harm() {
    let desk = Desk::offline();
    for input in ["", "\n", "not json\n", "{\"jsonrpc\":\"2.0\"}\n", "[]\n"] {
        let ran = desk.run_with(&["mcp"], input);
        assert!(ran.out.is_empty() || ran.out.starts_with('{'), "only the protocol: {ran:?}");
    }
    desk.run(&["mcp", "--project", "/no/such/place"]).failed(2);
}
