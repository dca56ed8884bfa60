//! Messages as lines, over any pair of pipes. What is no message gets the error
//! that JSON-RPC has for it, and the conversation goes on: rmcp's own reader
//! drops such lines without a word, and a client waits for ever.
//!
//! One task reads and one writes, both owned by the transport and ended with it,
//! so that no answer is torn by another that becomes ready.

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorCode};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::{Map, Value, json};
use std::io;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

/// Longest line that is read, in bytes.
pub(crate) const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;
/// Messages that wait in either direction.
const WAITING: usize = 64;
/// What a client can ask for that is answered here. Of any other, no parameters
/// are looked at: there is no such method.
const METHODS: [&str; 9] = [
    "initialize",
    "ping",
    "server/discover",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "subscriptions/listen",
];

/// A line on its way out, and who waits until it is.
type Outgoing = (Vec<u8>, Option<oneshot::Sender<io::Result<()>>>);

/// A transport over two pipes.
pub(crate) struct Lines {
    incoming: mpsc::Receiver<ClientJsonRpcMessage>,
    outgoing: Option<mpsc::Sender<Outgoing>>,
    reader: JoinHandle<()>,
    writer: Option<JoinHandle<()>>,
}

impl Lines {
    pub(crate) fn new(
        read: impl AsyncRead + Send + Unpin + 'static,
        write: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        let (messages, incoming) = mpsc::channel(WAITING);
        let (outgoing, lines) = mpsc::channel(WAITING);
        let reader = tokio::spawn(read_all(BufReader::new(read), messages, outgoing.clone()));
        let writer = tokio::spawn(write_all(write, lines));
        Self { incoming, outgoing: Some(outgoing), reader, writer: Some(writer) }
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

impl Transport<RoleServer> for Lines {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let outgoing = self.outgoing.clone();
        async move {
            let gone = || io::Error::new(io::ErrorKind::NotConnected, "the client is gone");
            let line = serde_json::to_vec(&item)?;
            let (done, written) = oneshot::channel();
            let outgoing = outgoing.ok_or_else(gone)?;
            outgoing.send((line, Some(done))).await.map_err(|_| gone())?;
            written.await.map_err(|_| gone())?
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        self.incoming.recv().await
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.reader.abort();
        self.outgoing = None;
        if let Some(writer) = self.writer.take() {
            // What was handed over is written first.
            let _ = writer.await;
        }
        Ok(())
    }
}

async fn write_all(mut write: impl AsyncWrite + Unpin, mut lines: mpsc::Receiver<Outgoing>) {
    while let Some((mut line, done)) = lines.recv().await {
        line.push(b'\n');
        let written = match write.write_all(&line).await {
            Ok(()) => write.flush().await,
            failed => failed,
        };
        let is_over = written.is_err();
        if let Some(done) = done {
            let _ = done.send(written);
        }
        if is_over {
            return;
        }
    }
}

async fn read_all(
    mut read: impl AsyncBufRead + Unpin,
    messages: mpsc::Sender<ClientJsonRpcMessage>,
    outgoing: mpsc::Sender<Outgoing>,
) {
    let mut has_started = false;
    while let Some(line) = next_line(&mut read).await {
        let message = match line {
            Ok(line) if line.trim_ascii().is_empty() => continue,
            Ok(line) => message(&line),
            Err(fault) => Err(fault),
        };
        match message {
            // Before the first request nothing else means anything; rmcp would end.
            Ok(Some(other)) if !has_started && !is_request(&other) => {}
            Ok(Some(message)) => {
                has_started = true;
                if messages.send(message).await.is_err() {
                    return;
                }
            }
            Ok(None) => {}
            Err(fault) => {
                tracing::debug!(?fault, "a client sent what is no message");
                let line = fault.reply().to_string().into_bytes();
                if outgoing.send((line, None)).await.is_err() {
                    return;
                }
            }
        }
    }
}

fn is_request(message: &ClientJsonRpcMessage) -> bool {
    matches!(message, ClientJsonRpcMessage::Request(_))
}

/// The next line; none at the end. One that is too long is passed over.
async fn next_line(read: &mut (impl AsyncBufRead + Unpin)) -> Option<Result<Vec<u8>, Fault>> {
    let mut line = Vec::new();
    let mut is_too_long = false;
    loop {
        let there = read.fill_buf().await.ok()?;
        if there.is_empty() {
            let is_nothing = line.is_empty() && !is_too_long;
            return (!is_nothing).then(|| ended(line, is_too_long));
        }
        let end = there.iter().position(|byte| *byte == b'\n');
        let part = there.get(..end.unwrap_or(there.len())).unwrap_or_default();
        is_too_long |= line.len() + part.len() > MAX_LINE_BYTES;
        if is_too_long {
            line = Vec::new();
        } else {
            line.extend_from_slice(part);
        }
        let used = part.len() + usize::from(end.is_some());
        read.consume(used);
        if end.is_some() {
            return Some(ended(line, is_too_long));
        }
    }
}

fn ended(line: Vec<u8>, is_too_long: bool) -> Result<Vec<u8>, Fault> {
    if is_too_long {
        let message = format!("a message has at most {MAX_LINE_BYTES} bytes");
        return Err(Fault::invalid(&Value::Null, message));
    }
    Ok(line)
}

/// What is wrong with a line.
#[derive(Debug, PartialEq)]
struct Fault {
    id: Value,
    code: i32,
    message: String,
}

impl Fault {
    fn new(id: &Value, code: ErrorCode, message: impl Into<String>) -> Self {
        Self { id: id.clone(), code: code.0, message: message.into() }
    }

    fn invalid(id: &Value, message: impl Into<String>) -> Self {
        Self::new(id, ErrorCode::INVALID_REQUEST, message)
    }

    fn params(id: &Value, message: impl Into<String>) -> Self {
        Self::new(id, ErrorCode::INVALID_PARAMS, message)
    }

    fn reply(&self) -> Value {
        let error = json!({"code": self.code, "message": self.message});
        json!({"jsonrpc": "2.0", "id": self.id, "error": error})
    }
}

/// What a client is told of what is no message.
pub(crate) fn check(body: &[u8]) -> Option<Value> {
    message(body).err().map(|fault| fault.reply())
}

/// The message of a line; none where it is a notification that nobody answers.
fn message(line: &[u8]) -> Result<Option<ClientJsonRpcMessage>, Fault> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let value: Value = serde_json::from_slice(line)
        .map_err(|error| Fault::new(&Value::Null, ErrorCode::PARSE_ERROR, error.to_string()))?;
    let Value::Object(fields) = &value else {
        return Err(Fault::invalid(&Value::Null, "a message is a JSON object"));
    };
    let id = id_of(fields)?;
    let reply_to = id.clone().unwrap_or_default();
    if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(Fault::invalid(&reply_to, "`jsonrpc` must be \"2.0\""));
    }
    let Some(method) = fields.get("method") else {
        let is_answer =
            id.is_some() && (fields.contains_key("result") || fields.contains_key("error"));
        let answer = serde_json::from_value(value).ok().filter(|_| is_answer);
        return answer.map(Some).ok_or_else(|| Fault::invalid(&reply_to, "`method` is missing"));
    };
    let Some(method) = method.as_str().map(str::to_owned) else {
        return Err(Fault::invalid(&reply_to, "`method` must be a string"));
    };
    let is_notification = id.is_none();
    if fields.get("params").is_some_and(|params| !params.is_object()) {
        let fault = Fault::params(&reply_to, "`params` must be an object");
        return if is_notification { Ok(None) } else { Err(fault) };
    }
    let unfit = || Fault::params(&reply_to, format!("invalid parameters for {method}"));
    // By the features of the crate, a cursor of another kind is passed over there.
    let cursor = fields.get("params").and_then(|params| params.get("cursor"));
    if !is_notification && cursor.is_some_and(|cursor| !cursor.is_string()) {
        return Err(unfit());
    }
    match serde_json::from_value(value) {
        Err(_) if is_notification => Ok(None),
        Err(_) => Err(unfit()),
        Ok(ClientJsonRpcMessage::Request(request))
            if matches!(request.request, ClientRequest::CustomRequest(_))
                && METHODS.contains(&method.as_str()) =>
        {
            Err(unfit())
        }
        Ok(message) => Ok(Some(message)),
    }
}

