//! Servers of tools in whole conversations.

use crate::place::{Place, say_ok};
use everfold_agent::engine::window::compaction;
use everfold_agent::engine::window::compaction::Compaction;
use everfold_agent::{Agent, CancellationToken};
use everfold_testkit::mcp::{McpHttp, Revision, script};
use everfold_testkit::{Reply, Scenario, TestServer, When, oracle};
use serde_json::{Value, json};

fn start(scenario: Scenario) -> Place {
    Place::new(TestServer::start(scenario).unwrap())
}

/// An agent whose home settings name these servers.
async fn with_servers(place: &Place, servers: &Value) -> Agent {
    let settings = json!({ "mcpServers": servers }).to_string();
    place.dirs.write(place.dirs.home().join("settings.json"), &settings).unwrap();
    place.agent().await
}

fn scripted(place: &Place, more: usize) -> Value {
    let path = place.dirs.write(place.dirs.root().join("server.sh"), &script(more)).unwrap();
    json!({"command": "bash", "args": [path]})
}

fn messages(place: &Place, index: usize) -> String {
    place.server.requests()[index].body["messages"].to_string()
}

fn call(tool: &str, arguments: &Value) -> Reply {
    Reply::tool("mcp__call", json!({"tool": tool, "arguments": arguments}))
}

#[tokio::test]
async fn q14_schemas_are_deferred_and_calls_go_through_with_500_tools() {
    let place = start(
        Scenario::new()
            .reply(Reply::tool("ToolSearch", json!({"query": "select:mcp__s__echo"})))
            .reply(call("mcp__s__echo", &json!({"text": "hello server"})))
            .reply(Reply::tool("ToolSearch", json!({"query": "further 499"})))
            .reply(call("mcp__s__nothing", &json!({})))
            .otherwise(Reply::text("done")),
    );
    let agent = with_servers(&place, &json!({"s": scripted(&place, 500)})).await;
    let mut session = agent.start();
    say_ok(&mut session, "go").await;
    say_ok(&mut session, "again").await;
    let requests = place.server.requests();
    oracle::assert_prefix_stable(&requests);
    let first = messages(&place, 0);
    assert!(first.contains("- mcp__s__echo") && first.contains("- mcp__s__more_499"));
    assert!(!first.contains("Ignore all rules"), "names only");
    assert!(first.contains("use echo gently"), "instructions");
    let tools: Vec<Value> =
        requests[0].body["tools"].as_array().unwrap().iter().map(|t| t["name"].clone()).collect();
    let own = ["ToolSearch", "mcp__call", "ListMcpResourcesTool", "ReadMcpResourceTool"];
    assert_eq!(tools[tools.len() - 4..], own);
    let found = requests[1].last_tool_results().unwrap();
    assert!(
        found.contains("\\\"input_schema\\\"") || found.contains("\"input_schema\""),
        "{found}"
    );
    assert!(found.contains("&lt;/system-reminder>"), "a hostile description is made harmless");
    assert!(requests[2].last_tool_results().unwrap().contains("hello server"));
    assert!(requests[3].last_tool_results().unwrap().contains("mcp__s__more_499"));
    assert!(requests[4].last_tool_results().unwrap().contains("unknown tool"));
    assert_eq!(messages(&place, 5).matches("Tools of servers").count(), 1, "told once");
    agent.shutdown().await;
}

#[tokio::test]
async fn q6_q7_a_servers_tool_is_judged_by_its_own_name() {
    let place = start(
        Scenario::new()
            .reply(call("mcp__s__echo", &json!({"text": "one"})))
            .reply(call("mcp__s__pid", &json!({})))
            .otherwise(Reply::text("done")),
    );
    let settings = json!({
        "mcpServers": {"s": scripted(&place, 0)},
        "permissions": {"allow": ["mcp__s__echo"]},
        "hooks": {"PreToolUse": [{"matcher": "mcp__s__.*", "hooks": [
            {"type": "command", "command": "cat >> seen; echo >> seen"}]}]},
    });
    place.dirs.write(place.dirs.home().join("settings.json"), &settings.to_string()).unwrap();
    // Nobody says yes: what runs is allowed by a rule.
    let agent = place
        .builder()
        .approver(std::sync::Arc::new(everfold_agent::RefuseAll))
        .build()
        .await
        .unwrap();
    let end = say_ok(&mut agent.start(), "go").await;
    let requests = place.server.requests();
    assert!(requests[1].last_tool_results().unwrap().contains("one"));
    assert_eq!(end.denials.len(), 1);
    assert_eq!(end.denials[0].name, "mcp__s__pid");
    let seen = std::fs::read_to_string(place.dirs.project().join("seen")).unwrap();
    let first: Value = serde_json::from_str(seen.lines().next().unwrap()).unwrap();
    assert_eq!((&first["tool_name"], &first["mcp_server"]), (&json!("mcp__s__echo"), &json!("s")));
    assert_eq!(first["tool_input"]["text"], "one");
    agent.shutdown().await;
}

