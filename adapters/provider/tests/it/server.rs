//! A server that answers each connection with bytes given beforehand.

use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// What a connection is answered with.
#[derive(Clone, Debug)]
pub(crate) enum Canned {
    /// These pieces, each flushed, then the end.
    Pieces(Vec<Vec<u8>>),
    /// These bytes, then silence.
    Stall(Vec<u8>),
}

pub(crate) struct Server {
    pub(crate) url: String,
    requests: Arc<Mutex<Vec<String>>>,
    task: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    /// Answers with each in turn; the last one again and again.
    pub(crate) async fn start(answers: Vec<Canned>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&requests);
        let task = tokio::spawn(async move {
            for number in 0.. {
                let (mut socket, _) = listener.accept().await.unwrap();
                let request = read_request(&mut socket).await;
                log.lock().unwrap().push(request);
                let answer = &answers[number.min(answers.len() - 1)];
                write_answer(&mut socket, answer).await;
            }
        });
        Self { url, requests, task }
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

async fn read_request(socket: &mut TcpStream) -> String {
    let mut held = Vec::new();
    loop {
        let mut buffer = [0; 4096];
        let read = socket.read(&mut buffer).await.unwrap_or(0);
        held.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&held).into_owned();
        let Some((top, body)) = text.split_once("\r\n\r\n") else {
            assert!(read > 0, "the request ended early");
            continue;
        };
        let length: usize = top
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))
            .map_or(0, |length| length.parse().unwrap());
        if body.len() >= length || read == 0 {
            return text;
        }
    }
}

async fn write_answer(socket: &mut TcpStream, answer: &Canned) {
    match answer {
        Canned::Pieces(pieces) => {
            for piece in pieces {
                if socket.write_all(piece).await.is_err() {
                    return;
                }
                socket.flush().await.ok();
                tokio::task::yield_now().await;
            }
            socket.shutdown().await.ok();
        }
        Canned::Stall(bytes) => {
            socket.write_all(bytes).await.ok();
            let mut buffer = [0; 64];
            // Until the client hangs up.
            let wait = socket.read(&mut buffer);
            tokio::time::timeout(Duration::from_secs(30), wait).await.ok();
        }
    }
}

/// A response whose body ends with the connection.
pub(crate) fn response(status: u16, headers: &str, body: &[u8]) -> Vec<u8> {
    let mut bytes =
        format!("HTTP/1.1 {status} X\r\nconnection: close\r\n{headers}\r\n").into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

pub(crate) fn whole(bytes: Vec<u8>) -> Canned {
    Canned::Pieces(vec![bytes])
}

pub(crate) fn sse(body: &[u8]) -> Canned {
    whole(response(200, "content-type: text/event-stream\r\nrequest-id: req_1\r\n", body))
}

pub(crate) fn error(status: u16, headers: &str, kind: &str, message: &str) -> Canned {
    let body = json!({"type": "error", "error": {"type": kind, "message": message}});
    let headers = format!("content-type: application/json\r\n{headers}");
    whole(response(status, &headers, body.to_string().as_bytes()))
}

/// An answer of two blocks, as Anthropic streams it.
pub(crate) fn sample() -> String {
    [
        json!({"type": "message_start", "message": {"id": "msg_1", "model": "m", "content": [],
            "usage": {"input_tokens": 5, "cache_creation_input_tokens": 7, "output_tokens": 1}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Grüße 😀"}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "content_block_start", "index": 1, "content_block":
            {"type": "tool_use", "id": "t1", "name": "Read", "input": {}}}),
        json!({"type": "content_block_delta", "index": 1, "delta":
            {"type": "input_json_delta", "partial_json": "{\"file_path\":\"/a\"}"}}),
        json!({"type": "content_block_stop", "index": 1}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}}),
        json!({"type": "message_stop"}),
    ]
    .iter()
    .map(frame)
    .collect()
}

pub(crate) fn frame(value: &Value) -> String {
    format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap())
}
