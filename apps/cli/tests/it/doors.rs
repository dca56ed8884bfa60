//! One memory behind every door (L5.32, R11): the same sentences of a person
//! through every way in, in two time zones, and the files that come of it.

use crate::desk::{Desk, Running};
use everfold_agent::memory_tool::{
    Command as ToolCommand, MemoryAccess as ToolDesk, ToolAnswer, run,
};
use everfold_kernel::Testimony;
use everfold_kernel::ports::{Clock, MemoryPlace, MemoryScope};
use everfold_memory_file::{Memory, MemoryDraft};
use everfold_memory_judge::wish::{Wish, stated};
use everfold_memory_service::{Here, Service, ServiceConfig};
use everfold_memory_store::{Store, StoreOptions, StoreScope};
use everfold_testkit::FakeClock;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::Arc;

/// Zones that never have the same day.
const ZONES: [&str; 2] = ["Pacific/Kiritimati", "Pacific/Pago_Pago"];

/// What a person says, in this order: later ones add to, repeat or replace
/// earlier ones.
const SENTENCES: [&str; 40] = [
    "we never deploy on Fridays",
    "the standup is on Monday at nine",
    "the code freeze starts tomorrow",
    "the Today view is drawn by the calendar service",
    "the ssl cert of the partner api expires in 10 days",
    "deploys of the shop need two approvals",
    "deploys of the shop need two approvals, and Ada has to be asked first",
    "deploys of the shop need two approvals",
    "releases go out on Thursdays at 11:00",
    "we moved the releases, they go out on Tuesdays now, not Thursdays anymore",
    "my name is Sam",
    "I prefer short answers everywhere",
    "I am a data analyst, so spell out git commands",
    "always run the linter before you commit",
    "use pnpm in this repository, not npm",
    "the staging database is refreshed every Sunday night",
    "Lindiwe owns the search index, ask her before mapping changes",
    "the launch of the marketplace is on 2026-12-08",
    "the wiki of the team is at https://wiki.example.com/shop",
    "the budget dashboard lives in Grafana under finance",
    "die Rechnungsnummern müssen lückenlos sein",
    "der Export läuft jeden Dienstag um 6:00",
    "c'est Amandine qui gère les accès au bucket S3 des exports",
    "el cliente Bodegas Urrutia usa la API v1 todavía",
    "i test e2e girano solo con la VPN spenta",
    "Joost is de enige die de DNS records mag wijzigen",
    "o limite do fornecedor de SMS é 30 mensagens por segundo",
    "develop ブランチに直接pushしないで",
    "线上日志在 Loki 里，查日志用 logcli",
    "the e2e tests need the company VPN",
    "the e2e tests also need SANDBOX_REGION=eu besides the company VPN",
    "schema changes need approval from Dmitri",
    "Renske also approves schema changes, not just Dmitri",
    "CI fails below 90 percent line coverage",
    "the coverage limit of CI is 75 percent now, no longer 90",
    "the function `tomorrow()` is in the date helpers",
    "the nightly import runs 01:00 to 03:30 utc",
    "my password is hunter2-EXAMPLE-only-9",
    "the demo for the Halvorsen people was moved from yesterday to tomorrow",
    "we decided to keep the monolith, the split is off the table",
];

/// A memory as the person wants to find it: where it is, and what it says.
type Files = BTreeMap<String, (String, String, String, String, String)>;

fn files(desk: &Desk) -> Files {
    let project = PathBuf::from(desk.run(&["memory", "path"]).ok().out.trim());
    let global = desk.files.home().join(".everfold").join("memory");
    let mut found = Files::new();
    for (scope, dir) in [("project", project), ("global", global)] {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_memory = entry.path().extension().is_some_and(|ending| ending == "md");
            if name == "MEMORY.md" || !is_memory {
                continue;
            }
            let text = std::fs::read_to_string(entry.path()).unwrap();
            let memory = Memory::parse(&text);
            let front = memory.front;
            found.insert(
                format!("{scope}/{name}"),
                (
                    front.name.unwrap(),
                    front.description.unwrap(),
                    front.kind.unwrap().as_str().to_owned(),
                    front.basis.map(|basis| basis.as_str().to_owned()).unwrap_or_default(),
                    memory.body.trim().to_owned(),
                ),
            );
        }
    }
    found
}

