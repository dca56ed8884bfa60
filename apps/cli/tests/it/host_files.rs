//! Files of other agents in every form that people keep them in (X9): changed
//! rightly, or left alone with a message and exit code 1.

use crate::desk::Desk;
use everfold_agent::settings::jsonc::Node;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const HOSTS: [&str; 4] = ["claude", "codex", "gemini", "opencode"];

/// What is to become of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// Ours goes in, and the bytes come back.
    Changed,
    /// Ours was there already, in some form: one is there afterwards, and none in
    /// the end.
    Renewed,
    /// It stays as it is.
    Refused,
}

use Outcome::{Changed, Refused, Renewed};

/// JSON files; SERVERS stands for the key that a host has its servers under.
const JSON: [(Outcome, &str); 40] = [
    (Changed, ""),
    (Changed, " \n\n"),
    (Changed, "{}"),
    (Changed, "{ }"),
    (Changed, "{\n}\n"),
    (Changed, "{\r\n}\r\n"),
    (Changed, "\u{feff}{}\n"),
    (Changed, "\u{feff}{\r\n  \"x\": 1\r\n}"),
    (Changed, "{\"x\":1}"),
    (Changed, "{\"x\": 1, \"y\": {\"z\": [1,   2]}}\n"),
    (Changed, "{\n  \"x\": 1\n}\n"),
    (Changed, "{\n    \"x\": {\n        \"y\": [\n            1\n        ]\n    }\n}\n"),
    (Changed, "{\n\t\"x\": 1,\n\t\"y\": null\n}"),
    (Changed, "{\r\n\t\"x\": \"a\\r\\nb\"\r\n}\r\n"),
    (Changed, "{\n  \"x\": 1,\n}\n"),
    (Changed, "{\"x\": [1, 2,],}\n"),
    (Changed, "// head\n{\n  // mine\n  \"x\": 1 // one\n  /* two */\n}\n// tail\n"),
    (Changed, "{ /* only a comment */ }"),
    (Changed, "{\n  \"x\": \"// no comment, {\\\"not\\\": a key} /*\"\n}\n"),
    (Changed, "{\"SERVERS\":{}}"),
    (Changed, "{\n  \"SERVERS\": {\n    // none yet\n  }\n}\n"),
    (Changed, "{\"SERVERS\": {\"other\": {\"command\": \"x\"}}, \"z\": true}"),
    (Changed, "{\n  \"z\": 1,\n  \"SERVERS\": {\n    \"other\": {\"command\": \"x\"},\n  },\n}\n"),
    (Changed, "{\"SERVERS\": {\"a\": {}}, \"SERVERS\": {\"b\": {}}}"),
    (Changed, "{\"hooks\": {}, \"x\": 1}"),
    (Changed, "{\"hooks\": {\"Stop\": [], \"AfterAgent\": []}}"),
    (
        Changed,
        "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"say\"}]}]}}",
    ),
    (Changed, "{\"\\u0053ERVERX\": 1, \"emoji\": \"\u{1F600}\", \"SERVERS\": {\"\u{e9}\": {}}}"),
    (Changed, "{\"big\": 12345678901234567890123, \"f\": 1.50, \"e\": 1E5}"),
    (
        Renewed,
        "{\"SERVERS\": {\"everfold\": {\"command\": \"/old/everfold\", \"args\": [\"mcp\"]}}}",
    ),
    (
        Renewed,
        "{\n  \"SERVERS\": {\n    // ours\n    \"everfold\": {\"command\": \"/old\"}, // c\n    \"other\": {}\n  }\n}\n",
    ),
    (
        Renewed,
        "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"/old/everfold hook Stop\"}]}]}}",
    ),
    (Refused, "{"),
    (Refused, "{\"x\": 1"),
    (Refused, "{\"x\" 1}"),
    (Refused, "{x: 1}"),
    (Refused, "{\"x\": 1} {}"),
    (Refused, "[]"),
    (Refused, "{\"SERVERS\": []}"),
    (Refused, "{\"SERVERS\": \"no\"}"),
];

