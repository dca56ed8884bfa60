//! `everfold install` and `uninstall` (X2).

use crate::desk::Desk;
use crate::opencode_db::{
    Speaker::{Model, Person},
    says,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const HOSTS: [&str; 4] = ["claude", "codex", "gemini", "opencode"];

/// Everything under a folder but what is our own: paths and bytes.
fn snapshot(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut ahead = vec![root.to_owned()];
    while let Some(dir) = ahead.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.ends_with(".everfold") {
                continue;
            }
            if path.is_dir() {
                ahead.push(path);
            } else {
                found.insert(path.clone(), std::fs::read(&path).unwrap());
            }
        }
    }
    found
}

fn write(desk: &Desk, name: &str, text: &str) -> PathBuf {
    let path = desk.files.home().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path
}

fn text(desk: &Desk, name: &str) -> String {
    std::fs::read_to_string(desk.files.home().join(name)).unwrap()
}

fn furnish(desk: &Desk) {
    write(
        desk,
        ".claude/settings.json",
        "{\n\t// mine\n\t\"model\": \"opus\",\n\t\"hooks\": {\n\t\t\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}]\n\t},\n\t\"unknown_key\": [1,   2] // odd\n}\n",
    );
    write(
        desk,
        ".claude.json",
        "{\"numStartups\":7,\"mcpServers\":{\"other\":{\"command\":\"x\"}}}",
    );
    write(
        desk,
        ".codex/config.toml",
        "# mine\nmodel = \"gpt\"\n\n[mcp_servers.other]\ncommand = \"o\"",
    );
    write(desk, ".codex/AGENTS.md", "# My rules\n\nBe brief.");
    write(desk, ".gemini/settings.json", "{\r\n    \"theme\": \"x\",\r\n}\r\n");
    write(desk, ".config/opencode/opencode.jsonc", "{ /* mine */ \"model\": \"m\" }\n");
}

#[test]
fn x2_install_and_uninstall_leave_the_files_as_they_were() {
    for furnished in [true, false] {
        let desk = Desk::offline();
        if furnished {
            furnish(&desk);
        }
        let before = snapshot(&desk.files.home());
        for host in HOSTS {
            let out = desk.run(&["install", host]).ok().out;
            assert!(out.contains("+++ ") && out.contains("everfold"), "{host}: {out}");
            let installed = snapshot(&desk.files.home());
            assert_ne!(installed, before, "{host}");
            let again = desk.run(&["install", host]).ok().out;
            assert!(again.contains("already installed"), "{host}: {again}");
            assert_eq!(snapshot(&desk.files.home()), installed, "{host}: twice is once");
        }
        for host in HOSTS {
            desk.run(&["uninstall", host]).ok();
        }
        assert_eq!(snapshot(&desk.files.home()), before);
        let out = desk.run(&["uninstall", "claude"]).ok().out;
        assert!(out.contains("not installed"), "{out}");
        assert!(!desk.files.home().join(".everfold/installed").exists());
    }
}