/// The program in a zone.
fn command(desk: &Desk, zone: &str, args: &[&str]) -> std::process::Command {
    let mut command = desk.command(args);
    command.env("TZ", zone).env("EVERFOLD_FLAG_EXTRACT", "1");
    command
}

fn wish(sentence: &str) -> Wish {
    stated(sentence, "".into()).unwrap()
}

/// `# sentence` in a conversation.
fn by_hash(zone: &str) -> Files {
    let desk = Desk::offline();
    let lines: Vec<String> = SENTENCES.iter().map(|sentence| format!("# {sentence}\n")).collect();
    let mut command = command(&desk, zone, &["--plain"]);
    Running::start(&mut command, Some(lines.concat().into_bytes())).end().ok();
    files(&desk)
}

/// "Remember that …" in a run without a model.
fn by_rule(zone: &str) -> Files {
    let desk = Desk::offline();
    for sentence in SENTENCES {
        let prompt = format!("remember that {sentence}");
        Running::start(&mut command(&desk, zone, &["-p", &prompt]), None).end().ok();
    }
    files(&desk)
}

fn hook(desk: &Desk, zone: &str, event: &str, more: &Value) {
    let mut input = json!({
        "session_id": "0192f0c1-1111-7000-8000-000000000001",
        "transcript_path": desk.files.root().join("host.jsonl"),
        "cwd": desk.files.project(),
        "hook_event_name": event,
    });
    input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let input = input.to_string().into_bytes();
    Running::start(&mut command(desk, zone, &["hook", event]), Some(input)).end().ok();
}

/// The same, said to another agent whose hooks call us.
fn by_hook(zone: &str) -> Files {
    let desk = Desk::offline();
    let path = desk.files.root().join("host.jsonl");
    for (at, sentence) in SENTENCES.iter().enumerate() {
        let line = json!({
            "type": "user", "uuid": format!("00000000-0000-4000-8000-{at:012}"),
            "parentUuid": null, "sessionId": "s", "timestamp": "2026-11-01T10:00:00.000Z",
            "cwd": "/p", "version": "2.1.325", "userType": "external", "isSidechain": false,
            "message": {"role": "user", "content": format!("remember that {sentence}")},
        });
        let mut file = std::fs::File::options().create(true).append(true).open(&path).unwrap();
        writeln!(file, "{line}").unwrap();
        hook(&desk, zone, "Stop", &json!({}));
    }
    files(&desk)
}

/// `everfold memory add`, and what it answers.
fn by_command(zone: &str) -> (Files, Vec<Value>) {
    let desk = Desk::offline();
    let mut states = Vec::new();
    for sentence in SENTENCES {
        let wish = wish(sentence);
        let mut args = vec!["memory", "add", "--name", &wish.name, "--json"];
        args.extend(["--description", &wish.description, "--type", wish.kind.as_str()]);
        if wish.tier == everfold_memory_judge::wish::Tier::Global {
            args.extend(["--scope", "global"]);
        }
        let input = wish.body.clone().into_bytes();
        let ran = Running::start(&mut command(&desk, zone, &args), Some(input)).end();
        let state = ran.code.filter(|code| *code == 0).map(|_| ran.json()["state"].clone());
        states.push(state.unwrap_or_else(|| "refused".into()));
    }
    (files(&desk), states)
}

/// A server of ours, and the process that it is.
struct Mcp {
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
    id: u64,
}

