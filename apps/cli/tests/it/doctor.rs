//! What the doctor finds in a set-up, each with what mends it, for people and
//! for programs.

use crate::desk::Desk;
use serde_json::{Value, json};
use std::fmt::Write;

/// The finding with this part in its message, which the text names too.
fn finding(desk: &Desk, part: &str) -> Value {
    let all = desk.run(&["doctor", "--json"]).ok().json();
    let found = all.as_array().unwrap().iter().find(|own| message(own).contains(part)).cloned();
    let found = found.unwrap_or_else(|| panic!("{part} is not in {all:#}"));
    let fix = found["fix"].as_str().expect("a finding says what mends it");
    let text = desk.run(&["doctor"]).ok().out;
    assert!(text.contains(message(&found)) && text.contains(&format!("fix: {fix}")), "{text}");
    found
}

fn message(finding: &Value) -> &str {
    finding["message"].as_str().unwrap()
}

fn settings(desk: &Desk, value: &Value) {
    let path = desk.files.home().join(".everfold").join("settings.json");
    desk.files.write(path, &value.to_string()).unwrap();
}

#[test]
fn q6_permissions_that_are_too_wide_are_named_with_their_file() {
    let desk = Desk::offline();
    settings(
        &desk,
        &json!({"permissions": {
            "allow": ["Bash(make test:*)", "Bash(*)", "Bash(python3:*)", "Edit(//**)"],
            "defaultMode": "bypassPermissions",
            "additionalDirectories": ["/"],
        }}),
    );
    let mode = finding(&desk, "starts in bypassPermissions");
    assert_eq!(mode["area"], "permissions");
    assert!(message(&mode).contains("settings.json"), "{mode}");
    assert!(message(&finding(&desk, "Bash(*)")).contains("every command"));
    assert!(message(&finding(&desk, "python3:*")).contains("runs what it is given"));
    assert!(message(&finding(&desk, "Edit(//**)")).contains("any file on this machine"));
    finding(&desk, "\"/\" is an additional directory");
    let all = desk.run(&["doctor", "--json"]).ok().out;
    assert!(!all.contains("make test"), "{all}");
}

#[test]
fn i4_instructions_that_stand_in_two_files_are_named() {
    let desk = Desk::offline();
    let mut text = String::new();
    for number in 0..8 {
        writeln!(text, "- Rule {number}: every change has a test that fails without it.").unwrap();
    }
    desk.files.write("CLAUDE.md", &text).unwrap();
    desk.files.write("CLAUDE.local.md", &format!("# Mine\n{text}- And one of my own.\n")).unwrap();
    let found = finding(&desk, "repeats 8 lines of");
    assert_eq!((&found["area"], &found["severity"]), (&json!("instructions"), &json!("warning")));
    assert!(found["fix"].as_str().unwrap().contains('@'), "{found}");
    desk.files.write("CLAUDE.local.md", "- Other things, that nobody else says.\n").unwrap();
    assert!(!desk.run(&["doctor"]).ok().out.contains("repeats"));
}

#[test]
fn l5_28_an_index_over_its_caps_is_named() {
    let desk = Desk::offline();
    let args = [
        "memory",
        "add",
        "--name",
        "tea",
        "--description",
        "tea, black",
        "--type",
        "user",
        "--scope",
        "project",
    ];
    desk.run_with(&args, "Likes tea.").ok();
    assert!(!desk.run(&["doctor"]).ok().out.contains("not shown in full"));
    let dir = desk.run(&["memory", "path"]).ok().out;
    let index = std::path::Path::new(dir.trim()).join("MEMORY.md");
    std::fs::write(index, "- [x](tea.md) — x\n".repeat(300)).unwrap();
    let found = finding(&desk, "is not shown in full: cut after 200 lines");
    assert_eq!(found["area"], "memory");
    assert!(found["fix"].as_str().unwrap().starts_with("`everfold dream`"), "{found}");
}

#[cfg(unix)]
#[test]
fn q7_hooks_that_cannot_start_are_named_and_not_run() {
    let desk = Desk::offline();
    let script = desk.files.root().join("hook.sh");
    let ran = desk.files.root().join("ran");
    std::fs::write(&script, format!("#!/bin/sh\ntouch {}\n", ran.display())).unwrap();
    let handler = |command: String| json!([{"hooks": [{"type": "command", "command": command}]}]);
    settings(
        &desk,
        &json!({"hooks": {
            "Stop": handler(format!("{} --now", script.display())),
            "SessionStart": handler(desk.files.root().display().to_string()),
            "SessionEnd": handler("/no/such/program".to_owned()),
        }}),
    );
    let found = finding(&desk, "hook.sh, which is not executable");
    assert_eq!(found["fix"], format!("chmod +x '{}'", script.display()));
    finding(&desk, "which is a directory");
    finding(&desk, "/no/such/program, which does not exist");
    assert!(!ran.exists());
}

