//! The server as a program.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// How long a line or an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// A program that ends with the test, however that ends.
struct Program {
    child: Child,
    lines: Receiver<String>,
}

impl Program {
    fn serve(scenario: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_everfold-testkit"))
            .args(["serve", &format!("{}/{scenario}", env!("CARGO_MANIFEST_DIR"))])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        // A thread reads, so that a line that never comes fails the test.
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Self { child, lines }
    }

    fn line(&self) -> String {
        self.lines.recv_timeout(PATIENCE).unwrap()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn post(address: &str, path: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nx-api-key: k\r\nx-everfold-source: main\r\n\
         anthropic-version: 2023-06-01\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

#[test]
fn q8_a_person_gets_the_address_and_a_line_for_each_request() {
    let program = Program::serve("scenarios/demo.json");
    let listening = program.line();
    let address = listening.strip_prefix("listening on http://").unwrap().to_owned();
    let anthropic = format!("ANTHROPIC_BASE_URL=http://{address} ANTHROPIC_API_KEY=test everfold");
    assert_eq!(program.line(), anthropic);
    assert!(program.line().contains(&format!("OPENAI_BASE_URL=http://{address}/v1")));
    let body = r#"{"model":"claude-opus-5","max_tokens":9,"messages":[{"role":"user","content":"hello"}]}"#;
    assert!(post(&address, "/v1/messages", body).contains("You said: hello"));
    assert_eq!(
        program.line(),
        "#1 /v1/messages main claude-opus-5 input 2 read 0 written 0 output 5 $0.000135"
    );
    post(&address, "/v1/messages", "{}");
    assert!(program.line().contains("400 model: Field required"));
    assert!(post(&address, "/testkit/release/go", "").starts_with("HTTP/1.1 200"));
}

#[test]
fn q8_a_scenario_that_cannot_be_read_is_said_to_be_so() {
    let output = Command::new(env!("CARGO_BIN_EXE_everfold-testkit"))
        .args(["serve", "no-such-file.json"])
        .output()
        .unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8(output.stderr).unwrap().contains("no-such-file.json"));
}