#[test]
fn x2_hooks_and_servers_are_what_the_host_expects() {
    let desk = Desk::offline();
    for host in HOSTS {
        desk.run(&["install", host]).ok();
    }
    let settings: Value = serde_json::from_str(&text(&desk, ".claude/settings.json")).unwrap();
    let hooks = settings["hooks"].as_object().unwrap();
    assert_eq!(
        hooks.keys().collect::<Vec<_>>(),
        [
            "SessionStart",
            "UserPromptSubmit",
            "PostToolUse",
            "PostToolUseFailure",
            "PreCompact",
            "PostCompact",
            "SubagentStop",
            "Stop",
            "SessionEnd"
        ]
    );
    let command = hooks["Stop"][0]["hooks"][0]["command"].as_str().unwrap();
    assert!(command.ends_with(" hook Stop"), "{command}");
    let state: Value = serde_json::from_str(&text(&desk, ".claude.json")).unwrap();
    assert_eq!(state["mcpServers"]["everfold"]["args"], json!(["mcp"]));
    assert!(text(&desk, ".codex/config.toml").contains("[mcp_servers.everfold]\ncommand = \""));
    assert!(text(&desk, ".codex/AGENTS.md").contains("memory_search"));
    let gemini: Value = serde_json::from_str(&text(&desk, ".gemini/settings.json")).unwrap();
    assert_eq!(gemini["hooks"]["BeforeAgent"][0]["hooks"][0]["timeout"], 10_000);
    let opencode: Value =
        serde_json::from_str(&text(&desk, ".config/opencode/opencode.json")).unwrap();
    assert_eq!(opencode["mcp"]["everfold"]["type"], "local");

    // The command that was written works as it stands.
    let input = json!({"cwd": desk.files.project(), "session_id": "s", "hook_event_name": "Stop"});
    let mut shell = desk.command(&[]);
    let mut shell_command = std::process::Command::new("sh");
    shell_command.args(["-c", command]);
    for (name, value) in shell.get_envs() {
        if let Some(value) = value {
            shell_command.env(name, value);
        }
    }
    let _ = shell.stdin(std::process::Stdio::null());
    let ran =
        crate::desk::Running::start(&mut shell_command, Some(input.to_string().into_bytes())).end();
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "", ""));
}

#[test]
fn x2_what_the_host_changed_in_between_stays() {
    let desk = Desk::offline();
    furnish(&desk);
    let before = text(&desk, ".claude/settings.json");
    desk.run(&["install", "claude"]).ok();
    let changed = text(&desk, ".claude/settings.json").replace("\"opus\"", "\"sonnet\"");
    write(&desk, ".claude/settings.json", &changed);
    write(
        &desk,
        ".claude.json",
        "{\n  \"numStartups\": 8,\n  \"mcpServers\": {\n    \"other\": {\n      \"command\": \"x\"\n    },\n    \"everfold\": {\n      \"command\": \"y\"\n    }\n  }\n}",
    );
    desk.run(&["uninstall", "claude"]).ok();
    assert_eq!(text(&desk, ".claude/settings.json"), before.replace("\"opus\"", "\"sonnet\""));
    assert_eq!(
        text(&desk, ".claude.json"),
        "{\n  \"numStartups\": 8,\n  \"mcpServers\": {\n    \"other\": {\n      \"command\": \"x\"\n    }\n  }\n}"
    );
}

#[test]
fn x2_a_dry_run_writes_nothing_and_json_says_what_would_change() {
    let desk = Desk::offline();
    furnish(&desk);
    let before = snapshot(&desk.files.home());
    let plan = desk.run(&["install", "claude", "--dry-run", "--json"]).ok().json();
    assert_eq!(
        (plan["dry_run"].as_bool(), plan["changes"].as_array().unwrap().len()),
        (Some(true), 3)
    );
    assert_eq!(plan["changes"][0]["action"], "change");
    assert_eq!(snapshot(&desk.files.home()), before);
    assert!(!desk.files.home().join(".everfold/installed").exists());
    desk.run(&["install", "nobody"]).failed(2);
    desk.run(&["install", "codex", "--separate"]).failed(2);
}

#[test]
fn x2_what_cannot_be_changed_is_said_and_nothing_is() {
    let desk = Desk::offline();
    write(&desk, ".claude.json", "{\"a\": 1,\n  oops}");
    write(&desk, ".claude/settings.json", "{}");
    let before = snapshot(&desk.files.home());
    let ran = desk.run(&["install", "claude"]).failed(1);
    assert!(
        ran.err.contains(".claude.json is not JSON") && ran.err.contains("line 2, column 3"),
        "{}",
        ran.err
    );
    assert_eq!(snapshot(&desk.files.home()), before, "the other file too");
    std::fs::write(desk.files.home().join(".claude.json"), b"{\"a\": \"\xff\"}").unwrap();
    assert!(desk.run(&["install", "claude"]).failed(1).err.contains("not UTF-8"));
    write(&desk, ".claude.json", "{\"mcpServers\": []}");
    let ran = desk.run(&["install", "claude"]).failed(1);
    assert!(ran.err.contains("has mcpServers in a form"), "{}", ran.err);
    write(&desk, ".codex/config.toml", "mcp_servers = [\"x\"]\n");
    assert!(desk.run(&["install", "codex"]).failed(1).err.contains("mcp_servers"));
}

