//! Plugins in whole conversations.

use crate::place::{Place, say_ok};
use everfold_testkit::{Reply, Scenario, TestServer, When, oracle};
use serde_json::{Value, json};
use std::path::PathBuf;

fn start(scenario: Scenario) -> Place {
    Place::new(TestServer::start(scenario).unwrap())
}

/// A plugin with everything in it.
fn plugin(place: &Place, dir: &str) -> PathBuf {
    let root = place.dirs.root().join(dir);
    let write = |name: &str, text: &str| place.dirs.write(root.join(name), text).unwrap();
    write(
        ".claude-plugin/plugin.json",
        &json!({"name": "kit", "version": "2.1", "userConfig": {"tone": {"default": "soft"}}})
            .to_string(),
    );
    write(
        "skills/greet/SKILL.md",
        "---\nname: greet\ndescription: Greets.\n---\nGreet $0 as ${CLAUDE_PLUGIN_ROOT}/how.md says, ${user_config.tone}.",
    );
    write("commands/shout.md", "Shout $ARGUMENTS.");
    write(
        "agents/scout.md",
        "---\nname: scout\ndescription: Looks around.\nmcpServers: [{own: {command: x}}]\n---\nScout.",
    );
    write("output-styles/plain.md", "---\nname: plain\ndescription: d\n---\nWrite plainly.");
    write("bin/kit-tool", "#!/bin/sh\necho from the kit\n");
    write("CLAUDE.md", "Never loaded.");
    let script = write("server.sh", &everfold_testkit::mcp::script(0));
    let server = json!({"command": "bash", "args": [script], "env": {"A": "b"}});
    write(".mcp.json", &json!({"mcpServers": {"web": server}}).to_string());
    let told = "echo \"$CLAUDE_PLUGIN_ROOT|$CLAUDE_PLUGIN_DATA|$CLAUDE_PLUGIN_OPTION_TONE\" > told";
    let hooks = json!({"hooks": {
        "UserPromptSubmit": [{"hooks": [{"type": "command", "command": told}]}],
        "Stop": [{"hooks": [{"type": "mcp_tool", "server": "plugin:kit:web", "tool": "echo",
                             "input": {"text": "heard"}}]}],
    }});
    write("hooks/hooks.json", &hooks.to_string());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(root.join("bin/kit-tool"), mode).unwrap();
    }
    root.canonicalize().unwrap()
}

#[cfg(unix)]
#[tokio::test]
async fn q5_q7_a_plugin_brings_skills_agents_hooks_servers_and_programs() {
    let call = json!({"tool": "mcp__plugin_kit_web__echo", "arguments": {"text": "hi"}});
    let place = start(
        Scenario::new()
            .on(When::user("go"), Reply::tool("mcp__call", call))
            .on(When::user("run"), Reply::tool("Bash", json!({"command": "kit-tool"})))
            .on(
                When::user("scout"),
                Reply::tool(
                    "Agent",
                    json!({"description": "d", "prompt": "p", "subagent_type": "kit:scout"}),
                ),
            )
            .otherwise(Reply::text("ok")),
    );
    let root = plugin(&place, "kit");
    let path = std::env::var("PATH").unwrap();
    let builder = place.builder_with(&[("PATH", &path)]).plugin(&root);
    let agent = builder.build().await.unwrap();
    assert!(agent.plugins().problems.is_empty(), "{:?}", agent.plugins().problems);
    assert!(agent.config().agents.roster.get("kit:scout").unwrap().own_servers.is_empty());
    assert!(agent.output_styles().iter().any(|style| style.name == "kit:plain"));
    let mut session = agent.start();
    say_ok(&mut session, "go").await;
    let requests = place.server.requests();
    let first = requests[0].body.to_string();
    assert!(first.contains("- kit:greet: Greets.") && first.contains("kit:scout: Looks around."));
    assert!(first.contains("mcp__plugin_kit_web__echo") && !first.contains("Never loaded."));
    assert!(requests[1].last_tool_results().unwrap().contains("hi"));
    let told = std::fs::read_to_string(place.dirs.project().join("told")).unwrap();
    let data = place.dirs.home().join("plugins/data/kit-inline");
    assert_eq!(told.trim(), format!("{}|{}|soft", root.display(), data.display()));
    assert!(data.is_dir());
    say_ok(&mut session, "/kit:greet Ada").await;
    say_ok(&mut session, "/kit:shout loudly").await;
    let last = place.server.requests().pop().unwrap().body["messages"].to_string();
    assert!(last.contains(&format!("Greet Ada as {}/how.md says, soft.", root.display())));
    assert!(last.contains("Shout loudly."), "{last}");
    say_ok(&mut session, "run").await;
    let last = place.server.requests().pop().unwrap();
    assert!(last.last_tool_results().unwrap().contains("from the kit"), "its bin is on the PATH");
    say_ok(&mut session, "scout").await;
    assert!(place.server.requests_of("agent:kit:scout")[0].system_text().contains("Scout."));
    let main = place.server.requests_of("main");
    oracle::assert_prefix_stable(&main);
    let failed = place.transcript_of(session.id()).into_iter();
    let failed: Vec<Value> = failed.filter(|line| line["type"] == "everfold_hook_failed").collect();
    assert!(failed.is_empty(), "the tool of its server was called: {failed:?}");
    agent.shutdown().await;
}

#[tokio::test]
async fn s7_plugins_that_a_repository_switches_on_are_off_until_it_is_trusted() {
    let place = start(Scenario::new().otherwise(Reply::text("ok")));
    plugin(&place, ".claude/plugins/cache/shop/kit/2.1");
    place.write(".claude/settings.json", r#"{"enabledPlugins": {"kit@shop": true}}"#);
    let agent = place.agent().await;
    assert!(agent.plugins().plugins.is_empty());
    let refused = &agent.settings().refused;
    assert!(refused.iter().any(|it| it.pointer == "/enabledPlugins" && it.opens_with_trust()));
    // The person's own word is enough.
    let settings = r#"{"enabledPlugins": {"kit@shop": true}}"#;
    place.dirs.write(place.dirs.home().join("settings.json"), settings).unwrap();
    let found = place.agent().await.plugins().clone();
    assert_eq!(found.plugins[0].id, "kit@shop");
    assert_eq!(found.plugins[0].version.as_deref(), Some("2.1"));
}

#[tokio::test]
async fn s6_a_broken_plugin_is_named_and_ends_nothing() {
    let place = start(Scenario::new().otherwise(Reply::text("ok")));
    let root = plugin(&place, "kit");
    place.dirs.write(root.join("agents/odd.md"), "no frontmatter").unwrap();
    place.dirs.write(root.join(".mcp.json"), "{").unwrap();
    let agent = place.builder().plugin(&root).plugin("/nowhere").build().await.unwrap();
    let said = agent.plugins().problems.join("\n");
    for part in ["odd.md defines no agent", ".mcp.json is not used", "/nowhere"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let mut session = agent.start();
    say_ok(&mut session, "go").await;
    say_ok(&mut session, "/kit:shout on").await;
    let last = place.server.requests().pop().unwrap().body["messages"].to_string();
    assert!(last.contains("Shout on."), "{last}");
    agent.shutdown().await;
}