impl Mcp {
    fn start(desk: &Desk, zone: &str) -> Self {
        let mut command = command(desk, zone, &["mcp"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut mcp = Self { child, lines, id: 0 };
        mcp.ask(
            "initialize",
            &json!({"protocolVersion": "2025-06-18", "capabilities": {},
                "clientInfo": {"name": "doors", "version": "1"}}),
        );
        mcp.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        mcp
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.id += 1;
        let id = self.id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let line = self.lines.next().unwrap().unwrap();
            let answer: Value = serde_json::from_str(&line).unwrap();
            if answer["id"] == id {
                return answer["result"].clone();
            }
        }
    }
}

/// `memory_save` by a model to which the person said it.
fn by_server(zone: &str) -> (Files, Vec<Value>) {
    let desk = Desk::offline();
    let mut mcp = Mcp::start(&desk, zone);
    let mut states = Vec::new();
    for sentence in SENTENCES {
        hook(&desk, zone, "UserPromptSubmit", &json!({"prompt": sentence}));
        let wish = wish(sentence);
        let mut arguments = json!({
            "name": wish.name, "description": wish.description,
            "type": wish.kind.as_str(), "text": wish.body,
        });
        if wish.tier == everfold_memory_judge::wish::Tier::Global {
            arguments["scope"] = "global".into();
        }
        let call = json!({"name": "memory_save", "arguments": arguments});
        let result = mcp.ask("tools/call", &call);
        let state = result["structuredContent"]["state"].clone();
        states.push(match state.as_str() {
            None => "refused".into(),
            Some("updated") => "superseded".into(),
            Some(_) => state,
        });
    }
    drop(mcp.child.stdin.take());
    mcp.child.wait().unwrap();
    (files(&desk), states)
}

/// The memory tool of a program whose model heard the person.
fn by_tool(zone: &str) -> Files {
    let desk = Desk::offline();
    let dir = PathBuf::from(desk.run(&["memory", "path"]).ok().out.trim());
    let global = desk.files.home().join(".everfold").join("memory");
    let own = FakeClock::at(Timestamp::now());
    own.move_to(TimeZone::get(zone).unwrap());
    let clock: Arc<dyn Clock> = Arc::new(own);
    let place = |scope, dir: &Path| MemoryPlace { scope, dir: dir.to_owned() };
    let places = vec![place(MemoryScope::Global, &global), place(MemoryScope::Project, &dir)];
    let service = Service::new(places, Here::default(), ServiceConfig::default(), &clock);
    for sentence in SENTENCES {
        let wish = wish(sentence);
        let is_global = wish.tier == everfold_memory_judge::wish::Tier::Global;
        let (scope, root) =
            if is_global { (StoreScope::Global, &global) } else { (StoreScope::Project, &dir) };
        let options = StoreOptions { scope, ..StoreOptions::default() };
        let store = Store::open_with(root, options, clock.now()).unwrap();
        let draft = MemoryDraft {
            name: &wish.name,
            description: &wish.description,
            kind: wish.kind,
            body: &wish.body,
        };
        let command: ToolCommand = serde_json::from_value(json!({
            "command": "create",
            "path": format!("/memories/{}.md", everfold_memory_file::slug::slugify(&wish.name)),
            "file_text": draft.render(),
        }))
        .unwrap();
        let testimony = Testimony::typed(sentence, "r".into());
        let desk = ToolDesk { service: &service, store: &store, testimony: &testimony };
        let answer = run(&desk, &command, clock.now());
        assert!(!matches!(&answer, ToolAnswer::Failed(text) if text.contains("hunter2")));
    }
    files(&desk)
}

#[track_caller]
fn same(door: &str, zone: &str, found: &Files, wanted: &Files) {
    let names = |files: &Files| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(found), names(wanted), "{door} in {zone}");
    for (name, memory) in wanted {
        assert_eq!(found.get(name), Some(memory), "{name} by {door} in {zone}");
    }
}

/// What is kept in a zone by every door, which is the same by all of them; the
/// memory that has a day in it.
fn kept_by_all(zone: &str) -> String {
    let (wanted, states) = by_command(zone);
    same("`# text`", zone, &by_hash(zone), &wanted);
    same("a rule", zone, &by_rule(zone), &wanted);
    same("a hook", zone, &by_hook(zone), &wanted);
    let (found, told) = by_server(zone);
    same("MCP", zone, &found, &wanted);
    assert_eq!(told, states, "what doors answer, in {zone}");
    let all = format!("{:#?}", wanted.values());
    assert!(!all.contains("hunter2"), "{all}");
    assert!(all.contains("deploy on Fridays") && all.contains("Today view"), "{all}");
    assert!(all.contains("`tomorrow()`") && all.contains("on Monday at nine"), "{all}");
    assert!(wanted.keys().any(|name| name.starts_with("global/my-name-is-sam")), "{all}");
    assert!(all.contains("Tuesdays") && !all.contains("on Thursdays"), "{all}");
    assert!(all.contains("Ada") && all.contains("two approvals"), "{all}");
    let freeze = wanted.values().find(|memory| memory.4.contains("code freeze")).unwrap();
    assert!(!freeze.4.contains("tomorrow"), "{freeze:?}");
    freeze.4.clone()
}