#[cfg(unix)]
#[test]
fn x2_a_link_stays_a_link_and_a_locked_file_stays_locked() {
    use std::os::unix::fs::PermissionsExt;
    let desk = Desk::offline();
    let real = write(&desk, "dotfiles/claude.json", "{\n  \"x\": 1\n}\n");
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o640)).unwrap();
    std::fs::create_dir_all(desk.files.home().join(".claude")).unwrap();
    let link = desk.files.home().join(".claude/settings.json");
    std::os::unix::fs::symlink(&real, &link).unwrap();
    desk.run(&["install", "claude"]).ok();
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert!(std::fs::read_to_string(&real).unwrap().contains("hook Stop"));
    assert_eq!(real.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    desk.run(&["uninstall", "claude"]).ok();
    assert_eq!(std::fs::read_to_string(&real).unwrap(), "{\n  \"x\": 1\n}\n");

    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o440)).unwrap();
    let ran = desk.run(&["install", "claude"]).failed(1);
    assert!(ran.err.contains("read-only") && ran.err.contains("chmod"), "{}", ran.err);
    assert!(!desk.files.home().join(".claude.json").exists(), "nothing else was written");
}

#[test]
fn x2_x5_shared_memories_are_claude_codes_own() {
    let desk = Desk::offline();
    desk.run(&["install", "claude"]).ok();
    let dir = desk.run(&["memory", "path"]).ok().out;
    let claude = desk.files.home().join(".claude/projects").display().to_string();
    assert!(dir.starts_with(&claude), "{dir}");
    desk.run(&["uninstall", "claude"]).ok();
    let dir = desk.run(&["memory", "path"]).ok().out;
    assert!(dir.contains(".everfold"), "{dir}");
    assert!(!desk.files.home().join(".everfold/settings.json").exists());
}

fn add(desk: &Desk, name: &str, body: &str) {
    let args = ["memory", "add", "--name", name, "--description", name, "--type", "project"];
    desk.run_with(&[&args[..], &["--scope", "project"]].concat(), body).ok();
}

fn listed(desk: &Desk) -> Vec<String> {
    let list = desk.run(&["memory", "list", "--json"]).ok().json();
    let path = |one: &Value| one["path"].as_str().unwrap().to_owned();
    let mut paths: Vec<String> = list.as_array().unwrap().iter().map(path).collect();
    paths.sort();
    paths
}

