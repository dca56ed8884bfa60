//! The client against real servers: our own script on pipes, our own server
//! over HTTP in both revisions, and the reference servers where they are to
//! be had.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "tests"
)]

mod asking;
mod reference;

use everfold_kernel::limits::McpLimits;
use everfold_kernel::ports::{Library, ServerError, ServerState, Servers};
use everfold_mcp::{McpServers, entries};
use everfold_testkit::mcp::{McpHttp, Revision, script};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// No test may run longer, whatever breaks.
const LIMIT: Duration = Duration::from_secs(45);

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn servers(&self, named: &Value, limits: McpLimits) -> McpServers {
        let (good, broken) = entries(named.as_object().unwrap(), "test", &BTreeMap::new());
        assert!(broken.is_empty(), "{broken:?}");
        let roots = [self.dir.path().to_owned()];
        McpServers::new(good, &roots, Vec::new(), BTreeMap::new(), limits)
    }

    /// An entry for the script server.
    fn scripted(&self, more: usize) -> Value {
        let path = self.dir.path().join("server.sh");
        std::fs::write(&path, script(more)).unwrap();
        json!({"command": "bash", "args": [path]})
    }
}

async fn call(servers: &McpServers, tool: &str, arguments: Value) -> Result<Value, ServerError> {
    let Value::Object(arguments) = arguments else { panic!() };
    let called =
        tokio::time::timeout(LIMIT, servers.call("s", tool, arguments, None)).await.unwrap();
    called.map(|result| result.content[0]["text"].clone())
}

async fn up(servers: &McpServers) {
    servers.connect();
    servers.settled(LIMIT).await;
}

fn runs(pid: &str) -> bool {
    let asked = std::process::Command::new("ps").args(["-o", "stat=", "-p", pid]).output().unwrap();
    let state = String::from_utf8_lossy(&asked.stdout).trim().to_owned();
    !state.is_empty() && !state.starts_with('Z')
}

