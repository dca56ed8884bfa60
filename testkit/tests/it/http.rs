//! A client that sees chunks and breaks as they are, which libraries hide.

use everfold_testkit::TestServer;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// How long a read may take before the test fails.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) struct Connection {
    reader: BufReader<TcpStream>,
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
}

/// The next part of a body.
#[derive(Debug, PartialEq)]
pub(crate) enum Part {
    Data(Vec<u8>),
    End,
    Broken,
}

/// A whole response.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) chunks: Vec<Vec<u8>>,
    pub(crate) broken: bool,
}

const AUTH: &[(&str, &str)] = &[("x-api-key", "k"), ("anthropic-version", "2023-06-01")];

/// A body that the API takes.
pub(crate) fn body(messages: Value) -> Value {
    let mut body = json!({"model": "claude-opus-5", "max_tokens": 1000, "stream": true});
    body["messages"] = messages;
    body
}

pub(crate) fn user(text: &str) -> Value {
    json!([{"role": "user", "content": text}])
}

/// Opens a connection and sends; none where it closes before any header.
pub(crate) fn open(
    server: &TestServer,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Option<Connection> {
    let address = server.base_url().strip_prefix("http://").unwrap().to_owned();
    let mut stream = TcpStream::connect(&address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut head = format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-length: {}\r\n",
        body.len()
    );
    for (name, value) in headers {
        head.extend([name, ": ", value, "\r\n"]);
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body).unwrap();
    let mut reader = BufReader::new(stream);
    let status = line(&mut reader)?.split(' ').nth(1)?.parse().unwrap();
    let mut headers = Vec::new();
    loop {
        let header = line(&mut reader)?;
        let Some((name, value)) = header.split_once(": ") else {
            break;
        };
        headers.push((name.to_lowercase(), value.to_owned()));
    }
    Some(Connection { reader, status, headers })
}

/// One line without its end; none where the connection is closed.
fn line(reader: &mut BufReader<TcpStream>) -> Option<String> {
    let mut line = String::new();
    match reader.read_line(&mut line) {
        Ok(0) => None,
        Ok(_) => Some(line.trim_end().to_owned()),
        Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => None,
        Err(error) => panic!("no answer in time: {error}"),
    }
}

impl Connection {
    /// The next chunk, or the whole body where it has a length.
    pub(crate) fn part(&mut self) -> Part {
        let length = self.headers.iter().find(|(name, _)| name == "content-length");
        if let Some((_, length)) = length {
            let mut data = vec![0; length.parse().unwrap()];
            self.headers.retain(|(name, _)| name != "content-length");
            self.headers.push(("was-read".into(), String::new()));
            self.reader.read_exact(&mut data).unwrap();
            return Part::Data(data);
        }
        if self.headers.iter().any(|(name, _)| name == "was-read") {
            return Part::End;
        }
        let Some(size) = line(&mut self.reader) else {
            return Part::Broken;
        };
        let size = usize::from_str_radix(&size, 16).unwrap();
        let mut data = vec![0; size + 2];
        if self.reader.read_exact(&mut data).is_err() {
            return Part::Broken;
        }
        data.truncate(size);
        if size == 0 { Part::End } else { Part::Data(data) }
    }

    pub(crate) fn rest(mut self) -> Response {
        let mut chunks = Vec::new();
        let broken = loop {
            match self.part() {
                Part::Data(data) => chunks.push(data),
                Part::End => break false,
                Part::Broken => break true,
            }
        };
        Response { status: self.status, headers: self.headers, chunks, broken }
    }
}

impl Response {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.chunks.concat()
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.bytes()).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text()).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut all = self.headers.iter();
        all.find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The data of every whole event.
    pub(crate) fn events(&self) -> Vec<Value> {
        let text = self.text();
        let data = text.split("\n\n").flat_map(str::lines);
        data.filter_map(|line| line.strip_prefix("data: "))
            .filter(|data| *data != "[DONE]")
            .map(|data| serde_json::from_str(data).unwrap())
            .collect()
    }

    /// The blocks of a streamed answer, put together again.
    pub(crate) fn blocks(&self) -> Vec<Value> {
        let mut blocks: Vec<Value> = Vec::new();
        let mut inputs: Vec<String> = Vec::new();
        for event in self.events() {
            let delta = &event["delta"];
            let at = usize::try_from(event["index"].as_u64().unwrap_or(0)).unwrap();
            match event["type"].as_str().unwrap() {
                "content_block_start" => {
                    blocks.push(event["content_block"].clone());
                    inputs.push(String::new());
                }
                "content_block_delta" => {
                    for key in ["text", "thinking", "signature"] {
                        if let Some(more) = delta[key].as_str() {
                            let text = blocks[at][key].as_str().unwrap().to_owned() + more;
                            blocks[at][key] = json!(text);
                        }
                    }
                    inputs[at].push_str(delta["partial_json"].as_str().unwrap_or(""));
                }
                "content_block_stop" if !inputs[at].is_empty() => {
                    blocks[at]["input"] = serde_json::from_str(&inputs[at]).unwrap();
                }
                _ => {}
            }
        }
        blocks
    }
}

/// Posts to an endpoint with key and version.
pub(crate) fn post(server: &TestServer, path: &str, body: &Value) -> Response {
    post_with(server, path, body, &[])
}

pub(crate) fn post_with(
    server: &TestServer,
    path: &str,
    body: &Value,
    more: &[(&str, &str)],
) -> Response {
    // A header given by the test takes the place of the usual one.
    let usual = AUTH.iter().filter(|(name, _)| more.iter().all(|(other, _)| other != name));
    let headers: Vec<(&str, &str)> = usual.chain(more).copied().collect();
    open(server, "POST", path, &headers, body.to_string().as_bytes()).expect("a response").rest()
}

/// Asks for an answer.
pub(crate) fn ask(server: &TestServer, messages: Value) -> Response {
    post(server, "/v1/messages", &body(messages))
}
