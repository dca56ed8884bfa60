//! What sessions cost, and what they would have cost (PC7, T6).

use crate::desk::Desk;
use everfold_testkit::Scenario;
use serde_json::Value;
use std::path::PathBuf;

const PI: &str = include_str!("../../../../core/foreign/tests/fixtures/pi-v1.jsonl");
const CODEX: &str = include_str!("../../../../core/foreign/tests/fixtures/codex-events.jsonl");

fn file(desk: &Desk, name: &str, text: &str) -> PathBuf {
    let path = desk.files.root().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

fn policies(session: &Value) -> Vec<&str> {
    let own = session["policies"].as_array().unwrap();
    own.iter().map(|lane| lane["policy"].as_str().unwrap()).collect()
}

#[test]
fn pc7_our_own_session_is_replayed_and_compared_with_its_usage() {
    let desk = Desk::with(Scenario::new());
    desk.run(&["-p", "one"]).ok();
    for prompt in ["two", "three", "four", "five"] {
        desk.run(&["-c", "-p", prompt]).ok();
    }
    let path = desk.transcripts()[0].display().to_string();
    let usual = desk.run(&["replay", &path, "--json"]).ok().json();
    assert_eq!(policies(&usual["sessions"][0]), ["recorded", "none", "everfold"]);
    let args = ["replay", &path, "--policy", "all", "--json", "--rounds", "--why"];
    let found = desk.run(&args).ok().json();
    let session = &found["sessions"][0];
    assert_eq!(session["format"], "everfold");
    assert_eq!(session["reported"]["requests"], 5);
    assert_eq!(policies(session).len(), 7);
    for lane in session["policies"].as_array().unwrap() {
        assert_eq!(lane["requests"], 5);
        assert_eq!(lane["rounds"].as_array().unwrap().len(), 5);
        assert_eq!(lane["regrets"], 0);
    }
    // As it went, it costs what was reported (PC8).
    let truth = &session["truth"];
    assert_eq!(truth["requests"], 5);
    for part in ["prompt", "cache_read", "cache_write", "input_usd"] {
        let off = truth[format!("{part}_error_percent")].as_f64().unwrap();
        assert!(off.abs() < 1.0, "{part}: {truth}");
    }
    // A model that is asked for prices it otherwise, and nothing is compared then.
    let args =
        ["replay", &path, "--json", "--model", "claude-haiku-4-5", "--policy", "none,mask-3"];
    let other = desk.run(&args).ok().json();
    assert_eq!(policies(&other["sessions"][0]), ["none", "mask-3"]);
    assert_eq!(other["sessions"][0]["truth"], Value::Null);
    let usd =
        |found: &Value, at: usize| found["sessions"][0]["policies"][at]["usd"].as_f64().unwrap();
    assert!(usd(&other, 0) > 0.0 && usd(&other, 0) < usd(&found, 1));
}

#[test]
fn pc7_c3_transcripts_of_others_are_shown_as_a_table_and_a_picture() {
    let desk = Desk::offline();
    let (pi, codex) = (file(&desk, "pi.jsonl", PI), file(&desk, "codex.jsonl", CODEX));
    let drawing = desk.files.root().join("out.svg");
    let (pi, codex, svg) =
        (pi.display().to_string(), codex.display().to_string(), drawing.display().to_string());
    let shown =
        desk.run(&["replay", &pi, &codex, "--policy", "all", "--why", "--svg", &svg]).ok().out;
    for part in [
        "pi.jsonl",
        "policy           requests",
        "1 × a response without content (aborted) (first on line 9)",
        "1 × a part of type input_hologram (first on line 15)",
        "summarize-at-80",
        "tokens of each request",
        "most expensive under recorded",
        "all 2 sessions",
    ] {
        assert!(shown.contains(part), "no {part:?} in {shown}");
    }
    let drawn = std::fs::read_to_string(drawing).unwrap();
    assert!(drawn.starts_with("<svg ") && drawn.ends_with("</svg>\n"));
    for axis in [">tokens</text>", ">USD</text>", ">request</text>", ">1</text>"] {
        assert!(drawn.contains(axis), "PC13: {axis}");
    }
    assert_eq!(drawn.matches("font-weight=\"bold\"").count(), 2 + 2 * 7);
    // A directory stands for the transcripts in it.
    let all = desk.run(&["replay", &desk.files.root().display().to_string(), "--json"]).ok().json();
    assert_eq!(all["total"]["sessions"], 2);
    assert!(!desk.files.home().join(".everfold").exists());
}

#[test]
fn pc7_files_of_sub_agents_beside_a_session_belong_to_it() {
    let desk = Desk::offline();
    let claude = include_str!("../../../../core/foreign/tests/fixtures/claude-1.0.jsonl");
    let path = file(&desk, "s1.jsonl", claude).display().to_string();
    let alone = desk.run(&["replay", &path, "--json", "--policy", "none"]).ok().json();
    let beside = desk.files.root().join("s1/subagents");
    std::fs::create_dir_all(&beside).unwrap();
    std::fs::write(beside.join("agent-1.jsonl"), claude.replace("msg", "other")).unwrap();
    let both = desk.run(&["replay", &path, "--json", "--policy", "none"]).ok().json();
    let count = |found: &Value, key: &str| found["sessions"][0][key].as_u64();
    assert_eq!(count(&alone, "conversations"), Some(3));
    assert_eq!(count(&both, "conversations"), Some(6));
    assert_eq!(both["sessions"][0]["agent_files"].as_array().unwrap().len(), 1);
}

#[test]
fn pc7_hostile_transcripts_are_counted_and_never_fatal() {
    let desk = Desk::offline();
    let torn = PI.get(..PI.len() - 40).unwrap();
    let cases = [
        ("torn.jsonl", torn.to_owned(), "not JSON"),
        ("twice.jsonl", format!("{CODEX}{CODEX}"), "policy"),
    ];
    for (name, text, told) in cases {
        let path = file(&desk, name, &text).display().to_string();
        let shown = desk.run(&["replay", &path]).ok().out;
        assert!(shown.contains(told), "{name}: {shown}");
        desk.run(&["replay", &path, "--json", "--rounds"]).ok().json();
    }
}

#[test]
fn pc13_a_file_that_is_no_transcript_is_said_to_be_none() {
    let desk = Desk::offline();
    for (name, text) in
        [("noise.jsonl", "\u{0}\u{1b}[2J\n[]\n{\"type\":\"opera\"}\n"), ("empty.jsonl", "")]
    {
        let path = file(&desk, name, text).display().to_string();
        let ran = desk.run(&["replay", &path]).failed(1);
        assert!(
            ran.err.contains("is not a transcript that Everfold can read"),
            "{name}: {}",
            ran.err
        );
    }
}

/// Sessions of three agents in their places, worked in the same project.
fn machine(desk: &Desk) {
    let home = desk.files.home();
    let claude = include_str!("../../../../core/foreign/tests/fixtures/claude-1.0.jsonl");
    for (path, text) in [
        (".claude/projects/-p/11111111-aaaa-4bbb-8ccc-222222222222.jsonl", claude),
        (".codex/sessions/2026/01/01/rollout-1.jsonl", CODEX),
        (".pi/agent/sessions/--p--/one.jsonl", PI),
    ] {
        let path = home.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

#[test]
fn pc10_every_agent_s_sessions_are_found_and_summed() {
    let desk = Desk::offline();
    machine(&desk);
    let cost = |args: &[&str]| {
        let args = [&["cost", "--agents", "--json"], args].concat();
        desk.run(&args).ok().json()
    };
    let agents = cost(&[]);
    let keys: Vec<&str> = agents["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|own| own["key"].as_str().unwrap())
        .collect();
    assert_eq!(keys, ["Claude Code", "Codex", "pi"], "{agents}");
    for by in ["day", "week", "month", "block", "project", "model", "session"] {
        let found = cost(&["--by", by]);
        let sum: f64 = found["groups"]
            .as_array()
            .unwrap()
            .iter()
            .map(|own| own["usd"].as_f64().unwrap())
            .sum();
        let total = agents["total"]["usd"].as_f64().unwrap();
        assert!(total > 0.0 && (sum - total).abs() < 1e-9, "{by}: {found}");
    }
    let csv = desk.run(&["cost", "--agents", "--by", "model", "--csv"]).ok().out;
    assert!(csv.starts_with("model,"), "{csv}");
    // By its id, whoever wrote it; and the directory as a whole.
    let one = desk.run(&["replay", "11111111", "--json"]).ok().json();
    assert_eq!(one["sessions"][0]["format"], "claude_code", "{}", one["sessions"][0]["format"]);
    let below = desk.files.home().display().to_string();
    assert_eq!(desk.run(&["replay", &below, "--json"]).ok().json()["total"]["sessions"], 3);
    assert!(!desk.files.home().join(".everfold").exists(), "who never used us gets no home");
}

/// opencode's database, with what version 1.18 writes for two turns.
fn opencode(desk: &Desk) -> std::path::PathBuf {
    let path = desk.files.home().join(".local/share/opencode/opencode.db");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let own = rusqlite::Connection::open(&path).unwrap();
    own.execute_batch(
        "create table session (id text primary key, directory text, version text, time_updated integer);
         create table message (id text primary key, session_id text, time_created integer, data text);
         create table part (id text primary key, message_id text, session_id text, data text);
         insert into session values ('ses_e1af', '/home/u/p', '1.18.33', 1794843820221);",
    )
    .unwrap();
    let at = 1_794_843_812_714_i64;
    let answer = |step: i64, read: u64, written: u64, finish: &str| {
        serde_json::json!({"role": "assistant", "modelID": "claude-opus-4-5", "providerID": "anthropic",
            "time": {"created": at + step}, "finish": finish, "cost": 0.1,
            "tokens": {"input": 10, "output": 20, "reasoning": 5,
                "cache": {"read": read, "write": written}}})
    };
    let user = |step: i64| serde_json::json!({"role": "user", "time": {"created": at + step}});
    let tool = serde_json::json!({"type": "tool", "tool": "bash", "callID": "call_1",
        "state": {"status": "completed", "input": {"command": "echo hi"}, "output": "hi\n"}});
    let said = |text: &str| serde_json::json!({"type": "text", "text": text});
    let messages = [
        (user(0), said("Remember that releases are cut on Mondays.")),
        (answer(1_000, 0, 40_000, "tool-calls"), tool),
        (answer(2_000, 40_000, 300, "stop"), said("All done.")),
        (user(60_000), said("and now?")),
        (answer(61_000, 40_300, 200, "stop"), said("Nothing.")),
    ];
    for (number, (data, part)) in messages.iter().enumerate() {
        let (id, created) = (format!("msg_{number}"), data["time"]["created"].as_i64().unwrap());
        own.execute(
            "insert into message values (?1, 'ses_e1af', ?2, ?3)",
            (&id, created, data.to_string()),
        )
        .unwrap();
        own.execute(
            "insert into part values (?1, ?2, 'ses_e1af', ?3)",
            (format!("prt_{number}"), &id, part.to_string()),
        )
        .unwrap();
    }
    path
}

#[test]
fn pc10_opencodes_database_is_read_and_left_as_it_is() {
    let desk = Desk::offline();
    let path = opencode(&desk);
    let before = std::fs::read(&path).unwrap();
    let cost = desk.run(&["cost", "--agents", "--json"]).ok().json();
    assert_eq!(cost["groups"][0]["key"], "opencode", "{cost}");
    assert_eq!(cost["groups"][0]["requests"], 3, "{cost}");
    // 5, 0.50, 6.25 and 25 USD a million for input, reads, writes and answers.
    let usd = 30.0 * 5e-6 + 80_300.0 * 0.5e-6 + 40_500.0 * 6.25e-6 + 75.0 * 25e-6;
    assert!((cost["total"]["usd"].as_f64().unwrap() - usd).abs() < 1e-9, "{usd} {cost}");
    let one = desk.run(&["replay", "ses_e1af", "--json"]).ok().json();
    assert_eq!(one["sessions"][0]["format"], "opencode", "{one}");
    let report = desk.run(&["report", "--days", "36500", "--json"]).ok().json();
    assert!(report["remembered"][0]["text"].as_str().unwrap().contains("Mondays"), "{report}");
    // With a home of ours the index remembers it, and the second look is the same.
    std::fs::create_dir_all(desk.files.home().join(".everfold")).unwrap();
    assert_eq!(desk.run(&["cost", "--agents", "--json"]).ok().json(), cost);
    assert_eq!(desk.run(&["cost", "--agents", "--json"]).ok().json(), cost);
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
}

/// The last version whose programs are all in the registry.
const CCUSAGE: &str = "ccusage@20.0.11";

#[test]
#[ignore = "installs a program; cargo xtask soak ccusage"]
fn pc10_the_bill_equals_that_of_ccusage_soak() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let beside = ["..", "../.."].map(|up| root.join(up).join("shared/data/transcripts"));
    let data = beside.map(|data| data.join("claude-code-2.1")).into_iter().find(|at| at.exists());
    let program = root.join("target/interop/ccusage");
    std::fs::create_dir_all(&program).unwrap();
    let npm = ["install", "--no-save", "--prefix"];
    let installed = std::process::Command::new("npm").args(npm).arg(&program).arg(CCUSAGE).output();
    let (Some(data), Ok(installed)) = (data, installed) else {
        eprintln!("skipped: there is no shared/data, or no npm");
        return;
    };
    assert!(installed.status.success(), "{}", String::from_utf8_lossy(&installed.stderr));
    let desk = Desk::offline();
    let folder = desk.files.home().join(".claude/projects/-p");
    std::fs::create_dir_all(&folder).unwrap();
    for file in std::fs::read_dir(data).unwrap().map(Result::unwrap) {
        std::fs::copy(file.path(), folder.join(file.file_name())).unwrap();
    }
    let theirs = std::process::Command::new(program.join("node_modules/.bin/ccusage"))
        .args(["daily", "--json", "--offline", "--timezone", "UTC"])
        .env("HOME", desk.files.home())
        .output()
        .unwrap();
    let theirs: serde_json::Value = serde_json::from_slice(&theirs.stdout).unwrap();
    let mut command = desk.command(&["cost", "--agents", "--by", "day", "--json"]);
    let ours = crate::desk::Running::start(command.env("TZ", "UTC"), None).end().ok().json();
    let (theirs, ours) = (theirs["daily"].as_array().unwrap(), ours["groups"].as_array().unwrap());
    assert_eq!(theirs.len(), ours.len());
    for (their, our) in theirs.iter().zip(ours) {
        assert_eq!(their["period"], our["key"]);
        let fields = [
            ("inputTokens", "input"),
            ("cacheReadTokens", "cache_read"),
            ("cacheCreationTokens", "cache_write"),
            ("outputTokens", "output"),
        ];
        for (their_name, our_name) in fields {
            assert_eq!(their[their_name], our[our_name], "{their}\n{our}");
        }
        let usd = |value: &serde_json::Value| value.as_f64().unwrap();
        assert!((usd(&their["totalCost"]) - usd(&our["usd"])).abs() < 0.005, "{their}\n{our}");
    }
}

#[test]
fn pc9_the_causes_sum_up_to_the_bill() {
    let desk = Desk::offline();
    machine(&desk);
    let found = desk.run(&["cost", "--agents", "--why", "--json"]).ok().json();
    let causes = found["why"]["causes"].as_array().unwrap();
    let sum: f64 = causes.iter().map(|own| own["usd"].as_f64().unwrap()).sum();
    assert!((sum - found["total"]["usd"].as_f64().unwrap()).abs() < 1e-9, "{found}");
    let shown = desk.run(&["cost", "--agents", "--why"]).ok().out;
    assert!(shown.contains("what the bill is made of"), "{shown}");
}

#[test]
fn pc10_a_second_look_reads_nothing_that_did_not_change() {
    let desk = Desk::offline();
    machine(&desk);
    std::fs::create_dir_all(desk.files.home().join(".everfold")).unwrap();
    let first = desk.run(&["cost", "--agents", "--json"]).ok().out;
    let index = desk.files.home().join(".everfold/cache/bills.jsonl");
    let made = std::fs::metadata(&index).unwrap().modified().unwrap();
    assert_eq!(desk.run(&["cost", "--agents", "--json"]).ok().out, first);
    assert_eq!(std::fs::metadata(&index).unwrap().modified().unwrap(), made);
    // A file that grew is read again; an index that is torn is made anew.
    let pi = desk.files.home().join(".pi/agent/sessions/--p--/one.jsonl");
    std::fs::write(&pi, format!("{PI}{{\n")).unwrap();
    std::fs::write(&index, "{").unwrap();
    assert_eq!(desk.run(&["cost", "--agents", "--json"]).ok().out, first);
}

#[test]
fn pc14_a_report_writes_nothing_and_agrees_with_cost() {
    let desk = Desk::offline();
    machine(&desk);
    let report = desk.run(&["report", "--days", "36500", "--json"]).ok().json();
    let cost = desk.run(&["cost", "--agents", "--json"]).ok().json();
    assert_eq!((&report["sessions"], &report["usd"]), (&cost["sessions"], &cost["total"]["usd"]));
    assert!(report["replayed"]["everfold_usd"].as_f64().unwrap() > 0.0, "{report}");
    let shown = desk.run(&["report", "--days", "36500"]).ok().out;
    assert!(shown.contains("with Everfold's policy"), "{shown}");
    assert!(!desk.files.home().join(".everfold").exists());
}

#[test]
fn pc14_a_report_names_what_would_have_been_remembered_and_prints_a_page() {
    let desk = Desk::offline();
    machine(&desk);
    let said = |number: usize, text: &str| {
        let line = serde_json::json!({"type": "user", "uuid": format!("u{number}"),
            "parentUuid": null, "sessionId": "s-wish", "cwd": "/home/u/p", "version": "2.1.300",
            "userType": "external", "timestamp": format!("2026-11-0{number}T10:00:00.000Z"),
            "message": {"role": "user", "content": text}});
        format!("{line}\n")
    };
    let lines = [
        said(1, "Remember that deploys go out on Thursdays only."),
        said(2, "What does this do?"),
        said(
            3,
            "Please remember: the key is sk-ant-api03-aaaabbbbccccddddeeeeffffgggghhhhiiiijjjj",
        ),
        said(4, "Remember that deploys go out on Thursdays only."),
        said(5, "Fix <script>alert(1)</script> and always run the linter before a commit."),
    ];
    let path = desk.files.home().join(".claude/projects/-home-u-p/s-wish.jsonl");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, lines.concat()).unwrap();
    let report = desk.run(&["report", "--days", "36500", "--json"]).ok().json();
    let first = &report["remembered"][0];
    assert!(first["text"].as_str().unwrap().contains("Thursdays only"), "{report}");
    assert_eq!((&first["times"], &first["is_sure"]), (&2.into(), &true.into()), "{report}");
    assert!(first["words"].as_str().unwrap().starts_with("Remember that"), "{report}");
    assert!(!report.to_string().contains("sk-ant"), "{report}");
    let shown = desk.run(&["report", "--days", "36500"]).ok().out;
    assert!(shown.contains("“Remember that deploys go out on Thursdays only.”"), "{shown}");
    let page = desk.run(&["report", "--days", "36500", "--html"]).ok().out;
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("Thursdays only"), "{page}");
    for foreign in ["<script", "src=", "href=", "sk-ant"] {
        assert!(!page.contains(foreign), "{foreign}");
    }
    assert!(!desk.files.home().join(".everfold").exists());
}

#[test]
fn pc12_a_status_line_tells_window_cost_day_and_cache() {
    let desk = Desk::offline();
    std::fs::create_dir_all(desk.files.home().join(".everfold")).unwrap();
    let usage =
        r#"{"input_tokens": 10, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 0}"#;
    let text = format!("{{\"type\": \"assistant\", \"message\": {{\"usage\": {usage}}}}}\n{{torn");
    let path = file(&desk, "session.jsonl", &text).display().to_string();
    let told = |session: &str, usd: f64| {
        let told = serde_json::json!({"session_id": session, "transcript_path": path,
            "model": {"id": "claude-opus-4-5", "display_name": "Opus"},
            "context_window": {"used_percentage": 42}, "cost": {"total_cost_usd": usd}});
        desk.run_with(&["statusline"], told.to_string()).ok().out
    };
    let first = told("one", 0.5);
    assert!(first.starts_with("Opus · window 42 % · 0.50 USD · today "), "{first}");
    assert!(first.ends_with("cache 90 %\n"), "{first}");
    // What comes on top in a session that is known counts for the day.
    let day = |line: &str| {
        let (_, rest) = line.split_once("today ").unwrap();
        rest.split_once(' ').unwrap().0.parse::<f64>().unwrap()
    };
    assert!((day(&told("one", 0.75)) - day(&first) - 0.25).abs() < 1e-9);
    // Nothing that a host says makes it fail.
    desk.run_with(&["statusline"], "no JSON").ok();
}

#[test]
fn pc10_prices_are_shown_and_renewed_from_a_table() {
    let desk = Desk::offline();
    let shown = desk.run(&["prices", "--model", "gpt-5.2", "--json"]).ok().json();
    assert_eq!(shown["gpt-5.2"]["prices"]["input"], 1.75);
    let table = r#"{"new-model": {"input_cost_per_token": 2e-06, "output_cost_per_token": 8e-06}}"#;
    let path = file(&desk, "prices.json", table).display().to_string();
    let made = desk.run(&["prices", "--from", &path]).ok().json();
    assert_eq!(made["everfold"]["prices"]["new-model"]["output"], 8.0);
    let none = file(&desk, "none.json", "{}").display().to_string();
    desk.run(&["prices", "--from", &none]).failed(1);
}

#[test]
fn pc7_c1_what_cannot_be_replayed_is_said() {
    let desk = Desk::offline();
    let path = file(&desk, "pi.jsonl", PI).display().to_string();
    for args in [
        &["replay"][..],
        &["replay", &path, "--policy", "mask"],
        &["replay", &path, "--ttl", "2h"],
        &["replay", &path, "--model", "no-such-model"],
        &["replay", &path, "--rounds"],
    ] {
        let ran = desk.run(args).failed(2);
        assert!(!ran.err.is_empty());
    }
    let gone = desk.run(&["replay", "nowhere.jsonl"]).failed(1);
    assert!(gone.err.contains("nowhere.jsonl"), "{}", gone.err);
}

#[test]
fn t6_costs_by_session_project_day_source_and_model() {
    let desk = Desk::with(Scenario::new());
    desk.run(&["-p", "one"]).ok();
    desk.run(&["-p", "two", "--model", "claude-haiku-5-5"]).ok();
    let by = |by: &str| desk.run(&["cost", "--by", by, "--project", "--json"]).ok().json();
    let keys = |found: &Value| {
        let groups = found["groups"].as_array().unwrap().iter();
        groups.map(|group| group["key"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(keys(&by("session")).len(), 2);
    assert_eq!(keys(&by("source")), ["main"]);
    assert_eq!(keys(&by("model")), ["claude-haiku-5-5", "claude-sonnet-5-5"]);
    assert_eq!(keys(&by("day")).len(), 1);
    let project = desk.run(&["cost", "--by", "project", "--json"]).ok().json();
    assert_eq!(project["scope"], "all");
    let cwd = desk.files.project().canonicalize().unwrap().display().to_string();
    assert_eq!(keys(&project), [cwd]);
    assert_eq!(project["groups"][0]["requests"], 2);
    let csv = desk.run(&["cost", "--by", "model", "--all", "--csv"]).ok().out;
    let lines: Vec<&str> = csv.lines().collect();
    assert!(lines[0].starts_with("model,requests,input_tokens,") && lines.len() == 3, "{csv}");
    assert!(lines[1].starts_with("claude-haiku-5-5,1,"), "{csv}");
    let csv = desk.run(&["cost", "--project", "--csv"]).ok().out;
    assert!(csv.starts_with("source,model,requests,"), "{csv}");
    let table = desk.run(&["cost", "--by", "session"]).ok().out;
    assert!(table.contains("this directory, 2 sessions") && table.contains("total"), "{table}");
}
