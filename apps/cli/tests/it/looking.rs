//! Commands that look and change nothing.

use crate::desk::{Desk, Running};
use everfold_testkit::{Reply, Scenario};
use serde_json::{Value, json};
use std::fmt::Write;

#[test]
fn c1_help_is_a_promise() {
    let desk = Desk::offline();
    let mut text = String::new();
    for args in [
        &["--help"][..],
        &["config", "--help"],
        &["cost", "--help"],
        &["doctor", "--help"],
        &["memory", "--help"],
        &["memory", "list", "--help"],
        &["memory", "show", "--help"],
        &["memory", "add", "--help"],
        &["memory", "log", "--help"],
        &["memory", "undo", "--help"],
        &["memory", "check", "--help"],
        &["memory", "move", "--help"],
        &["recall", "--help"],
        &["replay", "--help"],
        &["sessions", "list", "--help"],
        &["sessions", "show", "--help"],
        &["show-result", "--help"],
        &["web", "--help"],
    ] {
        let mut command = desk.command(args);
        let ran = Running::start(command.env("COLUMNS", "100"), None).end().ok();
        writeln!(text, "$ everfold {}\n{}", args.join(" "), ran.out).unwrap();
    }
    insta::assert_snapshot!("help", text);
}

#[test]
fn c2_completions_for_each_shell() {
    let desk = Desk::offline();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = desk.run(&["completions", shell]).ok().out;
        assert!(script.contains("everfold") && script.contains("output-format"), "{shell}");
    }
}

#[test]
fn c4_config_says_who_set_what() {
    let desk = Desk::with(Scenario::new());
    desk.files.write(".claude/settings.json", r#"{"model": "from-project"}"#).unwrap();
    let rows = desk.run(&["config", "--json"]).ok().json();
    let find = |rows: &Value, key: &str| {
        rows.as_array().unwrap().iter().find(|row| row["key"] == key).cloned().unwrap()
    };
    let model = find(&rows, "model");
    assert_eq!(model["value"], "from-project");
    assert_eq!(model["origin"]["source"], "project");
    let rows = desk.run(&["config", "--json", "--model", "by-flag", "model"]).ok().json();
    assert_eq!(rows[0]["value"], "by-flag");
    assert_eq!(rows[0]["origin"], json!({"source": "flag", "at": "--model"}));
    let below = desk.run(&["config", "everfold.limits"]).ok().out;
    assert!(below.lines().all(|line| line.starts_with("everfold.limits.")), "{below}");
    let schema = desk.run(&["config", "--schema"]).ok().json();
    assert!(schema["properties"]["everfold"].is_object());
}

#[test]
fn c4_doctor_names_keys_that_nobody_knows() {
    let desk = Desk::with(Scenario::new());
    desk.files
        .write(".claude/settings.json", r#"{"colour": 1, "permissions": {"ask": ["Bash(x"]}}"#)
        .unwrap();
    let args = ["doctor", "--json", "--model", "no-such-model"];
    let findings = desk.run(&args).ok().json();
    let has = |part: &str| {
        let mut all = findings.as_array().unwrap().iter();
        all.any(|finding| finding["message"].as_str().unwrap().contains(part))
    };
    assert!(has("colour"), "{findings}");
    assert!(has("Bash(x"), "{findings}");
    assert!(has("unknown model no-such-model"), "{findings}");
    assert!(has("ANTHROPIC_API_KEY is set"), "{findings}");
    assert!(has("sandbox"), "{findings}");
    let serious = findings.as_array().unwrap().iter().filter(|f| f["severity"] == "warning");
    assert!(serious.into_iter().all(|finding| finding["fix"].is_string()));
}

#[cfg(unix)]
#[test]
fn s5_doctor_finds_files_that_others_may_read() {
    use std::os::unix::fs::PermissionsExt;
    let desk = Desk::offline();
    desk.run(&["-p", "hello"]).ok();
    assert!(!desk.run(&["doctor"]).ok().out.contains("other users can access"));
    let path = &desk.transcripts()[0];
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644)).unwrap();
    let found = desk.run(&["doctor"]).ok().out;
    assert!(found.contains(&format!("chmod 600 '{}'", path.display())), "{found}");
}