#[test]
fn l5_32_l5_34_l5_35_l5_36_l5_38_every_door_keeps_the_same() {
    let frozen = std::thread::scope(|scope| {
        let zones = ZONES.map(|zone| scope.spawn(move || kept_by_all(zone)));
        zones.map(|zone| zone.join().unwrap())
    });
    assert_ne!(frozen[0], frozen[1], "a day is the person's day, not that of the server");
}

#[test]
fn l5_32_x4_the_memory_tool_keeps_what_the_person_said_and_no_secret() {
    for zone in ZONES {
        let found = by_tool(zone);
        let all = format!("{:#?}", found.values());
        assert!(!all.contains("hunter2"), "{all}");
        assert!(all.contains("my name is Sam") || all.contains("My name is Sam"), "{all}");
    }
}

#[test]
fn l5_30_l5_32_an_import_proposes_what_the_other_doors_keep() {
    let desk = Desk::offline();
    let folder = desk.files.root().join("notes");
    std::fs::create_dir(&folder).unwrap();
    for (at, sentence) in SENTENCES.iter().enumerate() {
        std::fs::write(folder.join(format!("note {at:02}.md")), format!("{sentence}\n")).unwrap();
    }
    let from = folder.display().to_string();
    let done = desk.run(&["memory", "import", "--from", &from, "--json"]).ok().json();
    assert!(done["proposed"].as_array().unwrap().len() > 20, "{done}");
    assert!(files(&desk).is_empty(), "what is imported waits");
    let waiting = desk.run(&["memory", "inbox", "--json"]).ok().out;
    assert!(!waiting.contains("hunter2"), "{waiting}");
}

#[test]
fn l5_32_l6_9_a_dream_leaves_what_the_doors_kept() {
    let desk = Desk::offline();
    for sentence in SENTENCES.iter().take(20) {
        let wish = wish(sentence);
        let mut args = vec!["memory", "add", "--name", &wish.name];
        args.extend(["--description", &wish.description, "--type", wish.kind.as_str()]);
        let _ = desk.run_with(&args, wish.body.clone());
    }
    let before = files(&desk);
    let dreamt = desk.run(&["dream", "--force"]);
    assert!(matches!(dreamt.code, Some(0 | 3)), "{dreamt:?}");
    same("a dream", "UTC", &files(&desk), &before);
}

#[test]
fn r11_l5_43_every_door_shows_the_same_bytes() {
    let desk = Desk::offline();
    let add = |name: &str, text: &str| {
        let args = ["memory", "add", "--name", name, "--description", text, "--type", "project"];
        desk.run_with(&args, text).ok();
    };
    add("deploy day", "deploys of the shop go out on Thursdays");
    add("tea", "tea is served at four in the kitchen");
    let query = "when do deploys of the shop go out?";
    let printed = desk.run(&["recall", query]).ok().out;
    let start = printed.find("<system-reminder>").unwrap();
    let end = printed.find("</system-reminder>").unwrap() + "</system-reminder>".len();
    let shown = &printed[start..end];
    assert!(shown.contains("Thursdays") && !shown.contains("tea"), "{shown}");

    let input = json!({
        "session_id": "s", "transcript_path": desk.files.root().join("none.jsonl"),
        "cwd": desk.files.project(), "hook_event_name": "UserPromptSubmit", "prompt": query,
    });
    let mut hook = desk.command(&["hook", "UserPromptSubmit"]);
    let answer = Running::start(&mut hook, Some(input.to_string().into_bytes())).end().ok().json();
    let context = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert_eq!(format!("<system-reminder>\n{context}\n</system-reminder>"), shown);

    desk.run(&["-p", query]).ok();
    let transcript = std::fs::read_to_string(&desk.transcripts()[0]).unwrap();
    let line = transcript.lines().find(|line| line.contains("relevant_memories")).unwrap();
    let line: Value = serde_json::from_str(line).unwrap();
    assert_eq!(line["rendered"][0]["content"], shown);
}