#[test]
fn x6_what_a_separate_store_holds_comes_along_once_and_can_be_taken_back() {
    let desk = Desk::offline();
    add(&desk, "Deploy day", "Deploys of the shop go out on Thursdays, when support is there.");
    add(&desk, "Spelling", "Answers are written in British English, as the team is in London.");
    let own = PathBuf::from(desk.run(&["memory", "path"]).ok().out.trim());
    let before = snapshot(&own);
    let slug = own.parent().unwrap().file_name().unwrap().to_owned();
    let theirs = desk.files.home().join(".claude/projects").join(slug).join("memory");
    // What Claude Code kept of the same, in other words.
    std::fs::create_dir_all(&theirs).unwrap();
    std::fs::write(
        theirs.join("british.md"),
        "---\nname: british\ndescription: answers in British English\ntype: feedback\n---\n\
         Answers are written in British English. **Why:** the team is in London.\n",
    )
    .unwrap();
    std::fs::write(theirs.join("MEMORY.md"), "- [british](british.md) — British English\n")
        .unwrap();

    let plan = desk.run(&["install", "claude", "--dry-run", "--json"]).ok().json();
    assert_eq!(plan["memories"]["added"].as_array().unwrap().len(), 1, "{plan}");
    assert_eq!(std::fs::read_dir(&theirs).unwrap().count(), 2, "a dry run writes nothing");
    assert_eq!(plan["memories"]["merged"].as_array().unwrap().len(), 1, "{plan}");
    let out = desk.run(&["install", "claude"]).ok();
    assert!(out.err.contains("moved 1 memory"), "{out:?}");
    assert_eq!(listed(&desk), ["british.md", "deploy-day.md"], "near-copies are one");
    let copy = std::fs::read(theirs.join("deploy-day.md")).unwrap();
    assert_eq!(Some(&copy), before.get(&own.join("deploy-day.md")), "with all it says of itself");
    let index = std::fs::read_to_string(theirs.join("MEMORY.md")).unwrap();
    assert!(index.contains("deploy-day.md") && index.contains("british.md"), "{index}");
    assert_eq!(snapshot(&own), before, "nothing is lost");
    let again = desk.run(&["install", "claude", "--json"]).ok().json();
    assert_eq!(again["memories"]["added"], json!([]), "{again}");

    let log = desk.run(&["memory", "log", "--json"]).ok().json();
    let entry = log
        .as_array()
        .unwrap()
        .iter()
        .find(|entry| entry["changes"].to_string().contains("deploy-day.md"));
    let id = entry.unwrap()["id"].to_string();
    desk.run(&["memory", "undo", &id, "--scope", "project"]).ok();
    assert_eq!(listed(&desk), ["british.md"]);

    desk.run(&["install", "claude", "--separate"]).ok();
    assert_eq!(listed(&desk), ["deploy-day.md", "spelling.md"], "apart again");
    desk.run(&["uninstall", "claude"]).ok();
    assert_eq!(listed(&desk), ["deploy-day.md", "spelling.md"]);
}

#[test]
fn x6_the_index_is_shown_once_also_before_there_is_a_transcript() {
    let desk = Desk::offline();
    desk.run(&["install", "claude"]).ok();
    add(&desk, "Deploy day", "Deploys of the shop go out on Thursdays.");
    let transcript = desk.files.home().join(".claude/projects/-p/new.jsonl");
    let start = |transcript: &Path| {
        let input = json!({
            "session_id": "new", "transcript_path": transcript, "cwd": desk.files.project(),
            "hook_event_name": "SessionStart", "source": "startup",
        });
        desk.run_with(&["hook", "SessionStart"], input.to_string()).ok().out
    };
    assert!(!transcript.exists());
    let out = start(&transcript);
    assert!(!out.contains("[Deploy day]"), "Claude Code shows it itself: {out}");
    let out = start(Path::new("/h/.codex/sessions/new.jsonl"));
    assert!(out.contains("[Deploy day]"), "another agent does not: {out}");
}

#[test]
fn x6_plugin_and_install_together_are_noticed() {
    let desk = Desk::offline();
    write(&desk, ".claude/settings.json", "{\"enabledPlugins\": {\"everfold@everfold\": true}}");
    let before = snapshot(&desk.files.home());
    let ran = desk.run(&["install", "claude"]).failed(1);
    assert!(ran.err.contains("plugin") && ran.err.contains("everfold@everfold"), "{}", ran.err);
    assert_eq!(snapshot(&desk.files.home()), before);

    // The plugin came later: what `install` wrote answers, and the plugin keeps still.
    write(&desk, ".claude/settings.json", "{}");
    desk.run(&["install", "claude", "--separate"]).ok();
    add(&desk, "Deploy day", "Deploys of the shop go out on Thursdays.");
    let input = json!({
        "session_id": "s", "cwd": desk.files.project(), "hook_event_name": "SessionStart",
    });
    let with = |args: &[&str]| desk.run_with(args, input.to_string()).ok().out;
    assert!(with(&["hook", "SessionStart"]).contains("Deploy day"));
    assert_eq!(with(&["hook", "--plugin", "SessionStart"]), "");
    desk.run(&["uninstall", "claude"]).ok();
    assert!(with(&["hook", "--plugin", "SessionStart"]).contains("Deploy day"));
}