/// Whether anything of a process group runs.
async fn group_ends(pid: &str) {
    for _ in 0..1_000 {
        let asked = std::process::Command::new("ps").args(["-o", "pid=,stat=", "-g", pid]).output();
        let text = String::from_utf8_lossy(&asked.unwrap().stdout).into_owned();
        if !runs(pid) && text.lines().all(|line| line.contains('Z')) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("something of {pid} is left");
}

#[tokio::test]
async fn q5_a_server_on_pipes_is_started_listed_called_and_ended() {
    let place = Place::new();
    let servers = place.servers(&json!({"s": place.scripted(500)}), McpLimits::default());
    assert_eq!(servers.list()[0].state, ServerState::Idle, "nothing runs before it is asked for");
    up(&servers).await;
    let view = servers.list().remove(0);
    assert_eq!(view.state, ServerState::Up("2025-11-25".into()));
    assert_eq!(view.instructions.as_deref(), Some("use echo gently"));
    assert_eq!((view.tools.len(), view.tools[0].name.as_str()), (505, "echo"));
    assert_eq!(call(&servers, "echo", json!({"text": "hello"})).await.unwrap(), "hello");
    let pid = call(&servers, "pid", json!({})).await.unwrap().as_str().unwrap().to_owned();
    assert!(runs(&pid));
    servers.shutdown().await;
    group_ends(&pid).await;
}

#[tokio::test]
async fn q5_a_server_that_dies_in_a_call_is_started_again() {
    let place = Place::new();
    let servers = place.servers(&json!({"s": place.scripted(0)}), McpLimits::default());
    up(&servers).await;
    let pid = call(&servers, "pid", json!({})).await.unwrap();
    let died = call(&servers, "die", json!({})).await.unwrap_err();
    assert!(matches!(&died, ServerError::Died { reason, .. } if reason == "out of luck"), "{died}");
    group_ends(pid.as_str().unwrap()).await;
    let again = call(&servers, "pid", json!({})).await.unwrap();
    assert_ne!(pid, again);
    // One that keeps dying is left alone in the end.
    let mut last = None;
    for _ in 0..6 {
        last = call(&servers, "die", json!({})).await.err();
    }
    assert!(matches!(&last, Some(ServerError::Down { .. })), "{last:?}");
}

#[tokio::test]
async fn q5_time_and_size_of_a_call_are_bounded() {
    let place = Place::new();
    let mut entry = place.scripted(0);
    entry["timeout"] = json!(300);
    let limits = McpLimits { result_bytes: 100_000, ..McpLimits::default() };
    let servers = place.servers(&json!({"s": entry}), limits);
    up(&servers).await;
    assert!(matches!(call(&servers, "hang", json!({})).await, Err(ServerError::Late { .. })));
    let large = call(&servers, "large", json!({})).await;
    assert!(matches!(large, Err(ServerError::TooLarge { .. } | ServerError::Late { .. })));
    let unknown = servers.call("t", "echo", Map::new(), None).await;
    assert!(matches!(unknown, Err(ServerError::Unknown { .. })));
}

#[tokio::test]
async fn q5_servers_that_do_not_come_up_say_why() {
    let place = Place::new();
    let limits = McpLimits { start_ms: 500, ..McpLimits::default() };
    let servers = place.servers(
        &json!({
            "s": {"command": "no-such-program-at-all"},
            "quits": {"command": "bash", "args": ["-c", "echo no licence >&2; exit 1"]},
            "mute": {"command": "sleep", "args": ["1000"]},
            "babbles": {"command": "bash", "args": ["-c", "while echo hello; do sleep 0.1; done"]},
            "gone": {"url": "http://127.0.0.1:9/mcp"},
        }),
        limits,
    );
    up(&servers).await;
    for view in servers.list() {
        let ServerState::Down(why) = &view.state else { panic!("{view:?}") };
        assert!(!why.is_empty() && view.tools.is_empty());
        if view.name == "quits" {
            assert!(why.contains("no licence"), "{why}");
        }
    }
    servers.shutdown().await;
}

#[tokio::test]
async fn q5_both_revisions_are_spoken_over_http() {
    for (revision, version, first) in [
        (Revision::Newer, "2026-07-28", "server/discover"),
        (Revision::Older, "2025-11-25", "server/discover"),
    ] {
        let place = Place::new();
        let server = McpHttp::start(revision).unwrap();
        let servers = place
            .servers(&json!({"s": {"type": "http", "url": server.url()}}), McpLimits::default());
        up(&servers).await;
        let view = servers.list().remove(0);
        assert_eq!(view.state, ServerState::Up(version.into()), "{:?}", server.methods());
        assert_eq!(view.instructions.as_deref(), Some("be kind to the server"));
        assert_eq!(view.tools.len(), 3);
        assert_eq!(call(&servers, "echo", json!({"text": "über"})).await.unwrap(), "über");
        let refused = call(&servers, "boom", json!({})).await;
        assert!(matches!(refused, Err(ServerError::Refused { .. })), "{refused:?}");
        assert_eq!(server.methods()[0], first);
        let has_hello = server.methods().iter().any(|method| method == "initialize");
        assert_eq!(has_hello, revision == Revision::Older);
        servers.shutdown().await;
    }
}

#[tokio::test]
async fn q5_a_call_to_a_server_over_http_that_went_away_fails() {
    let place = Place::new();
    let server = McpHttp::start(Revision::Older).unwrap();
    let named = json!({"s": {"url": server.url(), "timeout": 5_000}});
    let servers = place.servers(&named, McpLimits::default());
    up(&servers).await;
    assert!(call(&servers, "echo", json!({"text": "a"})).await.is_ok());
    drop(server);
    assert!(call(&servers, "echo", json!({"text": "a"})).await.is_err());
    servers.shutdown().await;
}

#[tokio::test]
async fn q5_a_server_over_http_that_comes_back_is_connected_to_again() {
    for revision in [Revision::Older, Revision::Newer] {
        let place = Place::new();
        let http = McpHttp::start(revision).unwrap();
        let servers = place.servers(&json!({"s": {"url": http.url()}}), McpLimits::default());
        up(&servers).await;
        assert_eq!(call(&servers, "echo", json!({"text": "one"})).await.unwrap(), "one");
        let port = http.stop();
        // More often than a process would be started again.
        for _ in 0..6 {
            let gone = call(&servers, "echo", json!({"text": "two"})).await.unwrap_err();
            assert!(
                matches!(gone, ServerError::Died { .. } | ServerError::Down { .. }),
                "{revision:?}: {gone}"
            );
        }
        let again = McpHttp::start_at(revision, port).unwrap();
        assert_eq!(call(&servers, "echo", json!({"text": "three"})).await.unwrap(), "three");
        assert!(again.methods().contains(&"tools/call".to_owned()));
        servers.shutdown().await;
    }
}

/// A server on pipes that knows no `initialize`.
const NEWER: &str = r#"while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  say() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
  case "$line" in
    *'"method":"server/discover"'*) say '{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}' ;;
    *'"method":"tools/list"'*) say '{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[{"name":"echo","description":"d","inputSchema":{"type":"object"}}]}' ;;
    *'"method":"tools/call"'*) say '{"resultType":"complete","content":[{"type":"text","text":"newer"}]}' ;;
    *'"id":'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}\n' "$id" ;;
  esac