/// The id of a message; none where it has none.
fn id_of(fields: &Map<String, Value>) -> Result<Option<Value>, Fault> {
    match fields.get("id") {
        None => Ok(None),
        Some(id @ Value::String(_)) => Ok(Some(id.clone())),
        Some(id @ Value::Number(number)) if number.is_i64() || number.is_u64() => {
            Ok(Some(id.clone()))
        }
        Some(_) => Err(Fault::invalid(&Value::Null, "`id` must be a string or a whole number")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(line: &str) -> Option<i32> {
        message(line.as_bytes()).err().map(|fault| fault.code)
    }

    #[test]
    fn x3_every_malformed_message_has_its_error() {
        for (line, wanted) in [
            ("{", -32_700),
            ("nonsense", -32_700),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"", -32_700),
            ("\u{1F600}", -32_700),
            ("[]", -32_600),
            ("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", -32_600),
            ("7", -32_600),
            ("null", -32_600),
            ("{}", -32_600),
            (r#"{"id":1,"method":"ping"}"#, -32_600),
            (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32_600),
            (r#"{"jsonrpc":"2.0","id":1}"#, -32_600),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, -32_600),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32_600),
            (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32_600),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32_600),
            (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}"#, -32_602),
            (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#, -32_602),
            (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}"#, -32_602),
            (r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":5}}"#, -32_602),
            (r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{}}"#, -32_602),
            (r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#, -32_602),
        ] {
            assert_eq!(code(line), Some(wanted), "{line}");
        }
        assert_eq!(message(&[0xff, 0xfe]).unwrap_err().code, -32_700);
        let named = message(br#"{"jsonrpc":"2.0","id":"a","method":7}"#).unwrap_err();
        assert_eq!(named.reply()["id"], "a", "{named:?}");
    }

    #[test]
    fn x3_what_is_a_message_passes_and_notifications_are_never_answered() {
        for line in [
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"tools/list\",\"params\":{}}\r",
            r#"{"jsonrpc":"2.0","id":1,"method":"no/such","params":{"a":1}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        ] {
            assert!(message(line.as_bytes()).unwrap().is_some(), "{line}");
        }
        assert_eq!(
            code(r#"{"jsonrpc":"2.0","method":"notifications/initialized","params":7}"#),
            None
        );
    }
}