/// Codex writes down which hooks the person has looked at.
#[test]
fn x2_codex_has_no_trust_left_in_hooks_that_are_gone() {
    let desk = Desk::offline();
    let before = "model = \"m\"\n\n[tui]\na = 1\n";
    write(&desk, ".codex/config.toml", before);
    desk.run(&["install", "codex"]).ok();
    let hooks = desk.files.home().join(".codex/hooks.json");
    let mut trusted = text(&desk, ".codex/config.toml") + "\n[hooks.state]\n";
    for event in ["stop", "session_start"] {
        let name = format!("{}:{event}:0:0", hooks.display());
        trusted = [trusted, format!("\n[hooks.state.\"{name}\"]\ntrusted_hash = \"1\"\n")].concat();
    }
    write(&desk, ".codex/config.toml", &trusted);
    desk.run(&["uninstall", "codex"]).ok();
    assert_eq!(text(&desk, ".codex/config.toml"), before);
    // A file that stays has the person's hooks, and what they trust.
    write(&desk, ".codex/hooks.json", "{\"hooks\": {}, \"mine\": 1}");
    desk.run(&["install", "codex"]).ok();
    write(&desk, ".codex/config.toml", &trusted);
    desk.run(&["uninstall", "codex"]).ok();
    assert!(text(&desk, ".codex/config.toml").contains("session_start:0:0"));
}

/// The plugin of opencode, called as opencode calls it.
const OPENCODE: &str = r#"
const { Everfold } = await import(process.argv[2]);
const hooks = await Everfold({ directory: process.argv[3] });
const message = async (sessionID) => {
  const part = { id: "prt_1", sessionID, messageID: "m", type: "text", text: process.argv[4] };
  const output = { parts: [part] };
  await hooks["chat.message"]({ sessionID }, output);
  return output;
};
const happens = (type, properties) => hooks.event({ event: { type, properties } });
await happens("session.created", { info: { id: "inner", parentID: "s" } });
const inner = await message("inner");
await happens("session.idle", { sessionID: "inner" });
const output = await message("s");
await happens("session.idle", { sessionID: "s" });
const after = { output: "error[E0277]: frobnicate-quux", metadata: { exit: 1 } };
await hooks["tool.execute.after"]({ sessionID: "s", tool: "bash", args: {} }, after);
console.log(JSON.stringify({ parts: output.parts, inner: inner.parts, after: after.output }));
"#;

#[test]
fn x8_opencode_gets_recall_by_its_plugin() {
    if std::process::Command::new("node").arg("--version").output().is_err() {
        eprintln!("skipped: there is no node here");
        return;
    }
    let desk = Desk::offline();
    desk.run(&["install", "opencode"]).ok();
    add(&desk, "Deploy day", "Deploys of the shop go out on Thursdays.");
    add(
        &desk,
        "E0277",
        "The build fails with error E0277 in frobnicate-quux where the feature quux is off.",
    );
    let plugin = desk.files.home().join(".config/opencode/plugins/everfold.js");
    let script = desk.files.root().join("call.mjs");
    std::fs::write(&script, OPENCODE).unwrap();
    let module = desk.files.root().join("everfold.mjs");
    std::fs::copy(&plugin, &module).unwrap();
    let said = "When do deploys of the shop go out? Remember that the kitchen has green tea.";
    // `opencode run` puts a message in quotes.
    let quoted = format!("\"{said}\"");
    for session in ["s", "inner"] {
        says(&desk.files.home(), session, &[(Person, &quoted), (Model, "All right.")]);
    }
    let call = |said: &str| -> Value {
        let output = std::process::Command::new("node")
            .arg(&script)
            .arg(&module)
            .arg(desk.files.project())
            .arg(said)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", desk.files.home())
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stdout);
        serde_json::from_str(&told)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
    };
    let told = call(&quoted);
    let context = told["parts"][1]["text"].as_str().unwrap();
    assert!(context.contains("[Deploy day]"), "the index: {context}");
    assert!(context.contains("Deploys of the shop go out on Thursdays."), "recall: {context}");
    assert_eq!(told["parts"][1]["synthetic"], true);
    assert!(told["after"].as_str().unwrap().contains("where the feature quux is off"), "{told}");
    let kept = listed(&desk);
    assert_eq!(kept.iter().filter(|name| name.contains("green-tea")).count(), 1, "{kept:?}");
    assert_eq!(told["inner"].as_array().unwrap().len(), 1, "nobody typed that: {told}");
    let later = call("What else is there?");
    assert!(!later["parts"].to_string().contains("[Deploy day]"), "the index once: {later}");
    desk.run(&["uninstall", "opencode"]).ok();
    assert!(!plugin.exists());

    std::fs::create_dir_all(plugin.parent().unwrap()).unwrap();
    std::fs::write(&plugin, "// mine\n").unwrap();
    desk.run(&["install", "opencode"]).failed(1);
    assert_eq!(std::fs::read_to_string(&plugin).unwrap(), "// mine\n");
}