const TOML: [(Outcome, &str); 40] = [
    (Changed, ""),
    (Changed, "\n\n"),
    (Changed, "\u{feff}model = \"m\"\n"),
    (Changed, "# only a comment"),
    (Changed, "model = \"m\""),
    (Changed, "model = \"m\"\r\nx = 1\r\n"),
    (Changed, "model = \"m\"\r\nx = 1\n"),
    (Changed, "model = \"m\"\n\n[tui]\na = 1\n# b = 2\n"),
    (Changed, "[mcp_servers]\n"),
    (Changed, "[mcp_servers] # mine\n\n[tui]\na = 1\n"),
    (Changed, "mcp_servers = {}\n"),
    (Changed, "mcp_servers = { other = { command = \"o\" } } # c\nmodel = \"m\"\n"),
    (
        Changed,
        "model = \"m\"\r\nmcp_servers = { other = { command = \"o\" } }\r\n[tui]\r\na = 1\r\n",
    ),
    (Changed, "mcp_servers.other.command = \"o\"\n"),
    (Changed, "mcp_servers.other = { command = \"o\" }\nmodel = \"m\"\n\n[tui]\na = 1\n"),
    (Changed, "[mcp_servers]\nother = { command = \"o\" }\n"),
    (Changed, "[mcp_servers]\nother.command = \"o\"\nother.args = [\n  \"a\", # one\n]\n"),
    (Changed, "[mcp_servers.other]\ncommand = \"o\"\n"),
    (Changed, "[mcp_servers.other]\ncommand = \"o\""),
    (Changed, "[mcp_servers . \"other\"]\ncommand = 'o'\n[mcp_servers.other.env]\nA = \"b\"\n"),
    (Changed, "[tui]\nnote = \"\"\"\n[mcp_servers.everfold]\n\"\"\"\n"),
    (Changed, "[tui]\r\nnote = '''\r\nmcp_servers = 1\r\n'''\r\n"),
    (Changed, "[[things]]\na = 1\n\n[[things]]\na = 2\n"),
    (Changed, "[profiles.x.mcp_servers.everfold]\ncommand = \"theirs\"\n"),
    (Changed, "\"mcp_servers\".\"other\".command = \"\u{1F600}\"\n"),
    (Renewed, "[mcp_servers.everfold]\ncommand = \"/old\"\nargs = [\"mcp\"]\n"),
    (Renewed, "[mcp_servers]\neverfold = { command = \"/old\" }\nother = { command = \"o\" }\n"),
    (
        Renewed,
        "mcp_servers.everfold.command = \"/old\"\nmcp_servers.everfold.args = []\n[tui]\na = 1\n",
    ),
    (Renewed, "mcp_servers = { everfold = { command = \"/old\" }, other = { command = \"o\" } }\n"),
    (Renewed, "[\"mcp_servers\".'everfold']\r\ncommand = \"/old\"\r\n\r\n[tui]\r\na = 1\r\n"),
    (
        Renewed,
        "[mcp_servers.everfold]\ncommand = \"/old\"\n[mcp_servers.everfold.tools.memory_save]\napproval_mode = \"approve\"\n",
    ),
    (Renewed, "[mcp_servers]\n[mcp_servers.everfold.env]\nEVERFOLD_HOME = \"/old\"\n"),
    (Refused, "model = \n"),
    (Refused, "[mcp_servers\n"),
    (Refused, "model = \"m\nx = 1\n"),
    (Refused, "a = 1\na = 2\n"),
    (Refused, "[mcp_servers.other]\n[mcp_servers.other]\n"),
    (Refused, "mcp_servers = 1\n"),
    (Refused, "[[mcp_servers]]\ncommand = \"x\"\n"),
    (Refused, "{\"mcp_servers\": {}}\n"),
];

