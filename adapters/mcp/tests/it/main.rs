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
    missing_docs,
    reason = "tests"
)]

mod reference;

use mnemon_kernel::limits::McpLimits;
use mnemon_kernel::ports::{ServerError, ServerState, Servers};
use mnemon_mcp::{McpServers, entries};
use mnemon_testkit::mcp::{McpHttp, Revision, script};
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
    let called = tokio::time::timeout(LIMIT, servers.call("s", tool, arguments)).await.unwrap();
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
    let unknown = servers.call("t", "echo", Map::new()).await;
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