/// The extension of pi, called as pi calls it.
const PI: &str = r#"
const { default: extension } = await import(process.argv[2]);
const [cwd, transcript, prompt] = process.argv.slice(3);
const [handlers, tools] = [{}, {}];
const pi = {
  on: (name, handler) => { handlers[name] = handler; },
  registerTool: (tool) => { tools[tool.name] = tool; },
};
process.chdir(cwd);
await extension(pi);
const sessionManager = { getSessionId: () => "s", getSessionFile: () => transcript };
const ctx = { cwd, sessionManager };
await handlers.session_start({ reason: "startup" }, ctx);
const first = await handlers.before_agent_start({ prompt }, ctx);
const content = [{ type: "text", text: "error[E0277]: frobnicate-quux" }];
const after = await handlers.tool_result({ toolName: "bash", input: {}, content, isError: true }, ctx);
await handlers.agent_end({}, ctx);
const second = await handlers.before_agent_start({ prompt: "And what else is there?" }, ctx);
await handlers.session_start({ reason: "startup" }, ctx);
const later = await handlers.before_agent_start({ prompt: "And then?" }, ctx);
const found = await tools.memory_search.execute("1", { query: "deploys of the shop" }, null, null, ctx);
const failed = await tools.memory_read.execute("2", { id: "project/none.md" }, null, null, ctx).catch((error) => `${error}`);
console.log(JSON.stringify({ tools: Object.keys(tools), schema: tools.memory_search.parameters, first, after, second, later, found, failed }));
"#;

