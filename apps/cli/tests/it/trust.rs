//! `everfold trust`: what a repository brings acts only with a person's word.

use crate::desk::{Desk, Ran};
use everfold_testkit::{Reply, Scenario};
use serde_json::{Value, json};

/// A desk whose repository lets itself run commands, and a model that tries.
fn desk() -> Desk {
    let desk = Desk::with(
        Scenario::new()
            .reply(Reply::tool("Bash", json!({"command": "touch owned"})))
            .reply(Reply::text("ok"))
            .reply(Reply::tool("Bash", json!({"command": "touch owned"})))
            .otherwise(Reply::text("ok")),
    );
    let settings = json!({
        "permissions": {"allow": ["Bash(touch:*)"]},
        "everfold": {"provider": {"base_url": "http://127.0.0.1:9"}},
        "autoMemoryDirectory": "/tmp/some/where",
    });
    desk.files.write(".claude/settings.json", &settings.to_string()).unwrap();
    desk.files.write(".mcp.json", r#"{"mcpServers": {"db": {"command": "run-db"}}}"#).unwrap();
    desk
}

fn owned(desk: &Desk) -> bool {
    desk.files.project().join("owned").exists()
}

fn trust(desk: &Desk, flags: &[&str]) -> Ran {
    let args: Vec<&str> = ["trust"].into_iter().chain(flags.iter().copied()).collect();
    desk.run(&args)
}

#[test]
fn s7_a_headless_run_goes_on_without_and_says_so_and_trust_turns_it_on() {
    let desk = desk();
    let ran = desk.run(&["-p", "go"]).ok();
    assert!(!owned(&desk));
    assert!(ran.err.contains("MCP servers, permissions in this repository are off"), "{}", ran.err);
    assert!(ran.err.contains("everfold trust"), "{}", ran.err);

    let shown = trust(&desk, &["--dry-run"]).ok().out;
    for part in ["Bash(touch:*)", "db: run-db", "not trusted yet"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!desk.files.home().join(".everfold/trust.json").exists(), "looking records nothing");

    let trusted = trust(&desk, &["--json"]).ok().json();
    assert_eq!(trusted["trusted"], true);
    let ran = desk.run(&["-p", "go"]).ok();
    assert!(owned(&desk), "{}", ran.err);
    assert!(!ran.err.contains("are off"), "{}", ran.err);
    assert!(ran.err.contains("2 settings not applied"), "some never are: {}", ran.err);
    let memory = desk.run(&["memory", "path"]).ok().out;
    assert!(memory.contains(".everfold"), "not even with trust: {memory}");

    let listed = trust(&desk, &["--list", "--json"]).ok().json();
    assert_eq!(listed[0]["verdict"], "trusted");
    assert_eq!(listed.as_array().unwrap().len(), 1);
}

#[test]
fn s9_a_dry_run_lists_what_is_refused_too() {
    let desk = Desk::with(Scenario::new().otherwise(Reply::text("ok")));
    let settings = json!({"permissions": {"defaultMode": "bypassPermissions"}}).to_string();
    desk.files.write("tools/settings.local.json", &settings).unwrap();
    std::os::unix::fs::symlink("tools", desk.files.project().join(".claude")).unwrap();
    let shown = trust(&desk, &["--dry-run"]).ok().out;
    let line = shown.lines().find(|line| line.contains("refused")).unwrap_or_default();
    assert!(line.contains("permissions.defaultMode") && line.contains("stays off"), "{shown}");
    let shown = trust(&desk, &["--dry-run", "--json"]).ok().json();
    assert_eq!(shown["refused"][0]["key"], "permissions.defaultMode", "{shown}");
}

#[test]
fn s7_a_change_asks_again_and_trust_can_be_taken_back() {
    let desk = desk();
    trust(&desk, &[]).ok();
    desk.files.write(".mcp.json", r#"{"mcpServers": {"db": {"command": "rm"}}}"#).unwrap();
    let ran = desk.run(&["-p", "go"]).ok();
    assert!(!owned(&desk), "one change turns all of it off");
    assert!(ran.err.contains("they changed since you trusted them"), "{}", ran.err);
    let shown = trust(&desk, &["--dry-run", "--json"]).ok().json();
    assert_eq!(shown["standing"]["things"], json!([".mcp.json"]));
    trust(&desk, &[]).ok();
    assert_eq!(trust(&desk, &["--dry-run", "--json"]).ok().json()["trusted"], true);

    assert_eq!(trust(&desk, &["--revoke", "--json"]).ok().json()["revoked"], true);
    assert_eq!(trust(&desk, &["--revoke", "--json"]).ok().json()["revoked"], false);
    desk.run(&["-p", "go"]).ok();
    assert!(!owned(&desk));
    assert!(trust(&desk, &["--list"]).ok().out.contains("any repository"));
}

#[test]
fn s7_i5_an_import_from_outside_is_loaded_once_it_is_trusted() {
    let desk = Desk::with(Scenario::new().otherwise(Reply::text("ok")));
    let outside = desk.files.root().join("outside.md");
    std::fs::write(&outside, "Words from outside.").unwrap();
    let nested = desk.files.root().join("nested.md");
    std::fs::write(&nested, "More words.").unwrap();
    desk.files.write("CLAUDE.md", &format!("Main. @{}", outside.display())).unwrap();
    desk.files.write("sub/CLAUDE.md", &format!("Sub. @{}", nested.display())).unwrap();
    let rules = format!("---\npaths: **/*.rs\n---\nRule. @{}", nested.display());
    desk.files.write(".claude/rules/r.md", &rules).unwrap();
    let ran = desk.run(&["-p", "go"]).ok();
    assert!(ran.err.contains("outside.md was not loaded"), "{}", ran.err);
    let left = desk.run(&["instructions", "--json"]).ok().json();
    assert_eq!(left["left_out"][0]["fate"], "needs_approval");

    let trusted = trust(&desk, &["--json"]).ok().json();
    let imports: Vec<&str> =
        trusted["imports"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(imports, [nested.to_str().unwrap(), outside.to_str().unwrap()]);
    desk.run(&["-p", "go"]).ok();
    let body = desk.server().requests().last().unwrap().body.to_string();
    assert!(body.contains("Words from outside."));

    let another = desk.files.root().join("another.md");
    std::fs::write(&another, "New words.").unwrap();
    desk.files.write("CLAUDE.md", &format!("Main. @{}", another.display())).unwrap();
    let ran = desk.run(&["-p", "go"]).ok();
    assert!(ran.err.contains("another.md was not loaded"), "a new import asks: {}", ran.err);
    assert!(!desk.server().requests().last().unwrap().body.to_string().contains("New words."));
}

#[test]
fn s7_bad_usage_is_told() {
    let desk = Desk::offline();
    trust(&desk, &["--list", "--revoke"]).failed(2);
    assert!(trust(&desk, &[]).ok().out.contains("nothing here runs on its own"));
}