/// Where a host has its servers: the file, and the key.
fn place(host: &str) -> (&'static str, &'static str) {
    match host {
        "claude" => (".claude.json", "mcpServers"),
        "codex" => (".codex/config.toml", "mcp_servers"),
        "gemini" => (".gemini/settings.json", "mcpServers"),
        _ => (".config/opencode/opencode.json", "mcp"),
    }
}

/// Everything in a home, folders too: what `uninstall` has to give back.
fn snapshot(root: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut ahead = vec![root.to_owned()];
    while let Some(dir) = ahead.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                found.insert(path.clone(), None);
                ahead.push(path);
            } else {
                let bytes = std::fs::read(&path).unwrap_or_default();
                found.insert(path, Some(bytes));
            }
        }
    }
    found.retain(|path, _| !path.components().any(|part| part.as_os_str() == "logs"));
    found
}

fn json_value(text: &str) -> Value {
    let node = Node::parse(text).unwrap_or_else(|error| panic!("{error:?}: {text}"));
    node.and_then(|node| node.value(text)).unwrap_or_else(|| json!({}))
}

/// The file as values; a comment and the form are no part of it.
fn value(file: &Path) -> Value {
    let text = std::fs::read_to_string(file).unwrap();
    if file.extension().is_some_and(|ending| ending == "toml") {
        toml_value(text.trim_start_matches('\u{feff}'))
    } else {
        json_value(&text)
    }
}

/// By another parser than the one that changed it, where Python has one.
fn toml_value(text: &str) -> Value {
    use std::io::Write;
    let script = "import sys,json,tomllib;json.dump(tomllib.loads(sys.stdin.buffer.read().decode()),sys.stdout)";
    let mut python = std::process::Command::new("python3")
        .args(["-c", script])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    python.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let out = python.wait_with_output().unwrap();
    serde_json::from_slice(&out.stdout).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Commands of ours in a file, wherever they are.
fn own_commands(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => members.values().for_each(|inner| own_commands(inner, found)),
        Value::Array(list) => list.iter().for_each(|inner| own_commands(inner, found)),
        Value::String(text) if text.ends_with("everfold") || text.contains("everfold hook") => {
            found.push(text.clone());
        }
        _ => {}
    }
}

fn without_ours(mut value: Value, servers: &str) -> Value {
    if let Some(servers) = value.get_mut(servers).and_then(Value::as_object_mut) {
        servers.remove("everfold");
    }
    let Some(members) = value.as_object_mut() else { return value };
    for name in ["hooks", servers] {
        let is_empty = |value: &Value| {
            value.as_object().is_some_and(|inner| {
                inner.values().all(|value| value.as_array().is_some_and(Vec::is_empty))
            })
        };
        if members.get(name).is_some_and(is_empty) {
            members.remove(name);
        }
    }
    value
}

