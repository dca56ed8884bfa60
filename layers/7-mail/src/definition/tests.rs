//! Definitions, good and bad.

use super::*;

const REVIEWER: &str = "---\nname: reviewer\ndescription: Reviews: diffs\n\
    tools: Read, Grep, Bash(git diff:*, git log:*)\ndisallowedTools: [WebFetch]\nmodel: haiku\n\
    permissionMode: plan\nmaxTurns: 7\nmemory: project\nbackground: true\neffort: low\n\
    isolation: worktree\ncolor: red\ninitialPrompt: Look first.\nskills: [tidy, check]\n\
    mcpServers: [docs, {own: {command: x}}]\nhooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: \"true\"\n\
    future: {a: 1}\n---\n\n\
    Review with care.\n";

#[test]
fn l7_4_every_field_of_a_definition_is_read() {
    let own = Definition::parse(REVIEWER).unwrap();
    assert_eq!((own.name.as_str(), own.description.as_str()), ("reviewer", "Reviews: diffs"));
    assert_eq!(own.prompt, "Review with care.");
    let tools = own.tools.as_deref().unwrap();
    assert_eq!(tools, ["Read", "Grep", "Bash(git diff:*, git log:*)"]);
    assert_eq!(own.model.as_deref(), Some("haiku"));
    assert_eq!(own.permission_mode, Some(PermissionMode::Plan));
    assert_eq!((own.max_turns, own.memory), (Some(7), Some(AgentMemoryScope::Project)));
    assert_eq!((own.running, own.isolation), (Running::Background, Isolation::Worktree));
    assert_eq!(own.effort.as_deref(), Some("low"));
    assert_eq!(own.initial_prompt.as_deref(), Some("Look first."));
    assert_eq!((own.skills.len(), own.color.as_deref()), (2, Some("red")));
    assert_eq!(own.servers.as_deref(), Some(["docs".to_owned()].as_slice()));
    assert_eq!(own.hooks["Stop"][0]["hooks"][0]["command"], "true");
    assert_eq!(own.own_servers["own"]["command"], "x");
    // A colon that YAML does not take.
    assert_eq!(own.faults.len(), 1, "{:?}", own.faults);
}

#[test]
fn l7_4_a_definition_is_read_from_json() {
    let value = serde_json::json!({"description": "d", "prompt": "Be brief.",
        "tools": ["Read"], "model": "haiku", "maxTurns": 3});
    let own = Definition::of_json("brief", &value).unwrap();
    assert_eq!((own.prompt.as_str(), own.max_turns), ("Be brief.", Some(3)));
    assert!(own.has_tool("Read") && !own.has_tool("Write"));
    let error = |value: &Value| Definition::of_json("x", value).unwrap_err();
    let missing = |field| DefinitionError::Missing { field };
    assert_eq!(error(&Value::Null), missing("prompt"));
    assert_eq!(error(&serde_json::json!({"prompt": "p"})), missing("description"));
    assert!(Definition::of_json("../x", &value).is_err());
}

#[test]
fn l7_4_tools_are_filtered_by_list_and_memory_brings_its_own() {
    let own = Definition::parse(REVIEWER).unwrap();
    let has: Vec<&str> =
        ["Read", "Write", "Edit", "Grep", "Glob", "Bash", "WebFetch", "Agent", "ExitPlanMode"]
            .into_iter()
            .filter(|tool| own.has_tool(tool))
            .collect();
    assert_eq!(has, ["Read", "Write", "Edit", "Grep", "Bash"]);
    let all = Definition::new("x", "y", "z");
    assert!(all.has_tool("WebFetch") && all.has_tool("SendMessage") && !all.has_tool("Agent"));
}

#[test]
fn l7_4_tools_of_servers_are_named_one_by_one_or_by_server() {
    let with = |field: &str| {
        Definition::parse(&format!("---\nname: x\ndescription: d\n{field}\n---\np")).unwrap()
    };
    let one = with("tools: Read, mcp__a__echo");
    assert!(one.has_tool("mcp__call") && one.has_tool("ToolSearch"));
    assert!(one.has_server_tool("a", "echo"));
    assert!(!one.has_server_tool("a", "other") && !one.has_server_tool("ab", "echo"));
    for whole in ["tools: mcp__a", "tools: mcp__a__*"] {
        assert!(with(whole).has_server_tool("a", "other"), "{whole}");
        assert!(!with(whole).has_server_tool("a__b", "echo"), "{whole}");
    }
    let without = with("disallowedTools: mcp__a__echo");
    assert!(!without.has_server_tool("a", "echo") && without.has_server_tool("a", "other"));
    assert!(!with("tools: Read").has_tool("mcp__call"));
}

#[test]
fn s2_a_definition_narrows_and_never_widens() {
    use PermissionMode::{BypassPermissions, Default, Plan};
    let with = |mode| Definition { permission_mode: mode, ..Definition::new("x", "y", "z") };
    assert_eq!(with(Some(BypassPermissions)).mode_under(Default), Default);
    assert_eq!(with(Some(Plan)).mode_under(BypassPermissions), Plan);
    assert_eq!(with(Some(Default)).mode_under(Plan), Plan);
    assert_eq!(with(None).mode_under(BypassPermissions), BypassPermissions);
}

#[test]
fn s6_what_is_no_definition_says_why() {
    let error = |text: &str| Definition::parse(text).unwrap_err();
    assert_eq!(error("hello"), DefinitionError::NoFrontmatter);
    assert_eq!(error("---\nname: a\n---\n"), DefinitionError::Missing { field: "description" });
    for name in ["../x", ".x", "a b", "a/b"] {
        let text = format!("---\nname: {name}\ndescription: d\n---\n");
        assert!(matches!(error(&text), DefinitionError::BadName { .. }), "{name}");
    }
    let text = "---\nname: fork\ndescription: d\n---\n";
    assert!(matches!(error(text), DefinitionError::Reserved { .. }));
}