#[test]
fn x8_pi_gets_recall_and_tools_by_its_extension() {
    if std::process::Command::new("node").arg("--version").output().is_err() {
        eprintln!("skipped: there is no node here");
        return;
    }
    let desk = Desk::offline();
    desk.run(&["install", "pi"]).ok();
    add(&desk, "Deploy day", "Deploys of the shop go out on Thursdays.");
    add(
        &desk,
        "E0277",
        "The build fails with error E0277 in frobnicate-quux where the feature quux is off.",
    );
    let extension = desk.files.home().join(".pi/agent/extensions/everfold.ts");
    let [script, module] = ["call.mjs", "everfold.mjs"].map(|name| desk.files.root().join(name));
    std::fs::write(&script, PI).unwrap();
    std::fs::copy(&extension, &module).unwrap();
    let said = "When do deploys of the shop go out? Remember that the kitchen has green tea.";
    let session = desk.files.home().join(".pi/agent/sessions/--p--/s.jsonl");
    let line = |role: &str, text: &str| {
        json!({"type": "message", "id": role, "timestamp": "2026-11-16T18:53:17.910Z",
            "message": {"role": role, "content": [{"type": "text", "text": text}]}})
    };
    let head = json!({"type": "session", "version": 3, "id": "s", "cwd": "/p",
        "timestamp": "2026-11-16T18:53:17.606Z"});
    std::fs::create_dir_all(session.parent().unwrap()).unwrap();
    let lines = [head, line("user", said), line("assistant", "All right.")];
    std::fs::write(&session, lines.map(|line| format!("{line}\n")).concat()).unwrap();
    let output = std::process::Command::new("node")
        .args([&script, &module, &desk.files.project(), &session])
        .arg(said)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", desk.files.home())
        .output()
        .unwrap();
    let told: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    let context = told["first"]["message"]["content"].as_str().unwrap();
    assert!(context.contains("[Deploy day]"), "the index: {context}");
    assert!(context.contains("Deploys of the shop go out on Thursdays."), "recall: {context}");
    let after = told["after"]["content"][1]["text"].as_str().unwrap();
    assert!(after.contains("where the feature quux is off"), "{told}");
    for once in ["second", "later"] {
        assert!(!told[once].to_string().contains("[Deploy day]"), "the index once: {told}");
    }
    assert_eq!(told["tools"].as_array().unwrap().len(), 6, "{told}");
    assert_eq!(told["schema"]["type"], "object");
    let found = told["found"]["content"][0]["text"].as_str().unwrap();
    assert!(found.contains("project/deploy-day.md"), "{told}");
    assert!(told["failed"].as_str().unwrap().starts_with("Error: "), "{told}");
    let kept = listed(&desk);
    assert_eq!(kept.iter().filter(|name| name.contains("green-tea")).count(), 1, "{kept:?}");

    std::fs::remove_dir_all(desk.files.home().join(".pi/agent/sessions")).unwrap();
    desk.run(&["uninstall", "pi"]).ok();
    assert!(!desk.files.home().join(".pi").exists(), "no empty folders either");
}

/// Claude Code's variable by which it leaves its requests (CONTRACTS 7.1).
const OBSERVED: &str = "OTEL_LOG_RAW_API_BODIES";

#[test]
fn w3_observing_is_put_in_on_request_and_taken_out() {
    let desk = Desk::offline();
    furnish(&desk);
    let before = snapshot(&desk.files.home());
    desk.run(&["install", "claude"]).ok();
    assert!(!text(&desk, ".claude/settings.json").contains(OBSERVED), "only where it is asked for");
    desk.run(&["install", "claude", "--observe"]).ok();
    let folder = desk.files.home().join(".everfold/observed/claude/bodies");
    let named = format!("\"{OBSERVED}\": \"file:{}\"", folder.display());
    assert!(text(&desk, ".claude/settings.json").contains(&named), "{named}");
    assert!(folder.is_dir());
    // Installing again leaves it on.
    desk.run(&["install", "claude"]).ok();
    assert!(text(&desk, ".claude/settings.json").contains(&named));
    std::fs::write(folder.join("x.request.json"), "{}").unwrap();
    desk.run(&["uninstall", "claude"]).ok();
    assert_eq!(snapshot(&desk.files.home()), before);
    assert!(!folder.exists(), "nothing of what was left stays");
    let ran = desk.run(&["install", "codex", "--observe"]).failed(2);
    assert!(ran.err.contains("only Claude Code's requests"), "{ran:?}");
}

#[test]
fn w3_what_somebody_observes_for_themselves_stays() {
    let desk = Desk::offline();
    let own = format!("{{\"env\": {{\"{OBSERVED}\": \"file:/mine\"}}}}");
    write(&desk, ".claude/settings.json", &own);
    let ran = desk.run(&["install", "claude", "--observe"]).failed(1);
    assert!(ran.err.contains("file:/mine"), "{ran:?}");
    assert_eq!(text(&desk, ".claude/settings.json"), own);
    desk.run(&["install", "claude"]).ok();
    desk.run(&["uninstall", "claude"]).ok();
    assert_eq!(text(&desk, ".claude/settings.json"), own);
}