#[test]
fn c2_commands_need_no_key_and_write_nothing() {
    let desk = Desk::offline();
    for args in [
        &["config"][..],
        &["config", "--json"],
        &["doctor"],
        &["sessions", "list"],
        &["cost", "--project"],
        &["cost", "--day", "today"],
        &["completions", "bash"],
        &["memory", "list"],
        &["memory", "list", "--json"],
        &["memory", "log"],
        &["memory", "check"],
        &["memory", "path"],
        &["recall", "what is there"],
    ] {
        desk.run(args).ok();
    }
    assert!(!desk.files.home().join(".everfold").exists());
}

#[test]
fn c7_doctor_says_that_there_is_no_model() {
    let found = Desk::offline().run(&["doctor"]).ok().out;
    assert!(found.contains("offline") && found.contains("export ANTHROPIC_API_KEY"), "{found}");
    assert!(found.contains("no problems found"), "{found}");
}

#[test]
fn c3_the_home_is_where_the_variable_says() {
    let desk = Desk::offline();
    let elsewhere = desk.files.root().join("elsewhere");
    let mut command = desk.command(&["-p", "--output-format", "json", "hello"]);
    command.env("EVERFOLD_HOME", &elsewhere).env("CLAUDE_CONFIG_DIR", desk.files.root());
    let result = Running::start(&mut command, None).end().ok().json();
    assert!(!desk.files.home().join(".everfold").exists());
    let mut projects = std::fs::read_dir(elsewhere.join("projects")).unwrap();
    let project = projects.next().unwrap().unwrap();
    let name = project.file_name().to_string_lossy().into_owned();
    assert!(name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-'), "{name}");
    let id = result["session_id"].as_str().unwrap();
    assert!(project.path().join(format!("{id}.jsonl")).is_file());
}

#[test]
fn c5_c6_variables_set_models_and_flags_and_the_command_line_wins() {
    let desk = Desk::with(Scenario::new());
    let mut command = desk.command(&["-p", "one"]);
    Running::start(command.env("EVERFOLD_MODEL", "claude-opus-5-5"), None).end().ok();
    let mut command = desk.command(&["-p", "two", "--model", "claude-haiku-5-5"]);
    Running::start(command.env("EVERFOLD_MODEL", "claude-opus-5-5"), None).end().ok();
    let models: Vec<String> =
        desk.server().requests().iter().map(|request| request.model().to_owned()).collect();
    assert_eq!(models, ["claude-opus-5-5", "claude-haiku-5-5"]);
    let mut command = desk.command(&["config", "--json", "everfold.flags.recall"]);
    let rows = Running::start(command.env("EVERFOLD_FLAG_RECALL", "0"), None).end().ok().json();
    assert_eq!(rows[0]["value"], false);
    assert_eq!(rows[0]["origin"], json!({"source": "env", "at": "EVERFOLD_FLAG_RECALL"}));
    let mut command = desk.command(&["-p", "x"]);
    let ran = Running::start(command.env("EVERFOLD_PROVIDER", "nobody"), None).end().failed(2);
    assert!(ran.err.contains("EVERFOLD_PROVIDER"), "{}", ran.err);
}

#[test]
fn q10_health_tells_of_cache_cost_and_memories() {
    let desk = Desk::with(Scenario::new().otherwise(Reply::text("ok")));
    desk.run(&["-p", "hello there"]).ok();
    desk.run(&["-p", "-c", "and once more"]).ok();
    let health = desk.run(&["health", "--json"]).ok().json();
    assert_eq!((&health["scope"], &health["sessions"]), (&"project".into(), &1.into()));
    assert!(health["cache_hit_rate"].as_f64().unwrap() > 0.0, "{health}");
    assert!(health["cost_usd"].as_f64().unwrap() > 0.0, "{health}");
    assert_eq!(health["breaker_trips"], 0);
    let week = desk.run(&["health", "--week", "--json"]).ok().json();
    assert_eq!((&week["scope"], &week["sessions"]), (&"week".into(), &1.into()));
    let told = desk.run(&["health"]).ok().out;
    for part in ["cache", "summaries", "none", "breaker", "background"] {
        assert!(told.contains(part), "{part}: {told}");
    }
}