/// A session whose large result stays for many requests.
fn wasteful() -> String {
    let mut lines = String::new();
    let mut last = Value::Null;
    let mut push = |kind: &str, message: Value| {
        let number = lines.lines().count();
        let uuid = format!("00000000-0000-7000-8000-{number:012}");
        let at = format!("2026-03-01T10:{:02}:{:02}Z", number / 60, number % 60);
        let line = json!({"type": kind, "uuid": uuid, "parentUuid": last, "timestamp": at,
            "sessionId": "11111111-1111-7111-8111-111111111111", "message": message});
        last = json!(uuid);
        writeln!(lines, "{line}").unwrap();
    };
    let answer = |number: usize, block: Value| {
        json!({"id": format!("m{number}"), "role": "assistant", "model": "claude-opus-4-5",
            "content": [block]})
    };
    push("user", json!({"role": "user", "content": "look at it"}));
    let call =
        json!({"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "cat log"}});
    push("assistant", answer(0, call));
    let result = json!({"type": "tool_result", "tool_use_id": "t", "content": "a line of it\n".repeat(30_000)});
    push("user", json!({"role": "user", "content": [result]}));
    for number in 1..30 {
        push("assistant", answer(number, json!({"type": "text", "text": "I see."})));
        push("user", json!({"role": "user", "content": "go on"}));
    }
    lines
}

#[test]
fn pc7_sessions_that_waste_are_named_with_the_command_that_explains_them() {
    let desk = Desk::offline();
    desk.run(&["-p", "hello"]).ok();
    assert!(!desk.run(&["doctor"]).ok().out.contains("could have been saved"));
    let id = "11111111-1111-7111-8111-111111111111";
    let path = desk.transcripts()[0].with_file_name(format!("{id}.jsonl"));
    desk.files.write(path, &wasteful()).unwrap();
    let found = finding(&desk, "could have been saved");
    assert!(message(&found).contains(id) && message(&found).contains("Bash cat log"), "{found}");
    assert_eq!(found["fix"], format!("everfold replay {id} --why"));
    // The command is one that works.
    let told = desk.run(&["replay", id, "--why"]).ok().out;
    assert!(told.contains("Bash cat log returned"), "{told}");
    desk.run(&["replay", "no-such-session"]).failed(2);
}

#[test]
fn x10_hosts_are_looked_at() {
    let desk = Desk::offline();
    let home = desk.files.home();
    std::fs::create_dir_all(home.join(".gemini")).unwrap();
    finding(&desk, "Gemini CLI is used here, but Everfold is not installed in it");
    for host in ["claude", "codex"] {
        desk.run(&["install", host]).ok();
    }
    finding(&desk, "Codex skips Everfold's hooks until you trust them");
    finding(&desk, "Claude Code has not called a hook yet");
    let all = desk.run(&["doctor", "--json"]).ok().out;
    assert!(all.contains("Claude Code supports: index at the start, recall"), "{all}");
    assert!(all.contains("it does not support: status line"), "{all}");
    assert!(!all.contains("which does not exist"), "{all}");
    assert!(all.contains("reviewed by the host's model, which is asked to save"), "{all}");

    // A hook is called, and Codex' are looked at.
    let transcript = home.join(".claude/projects/-p/s.jsonl");
    let input = json!({"session_id": "s", "transcript_path": transcript,
        "cwd": desk.files.project(), "hook_event_name": "Stop"});
    desk.run_with(&["hook", "Stop"], input.to_string()).ok();
    let config = home.join(".codex/config.toml");
    let text = std::fs::read_to_string(&config).unwrap();
    let name = home.join(".codex/hooks.json").display().to_string();
    let trusted = format!("{text}\n[hooks.state.\"{name}:stop:0:0\"]\ntrusted_hash = \"x\"\n");
    std::fs::write(&config, trusted).unwrap();
    let all = desk.run(&["doctor", "--json"]).ok().out;
    assert!(all.contains("Claude Code last called a hook 0 minutes ago"), "{all}");
    assert!(!all.contains("skips Everfold"), "{all}");

    // The program moved, hooks are off, and the plugin came on top.
    let settings = home.join(".claude/settings.json");
    let text = std::fs::read_to_string(&settings).unwrap();
    let text = text.replace(env!("CARGO_BIN_EXE_everfold"), "/gone/everfold").replacen(
        '{',
        "{\"disableAllHooks\": true, \"enabledPlugins\": {\"everfold@x\": true},",
        1,
    );
    std::fs::write(&settings, text).unwrap();
    finding(&desk, "Claude Code calls /gone/everfold, which does not exist");
    finding(&desk, "Claude Code runs no hooks because of disableAllHooks");
    finding(&desk, "Claude Code has Everfold twice");
    let rules = json!({"everfold": {"memory": {"host_review": "rules"}}});
    self::settings(&desk, &rules);
    assert_eq!(finding(&desk, "Claude Code is reviewed by no model")["severity"], "warning");
}

/// A program as a package manager lays it down.
#[cfg(unix)]
fn packaged(desk: &Desk, package: &str, program: &str, version: &str) {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = desk.files.root().join("node_modules");
    let own = folder.join(package);
    std::fs::create_dir_all(own.join("bin")).unwrap();
    std::fs::create_dir_all(folder.join(".bin")).unwrap();
    let about = json!({"name": package, "version": version}).to_string();
    std::fs::write(own.join("package.json"), about).unwrap();
    let file = own.join("bin/start.js");
    std::fs::write(&file, "#!/bin/sh\nexit 1\n").unwrap();
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).unwrap();
    let link = folder.join(".bin").join(program);
    let _ = std::fs::remove_file(&link);
    symlink(file, link).unwrap();
}

#[cfg(unix)]
#[test]
fn x10_versions_with_known_traps_are_named() {
    let desk = Desk::offline();
    for host in ["claude", "codex", "opencode"] {
        desk.run(&["install", host]).ok();
    }
    let told = |more: &[(&str, &str)]| {
        let mut command = desk.command(&["doctor", "--json"]);
        let path = desk.files.root().join("node_modules/.bin");
        command.env("PATH", format!("{}:/usr/bin:/bin", path.display()));
        command.envs(more.iter().copied());
        crate::desk::Running::start(&mut command, None).end().ok().out
    };
    let url = ("ANTHROPIC_BASE_URL", "http://127.0.0.1:9");
    packaged(&desk, "@anthropic-ai/claude-code", "claude", "2.1.197");
    packaged(&desk, "@openai/codex", "codex", "0.40.1");
    packaged(&desk, "opencode-ai", "opencode", "1.2.7");
    let old = told(&[url]);
    assert!(old.contains("Claude Code 2.1.197 sends every tool of every MCP server"), "{old}");
    assert!(old.contains("opencode 1.2.7 has no readable database"), "{old}");
    assert!(
        old.contains("Codex 0.40.1 is older than the version Everfold was tested with, 0.166.0")
    );
    for more in [&[][..], &[url, ("ENABLE_TOOL_SEARCH", "true")]] {
        let told = told(more);
        assert!(!told.contains("sends every tool"), "{told}");
    }
    packaged(&desk, "@anthropic-ai/claude-code", "claude", "2.1.325");
    packaged(&desk, "opencode-ai", "opencode", "1.18.33");
    packaged(&desk, "@openai/codex", "codex", "0.166.0");
    let new = told(&[url]);
    for gone in ["sends every tool", "has no readable database", "is older than"] {
        assert!(!new.contains(gone), "{gone}: {new}");
    }
}

#[test]
fn x10_a_file_of_another_version_is_named() {
    let desk = Desk::offline();
    for (host, file) in [
        ("opencode", ".config/opencode/plugins/everfold.js"),
        ("pi", ".pi/agent/extensions/everfold.ts"),
    ] {
        desk.run(&["install", host]).ok();
        let told = desk.run(&["doctor", "--json"]).ok().out;
        assert!(!told.contains("which another version of Everfold wrote"), "{told}");
        let path = desk.files.home().join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace("UserPromptSubmit", "PromptSubmit")).unwrap();
        let found = finding(&desk, "which another version of Everfold wrote");
        assert_eq!(found["fix"], format!("everfold install {host}"));
        desk.run(&["install", host]).ok();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
}
