//! The reference servers from npm, installed once into `target/interop`. Where
//! that cannot be done the test says so and passes by.

use super::{LIMIT, Place, up};
use everfold_kernel::limits::McpLimits;
use everfold_kernel::ports::{ServerState, Servers};
use everfold_testkit::interop;
use serde_json::{Value, json};

const PACKAGES: [&str; 3] = [
    "@modelcontextprotocol/server-filesystem",
    "@modelcontextprotocol/server-memory",
    "@modelcontextprotocol/server-everything",
];

#[tokio::test]
async fn q5_the_reference_servers_work() {
    let Some(installed) = interop::node(&PACKAGES) else { return };
    let place = Place::new();
    let dir = place.dir.path().canonicalize().unwrap();
    let bin = |name: &str| installed.join("node_modules/.bin").join(name);
    std::fs::write(dir.join("note.txt"), "milk and bread").unwrap();
    let named = json!({
        "files": {"command": bin("mcp-server-filesystem"), "args": [dir]},
        "memory": {"command": bin("mcp-server-memory"), "env": {"MEMORY_FILE_PATH": dir.join("m.jsonl")}},
        "everything": {"command": bin("mcp-server-everything")},
    });
    let servers = place.servers(&named, McpLimits::default());
    up(&servers).await;
    for view in servers.list() {
        assert!(matches!(view.state, ServerState::Up(_)), "{}: {:?}", view.name, view.state);
        assert!(!view.tools.is_empty());
        println!("{}: {:?}, {} tools", view.name, view.state, view.tools.len());
    }
    let call = async |server: &str, tool: &str, arguments: Value| {
        let Value::Object(arguments) = arguments else { panic!() };
        let called = servers.call(server, tool, arguments, None);
        let result = tokio::time::timeout(LIMIT, called).await.unwrap().unwrap();
        serde_json::to_string(&result.content).unwrap()
    };
    let read = call("files", "read_text_file", json!({"path": dir.join("note.txt")})).await;
    assert!(read.contains("milk and bread"), "{read}");
    let entity = json!({"entities": [{"name": "Ada", "entityType": "person", "observations": ["likes tea"]}]});
    call("memory", "create_entities", entity).await;
    let graph = call("memory", "read_graph", json!({})).await;
    assert!(graph.contains("likes tea"), "{graph}");
    let echoed = call("everything", "echo", json!({"message": "hello there"})).await;
    assert!(echoed.contains("hello there"), "{echoed}");
    servers.shutdown().await;
}
