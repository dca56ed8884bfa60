//! The standard tools, over a world in memory.

use crate::fakes::{Bench, tool};
use everfold_kernel::limits::AgentLimits;
use everfold_mail::Roster;
use everfold_tools::{
    Access, AgentTool, TodoStatus, Tool, server_tools, skill_tool, standard_tools,
};
use serde_json::{Value, json};
use std::sync::Arc;

fn definitions(tools: &[Arc<dyn Tool>]) -> Vec<Value> {
    let definition = |tool: &Arc<dyn Tool>| {
        let spec = tool.spec();
        assert_eq!(tool.name(), spec.name);
        json!({"name": spec.name, "description": spec.description,
            "input_schema": spec.input_schema})
    };
    tools.iter().map(definition).collect()
}

#[test]
fn q5_definitions_are_part_of_the_cached_prefix() {
    insta::assert_json_snapshot!("definitions", definitions(&standard_tools()));
    let agent = AgentTool::new(&Roster::new(Vec::new(), Vec::new()), &AgentLimits::default());
    let mut more = vec![skill_tool(), Arc::new(agent)];
    more.extend(server_tools());
    insta::assert_json_snapshot!("more_definitions", definitions(&more));
}

#[test]
fn q5_descriptions_are_short_and_tools_come_in_a_fixed_order() {
    let specs: Vec<_> = standard_tools().iter().map(|tool| tool.spec()).collect();
    let names: Vec<&str> = specs.iter().map(|spec| &*spec.name).collect();
    let order = [
        "Read",
        "Write",
        "Edit",
        "Glob",
        "Grep",
        "Bash",
        "WebFetch",
        "TodoWrite",
        "ResultRead",
        "Snip",
        "MemorySearch",
        "SendMessage",
        "ExitPlanMode",
    ];
    assert_eq!(names, order);
    for spec in specs {
        assert!(spec.description.len() < 700, "{}: {}", spec.name, spec.description.len());
        assert!(!spec.description.contains("  "), "{}", spec.description);
    }
}

#[test]
fn q5_access_is_told_by_absolute_path_command_and_host() {
    let bench = Bench::new();
    let access = |name, input| bench.access(name, &input);
    assert_eq!(access("Read", json!({"file_path": "a"})), Access::Read("/proj/a".into()));
    assert_eq!(access("Grep", json!({"pattern": "a"})), Access::Read("/proj".into()));
    assert_eq!(access("Glob", json!({"pattern": "/etc/*.conf"})), Access::Read("/etc".into()));
    assert_eq!(
        access("Write", json!({"file_path": "/b", "content": ""})),
        Access::Edit("/b".into())
    );
    let edit = json!({"file_path": "c", "old_string": "a", "new_string": "b"});
    assert_eq!(access("Edit", edit), Access::Edit("/proj/c".into()));
    assert_eq!(access("Bash", json!({"command": "ls"})), Access::Execute("ls".into()));
    assert_eq!(
        access("WebFetch", json!({"url": "http://A.test/x", "prompt": "p"})),
        Access::Fetch { url: "https://a.test/x".into(), host: "a.test".into() }
    );
    assert_eq!(access("TodoWrite", json!({"todos": []})), Access::Nothing);
}

#[tokio::test]
async fn s6_a_call_that_is_not_understood_touches_nothing() {
    let bench = Bench::new();
    for spec in standard_tools().iter().map(|tool| tool.spec()) {
        for input in [json!({"__invalid_json": "{\"a"}), json!({}), json!("x"), Value::Null] {
            assert_eq!(tool(&spec.name).access(&input, &bench.context), Access::Nothing);
            let text = bench.error(&spec.name, input).await;
            assert!(text.contains(&*spec.name), "{text}");
        }
    }
    assert!(bench.shell.commands.lock().unwrap().is_empty());
    assert!(bench.search.greps.lock().unwrap().is_empty());
}

#[tokio::test]
async fn q5_todos_are_kept_and_the_old_list_is_told() {
    let bench = Bench::new();
    let first = json!([{"content": "Build", "status": "in_progress", "activeForm": "Building"}]);
    bench.ok("TodoWrite", json!({"todos": first})).await;
    assert_eq!(bench.context.todos()[0].status, TodoStatus::InProgress);

    // A list as a text of JSON, and an item without its active form.
    let second = r#"[{"content": "Build", "status": "completed"}]"#;
    let value = bench.structured("TodoWrite", json!({"todos": second})).await;
    assert_eq!(value["oldTodos"], first);
    assert_eq!(
        value["newTodos"],
        json!([{"content": "Build", "status": "completed", "activeForm": "Build"}])
    );
}

#[tokio::test]
async fn q5_a_wrong_todo_leaves_the_list_as_it_was() {
    let bench = Bench::new();
    let good = json!([{"content": "a", "status": "pending", "activeForm": "a"}]);
    bench.ok("TodoWrite", json!({"todos": good})).await;
    let done = json!([{"content": "a", "status": "done", "activeForm": "a"}]);
    let text = bench.error("TodoWrite", json!({"todos": done})).await;
    assert!(text.contains("todos[0]") && text.contains("in_progress"), "{text}");
    let text = bench.error("TodoWrite", json!({"todos": [{"status": "pending"}]})).await;
    assert!(text.contains("\"content\""), "{text}");
    let text = bench.error("TodoWrite", json!({"todos": "no list"})).await;
    assert!(text.contains("a list of objects"), "{text}");
    assert_eq!(bench.context.todos().len(), 1);
}