fn try_form(host: &str, outcome: Outcome, text: &str) {
    let desk = Desk::offline();
    let home = desk.files.home();
    let (name, servers) = place(host);
    let file = home.join(name);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, text).unwrap();
    let before = snapshot(&home);
    let ran = desk.run(&["install", host]);
    if outcome == Refused {
        assert_eq!(ran.code, Some(1), "{host} {text:?}: {ran:?}");
        assert!(ran.err.contains(name) && ran.err.contains("nothing was changed"), "{ran:?}");
        assert_eq!(snapshot(&home), before, "{host} {text:?}");
        return;
    }
    assert_eq!(ran.code, Some(0), "{host} {text:?}: {ran:?}");
    let changed = std::fs::read_to_string(&file).unwrap();
    let with = value(&file);
    assert!(with[servers]["everfold"].is_object(), "{host} {text:?}: {changed}");
    let mut own = Vec::new();
    own_commands(&with, &mut own);
    let distinct: std::collections::BTreeSet<&String> = own.iter().collect();
    assert_eq!(distinct.len(), own.len(), "{host} {text:?}: once each: {own:?}");
    assert!(!changed.contains("/old"), "{host} {text:?}: {changed}");
    let windows = text.matches("\r\n").count();
    if windows > 0 && windows == text.matches('\n').count() {
        assert_eq!(changed.matches("\r\n").count(), changed.matches('\n').count(), "{changed:?}");
    }
    assert_eq!(changed.starts_with('\u{feff}'), text.starts_with('\u{feff}'));
    let again = desk.run(&["install", host]).ok().out;
    assert!(again.contains("already installed"), "{host} {text:?}: {again}");

    // Somebody changed it since: what is ours goes, and nothing else.
    std::fs::write(&file, format!("{changed}\n")).unwrap();
    let dry = desk.run(&["uninstall", host, "--dry-run"]).ok();
    assert!(!dry.out.is_empty());
    std::fs::write(&file, &changed).unwrap();
    if outcome == Changed {
        let other = Desk::offline();
        let copy = other.files.home().join(name);
        std::fs::create_dir_all(copy.parent().unwrap()).unwrap();
        std::fs::write(&copy, &changed).unwrap();
        other.run(&["uninstall", host]).ok();
        let rest = value(&copy);
        let original = value_of(text, &file);
        let meant = without_ours(original, servers);
        assert_eq!(without_ours(rest, servers), meant, "{host} {text:?}");
    }
    desk.run(&["uninstall", host]).ok();
    if outcome == Changed {
        assert_eq!(snapshot(&home), before, "{host} {text:?}");
    } else {
        let mut left = Vec::new();
        own_commands(&value(&file), &mut left);
        assert!(left.is_empty(), "{host} {text:?}: {left:?}");
    }
}

fn value_of(text: &str, file: &Path) -> Value {
    if file.extension().is_some_and(|ending| ending == "toml") {
        toml_value(text.trim_start_matches('\u{feff}'))
    } else {
        json_value(text)
    }
}

fn try_forms(host: &str, forms: &[(Outcome, &str)]) {
    let (_, servers) = place(host);
    for (outcome, text) in forms {
        let text = text.replace("SERVERS", servers);
        // What Gemini CLI has no event for is not ours; the others have hooks elsewhere.
        if !text.contains("hook Stop") {
            try_form(host, *outcome, &text);
        }
    }
}

#[test]
fn x9_forty_forms_of_claude_codes_file() {
    try_forms("claude", &JSON);
}

#[test]
fn x9_forty_forms_of_codexs_file() {
    try_forms("codex", &TOML);
}

#[test]
fn x9_forty_forms_of_gemini_clis_file() {
    try_forms("gemini", &JSON);
}

#[test]
fn x9_forty_forms_of_opencodes_file() {
    try_forms("opencode", &JSON);
}

/// Settings of Claude Code, which have the hooks.
#[test]
fn x9_forms_of_settings_with_hooks() {
    let file = ".claude/settings.json";
    for (outcome, text) in JSON {
        let text = text.replace("SERVERS", "servers");
        if text.contains("\"servers\"") {
            continue;
        }
        let desk = Desk::offline();
        let home = desk.files.home();
        let path = home.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &text).unwrap();
        let before = snapshot(&home);
        let ran = desk.run(&["install", "claude"]);
        if outcome == Refused {
            assert_eq!((ran.code, snapshot(&home)), (Some(1), before), "{text:?}");
            continue;
        }
        let with = value(&path);
        let mut own = Vec::new();
        own_commands(&with, &mut own);
        assert_eq!(own.len(), 9, "{text:?}: {own:?}");
        assert!(with["hooks"]["Stop"].as_array().unwrap().len() <= 2, "{with}");
        desk.run(&["uninstall", "claude"]).ok();
        if outcome == Changed {
            assert_eq!(snapshot(&home), before, "{text:?}");
        } else {
            assert!(!std::fs::read_to_string(&path).unwrap().contains("everfold"));
        }
    }
}