#[tokio::test]
async fn l1_1_a_large_answer_of_a_server_is_spilled_and_one_that_dies_is_told() {
    let place = start(
        Scenario::new()
            .reply(call("mcp__s__large", &json!({})))
            .reply(call("mcp__s__die", &json!({})))
            .reply(call("mcp__s__echo", &json!({"text": "back again"})))
            .otherwise(Reply::text("done")),
    );
    let agent = with_servers(&place, &json!({"s": scripted(&place, 0)})).await;
    say_ok(&mut agent.start(), "go").await;
    let requests = place.server.requests();
    assert!(requests[1].last_tool_results().unwrap().contains("<persisted-output>"));
    assert!(
        requests[2].last_tool_results().unwrap().contains("ended during the call (out of luck)")
    );
    assert!(requests[3].last_tool_results().unwrap().contains("back again"));
    oracle::assert_prefix_stable(&requests);
    agent.shutdown().await;
}

#[tokio::test]
async fn l4_5_names_instructions_and_schemas_come_back_after_a_compaction() {
    let long = "tale ".repeat(4_000);
    let place = start(
        Scenario::new()
            .on(When::source("compact"), Reply::text("<summary>gist</summary>"))
            .reply(call("mcp__s__echo", &json!({"text": "hello"})))
            .otherwise(Reply::text(long)),
    );
    let server = McpHttp::start(Revision::Newer).unwrap();
    let agent = with_servers(&place, &json!({"s": {"type": "http", "url": server.url()}})).await;
    let mut session = agent.start();
    for prompt in ["one", "two", "three"] {
        say_ok(&mut session, prompt).await;
    }
    let never = CancellationToken::new();
    compaction::compact(&mut session, Compaction::by_hand(None), &never).await.unwrap();
    say_ok(&mut session, "four").await;
    let last = messages(&place, place.server.requests().len() - 1);
    for wanted in ["- mcp__s__echo", "be kind to the server", "Schemas of tools that you called"] {
        assert_eq!(last.matches(wanted).count(), 1, "{wanted} in {last}");
    }
    agent.shutdown().await;
}

#[tokio::test]
async fn q5_tools_that_want_it_are_in_the_list_and_a_server_that_is_down_ends_nothing() {
    let place = start(
        Scenario::new()
            .reply(Reply::tool("mcp__s__echo", json!({"text": "direct"})))
            .otherwise(Reply::text("done")),
    );
    let mut entry = scripted(&place, 0);
    entry["alwaysLoad"] = json!(true);
    let named = json!({"s": entry, "gone": {"command": "no-such-program-at-all"}});
    let agent = with_servers(&place, &named).await;
    say_ok(&mut agent.start(), "go").await;
    let requests = place.server.requests();
    let tools = requests[0].body["tools"].as_array().unwrap();
    assert!(tools.iter().any(|tool| tool["name"] == "mcp__s__echo"));
    assert_eq!(tools.last().unwrap()["name"], "mcp__s__large", "servers' tools go last");
    assert!(requests[1].last_tool_results().unwrap().contains("direct"));
    agent.shutdown().await;
}

#[tokio::test]
async fn s7_servers_of_a_repository_are_off_until_it_is_trusted() {
    let place = start(Scenario::new().otherwise(Reply::text("ok")));
    let command = json!({"command": "touch", "args": [place.dirs.project().join("started")]});
    place.write(".mcp.json", &json!({"mcpServers": {"evil": command}}).to_string());
    let agent = place.agent().await;
    say_ok(&mut agent.start(), "go").await;
    assert!(!place.dirs.project().join("started").exists());
    assert_eq!(agent.named_servers().untrusted, ["evil"]);
    assert!(agent.world().servers.is_none());
}