done"#;

#[tokio::test]
async fn q5_a_server_on_pipes_of_the_newer_revision_is_spoken_to_in_it() {
    let place = Place::new();
    let entry = json!({"s": {"command": "bash", "args": ["-c", NEWER]}});
    let servers = place.servers(&entry, McpLimits::default());
    up(&servers).await;
    assert_eq!(servers.list()[0].state, ServerState::Up("2026-07-28".into()));
    assert_eq!(call(&servers, "echo", json!({})).await.unwrap(), "newer");
    servers.shutdown().await;
}

#[tokio::test]
async fn q5_resources_and_prompts_are_listed_and_read() {
    let place = Place::new();
    let servers = place.servers(&json!({"s": place.scripted(0)}), McpLimits::default());
    up(&servers).await;
    let view = servers.list().remove(0);
    assert_eq!(view.library, Library::Open);
    assert_eq!(view.prompts[0].name, "greet");
    assert_eq!(view.prompts[0].arguments, ["text", "how"]);
    let found = servers.resources("s").await.unwrap();
    assert_eq!((found.len(), found[0].uri.as_str()), (1, "note://one"));
    let read = servers.read("s", "note://one").await.unwrap();
    assert_eq!(read.content[0]["text"], "[resource note://one]\nmilk and bread");
    let refused = servers.read("s", "note://two").await.unwrap_err();
    assert!(matches!(refused, ServerError::Refused { .. }), "{refused}");
    let arguments = Map::from_iter([("text".to_owned(), json!("Ada"))]);
    assert_eq!(servers.prompt("s", "greet", arguments).await.unwrap(), ["Greet Ada.", "Hello!"]);
    let unknown = servers.prompt("nowhere", "greet", Map::new()).await;
    assert!(matches!(unknown, Err(ServerError::Unknown { .. })));
    servers.shutdown().await;
}

#[tokio::test]
async fn q5_headers_come_from_settings_and_from_a_command() {
    let place = Place::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let heard = std::thread::spawn(move || {
        use std::io::{Read as _, Write as _};
        let (mut stream, _) = listener.accept().unwrap();
        let mut bytes = [0; 4_096];
        let read = stream.read(&mut bytes).unwrap();
        stream.write_all(b"HTTP/1.1 401 Unauthorized\r\nwww-authenticate: Bearer\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").unwrap();
        String::from_utf8_lossy(&bytes[..read]).to_lowercase()
    });
    let entry = json!({"s": {"url": url, "headers": {"x-one": "1"},
        "headersHelper": "echo '{\"authorization\": \"Bearer abc\"}'"}});
    let limits = McpLimits { start_ms: 5_000, ..McpLimits::default() };
    let servers = place.servers(&entry, limits);
    up(&servers).await;
    let said = heard.join().unwrap();
    assert!(said.contains("x-one: 1") && said.contains("authorization: bearer abc"), "{said}");
    let ServerState::Down(why) = &servers.list()[0].state else { panic!() };
    assert!(why.contains("it requires a login"), "{why}");
    for (helper, says) in [
        ("exit 3", "failed"),
        ("echo nonsense", "did not print a JSON"),
        ("sleep 60", "took too long"),
    ] {
        let entry = json!({"s": {"url": "http://127.0.0.1:9/", "headersHelper": helper}});
        let limits = McpLimits { headers_ms: 300, ..McpLimits::default() };
        let servers = place.servers(&entry, limits);
        up(&servers).await;
        let ServerState::Down(why) = &servers.list()[0].state else { panic!() };
        assert!(why.contains(says), "{why}");
    }
}