/// A file in a form that is not its text, by name.
#[cfg(unix)]
type Form = (&'static str, fn(&Path, &str));

/// Where what a link leads to is.
#[cfg(unix)]
fn elsewhere(file: &Path) -> PathBuf {
    file.parent().unwrap().join("kept-elsewhere")
}

/// A home with a host's file in a form of its own.
#[cfg(unix)]
fn desk_with(host: &str, make: impl FnOnce(&Path, &str)) -> (Desk, PathBuf) {
    let desk = Desk::offline();
    let file = desk.files.home().join(place(host).0);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    make(&file, if host == "codex" { "a = 1\n" } else { "{\"a\": 1}\n" });
    (desk, file)
}

#[cfg(unix)]
#[test]
fn x9_links_stay_and_what_they_lead_to_is_changed() {
    use std::os::unix::fs::symlink;
    let forms: [Form; 3] = [
        ("a link", |file, text| {
            std::fs::write(elsewhere(file), text).unwrap();
            symlink(elsewhere(file), file).unwrap();
        }),
        ("a link to nothing", |file, _| symlink(elsewhere(file), file).unwrap()),
        ("a link to a link", |file, text| {
            std::fs::write(elsewhere(file), text).unwrap();
            symlink("kept-elsewhere", file.parent().unwrap().join("between")).unwrap();
            symlink("between", file).unwrap();
        }),
    ];
    for (host, (form, make)) in
        HOSTS.iter().flat_map(|host| forms.iter().map(move |form| (host, form)))
    {
        let (desk, file) = desk_with(host, make);
        let before = snapshot(&desk.files.home());
        desk.run(&["install", host]).ok();
        assert!(file.symlink_metadata().unwrap().is_symlink(), "{host}: {form}");
        assert!(std::fs::read_to_string(elsewhere(&file)).unwrap().contains("everfold"));
        desk.run(&["uninstall", host]).ok();
        assert!(file.symlink_metadata().unwrap().is_symlink(), "{host}: {form}");
        assert_eq!(snapshot(&desk.files.home()), before, "{host}: {form}");
    }
}

#[cfg(unix)]
#[test]
fn x9_what_is_locked_or_no_file_is_left_alone() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let forms: [Form; 5] = [
        ("a locked file", |file, text| {
            std::fs::write(file, text).unwrap();
            std::fs::set_permissions(file, PermissionsExt::from_mode(0o444)).unwrap();
        }),
        ("a folder in its place", |file, _| std::fs::create_dir(file).unwrap()),
        ("a link in a circle", |file, _| symlink(file, file).unwrap()),
        ("no UTF-8", |file, _| std::fs::write(file, b"\xff\xfe{\0}\0").unwrap()),
        ("a locked target", |file, text| {
            std::fs::write(elsewhere(file), text).unwrap();
            symlink(elsewhere(file), file).unwrap();
            std::fs::set_permissions(elsewhere(file), PermissionsExt::from_mode(0o400)).unwrap();
        }),
    ];
    for (host, (form, make)) in
        HOSTS.iter().flat_map(|host| forms.iter().map(move |form| (host, form)))
    {
        let (desk, _) = desk_with(host, make);
        let before = snapshot(&desk.files.home());
        let ran = desk.run(&["install", host]).failed(1);
        assert!(!ran.err.is_empty(), "{host}: {form}");
        assert_eq!(snapshot(&desk.files.home()), before, "{host}: {form}");
    }
}

#[test]
fn x9_a_second_program_that_was_not_there_leaves_nothing() {
    for host in HOSTS {
        let desk = Desk::offline();
        let before = snapshot(&desk.files.home());
        desk.run(&["install", host]).ok();
        assert_ne!(snapshot(&desk.files.home()), before);
        desk.run(&["uninstall", host]).ok();
        assert_eq!(snapshot(&desk.files.home()), before, "{host}: no empty folders either");
    }
}
