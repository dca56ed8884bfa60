//! Plugins with the real program.

use crate::desk::Desk;
use everfold_testkit::{Reply, Scenario};
use std::path::Path;

/// The program is on the PATH, as the plugin expects it.
fn run(desk: &Desk, args: &[&str]) -> crate::desk::Ran {
    let bin = Path::new(env!("CARGO_BIN_EXE_everfold")).parent().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    crate::desk::Running::start(desk.command(args).env("PATH", path), None).end()
}

#[cfg(unix)]
#[test]
fn x2_our_own_plugin_loads() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins/claude-code");
    let root = root.canonicalize().unwrap().display().to_string();
    let desk = Desk::with(Scenario::new().otherwise(Reply::text("done")));
    let args = ["-p", "go", "--output-format", "stream-json", "--plugin-dir", &root];
    let ran = run(&desk, &args).ok();
    let init = &ran.lines()[0];
    assert_eq!(init["plugins"][0]["name"], "everfold", "{init}");
    assert_eq!(init["plugins"][0]["path"], root.as_str());
    assert!(init["plugins"][0]["version"].is_string());
    assert_eq!(init["plugin_errors"].as_array().unwrap().len(), 0, "{init}");
    assert!(init["slash_commands"].to_string().contains("everfold:memory"), "{init}");
    let body = desk.server().requests()[0].body.to_string();
    assert!(body.contains("mcp__plugin_everfold_everfold__"), "its server came up: {body}");
    assert!(!ran.out.contains("hook_failed"), "{}", ran.out);
    let found = run(&desk, &["doctor", "--plugin-dir", &root]).ok().out;
    assert!(found.contains("everfold@inline is on"), "{found}");
    assert!(found.contains("plugin_everfold_everfold is connected"), "{found}");
}

#[test]
fn s7_a_repositorys_plugins_are_asked_about_and_broken_ones_named() {
    let desk = Desk::with(Scenario::new().otherwise(Reply::text("done")));
    let kit = desk.files.home().join(".claude/plugins/cache/shop/kit/1.0");
    desk.files.write(kit.join(".claude-plugin/plugin.json"), r#"{"name": "kit"}"#).unwrap();
    desk.files.write(kit.join("commands/hey.md"), "Say hey.").unwrap();
    let settings = desk.files.project().join(".claude/settings.json");
    let text = r#"{"enabledPlugins": {"kit@shop": true, "gone@shop": true}}"#;
    desk.files.write(settings, text).unwrap();
    let args = ["-p", "/kit:hey", "--output-format", "stream-json"];
    let unknown = desk.run(&args);
    assert_eq!(unknown.code, Some(2), "its command is none yet: {}", unknown.err);
    let ran = desk.run(&["-p", "hello", "--output-format", "stream-json"]).ok();
    assert_eq!(ran.lines()[0]["plugins"].as_array().unwrap().len(), 0, "{}", ran.out);
    assert!(ran.err.contains("everfold trust"), "{}", ran.err);
    desk.run(&["trust"]).ok();
    let ran = desk.run(&args).ok();
    assert_eq!(ran.lines()[0]["plugins"][0]["name"], "kit", "{}", ran.out);
    assert!(ran.err.contains("gone@shop is enabled but not installed"), "{}", ran.err);
    let body = desk.server().requests().pop().unwrap().body.to_string();
    assert!(body.contains("Say hey."), "{body}");
}