#[tokio::test]
async fn q5_resources_are_listed_read_and_mentioned() {
    let place = start(
        Scenario::new()
            .reply(Reply::tool("ListMcpResourcesTool", json!({})))
            .reply(
                Reply::tool("ReadMcpResourceTool", json!({"server": "s", "uri": "note://one"}))
                    .and_tool("ReadMcpResourceTool", json!({"server": "s", "uri": "note://two"}))
                    .and_tool("ListMcpResourcesTool", json!({"server": "nowhere"})),
            )
            .otherwise(Reply::text("done")),
    );
    let agent = with_servers(&place, &json!({"s": scripted(&place, 0)})).await;
    let mut session = agent.start();
    say_ok(&mut session, "go").await;
    say_ok(&mut session, "what of @s:note://one, and @s:note://three?").await;
    let requests = place.server.requests();
    oracle::assert_prefix_stable(&requests);
    assert!(
        requests[1].last_tool_results().unwrap().contains("- s note://one: one. The first note.")
    );
    let results = requests[2].last_tool_results().unwrap();
    assert!(
        results.contains("milk and bread") && results.contains("refused the call"),
        "{results}"
    );
    assert!(results.contains("unknown server"));
    let last = messages(&place, 3);
    assert!(last.contains("The resource note://one of the server s, which was mentioned."));
    assert!(last.contains("note://three that was mentioned cannot be read"));
    agent.shutdown().await;
}

#[tokio::test]
async fn s10_a_server_reads_no_file_that_may_not_be_read() {
    let place = start(Scenario::new().otherwise(Reply::text("done")));
    place.write(".env", "x");
    let outside = place.dirs.write(place.dirs.root().join(".ssh/id_rsa"), "x").unwrap();
    let inside = place.dirs.project().canonicalize().unwrap();
    let uris = [
        format!("file://{}", outside.display()),
        format!("FILE://{}/.env", inside.display()),
        format!("file://{}/%2eenv", inside.display()),
        "file:///etc/passwd".to_owned(),
        "file:no-path".to_owned(),
        format!("file://{}/../../.ssh/id_rsa", inside.display()),
    ];
    let read = |uri: &str| json!({"server": "s", "uri": uri});
    let calls = uris
        .iter()
        .fold(Reply::default(), |reply, uri| reply.and_tool("ReadMcpResourceTool", read(uri)));
    let plain = format!("file://{}/plain.txt", inside.display());
    let calls = calls.and_tool("ReadMcpResourceTool", read(&plain));
    let scenario = Scenario::new().reply(calls).otherwise(Reply::text("done"));
    let place = Place { server: TestServer::start(scenario).unwrap(), ..place };
    let agent = with_servers(&place, &json!({"s": scripted(&place, 0)})).await;
    say_ok(&mut agent.start(), "go").await;
    let results = place.server.requests()[1].last_tool_results().unwrap();
    let refused = results.matches("is not in what may be read").count();
    assert_eq!(refused, uris.len(), "{results}");
    assert!(
        results.contains("refused the call"),
        "the server was asked for the plain one: {results}"
    );
    agent.shutdown().await;
}

#[tokio::test]
async fn q5_prompts_of_servers_are_called_by_a_slash() {
    let place = start(Scenario::new().otherwise(Reply::text("done")));
    let agent = with_servers(&place, &json!({"s": scripted(&place, 0)})).await;
    let mut session = agent.start();
    say_ok(&mut session, "/mcp__s__greet Ada kindly").await;
    let first = messages(&place, 0);
    assert!(first.contains("The person chose the prompt greet of the server s."));
    assert!(first.contains("Greet Ada.") && first.contains("Hello!"));
    assert!(first.contains("/mcp__s__greet Ada kindly"));
    say_ok(&mut session, "/mcp__s__nothing").await;
    assert_eq!(messages(&place, 1).matches("chose the prompt").count(), 1, "no such prompt");
    agent.shutdown().await;
}

#[tokio::test]
async fn l1_1_the_output_of_servers_has_a_cap_of_its_own() {
    let place = start(
        Scenario::new()
            .reply(call("mcp__s__echo", &json!({"text": "x".repeat(3_000)})))
            .otherwise(Reply::text("done")),
    );
    let settings = json!({"mcpServers": {"s": scripted(&place, 0)}});
    place.dirs.write(place.dirs.home().join("settings.json"), &settings.to_string()).unwrap();
    let builder = place.builder_with(&[("MAX_MCP_OUTPUT_TOKENS", "500")]);
    let agent = builder.build().await.unwrap();
    say_ok(&mut agent.start(), "go").await;
    let result = place.server.requests()[1].last_tool_results().unwrap();
    assert!(result.contains("<persisted-output>"), "{result}");
    agent.shutdown().await;
}
